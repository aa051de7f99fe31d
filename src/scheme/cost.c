/* cost.c - what each scheme takes, counted without training: numbers, operations, memory, bytes.
 *
 * Shares are pure functions of the seed (subnet/draw.h), so the bytes of every round are known
 * before the first one: where they differ from round to round, each round is drawn. Memory is that
 * of the very plan that a worker would make, laid out but not taken.
 */
#include "scheme/cost.h"

#include "base/alloc.h"
#include "net/depth.h"
#include "net/gate_table.h"
#include "run/recipe.h"
#include "run/when.h"
#include "scheme/gpipe_parts.h"
#include "scheme/micro.h"
#include "scheme/rules.h"
#include "scheme/schemes.h"
#include "scheme/stages.h"
#include "subnet/cut.h"

#include <math.h>

enum { FLOAT = sizeof(float) };

static tsr_status step_flops(int64_t *flops, const tsri_net *net, int64_t batch, bool gates_known)
{
    tsr_status st = TSR_OK;
    double each;
    TSR_TRY(tsri_net_step_flops(&each, net, gates_known));
    *flops = (int64_t)((double)batch * each);
done:
    return st;
}

/* A worker's batches, as they wait for it. */
static int64_t batch_bytes(const tsri_run *run)
{
    tsri_loader_options o = tsri_run_loader(&run->settings, 0);
    o.bare = tsri_run_draws_there(&run->settings, run->device.backend);
    o.prefetch = o.prefetch && !(run->settings.gd &&
                                 run->settings.scheme->shares); /* team.c: then there is only one */
    return tsri_loader_bytes(run->data, &run->data->train, &o);
}

/* ---- Dense -------------------------------------------------------------------------------- */

/* Weights, gradient, the optimiser's state, and the sum over micro-batches where there are
 * several. */
static int64_t store_bytes(const tsri_run *run, int64_t total, int64_t trained,
                           int64_t micro_batches)
{
    return (total + (tsri_optim_vectors(&run->settings.optim) + (micro_batches > 1)) * trained) *
           FLOAT;
}

tsr_status tsri_dense_cost(tsr_cost *cost, tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_micro micro;
    int64_t plan;
    TSR_TRY(tsri_micro_choose(&micro, &run->settings, 1));
    TSR_TRY(tsri_plan_measure(&plan, run->net, run->device, micro.size, true));
    cost->params_share = run->net->total;
    TSR_TRY(step_flops(&cost->flops_step, run->net, run->settings.batch,
                       tsri_dense_knows_gates(&run->settings, run->net)));
    cost->flops_step_whole = cost->flops_step;
    cost->micro_batches = micro.count;
    cost->memory_worker =
        store_bytes(run, run->net->total, run->net->trained, micro.count) + plan + batch_bytes(run);
    if (run->settings.ema > 0)
        cost->memory_worker += run->net->total * FLOAT;
    if (tsri_dense_knows_gates(&run->settings, run->net))
        cost->memory_worker += tsri_gate_table_bytes(run->net, run->data->train.n);
done:
    return st;
}

/* ---- Shares ------------------------------------------------------------------------------- */

/* Numbers of the share with that role, from its picks alone. */
static int64_t numbers(const tsri_share *share, tsri_role role)
{
    const tsri_net *net = share->net;
    int64_t sum = 0;
    for (int64_t p = 0; p < net->params; p++) {
        const tsri_param *q = &net->param[p];
        int64_t count = q->role == role ? 1 : 0;
        for (int d = 0; d < q->dims; d++)
            count *= q->axis[d] < 0 ? q->shape[d] : share->pick[q->axis[d]].count * q->inner[d];
        sum += count;
    }
    return sum;
}

/* One way: what training changes (subnet/wire.h), counted without making the share's network. */
static int64_t share_bytes(const tsri_share *share, const tsri_wire *wire)
{
    int64_t trained = numbers(share, TSRI_TRAINED), statistics = numbers(share, TSRI_BUFFER);
    return ((wire->variance   ? 3
             : wire->momentum ? 2
                              : 1) *
                trained +
            statistics) *
           (wire->bf16 ? FLOAT / 2 : FLOAT);
}

