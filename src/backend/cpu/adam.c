/* adam.c - one step of Adam, a single pass over weights, gradients and both moments. */
#include "backend/cpu/kernels.h"

#include "base/simd.h"

#include <math.h>

enum { PIECE = 16384 };

/* The factors as floats. */
typedef struct factors {
    float shrink, decay, new1, keep2, new2, rate, root, epsilon;
} factors;

typedef struct job {
    const tsri_adam *adam;
    factors f;
} job;

TSRI_CLONES
static void step(float *w, float *v, float *s, const float *dw, int64_t n, const factors *at)
{
    const factors f = *at;
    for (int64_t i = 0; i < n; i++) {
        float g = dw[i] + f.decay * w[i];
        v[i] += f.new1 * (g - v[i]);
        s[i] = f.keep2 * s[i] + f.new2 * (g * g);
        w[i] = f.shrink * w[i] - f.rate * (v[i] / (sqrtf(s[i]) / f.root + f.epsilon));
    }
}

static void step_piece(void *context, int64_t i, int thread)
{
    (void)thread;
    const job *j = context;
    const tsri_adam *a = j->adam;
    int64_t from = i * PIECE, left = a->count - from;
    step((float *)a->w + from, (float *)a->v + from, (float *)a->s + from,
         (const float *)a->dw + from, left < PIECE ? left : PIECE, &j->f);
}

tsr_status tsri_cpu_adam(const tsri_adam *adam, tsri_device device)
{
    const struct tsri_adam_factors f = ((const tsri_dials *)(const void *)adam->dials)->adam;
    job j = {adam,
             {.shrink = (float)f.shrink,
              .decay = (float)f.decay,
              .new1 = (float)f.new1,
              .keep2 = (float)f.keep2,
              .new2 = (float)f.new2,
              .rate = (float)f.rate,
              .root = (float)f.root,
              .epsilon = (float)f.epsilon}};
    tsri_pool_run(device.pool, step_piece, &j, (adam->count + PIECE - 1) / PIECE);
    return TSR_OK;
}
