/* silent.c - the loss of a network that answers 0, by the definition of every loss
 * (backend/ref). */
#include "train/silent.h"

#include "base/alloc.h"
#include "run/recipe.h"

enum { SAMPLES = 1024 };

static double weight_mean(const double *weight, const int32_t *label, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; weight && i < n; i++)
        sum += weight[label[i]];
    return sum / (double)n;
}

tsr_status tsri_silent_loss(double *loss, const tsri_run *run)
{
    tsr_status st = TSR_OK;
    float *zeros = NULL; /* [n, outputs] */
    const tsri_part *part = &run->data->train;
    const tsri_net *net = run->net;
    tsri_shape out = net->value[net->layer[net->layers - 1].out].shape; /* height: positions */
    tsri_aim aim = tsri_run_aim(&run->settings);
    int64_t n = part->n < SAMPLES ? part->n : SAMPLES;
    double mean = weight_mean(aim.weight, part->label, n);
    tsri_tally tally = {0};
    tsri_loss l = {.kind = aim.kind,
                   .n = n,
                   .valid = n,
                   .outputs = tsri_shape_count(out),
                   .positions = out.h,
                   .first = net->first,
                   .length = out.h > 1 ? part->length : NULL,
                   .label = part->label,
                   .target = part->target,
                   .smoothing = aim.smoothing,
                   .weight = aim.weight,
                   .weight_mean = &mean,
                   .tally = (tsri_mem *)(void *)&tally};
    TSR_TRY(tsri_alloc(&zeros, n * l.outputs, sizeof *zeros));
    l.x = zeros;
    TSR_TRY(tsri_backend_ref.loss(&l, (tsri_device){.backend = &tsri_backend_ref}));
    *loss = tsri_loss_value(&l, &tally);
    if (l.kind->sum)
        *loss *= (double)run->settings.batch / (double)n;
done:
    tsri_free(zeros);
    return st;
}
