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
 * for the deadline, the coordinator calls all ranks and forms a new line of those that answer, from
 * its own numbers; the rounds since `kept` are done again: the same numbers, so the same bits. Each
 * line has a number, and frames of another one are dropped. Neighbouring stages share a rank when
 * there are fewer ranks than stages; further ranks wait in reserve. With no rank left the coordinator
 * does the work itself.
 */
#include "scheme/schemes.h"

#include "base/log.h"
#include "base/stop.h"
#include "run/meet.h"
#include "run/metrics_lines.h"
#include "run/when.h"
#include "scheme/gpipe_line.h"

#include <string.h>

/* Seconds for what takes longer than a round; for an answer; between looks. */
static const double FIRST = 60, ANSWER = 2, LOOK = 0.05;

/* ---- Faults ------------------------------------------------------------------------------- */

static bool everyone_has_answered(tsri_line *l)
{
    for (int r = 1; r < l->crew->comm->size; r++)
        if (!tsri_crew_gone(l->crew, r) && !l->answered[r])
            return false;
    return true;
}

static void strike_off(tsri_line *l)
{
    for (int r = 1; r < l->crew->comm->size; r++) {
        tsri_member *m = &l->crew->member[r];
        if (m->here && !l->answered[r])
            TSRI_WARN("%s does not answer: going on without it until it does",
                      tsri_comm_name(l->crew->comm, r));
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

/* Forms a new line of the ranks that are left; they do the rounds since `kept` again. */
static tsr_status call_and_form(tsri_line *l)
{
    tsr_status st = TSR_OK;
    double limit = tsri_crew_limit(l->crew), patience = limit < ANSWER ? ANSWER : limit;
    l->failures++;
    l->forming++;
    for (int r = 1; r < l->crew->comm->size; r++) {
        l->answered[r] = false;
        if (!tsri_crew_gone(l->crew, r))
            TSR_TRY(tsri_line_say(l, r, TSRI_CALL, -1, 0));
    }
    double until = tsri_crew_clock(l->crew) + patience;
    while (!everyone_has_answered(l) && tsri_crew_clock(l->crew) < until)
        TSR_TRY(tsri_line_hear(l, LOOK));
    strike_off(l);
    TSR_TRY(tsri_line_form(l));
    TSRI_WARN("the pipeline is formed anew of %lld ranks and goes on from round %lld",
              (long long)l->posts, (long long)l->kept);
done:
    return st;
}

/* Nothing moves while numbers are on their way or plans are made: that may take longer than a
 * round. A deadline that is too short for this machine gets longer with every failure. */
static bool stands_still(tsri_line *l, bool collecting)
{
    double limit = tsri_crew_limit(l->crew);
    if (l->crew->deadline <= 0 && (collecting || l->fresh) && limit < FIRST)
        limit = FIRST;
    for (int i = 0; i < l->failures; i++)
        limit *= 2;
    return tsri_crew_clock(l->crew) - l->since > limit;
}

static tsr_status watch(tsri_line *l, bool collecting)
{
    bool broken = false;
    for (int64_t i = 0; i < l->posts; i++)
        broken |= tsri_crew_gone(l->crew, l->post[i].rank);
    if (!broken && stands_still(l, collecting)) {
        TSRI_WARN("nothing has moved in the pipeline for %.1f s",
                  tsri_crew_clock(l->crew) - l->since);
        broken = true;
    }
    return broken ? call_and_form(l) : TSR_OK;
}

/* ---- A round ------------------------------------------------------------------------------ */

/* Up to the next round that is looked at, no more than TSRI_LINE_AHEAD. */
static tsr_status grant(tsri_line *l)
{
    tsri_run *run = l->pipe->run;
    int64_t until = run->position.round + 1;
    while (until < run->position.round + TSRI_LINE_AHEAD && !tsri_looked_at(run, until) &&
           !tsri_stop_asked())
        until++;
    if (until <= l->granted)
        return TSR_OK;
    run->process.promised = until > run->process.promised ? until : run->process.promised;
    return tsri_line_go(l, until, tsri_looked_at(run, until));
}

/* All ranks are gone: the work is done here, beginning with the rounds that were lost. */
static tsr_status do_alone(tsri_line *l, int64_t until)
{
    tsr_status st = TSR_OK;
    tsri_run *run = l->pipe->run;
    int64_t round = run->position.round;
    while (st == TSR_OK && l->kept < until) {
        run->position.round = l->kept;
        st = tsri_pipe_step(l->pipe);
        l->kept += st == TSR_OK;
        l->failures = 0;
    }
    run->position.round = round;
    return st;
}

static bool all_here(const tsri_line *l)
{
    for (int64_t i = 0; i < l->posts; i++)
        if (!l->post[i].numbers.head)
            return false;
    return true;
}

static tsr_status put_together(tsri_line *l)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < l->posts; i++) {
        tsri_post *p = &l->post[i];
        TSR_TRY(tsri_part_unpack(&l->pipe->run->store, p->part, p->numbers.bytes));
        tsri_comm_release(l->crew->comm, &p->numbers);
    }
done:
    return st;
}

