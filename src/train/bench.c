/* bench.c - timing a training step.
 *
 * Whole steps are timed without looking inside; ops are timed in a second series, so that reading
 * the clock does not disturb the first. The rate of a large square product on the same threads,
 * measured in between, says what the machine can do at that moment.
 */
#include "train/bench.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/estimate.h"
#include "net/gate_table.h"
#include "run/recipe.h"
#include "scheme/team.h"
#include "subnet/cut.h"
#include "subnet/take.h"
#include "train/describe.h"

#include <stdio.h>

enum { WARM_UP = 5, IN_A_ROW = 10, REPLAYED = 20, TAPES = 5, ROUNDS = 3 };

typedef struct rig {
    tsri_run run;
    tsri_net *small; /* the share's network and numbers, when a share is timed */
    tsri_store small_store;
    tsri_store *store; /* whose step is timed: the run's, or the share's */
    tsri_loader *loader;
    tsri_plan *plan;
    tsri_step train;
    tsri_gate_table *gates; /* of all samples, for a net that has some */
    tsri_resident resident; /* the training set, on a device that draws batches itself */
    int64_t step, repeats;
    double *sample; /* [series][repeats] */
} rig;

static tsri_times summary(double *samples, int64_t n)
{
    double median = tsri_median_of(samples, n);
    return (tsri_times){samples[0], median};
}

/* Seconds of the parts of one step. */
typedef struct lap {
    double data, loss, update, step;
} lap;

/* The clock, when the device is done. */
static double now(const tsri_run *run)
{
    (void)tsri_device_wait(run->device); /* a failure comes again with the next call */
    return tsri_clock();
}

static tsr_status one_step(rig *r, lap *out)
{
    tsr_status st = TSR_OK;
    tsri_run *run = &r->run;
    const tsri_batch *b = NULL;
    double t0 = tsri_clock();
    TSR_TRY(tsri_loader_get(r->loader, &b, r->step++));
    double t1 = tsri_clock();
    TSR_TRY(tsri_step_forward(&r->train, b, 0));
    double t2 = now(run);
    TSR_TRY(tsri_step_judge(&r->train, b, 0));
    double t3 = now(run);
    TSR_TRY(tsri_plan_backward(r->plan));
    double t4 = now(run);
    double rate = tsri_config_real(run->settings.config, "optim.lr");
    rate = rate < 1e-3 ? rate : 1e-3; /* what diverges has no units on, and is done in no time */
    TSR_TRY(tsri_step_update(&r->train, rate, 0));
    double t5 = now(run);
    *out = (lap){t1 - t0, t3 - t2, t5 - t4, t5 - t0};
done:
    return st;
}

/* ---- Series ------------------------------------------------------------------------------- */

/* As in training on a device that records steps: nobody waits for one before the next begins. */
static tsr_status steps_in_a_row(rig *r, double *seconds)
{
    tsr_status st = TSR_OK;
    const tsri_batch *b = NULL;
    double start = now(&r->run);
    for (int i = 0; i < IN_A_ROW; i++) {
        TSR_TRY(tsri_loader_get(r->loader, &b, r->step++));
        TSR_TRY(tsri_step_run(&r->train, b, 1e-3, 0));
    }
    *seconds = (now(&r->run) - start) / IN_A_ROW;
done:
    return st;
}

static tsr_status time_steps(rig *r, tsri_bench *bench)
{
    tsr_status st = TSR_OK;
    bool replayed = r->run.device.backend->tape != NULL;
    double *step = r->sample, *loss = step + r->repeats, *update = loss + r->repeats,
           *data = update + r->repeats;
    for (int64_t i = -WARM_UP; i < r->repeats; i++) {
        lap l;
        TSR_TRY(one_step(r, &l));
        if (i < 0)
            continue;
        step[i] = l.step;
        loss[i] = l.loss;
        update[i] = l.update;
        data[i] = l.data;
    }
    for (int64_t i = replayed ? -1 : r->repeats; i < r->repeats; i++)
        TSR_TRY(steps_in_a_row(r, &step[i < 0 ? 0 : i]));
    bench->step = summary(step, r->repeats);
    bench->loss = summary(loss, r->repeats);
    bench->update = summary(update, r->repeats);
    bench->data = summary(data, r->repeats);
done:
    return st;
}

