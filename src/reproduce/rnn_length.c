/* rnn_length.c - Allen-Zhu, Li, Song, section 4: along a sequence of 200 positions (with --paper
 * 500) the norms of states, of D W ... D W and of B D W ... D W grow as a power of the length at
 * most. Beside them the linear network, whose W^l explodes or vanishes.
 *
 * At a finite width a factor per position is left, and its logarithm is what "exponential" means;
 * the theory has it go away as m >= poly(L). So it is fitted at three widths, over several draws.
 */
#include "reproduce/rnn.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/stop.h"
#include "reproduce/cells.h"
#include "run/run.h"
#include "theory/chain.h"
#include "theory/rnn_states.h"
#include "train/describe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LENGTH = 200, SPANS = 9, NETS = 5, OUTPUTS = 4 };
enum { LONGEST = 500, SPANS_MOST = 11, WIDEST = 8192 }; /* --paper */
enum { POWERS = 20 };                                   /* steps of power iteration */

static const int64_t span_of[SPANS_MOST] = {1, 2, 5, 10, 20, 50, 100, 150, 199, 350, 499};

/* How long the sequences are, and how many of the spans they have. */
typedef struct lengths {
    int64_t positions, spans;
} lengths;

static lengths lengths_of(const tsri_study *s)
{
    return s->paper ? (lengths){LONGEST, SPANS_MOST} : (lengths){LENGTH, SPANS};
}

/* What is measured of one network. */
typedef struct measured {
    double forward[LONGEST];                        /* largest |h_l| of its sequences */
    double least;                                   /* |h_l| of all sequences and positions */
    double chain[SPANS_MOST], gradient[SPANS_MOST]; /* |D W ... D W|_2, |B D W ... D W|_2 */
} measured;

/* D W ... D W over positions 1 to `span` of the first sequence; gates [L, m]. */
static void chain_of(tsri_factor *f, const float *W, const float *gate, int64_t m, int64_t span)
{
    for (int64_t l = 1; l <= span; l++)
        f[l - 1] = (tsri_factor){W, m, m, gate ? gate + l * m : NULL};
}

static void forward_norms(measured *out, const tsri_rnn_states *s)
{
    out->least = INFINITY;
    for (int64_t l = 0; l < s->L; l++)
        for (int64_t i = 0; i < s->n; i++) {
            double length = tsri_length64(s->h + tsri_rnn_row(s, l, i), s->m);
            out->forward[l] = fmax(out->forward[l], length);
            out->least = fmin(out->least, length);
        }
}

static tsr_status measure(measured *out, tsri_study *s, const tsri_run *run, double shrink,
                          bool linear)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = run->net;
    const lengths size = lengths_of(s);
    int64_t m = net->param[1].shape[0], d = net->param[2].shape[0], L = size.positions;
    float *W = NULL, *gate = NULL;
    tsri_factor *f = NULL;
    tsri_norm chain[SPANS_MOST], gradient;
    tsri_rnn_net rnn = {.L = L, .m = m, .dx = run->data->channels, .d = d, .linear = linear};
    tsri_rnn_states states = {0};
    tsri_opened host;
    TSR_TRY(tsri_store_open(&host, &run->store, TSRI_OPEN_WEIGHTS));
    const float *w = host.w, *B = w + net->param[2].offset;
    TSR_TRY(tsri_alloc(&W, m * m, sizeof *W));
    TSR_TRY(tsri_alloc(&gate, L * m, sizeof *gate));
    TSR_TRY(tsri_alloc(&f, L + 1, sizeof *f));
    for (int64_t i = 0; i < m * m; i++)
        W[i] = (float)((double)w[net->param[1].offset + i] * shrink);
    TSR_TRY(tsri_rnn_net_init(&rnn, W, w + net->param[0].offset, B));
    TSR_TRY(tsri_rnn_states_init(&states, &rnn, run->data->train.numbers, NULL, run->data->train.n,
                                 s->pool));
    forward_norms(out, &states);
    for (int64_t l = 0; l < L; l++)
        for (int64_t k = 0; k < m; k++)
            gate[l * m + k] = states.g[tsri_rnn_row(&states, l, 0) + k] > 0 ? 1 : 0;
    chain_of(f, W, linear ? NULL : gate, m, span_of[size.spans - 1]);
    TSR_TRY(tsri_chain_norms(chain, &(tsri_chain){f, span_of[size.spans - 1]}, span_of, size.spans,
                             POWERS, s->seed, s->pool));
    for (int64_t k = 0; k < size.spans; k++) {
        int64_t n = span_of[k];
        out->chain[k] = chain[k].value;
        TSR_TRY(tsri_stop_heed());
        chain_of(f, W, linear ? NULL : gate, m, n);
        f[n] = (tsri_factor){B, d, m, NULL};
        TSR_TRY(
            tsri_chain_norm(&gradient, &(tsri_chain){f, n + 1}, NULL, POWERS, s->seed, s->pool));
        out->gradient[k] = gradient.value;
    }
