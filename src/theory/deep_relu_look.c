/* deep_relu_look.c - what is measured after a round of a deep ReLU classifier.
 *
 * After every round: how far the weights have moved, |W_l - W_l(0)|_F (Lemmas 5.5, 5.7). After
 * those that certify.budget allows, the first and the last: everything that takes a pass over all
 * samples or a power iteration. That is the loss and the samples on the wrong side (Theorems 4.1,
 * 4.5 and their corollaries), the radius tau and Theorem 5.3 (i)-(vi). Each is a series (past.h),
 * so certificates measure nothing.
 *
 * A pass goes through the samples block by block, forwards at W and W(0), backwards at W:
 *     d_L = v gated,  s_l = d_l W_l^T (the maps of (iv)),  d_(l-1) = s_l gated,
 *     grad_(W_l) = mean of l'(y_i f_i) y_i d_(l,i) (x) x_(l-1,i).
 */
#include "theory/deep_relu.h"

#include "base/alloc.h"
#include "base/pieces.h"
#include "linalg/gemm.h"
#include "run/recipe.h"
#include "theory/deep_relu_bounds.h"
#include "theory/first.h"
#include "train/iterate.h"

#include <math.h>
#include <string.h>

/* The weights that the run began with, made once. */
typedef struct state {
    tsri_store first;
    tsri_opened start; /* its numbers */
} state;

void tsri_deep_forget(void *memory)
{
    state *s = memory;
    if (s) {
        tsri_store_close(&s->start);
        tsri_store_fini(&s->first);
    }
    tsri_free(s);
}

static tsr_status first_weights(const float **w, const tsri_run_view *view, tsri_past *past)
{
    tsr_status st = TSR_OK;
    state *s = past->state;
    if (!s) {
        TSR_TRY(tsri_alloc(&s, 1, sizeof *s));
        past->state = s;
        TSR_TRY(tsri_first_weights(&s->first, view));
        TSR_TRY(tsri_store_open(&s->start, &s->first, TSRI_OPEN_WEIGHTS));
    }
    *w = s->start.w;
done:
    return st;
}

bool tsri_deep_draws(const tsri_run_view *view)
{
    return view->settings->batch < view->data->train.n || view->settings->independent;
}

int64_t tsri_deep_sparsity(const tsri_run_view *view)
{
    double n = (double)view->data->train.n, L = (double)(view->net->params - 1);
    return (int64_t)ceil(
        log(n * L * L / tsri_config_real(view->settings->config, "certify.delta")));
}

/* ---- One pass ----------------------------------------------------------------------------- */

typedef struct sums {
    double loss, slopes;      /* sums of l and -l' */
    double steep, flat, tail; /* largest and least -l'; least of it over Assumption 3.2's bound */
    int64_t n, wrong;
    tsri_deep_moved moved; /* (ii), (iii) */
    double sparse;         /* (iv) */
    double *gradient;      /* [L] Frobenius norms */
} sums;

typedef struct pass {
    const tsri_run_view *view;
    const tsri_deep_net *now, *then;
    tsri_deep_block at, was; /* the same samples at both */
    float *d, *s;            /* [room, widest] */
    float *weighted;         /* [room, widest] */
    float *change;           /* the largest layer */
    float *gradient;         /* as the store has the weights */
    double *top;             /* [sparsity] */
    int64_t sparsity;
    sums *sum;
} pass;

static void judge_outputs(pass *p)
{
    sums *s = p->sum;
    for (int64_t i = 0; i < p->at.n; i++) {
        double slope, z = p->at.sign[i] * p->at.y[i];
        double loss = tsri_margin_loss(p->view->settings->loss, z, &slope);
        double least = tsri_deep_least_slope(p->view->settings->loss, z, loss);
        s->loss += loss;
        s->slopes -= slope;
        s->steep = fmax(s->steep, -slope);
        s->flat = fmin(s->flat, -slope);
        s->wrong += !(z > 0);
        if (least > 0)
            s->tail = fmin(s->tail, -slope / least);
    }
    s->n += p->at.n;
}

