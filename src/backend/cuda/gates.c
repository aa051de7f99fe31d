/* gates.c - kernels whose blocks wait for each other (recurrent.cu), from many queues at once.
 *
 * A block that waits holds its multiprocessor. Of one launch at most MOST_BLOCKS - 1 blocks can wait
 * for one that has not begun; with many launches at once they could fill the chip, and nobody would
 * begin any more. So there are gates, as few as leave a multiprocessor free, and each queue has one:
 * launches through the same gate come one after the other.
 *
 *     TSR_TRY(tsri_cuda_gate_enter(queue, stream));
 *     ... the launch ...
 *     tsri_cuda_gate_leave(queue, stream);
 *
 * A recorded step passes the gate as a whole, each time it is played (tape.c). Gates are those of this
 * process: under MPS others are at work on the chip at the same moment, uncounted, so that there are
 * none, and recurrences go by products. */
#include "backend/cuda/cuda.h"

#include <pthread.h>

enum { GATES = 8, MOST_BLOCKS = TSRI_CUDA_RECURRENT_MOST / TSRI_CUDA_RECURRENT_UNITS };

typedef struct gate {
    pthread_mutex_t lock;
    cudaEvent_t passed;  /* the last who went through; NULL: nobody has */
    cudaStream_t passer; /* and its stream */
} gate;

#define OPEN                                                                                       \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }
static gate gates[GATES] = {OPEN, OPEN, OPEN, OPEN, OPEN, OPEN, OPEN, OPEN};
static _Thread_local bool recorded;

static pthread_once_t asked = PTHREAD_ONCE_INIT;
static bool shared;

/* Where CUDA cannot say, nobody else is there: MPS comes with drivers that can. */
static void ask(void)
{
    int enabled = 0;
    shared =
        cudaDeviceGetAttribute(&enabled, cudaDevAttrMpsEnabled, tsri_cuda_gpu()) == cudaSuccess &&
        enabled;
    (void)cudaGetLastError();
}

int tsri_cuda_gates(void)
{
    pthread_once(&asked, ask);
    if (shared)
        return 0;
    int most = (tsri_cuda_multiprocessors() - 1) / (MOST_BLOCKS - 1);
    return most < GATES ? most : GATES;
}

/* Only those who have gates come here; the others have one, so that nothing is divided by none. */
static gate *gate_of(void *queue)
{
    int open = tsri_cuda_gates();
    return &gates[open > 0 ? tsri_cuda_lane_of(queue)->number % (unsigned)open : 0];
}

bool tsri_cuda_gate_recorded(void)
{
    bool was = recorded;
    recorded = false;
    return was;
}

tsr_status tsri_cuda_gate_enter(void *queue, cudaStream_t stream)
{
    tsr_status st = TSR_OK;
    if (tsri_cuda_recording()) {
        recorded = true;
        return TSR_OK;
    }
    gate *g = gate_of(queue);
    pthread_mutex_lock(&g->lock);
    if (!g->passed)
        TSR_TRY(tsri_cuda_status(cudaEventCreateWithFlags(&g->passed, cudaEventDisableTiming),
                                 "an event"));
    else if (g->passer != stream)
        TSR_TRY(tsri_cuda_status(cudaStreamWaitEvent(stream, g->passed, 0), "an event"));
done:
    if (st != TSR_OK)
        pthread_mutex_unlock(&g->lock);
    return st;
}

tsr_status tsri_cuda_gate_leave(void *queue, cudaStream_t stream)
{
    if (tsri_cuda_recording())
        return TSR_OK;
    gate *g = gate_of(queue);
    g->passer = stream;
    tsr_status st = tsri_cuda_status(cudaEventRecord(g->passed, stream), "an event");
    pthread_mutex_unlock(&g->lock);
    return st;
}
