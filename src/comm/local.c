/* local.c - ranks that are threads of one process: a mailbox each.
 *
 * The same protocol as between machines, without a network: the tests of the crew run on it, with
 * ranks that die, hang and lie at exact moments, and under the thread sanitizer.
 */
#include "comm/comm.h"

#include "base/alloc.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

typedef struct mailbox {
    pthread_mutex_t mutex;
    pthread_cond_t arrived;
    tsri_frame *frame; /* [capacity] a queue that only grows: tests are short */
    int64_t capacity, first, count;
    bool closed; /* its rank is gone */
} mailbox;

typedef struct hall {
    int size, open;
    pthread_mutex_t mutex;
    mailbox box[];
} hall;

typedef struct local {
    tsri_comm comm;
    hall *hall;
} local;

static hall *hall_of(tsri_comm *comm)
{
    return ((local *)comm)->hall;
}

static tsr_status send(tsri_comm *comm, int to, tsri_frame *frame)
{
    tsr_status st = TSR_OK;
    mailbox *box = &hall_of(comm)->box[to];
    frame->from = comm->rank;
    (void)pthread_mutex_lock(&box->mutex);
    st =
        box->closed ? TSR_OK : tsri_reserve(&box->frame, &box->capacity, box->count, sizeof *frame);
    if (st != TSR_OK || box->closed) {
        tsri_frame_fini(frame);
    } else {
        box->frame[box->count++] = *frame;
        *frame = (tsri_frame){0};
        (void)pthread_cond_signal(&box->arrived);
    }
    (void)pthread_mutex_unlock(&box->mutex);
    return st;
}

static tsr_status receive(tsri_comm *comm, tsri_frame *frame, double seconds)
{
    mailbox *box = &hall_of(comm)->box[comm->rank];
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    double at = (double)until.tv_nsec * 1e-9 + (seconds > 0 ? seconds : 0);
    until.tv_sec += (time_t)at;
    until.tv_nsec = (long)((at - (double)(time_t)at) * 1e9);
    int late = 0;
    (void)pthread_mutex_lock(&box->mutex);
    while (box->first == box->count && late != ETIMEDOUT)
        late = pthread_cond_clockwait(&box->arrived, &box->mutex, CLOCK_MONOTONIC, &until);
    if (box->first < box->count)
        *frame = box->frame[box->first++];
    (void)pthread_mutex_unlock(&box->mutex);
    if (frame->head && !tsri_frame_sound(frame, (int64_t)sizeof *frame->head + frame->head->bytes))
        tsri_comm_release(comm, frame);
    return TSR_OK;
}

static bool dead(tsri_comm *comm, int rank)
{
    mailbox *box = &hall_of(comm)->box[rank];
    (void)pthread_mutex_lock(&box->mutex);
    bool closed = box->closed;
    (void)pthread_mutex_unlock(&box->mutex);
    return closed;
}

static void hall_destroy(hall *h)
{
    for (int i = 0; i < h->size; i++) {
        mailbox *box = &h->box[i];
        for (int64_t k = box->first; k < box->count; k++)
            tsri_frame_fini(&box->frame[k]);
        tsri_free(box->frame);
        (void)pthread_mutex_destroy(&box->mutex);
        (void)pthread_cond_destroy(&box->arrived);
    }
    (void)pthread_mutex_destroy(&h->mutex);
    tsri_free(h);
}

/* A rank that closes has died for the others; the last one takes the hall with it. */
static void leave(tsri_comm *comm)
{
    hall *h = hall_of(comm);
    mailbox *box = &h->box[comm->rank];
    tsri_comm_drop_spares(comm);
    (void)pthread_mutex_lock(&box->mutex);
    box->closed = true;
    (void)pthread_mutex_unlock(&box->mutex);
    (void)pthread_mutex_lock(&h->mutex);
    int open = --h->open;
    (void)pthread_mutex_unlock(&h->mutex);
    if (open == 0)
        hall_destroy(h);
    tsri_free(comm);
}

static const tsri_comm_kind kind = {
    .name = "threads", .send = send, .receive = receive, .dead = dead, .close = leave};

static tsr_status hall_create(hall **out, int size)
{
    tsr_status st = TSR_OK;
    hall *h = NULL;
    TSR_TRY(tsri_alloc(&h, 1, sizeof *h + (size_t)size * sizeof *h->box));
    h->size = size;
    (void)pthread_mutex_init(&h->mutex, NULL);
    for (int i = 0; i < size; i++) {
        (void)pthread_mutex_init(&h->box[i].mutex, NULL);
        (void)pthread_cond_init(&h->box[i].arrived, NULL);
    }
    *out = h;
done:
    return st;
}

tsr_status tsri_comm_local(tsri_comm **comm, int size)
{
    tsr_status st = TSR_OK;
    hall *h = NULL;
    TSR_TRY(hall_create(&h, size));
    for (int i = 0; i < size; i++) {
        local *l = NULL;
        TSR_TRY(tsri_alloc(&l, 1, sizeof *l));
        *l = (local){.comm = {.kind = &kind, .rank = i, .size = size}, .hall = h};
        comm[i] = &l->comm;
        h->open++;
    }
done:
    if (st != TSR_OK && h) {
        int made = h->open;
        for (int i = 0; i < made; i++)
            tsri_comm_close(comm[i]);
        if (made == 0)
            hall_destroy(h);
    }
    return st;
}