/* The sum of the `count` largest squares of x: they are kept in `top`, the least of them first. */
static double largest_squares(double *top, int64_t count, const float *x, int64_t n)
{
    double sum = 0;
    memset(top, 0, (size_t)count * sizeof *top);
    for (int64_t i = 0; i < n; i++) {
        double square = (double)x[i] * (double)x[i];
        int64_t at = 0;
        if (square <= top[0])
            continue;
        for (; at + 1 < count && top[at + 1] < square; at++)
            top[at] = top[at + 1];
        top[at] = square;
    }
    for (int64_t i = 0; i < count; i++)
        sum += top[i];
    return sum;
}

/* The supremum of <s_i, a> over sparse unit vectors a is the length of its largest entries. */
static void sparse_supremum(pass *p, int64_t width)
{
    for (int64_t i = 0; i < p->at.n; i++) {
        double sum = largest_squares(p->top, p->sparsity, p->s + i * width, width);
        p->sum->sparse = fmax(p->sum->sparse, sqrt(sum));
    }
}

/* grad_(W_l) += sum over the block of l'(y f) y d (x) x_(l-1). */
static tsr_status add_gradient(pass *p, int64_t l)
{
    const tsri_deep_layer *at = &p->now->layer[l - 1];
    for (int64_t i = 0; i < p->at.n; i++) {
        double slope;
        (void)tsri_margin_loss(p->view->settings->loss, p->at.sign[i] * p->at.y[i], &slope);
        float by = (float)(slope * p->at.sign[i]);
        for (int64_t j = 0; j < at->m; j++)
            p->weighted[i * at->m + j] = by * p->d[i * at->m + j];
    }
    tsri_gemm g = {.a_transposed = true,
                   .m = at->m,
                   .n = at->inputs,
                   .k = p->at.n,
                   .a = p->weighted,
                   .b = p->at.x[l - 1],
                   .c = p->gradient + p->view->net->param[l - 1].offset,
                   .add = true};
    return tsri_gemm_run(&g, p->view->device.pool);
}

static tsr_status backwards(pass *p, bool suprema)
{
    tsr_status st = TSR_OK;
    tsri_deep_back_begin(p->d, &p->at, p->now);
    for (int64_t l = p->now->L; l > 0; l--) {
        TSR_TRY(add_gradient(p, l));
        if (l == 1 && !suprema)
            break;
        TSR_TRY(tsri_deep_back(p->s, p->d, &p->at, p->now, l, p->view->device.pool));
        if (suprema)
            sparse_supremum(p, p->now->layer[l - 1].inputs);
        if (l > 1)
            tsri_deep_gate(p->s, &p->at, p->now, l - 1);
        float *swap = p->d;
        p->d = p->s;
        p->s = swap;
    }
done:
    return st;
}

static tsr_status pass_init(pass *p, const tsri_run_view *view, const tsri_deep_net *now,
                            const tsri_deep_net *then, sums *sum)
{
    tsr_status st = TSR_OK;
    int64_t room = tsri_deep_rows(now, view->data->train.n), wide = tsri_max(now->widest, now->d);
    *p = (pass){
        .view = view, .now = now, .then = then, .sparsity = tsri_deep_sparsity(view), .sum = sum};
    *sum = (sums){.flat = INFINITY, .tail = INFINITY};
    TSR_TRY(tsri_alloc(&sum->gradient, now->L, sizeof *sum->gradient));
    TSR_TRY(tsri_deep_block_init(&p->at, now, room));
    TSR_TRY(tsri_deep_block_init(&p->was, now, room));
    TSR_TRY(tsri_alloc(&p->d, room * wide, sizeof *p->d));
    TSR_TRY(tsri_alloc(&p->s, room * wide, sizeof *p->s));
    TSR_TRY(tsri_alloc(&p->weighted, room * wide, sizeof *p->weighted));
    TSR_TRY(tsri_alloc(&p->change, now->widest * wide, sizeof *p->change));
    TSR_TRY(tsri_alloc(&p->gradient, view->net->trained, sizeof *p->gradient));
    TSR_TRY(tsri_alloc(&p->top, p->sparsity, sizeof *p->top));
done:
    return st;
}

static void pass_fini(pass *p)
{
    tsri_deep_block_fini(&p->at);
    tsri_deep_block_fini(&p->was);
    tsri_free(p->d);
    tsri_free(p->s);
    tsri_free(p->weighted);
    tsri_free(p->change);
    tsri_free(p->gradient);
    tsri_free(p->top);
    if (p->sum)
        tsri_free(p->sum->gradient);
}