static tsr_status time_ops(rig *r, tsri_bench *bench)
{
    tsr_status st = TSR_OK;
    double *forward = NULL;
    TSR_TRY(tsri_alloc(&forward, (2 * bench->rows + 1) * r->repeats, sizeof *forward));
    double *backward = forward + bench->rows * r->repeats;
    double *conv = backward + bench->rows * r->repeats;
    tsri_plan_time(r->plan, true);
    for (int64_t i = 0; i < r->repeats; i++) {
        lap l;
        TSR_TRY(one_step(r, &l));
        for (int64_t k = 0; k < bench->rows; k++) {
            double *f = &forward[k * r->repeats + i], *b = &backward[k * r->repeats + i];
            tsri_plan_op_seconds(r->plan, k, f, b);
            if (tsri_plan_op(r->plan, k, NULL)->kind == TSRI_CONV)
                conv[i] += (*f + *b) / l.step;
        }
    }
    tsri_plan_time(r->plan, false);
    for (int64_t k = 0; k < bench->rows; k++) {
        if (tsri_plan_op(r->plan, k, NULL)->skipped)
            bench->row[k].kernel = "skipping"; /* zeros; chosen while it runs */
        bench->row[k].forward = summary(forward + k * r->repeats, r->repeats);
        bench->row[k].backward = summary(backward + k * r->repeats, r->repeats);
    }
    bench->conv_part = summary(conv, r->repeats).median;
done:
    tsri_free(forward);
    return st;
}

/* ---- On a device that records ---------------------------------------------------------------- */

/* A launch takes longer than many ops do: each is recorded many times over, and the tape timed. */
typedef tsr_status (*piece)(rig *r, int64_t k);

static tsr_status forward_piece(rig *r, int64_t k)
{
    return tsri_plan_call(r->plan, k, false);
}

static tsr_status backward_piece(rig *r, int64_t k)
{
    return tsri_plan_call(r->plan, k, true);
}

static tsr_status loss_piece(rig *r, int64_t k)
{
    (void)k;
    return tsri_plan_loss(r->plan, &r->train.loss);
}

static tsr_status update_piece(rig *r, int64_t k)
{
    (void)k;
    return tsri_optimiser_step(&r->train.optimiser);
}

static tsr_status record(void **tape, rig *r, piece work, int64_t k)
{
    const tsri_tape_ops *ops = r->run.device.backend->tape;
    tsr_status st = ops->begin(r->run.device);
    if (st != TSR_OK)
        return st;
    for (int i = 0; i < REPLAYED && st == TSR_OK; i++)
        st = work(r, k);
    tsr_status ended = ops->end(tape, r->run.device);
    return st == TSR_OK ? ended : st;
}

static tsr_status time_piece(tsri_times *times, rig *r, piece work, int64_t k)
{
    tsr_status st = TSR_OK;
    const tsri_tape_ops *ops = r->run.device.backend->tape;
    double seconds[TAPES];
    void *tape = NULL;
    TSR_TRY(record(&tape, r, work, k));
    for (int i = -1; i < TAPES; i++) {
        double start = now(&r->run);
        TSR_TRY(ops->play(tape, r->run.device));
        seconds[i < 0 ? 0 : i] = (now(&r->run) - start) / REPLAYED;
    }
    *times = summary(seconds, TAPES);
done:
    ops->forget(tape);
    return st;
}

static tsr_status time_pieces(rig *r, tsri_bench *bench)
{
    tsr_status st = TSR_OK;
    double convs = 0, all = 0;
    for (int64_t k = 0; k < bench->rows; k++) {
        tsri_bench_row *row = &bench->row[k];
        TSR_TRY(time_piece(&row->forward, r, forward_piece, k));
        TSR_TRY(time_piece(&row->backward, r, backward_piece, k));
        double both = row->forward.median + row->backward.median;
        convs += tsri_plan_op(r->plan, k, NULL)->kind == TSRI_CONV ? both : 0;
        all += both;
    }
    TSR_TRY(time_piece(&bench->loss, r, loss_piece, 0));
    TSR_TRY(time_piece(&bench->update, r, update_piece, 0));
    bench->conv_part = convs / (all + bench->loss.median + bench->update.median);
done:
    return st;
}

static tsr_status describe(const rig *r, tsri_bench *bench)
{
    tsr_status st = TSR_OK;
    bench->rows = tsri_plan_ops(r->plan);
    TSR_TRY(tsri_alloc(&bench->row, bench->rows, sizeof *bench->row));
    for (int64_t k = 0; k < bench->rows; k++) {
        tsri_bench_row *row = &bench->row[k];
        const char *name;
        const tsri_op *op = tsri_plan_op(r->plan, k, &name);
        (void)snprintf(row->name, sizeof row->name, "%s", name);
        row->kind = tsri_kind_name(op->kind);
        row->kernel = op->kernel->name;
        row->flops = tsri_op_flops(op);
        row->backward_flops = row->flops * ((op->need_dx ? 1 : 0) + (op->dw || !op->w ? 1 : 0));
        row->bytes = tsri_bench_bytes(op, r->run.device.backend->real_bytes, false);
        row->backward_bytes = tsri_bench_bytes(op, r->run.device.backend->real_bytes, true);
        bench->flops += row->flops + row->backward_flops;
    }
    bench->batch = r->run.settings.batch;
    bench->params = r->store->net->total;
    bench->plan_bytes = tsri_plan_bytes(r->plan);
    bench->threads = tsri_pool_threads(r->run.device.pool);
    bench->backend = tsri_backend_vendor(r->run.device.backend);
    bench->chip = tsri_backend_chip(r->run.device.backend);
done:
    return st;
}