done:
    tsri_store_close(&host);
    tsri_rnn_states_fini(&states);
    tsri_rnn_net_fini(&rnn);
    tsri_free(W);
    tsri_free(gate);
    tsri_free(f);
    return st;
}

static const struct {
    const char *name;
    int64_t divide; /* of the width */
    double shrink;
    bool linear;
} nets[NETS] = {{"ReLU", 1, 1, false},
                {"ReLU, m / 2", 2, 1, false},
                {"ReLU, m / 4", 4, 1, false},
                {"linear, the same W", 1, 1, true},
                {"linear, W / 2", 1, 0.5, true}};

/* All of them, of every draw. */
typedef struct findings {
    int64_t m, seeds, positions, spans;
    measured net[NETS][TSRI_RNN_SEEDS];
} findings;

static void draw_length(tsri_study *s, const findings *found)
{
    double at[LONGEST], span[SPANS_MOST];
    tsri_chart c;
    char title[80];
    for (int l = 0; l < LONGEST; l++)
        at[l] = l + 1;
    for (int k = 0; k < SPANS_MOST; k++)
        span[k] = (double)span_of[k];
    (void)snprintf(title, sizeof title, "Along a sequence of %lld positions, first draw",
                   (long long)found->positions);
    tsri_chart_begin(&c, title);
    for (int p = 0; p < 3; p++) {
        static const char *const panel[] = {"forward: largest |h_l|", "|D W ... D W|_2",
                                            "backward: |B D W ... D W|_2"};
        tsri_chart_panel(&c, &(tsri_panel){.title = panel[p],
                                           .x_label = p == 0 ? "position" : "positions spanned",
                                           .y_log = true});
        for (int k = 0; k < NETS; k++)
            tsri_chart_series(&c,
                              &(tsri_series){.name = p == 0 ? nets[k].name : NULL,
                                             .n = p == 0 ? found->positions : found->spans,
                                             .x = p == 0 ? at : span,
                                             .y = p == 0   ? found->net[k][0].forward
                                                  : p == 1 ? found->net[k][0].chain
                                                           : found->net[k][0].gradient,
                                             .marks = p == 0 ? TSRI_MARKS_LINE : TSRI_MARKS_BOTH,
                                             .colour = k + 1});
    }
    tsri_study_chart(s, "length", &c);
    tsri_chart_fini(&c);
}

/* The power of l that y grows with, and the factor per position. */
static void growth(double *power, double *factor, const double *x, const double *y, int64_t n)
{
    double lx[LONGEST], ly[LONGEST];
    for (int64_t i = 0; i < n; i++) {
        lx[i] = log(x[i]);
        ly[i] = log(y[i]);
    }
    *power = tsri_slope_of(NULL, lx, ly, n).value;
    *factor = exp(tsri_slope_of(NULL, x, ly, n).value);
}

static double power_of(const double *x, const double *y, int64_t n)
{
    double power, factor;
    growth(&power, &factor, x, y, n);
    return power;
}

static double factor_of(const double *x, const double *y, int64_t n)
{
    double power, factor;
    growth(&power, &factor, x, y, n);
    return factor;
}

static void tabulate(tsri_table *t, const findings *found, const double *at, const double *span)
{
    tsri_table_head(t, "network|norm|power of the length|factor per position|last over first");
    for (int k = 0; k < NETS; k++) {
        const measured *net = &found->net[k][0];
        const struct {
            const char *what;
            const double *x, *y;
            int64_t n;
        } rows[] = {{"|h_l|", at, net->forward, found->positions},
                    {"|D W ... D W|", span, net->chain, found->spans},
                    {"|B D W ... D W|", span, net->gradient, found->spans}};
        for (int r = 0; r < 3; r++) {
            double power, factor;
            growth(&power, &factor, rows[r].x, rows[r].y, rows[r].n);
            tsri_table_text(t, nets[k].name);
            tsri_table_text(t, rows[r].what);
            tsri_table_real(t, power, 2);
            tsri_table_real(t, factor, 4);
            tsri_table_format(t, "%.3g", rows[r].y[rows[r].n - 1] / rows[r].y[0]);
        }
    }
}

enum { RELU, HALF, QUARTER, LINEAR, SHRUNK }; /* rows of `nets` */

