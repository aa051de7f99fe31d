/* gpipe_crew.c - gpipe with its stages in other processes, as their coordinator sees it.
 *
 *     coordinator -> rank 1 -> rank 2 -> ... -> rank W      orders: layers, neighbours, numbers
 *                    activations ->   <- gradients          from rank to rank, the coordinator idle
 *     rank W -> coordinator                                 the losses of each round
 *     all    -> coordinator                                 their numbers, when they are looked at
 *
 * Each stage keeps its weights from round to round. The coordinator has those of the last round
 * that anyone looked at (evaluation, checkpoint): run->store stands at round `kept`. It lets the
 * stages work some rounds ahead of it, never past a round that will be looked at, so that no
 * message of its own is on the path of a round.
 *
 * A pipeline cannot do a round without one of its stages. When a rank dies, or nothing has moved
 * for the deadline, the coordinator calls all ranks, forms the line anew of those that answer, from
 * its own numbers, and the rounds since `kept` are done again: the same numbers, so the same bits.
 * Every forming has a number, and frames of another one are dropped. Neighbouring stages share a
 * rank when there are fewer ranks than stages; further ranks wait in reserve. With nobody left the
 * coordinator does the work itself.
 */
#include "scheme/schemes.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "net/depth.h"
#include "scheme/gpipe_parts.h"

#include <string.h>

/* Rounds that the stages may be ahead; seconds for what takes longer than a round; between looks.
 */
enum { AHEAD = 3 };
static const double FIRST = 60, ANSWER = 2, LOOK = 0.05;

typedef struct post {
    int rank;
    int64_t from, to;   /* layers */
    tsri_net *part;     /* them */
    int64_t done;       /* rounds */
    tsri_frame numbers; /* of the round that is being collected */
} post;

typedef struct tsri_line {
    tsri_pipe *pipe;
    tsri_crew *crew;
    int64_t forming;
    post *post;      /* [workers] */
    int64_t posts;   /* manned; 0 = the coordinator is alone */
    int64_t kept;    /* the round run->store stands at */
    int64_t granted; /* the round up to which they may work */
    double *loss;    /* [AHEAD + 1][M] of the last rounds */
    bool *answered;  /* [ranks] the last call */
    double since;    /* when something last moved */
    int failures;    /* formings since `kept` moved */
    bool fresh;      /* nothing has moved since the last one */
    bool back;       /* a rank has come back */
} line;

/* ---- Making and unmaking ------------------------------------------------------------------ */

static void disband(line *l)
{
    while (l->posts > 0) {
        post *p = &l->post[--l->posts];
        tsri_comm_release(l->crew->comm, &p->numbers);
        tsri_net_destroy(p->part);
        *p = (post){0};
    }
}

void tsri_line_destroy(line *l)
{
    if (!l)
        return;
    if (l->post)
        disband(l);
    tsri_free(l->post);
    tsri_free(l->loss);
    tsri_free(l->answered);
    tsri_free(l);
}

static tsr_status line_create(line **out, tsri_pipe *p)
{
    tsr_status st = TSR_OK;
    line *l = NULL;
    TSR_TRY(tsri_alloc(&l, 1, sizeof *l));
    *l = (line){.pipe = p, .crew = p->run->crew, .kept = p->run->round};
    TSR_TRY(tsri_alloc(&l->post, p->run->workers, sizeof *l->post));
    TSR_TRY(tsri_alloc(&l->loss, (AHEAD + 1) * p->micro.count, sizeof *l->loss));
    TSR_TRY(tsri_alloc(&l->answered, l->crew->comm->size, sizeof *l->answered));
    *out = l;
    l = NULL;
done:
    tsri_line_destroy(l);
    return st;
}

/* ---- Saying ------------------------------------------------------------------------------- */

static tsr_status say(line *l, int rank, tsri_frame_kind kind, int64_t round, int64_t what)
{
    tsr_status st = TSR_OK;
    tsri_frame f = {0};
    TSR_TRY(tsri_comm_frame(l->crew->comm, &f, 0));
    tsri_frame_seal(&f, kind, round, tsri_mark(l->forming, what), 0);
    TSR_TRY(tsri_comm_send(l->crew->comm, rank, &f));
done:
    return st;
}

