/* reproduce_public.c - the papers' figures as programs make them again: a name in, JSON out. */
#include "base/alloc.h"
#include "base/sized.h"
#include "base/stop.h"
#include "base/text.h"
#include "io/file.h"
#include "io/json.h"
#include "reproduce/cells.h"
#include "reproduce/gallery.h"

#include <math.h>

const char *tsr_study_name(int64_t i)
{
    for (int64_t list = 0; i >= 0 && tsri_reproductions[list]; list++)
        for (const tsri_reproduction *r = tsri_reproductions[list]; r->name; r++)
            if (i-- == 0)
                return r->name;
    return NULL;
}

static tsr_status how_of(tsri_study_options *how, const tsr_study_options *options, bool makes)
{
    tsr_status st = TSR_OK;
    tsr_study_options o;
    TSR_TRY(TSRI_SIZED_TAKE(&o, options));
    TSR_CHECK((o.folder && *o.folder) || !makes, TSR_USAGE, "a study needs a folder");
    TSR_CHECK(o.seeds >= 0 && o.threads >= 0, TSR_USAGE,
              "a study has seeds and threads of 0 or more");
    TSR_CHECK(!o.paper || !o.quick, TSR_USAGE, "a study is quick or of the paper's size, not both");
    TSR_CHECK(o.sets >= 0 && (o.sets == 0 || o.set), TSR_USAGE,
              "%lld settings, and no list of them", (long long)o.sets);
    *how = tsri_study_options_default();
    how->folder = o.folder;
    how->data = o.data;
    how->quick = o.quick;
    how->paper = o.paper;
    how->cells = o.cells;
    how->set = o.set;
    how->sets = o.sets;
    how->seeds = o.seeds;
    how->seed = o.seed > 0 ? o.seed : how->seed;
    how->threads = o.threads;
    how->commit = o.commit;
    how->say = o.say;
    how->context = o.context;
done:
    return st;
}

static tsr_status find(const tsri_reproduction **out, const char *name)
{
    tsr_status st = TSR_OK;
    tsri_near near = tsri_near_to(name);
    *out = tsri_reproduction_find(name);
    for (int64_t i = 0; !*out && tsr_study_name(i); i++)
        tsri_near_try(&near, tsr_study_name(i));
    TSR_CHECK(*out, TSR_USAGE, "there is nothing called %s to reproduce; %s", tsri_quote(name),
              tsri_near_ask(&near, "tessera reproduce --list names all"));
done:
    return st;
}

tsr_status tsr_reproduce(char **json, const char *name, const tsr_study_options *options)
{
    tsr_status st = TSR_OK;
    tsri_study study = {0};
    tsri_study_options how;
    const tsri_reproduction *row = NULL;
    char *path = NULL;
    int64_t n = 0;
    TSRI_GIVEN(json);
    *json = NULL;
    TSRI_GIVEN(name);
    TSR_TRY(find(&row, name));
    TSR_TRY(how_of(&how, options, true));
    TSR_TRY(tsri_reproduce(&study, row, &how));
    TSR_TRY(tsri_path_join(&path, how.folder, "summary.json"));
    TSR_TRY(tsri_file_read(json, &n, path, TSRI_JSON_MOST));
done:
    tsri_free(path);
    tsri_study_fini(&study);
    tsri_stop_clear();
    return st;
}

/* ---- All of them ---------------------------------------------------------------------------- */

typedef struct listener {
    void (*made)(void *context, const char *name, const char *verdict, tsr_status status);
    void (*say)(void *context, double part, const char *text);
    void *context;
} listener;

static void hand_on(void *context, const tsri_reproduction *row, const tsri_study *study,
                    tsr_status st)
{
    const listener *l = context;
    tsri_text verdict = {0};
    bool told = st == TSR_OK && study && tsri_study_verdict(&verdict, study) == TSR_OK;
    l->made(l->context, row->name, told ? verdict.data : NULL, st);
    tsri_text_fini(&verdict);
}

static void say_on(void *context, double part, const char *text)
{
    const listener *l = context;
    l->say(l->context, part, text);
}

tsr_status tsr_reproduce_all(const tsr_study_options *options)
{
    tsr_status st = TSR_OK;
    tsri_study_options how;
    tsr_study_options o;
    TSR_TRY(TSRI_SIZED_TAKE(&o, options));
    TSR_TRY(how_of(&how, options, true));
    TSR_CHECK(!o.data, TSR_USAGE,
              "all takes the papers' own data, which differ: other data are for one study");
    listener l = {o.made, o.say, o.context};
    how.context = &l;
    how.say = o.say ? say_on : NULL;
    TSR_TRY(tsri_reproduce_all(&how, o.made ? hand_on : NULL));
done:
    tsri_stop_clear();
    return st;
}