/* Of sums of gradients over sum->n samples: the norms of their means. */
static void gradient_norms(pass *p)
{
    for (int64_t l = 0; l < p->now->L; l++)
        p->sum->gradient[l] =
            tsri_length(p->gradient + p->view->net->param[l].offset, p->view->net->param[l].count) /
            (double)p->sum->n;
}

static double largest(const double *x, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, x[i]);
    return most;
}

/* ---- All samples --------------------------------------------------------------------------- */

static tsr_status keep_pass(tsri_past *past, const tsri_run_view *view, const tsri_deep_net *now,
                            const tsri_deep_net *then)
{
    tsr_status st = TSR_OK;
    int64_t n = view->data->train.n;
    pass p = {0};
    sums s = {0};
    TSR_TRY(pass_init(&p, view, now, then, &s));
    for (int64_t i = 0; i < n; i += p.at.n) {
        TSR_TRY(tsri_deep_load(&p.at, view, now, i, 1, n - i));
        TSR_TRY(tsri_deep_load(&p.was, view, then, i, 1, n - i));
        judge_outputs(&p);
        tsri_deep_room room = {p.d, p.s, p.change};
        TSR_TRY(tsri_deep_moved_of(&s.moved, &p.at, &p.was, now, then, &room, view->device.pool));
        TSR_TRY(backwards(&p, true));
    }
    gradient_norms(&p);
    TSR_TRY(tsri_past_keep(past, "loss", s.loss / (double)n));
    TSR_TRY(tsri_past_keep(past, "wrong", (double)s.wrong));
    TSR_TRY(tsri_past_keep(past, "slopes", s.slopes));
    TSR_TRY(tsri_past_keep(past, "steepest", s.steep));
    TSR_TRY(tsri_past_keep(past, "flattest", s.flat));
    TSR_TRY(tsri_past_keep(past, "tail", s.tail));
    TSR_TRY(tsri_past_keep(past, "moved", s.moved.far));
    TSR_TRY(tsri_past_keep(past, "reach", s.moved.reach));
    TSR_TRY(tsri_past_keep(past, "flipped", s.moved.flipped));
    TSR_TRY(tsri_past_keep(past, "sparse", s.sparse));
    TSR_TRY(tsri_past_keep(past, "gradient.last", s.gradient[now->L - 1]));
    TSR_TRY(tsri_past_keep(past, "gradient", largest(s.gradient, now->L)));
done:
    pass_fini(&p);
    return st;
}

/* ---- The next step's batch ------------------------------------------------------------------ */

/* What the first worker's next step would see. */
static tsr_status keep_batch(tsri_past *past, const tsri_run_view *view, const tsri_deep_net *now)
{
    tsr_status st = TSR_OK;
    tsri_loader_options o = tsri_run_loader(view->settings, 0);
    tsri_loader *loader = NULL;
    const tsri_batch *b = NULL;
    pass p = {0};
    sums s = {0};
    o.prefetch = false;
    TSR_TRY(pass_init(&p, view, now, now, &s));
    TSR_TRY(tsri_loader_create(&loader, view->data, &view->data->train, &o));
    TSR_TRY(tsri_loader_get(loader, &b, view->position->round * view->settings->local_steps));
    for (int64_t i = 0; i < b->n; i += p.at.n) {
        TSR_TRY(tsri_deep_load_batch(&p.at, view, now, b, i));
        judge_outputs(&p);
        TSR_TRY(backwards(&p, false));
    }
    gradient_norms(&p);
    TSR_TRY(tsri_past_keep(past, "batch.slopes", s.slopes));
    TSR_TRY(tsri_past_keep(past, "batch.gradient", largest(s.gradient, now->L)));
    tsri_tensor index = {.dtype = TSRI_I64, .dims = 1, .shape = {b->n}, .data = b->index};
    TSR_TRY(tsri_note(view, &index, "batch"));
done:
    tsri_loader_destroy(loader);
    pass_fini(&p);
    return st;
}

/* ---- Norms -------------------------------------------------------------------------------- */

/* The largest |W_l - V_l|_2 over the layers, or |W_l|_2 without `from`. `each` [L] is noted in the
 * trace: the lengths that were found. */
