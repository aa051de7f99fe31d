/* rnn.c - certificates of Allen-Zhu, Li, Song, "On the Convergence Rate of Training Recurrent
 * Neural Networks".
 *
 * Before a run: section 2.1 and Assumption 2.1, the sizes of Theorem 1 (gradient descent) or 2
 * (stochastic), and what holds at random initialisation: section 4 (rnn_start.c, rnn_fresh.c,
 * rnn_spans.c), rank-one perturbations (rnn_rank1.c), section 6 and Theorem 5 (rnn_smooth.c).
 * During one: (H.1) or (I.1), section 5 (rnn_drift.c), what Theorem 1 or 2 promises. Both: Theorems
 * 3 and 4 at W (rnn_smooth.c). A look keeps f(W), the distance from W(0) and (5.1) of every round,
 * as far as the budget reaches.
 *
 * delta is the paper's: no more than 1 / (10^6 L^2 log^3 m), which Lemma B.9 asks for and section
 * 2.1 assumes ("if this is not satisfied one can decrease delta").
 */
#include "theory/rnn_parts.h"

#include "base/alloc.h"
#include "run/stop_metric.h"
#include "theory/first.h"
#include "theory/rates.h"

#include <math.h>

static const double EPSILON = 1e-2; /* the loss to reach, where the run does not stop at one */

/* ---- The run as the paper sees it ----------------------------------------------------------- */

/* Between looks: W(0), and what was found along its sequences. */
typedef struct memory {
    tsri_rnn_net then;
    tsri_rnn_spans spans; /* of round 0, when this process has seen it */
} memory;

static void forget(void *state)
{
    memory *m = state;
    if (!m)
        return;
    tsri_rnn_net_fini(&m->then);
    tsri_rnn_spans_fini(&m->spans);
    tsri_free(m);
}

static const float *param(const tsri_run_view *view, const float *w, const char *name)
{
    return w + view->net->param[tsri_net_param(view->net, name)].offset;
}

static tsr_status net_of(tsri_rnn_net *net, const tsri_run_view *view, const float *w)
{
    const tsri_param *out = &view->net->param[tsri_net_param(view->net, "out.weight")];
    *net = (tsri_rnn_net){.L = view->data->height,
                          .m = out->shape[1],
                          .dx = view->data->channels,
                          .d = out->shape[0]};
    return tsri_rnn_net_init(net, param(view, w, "rnn.weight_hh_l0"),
                             param(view, w, "rnn.weight_ih_l0"), w + out->offset);
}

/* W(0) and room for the rest; `forget` frees it. */
static tsr_status memory_of(memory **out, const tsri_run_view *view)
{
    tsr_status st = TSR_OK;
    tsri_store first = {0};
    tsri_opened start = {0};
    TSR_TRY(tsri_alloc(out, 1, sizeof **out));
    TSR_TRY(tsri_first_weights(&first, view));
    TSR_TRY(tsri_store_open(&start, &first, TSRI_OPEN_WEIGHTS));
    TSR_TRY(net_of(&(*out)->then, view, start.w));
done:
    tsri_store_close(&start);
    tsri_store_fini(&first);
    if (st != TSR_OK) {
        forget(*out);
        *out = NULL;
    }
    return st;
}

/* Half the squares at every position from the second on. */
static bool paper_loss(const tsri_run_view *view)
{
    return view->settings->loss->squares && view->data->train.target &&
           tsri_config_is(view->settings->config, "model.read", "every");
}

static void case_fini(tsri_rnn_case *k)
{
    tsri_rnn_net_fini(&k->now);
}

static tsr_status case_init(tsri_rnn_case *k, const tsri_run_view *view, const memory *m)
{
    double below = tsri_config_real(view->settings->config, "stop.below");
    const tsri_stop_metric *stop = tsri_stop_metric_of(view->settings->config);
    bool stops = stop->on == TSRI_STOP_ON_TRAINING && !stop->error;
    *k = (tsri_rnn_case){.view = view,
                         .pool = view->device.pool,
                         .then = &m->then,
                         .n = view->data->train.n,
                         .x = view->data->train.numbers,
                         .length = view->data->train.length,
                         .target = paper_loss(view) ? view->data->train.target : NULL,
                         .effort = tsri_effort(view->settings)};
    k->s = (tsri_rnn_letters){.n = (double)k->n,
                              .L = (double)m->then.L,
                              .d = (double)m->then.d,
                              .m = (double)m->then.m,
                              .delta = NAN,
                              .epsilon = stops && below > 0 && below < 1 ? below : EPSILON,
                              .sgd = !view->settings->gd};
    return net_of(&k->now, view, view->seen.w);
}

