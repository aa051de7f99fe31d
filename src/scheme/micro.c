/* micro.c - a batch in equal micro-batches. */
#include "scheme/micro.h"

tsr_status tsri_micro_choose(tsri_micro *micro, const tsri_run *run, int64_t preset)
{
    tsr_status st = TSR_OK;
    int64_t asked = tsri_config_int(run->settings.config, "scheme.micro_batches");
    *micro = (tsri_micro){.count = asked > 0 ? asked : preset};
    TSR_CHECK(run->settings.batch % micro->count == 0, TSR_USAGE,
              "%s: %lld micro-batches do not divide the batch of %lld samples: choose "
              "scheme.micro_batches or batch so that they do",
              tsri_config_place(run->settings.config, asked > 0 ? "scheme.micro_batches" : "batch"),
              (long long)micro->count, (long long)run->settings.batch);
    micro->size = run->settings.batch / micro->count;
done:
    return st;
}

tsr_status tsri_micro_init(tsri_micro *micro, const tsri_run *run, int64_t preset)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_micro_choose(micro, run, preset));
    micro->heap = run->store.heap;
    if (micro->count > 1)
        TSR_TRY(micro->heap->take(&micro->sum, run->net->trained * run->store.real_bytes));
done:
    return st;
}

void tsri_micro_fini(tsri_micro *micro)
{
    if (micro->heap)
        micro->heap->drop(micro->sum);
    *micro = (tsri_micro){0};
}

tsr_status tsri_micro_add(const tsri_micro *micro, const tsri_run *run, int64_t m, int64_t low,
                          int64_t high)
{
    int64_t from = low * run->store.real_bytes;
    if (micro->count == 1)
        return TSR_OK;
    return tsri_device_gather(
        run->device, tsri_mem_at(micro->sum, from), tsri_mem_at(run->store.g, from), high - low,
        m == 0, m == micro->count - 1, run->settings.loss->sum ? 1 : 1 / (float)micro->count);
}

double tsri_micro_value(const tsri_micro *micro, const tsri_run *run, const double *loss)
{
    double sum = 0;
    for (int64_t m = 0; m < micro->count; m++)
        sum += loss[m];
    return run->settings.loss->sum ? sum : sum / (double)micro->count;
}
