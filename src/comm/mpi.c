/* mpi.c - ranks that are processes started by mpirun, on one machine or many.
 *
 * Only non-blocking point-to-point calls: what Debian's MPIs do when a rank dies (measured,
 * docs/cluster.md) leaves nothing else. Sending hands the frame to MPI_Isend and returns; every
 * later call moves it on. Receiving asks MPI_Improbe for whatever has arrived. Between two looks it
 * sleeps, a little longer each time: ranks may share cores.
 *
 * After a rank has died or hangs, MPI_Finalize waits for it for ever. So nobody may call it then:
 * rank 0 must end the job by MPI_Abort, all its files being written, and the others just end.
 * Neither is done here but by the program, when its last words are written (tsr_ranks_ending).
 *
 * Before MPI begins, the ranks hold lifelines to rank 0 already, and a thread watches them and MPI
 * (guard.h): MPI_Init would wait for ever for a rank that is not there.
 *
 * Where MPI is not installed mpi_none.c is built instead.
 */
#include "comm/comm.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "comm/fence.h"
#include "comm/guard.h"
#include "comm/places.h"

#include <limits.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG = 1, INVITATION = 512 };

typedef struct parcel { /* on its way, out or in */
    MPI_Request request;
    tsri_frame frame;
    int peer;
    int64_t size;
} parcel;

typedef struct world {
    tsri_comm comm;
    tsri_roster *roster;
    tsri_guard *guard;
    parcel *out, *in;
    int64_t outs, outs_room, ins, ins_room;
    bool *died; /* [size] */
} world;

static tsr_status failed(const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int n = 0;
    (void)MPI_Error_string(code, text, &n);
    return tsri_fail(TSR_FAILURE, "MPI: %s: %.*s", what, n, text);
}

/* ---- Out ---------------------------------------------------------------------------------- */

/* Releases messages that have left. */
static void move_on(world *w)
{
    tsri_guard_enter(w->guard);
    for (int64_t i = 0; i < w->outs;) {
        int done = 0;
        (void)MPI_Test(&w->out[i].request, &done, MPI_STATUS_IGNORE);
        if (!done) {
            i++;
            continue;
        }
        tsri_comm_release(&w->comm, &w->out[i].frame);
        w->out[i] = w->out[--w->outs];
    }
    tsri_guard_leave(w->guard);
}

static tsr_status send(tsri_comm *comm, int to, tsri_frame *frame)
{
    tsr_status st = TSR_OK;
    world *w = (world *)comm;
    int64_t size = (int64_t)sizeof *frame->head + frame->head->bytes;
    TSR_CHECK(size <= INT_MAX, TSR_RESOURCES,
              "a share of %lld bytes is more than one message holds: use more workers",
              (long long)size);
    TSR_TRY(tsri_reserve(&w->out, &w->outs_room, w->outs, sizeof *w->out));
    parcel *p = &w->out[w->outs];
    *p = (parcel){.frame = *frame, .peer = to, .size = size};
    tsri_guard_enter(w->guard);
    int code = MPI_Isend(frame->head, (int)size, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &p->request);
    tsri_guard_leave(w->guard);
    if (code == MPI_SUCCESS) {
        w->outs++;
        *frame = (tsri_frame){0};
    } else { /* the other end may be dead: who waits for this goes by the deadline */
        (void)failed("a message could not be sent", code);
        TSRI_WARN("rank %d to rank %d: %s", comm->rank, to, tsr_last_error());
    }
    move_on(w);
done:
    tsri_comm_release(comm, frame);
    return st;
}

/* ---- In ----------------------------------------------------------------------------------- */

/* Begins to receive what has been announced. */
static tsr_status look(world *w)
{
    tsr_status st = TSR_OK;
    tsri_guard_enter(w->guard);
    for (;;) {
        int there = 0, size = 0;
        MPI_Message message;
        MPI_Status status;
        int code = MPI_Improbe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &message, &status);
        if (code != MPI_SUCCESS || !there)
            break; /* a broken connection is the lifeline's to tell */
        (void)MPI_Get_count(&status, MPI_BYTE, &size);
        int64_t behind = size - (int64_t)sizeof(tsri_head);
        TSR_TRY(tsri_reserve(&w->in, &w->ins_room, w->ins, sizeof *w->in));
        parcel *p = &w->in[w->ins];
        *p = (parcel){.peer = status.MPI_SOURCE, .size = size};
        TSR_TRY(tsri_comm_frame(&w->comm, &p->frame, behind > 0 ? behind : 0));
        p->frame.from = p->peer;
        code = MPI_Imrecv(p->frame.head, size, MPI_BYTE, &message, &p->request);
        if (code != MPI_SUCCESS) {
            tsri_comm_release(&w->comm, &p->frame);
            TSR_TRY(failed("a message could not be received", code));
        }
        w->ins++;
    }