double tsri_rnn_paper_step(const tsri_run_view *view, double eta)
{
    return view->settings->gd ? eta
                              : eta * (double)view->settings->batch / (double)view->data->train.n;
}

/* ---- Looks ---------------------------------------------------------------------------------- */

static double distance(const tsri_run_view *view, const tsri_rnn_net *then)
{
    const float *w = param(view, view->seen.w, "rnn.weight_hh_l0");
    double sum = 0;
    for (int64_t i = 0; i < then->m * then->m; i++)
        sum += ((double)w[i] - then->W[i]) * ((double)w[i] - then->W[i]);
    return sqrt((double)then->m * sum);
}

static tsr_status keep_loss(const tsri_rnn_case *k, tsri_past *past)
{
    tsr_status st = TSR_OK;
    tsri_rnn_gradient g = {0};
    TSR_TRY(tsri_rnn_gradient_of(&g, k, &k->now, false));
    TSR_TRY(tsri_past_keep(past, "loss", g.f));
done:
    return st;
}

static tsr_status keep_moved(const tsri_rnn_case *k, tsri_past *past)
{
    tsr_status st = TSR_OK;
    tsri_rnn_moved moved;
    TSR_TRY(tsri_rnn_moved_of(&moved, k));
    TSR_TRY(tsri_past_keep(past, "drift", moved.g));
    TSR_TRY(tsri_past_keep(past, "flips", moved.flips));
    TSR_TRY(tsri_past_keep(past, "flip_drift", moved.flip_g));
    TSR_TRY(tsri_past_keep(past, "longest", moved.longest));
done:
    return st;
}

/* Once, before the first round: the products along all sequences. Later rounds need their norm. */
static tsr_status keep_spans(const tsri_rnn_case *k, memory *m, tsri_past *past)
{
    tsr_status st = TSR_OK;
    int64_t count = tsri_rnn_fitting(NULL, k, tsri_rnn_spans_operations(k), NULL);
    tsri_rnn_spans_fini(&m->spans);
    TSR_TRY(tsri_rnn_spans_init(&m->spans, k, count));
    if (count == k->n)
        TSR_TRY(tsri_past_keep(past, "chain", m->spans.chain_high));
done:
    return st;
}

/* Doubles take twice as long as the floats of training. */
static tsr_status look(const tsri_run_view *view, tsri_past *past)
{
    tsr_status st = TSR_OK;
    memory *m = past->state;
    tsri_rnn_case k = {0};
    double forward = 2 * tsri_net_flops(view->net) * (double)view->data->train.n;
    if (!m)
        TSR_TRY(memory_of(&m, view));
    past->state = m;
    if (tsri_look_due(view, 6 * (double)m->then.m * (double)m->then.m))
        TSR_TRY(tsri_past_keep(past, "radius", distance(view, &m->then)));
    if (!tsri_look_due(view, forward) && !tsri_look_due(view, 2 * forward))
        goto done;
    TSR_TRY(case_init(&k, view, m));
    if (k.target && tsri_look_due(view, forward))
        TSR_TRY(keep_loss(&k, past));
    if (tsri_look_due(view, 2 * forward))
        TSR_TRY(keep_moved(&k, past));
    if (view->position->round == 0)
        TSR_TRY(keep_spans(&k, m, past));
done:
    case_fini(&k);
    return st;
}

/* ---- The paper ------------------------------------------------------------------------------ */

