/* observer.h - code of other rooms that looks at runs between their rounds. */
#ifndef TSRI_OBSERVER_H
#define TSRI_OBSERVER_H

#include "net/parcel.h"
#include "run/run.h"

/* An observer looks at a run between its rounds and writes what it saw to the metrics. It changes
 * nothing. What it needs of the past it reads from the metrics, which a resumed run has, too. */
typedef struct tsri_observer {
    const char *name;
    tsr_status (*prepare)(tsri_run *run); /* (optional) before the folder is touched: refusals */
    /* before the first round and after each one; INTERRUPTED when a stop ended it:
     * then it is called again for the same round when the run is resumed */
    tsr_status (*look)(tsri_run *run);
    bool (*active)(const tsri_run *run); /* does it look at this run's weights at all? */
    /* (optional, both or none) state that is too large for the metrics goes into the checkpoint;
     * load is called after one was read, even if it holds nothing of this observer */
    tsr_status (*save)(const tsri_run *run, tsri_parcel *parcel);
    tsr_status (*load)(tsri_run *run, const tsri_tensors *file, const char *path);
    void (*fini)(void *state); /* (optional) frees its run->process.observer_state */
} tsri_observer;

/* All of them, NULL at the end. They live in rooms below this one and register before main, so that
 * this room need not know them. */
extern const tsri_observer *tsri_observers[];

/* Registers one, from a constructor only; returns the index of its process.observer_state. */
int tsri_observer_register(const tsri_observer *observer);

#endif