/* Numbers that a sample has in the share's values. */
static int64_t activations(const tsri_share *share)
{
    const tsri_net *net = share->net;
    int64_t sum = 0;
    for (int64_t v = 0; v < net->values; v++) {
        tsri_shape s = net->value[v].shape;
        const tsri_pick *pick = net->value[v].axis < 0 ? NULL : &share->pick[net->value[v].axis];
        sum += pick && s.c == net->axis[net->value[v].axis].size ? pick->count * s.h * s.w
                                                                 : tsri_shape_count(s);
    }
    return sum;
}

/* The largest share seen so far; worker -1 = none. */
typedef struct largest {
    int64_t round, worker, size;
} largest;

/* The one with most numbers, and the one with most activations: its plan may be larger. */
typedef struct extremes {
    largest numbers, values;
} extremes;

static void note_share(largest *most, int64_t round, int64_t worker, int64_t size)
{
    if (most->worker < 0 || size > most->size)
        *most = (largest){round, worker, size};
}

/* Bytes of a round, both ways. */
static int64_t round_bytes(tsri_share *share, const tsri_rules *rules, const tsri_run *run,
                           int64_t round, extremes *most)
{
    int64_t sum = 0;
    for (int64_t l = 0; l < run->settings.workers; l++) {
        tsri_share_draw(share, &rules->draw, run->settings.seed, round, l);
        if (tsri_share_empty(share))
            continue;
        int64_t bytes = share_bytes(share, &rules->wire);
        sum += 2 * bytes;
        note_share(&most->numbers, round, l, bytes);
        note_share(&most->values, round, l, activations(share));
    }
    return sum;
}

/* Chunks and wholes have the same sizes in every round. */
static bool same_every_round(const tsri_draw *draw)
{
    return draw->kind == TSRI_DRAW_WHOLE || draw->kind == TSRI_DRAW_CHUNKS;
}

/* Rounds that are drawn, at most: some seconds' worth of random numbers. */
static int64_t rounds_to_draw(const tsri_run *run)
{
    const double draws = 3e8;
    double units = 1;
    for (int64_t a = 0; a < run->net->axes; a++)
        units += run->net->axis[a].cuttable ? (double)run->net->axis[a].size : 0;
    double most = draws / units / (double)run->settings.workers;
    return most < (double)run->settings.rounds ? (int64_t)fmax(most, 1) : run->settings.rounds;
}

static void count_bytes(tsr_cost *cost, extremes *most, tsri_share *share, const tsri_rules *rules,
                        const tsri_run *run)
{
    int64_t drawn = same_every_round(&rules->draw) ? 1 : rounds_to_draw(run), sum = 0;
    *most = (extremes){{.worker = -1}, {.worker = -1}};
    for (int64_t r = 0; r < drawn; r++) {
        int64_t bytes = round_bytes(share, rules, run, r, most);
        cost->bytes_round = r == 0 ? bytes : cost->bytes_round;
        sum += bytes;
    }
    cost->exact = drawn == run->settings.rounds || same_every_round(&rules->draw);
    cost->bytes_total =
        drawn == run->settings.rounds
            ? sum
            : (int64_t)llround((double)sum / (double)drawn * (double)run->settings.rounds);
    if (same_every_round(&rules->draw))
        cost->bytes_total = cost->bytes_round * run->settings.rounds;
}

/* Numbers of a share and the plan that its worker would make. */
typedef struct sizes {
    int64_t total, trained, plan, flops;
} sizes;

static tsr_status size_share(sizes *z, const largest *which, tsri_share *share,
                             const tsri_rules *rules, const tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_net *small = NULL;
    tsri_share_draw(share, &rules->draw, run->settings.seed, which->round, which->worker);
    TSR_TRY(tsri_net_cut(&small, run->net, share, rules->rescale));
    TSR_TRY(tsri_plan_measure(&z->plan, small, run->device, run->settings.batch, true));
    TSR_TRY(step_flops(&z->flops, small, run->settings.batch, false));
    z->total = small->total;
    z->trained = small->trained;
done:
    tsri_net_destroy(small);
    return st;
}

/* A worker keeps the memory of the largest share it ever had. */
static tsr_status describe_share(tsr_cost *cost, const extremes *most, tsri_share *share,
                                 const tsri_rules *rules, const tsri_run *run)
{
    tsr_status st = TSR_OK;
    sizes a, b;
    if (most->numbers.worker < 0)
        return TSR_OK;
    TSR_TRY(size_share(&a, &most->numbers, share, rules, run));
    TSR_TRY(size_share(&b, &most->values, share, rules, run));
    cost->params_share = a.total;
    cost->flops_step = a.flops;
    cost->memory_worker = store_bytes(run, a.total, a.trained, 1) +
                          (a.plan > b.plan ? a.plan : b.plan) + batch_bytes(run);
done:
    return st;
}