static tsr_status go(line *l, int64_t until, bool collect)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < l->posts; i++)
        TSR_TRY(say(l, l->post[i].rank, TSRI_GO, until, collect));
    l->granted = until;
done:
    return st;
}

/* Up to the next round that is looked at, no more than AHEAD. */
static tsr_status grant(line *l)
{
    tsri_run *run = l->pipe->run;
    int64_t until = run->round + 1;
    while (until < run->round + AHEAD && !tsri_looked_at(run, until) && !tsri_stop_asked())
        until++;
    if (until <= l->granted)
        return TSR_OK;
    run->promised = until > run->promised ? until : run->promised;
    return go(l, until, tsri_looked_at(run, until));
}

static tsr_status give_orders(line *l, int64_t i)
{
    tsr_status st = TSR_OK;
    tsri_frame f = {0};
    post *p = &l->post[i];
    tsri_orders orders = {.from = p->from,
                          .to = p->to,
                          .before = i > 0 ? l->post[i - 1].rank : -1,
                          .behind = i + 1 < l->posts ? l->post[i + 1].rank : -1};
    int64_t bytes = (int64_t)sizeof orders + tsri_part_bytes(p->part);
    TSR_TRY(tsri_comm_frame(l->crew->comm, &f, bytes));
    memcpy(f.bytes, &orders, sizeof orders);
    tsri_part_pack(f.bytes + sizeof orders, &l->pipe->run->store, p->part);
    tsri_frame_seal(&f, TSRI_ORDERS, l->kept, tsri_mark(l->forming, i), bytes);
    l->pipe->run->bytes_collected += tsri_part_bytes(p->part);
    TSR_TRY(tsri_comm_send(l->crew->comm, p->rank, &f));
done:
    return st;
}

/* ---- Forming ------------------------------------------------------------------------------ */

/* The line of those who are here, in the order of their ranks. */
static tsr_status form(line *l)
{
    tsr_status st = TSR_OK;
    tsri_run *run = l->pipe->run;
    int64_t here = 0, taken = 0;
    for (int r = 1; r < l->crew->comm->size; r++)
        here += l->crew->member[r].here && !l->crew->member[r].gone;
    int64_t posts = here < run->workers ? here : run->workers;
    disband(l);
    for (int r = 1; taken < posts; r++) {
        if (!l->crew->member[r].here || l->crew->member[r].gone)
            continue;
        post *p = &l->post[l->posts++];
        *p = (post){.rank = r,
                    .from = l->pipe->begin[run->workers * taken / posts],
                    .to = l->pipe->begin[run->workers * (taken + 1) / posts],
                    .done = l->kept};
        TSR_TRY(tsri_net_part(&p->part, run->net, p->from, p->to));
        taken++;
    }
    l->forming++;
    l->granted = l->kept;
    for (int64_t i = 0; i < l->posts; i++)
        TSR_TRY(give_orders(l, i));
    l->since = tsri_clock();
    l->fresh = true;
    l->back = false;
done:
    return st;
}

/* ---- Hearing ------------------------------------------------------------------------------ */

static void moved(line *l)
{
    l->since = tsri_clock();
    l->fresh = false;
}

/* A stage has done its round; the last one brings losses. */
static void note_done(line *l, int64_t i, const tsri_frame *f)
{
    post *p = &l->post[i];
    tsri_traffic t;
    int64_t count = l->pipe->micro.count;
    int64_t due = (int64_t)sizeof t + (i == l->posts - 1 ? count * (int64_t)sizeof(double) : 0);
    if (f->head->round != p->done || f->head->bytes != due) {
        l->crew->stale++;
        return;
    }
    memcpy(&t, f->bytes, sizeof t);
    l->pipe->run->bytes_total += t.sent;
    l->crew->member[p->rank].sent += t.sent;
    l->crew->member[p->rank].received += t.received;
    p->done++;
    if (i < l->posts - 1)
        return;
    memcpy(l->loss + f->head->round % (AHEAD + 1) * count, f->bytes + sizeof t,
           (size_t)count * sizeof *l->loss);
    if (!l->fresh)
        tsri_crew_took(l->crew, tsri_clock() - l->since);
    moved(l);
}