/* Draw, train and put, all workers at once, as training does it. */
static tsr_status time_rounds(rig *r, tsri_bench *bench)
{
    tsr_status st = TSR_OK;
    tsri_run *run = &r->run;
    double seconds[ROUNDS];
    for (int i = -1; i < ROUNDS; i++) {
        double start = now(run);
        TSR_TRY(run->settings.scheme->round(run));
        seconds[i < 0 ? 0 : i] = now(run) - start;
        run->position.round++;
    }
    bench->round = summary(seconds, ROUNDS);
    bench->round_samples =
        (double)(run->settings.workers * run->settings.local_steps * run->settings.batch);
done:
    return st;
}

/* Network and numbers of the first worker's share. The whole goes away: a worker of its own holds
 * no more than its share. */
static tsr_status cut_share(rig *r, tsri_bench *bench)
{
    tsr_status st = TSR_OK;
    tsri_run *run = &r->run;
    const tsri_share *share = NULL;
    bool rescale;
    TSR_TRY(run->settings.scheme->setup(run));
    if (run->device.backend->queues)
        TSR_TRY(time_rounds(r, bench));
    TSR_TRY(tsri_team_share(run, &share, &rescale));
    TSR_TRY(tsri_net_cut(&r->small, run->net, share, rescale));
    TSR_TRY(tsri_store_init(&r->small_store, r->small, run->device.backend, true));
    TSR_TRY(tsri_take(&r->small_store, &run->store, share, false));
    tsri_store_fini(&run->store);
    r->store = &r->small_store;
done:
    return st;
}

tsr_status tsri_bench_run(tsri_bench *bench, tsr_config *config, int64_t repeats, bool share)
{
    tsr_status st = TSR_OK;
    rig r = {.repeats = repeats, .store = &r.run.store};
    tsr_run_options options = tsr_run_options_default();
    *bench = (tsri_bench){0};
    TSR_TRY(tsri_run_init(&r.run, config, &options));
    if (share)
        TSR_TRY(cut_share(&r, bench));
    tsri_loader_options o = {.batch = r.run.settings.batch,
                             .seed = r.run.settings.seed,
                             .shards = 1,
                             .shuffle = !r.run.settings.gd,
                             .replacement = r.run.settings.independent,
                             .prefetch = tsri_config_bool(config, "data.prefetch"),
                             .bare = r.run.device.backend->draw != NULL};
    if (o.bare)
        TSR_TRY(
            tsri_resident_init(&r.resident, r.run.data, &r.run.data->train, r.run.device.backend));
    TSR_TRY(tsri_loader_create(&r.loader, r.run.data, &r.run.data->train, &o));
    TSR_TRY(tsri_plan_create(&r.plan, r.store, r.run.device, r.run.settings.batch, true));
    if (tsri_net_gated(r.store->net))
        TSR_TRY(tsri_gate_table_create(&r.gates, r.store, r.run.device, r.run.data,
                                       &r.run.data->train));
    tsri_aim aim = tsri_run_aim(&r.run.settings);
    TSR_TRY(tsri_step_init(&r.train, r.plan, &aim, &(tsri_optim){.momentum = 0.9, .decay = 5e-4}));
    r.train.gates = r.gates;
    r.train.resident = o.bare ? &r.resident : NULL;
    TSR_TRY(tsri_alloc(&r.sample, 4 * repeats, sizeof *r.sample));
    TSR_TRY(describe(&r, bench));
    TSR_TRY(time_steps(&r, bench));
    TSR_TRY(tsri_bench_product(bench, r.run.device, r.run.net->bf16));
    if (r.run.device.backend->tape)
        TSR_TRY(tsri_bench_copy(bench, r.run.device));
    TSR_TRY(r.run.device.backend->tape ? time_pieces(&r, bench) : time_ops(&r, bench));
done:
    tsri_free(r.sample);
    tsri_gate_table_destroy(r.gates);
    tsri_step_fini(&r.train);
    tsri_plan_destroy(r.plan);
    tsri_loader_destroy(r.loader);
    tsri_resident_fini(&r.resident);
    tsri_store_fini(&r.small_store);
    tsri_net_destroy(r.small);
    tsri_run_fini(&r.run);
    if (st != TSR_OK)
        tsri_bench_fini(bench);
    return st;
}

void tsri_bench_fini(tsri_bench *bench)
{
    tsri_free(bench->row);
    *bench = (tsri_bench){0};
}
