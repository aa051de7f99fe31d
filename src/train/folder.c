/* folder.c - the folder of a run: locked, cleared of half-written files, and checked to be this
 * run's. */
#include "train/folder.h"

#include "base/alloc.h"
#include "base/log.h"
#include "io/file.h"

#include <string.h>

tsr_status tsri_follow_data(tsr_config *old, const tsr_config *now)
{
    static const char *const place[] = {"data.path", "data.test_path"};
    tsr_status st = TSR_OK;
    tsri_text assignment = {0};
    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        const char *was = tsri_config_text(old, place[i]), *is = tsri_config_text(now, place[i]);
        if (!was || !is || strcmp(was, is) == 0)
            continue;
        assignment.length = 0;
        TSR_TRY(tsri_text_add(&assignment, "%s=%s", place[i], is));
        TSR_TRY(tsr_config_set(old, assignment.data));
    }
done:
    tsri_text_fini(&assignment);
    return st;
}

static tsr_status same_run_file(const tsri_run *run, const char *path)
{
    tsr_status st = TSR_OK;
    tsr_config *old = NULL;
    tsri_text changes = {0};
    TSR_TRY(tsr_config_read(&old, path));
    TSR_TRY(tsri_follow_data(old, run->settings.config));
    TSR_TRY(tsri_config_differences(&changes, old, run->settings.config));
    TSR_CHECK(changes.length == 0 || run->settings.options.force, TSR_USAGE,
              "the run file is not the one that %s was begun with:\n%sresume with the old values, "
              "begin in another folder, or add --force",
              run->settings.options.folder, changes.data);
    if (changes.length > 0)
        TSRI_WARN("going on with a changed run file:\n%s", changes.data);
done:
    tsri_text_fini(&changes);
    tsr_config_destroy(old);
    return st;
}

/* Refuses a folder with checkpoints but without a run.yaml: a new run in it, when resumed, would
 * continue from those. */
static tsr_status no_stray_checkpoints(const char *saves)
{
    tsr_status st = TSR_OK;
    char **names = NULL;
    int64_t count = 0;
    TSR_TRY(tsri_list_folder(&names, &count, saves));
    TSR_CHECK(count == 0, TSR_USAGE,
              "%s holds %s but there is no run.yaml beside it: choose another folder, or remove it",
              tsri_quote(saves), tsri_quote(names[0]));
done:
    tsri_names_free(names, count);
    return st;
}

tsr_status tsri_open_folder(tsri_run *run)
{
    tsr_status st = TSR_OK;
    const char *folder = run->settings.options.folder;
    char *saves = NULL, *file = NULL;
    TSR_TRY(tsri_path_join(&saves, folder, "checkpoints"));
    TSR_TRY(tsri_make_own_folder(saves));
    TSR_TRY(tsri_lock_folder(&run->process.lock, folder));
    TSR_TRY(tsri_sweep_folder(folder));
    TSR_TRY(tsri_sweep_folder(saves));
    TSR_TRY(tsri_path_join(&file, folder, "run.yaml"));
    bool begun = tsri_file_exists(file);
    TSR_CHECK(!begun || run->settings.options.resume, TSR_USAGE,
              "%s holds a run already: add --resume to go on with it, or choose another folder",
              folder);
    if (begun)
        TSR_TRY(same_run_file(run, file));
    else
        TSR_TRY(no_stray_checkpoints(saves));
    if (!begun && run->settings.options.resume)
        TSRI_WARN("%s holds no run yet: beginning one", folder);
done:
    tsri_free(saves);
    tsri_free(file);
    return st;
}

tsr_status tsri_write_run_file(const tsri_run *run)
{
    tsr_status st = TSR_OK;
    char *file = NULL;
    tsri_text yaml = {0};
    TSR_TRY(tsri_path_join(&file, run->settings.options.folder, "run.yaml"));
    TSR_TRY(tsri_config_write(&yaml, run->settings.config, NULL));
    TSR_TRY(tsri_file_write_text(file, yaml.data));
done:
    tsri_text_fini(&yaml);
    tsri_free(file);
    return st;
}
