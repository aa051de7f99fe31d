/* average.c - the exponential moving average of a run's weights (optim.ema).
 *
 *     a = w after the first round;   a += (1 - ema) (w - a) after each later one
 *
 * PyTorch's (torch.optim.swa_utils.AveragedModel with its EMA). Running statistics of norms are
 * averaged like weights; counts are the newest. Training never sees the average: evaluations, the
 * best iterate and the model do.
 */
#include "scheme/run.h"

#include "base/alloc.h"
#include "base/pieces.h"

#include <string.h>

enum { PIECE = 16384 };

tsr_status tsri_average_init(tsri_run *run)
{
    tsr_status st = TSR_OK;
    if (run->ema == 0)
        return TSR_OK;
    TSR_CHECK(tsri_config_real(run->config, "convert_at") == 0, TSR_USAGE,
              "%s: optim.ema would average the weights of two networks: leave convert_at out",
              tsri_config_place(run->config, "optim.ema"));
    TSR_TRY(tsri_alloc(&run->average, run->net->total, sizeof *run->average));
done:
    return st;
}

static void average_piece(void *context, int64_t i, int thread)
{
    (void)thread;
    const tsri_run *run = context;
    const float *w = run->store.w;
    int64_t end = tsri_min((i + 1) * PIECE, run->net->total);
    double part = run->round == 1 ? 1 : 1 - run->ema;
    for (int64_t j = i * PIECE; j < end; j++) {
        double a = (double)run->average[j];
        run->average[j] = part == 1 ? w[j] : (float)(a + part * ((double)w[j] - a));
    }
}

void tsri_average_round(tsri_run *run)
{
    if (!run->average)
        return;
    tsri_pool_run(run->pool, average_piece, run, tsri_ceil_div(run->net->total, PIECE));
    for (int64_t p = 0; p < run->net->params; p++)
        if (run->net->param[p].role == TSRI_COUNT)
            memcpy(run->average + run->net->param[p].offset,
                   tsri_store_at(&run->store, run->store.w, p),
                   (size_t)run->net->param[p].count * sizeof(float));
}

void tsri_average_swap(tsri_run *run)
{
    float *w = run->store.w;
    if (!run->average)
        return;
    run->store.w = run->average;
    run->average = w;
}