/* Of a crew's workers the coordinator keeps only the numbers. Full batches that all see are there
 * once. */
tsr_status tsri_team_worker_bytes(int64_t *bytes, const tsri_rules *rules, const tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_share share = {0};
    sizes z = {0};
    const largest one = {.round = 0, .worker = 0};
    TSR_TRY(tsri_share_init(&share, run->net));
    tsri_share_draw(&share, &rules->draw, run->settings.seed, one.round, one.worker);
    if (!tsri_share_empty(&share))
        TSR_TRY(size_share(&z, &one, &share, rules, run));
    *bytes = store_bytes(run, z.total, z.trained, 1);
    if (!run->process.crew)
        *bytes += z.plan + (run->settings.gd && !run->settings.shard ? 0 : batch_bytes(run));
done:
    tsri_share_fini(&share);
    return st;
}

tsr_status tsri_team_cost(tsr_cost *cost, tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_rules rules = {0};
    tsri_share share = {0};
    extremes most;
    TSR_TRY(tsri_rules_init(&rules, &run->settings, run->net));
    TSR_TRY(tsri_share_init(&share, run->net));
    count_bytes(cost, &most, &share, &rules, run);
    TSR_TRY(describe_share(cost, &most, &share, &rules, run));
done:
    tsri_share_fini(&share);
    tsri_rules_fini(&rules);
    return st;
}

/* ---- GPipe -------------------------------------------------------------------------------- */

/* All numbers of the part's layers. */
static int64_t part_numbers(const tsri_net *part)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < part->layers; i++) {
        const tsri_layer *l = &part->layer[i];
        const int of[] = {l->weight, l->bias, l->mean, l->var, l->tracked};
        for (size_t k = 0; k < sizeof of / sizeof *of; k++)
            sum += of[k] < 0 ? 0 : part->param[of[k]].count;
    }
    return sum;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static tsr_status add_stage(tsr_cost *cost, tsri_run *run, const tsri_micro *micro, int64_t from,
                            int64_t to)
{
    tsr_status st = TSR_OK;
    tsri_net *part = NULL;
    int64_t low, high, plan, flops;
    TSR_TRY(tsri_net_part(&part, run->net, from, to));
    TSR_TRY(step_flops(&flops, part, run->settings.batch, false));
    TSR_TRY(tsri_plan_measure(&plan, part, run->device, micro->size, true));
    tsri_depth_trained(part, &low, &high);
    int64_t total = part_numbers(part);
    cost->params_share = larger(cost->params_share, total);
    cost->flops_step = larger(cost->flops_step, flops);
    int64_t memory = store_bytes(run, total, high - low, micro->count) + micro->count * plan;
    cost->memory_worker = larger(cost->memory_worker, memory + (from == 0 ? batch_bytes(run) : 0));
    cost->bytes_collected +=
        tsri_part_bytes(tsri_optim_vectors(&run->settings.optim), part) * (1 + tsri_looks(run));
    if (from > 0) {
        int64_t crossing = tsri_depth_crossing(run->net, from);
        cost->bytes_cut = larger(cost->bytes_cut, micro->size * crossing * FLOAT);
        cost->bytes_round += 2 * run->settings.batch * crossing * FLOAT;
    }
done:
    tsri_net_destroy(part);
    return st;
}

tsr_status tsri_gpipe_cost(tsr_cost *cost, tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_micro micro;
    int64_t *begin = NULL;
    TSR_TRY(tsri_gpipe_allowed(&run->settings));
    TSR_TRY(tsri_micro_choose(&micro, &run->settings, run->settings.workers));
    TSR_TRY(tsri_alloc(&begin, run->settings.workers + 1, sizeof *begin));
    TSR_TRY(tsri_stages_choose(begin, &run->settings, run->net, run->device, micro.size));
    for (int64_t s = 0; s < run->settings.workers; s++)
        TSR_TRY(add_stage(cost, run, &micro, begin[s], begin[s + 1]));
    cost->micro_batches = micro.count;
    cost->bytes_total = cost->bytes_round * run->settings.rounds;
    cost->exact = tsri_config_is(run->settings.config, "scheme.balance", "flops") ||
                  tsri_config_text(run->settings.config, "scheme.cuts");
done:
    tsri_free(begin);
    return st;
}