static tsr_status spectral(tsri_norm *most, double *each, const tsri_run_view *view,
                           const tsri_deep_net *now, const tsri_deep_net *from)
{
    tsr_status st = TSR_OK;
    *most = (tsri_norm){0};
    for (int64_t l = 0; l < now->L; l++) {
        tsri_factor f = {now->layer[l].w, now->layer[l].m, now->layer[l].inputs, NULL}, g = f;
        tsri_norm norm;
        TSR_TRY(tsri_hear_stop(view));
        if (from)
            g.w = from->layer[l].w;
        TSR_TRY(tsri_chain_norm(&norm, &(tsri_chain){&f, 1}, from ? &(tsri_chain){&g, 1} : NULL,
                                TSRI_DEEP_STEPS, view->settings->seed, view->device.pool));
        each[l] = norm.value;
        most->value = fmax(most->value, norm.value);
        most->high = fmax(most->high, norm.high);
    }
done:
    return st;
}

static tsr_status keep_norms(tsri_past *past, const tsri_run_view *view, const tsri_deep_net *now,
                             const tsri_deep_net *then)
{
    tsr_status st = TSR_OK;
    tsri_norm tau, weight;
    double *each = NULL;
    TSR_TRY(tsri_alloc(&each, 2 * now->L, sizeof *each));
    TSR_TRY(spectral(&tau, each, view, now, then));
    TSR_TRY(spectral(&weight, each + now->L, view, now, NULL));
    tsri_tensor norms = {.dtype = TSRI_F64, .dims = 2, .shape = {2, now->L}, .data = each};
    TSR_TRY(tsri_note(view, &norms, "norms"));
    TSR_TRY(tsri_past_keep(past, "tau", tau.value));
    TSR_TRY(tsri_past_keep(past, "tau.high", tau.high));
    TSR_TRY(tsri_past_keep(past, "weight", weight.value));
    TSR_TRY(tsri_past_keep(past, "weight.high", weight.high));
done:
    tsri_free(each);
    return st;
}

/* The largest |W_l - W_l(0)|_F, and the largest of it over the root of the rank that it can have:
 * the spectral norm lies between. */
static tsr_status keep_way(tsri_past *past, const tsri_deep_net *now, const tsri_deep_net *then)
{
    tsr_status st = TSR_OK;
    double most = 0, least = 0;
    for (int64_t l = 0; l < now->L; l++) {
        const tsri_deep_layer *a = &now->layer[l], *b = &then->layer[l];
        double squares = 0;
        for (int64_t i = 0; i < a->m * a->inputs; i++) {
            double far = (double)a->w[i] - (double)b->w[i];
            squares += far * far;
        }
        most = fmax(most, sqrt(squares));
        least = fmax(least, sqrt(squares / (double)tsri_min(a->m, a->inputs)));
    }
    TSR_TRY(tsri_past_keep(past, "way", most));
    TSR_TRY(tsri_past_keep(past, "way.low", least));
done:
    return st;
}

/* ---- The look ----------------------------------------------------------------------------- */

/* Products of both passes, and as much again for what goes through their states; the power
 * iterations, one vector at a time in double, take eight times as long. */
static double look_operations(const tsri_run_view *view, const tsri_deep_net *net)
{
    double samples = (double)(view->data->train.n + view->settings->batch);
    return (20 * samples + 8 * 12 * TSRI_DEEP_STEPS) * net->weights;
}

tsr_status tsri_deep_look(const tsri_run_view *view, tsri_past *past)
{
    tsr_status st = TSR_OK;
    tsri_deep_net now = {0}, then = {0};
    const float *first = NULL;
    TSR_TRY(first_weights(&first, view, past));
    TSR_TRY(tsri_deep_net_init(&now, view, view->seen.w));
    TSR_TRY(tsri_deep_net_init(&then, view, first));
    if (view->position->round == 0)
        TSR_TRY(tsri_deep_start(view, past, &then));
    if (tsri_look_due(view, 3 * now.weights))
        TSR_TRY(keep_way(past, &now, &then));
    if (tsri_look_due(view, look_operations(view, &now)) ||
        tsri_iterate_enough(view->settings, view->position)) {
        TSR_TRY(keep_pass(past, view, &now, &then));
        TSR_TRY(keep_norms(past, view, &now, &then));
        if (tsri_deep_draws(view))
            TSR_TRY(keep_batch(past, view, &now));
    }
    TSR_TRY(tsri_notes_write(view, "certificate"));
done:
    tsri_deep_net_fini(&now);
    tsri_deep_net_fini(&then);
    return st;
}
