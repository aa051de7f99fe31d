/* locks.h - which runs are alive: who holds the lock of a folder, found without touching it.
 *
 * Trying to take the lock would give a sure answer, but a run that begins at that moment would find
 * its folder taken. So run.lock is read (the number of the process that holds it; empty after an
 * orderly end), and /proc/locks says whether that process still holds it. That list has only the
 * processes of this machine and this container; for a folder on a network the caller must judge by
 * whether files grow.
 */
#ifndef TSRI_LOCKS_H
#define TSRI_LOCKS_H

#include "base/text.h"

typedef struct tsri_locks {
    tsri_text text; /* /proc/locks */
} tsri_locks;

/* Without /proc the list is empty. */
tsr_status tsri_locks_read(tsri_locks *locks);
void tsri_locks_fini(tsri_locks *locks);

typedef struct tsri_holder {
    int64_t pid;  /* that run.lock names; 0: none */
    bool held;    /* by that process, on this machine, now */
    bool stopped; /* and it is stopped (Ctrl-Z, SIGSTOP) */
    bool remote;  /* the folder is on a network: it may be held by another machine */
} tsri_holder;

/* Of folder/run.lock. */
tsr_status tsri_holder_find(tsri_holder *h, const tsri_locks *locks, const char *folder);

#endif