static tsr_status before(tsri_certificate *c, const tsri_rnn_case *k, const memory *m)
{
    tsr_status st = TSR_OK;
    tsri_rnn_certify_sizes(c, k);
    (void)tsri_rnn_fitting(c, k, tsri_rnn_spans_operations(k), "(4.4)-(4.6), products");
    TSR_TRY(tsri_rnn_certify_start(c, k));
    TSR_TRY(tsri_rnn_certify_fresh(c, k));
    TSR_TRY(tsri_rnn_certify_spans(c, k, &m->spans));
    if (k->then->L > 1)
        TSR_TRY(tsri_rnn_certify_rank1(c, k));
    if (k->target && k->then->L > 1)
        TSR_TRY(tsri_rnn_certify_fixed(c, k));
done:
    return st;
}

static tsr_status along_the_way(tsri_certificate *c, const tsri_rnn_case *k, const tsri_past *past,
                                double tau)
{
    tsr_status st = TSR_OK;
    double *by = NULL, value, high, root = sqrt(k->s.m);
    int64_t size = k->now.m * k->now.m;
    TSR_TRY(tsri_alloc(&by, size, sizeof *by));
    for (int64_t e = 0; e < size; e++)
        by[e] = k->now.W[e] - k->then->W[e];
    TSR_TRY(
        tsri_rnn_norm_square(&value, &high, NULL, by, k->now.m, k->view->settings->seed, k->pool));
    tsri_certify(c,
                 &(tsri_condition){.of = k->of.drift[TSRI_RNN_C2],
                                   .where = "Appendix C",
                                   .sense = TSRI_MEASURED,
                                   .measured = root * value,
                                   .interval = {root * value, root * high, TSRI_RNN_LEVEL}},
                 "sqrt(m) |W - W(0)|_2 now");
    TSR_TRY(tsri_rnn_certify_drift(c, k, past, tau));
done:
    tsri_free(by);
    return st;
}

static void notes(tsri_certificate *c, const tsri_rnn_case *k)
{
    tsri_certify_note(c,
                      "constants of O and Omega that the appendices do not give are shown as "
                      "measured, not required; n = %lld, rho = %.4g, varrho = %.4g",
                      (long long)k->n, tsri_rnn_rho(&k->s), tsri_rnn_varrho(&k->s));
    if (k->s.sgd)
        tsri_certify_note(c,
                          "Theorem 2 prints eta = delta / (rho^12 m); its T and the last line of "
                          "its proof need rho^42, which is taken");
    if (k->view->position->round == 0)
        tsri_certify_note(c, "Lemma B.3 states (1 - 1/4L)^(l-1) for h_l and proves (1 - 1/4L)^l, "
                             "which is taken; Lemma D.7's threshold is that of its proof");
    else
        tsri_certify_note(c,
                          "tau_0 is sqrt(m) |W - W(0)|_F, no less than with |.|_2; the C of (C.1) "
                          "is Lemma B.11's constant measured at W(0), at least 1");
}

static tsr_status certify(tsri_certificate *c, const tsri_run_view *view, const tsri_past *past)
{
    tsr_status st = TSR_OK;
    const memory *m = past->state;
    memory *own = NULL; /* where nobody has looked */
    tsri_rnn_case k = {0};
    double f = NAN;
    if (!m)
        TSR_TRY(memory_of(&own, view));
    m = m ? m : own;
    double tau = distance(view, &m->then); /* whether or not its look had time for it */
    TSR_TRY(case_init(&k, view, m));
    tsri_rnn_assume(c, &k);
    TSR_TRY(tsri_hear_stop(view));
    if (view->position->round == 0)
        TSR_TRY(before(c, &k, m));
    else
        TSR_TRY(along_the_way(c, &k, past, tau));
    if (k.target && k.then->L > 1)
        TSR_TRY(tsri_rnn_certify_gradient(c, &k, tau, &f));
    tsri_rnn_certify_promises(c, &k, past, f);
    notes(c, &k);
done:
    case_fini(&k);
    forget(own);
    return st;
}

/* One layer. */
static bool applies(const tsri_run_view *view)
{
    return tsri_config_int(view->settings->config, "model.layers") <= 1;
}

const tsri_paper tsri_paper_rnn = {
    .name = "relu-rnn",
    .about = "rnn with one layer",
    .title = "Allen-Zhu, Li, Song: On the Convergence Rate of Training Recurrent Neural Networks",
    .applies = applies,
    .look = look,
    .certify = certify,
    .forget = forget,
};
