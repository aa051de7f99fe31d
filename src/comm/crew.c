/* crew.c - the shares of a round, dealt to ranks and gathered: the coordinator's side. */
#include "comm/crew.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/stop.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* Seconds. Until the first share has come back it is not known how long one takes. */
static const double FIRST = 60, LEAST = 2, GATHER = 600, LOOK = 0.05, AWAY = 0.25;
enum { PATIENCE = 5 }; /* times the median */

tsr_status tsri_crew_create(tsri_crew **out, tsri_comm *comm, double deadline)
{
    tsr_status st = TSR_OK;
    tsri_crew *c = NULL;
    TSR_TRY(tsri_alloc(&c, 1, sizeof *c));
    *c = (tsri_crew){.comm = comm, .deadline = deadline, .reported = tsri_clock()};
    c->looked = c->reported;
    TSR_TRY(tsri_alloc(&c->member, comm->size, sizeof *c->member));
    for (int r = 0; r < comm->size; r++)
        c->member[r].share = -1;
    *out = c;
    c = NULL;
done:
    tsri_crew_destroy(c);
    return st;
}

void tsri_crew_destroy(tsri_crew *crew)
{
    if (!crew)
        return;
    tsri_free(crew->member);
    tsri_free(crew);
}

tsr_status tsri_crew_say(tsri_crew *c, int to, tsri_frame_kind kind, const void *bytes, int64_t n)
{
    tsr_status st = TSR_OK;
    tsri_frame f = {0};
    TSR_TRY(tsri_comm_frame(c->comm, &f, n));
    if (n > 0)
        memcpy(f.bytes, bytes, (size_t)n);
    tsri_frame_seal(&f, kind, -1, -1, n);
    TSR_TRY(tsri_comm_send(c->comm, to, &f));
done:
    return st;
}

static tsr_status say_end(tsri_crew *c, int to)
{
    tsr_status st = TSR_OK;
    tsri_frame f = {0};
    TSR_TRY(tsri_comm_frame(c->comm, &f, 0));
    tsri_frame_seal(&f, TSRI_END, -1, c->comm->broken ? TSRI_END_BROKEN : 0, 0);
    TSR_TRY(tsri_comm_send(c->comm, to, &f));
done:
    return st;
}

void tsri_crew_end(tsri_crew *crew)
{
    if (crew->ended)
        return;
    for (int r = 1; r < crew->comm->size; r++)
        crew->comm->broken |= tsri_crew_gone(crew, r) || (crew->gathered && !crew->member[r].here);
    for (int r = 1; r < crew->comm->size; r++)
        if (!crew->member[r].gone)
            (void)say_end(crew, r);
    crew->ended = true;
}

/* A status that came from another process: checked, and never a success. */
static tsr_status failure_of(int32_t code)
{
    static const tsr_status known[] = {TSR_USAGE, TSR_BAD_FILE, TSR_RESOURCES, TSR_DIVERGED,
                                       TSR_INTERRUPTED};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (code == (int32_t)known[i])
            return known[i];
    return TSR_FAILURE;
}

/* Status and sentence of a rank that cannot go on: the run cannot either, as in one process. */
tsr_status tsri_crew_failure(const tsri_frame *f)
{
    int32_t code = TSR_FAILURE;
    if (f->head->bytes < (int64_t)sizeof code)
        return tsri_fail(TSR_FAILURE, "rank %d failed", f->from);
    memcpy(&code, f->bytes, sizeof code);
    return tsri_fail(
        failure_of(code), "rank %d: %s", f->from,
        tsri_printable((const char *)f->bytes + sizeof code, (size_t)f->head->bytes - sizeof code));
}

/* ---- Time and life ------------------------------------------------------------------------ */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double tsri_crew_clock(tsri_crew *c)
{
    double now = tsri_clock(), since = now - c->looked;
    c->listened += since < AWAY ? since : AWAY; /* a longer gap was not spent listening */
    c->looked = now;
    return c->listened;
}

