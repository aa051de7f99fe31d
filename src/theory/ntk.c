/* ntk.c - from a run file or a model to a kernel and its spectrum. */
#include "theory/ntk.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/estimate.h"
#include "base/memory.h"
#include "linalg/gemm64.h"
#include "linalg/openblas.h"
#include "model/model.h"
#include "theory/ntk_shallow.h"
#include "train/describe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { USUAL = 1000, ALL_VALUES = 5000, STEPS = 500 };

/* What a kernel is made of, whether it came from a run file or a model. */
typedef struct subject {
    const tsr_config *config;
    const tsr_data *data;
    const tsri_part *part;
    tsri_net *net;
    tsri_store *store;
    tsri_device device;
} subject;

tsri_ntk_options tsri_ntk_options_default(void)
{
    return (tsri_ntk_options){.output = -1};
}

void tsri_ntk_fini(tsri_ntk *ntk)
{
    tsri_free(ntk->k);
    tsri_free(ntk->value);
    *ntk = (tsri_ntk){0};
}

tsr_status tsri_take_samples(float **x, const tsr_data *data, const tsri_part *part, int64_t n)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc_raw(x, n * data->dim, sizeof **x));
    for (int64_t i = 0; i < n; i++)
        tsri_sample(*x + i * data->dim, data, part, i);
done:
    return st;
}

double tsri_shallow_xi(const tsri_net *net)
{
    const tsri_layer *last = &net->layer[net->layers - 1];
    return last->share_scale > 0 ? last->scale / last->share_scale : 1;
}

/* Is it a network with one hidden layer, linear (shallow) or a convolution (cnn1)? */
static bool one_hidden(const subject *s, tsri_kind kind)
{
    return tsri_model_of(s->config)->one_hidden && s->net->layer[0].kind == kind;
}

/* ---- The kinds ---------------------------------------------------------------------------- */

static tsr_status finite_width(double *k, const subject *s, const float *x, int64_t n,
                               double *product)
{
    tsr_status st = TSR_OK;
    tsri_signs bits = {0};
    const tsri_param *w = &s->net->param[s->net->layer[0].weight];
    tsri_opened host;
    TSR_TRY(tsri_store_open(&host, s->store, TSRI_OPEN_WEIGHTS));
    const float *weight = tsri_opened_at(&host, host.w, s->net->layer[0].weight);
    TSR_TRY(tsri_gram64(k, x, n, s->data->dim, s->device.pool));
    TSR_TRY(tsri_patterns(&bits, x, n, s->data->dim, weight, w->shape[0], s->device.pool));
    double scale = tsri_shallow_xi(s->net) / (double)w->shape[0];
    double start = tsri_clock();
    TSR_TRY(tsri_kernel_bits(k, k, &bits, scale, s->device.pool)); /* in place: entry by entry */
    *product = tsri_clock() - start;
done:
    tsri_store_close(&host);
    tsri_signs_fini(&bits);
    return st;
}

void tsri_patch_of(float *patch, const float *x, tsri_shape s, int64_t j, int64_t side)
{
    int64_t half = side / 2, row = j / s.w, column = j % s.w;
    for (int64_t c = 0; c < s.c; c++)
        for (int64_t y = row - half; y <= row + half; y++)
            for (int64_t z = column - half; z <= column + half; z++)
                *patch++ = y >= 0 && y < s.h && z >= 0 && z < s.w ? x[(c * s.h + y) * s.w + z] : 0;
}

tsr_status tsri_kernel_cnn1_infinite(double *k, const float *x, int64_t n, const tsri_net *net,
                                     tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    tsri_shape s = net->input;
    int64_t side = net->layer[0].size, d = s.c * side * side, p = s.h * s.w;
    int64_t each = tsri_shape_count(s);
    float *patch = NULL;
    double *gram = NULL, *one = NULL;
    TSR_TRY(tsri_alloc_raw(&patch, n * d, sizeof *patch));
    TSR_TRY(tsri_alloc_raw(&gram, n * n, sizeof *gram));
    TSR_TRY(tsri_alloc_raw(&one, n * n, sizeof *one));
    memset(k, 0, (size_t)n * (size_t)n * sizeof *k);
    for (int64_t j = 0; j < p; j++) {
        for (int64_t i = 0; i < n; i++)
            tsri_patch_of(patch + i * d, x + i * each, s, j, side);
        TSR_TRY(tsri_gram64(gram, patch, n, d, pool));
        tsri_kernel_infinite(one, gram, n, 1.0 / ((double)p * (double)p), pool);
        for (int64_t e = 0; e < n * n; e++)
            k[e] += one[e];
    }
done:
    tsri_free(patch);
    tsri_free(gram);
    tsri_free(one);
    return st;
}

