/* update.c - one step of SGD, a single pass over weights, gradients and momentum. */
#include "backend/cpu/kernels.h"

#include "base/simd.h"

enum { PIECE = 16384 };

TSRI_CLONES
static void step(float *w, float *v, const float *dw, int64_t n, float rate, float momentum,
                 float decay, bool nesterov)
{
    if (nesterov)
        for (int64_t i = 0; i < n; i++) {
            float g = dw[i] + decay * w[i];
            v[i] = momentum * v[i] + g;
            w[i] -= rate * (g + momentum * v[i]);
        }
    else
        for (int64_t i = 0; i < n; i++) {
            float g = dw[i] + decay * w[i];
            v[i] = momentum * v[i] + g;
            w[i] -= rate * v[i];
        }
}

static void step_piece(void *context, int64_t i, int thread)
{
    (void)thread;
    const tsri_update *u = context;
    const tsri_dials *dials = (const void *)u->dials;
    int64_t from = i * PIECE, left = u->count - from;
    step((float *)u->w + from, (float *)u->v + from, (const float *)u->dw + from,
         left < PIECE ? left : PIECE, (float)dials->rate, (float)u->momentum, (float)u->decay,
         u->nesterov);
}

tsr_status tsri_cpu_update(const tsri_update *update, tsri_device device)
{
    tsri_update u = *update;
    tsri_pool_run(device.pool, step_piece, &u, (u.count + PIECE - 1) / PIECE);
    return TSR_OK;
}