/* What is left of an exponential at a width over that at half of it. */
static void judge_widths(tsri_study *s, const findings *found, const double *span)
{
    for (int k = HALF; k <= QUARTER; k++) {
        double ratio[TSRI_RNN_SEEDS];
        char part[60];
        for (int64_t r = 0; r < found->seeds; r++)
            ratio[r] = fabs(log(factor_of(span, found->net[k - 1][r].chain, found->spans))) /
                       fabs(log(factor_of(span, found->net[k][r].chain, found->spans)));
        (void)snprintf(part, sizeof part, "m = %lld over %lld",
                       (long long)(found->m / nets[k - 1].divide),
                       (long long)(found->m / nets[k].divide));
        tsri_study_judge(s, "rnn/length/width", part, ratio, found->seeds);
    }
}

static void judge_length(tsri_study *s, const findings *found, const double *at, const double *span)
{
    double upper[TSRI_RNN_SEEDS] = {0}, lower[TSRI_RNN_SEEDS], chain[TSRI_RNN_SEEDS],
           back[TSRI_RNN_SEEDS], up[TSRI_RNN_SEEDS], down[TSRI_RNN_SEEDS];
    for (int64_t r = 0; r < found->seeds; r++) {
        const measured *net = &found->net[RELU][r];
        for (int64_t l = 0; l < found->positions; l++)
            upper[r] = fmax(upper[r], net->forward[l] / (2 * at[l] + 2));
        lower[r] = net->least;
        upper[r] = isnan(net->least) ? (double)NAN : upper[r]; /* nobody made it yet */
        chain[r] = power_of(span, net->chain, found->spans);
        back[r] = power_of(span, net->gradient, found->spans);
        up[r] = factor_of(span, found->net[LINEAR][r].chain, found->spans);
        down[r] = factor_of(span, found->net[SHRUNK][r].chain, found->spans);
    }
    tsri_study_judge(s, "rnn/length/upper", NULL, upper, found->seeds);
    tsri_study_judge(s, "rnn/length/lower", NULL, lower, found->seeds);
    tsri_study_judge(s, "rnn/length/chain", NULL, chain, found->seeds);
    tsri_study_judge(s, "rnn/length/back", NULL, back, found->seeds);
    tsri_study_judge(s, "rnn/length/explodes", NULL, up, found->seeds);
    tsri_study_judge(s, "rnn/length/vanishes", NULL, down, found->seeds);
    judge_widths(s, found, span);
}

static void tell_settings(tsri_study *s, const findings *found)
{
    double odds = (double)found->m / (double)(found->positions * found->positions);
    tsri_study_setting(s, "data", "any of Assumption 2.1", "4 sequences of %lld positions",
                       (long long)found->positions);
    tsri_study_setting(s, "width m", "poly(n, L, 1/delta)", "%lld", (long long)found->m);
    tsri_study_setting(s, "m / L^2", "large: the lemmas hold with probability 1 - e^-Omega(m/L^2)",
                       "%.2g", odds);
    tsri_study_setting(s, "seeds", "with high probability", "%lld", (long long)found->seeds);
    tsri_study_note(s,
                    "Spectral norms by 20 steps of power iteration. With m / L^2 of %.2g the "
                    "lemmas promise nothing at this width, and draws differ much.",
                    odds);
}

/* A fresh network of that run file, on four sequences, measured. */
static tsr_status measure_fresh(measured *out, tsri_study *s, tsr_config *config, int net)
{
    tsr_status st = TSR_OK;
    tsri_run run = {.process.lock = -1};
    tsr_run_options o = tsr_run_options_default();
    TSR_TRY(tsri_run_init(&run, config, &o));
    TSR_TRY(measure(out, s, &run, nets[net].shrink, nets[net].linear));
done:
    tsri_run_fini(&run);
    return st;
}

/* A cell is one network of one draw. */
static tsr_status make_measured(tsri_study_cell *to, tsri_study *s, tsr_config *config,
                                const char *folder, const tsri_cell_ask *ask)
{
    tsr_status st = TSR_OK;
    measured *found = NULL;
    const lengths size = lengths_of(s);
    (void)folder;
    TSR_TRY(tsri_alloc(&found, 1, sizeof *found));
    TSR_TRY(measure_fresh(found, s, config, *(const int *)ask->what));
    tsri_cell_put(to, "least", found->least);
    tsri_cell_put_series(to, "forward", found->forward, size.positions);
    tsri_cell_put_series(to, "chain", found->chain, size.spans);
    tsri_cell_put_series(to, "gradient", found->gradient, size.spans);
done:
    tsri_free(found);
    return st;
}

/* Of the norm of an m x m matrix: it is applied both ways. */
static double flops_of(int64_t m)
{
    return 4.0 * POWERS * (double)m * (double)m;
}

