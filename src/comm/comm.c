/* comm.c - what both kinds of rank have in common: spare frames, counts, times. */
#include "comm/comm.h"

#include "base/clock.h"
#include "base/text.h"
#include "comm/roster.h"

#include <stdio.h>
#include <stdlib.h>

/* The smallest that is large enough. */
tsr_status tsri_comm_frame(tsri_comm *comm, tsri_frame *frame, int64_t bytes)
{
    tsri_frame *best = NULL;
    for (int i = 0; i < TSRI_SPARE_FRAMES; i++) {
        tsri_frame *f = &comm->spare[i];
        if (f->head && f->capacity >= bytes && (!best || f->capacity < best->capacity))
            best = f;
    }
    if (!best)
        return tsri_frame_init(frame, bytes);
    *frame = *best;
    *best = (tsri_frame){0};
    return TSR_OK;
}

/* The larger ones stay: they cost most to make. */
void tsri_comm_release(tsri_comm *comm, tsri_frame *frame)
{
    tsri_frame *least = &comm->spare[0];
    if (!frame->head)
        return;
    for (int i = 1; i < TSRI_SPARE_FRAMES; i++)
        if (comm->spare[i].capacity < least->capacity)
            least = &comm->spare[i];
    if (least->capacity < frame->capacity) {
        tsri_frame smaller = *least;
        *least = *frame;
        *frame = smaller;
    }
    tsri_frame_fini(frame);
}

void tsri_comm_drop_spares(tsri_comm *comm)
{
    for (int i = 0; i < TSRI_SPARE_FRAMES; i++)
        tsri_frame_fini(&comm->spare[i]);
}

tsr_status tsri_comm_send(tsri_comm *comm, int to, tsri_frame *frame)
{
    double start = tsri_clock();
    comm->sent += (int64_t)sizeof(tsri_head) + frame->head->bytes;
    tsr_status st = comm->kind->send(comm, to, frame);
    comm->send_seconds += tsri_clock() - start;
    return st;
}

tsr_status tsri_comm_receive(tsri_comm *comm, tsri_frame *frame, double seconds)
{
    double start = tsri_clock();
    *frame = (tsri_frame){0};
    tsr_status st = comm->kind->receive(comm, frame, seconds);
    if (frame->head) {
        comm->received += (int64_t)sizeof(tsri_head) + frame->head->bytes;
        if (frame->head->kind == TSRI_END) /* who hung up after its last word has not died */
            comm->broken = frame->head->share == TSRI_END_BROKEN;
    }
    comm->wait_seconds += tsri_clock() - start;
    return st;
}

bool tsri_comm_dead(tsri_comm *comm, int rank)
{
    return comm->kind->dead(comm, rank);
}

const char *tsri_comm_name(const tsri_comm *comm, int rank)
{
    char name[128];
    const char *host = comm->kind->host ? comm->kind->host(comm, rank) : NULL;
    (void)snprintf(name, sizeof name, "rank %d%s%s", rank, host ? " on " : "", host ? host : "");
    return tsri_quote(name);
}

/* The number in the first of these variables that is set. */
static int given(const char *const *name, size_t names, int otherwise)
{
    for (size_t i = 0; i < names; i++) {
        const char *number = getenv(name[i]);
        if (number)
            return (int)strtol(number, NULL, 10);
    }
    return otherwise;
}

int tsri_comm_given_rank(void)
{
    static const char *const name[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
    return given(name, sizeof name / sizeof *name, 0);
}

int tsri_comm_given_size(void)
{
    static const char *const name[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"};
    return given(name, sizeof name / sizeof *name, 1);
}

void tsri_comm_close(tsri_comm *comm)
{
    if (!comm)
        return;
    comm->kind->close(comm);
}

int tsr_rank(int *size)
{
    if (size)
        *size = tsri_comm_given_size();
    return tsri_comm_given_rank();
}

bool tsr_ranks_excuse(void)
{
    return tsri_comm_excuse();
}

bool tsr_ranks_end(int status)
{
    return tsri_roster_ask_end(status);
}
