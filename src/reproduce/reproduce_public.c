/* reproduce_public.c - the papers' figures as programs make them again: a name in, JSON out. */
#include "base/alloc.h"
#include "base/sized.h"
#include "base/text.h"
#include "io/file.h"
#include "io/json.h"
#include "reproduce/reproduce.h"

const char *tsr_study_name(int64_t i)
{
    for (int64_t list = 0; i >= 0 && tsri_reproductions[list]; list++)
        for (const tsri_reproduction *r = tsri_reproductions[list]; r->name; r++)
            if (i-- == 0)
                return r->name;
    return NULL;
}

static tsr_status how_of(tsri_study_options *how, const tsr_study_options *options)
{
    tsr_status st = TSR_OK;
    tsr_study_options o;
    TSR_TRY(TSRI_SIZED_TAKE(&o, options));
    TSR_CHECK(o.folder && *o.folder && o.seeds >= 0 && o.threads >= 0, TSR_USAGE,
              "a study needs a folder, and seeds and threads of 0 or more");
    *how = tsri_study_options_default();
    how->folder = o.folder;
    how->data = o.data;
    how->quick = o.quick;
    how->seeds = o.seeds;
    how->seed = o.seed > 0 ? o.seed : how->seed;
    how->threads = o.threads;
    how->say = o.say;
    how->context = o.context;
done:
    return st;
}

tsr_status tsr_reproduce(char **json, const char *name, const tsr_study_options *options)
{
    tsr_status st = TSR_OK;
    tsri_study study = {0};
    tsri_study_options how;
    char *path = NULL;
    int64_t n = 0;
    TSRI_GIVEN(json);
    *json = NULL;
    TSRI_GIVEN(name);
    const tsri_reproduction *row = tsri_reproduction_find(name);
    TSR_CHECK(row, TSR_USAGE, "there is nothing called %s to reproduce: tsr_study_name names all",
              tsri_quote(name));
    TSR_TRY(how_of(&how, options));
    TSR_TRY(tsri_reproduce(&study, row, &how));
    TSR_TRY(tsri_path_join(&path, how.folder, "summary.json"));
    TSR_TRY(tsri_file_read(json, &n, path, TSRI_JSON_MOST));
done:
    tsri_free(path);
    tsri_study_fini(&study);
    return st;
}