/* Norms are products with a few vectors, on the processors: a step of training says nothing of their
 * time. Of 11 spans 2.5 go on at a position in the mean: two are timed. */
static tsr_status time_norm(double *rate, tsri_study *s, const tsri_cell_ask *ask)
{
    tsr_status st = TSR_OK;
    const int64_t m = WIDEST, count[] = {1, 1};
    float *W = NULL;
    tsri_norm norm[2];
    (void)ask;
    TSR_TRY(tsri_alloc(&W, m * m, sizeof *W));
    for (int64_t i = 0; i < m * m; i++)
        W[i] = (float)(i % 7 - 3);
    tsri_factor f = {W, m, m, NULL};
    double start = tsri_clock();
    TSR_TRY(tsri_chain_norms(norm, &(tsri_chain){&f, 1}, count, 2, POWERS, s->seed, s->pool));
    *rate = 2 * flops_of(m) / (tsri_clock() - start);
done:
    tsri_free(W);
    return st;
}

static tsr_status ask_measured(measured *out, tsri_study *s, const char *yaml, int net, int64_t m,
                               int64_t repeat)
{
    tsr_status st = TSR_OK;
    static const char *const word[NETS] = {"relu", "relu", "relu", "linear", "linear-half"};
    const lengths size = lengths_of(s);
    tsri_study_cell c = {0};
    bool there = false;
    char name[TSRI_CELL_NAME];
    double steps = 0;
    for (int64_t k = 0; k < size.spans; k++)
        steps += (double)span_of[k] * (1 + OUTPUTS / (2.0 * POWERS)); /* with B: by its rows */
    (void)snprintf(name, sizeof name, "%s-m%lld-seed%lld", word[net], (long long)m,
                   (long long)s->seed + (long long)repeat);
    tsri_cell_ask ask = {.name = name,
                         .yaml = yaml,
                         .repeat = repeat,
                         .make = make_measured,
                         .what = &net,
                         .flops = steps * flops_of(m),
                         .time = time_norm};
    TSR_TRY(tsri_study_ask(&c, &there, s, &ask));
    out->least = tsri_cell_value(&c, "least");
    tsri_cell_copy(out->forward, size.positions, &c, "forward");
    tsri_cell_copy(out->chain, size.spans, &c, "chain");
    tsri_cell_copy(out->gradient, size.spans, &c, "gradient");
done:
    tsri_cell_fini(&c);
    return st;
}

static tsr_status one_net(measured *out, tsri_study *s, int net, int64_t m, int64_t repeat)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    char yaml[400];
    (void)snprintf(
        yaml, sizeof yaml,
        "data: {name: sequences, n: 4, test_n: 1, dim: 20, length: %lld, targets: %d, phi: 0.1}\n"
        "model: {name: rnn, width: %lld}\nrounds: 1\nbatch: 1\n",
        (long long)lengths_of(s).positions, OUTPUTS, (long long)m);
    if (s->book)
        return ask_measured(out, s, yaml, net, m, repeat);
    TSR_TRY(tsri_study_config(&config, s, yaml, repeat));
    TSR_TRY(measure_fresh(out, s, config, net));
done:
    tsr_config_destroy(config);
    return st;
}

tsr_status tsri_rnn_length_study(tsri_study *s)
{
    tsr_status st = TSR_OK;
    findings *found = NULL;
    tsri_table t = {0};
    double span[SPANS_MOST], at[LONGEST];
    for (int k = 0; k < SPANS_MOST; k++)
        span[k] = (double)span_of[k];
    for (int l = 0; l < LONGEST; l++)
        at[l] = l + 1;
    TSR_TRY(tsri_alloc(&found, 1, sizeof *found));
    found->m = s->paper ? WIDEST : s->quick ? 512 : 2048;
    found->positions = lengths_of(s).positions;
    found->spans = lengths_of(s).spans;
    found->seeds =
        tsri_study_seeds_to(s, s->quick || s->paper ? TSRI_SEEDS_LEAST : 5, TSRI_RNN_SEEDS);
    tell_settings(s, found);
    for (int k = 0; k < NETS; k++)
        for (int64_t r = 0; r < found->seeds; r++) {
            tsri_study_say(s, (k + (double)r / (double)found->seeds) / NETS, "%s, m = %lld",
                           nets[k].name, (long long)found->m);
            TSR_TRY(one_net(&found->net[k][r], s, k, found->m / nets[k].divide, r));
        }
    tabulate(&t, found, at, span);
    judge_length(s, found, at, span);
    draw_length(s, found);
    tsri_study_table(s, "length-table", "Growth along a sequence, first draw", &t);
    TSR_TRY(tsri_study_end(s));
done:
    tsri_free(found);
    tsri_table_fini(&t);
    return st;
}