static void keep_numbers(line *l, int64_t i, tsri_frame *f)
{
    post *p = &l->post[i];
    if (f->head->round != p->done || f->head->bytes != tsri_part_bytes(p->part)) {
        l->crew->stale++;
        return;
    }
    tsri_comm_release(l->crew->comm, &p->numbers);
    p->numbers = *f;
    *f = (tsri_frame){0};
    l->pipe->run->bytes_collected += p->numbers.head->bytes;
    moved(l);
}

static tsr_status take(line *l, tsri_frame *f)
{
    int64_t i = tsri_mark_what(f->head->share);
    bool ours = tsri_mark_forming(f->head->share) == l->forming;
    bool posted = ours && i < l->posts && l->post[i].rank == f->from;
    l->back |= tsri_crew_heard(l->crew, f);
    if (f->head->kind == TSRI_FAILED)
        return tsri_crew_failure(f);
    if (f->head->kind == TSRI_HERE && ours)
        l->answered[f->from] = true;
    else if (f->head->kind == TSRI_DONE && posted)
        note_done(l, i, f);
    else if (f->head->kind == TSRI_NUMBERS && posted)
        keep_numbers(l, i, f);
    else
        l->crew->stale++;
    return TSR_OK;
}

static tsr_status hear(line *l, double seconds)
{
    tsr_status st = TSR_OK;
    tsri_frame f = {0};
    TSR_TRY(tsri_comm_receive(l->crew->comm, &f, seconds));
    if (f.head)
        TSR_TRY(take(l, &f));
done:
    tsri_comm_release(l->crew->comm, &f);
    return st;
}

/* ---- Faults ------------------------------------------------------------------------------- */

static bool everyone_has_answered(line *l)
{
    for (int r = 1; r < l->crew->comm->size; r++)
        if (!tsri_crew_gone(l->crew, r) && !l->answered[r])
            return false;
    return true;
}

static void strike_off(line *l)
{
    for (int r = 1; r < l->crew->comm->size; r++) {
        tsri_member *m = &l->crew->member[r];
        if (m->here && !l->answered[r])
            TSRI_WARN("rank %d does not answer: going on without it until it does", r);
        m->here = m->here && l->answered[r];
    }
    for (int64_t i = 0; i < l->posts; i++) {
        const tsri_member *m = &l->crew->member[l->post[i].rank];
        tsri_lost why = m->gone ? TSRI_DIED : TSRI_LATE;
        if (m->here)
            continue;
        l->crew->lost[why]++;
        tsri_event_lost(l->pipe->run, i, l->post[i].rank, why == TSRI_DIED ? "died" : "late");
    }
}

/* The rounds since `kept` are done again by those who are left. */
static tsr_status call_and_form(line *l)
{
    tsr_status st = TSR_OK;
    double limit = tsri_crew_limit(l->crew), patience = limit < ANSWER ? ANSWER : limit;
    l->failures++;
    l->forming++;
    for (int r = 1; r < l->crew->comm->size; r++) {
        l->answered[r] = false;
        if (!tsri_crew_gone(l->crew, r))
            TSR_TRY(say(l, r, TSRI_CALL, -1, 0));
    }
    double until = tsri_clock() + patience;
    while (!everyone_has_answered(l) && tsri_clock() < until)
        TSR_TRY(hear(l, LOOK));
    strike_off(l);
    TSR_TRY(form(l));
    TSRI_WARN("the pipeline is formed anew of %lld ranks and goes on from round %lld",
              (long long)l->posts, (long long)l->kept);
done:
    return st;
}

/* Nothing moves while numbers are on their way or plans are made: that may take longer than a
 * round. A deadline that is too short for this machine gets longer with every failure. */
static bool stands_still(const line *l, bool collecting)
{
    double limit = tsri_crew_limit(l->crew);
    if (l->crew->deadline <= 0 && (collecting || l->fresh) && limit < FIRST)
        limit = FIRST;
    for (int i = 0; i < l->failures; i++)
        limit *= 2;
    return tsri_clock() - l->since > limit;
}