done:
    tsri_guard_leave(w->guard);
    return st;
}

static bool is_whole(world *w, parcel *p)
{
    int done = 0;
    tsri_guard_enter(w->guard);
    (void)MPI_Test(&p->request, &done, MPI_STATUS_IGNORE);
    tsri_guard_leave(w->guard);
    return done;
}

/* The oldest frame that is here whole and sound. */
static bool arrived(world *w, tsri_frame *frame)
{
    for (int64_t i = 0; i < w->ins;) {
        if (!is_whole(w, &w->in[i])) {
            i++;
            continue;
        }
        parcel p = w->in[i];
        w->ins--;
        for (int64_t k = i; k < w->ins; k++)
            w->in[k] = w->in[k + 1];
        if (tsri_frame_sound(&p.frame, p.size)) {
            *frame = p.frame;
            return true;
        }
        TSRI_WARN("a damaged message from rank %d was dropped", p.peer);
        tsri_comm_release(&w->comm, &p.frame);
    }
    return false;
}

static void rest(int64_t *nanoseconds)
{
    struct timespec t = {0, *nanoseconds};
    (void)nanosleep(&t, NULL);
    if (*nanoseconds < 500000)
        *nanoseconds = *nanoseconds * 3 / 2;
}

/* Time in which our own messages still leave, and none is arriving, is sending, not waiting: comm.c
 * counts all of it as waiting. */
static tsr_status receive(tsri_comm *comm, tsri_frame *frame, double seconds)
{
    tsr_status st = TSR_OK;
    world *w = (world *)comm;
    double now = tsri_clock(), until = now + seconds;
    int64_t pause = 5000;
    for (;;) {
        TSR_TRY(look(w));
        bool sending = w->outs > 0 && w->ins == 0;
        bool got = arrived(w, frame);
        if (!got)
            move_on(w);
        if (!got && now < until)
            rest(&pause);
        double then = now;
        now = tsri_clock();
        comm->send_seconds += sending ? now - then : 0;
        comm->wait_seconds -= sending ? now - then : 0;
        if (got || then >= until)
            break;
    }
done:
    return st;
}

/* ---- Death -------------------------------------------------------------------------------- */

static bool dead(tsri_comm *comm, int rank)
{
    world *w = (world *)comm;
    if (!w->died[rank] && tsri_guard_died(w->guard, rank))
        w->died[rank] = comm->broken = true;
    return w->died[rank];
}

static const char *host(const tsri_comm *comm, int rank)
{
    const world *w = (const world *)comm;
    return tsri_roster_one_host(w->roster) ? NULL : tsri_roster_host(w->roster, rank);
}

/* ---- Beginning and end -------------------------------------------------------------------- */

/* Messages that have not left after a moment are wanted by nobody; those that still arrive come too
 * late. */
static void last_words(world *w)
{
    double until = tsri_clock() + 1;
    int64_t pause = 5000;
    for (;;) {
        tsri_frame late = {0};
        move_on(w);
        while (arrived(w, &late))
            tsri_comm_release(&w->comm, &late);
        if (w->outs + w->ins == 0 || tsri_clock() > until)
            break;
        rest(&pause);
    }
    tsri_comm_drop_spares(&w->comm);
}

/* How the process is to end: MPI begins once in it, so this is its own and no run's. */
static _Atomic tsr_ending ending = TSR_END_PLAIN;

tsr_ending tsr_ranks_ending(void)
{
    return ending;
}

static void fini(world *w)
{
    tsri_guard_destroy(w->guard);
    tsri_roster_destroy(w->roster);
    tsri_free(w->died);
    tsri_free(w);
}

static void leave(tsri_comm *comm)
{
    world *w = (world *)comm;
    last_words(w);
    bool stuck = comm->broken || w->outs > 0 || w->ins > 0;
    if (!stuck)
        ending = TSR_END_FINALIZE;
    else if (comm->rank == 0 || w->died[0])
        ending = TSR_END_ABORT;
    if (!stuck) { /* else MPI may still read and write there */
        tsri_free(w->out);
        tsri_free(w->in);
    }
    fini(w);
}

static const tsri_comm_kind kind = {
    .name = "MPI", .send = send, .receive = receive, .dead = dead, .host = host, .close = leave};

/* ---- Meeting, before MPI begins ------------------------------------------------------------- */

