/* activations.c - what each layer of a model reads.
 *
 * A frozen plan (norms with their running statistics) goes forward once; backward then passes every
 * op with its input still there. A norm that its convolution computes itself has left its input
 * unnormalised: the convolution's scale and shift are applied here as well. */
#include "model/activations.h"

#include "base/alloc.h"
#include "data/loader.h"
#include "net/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLES = 64 };

void tsri_histogram_of(tsri_histogram *h, const float *value, int64_t n)
{
    *h = (tsri_histogram){.low = (double)INFINITY, .high = (double)-INFINITY};
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(value[i]))
            continue;
        h->low = fmin(h->low, (double)value[i]);
        h->high = fmax(h->high, (double)value[i]);
        h->zeros += value[i] == 0;
        h->n++;
    }
    double width = (h->high - h->low) / TSRI_HISTOGRAM;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(value[i]))
            continue;
        int64_t bin = width > 0 ? (int64_t)(((double)value[i] - h->low) / width) : 0;
        h->count[bin < TSRI_HISTOGRAM ? bin : TSRI_HISTOGRAM - 1]++;
    }
}

void tsri_histogram_json(tsri_json *w, const tsri_histogram *h)
{
    tsri_json_put_real(w, "low", h->low);
    tsri_json_put_real(w, "high", h->high);
    tsri_json_put_real(w, "zeros", h->n > 0 ? (double)h->zeros / (double)h->n : (double)NAN);
    tsri_json_key(w, "counts");
    tsri_json_open(w, '[');
    for (int i = 0; i < TSRI_HISTOGRAM; i++)
        tsri_json_int(w, h->count[i]);
    tsri_json_close(w, ']');
}

typedef struct look {
    tsri_activations *found;
    bool channels_last;
} look;

/* What a convolution makes of its input before it multiplies. */
static void read_through(float *x, const tsri_op *op, int64_t n, bool channels_last)
{
    const float *scale = op->pre, *shift = scale + op->in.c;
    int64_t plane = op->in.h * op->in.w;
    for (int64_t i = 0; i < n; i++) {
        int64_t c = channels_last ? i % op->in.c : i / plane % op->in.c;
        x[i] = fmaxf(scale[c] * x[i] + shift[c], 0);
    }
}

static tsr_status visit(void *context, const tsri_op *op, const tsri_layer *layer)
{
    tsr_status st = TSR_OK;
    look *l = context;
    tsri_activations *a = l->found;
    float *copy = NULL;
    int64_t n = op->n * tsri_shape_count(op->in);
    if (layer->weight < 0 || layer->mean >= 0 || !op->x)
        return TSR_OK;
    TSR_TRY(tsri_reserve(&a->layer, &a->capacity, a->layers, sizeof *a->layer));
    tsri_activation *one = &a->layer[a->layers];
    (void)snprintf(one->layer, sizeof one->layer, "%s", layer->name);
    TSR_TRY(tsri_alloc_raw(&copy, n, sizeof *copy));
    memcpy(copy, op->x, (size_t)n * sizeof *copy);
    if (op->pre)
        read_through(copy, op, n, l->channels_last);
    tsri_histogram_of(&one->reads, copy, n);
    a->layers++;
done:
    tsri_free(copy);
    return st;
}

/* Backward met the last layer first. */
static void turn(tsri_activations *a)
{
    for (int64_t i = 0, k = a->layers - 1; i < k; i++, k--) {
        tsri_activation swap = a->layer[i];
        a->layer[i] = a->layer[k];
        a->layer[k] = swap;
    }
}

tsr_status tsri_activations_look(tsri_activations *a, tsri_model_use *use)
{
    tsr_status st = TSR_OK;
    tsri_plan *plan = NULL;
    float *x = NULL, *dy = NULL;
    int64_t n = use->part->n < SAMPLES ? use->part->n : SAMPLES, dim = use->data->dim;
    look l = {a, use->device.backend->can.channels_last};
    *a = (tsri_activations){.samples = n};
    if (use->data->sequences || n < 1)
        return TSR_OK;
    TSR_TRY(tsri_plan_create_frozen(&plan, &use->store, use->device, n, false));
    TSR_TRY(tsri_alloc(&x, n * dim, sizeof *x));
    TSR_TRY(tsri_alloc(&dy, n * use->net->outputs, sizeof *dy));
    for (int64_t i = 0; i < n; i++)
        tsri_sample(x + i * dim, use->data, use->part, i);
    TSR_TRY(tsri_plan_forward(plan, x));
    TSR_TRY(tsri_plan_write_gradient(plan, dy));
    TSR_TRY(tsri_plan_backward_each(plan, visit, &l));
    turn(a);
done:
    tsri_plan_destroy(plan);
    tsri_free(x);
    tsri_free(dy);
    if (st != TSR_OK)
        tsri_activations_fini(a);
    return st;
}

void tsri_activations_fini(tsri_activations *a)
{
    tsri_free(a->layer);
    *a = (tsri_activations){0};
}
