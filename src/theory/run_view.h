/* run_view.h - what theory sees of a run: enough to measure everything, and nothing that it could
 * change.
 *
 *     tsri_run_view view = tsri_run_view_of(run);
 *     TSR_TRY(tsri_run_view_open(&view));             now view.seen has the weights
 *     ...
 *     tsri_run_view_close(&view);
 *
 * The view points into the run, which must outlive it. It shows the round at which it was made: a
 * later one needs a view of its own, or this one made anew in its place.
 */
#ifndef TSRI_RUN_VIEW_H
#define TSRI_RUN_VIEW_H

#include "run/run.h"
#include "scheme/team.h"

typedef struct tsri_run_view {
    const tsri_settings *settings;
    const tsri_run_position *position;
    const tsr_data *data;
    const tsri_net *net;
    tsri_store *store;     /* the weights, where the device has them: plans read them */
    tsri_opened seen;      /* the same as the host sees them, while the view is open */
    tsri_device device;    /* to compute with; its pool is also the host's threads */
    const tsri_team *team; /* how shares are drawn, and those of the last round; NULL = none */
    double round_loss;     /* mean over the steps of the last round, before each */
    bool given;            /* it began with a model's weights, not with weights as drawn */
    const char *forced; /* what --force let pass, an event a line (train/forced.h); NULL = none */
    int64_t promised;   /* the round that the run will reach in any case: a stop waits for it */
    const char *trace;  /* its folder; NULL = there is none */
    tsri_parcel *notes; /* for the trace, until they are written; NULL = there is none */
} tsri_run_view;

tsri_run_view tsri_run_view_of(tsri_run *run);

/* Opens view->seen, until close. */
tsr_status tsri_run_view_open(tsri_run_view *view);
void tsri_run_view_close(tsri_run_view *view);

/* For whatever takes long: INTERRUPTED when a stop was asked for (base/stop.h) and may come now. A
 * look passes it on: the round is saved as one that must be looked at again. */
tsr_status tsri_hear_stop(const tsri_run_view *view);

/* For the trace: what a verdict was reached from, in a file of its own beside those of the rounds.
 *
 *     tsri_tensor t = {.dtype = TSRI_I64, .dims = 1, .shape = {n}, .data = samples};
 *     TSR_TRY(tsri_note(view, &t, "samples.%s", row));           any number of them
 *     TSR_TRY(tsri_notes_write(view, "certificate"));            trace/certificate-<round>
 *
 * Data and name are copied; `tensor` has no name, and no two notes of a file have the same one
 * (FAILURE when they are written). <round> is the number of rounds done, six digits. A file of
 * notes appears only when something was noted. Without --trace both do nothing: check view->notes
 * before computing what is to be noted. */
tsr_status tsri_note(const tsri_run_view *view, const tsri_tensor *tensor, const char *fmt, ...)
    TSR_PRINTF(3, 4);
tsr_status tsri_notes_write(const tsri_run_view *view, const char *kind);

#endif