static tsr_status infinite_width(double *k, const subject *s, const float *x, int64_t n)
{
    tsr_status st = TSR_OK;
    double *gram = NULL;
    if (one_hidden(s, TSRI_CONV))
        return tsri_kernel_cnn1_infinite(k, x, n, s->net, s->device.pool);
    TSR_TRY(tsri_alloc_raw(&gram, n * n, sizeof *gram));
    TSR_TRY(tsri_gram64(gram, x, n, s->data->dim, s->device.pool));
    tsri_kernel_infinite(k, gram, n, tsri_shallow_xi(s->net), s->device.pool);
done:
    tsri_free(gram);
    return st;
}

/* ---- Choosing and estimating -------------------------------------------------------------- */

static tsr_status choose_kind(tsri_ntk *ntk, const subject *s, const tsri_ntk_options *o)
{
    tsr_status st = TSR_OK;
    bool shallow = one_hidden(s, TSRI_LINEAR);
    ntk->kind = o->kind;
    if (o->kind == TSRI_NTK_AUTO)
        ntk->kind = shallow ? TSRI_NTK_FINITE : TSRI_NTK_EXACT;
    TSR_CHECK(ntk->kind != TSRI_NTK_FINITE || shallow, TSR_USAGE,
              "the kernel H(k) is that of model shallow: ask for the exact one of %s",
              tsri_config_text(s->config, "model.name"));
    TSR_CHECK(ntk->kind != TSRI_NTK_INFINITE || shallow || one_hidden(s, TSRI_CONV), TSR_USAGE,
              "infinite width is known for models shallow and cnn1, not for %s",
              tsri_config_text(s->config, "model.name"));
    TSR_CHECK(o->n <= s->part->n, TSR_USAGE, "%s has %lld samples there, not %lld", s->data->name,
              (long long)s->part->n, (long long)o->n);
    ntk->n = o->n > 0 ? o->n : s->part->n < USUAL ? s->part->n : USUAL;
done:
    return st;
}

static tsr_status estimate(tsri_ntk *ntk, const subject *s, const tsri_ntk_options *o,
                           const tsri_tangent *tangent)
{
    tsr_status st = TSR_OK;
    double n = (double)ntk->n, square = 8 * n * n, d = (double)s->data->dim;
    bool all = o->spectrum && !o->lanczos && ntk->n <= ALL_VALUES;
    bool ends = (o->spectrum || o->lanczos) && !all;
    ntk->bytes = square + 4 * n * d;
    if (ntk->kind == TSRI_NTK_EXACT) {
        tsri_tangent_cost cost;
        TSR_TRY(tsri_tangent_estimate(&cost, s->store, s->device, ntk->n, tangent));
        ntk->bytes += (double)cost.bytes;
        ntk->flops = cost.flops;
    } else if (ntk->kind == TSRI_NTK_FINITE) {
        double m = (double)s->net->param[s->net->layer[0].weight].shape[0];
        ntk->bytes += n * m / 8 + 4 * 256 * m + 8 * n * d;
        ntk->flops = n * n * d + 2 * n * m * d + n * n / 2 * m / 64;
    } else {
        ntk->bytes += square * (one_hidden(s, TSRI_CONV) ? 2 : 1) + 8 * n * d;
        ntk->flops = n * n * d;
    }
    ntk->bytes += all ? square : ends ? 8 * n * STEPS : 0;
    ntk->flops += all ? 4.0 / 3 * n * n * n : ends ? 2 * n * n * STEPS : 0;
    double have = (double)tsri_memory_available();
    TSR_CHECK(
        ntk->bytes <= have, TSR_RESOURCES,
        "the kernel of %lld samples takes %s, %s are free on this machine: take fewer samples",
        (long long)ntk->n, tsri_bytes_text(ntk->bytes), tsri_bytes_text(have));
done:
    return st;
}

static void say_estimate(const tsri_ntk *ntk, const tsri_ntk_options *o)
{
    static const char *const kind[] = {"auto", "exact", "finite-width", "infinite-width"};
    char text[200];
    (void)snprintf(text, sizeof text, "%s kernel of %lld samples: about %s of memory, %.3g GFLOP",
                   kind[ntk->kind], (long long)ntk->n, tsri_bytes_text(ntk->bytes),
                   ntk->flops / 1e9);
    if (o->say)
        o->say(o->context, text);
}

/* ---- The whole ---------------------------------------------------------------------------- */