double tsri_crew_limit(const tsri_crew *c)
{
    double sorted[TSRI_CREW_TIMES];
    int64_t n = c->times < TSRI_CREW_TIMES ? c->times : TSRI_CREW_TIMES;
    if (c->deadline > 0)
        return c->deadline;
    if (n == 0)
        return FIRST;
    memcpy(sorted, c->time, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_size);
    double patient = PATIENCE * sorted[n / 2];
    return patient > LEAST ? patient : LEAST;
}

void tsri_crew_took(tsri_crew *crew, double seconds)
{
    crew->time[crew->times++ % TSRI_CREW_TIMES] = seconds;
}

bool tsri_crew_gone(tsri_crew *crew, int rank)
{
    tsri_member *m = &crew->member[rank];
    if (!m->gone && tsri_comm_dead(crew->comm, rank)) {
        m->gone = true;
        m->here = false;
        TSRI_WARN("%s died: going on without it", tsri_comm_name(crew->comm, rank));
    }
    return m->gone;
}

bool tsri_crew_heard(tsri_crew *crew, const tsri_frame *f)
{
    tsri_member *m = &crew->member[f->from];
    const tsri_spent *t = &f->head->spent;
    m->spent = (tsri_spent){m->spent.compute + t->compute, m->spent.send + t->send,
                            m->spent.wait + t->wait};
    if (m->gone || m->here)
        return false;
    m->here = true; /* late, but alive */
    TSRI_WARN("%s is back", tsri_comm_name(crew->comm, f->from));
    return true;
}

tsri_spent tsri_crew_spent(tsri_crew *c)
{
    double now = tsri_clock(), send = c->comm->send_seconds - c->reported_send,
           wait = c->comm->wait_seconds - c->reported_wait;
    tsri_spent t = {(float)(now - c->reported - send - wait), (float)send, (float)wait};
    c->reported = now;
    c->reported_send = c->comm->send_seconds;
    c->reported_wait = c->comm->wait_seconds;
    return t;
}

/* ---- Beginning ---------------------------------------------------------------------------- */

/* The first line of `here` that `there` has otherwise: "data: 1a2b here, 3c4d there". */
static tsr_status compare(const char *here, const char *there, int64_t n, int rank)
{
    tsr_status st = TSR_OK;
    const char *end = there + n;
    while (*here) {
        size_t a = strcspn(here, "\n"), b = 0;
        while (there + b < end && there[b] != '\n')
            b++;
        if (a != b || memcmp(here, there, a) != 0) {
            size_t name = strcspn(here, "\t\n"), skip = name < a ? name + 1 : a;
            size_t cut = skip < b ? skip : b;
            TSR_CHECK(
                false, TSR_USAGE,
                "rank %d was started for another run: its %.*s is %s, here it is %.*s: give all "
                "ranks the same run file, data and version",
                rank, (int)name, here, tsri_printable(there + cut, b - cut), (int)(a - skip),
                here + skip);
        }
        here += a + (here[a] == '\n');
        there += b + (there + b < end);
    }
done:
    return st;
}

static tsr_status start(tsri_crew *c, const void *gift, int64_t n)
{
    tsr_status st = TSR_OK;
    for (int r = 1; r < c->comm->size; r++)
        if (c->member[r].here)
            TSR_TRY(tsri_crew_say(c, r, TSRI_START, gift, n));
done:
    return st;
}

/* The first rank that may still say hello; 0: there is none. */
static int first_missing(tsri_crew *c)
{
    for (int r = 1; r < c->comm->size; r++)
        if (!c->member[r].here && !tsri_comm_dead(c->comm, r))
            return r;
    return 0;
}

/* Nothing has been done yet that would have to be saved. The rank that is missing may hang: nobody
 * can wait for it to end in order. */
static tsr_status hear_stop(tsri_crew *c, int missing)
{
    tsr_status st = TSR_OK;
    if (!tsri_stop_asked())
        return TSR_OK;
    c->comm->broken = true;
    TSR_CHECK(false, TSR_INTERRUPTED, "stopped before %s had joined",
              tsri_comm_name(c->comm, missing));
done:
    return st;
}

