/* masked_measure.c - kernels, radius, flips and loss of a run of model shallow. */
#include "theory/masked_measure.h"

#include "base/alloc.h"
#include "linalg/gemm.h"
#include "linalg/gemm64.h"
#include "linalg/openblas.h"
#include "scheme/team.h"
#include "theory/ntk.h"
#include "theory/ntk_shallow.h"

#include <math.h>
#include <string.h>

enum { ROUNDS_BEFORE = 3 }; /* rounds whose shares are looked at before the first one */

typedef struct look {
    tsri_run *run;
    int64_t n, d, m;
    float *x;
    double *gram, *k;
    const float *w, *w0; /* w0 NULL = not known any more */
    tsri_store first;
    tsri_signs now, start;
    tsri_masked_measure *out;
} look;

static int64_t hidden_weights(const tsri_run *run)
{
    return run->net->layer[0].weight;
}

/* ---- The data ----------------------------------------------------------------------------- */

static void measure_rows(look *l)
{
    tsri_masked_measure *m = l->out;
    double largest = -1;
    for (int64_t i = 0; i < l->n; i++) {
        double norm = sqrt(l->gram[i * l->n + i]);
        m->unit_error = fmax(m->unit_error, fabs(norm - 1));
        for (int64_t j = 0; j < i; j++) {
            double c = fabs(l->gram[i * l->n + j]) / (norm * sqrt(l->gram[j * l->n + j]));
            if (c > largest) {
                largest = c;
                m->first = j;
                m->second = i;
            }
        }
    }
    m->least_angle = acos(largest > 1 ? 1 : largest);
    const float *y = l->run->data->train.target;
    for (int64_t i = 0; y && i < l->n; i++)
        m->largest_target = fmax(m->largest_target, fabs((double)y[i]));
}

/* Of H_inf: computed for the first certificate of a run, kept for the others. */
static tsr_status measure_infinite(look *l, const tsri_past *past)
{
    tsr_status st = TSR_OK;
    tsri_masked_measure *m = l->out;
    m->lambda_0 =
        (tsri_eigen){tsri_past_at(past, 0, "lambda_0"), tsri_past_at(past, 0, "lambda_0_error")};
    m->lambda_most = (tsri_eigen){tsri_past_at(past, 0, "lambda_most"), m->lambda_0.error};
    if (!isnan(m->lambda_0.value))
        return TSR_OK;
    tsri_kernel_infinite(l->k, l->gram, l->n, tsri_shallow_xi(l->run->net), l->run->pool);
    TSR_TRY(tsri_spectrum_ends(&m->lambda_0, &m->lambda_most, l->k, l->n, l->run->pool));
done:
    return st;
}

/* ---- The weights -------------------------------------------------------------------------- */

static double length(const float *w, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)w[i] * (double)w[i];
    return sqrt(sum);
}

/* W_0: now, before the first round; later the seed's, if it had the length that was kept (a run may
 * have begun from a file). */
static tsr_status find_start(look *l, const tsri_past *past, double *kept)
{
    tsr_status st = TSR_OK;
    *kept = NAN;
    if (l->run->round == 0) {
        l->w0 = l->w;
    } else {
        TSR_TRY(tsri_store_init(&l->first, l->run->net, sizeof(float), false));
        tsri_store_fill(&l->first, l->run->seed);
        const float *w0 = tsri_store_at(&l->first, l->first.w, hidden_weights(l->run));
        double then = tsri_past_at(past, 0, "start");
        if (isnan(then) || then == length(w0, l->m * l->d))
            l->w0 = w0;
    }
    if (l->w0)
        *kept = length(l->w0, l->m * l->d);
done:
    return st;
}

/* max over units u of ||w_u - w0_unit(u)||; unit NULL = the same. */
static double moved(const float *w, const float *w0, const int64_t *unit, int64_t units, int64_t d)
{
    double most = 0;
    for (int64_t u = 0; u < units; u++) {
        const float *from = w0 + (unit ? unit[u] : u) * d;
        double sum = 0;
        for (int64_t c = 0; c < d; c++) {
            double step = (double)w[u * d + c] - (double)from[c];
            sum += step * step;
        }
        most = fmax(most, sum);
    }
    return sqrt(most);
}

