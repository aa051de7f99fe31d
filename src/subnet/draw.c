/* draw.c - shares by chance.
 *
 * Streams: bernoulli (SHARE; axis, round, worker); categorical and chunks (SHARE; axis, round, 0),
 * the same for all workers.
 */
#include "subnet/draw.h"

#include "base/rng.h"

#include <math.h>
#include <string.h>

static bool is_cut(const tsri_draw *draw, const tsri_net *net, int64_t axis)
{
    return draw->kind != TSRI_DRAW_WHOLE && net->axis[axis].cuttable &&
           (!draw->cut || draw->cut[axis]);
}

static bool disjoint(const tsri_draw *draw)
{
    return draw->kind == TSRI_DRAW_CATEGORICAL || draw->kind == TSRI_DRAW_CHUNKS;
}

/* The part of the weight of workers 0 .. worker-1, summed in their order. */
static double weight_before(const tsri_draw *draw, int64_t worker)
{
    double before = 0, total = 0;
    if (!draw->weight)
        return (double)worker / (double)draw->workers;
    for (int64_t w = 0; w < draw->workers; w++) {
        before += w < worker ? draw->weight[w] : 0;
        total += draw->weight[w];
    }
    return before / total;
}

double tsri_draw_chance(const tsri_draw *draw, int64_t worker)
{
    if (draw->kind == TSRI_DRAW_BERNOULLI)
        return draw->xi;
    return disjoint(draw) ? weight_before(draw, worker + 1) - weight_before(draw, worker) : 1;
}

double tsri_draw_coverage(const tsri_draw *draw)
{
    return draw->kind == TSRI_DRAW_BERNOULLI ? 1 - pow(1 - draw->xi, (double)draw->workers) : 1;
}

static tsr_status check_numbers(const tsri_draw *draw)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(draw->workers >= 1, TSR_USAGE, "there must be at least one worker");
    TSR_CHECK(draw->kind != TSRI_DRAW_BERNOULLI || (draw->xi > 0 && draw->xi <= 1), TSR_USAGE,
              "xi is %g: the chance of a unit to be drawn must be above 0 and at most 1", draw->xi);
    for (int64_t w = 0; draw->weight && w < draw->workers; w++)
        TSR_CHECK(draw->weight[w] > 0 && isfinite(draw->weight[w]), TSR_USAGE,
                  "the weight of worker %lld is %g: it must be above 0", (long long)w,
                  draw->weight[w]);
done:
    return st;
}

tsr_status tsri_draw_check(const tsri_draw *draw, const tsri_net *net)
{
    tsr_status st = TSR_OK;
    int64_t cut = 0;
    TSR_TRY(check_numbers(draw));
    for (int64_t a = 0; a < net->axes; a++) {
        const tsri_axis *axis = &net->axis[a];
        TSR_CHECK(!draw->cut || !draw->cut[a] || axis->cuttable, TSR_USAGE,
                  "axis %s of the model cannot be cut", axis->name);
        if (!is_cut(draw, net, a))
            continue;
        cut++;
        TSR_CHECK(!disjoint(draw) || draw->workers <= axis->size, TSR_USAGE,
                  "%lld workers cannot share the %lld units of axis %s: use fewer workers or a "
                  "wider model",
                  (long long)draw->workers, (long long)axis->size, axis->name);
    }
    TSR_CHECK(cut > 0 || draw->kind == TSRI_DRAW_WHOLE, TSR_USAGE,
              "no axis of this model can be cut into shares: use a model with hidden units");
done:
    return st;
}

/* ---- One axis ----------------------------------------------------------------------------- */

static void bernoulli(tsri_share *share, double xi, int64_t size, tsri_rng *rng)
{
    for (int64_t i = 0; i < size; i++)
        share->mark[i] = tsri_rng_uniform53(rng) < xi;
}

/* Worker l has the units whose throw u lies in [before(l), before(l+1)); the last one also has what
 * rounding leaves above. */
static void categorical(tsri_share *share, const tsri_draw *draw, int64_t size, int64_t worker,
                        tsri_rng *rng)
{
    double from = weight_before(draw, worker), to = weight_before(draw, worker + 1);
    if (worker == draw->workers - 1)
        to = 1;
    for (int64_t i = 0; i < size; i++) {
        double u = tsri_rng_uniform53(rng);
        share->mark[i] = u >= from && u < to;
    }
}

/* Where worker l's piece of the permutation begins. Everyone has one unit, what is left goes by
 * weight; with equal weights that is floor(l size / p). */
static int64_t piece_begin(const tsri_draw *draw, int64_t size, int64_t worker)
{
    int64_t free = size - draw->workers;
    if (!draw->weight)
        return worker + free * worker / draw->workers;
    return worker + (int64_t)floor((double)free * weight_before(draw, worker) + 0.5);
}

static void chunks(tsri_share *share, const tsri_draw *draw, int64_t size, int64_t worker,
                   tsri_rng *rng)
{
    int64_t from = piece_begin(draw, size, worker), to = piece_begin(draw, size, worker + 1);
    tsri_rng_permutation(rng, share->order, size);
    memset(share->mark, 0, (size_t)size);
    for (int64_t i = from; i < to; i++)
        share->mark[share->order[i]] = 1;
}

void tsri_share_draw(tsri_share *share, const tsri_draw *draw, uint64_t seed, int64_t round,
                     int64_t worker)
{
    tsri_share_whole(share);
    for (int64_t a = 0; a < share->net->axes; a++) {
        if (!is_cut(draw, share->net, a))
            continue;
        int64_t size = share->net->axis[a].size;
        tsri_rng rng = tsri_rng_stream(seed, TSRI_FOR_SHARE, a, round, disjoint(draw) ? 0 : worker);
        if (draw->kind == TSRI_DRAW_BERNOULLI)
            bernoulli(share, draw->xi, size, &rng);
        else if (draw->kind == TSRI_DRAW_CATEGORICAL)
            categorical(share, draw, size, worker, &rng);
        else
            chunks(share, draw, size, worker, &rng);
        tsri_share_settle(share, a, tsri_draw_chance(draw, worker));
        if (draw->kind == TSRI_DRAW_CHUNKS) /* not by chance: that many in every round */
            share->pick[a].xi = (double)share->pick[a].count / (double)size;
    }
}