tsr_status tsr_study_index(char **json, const char *folder)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    char *page = NULL, *results = NULL;
    int64_t shown = 0;
    TSRI_GIVEN(json);
    *json = NULL;
    TSRI_GIVEN(folder);
    TSR_TRY(tsri_gallery_write(&shown, folder));
    TSR_TRY(tsri_path_join(&page, folder, "index.html"));
    TSR_TRY(tsri_path_join(&results, folder, "results.md"));
    tsri_json_begin(&w);
    tsri_json_put_int(&w, "studies", shown);
    tsri_json_put_text(&w, "page", page);
    tsri_json_put_text(&w, "results", results);
    tsri_json_close(&w, '}');
    TSR_TRY(tsri_json_give(json, &w));
done:
    tsri_free(page);
    tsri_free(results);
    tsri_json_fini(&w);
    return st;
}

tsr_status tsr_study_gallery(const char *folder, const char *page)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(folder);
    TSRI_GIVEN(page);
    TSR_TRY(tsri_gallery_pictures(folder, page));
done:
    return st;
}

/* "loft/table1: 144 cells, 2.3e18 operations", a line for each study that is made in cells. */
static tsr_status cells_of_all(tsri_text *text, const tsri_study_options *how)
{
    tsr_status st = TSR_OK;
    tsri_cell_list cells = {0};
    for (int64_t i = 0; tsr_study_name(i); i++) {
        const tsri_reproduction *row = tsri_reproduction_find(tsr_study_name(i));
        double all = 0;
        int64_t unknown = 0;
        if (!row->paper)
            continue;
        TSR_TRY(tsri_study_list_cells(&cells, row, how, true));
        for (int64_t k = 0; k < cells.count; k++) {
            unknown += isnan(cells.flops[k]);
            all += isnan(cells.flops[k]) ? 0 : cells.flops[k];
        }
        TSR_TRY(tsri_text_add(text, "%s: %lld cells, %.2g operations", row->name,
                              (long long)cells.count, all));
        if (unknown > 0)
            TSR_TRY(tsri_text_add(text, " and those of %lld cells whose data are not here",
                                  (long long)unknown));
        TSR_TRY(tsri_text_add(text, "\n"));
        tsri_cell_list_fini(&cells);
    }
done:
    tsri_cell_list_fini(&cells);
    return st;
}

tsr_status tsr_study_cells(char **names, const char *name, const tsr_study_options *options)
{
    tsr_status st = TSR_OK;
    tsri_study_options how;
    tsri_text text = {0};
    const tsri_reproduction *row = NULL;
    TSRI_GIVEN(names);
    *names = NULL;
    if (name)
        TSR_TRY(find(&row, name));
    TSR_TRY(how_of(&how, options, false));
    TSR_TRY(row ? tsri_study_cells(&text, row, &how) : cells_of_all(&text, &how));
    *names = text.data;
    text = (tsri_text){0};
done:
    tsri_text_fini(&text);
    return st;
}

/* ---- What decides their claims -------------------------------------------------------------- */

static void row_json(tsri_json *w, const tsri_reproduction *r)
{
    tsri_json_open(w, '{');
    tsri_json_put_text(w, "name", r->name);
    tsri_json_put_text(w, "shows", r->help);
    tsri_json_key(w, "criteria");
    tsri_json_open(w, '[');
    for (const tsri_criteria_row *c = tsri_criteria_table; c->id; c++) {
        if (!tsri_criteria_of(c, r->name))
            continue;
        tsri_json_open(w, '{');
        tsri_criteria_json(w, c);
        tsri_json_close(w, '}');
    }
    tsri_json_close(w, ']');
    tsri_json_close(w, '}');
}

tsr_status tsr_study_list(char **json, const char *name)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    const tsri_reproduction *only = NULL;
    TSRI_GIVEN(json);
    *json = NULL;
    if (name)
        TSR_TRY(find(&only, name));
    tsri_json_begin(&w);
    tsri_json_key(&w, "reproductions");
    tsri_json_open(&w, '[');
    for (int i = 0; tsri_reproductions[i]; i++)
        for (const tsri_reproduction *r = tsri_reproductions[i]; r->name; r++)
            if (!only || r == only)
                row_json(&w, r);
    tsri_json_close(&w, ']');
    tsri_json_close(&w, '}');
    TSR_TRY(tsri_json_give(json, &w));
done:
    tsri_json_fini(&w);
    return st;
}
