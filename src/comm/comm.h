/* comm.h - ranks that send each other frames: rank 0 coordinates, the others work.
 *
 * One interface, two kinds of rank: processes that mpirun started, on one machine or many (mpi.c),
 * and threads of one process (local.c), on which the tests run. Nothing here ever waits for ever:
 * sending returns at once, receiving has a time limit, and a rank that died is known as dead where
 * that can be known. There are no collective operations: with a dead rank they hang.
 *
 *     tsri_frame frame;
 *     TSR_TRY(tsri_comm_frame(comm, &frame, bytes));      room, to be filled
 *     tsri_frame_seal(&frame, TSRI_WORK, round, share, bytes);
 *     TSR_TRY(tsri_comm_send(comm, 2, &frame));           the frame is the comm's now
 *
 *     TSR_TRY(tsri_comm_receive(comm, &frame, 0.5));      frame.head NULL: nothing came
 *     ...
 *     tsri_comm_release(comm, &frame);
 */
#ifndef TSRI_COMM_H
#define TSRI_COMM_H

#include "comm/frame.h"

typedef struct tsri_comm tsri_comm;

/* What a kind of rank must be able to do. */
typedef struct tsri_comm_kind {
    const char *name;
    tsr_status (*send)(tsri_comm *comm, int to, tsri_frame *frame);
    tsr_status (*receive)(tsri_comm *comm, tsri_frame *frame, double seconds);
    bool (*dead)(tsri_comm *comm, int rank);
    const char *(*host)(const tsri_comm *comm, int rank); /* (optional) where ranks have several */
    void (*close)(tsri_comm *comm);
} tsri_comm_kind;

enum { TSRI_SPARE_FRAMES = 8 };

struct tsri_comm {
    const tsri_comm_kind *kind;
    int rank, size;
    int64_t sent, received; /* bytes handed over, heads and all */
    double send_seconds, wait_seconds;
    bool broken; /* a rank died or hangs: no end in order, for which all would be needed */
    tsri_frame spare[TSRI_SPARE_FRAMES]; /* used again: fresh memory costs more than packing */
};

typedef struct tsri_comm_options {
    double start; /* seconds within which all ranks must have joined */
    int port;     /* rank 0's, open until they have; 0 = one that the system chooses */
} tsri_comm_options;

/* Was the library built with MPI? */
bool tsri_comm_built(void);

/* The ranks that mpirun started; *out = NULL when this process was not started by it or is the only
 * one, or when the library was built without MPI. When a rank does not come it is named in a
 * message and the program is told (tsr_context_on_hang). */
tsr_status tsri_comm_open(tsri_comm **out, const tsri_comm_options *options);
void tsri_comm_close(tsri_comm *comm); /* NULL is fine */

/* For a rank that failed before it opened a comm, and has said why: the others would wait for it in
 * vain. Waits until they can notice its end. True: the program should end them all; false: there
 * are no others. */
bool tsri_comm_excuse(void);

/* The rank that mpirun gave this process, before anything is opened; 0 without mpirun. */
int tsri_comm_given_rank(void);
/* How many it started; 1 without mpirun. */
int tsri_comm_given_size(void);

/* `size` ranks of threads of this process: comm[0 .. size-1], each for one thread. For tests. */
tsr_status tsri_comm_local(tsri_comm **comm, int size);

/* A frame with room for `bytes`: a spare one, or new. */
tsr_status tsri_comm_frame(tsri_comm *comm, tsri_frame *frame, int64_t bytes);
void tsri_comm_release(tsri_comm *comm, tsri_frame *frame);
void tsri_comm_drop_spares(tsri_comm *comm); /* for kinds that close */

/* Sends and takes the frame. Returns at once; the bytes travel while others are packed. */
tsr_status tsri_comm_send(tsri_comm *comm, int to, tsri_frame *frame);

/* The next sound frame from anyone, or frame->head = NULL after `seconds` without one. */
tsr_status tsri_comm_receive(tsri_comm *comm, tsri_frame *frame, double seconds);

/* Is this rank known to have died? A rank that hangs is not. */
bool tsri_comm_dead(tsri_comm *comm, int rank);

/* "rank 3", and where there are several hosts "rank 3 on gamma"; valid until the thread's next few
 * such calls. */
const char *tsri_comm_name(const tsri_comm *comm, int rank);

#endif
