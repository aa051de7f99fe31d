/* starter.h - questions to the program that started the ranks (mpirun, Slurm), before MPI begins.
 *
 * Answered by PMIx (starter_pmix.c), which comes with Open MPI; without it nobody answers
 * (starter_none.c). roster.h is what the rest of the room uses.
 */
#ifndef TSRI_STARTER_H
#define TSRI_STARTER_H

#include "base/status.h"

enum { TSRI_STARTER_HOST = 64 };

bool tsri_starter_begin(void); /* false: nobody answers */
void tsri_starter_finish(void);

/* The host of a rank, cut to fit; `host` is left alone when it is not known. */
void tsri_starter_host(char host[TSRI_STARTER_HOST], int rank);

/* Leaves a word under a name and, when all are there, posts them; fetches another rank's, for which
 * the starter waits about so long. */
bool tsri_starter_put(const char *name, void *bytes, int64_t n);
bool tsri_starter_post(void);
bool tsri_starter_ask(const char *name, int rank, void *bytes, int64_t room, int64_t *got,
                      int seconds);

/* Asks it to end all ranks. Waits as long as it hangs. */
void tsri_starter_abort(int status);

#endif
