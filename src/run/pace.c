/* pace.c - how fast a run trains on a chip of its own (pace.h). */
#include "run/pace.h"

#include "backend/device.h"
#include "base/clock.h"
#include "io/json.h"
#include "run/metrics_lines.h"

/* Bytes of the chip's memory in use, by any process; 0 where that is not known. */
static int64_t taken(const tsri_run *run, int64_t *all)
{
    const tsri_heap *heap = run->device.backend->heap;
    int64_t available = 0;
    *all = 0;
    bool told = heap->room && heap->room(&available, all) == TSR_OK;
    return told ? *all - available : 0;
}

void tsri_pace_start(tsri_run *run)
{
    tsri_pace *p = &run->process.pace;
    p->chip = tsri_backend_chip(run->device.backend);
    p->from = run->position.round;
    p->since = tsri_clock();
}

void tsri_pace_stop(tsri_run *run)
{
    tsri_pace *p = &run->process.pace;
    int64_t all;
    if (!p->chip || run->position.round <= p->from)
        return;
    (void)tsri_device_wait(run->device); /* a failure comes again with the next call */
    double seconds = tsri_clock() - p->since, rounds = (double)(run->position.round - p->from);
    double samples = (double)run->data->train.n / run->settings.epoch_rounds;
    p->samples = seconds > 0 ? rounds * samples / seconds : 0;
    p->step = seconds / (rounds * (double)run->settings.local_steps);
    p->memory = taken(run, &all);
}

tsr_status tsri_event_device(tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    const char *chip = tsri_backend_chip(run->device.backend);
    int64_t all = 0;
    if (!chip)
        return TSR_OK;
    (void)taken(run, &all);
    tsri_event_open(&w, "device");
    tsri_json_put_int(&w, "round", run->position.round);
    tsri_json_put_text(&w, "chip", chip);
    tsri_json_put_text(&w, "kernels", tsri_backend_vendor(run->device.backend));
    tsri_json_put_int(&w, "memory", all);
    TSR_TRY(tsri_event_write(run, &w));
done:
    tsri_json_fini(&w);
    return st;
}
