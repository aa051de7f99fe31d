/* pool.h - a team of threads that runs one loop at a time.
 *
 *     tsri_pool_run(pool, body, &context, count);     body(context, i, thread) for i = 0 .. count-1
 *
 * The caller works too, and the call returns when every i is done. Which thread runs which i is not
 * fixed, so a body must write only what belongs to its own i; then results do not depend on the
 * number of threads. A pool of one thread runs the loop in place and starts nothing.
 */
#ifndef TSRI_POOL_H
#define TSRI_POOL_H

#include "base/status.h"

typedef struct tsri_pool tsri_pool;

typedef void (*tsri_pool_body)(void *context, int64_t i, int thread);

/* threads >= 1. Destroy frees everything; NULL is fine. */
tsr_status tsri_pool_create(tsri_pool **out, int threads);
void tsri_pool_destroy(tsri_pool *pool);

/* Local. Not to be called from inside a body of the same pool. */
void tsri_pool_run(tsri_pool *pool, tsri_pool_body body, void *context, int64_t count);

int tsri_pool_threads(const tsri_pool *pool);

/* The cores this process may run on. */
int tsri_cores(void);

#endif
