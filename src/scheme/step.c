/* step.c - one step of the optimiser: what `optim:` says, applied to a gradient that is there.
 * Every scheme's step goes through here. */
#include "scheme/run.h"

#include <math.h>
#include <string.h>

void tsri_choose_optimiser(tsri_run *run)
{
    const tsr_config *c = run->config;
    const char *name = tsri_config_text(c, "optim.name");
    run->schedule = tsri_schedule_from(c);
    run->decoupled = strcmp(name, "adamw") == 0;
    run->adam = run->decoupled || strcmp(name, "adam") == 0;
    run->momentum = tsri_config_real(c, run->adam ? "optim.beta1" : "optim.momentum");
    run->decay = tsri_config_real(c, "optim.weight_decay");
    run->nesterov = !run->adam && tsri_config_bool(c, "optim.nesterov");
    run->beta2 = tsri_config_real(c, "optim.beta2");
    run->ema = tsri_config_real(c, "optim.ema");
    run->clip = tsri_config_real(c, "optim.clip");
    run->epsilon = tsri_config_real(c, "optim.epsilon");
}

/* A net that was converted on the way (convert_run.h) began with a state of zeros. */
int64_t tsri_run_steps(const tsri_run *run)
{
    return (run->round - (run->converted > 0 ? run->converted : 0)) * run->local_steps;
}

tsr_status tsri_run_update_part(const tsri_run *run, tsri_store *store, tsri_pool *pool,
                                int64_t low, int64_t high, int64_t steps)
{
    double rate = tsri_run_rate(run, run->round);
    tsri_update u = {.count = high - low,
                     .w = (float *)store->w + low,
                     .v = (float *)store->v + low,
                     .dw = (float *)store->g + low,
                     .rate = rate,
                     .momentum = run->momentum,
                     .decay = run->decay,
                     .nesterov = run->nesterov};
    if (!run->adam)
        return run->backend->update(&u, pool);
    tsri_adam a = {.count = u.count,
                   .w = u.w,
                   .v = u.v,
                   .s = (float *)store->s + low,
                   .dw = u.dw,
                   .rate = rate,
                   .beta1 = run->momentum,
                   .beta2 = run->beta2,
                   .epsilon = run->epsilon,
                   .decay = run->decay,
                   .decoupled = run->decoupled,
                   .step = steps + 1};
    return run->backend->adam(&a, pool);
}

/* ---- Clipping ------------------------------------------------------------------------------ */

enum { PARTS = 256 }; /* of a gradient, whatever the threads: the order of its sum */

typedef struct lengths {
    float *g;
    int64_t n;
    float factor;
    double square[PARTS];
} lengths;

static void square_part(void *context, int64_t i, int thread)
{
    (void)thread;
    lengths *l = context;
    double sum = 0;
    for (int64_t j = i * l->n / PARTS; j < (i + 1) * l->n / PARTS; j++)
        sum += (double)l->g[j] * (double)l->g[j];
    l->square[i] = sum;
}

static void shorten_part(void *context, int64_t i, int thread)
{
    (void)thread;
    const lengths *l = context;
    for (int64_t j = i * l->n / PARTS; j < (i + 1) * l->n / PARTS; j++)
        l->g[j] *= l->factor;
}

/* As torch.nn.utils.clip_grad_norm_: g *= min(1, clip / (|g| + 1e-6)). A gradient that is not
 * finite stays so: the run tells that it has diverged. */
static void clip(tsri_store *store, double longest, tsri_pool *pool)
{
    lengths l = {.g = store->g, .n = store->net->trained};
    double sum = 0;
    tsri_pool_run(pool, square_part, &l, PARTS);
    for (int i = 0; i < PARTS; i++)
        sum += l.square[i];
    double factor = longest / (sqrt(sum) + 1e-6);
    if (!isfinite(sum) || factor >= 1)
        return;
    l.factor = (float)factor;
    tsri_pool_run(pool, shorten_part, &l, PARTS);
}

tsr_status tsri_run_update(const tsri_run *run, tsri_store *store, tsri_pool *pool, int64_t steps)
{
    if (run->clip > 0)
        clip(store, run->clip, pool);
    return tsri_run_update_part(run, store, pool, 0, store->net->trained, steps);
}