static tsr_status watch(line *l, bool collecting)
{
    bool broken = false;
    for (int64_t i = 0; i < l->posts; i++)
        broken |= tsri_crew_gone(l->crew, l->post[i].rank);
    if (!broken && stands_still(l, collecting)) {
        TSRI_WARN("nothing has moved in the pipeline for %.1f s", tsri_clock() - l->since);
        broken = true;
    }
    return broken ? call_and_form(l) : TSR_OK;
}

/* ---- A round ------------------------------------------------------------------------------ */

/* Everybody is gone: the work is done here, beginning with what was lost. */
static tsr_status do_alone(line *l, int64_t until)
{
    tsr_status st = TSR_OK;
    tsri_run *run = l->pipe->run;
    int64_t round = run->round;
    while (st == TSR_OK && l->kept < until) {
        run->round = l->kept;
        st = tsri_pipe_step(l->pipe);
        l->kept += st == TSR_OK;
        l->failures = 0;
    }
    run->round = round;
    return st;
}

static bool all_here(const line *l)
{
    for (int64_t i = 0; i < l->posts; i++)
        if (!l->post[i].numbers.head)
            return false;
    return true;
}

static void put_together(line *l)
{
    for (int64_t i = 0; i < l->posts; i++) {
        post *p = &l->post[i];
        tsri_part_unpack(&l->pipe->run->store, p->part, p->numbers.bytes);
        tsri_comm_release(l->crew->comm, &p->numbers);
    }
}

/* run->store as it is after `target` rounds. */
static tsr_status collect(line *l, int64_t target)
{
    tsr_status st = TSR_OK;
    l->since = tsri_clock();
    if (l->posts > 0 && l->kept < target && !tsri_looked_at(l->pipe->run, target))
        TSR_TRY(go(l, target, true)); /* nobody could know */
    while (l->kept < target) {
        if (l->posts == 0) {
            TSR_TRY(do_alone(l, target));
        } else if (all_here(l)) {
            put_together(l);
            l->kept = target;
            l->failures = 0;
        } else {
            int64_t forming = l->forming;
            TSR_TRY(hear(l, LOOK));
            TSR_TRY(watch(l, true));
            if (l->forming != forming)
                TSR_TRY(go(l, target, true));
        }
    }
    moved(l);
    if (l->posts == 0)
        TSR_TRY(hear(l, 0)); /* somebody may be back */
    if (l->back && l->posts < l->pipe->run->workers)
        TSR_TRY(form(l));
done:
    return st;
}

tsr_status tsri_line_step(tsri_pipe *p)
{
    tsr_status st = TSR_OK;
    tsri_run *run = p->run;
    line *l = p->line;
    l->since = tsri_clock(); /* the coordinator may have been busy */
    while (l->posts > 0 && l->post[l->posts - 1].done <= run->round) {
        TSR_TRY(grant(l));
        TSR_TRY(hear(l, LOOK));
        TSR_TRY(watch(l, false));
    }
    if (l->posts == 0) {
        TSR_TRY(do_alone(l, run->round + 1));
        TSR_TRY(hear(l, 0)); /* somebody may be back */
        if (l->back)
            TSR_TRY(form(l));
    } else {
        memcpy(p->loss, l->loss + run->round % (AHEAD + 1) * p->micro.count,
               (size_t)p->micro.count * sizeof *p->loss);
    }
    if (run->trace)
        TSR_TRY(collect(l, run->round + 1));
done:
    return st;
}

tsr_status tsri_gpipe_collect(tsri_run *run)
{
    return collect(((tsri_pipe *)run->scheme_state)->line, run->round);
}

/* All ranks agree; the coordinator forms the first line, from what a checkpoint may have brought.
 */
tsr_status tsri_gpipe_assemble(tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_pipe *p = run->scheme_state;
    TSR_TRY(tsri_run_meet(run, NULL, 0));
    if (run->crew->comm->rank != 0)
        return TSR_OK;
    TSR_TRY(line_create(&p->line, p));
    TSR_TRY(form(p->line));
done:
    return st;
}
