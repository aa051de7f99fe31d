/* crew.h - the shares of a round, dealt to ranks and gathered.
 *
 * The coordinator deals shares to the ranks that are free: there may be fewer ranks than shares.
 * Results come back in any order; the scheme puts them together in the order of the shares, so that
 * neither the number of ranks nor their speed changes the outcome.
 *
 * Faults cost a share its round, never the run. A rank that died gets nothing more; one that is
 * late (deadline) is passed over until it answers again; a result that the scheme finds unsound is
 * rejected. All are counted and reported. When the coordinator dies, the others notice and end.
 *
 *     coordinator                                   the others
 *     TSR_TRY(tsri_crew_gather(crew, ...));         TSR_TRY(tsri_crew_join(crew, ...));
 *     each round:                                   TSR_TRY(tsri_crew_serve(crew, work, context));
 *         TSR_TRY(tsri_crew_round(crew, r, &job));
 *     tsri_crew_end(crew);
 */
#ifndef TSRI_CREW_H
#define TSRI_CREW_H

#include "comm/comm.h"

/* Why a share of a round was lost. */
typedef enum tsri_lost { TSRI_DIED, TSRI_LATE, TSRI_UNSOUND, TSRI_LOST_KINDS } tsri_lost;

/* The state of a member. */
typedef struct tsri_member {
    bool here;              /* has answered, and is not late */
    bool gone;              /* died: for good */
    int64_t share;          /* it is working on; -1 = none */
    double since;           /* when that was sent, by tsri_crew_clock */
    int64_t received, sent; /* bytes of numbers, since the last report */
    tsri_spent spent;       /* since the last report */
} tsri_member;

enum { TSRI_CREW_TIMES = 31 };

typedef struct tsri_crew {
    tsri_comm *comm;
    double deadline;              /* seconds for a share; 0 = from the times of the last ones */
    tsri_member *member;          /* [size]; of rank 0 only `spent` is used */
    double time[TSRI_CREW_TIMES]; /* of the last shares, a ring */
    int64_t times;
    double listened, looked;       /* tsri_crew_clock, and when it was last asked */
    int64_t lost[TSRI_LOST_KINDS]; /* in all */
    int64_t stale;                 /* frames of other rounds, dropped */
    double pack_seconds;
    double reported, reported_send,
        reported_wait; /* clock and the comm's times at the last report */
    bool gathered;     /* each rank has answered once; an absent one is gone */
    bool ended;
} tsri_crew;

/* What the scheme does for a round. */
typedef struct tsri_crew_job {
    void *context;
    int64_t shares;
    int64_t (*size)(void *context, int64_t share); /* bytes to send; 0 = nothing to do */
    tsr_status (*pack)(void *context, int64_t share, void *bytes);
    int64_t (*result)(void *context, int64_t share); /* bytes that must come back */
    tsr_status (*unpack)(void *context, int64_t share, const void *bytes, bool *sound);
    void (*lost)(void *context, int64_t share, int rank, tsri_lost why);
} tsri_crew_job;

/* What a worker does with a share: reads `in`, makes *out by tsri_comm_frame and fills it with
 * *bytes. */
typedef tsr_status (*tsri_crew_work)(void *context, int64_t round, int64_t share, const void *in,
                                     int64_t n, tsri_frame *out, int64_t *bytes);

tsr_status tsri_crew_create(tsri_crew **out, tsri_comm *comm, double deadline);
void tsri_crew_destroy(tsri_crew *crew); /* not the comm; NULL is fine */

/* `identity`: lines of name and value, tabs between, that must be equal on all ranks: USAGE with
 * the name of the line and both values when they are not. `gift` goes to every rank. */
tsr_status tsri_crew_gather(tsri_crew *crew, const char *identity, const void *gift, int64_t n);
tsr_status tsri_crew_join(tsri_crew *crew, const char *identity, void *gift, int64_t n);

/* Has all shares of a round done, or lost; *alone = there was no rank to do them. */
tsr_status tsri_crew_round(tsri_crew *crew, int64_t round, const tsri_crew_job *job, bool *alone);

/* Works until the coordinator says that the run is over. */
tsr_status tsri_crew_serve(tsri_crew *crew, tsri_crew_work work, void *context);

/* For long work: is the coordinator gone? */
bool tsri_crew_orphaned(tsri_crew *crew);

/* A worker: tells the coordinator why it cannot go on; the thread's error text goes with it. */
void tsri_crew_give_up(tsri_crew *crew, tsr_status why);

/* ---- For schemes that deal with ranks themselves (scheme/gpipe_crew.c) ---------------------- */

/* Seconds that the coordinator has been listening: it stands still while the coordinator is stopped
 * or busy, so that no rank is late because of it. What waits is measured by it. */
double tsri_crew_clock(tsri_crew *crew);

/* Seconds after which a silent rank is late: `deadline`, or from the times noted here. */
double tsri_crew_limit(const tsri_crew *crew);
void tsri_crew_took(tsri_crew *crew, double seconds);

/* Is this member gone? Notices, and tells, when it has just died. */
bool tsri_crew_gone(tsri_crew *crew, int rank);

/* A frame came: its sender is alive, and says where its time went. true = it was thought lost. */
bool tsri_crew_heard(tsri_crew *crew, const tsri_frame *frame);

/* The status and message in a frame TSRI_FAILED: the run fails with them. */
tsr_status tsri_crew_failure(const tsri_frame *frame);

/* Where this rank's time went since the last call: all that was neither sending nor waiting was
 * computing. */
tsri_spent tsri_crew_spent(tsri_crew *crew);

/* Sends a frame that belongs to no round. */
tsr_status tsri_crew_say(tsri_crew *crew, int to, tsri_frame_kind kind, const void *bytes,
                         int64_t n);

/* Coordinator: the run is over, and every rank may end. */
void tsri_crew_end(tsri_crew *crew);

#endif