static void measure_flips(look *l)
{
    int64_t most = 0;
    for (int64_t i = 0; i < l->n; i++) {
        int64_t flips = tsri_signs_differ(&l->now, &l->start, i);
        most = flips > most ? flips : most;
    }
    l->out->flips = (double)most;
}

/* Units that a move by R can flip, on the sample that has most of them. */
static tsr_status measure_near(look *l, double R)
{
    tsr_status st = TSR_OK;
    enum { ROWS = 64 };
    float *z = NULL;
    int64_t most = 0;
    TSR_TRY(tsri_alloc_raw(&z, ROWS * l->m, sizeof *z));
    for (int64_t from = 0; from < l->n; from += ROWS) {
        int64_t rows = from + ROWS < l->n ? ROWS : l->n - from;
        tsri_gemm g = {.b_transposed = true, .m = rows, .n = l->m, .k = l->d, .b = l->w0, .c = z};
        g.a = l->x + from * l->d;
        TSR_TRY(tsri_gemm_run(&g, l->run->pool));
        for (int64_t i = 0; i < rows; i++) {
            int64_t near = 0;
            for (int64_t r = 0; r < l->m; r++)
                near += fabs((double)z[i * l->m + r]) <= R;
            most = near > most ? near : most;
        }
    }
    l->out->near = (double)most;
done:
    tsri_free(z);
    return st;
}

/* ---- Shares ------------------------------------------------------------------------------- */

static tsr_status note_kernel(look *l)
{
    tsr_status st = TSR_OK;
    tsri_eigen low, high;
    TSR_TRY(tsri_spectrum_ends(&low, &high, l->k, l->n, l->run->pool));
    l->out->masked = fmin(l->out->masked, low.value);
    l->out->kernels++;
done:
    return st;
}

/* m o H of the units of a share with the weights of the whole. */
static tsr_status share_kernel(look *l, const tsri_share *share)
{
    tsr_status st = TSR_OK;
    uint8_t *mark = NULL;
    const tsri_pick *pick = &share->pick[tsri_axis_find(l->run->net, "hidden")];
    TSR_TRY(tsri_alloc(&mark, l->m, 1));
    for (int64_t u = 0; u < l->m; u++)
        mark[u] = pick->whole || pick->place[u] >= 0;
    TSR_TRY(tsri_kernel_share(l->k, l->gram, &l->now, mark, 1.0 / (double)l->m, l->run->pool));
    TSR_TRY(note_kernel(l));
done:
    tsri_free(mark);
    return st;
}

/* The same with the weights that the share itself ended its local steps with. */
static tsr_status local_kernel(look *l, const tsri_share *share, const tsri_store *local)
{
    tsr_status st = TSR_OK;
    tsri_signs bits = {0};
    const tsri_pick *pick = &share->pick[tsri_axis_find(l->run->net, "hidden")];
    const float *w = tsri_store_at(local, local->w, hidden_weights(l->run));
    if (l->w0)
        l->out->radius = fmax(l->out->radius,
                              moved(w, l->w0, pick->whole ? NULL : pick->index, pick->count, l->d));
    TSR_TRY(tsri_patterns(&bits, l->x, l->n, l->d, w, pick->count, l->run->pool));
    TSR_TRY(tsri_kernel_bits(l->k, l->gram, &bits, 1.0 / (double)l->m, l->run->pool));
    TSR_TRY(note_kernel(l));
done:
    tsri_signs_fini(&bits);
    return st;
}

/* Before the first round: the shares of the first few, with the first weights. */
static tsr_status coming_shares(look *l)
{
    tsr_status st = TSR_OK;
    tsri_share share = {0};
    const tsri_draw *draw = tsri_team_draws(l->run);
    TSR_TRY(tsri_share_init(&share, l->run->net));
    for (int64_t round = 0; round < ROUNDS_BEFORE && round < l->run->rounds; round++)
        for (int64_t worker = 0; worker < l->run->workers; worker++) {
            tsri_share_draw(&share, draw, l->run->seed, round, worker);
            TSR_TRY(share_kernel(l, &share));
        }
done:
    tsri_share_fini(&share);
    return st;
}