/* run->store as it is after `target` rounds. */
static tsr_status collect(tsri_line *l, int64_t target)
{
    tsr_status st = TSR_OK;
    l->since = tsri_crew_clock(l->crew);
    if (l->posts > 0 && l->kept < target && !tsri_looked_at(l->pipe->run, target))
        TSR_TRY(tsri_line_go(l, target, true)); /* a stop, which could not be foreseen */
    while (l->kept < target) {
        if (l->posts == 0) {
            TSR_TRY(do_alone(l, target));
        } else if (all_here(l)) {
            TSR_TRY(put_together(l));
            l->kept = target;
            l->failures = 0;
        } else {
            int64_t forming = l->forming;
            TSR_TRY(tsri_line_hear(l, LOOK));
            TSR_TRY(watch(l, true));
            if (l->forming != forming)
                TSR_TRY(tsri_line_go(l, target, true));
        }
    }
    tsri_line_moved(l);
    if (l->posts == 0)
        TSR_TRY(tsri_line_hear(l, 0)); /* a rank may be back */
    if (l->back && l->posts < l->pipe->run->settings.workers)
        TSR_TRY(tsri_line_form(l));
done:
    return st;
}

tsr_status tsri_line_step(tsri_pipe *p)
{
    tsr_status st = TSR_OK;
    tsri_run *run = p->run;
    tsri_line *l = p->line;
    l->since = tsri_crew_clock(l->crew);
    while (l->posts > 0 && l->post[l->posts - 1].done <= run->position.round) {
        TSR_TRY(grant(l));
        TSR_TRY(tsri_line_hear(l, LOOK));
        TSR_TRY(watch(l, false));
    }
    if (l->posts == 0) {
        TSR_TRY(do_alone(l, run->position.round + 1));
        TSR_TRY(tsri_line_hear(l, 0)); /* a rank may be back */
        if (l->back)
            TSR_TRY(tsri_line_form(l));
    } else {
        memcpy(p->loss, l->loss + run->position.round % (TSRI_LINE_AHEAD + 1) * p->micro.count,
               (size_t)p->micro.count * sizeof *p->loss);
    }
    if (run->process.trace)
        TSR_TRY(collect(l, run->position.round + 1));
done:
    return st;
}

tsr_status tsri_gpipe_collect(tsri_run *run)
{
    return collect(((tsri_pipe *)run->scheme_state)->line, run->position.round);
}

/* All ranks agree; the coordinator forms the first line, from what a checkpoint may have
 * brought. */
tsr_status tsri_gpipe_assemble(tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_pipe *p = run->scheme_state;
    TSR_TRY(tsri_run_meet(run, NULL, 0));
    if (run->process.crew->comm->rank != 0)
        return TSR_OK;
    TSR_TRY(tsri_line_create(&p->line, p));
    TSR_TRY(tsri_line_form(p->line));
done:
    return st;
}
