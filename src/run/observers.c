/* observers.c - the list of observers, which look at runs between their rounds (observer.h). */
#include "run/observer.h"

#include <assert.h>

const tsri_observer *tsri_observers[TSRI_OBSERVERS_MOST + 1];

int tsri_observer_register(const tsri_observer *observer)
{
    int slot = 0;
    while (tsri_observers[slot])
        slot++;
    assert(slot < TSRI_OBSERVERS_MOST);
    tsri_observers[slot] = observer;
    return slot;
}
