/* deep_relu_block.c - states of a deep ReLU classifier, some samples at a time.
 *
 * States are those of single precision, as in training: products on the pool (linalg/gemm.h). A
 * block takes at most about 32 MB, or what 16 samples need.
 */
#include "theory/deep_relu.h"

#include "base/alloc.h"
#include "base/pieces.h"
#include "linalg/gemm.h"

#include <string.h>

/* ---- The network -------------------------------------------------------------------------- */

tsr_status tsri_deep_net_init(tsri_deep_net *net, const tsri_run_view *view, const float *w)
{
    tsr_status st = TSR_OK;
    const tsri_net *from = view->net;
    *net = (tsri_deep_net){.L = from->params - 1, .d = view->data->dim};
    TSR_TRY(tsri_alloc(&net->layer, net->L, sizeof *net->layer));
    net->narrowest = net->widest = from->param[0].shape[0];
    for (int64_t l = 0; l < net->L; l++) {
        const tsri_param *p = &from->param[l];
        net->layer[l] = (tsri_deep_layer){w + p->offset, p->shape[0], p->shape[1]};
        net->narrowest = tsri_min(net->narrowest, p->shape[0]);
        net->widest = tsri_max(net->widest, p->shape[0]);
        net->weights += (double)p->count;
    }
    net->v = w + from->param[net->L].offset;
done:
    return st;
}

void tsri_deep_net_fini(tsri_deep_net *net)
{
    TSRI_FREE(net->layer);
}

/* ---- Blocks ------------------------------------------------------------------------------- */

static int64_t width(const tsri_deep_net *net, int64_t l)
{
    return l == 0 ? net->d : net->layer[l - 1].m;
}

int64_t tsri_deep_rows(const tsri_deep_net *net, int64_t n)
{
    const int64_t bytes = 32 << 20;
    int64_t row = net->d;
    for (int64_t l = 1; l <= net->L; l++)
        row += 2 * width(net, l);
    return tsri_min(n, tsri_max(16, bytes / (row * (int64_t)sizeof(float))));
}

tsr_status tsri_deep_block_init(tsri_deep_block *b, const tsri_deep_net *net, int64_t room)
{
    tsr_status st = TSR_OK;
    *b = (tsri_deep_block){.room = room, .L = net->L};
    TSR_TRY(tsri_alloc(&b->x, net->L + 1, sizeof *b->x));
    TSR_TRY(tsri_alloc(&b->z, net->L + 1, sizeof *b->z));
    TSR_TRY(tsri_alloc(&b->y, room, sizeof *b->y));
    TSR_TRY(tsri_alloc(&b->sign, room, sizeof *b->sign));
    for (int64_t l = 0; l <= net->L; l++) {
        TSR_TRY(tsri_alloc(&b->x[l], room * width(net, l), sizeof **b->x));
        if (l > 0)
            TSR_TRY(tsri_alloc(&b->z[l], room * width(net, l), sizeof **b->z));
    }
done:
    return st;
}

void tsri_deep_block_fini(tsri_deep_block *b)
{
    for (int64_t l = 0; b->x && b->z && l <= b->L; l++) {
        tsri_free(b->x[l]);
        tsri_free(b->z[l]);
    }
    tsri_free(b->x);
    tsri_free(b->z);
    tsri_free(b->y);
    tsri_free(b->sign);
}

/* x_l = (W_l^T x_(l-1))_+ for every layer, y = v^T x_L. */
static tsr_status states(tsri_deep_block *b, const tsri_deep_net *net, const tsri_run_view *view)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_hear_stop(view));
    for (int64_t l = 1; l <= net->L; l++) {
        const tsri_deep_layer *at = &net->layer[l - 1];
        tsri_gemm g = {.b_transposed = true,
                       .m = b->n,
                       .n = at->m,
                       .k = at->inputs,
                       .a = b->x[l - 1],
                       .b = at->w,
                       .c = b->z[l]};
        TSR_TRY(tsri_gemm_run(&g, view->device.pool));
        for (int64_t i = 0; i < b->n * at->m; i++)
            b->x[l][i] = b->z[l][i] > 0 ? b->z[l][i] : 0;
    }
    int64_t m = width(net, net->L);
    for (int64_t i = 0; i < b->n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < m; j++)
            sum += (double)net->v[j] * (double)b->x[net->L][i * m + j];
        b->y[i] = sum;
    }
done:
    return st;
}

static double sign_of(const int32_t *label, const float *target, int64_t i)
{
    return label ? (label[i] == 1 ? 1 : -1) : (double)target[i];
}

tsr_status tsri_deep_load(tsri_deep_block *b, const tsri_run_view *view, const tsri_deep_net *net,
                          int64_t first, int64_t step, int64_t count)
{
    const tsri_part *part = &view->data->train;
    b->n = tsri_min(b->room, count);
    for (int64_t i = 0; i < b->n; i++) {
        int64_t at = first + i * step;
        tsri_sample(b->x[0] + i * net->d, view->data, part, at);
        b->sign[i] = sign_of(part->label, part->target, at);
    }
    return states(b, net, view);
}

tsr_status tsri_deep_load_batch(tsri_deep_block *b, const tsri_run_view *view,
                                const tsri_deep_net *net, const tsri_batch *batch, int64_t first)
{
    b->n = tsri_min(b->room, batch->n - first);
    memcpy(b->x[0], batch->x + first * net->d, (size_t)(b->n * net->d) * sizeof **b->x);
    for (int64_t i = 0; i < b->n; i++)
        b->sign[i] = sign_of(batch->label, batch->target, first + i);
    return states(b, net, view);
}

/* ---- Backwards ---------------------------------------------------------------------------- */

void tsri_deep_back_begin(float *d, const tsri_deep_block *b, const tsri_deep_net *net)
{
    int64_t m = width(net, net->L);
    for (int64_t i = 0; i < b->n * m; i++)
        d[i] = b->z[net->L][i] > 0 ? net->v[i % m] : 0;
}

tsr_status tsri_deep_back(float *s, const float *d, const tsri_deep_block *b,
                          const tsri_deep_net *net, int64_t l, tsri_pool *pool)
{
    const tsri_deep_layer *at = &net->layer[l - 1];
    tsri_gemm g = {.m = b->n, .n = at->inputs, .k = at->m, .a = d, .b = at->w, .c = s};
    return tsri_gemm_run(&g, pool);
}

void tsri_deep_gate(float *s, const tsri_deep_block *b, const tsri_deep_net *net, int64_t l)
{
    for (int64_t i = 0; i < b->n * width(net, l); i++)
        s[i] = b->z[l][i] > 0 ? s[i] : 0;
}
