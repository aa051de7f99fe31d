/* watch_public.c - runs seen while they train, for programs; and what they told, for other
 * tools. */
#include "base/alloc.h"
#include "base/sized.h"
#include "io/file.h"
#include "watch/handout.h"
#include "watch/lookout.h"
#include "watch/serve.h"

struct tsr_watch {
    tsri_lookout *lookout;
};

tsr_status tsr_watch_open(tsr_watch **out, const char *folder)
{
    tsr_status st = TSR_OK;
    tsr_watch *watch = NULL;
    TSRI_GIVEN(out);
    *out = NULL;
    TSRI_GIVEN(folder);
    TSR_TRY(tsri_alloc(&watch, 1, sizeof *watch));
    TSR_TRY(tsri_lookout_open(&watch->lookout, folder));
    TSR_TRY(tsri_lookout_look(watch->lookout));
    *out = watch;
    watch = NULL;
done:
    tsr_watch_destroy(watch);
    return st;
}

void tsr_watch_destroy(tsr_watch *watch)
{
    if (!watch)
        return;
    tsri_lookout_close(watch->lookout);
    tsri_free(watch);
}

tsr_status tsr_watch_look(tsr_watch *watch)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(watch);
    TSR_TRY(tsri_lookout_look(watch->lookout));
done:
    return st;
}

int64_t tsr_watch_runs(const tsr_watch *watch, int64_t *liveliest)
{
    if (liveliest)
        *liveliest = watch ? tsri_lookout_liveliest(watch->lookout) : -1;
    return watch ? watch->lookout->runs : 0;
}

static tsr_status give(char **out, const tsr_watch *watch, const tsri_screen *screen,
                       tsr_status (*write)(tsri_text *out, const tsri_lookout *w))
{
    tsr_status st = TSR_OK;
    tsri_text text = {0};
    TSRI_GIVEN(out);
    *out = NULL;
    TSRI_GIVEN(watch);
    TSR_TRY(screen ? tsri_lookout_draw(&text, watch->lookout, screen)
                   : write(&text, watch->lookout));
    TSR_TRY(tsri_text_give(out, &text));
done:
    tsri_text_fini(&text);
    return st;
}

tsr_status tsr_watch_text(char **out, const tsr_watch *watch)
{
    return give(out, watch, NULL, tsri_lookout_text);
}

tsr_status tsr_watch_json(char **out, const tsr_watch *watch)
{
    return give(out, watch, NULL, tsri_lookout_json);
}

tsr_status tsr_watch_draw(char **out, const tsr_watch *watch, const tsr_screen *screen)
{
    tsr_status st = TSR_OK;
    tsr_screen s;
    TSR_TRY(TSRI_SIZED_TAKE(&s, screen));
    tsri_screen mine = {s.width, s.height, s.colour, s.unicode, s.chosen, s.open};
    TSR_CHECK(s.width >= 1 && s.height >= 1, TSR_USAGE, "a screen has columns and lines");
    TSR_TRY(give(out, watch, &mine, NULL));
done:
    return st;
}

tsr_status tsr_watch_serve(tsr_watch *watch, const tsr_serve_options *options)
{
    tsr_status st = TSR_OK;
    tsr_serve_options o;
    TSRI_GIVEN(watch);
    TSR_TRY(TSRI_SIZED_TAKE(&o, options));
    tsri_serve_options how = {o.port, o.token_file, o.every, o.ready, o.context};
    TSR_TRY(tsri_serve(watch->lookout, &how));
done:
    return st;
}

/* ---- For other tools ------------------------------------------------------------------------ */

tsr_status tsr_metrics_csv(char **csv, int64_t *lines, const char *folder, const char *event,
                           const char *path)
{
    tsr_status st = TSR_OK;
    tsr_watch *watch = NULL;
    tsri_text text = {0};
    int64_t count = 0;
    TSRI_GIVEN(csv);
    *csv = NULL;
    TSRI_GIVEN(folder);
    TSR_TRY(tsr_watch_open(&watch, folder));
    TSR_TRY(tsri_handout_csv(&text, &count, watch->lookout, event));
    TSR_CHECK(count > 0, TSR_USAGE, "%s: there are no lines of %s%s in the metrics",
              tsri_quote(folder), event ? "event " : "evaluations", event ? tsri_quote(event) : "");
    if (lines)
        *lines = count;
    TSR_TRY(path ? tsri_file_write_text(path, text.data) : tsri_text_give(csv, &text));
done:
    tsri_text_fini(&text);
    tsr_watch_destroy(watch);
    return st;
}

/* A run in a folder of its name, the watched folder's own in `out` itself. */
static tsr_status write_events(int64_t *runs, int64_t *numbers, const tsri_followed *run,
                               const char *out)
{
    tsr_status st = TSR_OK;
    char *folder = NULL;
    int64_t count = 0;
    if (!tsri_file_exists(run->metrics.path))
        goto done;
    TSR_TRY(*run->name ? tsri_path_join(&folder, out, run->name) : tsri_strdup(&folder, out));
    TSR_TRY(tsri_handout_tensorboard(&count, run, folder));
    *numbers += count;
    ++*runs;
done:
    tsri_free(folder);
    return st;
}

tsr_status tsr_metrics_tensorboard(int64_t *runs, int64_t *numbers, const char *folder,
                                   const char *out)
{
    tsr_status st = TSR_OK;
    tsr_watch *watch = NULL;
    TSRI_GIVEN(runs);
    TSRI_GIVEN(numbers);
    *runs = *numbers = 0;
    TSRI_GIVEN(out);
    TSRI_GIVEN(folder);
    TSR_TRY(tsr_watch_open(&watch, folder));
    for (int64_t i = 0; i < watch->lookout->runs; i++)
        TSR_TRY(write_events(runs, numbers, watch->lookout->run[i], out));
    TSR_CHECK(*runs > 0, TSR_USAGE, "%s: there is no run with a metrics.jsonl in it or below it",
              tsri_quote(folder));
done:
    tsr_watch_destroy(watch);
    return st;
}
