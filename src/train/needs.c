/* needs.c - what a run would need: tsr_check, which does everything but train.
 *
 * The run is made as training would make it, so that whatever training refuses is refused here. Of
 * a device with memory of its own, which need not be in this machine, only the sizes are planned.
 */
#include "base/log.h"
#include "base/sized.h"
#include "base/text.h"
#include "scheme/scheme.h"
#include "scheme/schemes.h"
#include "train/describe.h"
#include "train/device_fit.h"
#include "train/train.h"

#include <math.h>

static int64_t part_bytes(const tsr_data *d, const tsri_part *p)
{
    int64_t each = d->dim * ((p->bytes ? 1 : (int64_t)sizeof(float)) + (p->pixels != NULL));
    return p->n * (each + (int64_t)sizeof(int32_t) + d->targets * (int64_t)sizeof(float));
}

/* Says how the columns of a table will be used: that is what people check a run file for. */
static tsr_status tell_columns(const tsr_data *data)
{
    tsr_status st = TSR_OK;
    tsri_text text = {0};
    TSR_TRY(tsri_data_schema_text(&text, &data->schema));
    if (text.data)
        TSRI_INFO("%s: %s", data->name, text.data);
done:
    tsri_text_fini(&text);
    return st;
}

/* Operations of a step of the whole network, as `cost` counts them; a worker's share takes less. */
static tsr_status whole_step(int64_t *flops, const tsri_run *run)
{
    tsr_status st = TSR_OK;
    double sample;
    TSR_TRY(tsri_net_step_flops(&sample, run->net,
                                run->settings.scheme->plain &&
                                    tsri_dense_knows_gates(&run->settings, run->net)));
    *flops = (int64_t)((double)run->settings.batch * sample);
done:
    return st;
}

static tsr_status needs_of(tsr_needs *needs, const tsri_run *run, int64_t plan)
{
    double epoch = run->settings.epoch_rounds;
    *needs = (tsr_needs){.params = run->net->total,
                         .trained = run->net->trained,
                         .train_n = run->data->train.n,
                         .test_n = run->data->test.n,
                         .rounds = run->settings.rounds,
                         .epoch_rounds = (int64_t)llround(epoch < 1 ? 1 : epoch),
                         .memory_data = part_bytes(run->data, &run->data->train) +
                                        part_bytes(run->data, &run->data->test),
                         .memory_model = tsri_run_numbers(&run->settings, run->net) *
                                         run->device.backend->real_bytes,
                         .memory_plan = plan,
                         .backend = tsri_backend_vendor(run->device.backend)};
    return whole_step(&needs->flops_step, run);
}

/* What the run wants of a device's memory: of a device with `stated` bytes, which need not be in this
 * machine, or with 0 of the one that is. Nothing is taken. */
static tsr_status plan_device(tsr_needs *needs, tsr_config *config, int64_t stated)
{
    tsr_status st = TSR_OK;
    tsri_run run = {.process.lock = -1};
    const tsri_backend *backend;
    tsri_ground ground = {.threads = tsri_cores()};
    tsr_run_options options = tsr_run_options_default();
    tsri_fit fit;
    int64_t plan = 0;
    st = tsri_start_backend(&backend, &ground.threads, config);
    if (st == TSR_USAGE && stated > 0) {
        TSRI_INFO("planned without a GPU: what cuDNN's kernels need is not counted");
        tsri_fail_clear();
        st = TSR_OK;
    }
    TSR_TRY(st);
    TSR_TRY(tsri_run_describe(&run, config, &options, &ground));
    TSR_TRY(tsri_device_fit(&fit, &run, stated, true));
    TSR_CHECK(fit.wanted > 0, TSR_USAGE,
              "backend: %s has no memory of its own to plan for: name backend: cuda",
              run.device.backend->name);
    TSR_TRY(tsri_fit_judge(&fit, &run));
    TSR_TRY(tsri_plan_measure(&plan, run.net, run.device, run.settings.batch, true));
    TSR_TRY(needs_of(needs, &run, plan));
    needs->memory_device = fit.wanted;
    needs->device_free = fit.available;
    needs->device_all = fit.all;
    needs->batch_fits = fit.batch;
done:
    tsri_run_fini(&run);
    return st;
}

/* Begins the run as training would. */
static tsr_status try_run(tsr_needs *needs, tsr_config *config)
{
    tsr_status st = TSR_OK;
    tsri_run run = {.process.lock = -1};
    tsri_plan *plan = NULL;
    tsr_run_options options = tsr_run_options_default();
    TSR_TRY(tsri_run_init(&run, config, &options));
    TSR_TRY(tell_columns(run.data));
    TSR_TRY(tsri_train_prepare(&run));
    bool own_memory = run.device.backend->heap->room != NULL;
    if (!own_memory) /* a device's plan has been measured, and its memory is scarcer */
        TSR_TRY(tsri_run_plan(&plan, &run));
    TSR_TRY(needs_of(needs, &run, plan ? tsri_plan_bytes(plan) : 0));
done:
    tsri_plan_destroy(plan);
    tsri_run_fini(&run);
    return st;
}

tsr_status tsr_check(tsr_needs *needs, tsr_config *config)
{
    tsr_status st = TSR_OK;
    const tsri_backend *backend;
    tsr_needs mine = {0}, device = {0};
    TSRI_GIVEN(config);
    TSR_TRY(TSRI_SIZED_TAKE(&mine, needs));
    int64_t stated = mine.device_all;
    mine = (tsr_needs){0};
    TSR_TRY(TSRI_SIZED_GIVE(needs, &mine));
    TSR_TRY(tsri_backend_find(&backend, tsri_config_text(config, "backend")));
    if (stated > 0 || backend->heap->room)
        TSR_TRY(plan_device(&device, config, stated));
    if (stated > 0) {
        mine = device;
    } else {
        TSR_TRY(try_run(&mine, config));
        mine.memory_plan = backend->heap->room ? device.memory_plan : mine.memory_plan;
        mine.memory_device = device.memory_device;
        mine.device_free = device.device_free;
        mine.device_all = device.device_all;
        mine.batch_fits = device.batch_fits;
    }
    TSR_TRY(TSRI_SIZED_GIVE(needs, &mine));
done:
    return st;
}
