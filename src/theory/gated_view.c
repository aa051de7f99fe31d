/* gated_view.c - features and gradients of a gated net, layer by layer. See gated.h. */
#include "theory/gated.h"

#include "base/alloc.h"
#include "linalg/gemm64.h"
#include "net/grelu.h"
#include "run/when.h"

#include <stdio.h>
#include <string.h>

void tsri_gated_fini(tsri_gated *v)
{
    tsri_free(v->x);
    tsri_free(v->h);
    tsri_free(v->y);
    tsri_free(v->f);
    tsri_free(v->on);
    *v = (tsri_gated){0};
}

double tsri_gated_dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

tsr_status tsri_gated_weight(double **w, const tsri_opened *store, int64_t k, const float *step,
                             double eta)
{
    tsr_status st = TSR_OK;
    char name[TSRI_NAME] = "c.weight";
    if (k > tsri_grelu_layers(store->net))
        (void)snprintf(name, sizeof name, "b.weight");
    else if (k > 0)
        (void)snprintf(name, sizeof name, "w.%lld.weight", (long long)k);
    const tsri_param *p = &store->net->param[tsri_net_param(store->net, name)];
    const float *from = (const float *)store->w + p->offset;
    TSR_TRY(tsri_alloc_raw(w, p->count, sizeof **w));
    for (int64_t i = 0; i < p->count; i++)
        (*w)[i] = (double)from[i];
    if (step && p->role == TSRI_TRAINED)
        for (int64_t i = 0; i < p->count; i++)
            (*w)[i] -= eta * (double)step[p->offset + i];
done:
    return st;
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
static void apply_gates(double *rows, const tsri_gated *v, int64_t k, int64_t each)
{
    for (int64_t i = 0; i < v->n; i++)
        for (int64_t j = 0; j < v->m; j++)
            if (!tsri_gated_is_on(v, k, i, j))
                for (int64_t e = 0; e < each; e++)
                    rows[(i * each + e) * v->m + j] = 0;
}

/* out [n, rows] = in [n, cols] w^T */
static tsr_status through(double *out, const double *in, const double *w, int64_t n, int64_t rows,
                          int64_t cols, tsri_pool *pool)
{
    tsri_gemm64 g = {.b_transposed = true, .m = n, .n = rows, .k = cols, .a = in, .b = w, .c = out};
    return tsri_gemm64_run(&g, pool);
}

static tsr_status forward(tsri_gated *v, const tsri_opened *store, const tsri_gated_part *part,
                          tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    double *w = NULL, *x = NULL;
    TSR_TRY(tsri_alloc_raw(&x, v->n * v->d, sizeof *x));
    for (int64_t i = 0; i < v->n * v->d; i++)
        x[i] = (double)v->x[i];
    for (int64_t k = 0; k <= v->L + 1; k++) {
        double *h = v->h + k * v->n * v->m;
        TSRI_FREE(w);
        TSR_TRY(tsri_gated_weight(&w, store, k, part->step, part->eta));
        TSR_TRY(through(k > v->L ? v->y : h, k == 0 ? x : h - v->n * v->m, w, v->n,
                        k > v->L ? v->dy : v->m, k == 0 ? v->d : v->m, pool));
        if (k > v->L)
            break;
        if (k == 0 || !v->gated)
            note_signs(v, k);
        apply_gates(h, v, k, 1);
    }
done:
    tsri_free(w);
    tsri_free(x);
    return st;
}

/* F_(L+1) = B D_L, F_(k+1) = F_(k+2) W_(k+1) D_k. */
static tsr_status backward(tsri_gated *v, const tsri_opened *store, const tsri_gated_part *part,
                           tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    int64_t layer = v->n * v->dy * v->m;
    double *w = NULL, *top = v->f + v->L * layer;
    TSR_TRY(tsri_gated_weight(&w, store, v->L + 1, NULL, 0));
    for (int64_t i = 0; i < v->n; i++)
        memcpy(top + i * v->dy * v->m, w, (size_t)(v->dy * v->m) * sizeof *w);
    apply_gates(top, v, v->L, v->dy);
    for (int64_t k = v->L - 1; k >= 0; k--) {
        double *f = v->f + k * layer;
        TSRI_FREE(w);
        TSR_TRY(tsri_gated_weight(&w, store, k + 1, part->step, part->eta));
        tsri_gemm64 g = {.m = v->n * v->dy, .n = v->m, .k = v->m, .a = f + layer, .b = w, .c = f};
        TSR_TRY(tsri_gemm64_run(&g, pool));
        apply_gates(f, v, k, v->dy);
    }
done:
    tsri_free(w);
    return st;
}

tsr_status tsri_gated_gates(tsri_gate_table **table, const tsri_run_view *view, tsri_store *store,
                            int64_t n)
{
    tsri_part part = view->data->train;
    *table = NULL;
    if (!tsri_net_gated(store->net))
        return TSR_OK;
    part.n = n;
    return tsri_gate_table_create(table, store, view->device, view->data, &part);
}

static tsr_status make_room(tsri_gated *v, bool behind)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc_raw(&v->x, v->n * v->d, sizeof *v->x));
    TSR_TRY(tsri_alloc_raw(&v->h, (v->L + 1) * v->n * v->m, sizeof *v->h));
    TSR_TRY(tsri_alloc_raw(&v->y, v->n * v->dy, sizeof *v->y));
    TSR_TRY(tsri_alloc(&v->on, (v->L + 1) * v->n * v->words, sizeof *v->on));
    if (behind)
        TSR_TRY(tsri_alloc_raw(&v->f, (v->L + 1) * v->n * v->dy * v->m, sizeof *v->f));
done:
    return st;
}

tsr_status tsri_gated_init(tsri_gated *v, const tsri_run_view *view, const tsri_opened *store,
                           const tsri_gated_part *part)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = store->net;
    const tsri_param *c = &net->param[tsri_net_param(net, "c.weight")];
    *v = (tsri_gated){.gated = tsri_net_gated(net),
                      .from = part->from,
                      .n = part->n,
                      .d = c->shape[1],
                      .m = c->shape[0],
                      .L = tsri_grelu_layers(net),
                      .dy = net->outputs};
    v->words = (v->m + 63) / 64;
    TSR_TRY(tsri_hear_stop(view));
    TSR_TRY(make_room(v, part->behind));
    for (int64_t i = 0; i < v->n; i++)
        tsri_sample(v->x + i * v->d, view->data, &view->data->train, v->from + i);
    for (int64_t k = 1; v->gated && k <= v->L; k++)
        memcpy(v->on + k * v->n * v->words, part->gates->word[k - 1] + v->from * v->words,
               (size_t)(v->n * v->words) * sizeof *v->on);
    TSR_TRY(forward(v, store, part, view->device.pool));
    if (part->behind)
        TSR_TRY(backward(v, store, part, view->device.pool));
done:
    return st;
}

void tsri_gated_targets(double *y, const tsri_run_view *view, int64_t from, int64_t n)
{
    const tsri_part *part = &view->data->train;
    int64_t dy = view->net->outputs;
    for (int64_t i = 0; i < n; i++)
        for (int64_t p = 0; p < dy; p++)
            y[i * dy + p] = part->target ? (double)part->target[(from + i) * dy + p]
                                         : (double)(part->label[from + i] == p);
}
