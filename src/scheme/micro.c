/* micro.c - a batch in equal micro-batches. */
#include "scheme/micro.h"

tsr_status tsri_micro_choose(tsri_micro *micro, const tsri_settings *s, int64_t preset)
{
    tsr_status st = TSR_OK;
    int64_t asked = tsri_config_int(s->config, "scheme.micro_batches");
    *micro = (tsri_micro){.count = asked > 0 ? asked : preset, .adds = s->loss->sum};
    TSR_CHECK(s->batch % micro->count == 0, TSR_USAGE,
              "%s: %lld micro-batches do not divide the batch of %lld samples: choose "
              "scheme.micro_batches or batch so that they do",
              tsri_config_place(s->config, asked > 0 ? "scheme.micro_batches" : "batch"),
              (long long)micro->count, (long long)s->batch);
    micro->size = s->batch / micro->count;
done:
    return st;
}

tsr_status tsri_micro_init(tsri_micro *micro, const tsri_settings *s, const tsri_store *store,
                           int64_t preset)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_micro_choose(micro, s, preset));
    micro->heap = store->heap;
    if (micro->count > 1)
        TSR_TRY(micro->heap->take(&micro->sum, store->net->trained * store->real_bytes));
done:
    return st;
}

void tsri_micro_fini(tsri_micro *micro)
{
    if (micro->heap)
        micro->heap->drop(micro->sum);
    *micro = (tsri_micro){0};
}

tsr_status tsri_micro_add(const tsri_micro *micro, const tsri_store *store, tsri_device device,
                          int64_t m, int64_t low, int64_t high)
{
    int64_t from = low * store->real_bytes;
    if (micro->count == 1)
        return TSR_OK;
    return tsri_device_gather(device, tsri_mem_at(micro->sum, from), tsri_mem_at(store->g, from),
                              high - low, m == 0, m == micro->count - 1,
                              micro->adds ? 1 : 1 / (float)micro->count);
}

double tsri_micro_value(const tsri_micro *micro, const double *loss)
{
    double sum = 0;
    for (int64_t m = 0; m < micro->count; m++)
        sum += loss[m];
    return micro->adds ? sum : sum / (double)micro->count;
}
