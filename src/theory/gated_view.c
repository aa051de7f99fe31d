/* gated_view.c - features and gradients of a gated net, layer by layer. See gated.h. */
#include "theory/gated.h"

#include "base/alloc.h"
#include "linalg/gemm64.h"
#include "net/gate_table.h"
#include "net/grelu.h"
#include "theory/ntk.h"

#include <stdio.h>
#include <string.h>

void tsri_gated_fini(tsri_gated *v)
{
    tsri_free(v->x);
    tsri_free(v->h);
    tsri_free(v->f);
    tsri_free(v->on);
    *v = (tsri_gated){0};
}

static tsr_status make_room(tsri_gated *v)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc(&v->h, (v->L + 1) * v->n * v->m, sizeof *v->h));
    TSR_TRY(tsri_alloc(&v->f, (v->L + 1) * v->pairs * v->dy * v->m, sizeof *v->f));
    TSR_TRY(tsri_alloc(&v->on, (v->L + 1) * v->n * v->words, sizeof *v->on));
done:
    return st;
}

/* Parameter `name` in double; the caller frees *w. */
static tsr_status widen(double **w, const tsri_store *store, const char *name)
{
    tsr_status st = TSR_OK;
    int64_t p = tsri_net_param(store->net, name), count = store->net->param[p].count;
    const float *from = tsri_store_at(store, store->w, p);
    TSR_TRY(tsri_alloc(w, count, sizeof **w));
    for (int64_t i = 0; i < count; i++)
        (*w)[i] = (double)from[i];
done:
    return st;
}

static tsr_status widen_layer(double **w, const tsri_store *store, int64_t k)
{
    char name[TSRI_NAME];
    (void)snprintf(name, sizeof name, "w.%lld.weight", (long long)k);
    return widen(w, store, name);
}

/* Which of h are positive: the ReLU's pattern, and D_0 of both kinds. */
static void note_signs(tsri_gated *v, int64_t k)
{
    const double *h = v->h + k * v->n * v->m;
    uint64_t *on = v->on + k * v->n * v->words;
    for (int64_t i = 0; i < v->n; i++)
        for (int64_t j = 0; j < v->m; j++)
            if (h[i * v->m + j] > 0)
                on[i * v->words + j / 64] |= UINT64_C(1) << j % 64;
}

/* rows [n * each, m]: 0 where D_k of the row's sample is off. */
static void apply_gates(double *rows, const tsri_gated *v, int64_t k, int64_t n, int64_t each)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < v->m; j++)
            if (!tsri_gated_is_on(v, k, i, j))
                for (int64_t e = 0; e < each; e++)
                    rows[(i * each + e) * v->m + j] = 0;
}

static tsr_status forward(tsri_gated *v, const tsri_store *store, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    double *w = NULL, *x = NULL;
    TSR_TRY(tsri_alloc(&x, v->n * v->d, sizeof *x));
    for (int64_t i = 0; i < v->n * v->d; i++)
        x[i] = (double)v->x[i];
    for (int64_t k = 0; k <= v->L; k++) {
        double *h = v->h + k * v->n * v->m;
        tsri_free(w);
        w = NULL;
        TSR_TRY(k == 0 ? widen(&w, store, "c.weight") : widen_layer(&w, store, k));
        tsri_gemm64 g = {.b_transposed = true,
                         .m = v->n,
                         .n = v->m,
                         .k = k == 0 ? v->d : v->m,
                         .a = k == 0 ? x : h - v->n * v->m,
                         .b = w,
                         .c = h};
        TSR_TRY(tsri_gemm64_run(&g, pool));
        if (k == 0 || !v->gated)
            note_signs(v, k);
        apply_gates(h, v, k, v->n, 1);
    }
done:
    tsri_free(w);
    tsri_free(x);
    return st;
}

/* F_(L+1) = B D_L, F_(k+1) = F_(k+2) W_(k+1) D_k. */
static tsr_status backward(tsri_gated *v, const tsri_store *store, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    double *w = NULL, *top = v->f + v->L * v->pairs * v->dy * v->m;
    TSR_TRY(widen(&w, store, "b.weight"));
    for (int64_t i = 0; i < v->pairs; i++)
        memcpy(top + i * v->dy * v->m, w, (size_t)(v->dy * v->m) * sizeof *w);
    apply_gates(top, v, v->L, v->pairs, v->dy);
    for (int64_t k = v->L - 1; k >= 1; k--) {
        double *f = v->f + k * v->pairs * v->dy * v->m;
        tsri_free(w);
        w = NULL;
        TSR_TRY(widen_layer(&w, store, k + 1));
        tsri_gemm64 g = {.m = v->pairs * v->dy,
                         .n = v->m,
                         .k = v->m,
                         .a = f + v->pairs * v->dy * v->m,
                         .b = w,
                         .c = f};
        TSR_TRY(tsri_gemm64_run(&g, pool));
        apply_gates(f, v, k, v->pairs, v->dy);
    }
done:
    tsri_free(w);
    return st;
}

/* The gates as training has them, from the net of the gates. */
static tsr_status take_gates(tsri_gated *v, const tsri_run *run, tsri_store *store)
{
    tsr_status st = TSR_OK;
    tsri_gate_table *table = NULL;
    tsri_part part = run->data->train;
    part.n = v->n;
    TSR_TRY(tsri_gate_table_create(&table, store, run->backend, run->pool, run->data, &part));
    for (int64_t k = 1; k <= v->L; k++)
        memcpy(v->on + k * v->n * v->words, table->word[k - 1],
               (size_t)(v->n * v->words) * sizeof *v->on);
done:
    tsri_gate_table_destroy(table);
    return st;
}

tsr_status tsri_gated_init(tsri_gated *v, const tsri_run *run, tsri_store *store)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = store->net;
    const tsri_param *c = &net->param[tsri_net_param(net, "c.weight")];
    *v = (tsri_gated){.gated = tsri_net_gated(net),
                      .n = run->data->train.n,
                      .d = c->shape[1],
                      .m = c->shape[0],
                      .L = tsri_grelu_layers(net),
                      .dy = net->outputs};
    v->n = v->n < TSRI_GATED_SAMPLES ? v->n : TSRI_GATED_SAMPLES;
    v->pairs = v->n < TSRI_GATED_PAIRS ? v->n : TSRI_GATED_PAIRS;
    v->words = (v->m + 63) / 64;
    TSR_TRY(tsri_take_samples(&v->x, run->data, &run->data->train, v->n));
    TSR_TRY(make_room(v));
    if (v->gated)
        TSR_TRY(take_gates(v, run, store));
    TSR_TRY(forward(v, store, run->pool));
    TSR_TRY(backward(v, store, run->pool));
done:
    return st;
}
