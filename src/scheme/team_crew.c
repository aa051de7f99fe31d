/* team_crew.c - the round with its workers in other processes.
 *
 * The coordinator has the whole network. It draws every share to know which numbers belong to it,
 * sends these, and puts back what returns. Masks do not travel: a worker draws its own share, a pure
 * function of (seed, round, share). Fixed parameters and data are with every worker already.
 */
#include "run/meet.h"
#include "run/metrics_lines.h"
#include "run/rate.h"
#include "scheme/team_parts.h"

#include <string.h>

/* ---- The coordinator ---------------------------------------------------------------------- */

static worker *worker_of(void *context, int64_t l)
{
    const tsri_run *run = context;
    return &((team *)run->scheme_state)->worker[l];
}

static int64_t numbers_size(void *context, int64_t l)
{
    const worker *w = worker_of(context, l);
    return w->idle ? 0 : tsri_wire_bytes(w->net, &w->team->rules.wire);
}

/* Losses first: they are doubles, and the frame begins aligned. */
static int64_t losses_size(const tsri_run *run)
{
    return (run->settings.local_steps + 1) * (int64_t)sizeof(double);
}

static int64_t result_size(void *context, int64_t l)
{
    return losses_size(context) + numbers_size(context, l);
}

static tsr_status pack(void *context, int64_t l, void *bytes)
{
    const worker *w = worker_of(context, l);
    w->team->down[l] += numbers_size(context, l);
    return tsri_wire_take(bytes, &w->team->rules.wire, w->net, &w->run->store, &w->share);
}

/* The numbers of batches that norms have seen do not travel: every local step is one. */
static tsr_status set_counts(worker *w)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = w->net;
    const tsri_store *whole = &w->run->store;
    for (int64_t p = 0; p < net->params; p++) {
        float count;
        if (net->param[p].role != TSRI_COUNT)
            continue;
        TSR_TRY(whole->heap->out(&count, tsri_store_at(whole, whole->w, p), sizeof count));
        count += (float)w->run->settings.local_steps;
        TSR_TRY(w->store.heap->in(tsri_store_at(&w->store, w->store.w, p), &count, sizeof count));
    }
done:
    return st;
}

static tsr_status unpack(void *context, int64_t l, const void *bytes, bool *sound)
{
    tsr_status st = TSR_OK;
    tsri_run *run = context;
    worker *w = worker_of(run, l);
    const uint8_t *numbers = (const uint8_t *)bytes + losses_size(run);
    w->team->up[l] += numbers_size(run, l);
    *sound = tsri_wire_finite(numbers, &w->team->rules.wire, w->net);
    if (!*sound)
        return TSR_OK;
    memcpy(w->loss, bytes, (size_t)losses_size(run));
    TSR_TRY(tsri_wire_unpack(&w->store, &w->team->rules.wire, numbers));
    TSR_TRY(set_counts(w));
done:
    return st;
}

static void lost(void *context, int64_t l, int rank, tsri_lost why)
{
    static const char *const word[TSRI_LOST_KINDS] = {"died", "late", "unsound"};
    tsri_run *run = context;
    worker_of(run, l)->idle = true;
    run->position.lost_shares++;
    tsri_event_lost(run, l, rank, word[why]);
}

/* The batches that workers saw, for the trace: the coordinator can know them, too. */
static tsr_status note_batches(tsri_run *run)
{
    tsr_status st = TSR_OK;
    const tsri_batch *b = NULL;
    for (int64_t l = 0; run->process.trace && l < run->settings.workers; l++)
        for (int64_t s = 0; s < run->settings.local_steps; s++)
            TSR_TRY(tsri_worker_batch(worker_of(run, l), s, &b));
done:
    return st;
}

static tsr_status somebody_was_sound(const tsri_run *run)
{
    tsr_status st = TSR_OK;
    bool any = false, drawn = false;
    for (int64_t l = 0; l < run->settings.workers; l++) {
        const worker *w = &((const team *)run->scheme_state)->worker[l];
        any = any || !w->idle;
        drawn = drawn || w->team->up[l] > 0;
    }
    TSR_CHECK(any || !drawn, TSR_DIVERGED,
              "round %lld: every worker's numbers are no longer finite: lower optim.lr",
              (long long)run->position.round + 1);
done:
    return st;
}