/* A process on its own must not start MPI: it would start a daemon. */
static bool launched(void)
{
    static const char *const sign[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK",
                                       "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof sign / sizeof *sign; i++)
        if (getenv(sign[i]))
            return true;
    return false;
}

/* Ranks of one host need no network, and a port that MPI does not open cannot be disturbed. The
 * user's own settings are respected. */
static void stay_inside(void)
{
    const char *here = getenv("OMPI_COMM_WORLD_LOCAL_SIZE"), *all = getenv("OMPI_COMM_WORLD_SIZE");
    if (!here || !all || strcmp(here, all) != 0 || getenv("OMPI_MCA_btl") || getenv("OMPI_MCA_pml"))
        return;
    (void)setenv("OMPI_MCA_pml", "ob1", 0);
    (void)setenv("OMPI_MCA_btl", OMPI_MAJOR_VERSION < 5 ? "self,vader" : "self,sm", 0);
}

static tsr_status leave_addresses(tsri_roster *roster)
{
    tsri_address own[TSRI_FENCE_OWN];
    int n = tsri_fence_own(own, TSRI_FENCE_OWN);
    return tsri_roster_leave(roster, TSRI_ADDRESSES, own, n * (int64_t)sizeof *own);
}

/* The addresses of all ranks, one after the other. FAILURE when those of a rank are not known. */
static tsr_status find_addresses(tsri_address **all, int64_t *count, const world *w)
{
    enum { ROOM = TSRI_FENCE_OWN * (int)sizeof(tsri_address) };
    tsr_status st = TSR_OK;
    int64_t bytes = 0;
    TSR_TRY(tsri_alloc(all, (int64_t)w->comm.size * TSRI_FENCE_OWN, sizeof **all));
    for (int r = 0; r < w->comm.size; r++) {
        TSR_CHECK(tsri_roster_fetch(w->roster, TSRI_ADDRESSES, r, *all + *count, ROOM, &bytes, 5),
                  TSR_FAILURE, "rank %d has not sent its addresses", r);
        int64_t n = bytes / (int64_t)sizeof **all, first = *count;
        bool again = false; /* its host's are there */
        for (int64_t i = 0; n > 0 && i + n <= first && !again; i++)
            again = memcmp(*all + i, *all + first, (size_t)bytes) == 0;
        *count += again ? 0 : n;
    }
done:
    return st;
}

/* Not a failure: the run goes on with ports as MPI opens them. */
static void shut_strangers_out(const world *w, const int *before, int befores)
{
    tsri_address *all = NULL;
    int64_t count = 0;
    if (!tsri_roster_known(w->roster))
        return;
    if (find_addresses(&all, &count, w) != TSR_OK || !tsri_fence_close(all, count, before, befores))
        TSRI_WARN("rank %d cannot keep strangers from MPI's ports: use a firewall where they can "
                  "be reached (docs/cluster.md)",
                  w->comm.rank);
    tsri_free(all);
}

/* Rank 0 listens and leaves an invitation. */
static tsr_status invite(tsri_lifeline **line, const world *w, const tsri_comm_options *o)
{
    tsr_status st = TSR_OK;
    uint8_t invitation[INVITATION];
    uint32_t address[TSRI_LIFELINE_ADDRESSES];
    int64_t n = 0;
    int places = tsri_places_find(address, TSRI_LIFELINE_ADDRESSES, w->roster, w->comm.size);
    TSR_TRY(tsri_lifeline_listen(line, w->comm.size, address, places, (uint16_t)o->port));
    TSR_TRY(tsri_lifeline_invite(*line, invitation, (int64_t)sizeof invitation, &n));
    TSR_TRY(tsri_roster_leave(w->roster, TSRI_INVITATION, invitation, n));
    TSR_TRY(tsri_roster_post(w->roster));
done:
    return st;
}

/* The others wait for it and connect. */
static tsr_status follow(tsri_lifeline **line, const world *w, const tsri_comm_options *o)
{
    tsr_status st = TSR_OK;
    uint8_t invitation[INVITATION];
    int64_t n = 0;
    const char *where = tsri_roster_host(w->roster, 0);
    TSR_TRY(tsri_roster_post(w->roster));
    TSR_CHECK(tsri_roster_fetch(w->roster, TSRI_INVITATION, 0, invitation,
                                (int64_t)sizeof invitation, &n, o->start),
              TSR_FAILURE,
              "rank 0%s%s has not joined within %.0f s: look at what was started there, or raise "
              "cluster.start",
              where ? " on " : "", where ? tsri_quote(where) : "", o->start);
    TSR_TRY(tsri_lifeline_connect(line, invitation, n, w->comm.rank));
    if (!*line)
        TSRI_WARN("rank %d cannot reach the coordinator directly: it will not notice its death",
                  w->comm.rank);
done:
    return st;
}

static bool tried; /* to meet: who fails after that need not again */

static tsr_status meet(world *w, const tsri_comm_options *o)
{
    tsr_status st = TSR_OK;
    tsri_lifeline *line = NULL;
    tsri_guard_plan plan = {.rank = w->comm.rank, .size = w->comm.size, .start = o->start};
    tried = true;
    TSR_TRY(tsri_guard_create(&w->guard, &plan));
    tsri_guard_enter(w->guard); /* PMIx waits for an answer as MPI does: without end */
    TSR_TRY(tsri_roster_create(&w->roster, w->comm.size));
    TSR_TRY(leave_addresses(w->roster));
    if (tsri_roster_known(w->roster))
        TSR_TRY(w->comm.rank == 0 ? invite(&line, w, o) : follow(&line, w, o));
    tsri_guard_leave(w->guard);
    tsri_guard_watch(w->guard, w->roster, line);
    line = NULL;
done:
    tsri_lifeline_close(line);
    return st;
}

/* ---- Beginning ------------------------------------------------------------------------------ */

static tsr_status begin(world *w)
{
    tsr_status st = TSR_OK;
    enum { ROOM = 64 };
    int given = 0, rank = 0, size = 0, before[ROOM], befores = tsri_fence_ports(before, ROOM);
    stay_inside();
    tsri_guard_enter(w->guard);
    int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given);
    if (code == MPI_SUCCESS)
        shut_strangers_out(w, before, befores);
    tsri_guard_leave(w->guard);
    if (code != MPI_SUCCESS)
        TSR_TRY(failed("it does not start", code));
    tsri_guard_begun(w->guard);
    (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &size);
    TSR_CHECK(rank == w->comm.rank && size == w->comm.size, TSR_FAILURE,
              "MPI says rank %d of %d, whoever started it says %d of %d", rank, size, w->comm.rank,
              w->comm.size);
done:
    return st;
}

