/* convert_pair.c - two nets, before a conversion and after it. See convert_pair.h. */
#include "convert/convert_pair.h"

#include "base/alloc.h"
#include "data/loader.h"
#include "run/evaluate.h"

#include <math.h>
#include <stdio.h>

tsr_status tsri_convert_config(tsr_config *config)
{
    tsr_status st = TSR_OK;
    char twin[2 * TSRI_NAME];
    (void)snprintf(twin, sizeof twin, "model.name=%s", tsri_model_of(config)->twin);
    TSR_TRY(tsr_config_set(config, twin));
    TSR_TRY(tsr_config_set(config, "model.gate_rank=0"));
    TSR_TRY(tsr_config_set(config, "convert_at=0"));
    tsri_config_unset(config, "model.from_relu");
done:
    return st;
}

tsr_status tsri_convert_pair(tsri_conversion *how, tsri_store *relu, tsri_store *grelu,
                             const tsri_judge_on *on, bool least_squares)
{
    tsr_status st = TSR_OK;
    const tsr_data *d = on->data;
    const tsri_part *part = &d->train;
    tsri_gate_table *gates = NULL;
    float *x = NULL;
    TSR_TRY(tsri_gate_table_create(&gates, grelu, on->device, d, part));
    TSR_TRY(tsri_alloc(&x, part->n * d->dim, sizeof *x));
    for (int64_t i = 0; i < part->n; i++)
        tsri_sample(x + i * d->dim, d, part, i);
    TSR_TRY(tsri_convert_to_relu(how, relu, grelu, x, gates, TSRI_CONVERT_EQUAL, least_squares,
                                 on->device.pool));
done:
    tsri_gate_table_destroy(gates);
    tsri_free(x);
    return st;
}

/* Mean and largest of |a - b| over the root mean square of |a|, rows of k. */
static void compare(tsri_judged *j, const float *a, const float *b, int64_t k)
{
    double size = 0, n = (double)j->n;
    for (int64_t i = 0; i < j->n * k; i++)
        size += pow((double)a[i], 2) / n;
    for (int64_t i = 0; i < j->n; i++) {
        double off = 0;
        for (int64_t o = i * k; o < (i + 1) * k; o++)
            off += pow((double)a[o] - (double)b[o], 2);
        double ratio = size > 0 ? sqrt(off / size) : sqrt(off);
        j->difference += ratio / n;
        j->most_difference = fmax(j->most_difference, ratio);
    }
}

tsr_status tsri_judge_pair(tsri_judged *j, tsri_store *before, tsri_store *after,
                           const tsri_judge_on *on, const tsri_part *part)
{
    tsr_status st = TSR_OK;
    float *y[2] = {NULL, NULL};
    tsri_store *store[2] = {before, after};
    *j = (tsri_judged){.n = part->n};
    if (part->n == 0)
        return TSR_OK;
    for (int i = 0; i < 2; i++) {
        tsr_result r = tsr_result_default();
        TSR_TRY(tsri_evaluate(&r, store[i], on->device, on->data, part, on->loss));
        j->loss[i] = r.loss;
        j->accuracy[i] = r.accuracy;
        TSR_TRY(tsri_outputs(&y[i], store[i], on->device, on->data, part));
    }
    compare(j, y[0], y[1], before->net->outputs);
done:
    tsri_free(y[0]);
    tsri_free(y[1]);
    return st;
}

/* ---- Output ------------------------------------------------------------------------------- */

void tsri_conversion_json(tsri_json *w, const tsri_conversion *how)
{
    tsri_json_put_int(w, "points", how->n);
    tsri_json_put_int(w, "width", how->width);
    tsri_json_put_int(w, "layers", how->layers);
    tsri_json_put_int(w, "rank", how->least_rank);
    tsri_json_put_real(w, "residual", how->worst);
    tsri_json_put_int(w, "residual_layer", how->worst_layer);
    tsri_json_put_real(w, "norm_before", how->norm_before);
    tsri_json_put_real(w, "norm_after", how->norm_after);
}

void tsri_judged_json(tsri_json *w, const char *key, const tsri_judged *j)
{
    tsri_json_key(w, key);
    tsri_json_open(w, '{');
    tsri_json_put_int(w, "n", j->n);
    tsri_json_put_real(w, "loss_before", j->loss[0]);
    tsri_json_put_real(w, "loss_after", j->loss[1]);
    tsri_json_put_real(w, "accuracy_before", j->accuracy[0]);
    tsri_json_put_real(w, "accuracy_after", j->accuracy[1]);
    tsri_json_put_real(w, "difference_mean", j->difference);
    tsri_json_put_real(w, "difference_most", j->most_difference);
    tsri_json_close(w, '}');
}