static tsr_status find_spectrum(tsri_ntk *ntk, const subject *s, const tsri_ntk_options *o)
{
    tsr_status st = TSR_OK;
    double *work = NULL;
    int64_t n = ntk->n;
    bool all = o->spectrum && !o->lanczos && n <= ALL_VALUES;
    ntk->ends = o->spectrum || o->lanczos;
    if (!ntk->ends)
        return TSR_OK;
    if (!all)
        return tsri_lanczos(&ntk->smallest, &ntk->largest, ntk->k, n, STEPS, 1e-12, s->device.pool);
    TSR_TRY(tsri_alloc_raw(&ntk->value, n, sizeof *ntk->value));
    TSR_TRY(tsri_alloc_raw(&work, n * n, sizeof *work));
    TSR_TRY(tsri_spectrum(ntk->value, work, ntk->k, n));
    double rounding = (double)n * 2.3e-16 * fabs(ntk->value[n - 1]);
    ntk->smallest = (tsri_eigen){ntk->value[0], rounding};
    ntk->largest = (tsri_eigen){ntk->value[n - 1], rounding};
done:
    tsri_free(work);
    return st;
}

/* The kernel, that many times over: the same each time. */
static tsr_status repeat(tsri_ntk *ntk, const subject *s, const float *x,
                         const tsri_tangent *tangent, int64_t times)
{
    tsr_status st = TSR_OK;
    double *kernel = NULL, *product = NULL;
    TSR_TRY(tsri_alloc(&kernel, times, sizeof *kernel));
    TSR_TRY(tsri_alloc(&product, times, sizeof *product));
    for (int64_t t = 0; t < times; t++) {
        double start = tsri_clock();
        if (ntk->kind == TSRI_NTK_EXACT)
            TSR_TRY(tsri_tangent_kernel(ntk->k, s->store, s->device, x, ntk->n, tangent));
        else if (ntk->kind == TSRI_NTK_FINITE)
            TSR_TRY(finite_width(ntk->k, s, x, ntk->n, &product[t]));
        else
            TSR_TRY(infinite_width(ntk->k, s, x, ntk->n));
        kernel[t] = tsri_clock() - start;
    }
    ntk->kernel_median = tsri_median_of(kernel, times);
    ntk->kernel_min = kernel[0];
    ntk->product_median = tsri_median_of(product, times);
    ntk->product_min = product[0];
done:
    tsri_free(kernel);
    tsri_free(product);
    return st;
}

static tsr_status compute(tsri_ntk *ntk, const subject *s, const tsri_ntk_options *o)
{
    tsr_status st = TSR_OK;
    float *x = NULL;
    tsri_tangent tangent = {
        .output = o->output, .memory = o->memory, .length = s->part->length, .stops = o->stops};
    double start = tsri_clock();
    TSR_TRY(choose_kind(ntk, s, o));
    ntk->outputs = s->net->outputs;
    TSR_TRY(tsri_openblas_start(tsri_pool_threads(s->device.pool)));
    TSR_TRY(estimate(ntk, s, o, &tangent));
    say_estimate(ntk, o);
    TSR_TRY(tsri_take_samples(&x, s->data, s->part, ntk->n));
    TSR_TRY(tsri_alloc_raw(&ntk->k, ntk->n * ntk->n, sizeof *ntk->k));
    TSR_TRY(repeat(ntk, s, x, &tangent, o->repeats > 0 ? o->repeats : 1));
    for (int64_t i = 0; i < ntk->n; i++)
        ntk->trace += ntk->k[i * ntk->n + i];
    TSR_TRY(find_spectrum(ntk, s, o));
    ntk->seconds = tsri_clock() - start;
done:
    tsri_free(x);
    return st;
}

tsr_status tsri_ntk_of_run(tsri_ntk *ntk, tsr_config *config, const tsri_ntk_options *options)
{
    tsr_status st = TSR_OK;
    tsri_run run = {.process.lock = -1};
    tsr_run_options none = tsr_run_options_default();
    *ntk = (tsri_ntk){0};
    none.data = options->data;
    TSR_TRY(tsri_run_init(&run, config, &none));
    subject s = {.config = config,
                 .data = run.data,
                 .part = options->test_set ? &run.data->test : &run.data->train,
                 .net = run.net,
                 .store = &run.store,
                 .device = run.device};
    TSR_TRY(compute(ntk, &s, options));
done:
    tsri_run_fini(&run);
    return st;
}

tsr_status tsri_ntk_of_model(tsri_ntk *ntk, tsr_model *model, const tsri_ntk_options *options)
{
    tsr_status st = TSR_OK;
    tsri_model_use use = {0};
    *ntk = (tsri_ntk){0};
    tsri_model_asked asked = {.on_training_set = !options->test_set, .data = options->data};
    TSR_TRY(tsri_model_use_init(&use, model, &asked));
    subject s = {.config = tsr_model_config(model),
                 .data = use.data,
                 .part = use.part,
                 .net = use.net,
                 .store = &use.store,
                 .device = use.device};
    TSR_TRY(compute(ntk, &s, options));
done:
    tsri_model_use_fini(&use);
    return st;
}
