/* run_view.c - what theory sees of a run. */
#include "theory/run_view.h"

#include "base/stop.h"
#include "run/trace.h"

#include <stdarg.h>

tsri_run_view tsri_run_view_of(tsri_run *run)
{
    return (tsri_run_view){.settings = &run->settings,
                           .position = &run->position,
                           .data = run->data,
                           .net = run->net,
                           .store = &run->store,
                           .device = run->device,
                           .team = tsri_team_of(run),
                           .round_loss = run->process.round_loss,
                           .given = *run->init != '\0',
                           .forced = run->forced.length > 0 ? run->forced.data : NULL,
                           .promised = run->process.promised,
                           .trace = run->process.trace,
                           .notes = run->process.trace ? &run->process.notes : NULL};
}

tsr_status tsri_run_view_open(tsri_run_view *view)
{
    tsri_run_view_close(view);
    return tsri_store_open(&view->seen, view->store, TSRI_OPEN_WEIGHTS);
}

void tsri_run_view_close(tsri_run_view *view)
{
    tsri_store_close(&view->seen);
}

tsr_status tsri_hear_stop(const tsri_run_view *view)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(!tsri_stop_asked() || view->position->round < view->promised, TSR_INTERRUPTED,
              "stopped");
done:
    return st;
}

/* ---- Notes for the trace -------------------------------------------------------------------- */

tsr_status tsri_note(const tsri_run_view *view, const tsri_tensor *tensor, const char *fmt, ...)
{
    va_list args;
    if (!view->notes)
        return TSR_OK;
    va_start(args, fmt);
    tsr_status st = tsri_parcel_add_copy(view->notes, tensor, fmt, args);
    va_end(args);
    return st;
}

tsr_status tsri_notes_write(const tsri_run_view *view, const char *kind)
{
    if (!view->notes || view->notes->count == 0)
        return TSR_OK;
    tsr_status st = tsri_trace_write(view->trace, view->notes, kind, view->position->round);
    tsri_parcel_fini(view->notes);
    return st;
}