static tsr_status measure_shares(look *l)
{
    tsr_status st = TSR_OK;
    const tsri_store *local = NULL;
    if (!tsri_team_draws(l->run)) { /* dense: the whole is the only share */
        TSR_TRY(tsri_kernel_bits(l->k, l->gram, &l->now, 1.0 / (double)l->m, l->run->pool));
        return note_kernel(l);
    }
    if (l->run->round == 0)
        return coming_shares(l);
    for (int64_t worker = 0; worker < l->run->workers; worker++) {
        const tsri_share *share = tsri_team_member(l->run, worker, &local);
        if (!share)
            continue;
        TSR_TRY(share_kernel(l, share));
        TSR_TRY(local_kernel(l, share, local));
    }
done:
    return st;
}

/* ---- The whole ---------------------------------------------------------------------------- */

static tsr_status keep(tsri_past *past, const tsri_masked_measure *m, double start)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_past_keep(past, "loss", m->loss));
    TSR_TRY(tsri_past_keep(past, "radius", m->radius));
    TSR_TRY(tsri_past_keep(past, "flips", m->flips));
    TSR_TRY(tsri_past_keep(past, "masked", m->masked));
    TSR_TRY(tsri_past_keep(past, "lambda_0", m->lambda_0.value));
    TSR_TRY(tsri_past_keep(past, "lambda_0_error", m->lambda_0.error));
    TSR_TRY(tsri_past_keep(past, "lambda_most", m->lambda_most.value));
    TSR_TRY(tsri_past_keep(past, "start", start));
done:
    return st;
}

static tsr_status open_look(look *l, tsri_run *run, tsri_masked_measure *m)
{
    tsr_status st = TSR_OK;
    const tsri_param *w = &run->net->param[hidden_weights(run)];
    *l = (look){.run = run, .n = run->data->train.n, .d = run->data->dim, .m = w->shape[0]};
    l->out = m;
    l->w = tsri_store_at(&run->store, run->store.w, hidden_weights(run));
    TSR_TRY(tsri_openblas_start(tsri_pool_threads(run->pool)));
    TSR_TRY(tsri_take_samples(&l->x, run->data, &run->data->train, l->n));
    TSR_TRY(tsri_alloc_raw(&l->gram, l->n * l->n, sizeof *l->gram));
    TSR_TRY(tsri_alloc_raw(&l->k, l->n * l->n, sizeof *l->k));
    TSR_TRY(tsri_gram64(l->gram, l->x, l->n, l->d, run->pool));
    TSR_TRY(tsri_patterns(&l->now, l->x, l->n, l->d, l->w, l->m, run->pool));
done:
    return st;
}

static void close_look(look *l)
{
    tsri_signs_fini(&l->now);
    tsri_signs_fini(&l->start);
    tsri_store_fini(&l->first);
    tsri_free(l->x);
    tsri_free(l->gram);
    tsri_free(l->k);
}

tsr_status tsri_masked_look(tsri_masked_measure *m, tsri_run *run, tsri_past *past)
{
    tsr_status st = TSR_OK;
    look l = {0};
    tsr_result result;
    double start = NAN;
    *m = (tsri_masked_measure){.radius = NAN, .flips = NAN, .near = NAN, .masked = NAN};
    TSR_TRY(open_look(&l, run, m));
    measure_rows(&l);
    TSR_TRY(measure_infinite(&l, past));
    TSR_TRY(find_start(&l, past, &start));
    if (l.w0) {
        double kappa = tsri_config_real(run->config, "model.kappa");
        TSR_TRY(tsri_patterns(&l.start, l.x, l.n, l.d, l.w0, l.m, run->pool));
        m->radius = moved(l.w, l.w0, NULL, l.m, l.d);
        measure_flips(&l);
        TSR_TRY(measure_near(&l, kappa * m->lambda_0.value / (8 * (double)l.n)));
    }
    TSR_TRY(measure_shares(&l));
    TSR_TRY(tsri_evaluate(&result, &run->store, run->backend, run->pool, run->data,
                          &run->data->train, run->loss));
    m->loss = result.loss;
    TSR_TRY(keep(past, m, start));
done:
    close_look(&l);
    return st;
}
