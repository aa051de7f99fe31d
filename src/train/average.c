/* average.c - the exponential moving average of a run's weights (optim.ema).
 *
 *     a = w after the first round;   a += (1 - ema) (w - a) after each later one
 *
 * PyTorch's (torch.optim.swa_utils.AveragedModel with its EMA). Running statistics of norms are
 * averaged like weights; counts are the newest. Training never sees the average: evaluations, the
 * best iterate and the model do.
 */
#include "train/average.h"

tsr_status tsri_average_init(tsri_run *run)
{
    tsr_status st = TSR_OK;
    if (run->settings.ema == 0)
        return TSR_OK;
    TSR_CHECK(tsri_config_real(run->settings.config, "convert_at") == 0, TSR_USAGE,
              "%s: optim.ema would average the weights of two networks: leave convert_at out",
              tsri_config_place(run->settings.config, "optim.ema"));
    TSR_TRY(run->store.heap->take(&run->average, run->net->total * run->store.real_bytes));
done:
    return st;
}

tsr_status tsri_average_round(tsri_run *run)
{
    tsr_status st = TSR_OK;
    if (!run->average)
        return TSR_OK;
    double part = run->position.round == 1 ? 1 : 1 - run->settings.ema;
    TSR_TRY(tsri_device_blend(run->device, run->average, run->store.w, run->net->total, part));
    for (int64_t p = 0; p < run->net->params; p++)
        if (run->net->param[p].role == TSRI_COUNT)
            TSR_TRY(run->store.heap->within(tsri_store_at(&run->store, run->average, p),
                                            tsri_store_at(&run->store, run->store.w, p),
                                            run->net->param[p].count * run->store.real_bytes));
done:
    return st;
}

void tsri_average_swap(tsri_run *run)
{
    tsri_mem *w = run->store.w;
    if (!run->average)
        return;
    run->store.w = run->average;
    run->average = w;
}
