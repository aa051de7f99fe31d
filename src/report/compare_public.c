/* compare_public.c - several runs side by side, as a page and a document. */
#include "base/sized.h"
#include "io/json.h"
#include "report/compare.h"

#include <math.h>

static void reached_json(tsri_json *w, const tsri_compare *c, const tsri_rival *r)
{
    tsri_json_key(w, "reached");
    tsri_json_open(w, '[');
    for (int64_t g = 0; g < c->goals; g++) {
        int64_t at = tsri_rival_reached(r, c->goal[g]);
        tsri_json_open(w, '{');
        tsri_json_put_real(w, "accuracy", c->goal[g]);
        tsri_json_put_real(w, "seconds", at < 0 ? (double)NAN : r->seconds[at]);
        tsri_json_put_real(w, "bytes_total", at < 0 ? (double)NAN : r->bytes[at]);
        tsri_json_close(w, '}');
    }
    tsri_json_close(w, ']');
}

static void rival_json(tsri_json *w, const tsri_compare *c, const tsri_rival *r)
{
    tsri_json_open(w, '{');
    tsri_json_put_text(w, "run", r->name);
    tsri_json_put_real(w, "rounds", tsri_rival_rounds(r));
    tsri_json_put_real(w, "loss", tsri_rival_loss(r));
    tsri_json_put_real(w, "best", tsri_rival_best(r));
    for (int k = 0; k < TSRI_PARTS && !isnan(r->part[0]); k++)
        tsri_json_put_real(w, tsri_part_names[k], r->part[k]);
    reached_json(w, c, r);
    tsri_json_close(w, '}');
}

static void compare_json(tsri_json *w, const tsri_compare *c, const char *page)
{
    tsri_json_begin(w);
    tsri_json_put_text(w, "report", page);
    tsri_json_key(w, "runs");
    tsri_json_open(w, '[');
    for (int64_t i = 0; i < c->count; i++)
        rival_json(w, c, &c->run[i]);
    tsri_json_close(w, ']');
    tsri_json_close(w, '}');
}

tsr_status tsr_compare(char **json, const char *const *folder, int64_t count,
                       const tsr_compare_options *options)
{
    tsr_status st = TSR_OK;
    tsr_compare_options o;
    tsri_compare c = {0};
    tsri_json w = {0};
    TSRI_GIVEN(json);
    *json = NULL;
    TSRI_GIVEN(folder);
    TSR_TRY(TSRI_SIZED_TAKE(&o, options));
    TSR_CHECK(o.page && *o.page && count >= 1 && o.goals >= 0 && (o.goals == 0 || o.goal),
              TSR_USAGE, "a comparison needs folders of runs, and a path for its page");
    for (int64_t i = 0; i < count; i++)
        TSR_CHECK(folder[i], TSR_USAGE, "folder %lld is NULL", (long long)i);
    TSR_TRY(tsri_compare_read(&c, folder, count));
    TSR_TRY(tsri_compare_goals(&c, o.goal, o.goals));
    TSR_TRY(tsri_compare_page(&c, o.page));
    if (o.picture)
        TSR_TRY(tsri_compare_picture(&c, o.picture));
    compare_json(&w, &c, o.page);
    TSR_TRY(tsri_json_give(json, &w));
done:
    tsri_json_fini(&w);
    tsri_compare_fini(&c);
    return st;
}