tsr_status tsri_crew_gather(tsri_crew *crew, const char *identity, const void *gift, int64_t n)
{
    tsr_status st = TSR_OK;
    tsri_frame f = {0};
    double until = tsri_clock() + GATHER;
    for (int missing; (missing = first_missing(crew)) > 0 && tsri_clock() < until;) {
        TSR_TRY(hear_stop(crew, missing));
        TSR_TRY(tsri_comm_receive(crew->comm, &f, LOOK));
        if (!f.head)
            continue;
        if (f.head->kind == TSRI_FAILED)
            TSR_TRY(tsri_crew_failure(&f));
        if (f.head->kind == TSRI_HELLO && !crew->member[f.from].here) {
            TSR_TRY(compare(identity, (const char *)f.bytes, f.head->bytes, f.from));
            crew->member[f.from].here = true;
        }
        tsri_comm_release(crew->comm, &f);
    }
    for (int r = 1; r < crew->comm->size; r++)
        if (!crew->member[r].here) {
            crew->member[r].gone = true;
            TSRI_WARN("%s has not joined: going on without it", tsri_comm_name(crew->comm, r));
        }
    crew->gathered = true;
    TSR_TRY(start(crew, gift, n));
    (void)tsri_crew_spent(crew); /* time before the first round does not count */
done:
    tsri_comm_release(crew->comm, &f);
    if (st != TSR_OK)
        tsri_crew_end(crew);
    return st;
}

/* ---- A round ------------------------------------------------------------------------------ */

typedef enum standing { QUEUED, OUT, DONE, LOST } standing;

typedef struct deal {
    tsri_crew *crew;
    const tsri_crew_job *job;
    int64_t round;
    standing *share; /* [shares] */
    int64_t open;    /* shares queued or out */
} deal;

/* A rank's share will not come back in this round. */
static void lose(deal *d, int rank, tsri_lost why)
{
    tsri_member *m = &d->crew->member[rank];
    int64_t share = m->share;
    if (share < 0)
        return;
    m->share = -1;
    d->share[share] = LOST;
    d->open--;
    d->crew->lost[why]++;
    d->job->lost(d->job->context, share, rank, why);
}

/* A rank preferably gets the share it had before: its batches are prepared. */
static int64_t next_share(const deal *d, int rank)
{
    int64_t first = -1, ranks = d->crew->comm->size - 1;
    for (int64_t l = 0; l < d->job->shares; l++) {
        if (d->share[l] != QUEUED)
            continue;
        if (l % ranks == rank - 1)
            return l;
        if (first < 0)
            first = l;
    }
    return first;
}

static tsr_status give(deal *d, int rank, int64_t share)
{
    tsr_status st = TSR_OK;
    tsri_crew *c = d->crew;
    tsri_frame f = {0};
    int64_t bytes = d->job->size(d->job->context, share);
    double begin = tsri_clock();
    TSR_TRY(tsri_comm_frame(c->comm, &f, bytes));
    TSR_TRY(d->job->pack(d->job->context, share, f.bytes));
    tsri_frame_seal(&f, TSRI_WORK, d->round, share, bytes);
    c->pack_seconds += tsri_clock() - begin;
    c->member[rank].share = share;
    c->member[rank].since = tsri_crew_clock(c);
    c->member[rank].received += bytes;
    d->share[share] = OUT;
    TSR_TRY(tsri_comm_send(c->comm, rank, &f));
done:
    tsri_comm_release(c->comm, &f); /* one that could not be packed */
    return st;
}

static tsr_status deal_out(deal *d)
{
    tsr_status st = TSR_OK;
    for (int r = 1; r < d->crew->comm->size; r++) {
        const tsri_member *m = &d->crew->member[r];
        int64_t share = m->here && !m->gone && m->share < 0 ? next_share(d, r) : -1;
        if (share >= 0)
            TSR_TRY(give(d, r, share));
    }
done:
    return st;
}

