/* forced.c - a record of what --force let pass when a run was resumed.
 *
 * Numbers computed by two kinds of kernels, on two data sets or with two run files are not those of
 * one run. --force allows it, but the metrics, every later checkpoint and the model then say so:
 * run->forced has an event in each line, as metrics.jsonl has. Differences are found by comparing the
 * checkpoint with the present, never with run.yaml, which may have been rewritten by a run that was
 * killed before its first checkpoint.
 */
#include "model/model.h"
#include "run/metrics_lines.h"
#include "train/folder.h"
#include "train/forced.h"
#include "train/iterate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static tsr_status note(tsri_run *run, const char *what, const char *change)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    tsri_json_open(&w, '{');
    tsri_json_put_text(&w, "event", "forced");
    tsri_json_put_int(&w, "round", run->position.round);
    tsri_json_put_text(&w, "what", what);
    tsri_json_put_text(&w, "change", change);
    tsri_json_close(&w, '}');
    TSR_TRY(tsri_json_end(&w));
    TSR_TRY(tsri_text_add(&run->forced, "%s\n", w.text.data));
done:
    tsri_json_fini(&w);
    return st;
}

static tsr_status note_if_other(tsri_run *run, const char *what, const char *was, const char *now)
{
    tsr_status st = TSR_OK;
    tsri_text change = {0};
    if (!was || strcmp(was, now) == 0)
        return TSR_OK;
    TSR_TRY(tsri_text_add(&change, "%s -> %s", was, now));
    TSR_TRY(note(run, what, change.data));
done:
    tsri_text_fini(&change);
    return st;
}

static tsr_status note_run_file(tsri_run *run, const tsri_tensors *file, const char *path)
{
    tsr_status st = TSR_OK;
    tsr_config *old = NULL;
    tsri_text changes = {0};
    if (!tsri_tensors_meta(file, "tessera.run"))
        return TSR_OK;
    TSR_TRY(tsri_model_run_file(&old, file, path));
    TSR_TRY(tsri_follow_data(old, run->settings.config));
    TSR_TRY(tsri_config_differences(&changes, old, run->settings.config));
    if (changes.length > 0) {
        changes.data[changes.length - 1] = '\0'; /* the last line end */
        TSR_TRY(note(run, "run file", changes.data));
    }
done:
    tsri_text_fini(&changes);
    tsr_config_destroy(old);
    return st;
}

tsr_status tsri_forced_note(tsri_run *run, const tsri_tensors *file, const char *kernels,
                            const char *data, const char *path)
{
    tsr_status st = TSR_OK;
    char data_here[16];
    const char *before = tsri_tensors_meta(file, TSRI_META_FORCED);
    (void)snprintf(data_here, sizeof data_here, "%08" PRIx32, run->data->hash);
    run->forced.length = 0;
    if (before)
        TSR_TRY(tsri_text_add(&run->forced, "%s", before));
    run->process.forced_written = run->forced.length;
    if (run->position.round >= run->settings.rounds ||
        tsri_iterate_enough(&run->settings, &run->position)) /* nothing more is computed */
        return TSR_OK;
    TSR_TRY(note_if_other(run, "kernels", kernels, tsri_backend_vendor(run->device.backend)));
    TSR_TRY(note_if_other(run, "data", data, data_here));
    TSR_TRY(note_run_file(run, file, path));
done:
    return st;
}

tsr_status tsri_forced_tell(tsri_run *run)
{
    tsr_status st = TSR_OK;
    while (run->process.forced_written < run->forced.length) {
        char *line = run->forced.data + run->process.forced_written, *end = strchr(line, '\n');
        if (!end)
            break;
        *end = '\0';
        st = tsri_event_line(run, line);
        *end = '\n';
        TSR_TRY(st);
        run->process.forced_written = end + 1 - run->forced.data;
    }
done:
    return st;
}