/* The round as its workers are told it: one that is done again after a rollback has another number,
 * so that an answer from before is not taken for it, and they know how often the rate is halved. */
static int64_t number_of(const tsri_run *run)
{
    return tsri_halvings(&run->position, run->position.round) * run->settings.rounds +
           run->position.round;
}

/* The other way round. */
static void set_round(tsri_run *run, int64_t number)
{
    run->position.round = number % run->settings.rounds;
    run->position.rollbacks = number / run->settings.rounds;
    for (int64_t i = 0; i < run->position.rollbacks; i++)
        run->position.rollback[i].to = 0;
}

tsr_status tsri_team_deal(tsri_run *run, bool *alone)
{
    tsr_status st = TSR_OK;
    team *t = run->scheme_state;
    tsri_crew_job job = {.context = run,
                         .shares = run->settings.workers,
                         .size = numbers_size,
                         .pack = pack,
                         .result = result_size,
                         .unpack = unpack,
                         .lost = lost};
    memset(t->down, 0, (size_t)run->settings.workers * sizeof *t->down);
    memset(t->up, 0, (size_t)run->settings.workers * sizeof *t->up);
    TSR_TRY(tsri_crew_round(run->process.crew, number_of(run), &job, alone));
    if (*alone)
        return TSR_OK;
    TSR_TRY(somebody_was_sound(run));
    TSR_TRY(note_batches(run));
done:
    return st;
}

/* ---- A worker ----------------------------------------------------------------------------- */

static tsr_status work(void *context, int64_t number, int64_t share, const void *in, int64_t n,
                       tsri_frame *out, int64_t *bytes)
{
    tsr_status st = TSR_OK;
    tsri_run *run = context;
    int64_t numbers =
        run->settings.rounds * (1 + (tsri_rolls_back(&run->settings) ? TSRI_ROLLBACKS_MOST : 0));
    TSR_CHECK(share >= 0 && share < run->settings.workers && number >= 0 && number < numbers,
              TSR_FAILURE, "there is no share %lld of round %lld", (long long)share,
              (long long)number);
    worker *w = worker_of(run, share);
    set_round(run, number);
    TSR_TRY(tsri_worker_draw(w));
    TSR_CHECK(!w->idle && n == numbers_size(run, share), TSR_FAILURE,
              "share %lld of round %lld came with %lld bytes, %lld were due: the ranks disagree",
              (long long)share, (long long)run->position.round, (long long)n,
              (long long)numbers_size(run, share));
    TSR_TRY(tsri_wire_fixed(&w->store, &run->store, &w->share));
    TSR_TRY(tsri_wire_unpack(&w->store, &w->team->rules.wire, in));
    TSR_TRY(tsri_worker_steps(w));
    *bytes = result_size(run, share);
    TSR_TRY(tsri_comm_frame(run->process.crew->comm, out, *bytes));
    memcpy(out->bytes, w->loss, (size_t)losses_size(run));
    TSR_TRY(tsri_wire_pack(out->bytes + losses_size(run), &w->team->rules.wire, &w->store));
done:
    return st;
}

/* ---- Both, before the first round --------------------------------------------------------- */

/* Fixed parameters lie after the trained ones; what else lies there does no harm. */
static int64_t gift_size(const tsri_run *run)
{
    bool any = false;
    for (int64_t p = 0; p < run->net->params; p++)
        any = any || run->net->param[p].role == TSRI_FIXED;
    return any ? (run->net->total - run->net->trained) * (int64_t)sizeof(float) : 0;
}

tsr_status tsri_team_assemble(tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_opened host;
    TSR_TRY(tsri_store_open(&host, &run->store, TSRI_OPEN_WEIGHTS));
    TSR_TRY(tsri_run_meet(run, (float *)host.w + run->net->trained, gift_size(run)));
    TSR_TRY(tsri_store_save(&host));
done:
    tsri_store_close(&host);
    return st;
}

tsr_status tsri_team_serve(tsri_run *run)
{
    return tsri_crew_serve(run->process.crew, work, run);
}