static tsr_status accept_result(deal *d, const tsri_frame *f)
{
    tsr_status st = TSR_OK;
    bool sound;
    tsri_crew *c = d->crew;
    tsri_member *m = &c->member[f->from];
    int64_t share = m->share;
    if (f->head->round != d->round || f->head->share != share || share < 0 ||
        f->head->bytes != d->job->result(d->job->context, share)) {
        c->stale++;
        return TSR_OK;
    }
    m->sent += d->job->size(d->job->context, share); /* the same numbers; losses do not count */
    TSR_TRY(d->job->unpack(d->job->context, share, f->bytes, &sound));
    if (!sound) {
        lose(d, f->from, TSRI_UNSOUND);
        return TSR_OK;
    }
    tsri_crew_took(c, tsri_crew_clock(c) - m->since);
    m->share = -1;
    d->share[share] = DONE;
    d->open--;
done:
    return st;
}

static tsr_status hear(deal *d, double seconds)
{
    tsr_status st = TSR_OK;
    tsri_crew *c = d->crew;
    tsri_frame f = {0};
    TSR_TRY(tsri_comm_receive(c->comm, &f, seconds));
    if (!f.head)
        return TSR_OK;
    (void)tsri_crew_heard(c, &f);
    if (f.head->kind == TSRI_RESULT)
        TSR_TRY(accept_result(d, &f));
    if (f.head->kind == TSRI_FAILED)
        TSR_TRY(tsri_crew_failure(&f));
done:
    tsri_comm_release(c->comm, &f);
    return st;
}

/* The dead and the late. */
static void roll_call(deal *d)
{
    tsri_crew *c = d->crew;
    double now = tsri_crew_clock(c), most = tsri_crew_limit(c);
    for (int r = 1; r < c->comm->size; r++) {
        tsri_member *m = &c->member[r];
        if (tsri_crew_gone(c, r)) {
            lose(d, r, TSRI_DIED);
        } else if (m->share >= 0 && now - m->since > most) {
            m->here = false;
            TSRI_WARN("%s has not answered for %.1f s: going on without it until it does",
                      tsri_comm_name(c->comm, r), now - m->since);
            lose(d, r, TSRI_LATE);
        }
    }
}

static int helpers(const tsri_crew *c)
{
    int n = 0;
    for (int r = 1; r < c->comm->size; r++)
        n += c->member[r].here && !c->member[r].gone;
    return n;
}

static void open_round(deal *d)
{
    for (int64_t l = 0; l < d->job->shares; l++) {
        d->share[l] = d->job->size(d->job->context, l) > 0 ? QUEUED : DONE;
        d->open += d->share[l] == QUEUED;
    }
}

/* When the last rank is lost in the middle of a round, what was still queued is lost with it. */
static void lose_queue(deal *d)
{
    for (int64_t l = 0; l < d->job->shares; l++)
        if (d->share[l] == QUEUED) {
            d->share[l] = LOST;
            d->open--;
            d->crew->lost[TSRI_DIED]++;
            d->job->lost(d->job->context, l, 0, TSRI_DIED);
        }
}

tsr_status tsri_crew_round(tsri_crew *crew, int64_t round, const tsri_crew_job *job, bool *alone)
{
    tsr_status st = TSR_OK;
    deal d = {.crew = crew, .job = job, .round = round};
    TSR_TRY(tsri_alloc(&d.share, job->shares, sizeof *d.share));
    open_round(&d);
    roll_call(&d);
    TSR_TRY(hear(&d, 0)); /* a rank may be back */
    *alone = helpers(crew) == 0;
    while (!*alone && d.open > 0) {
        TSR_TRY(deal_out(&d));
        TSR_TRY(hear(&d, LOOK));
        roll_call(&d);
        if (helpers(crew) == 0)
            lose_queue(&d);
    }
done:
    tsri_free(d.share);
    return st;
}
