/* queue.h - a device as a value: a backend and the queue that its work goes through, in order.
 *
 * On this machine's processors the queue is a pool of threads, and a call is done when it returns.
 * A backend with processors of its own has a stream of its own kind; a call may return before the
 * work is done, and `pool` is then what the host has to do its part with.
 */
#ifndef TSRI_QUEUE_H
#define TSRI_QUEUE_H

#include "backend/heap.h"
#include "base/pool.h"
#include "base/status.h"

typedef struct tsri_backend tsri_backend;

typedef struct tsri_device {
    const tsri_backend *backend;
    tsri_pool *pool;
    void *stream; /* of backends that have their own; NULL = the one that all share */
    int crowd;    /* so many plans of this kind are to run at once, on all its queues; 0 = 1 */
} tsri_device;

#endif