bool tsri_comm_built(void)
{
    return true;
}

tsr_status tsri_comm_open(tsri_comm **out, const tsri_comm_options *options)
{
    tsr_status st = TSR_OK;
    world *w = NULL;
    int size = tsri_comm_given_size(), begun = 0;
    *out = NULL;
    if (!launched() || size == 1)
        return TSR_OK;
    (void)MPI_Initialized(&begun); /* MPI begins once in a process */
    TSR_CHECK(!begun, TSR_USAGE,
              "ranks of mpirun train one run and are done: start mpirun again for the next");
    TSR_TRY(tsri_alloc(&w, 1, sizeof *w));
    *w = (world){.comm = {.kind = &kind, .rank = tsri_comm_given_rank(), .size = size}};
    TSR_TRY(tsri_alloc(&w->died, size, sizeof *w->died));
    TSR_TRY(meet(w, options));
    TSR_TRY(begin(w));
    *out = &w->comm;
    w = NULL;
done:
    if (w)
        fini(w);
    return st;
}

/* Rank 0 stays until every rank has come, each of the others until it has reached rank 0: then the
 * end of a lifeline tells. */
static void show_up(tsri_lifeline **line, const world *w, const tsri_comm_options *o)
{
    double until = tsri_clock() + o->start;
    bool all = w->comm.rank > 0;
    if (w->comm.rank > 0)
        (void)follow(line, w, o);
    else if (invite(line, w, o) != TSR_OK)
        return;
    while (!all && tsri_clock() < until) {
        tsri_lifeline_look(*line, 250, -1);
        all = true;
        for (int r = 1; r < w->comm.size; r++)
            all = all && (tsri_lifeline_held(*line, r) || tsri_lifeline_cut(*line, r));
    }
}

/* With mpirun's recovery switched on nobody would notice a rank that just ends. The guard is there
 * in case the starter of the ranks does not answer. */
bool tsri_comm_excuse(void)
{
    const tsri_comm_options o = {.start = 60};
    world w = {.comm = {.rank = tsri_comm_given_rank(), .size = tsri_comm_given_size()}};
    tsri_guard_plan plan = {.rank = w.comm.rank, .size = w.comm.size, .start = o.start + 10};
    tsri_guard *guard = NULL;
    tsri_lifeline *line = NULL;
    int begun = 0;
    (void)MPI_Initialized(&begun);
    if (!launched() || w.comm.size == 1 || begun)
        return false;
    (void)tsri_guard_create(&guard, &plan);
    if (!tried && tsri_roster_create(&w.roster, w.comm.size) == TSR_OK &&
        tsri_roster_known(w.roster))
        show_up(&line, &w, &o);
    tsri_guard_destroy(guard);
    tsri_lifeline_close(line);
    return true; /* with the roster: PMIx must still be there when the program asks it */
}
