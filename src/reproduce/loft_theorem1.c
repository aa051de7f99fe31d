/* loft_theorem1.c - Theorem 1 of LoFT (Wang, Dun, Liao, Jermaine, Kyrillidis 2022): weights and
 * outputs of LoFT stay near those of gradient descent, the nearer the more filters m and shares S.
 *
 *     E ||W_T - W^_T||_F^2 + eta sum_{t<T} E ||f(X,W_t) - f(X,W^_t)||^2
 *         <= O( n^2 sqrt(d) / (lambda_0^2 kappa m^(1/4) sqrt(delta)) + 2 eta^2 T theta^2 (1-xi)
 *               lambda_0 / S )
 *
 * Both sums are measured on the paper's own network (model cnn1, one output, masks thrown filter by
 * filter, one local step, full batches) over m at one S and over S at one m, several draws of the
 * masks each, one draw of the weights per repetition. The paper shows no numbers; its network is
 * abstract, so are the images: normal pixels, targets from -1 to 1.
 *
 * Gradient descent has the step eta theta / xi, as in the proof (appendix C): the mean step of
 * LoFT. eta is 1 / (largest eigenvalue of H_inf): the theorem's lambda_0 / n^2 is so small that
 * nothing would move. So the trend is judged, not the bound: the power of m, of S and of theta^2/S,
 * which is the S of the second term (theta = 1 - (1 - xi)^S is 0.5 at S = 1 and 1 at large S).
 */
#include "reproduce/loft_theorem1.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "io/file.h"
#include "io/npy.h"
#include "theory/loft_paths.h"
#include "theory/ntk.h"

#include <math.h>
#include <stdio.h>

enum { SAMPLES = 12, SIDE = 6, MOST = 8, REPEATS_MOST = 64 };

enum { SUM, WEIGHTS, OUTPUTS, PARTS };

#define CHANCE 0.5 /* xi */

typedef struct setting {
    tsri_study *study;
    char *data; /* folder of the images, or NULL: --data */
    double eta;
    int64_t rounds, repeats;
} setting;

/* One point of a curve: both parts and their sum, of every draw and their mean. */
typedef struct point {
    double at; /* m or S */
    double of[PARTS][REPEATS_MOST];
    tsri_estimate mean[PARTS];
} point;

static tsr_status write_images(char **folder, const tsri_study *s)
{
    tsr_status st = TSR_OK;
    char *file = NULL;
    float x[SAMPLES * SIDE * SIDE], y[SAMPLES];
    tsri_rng rng = tsri_rng_stream(s->seed, TSRI_FOR_DATA, 0, 0, 0);
    for (int i = 0; i < SAMPLES * SIDE * SIDE; i++)
        x[i] = (float)tsri_rng_normal(&rng);
    for (int i = 0; i < SAMPLES; i++)
        y[i] = 2 * tsri_rng_uniform(&rng) - 1;
    tsri_tensor images = {
        .dtype = TSRI_F32, .dims = 4, .shape = {SAMPLES, 1, SIDE, SIDE}, .data = x};
    tsri_tensor targets = {.dtype = TSRI_F32, .dims = 1, .shape = {SAMPLES}, .data = y};
    TSR_TRY(tsri_path_join(folder, s->folder, "images"));
    TSR_TRY(tsri_make_folder(*folder));
    TSR_TRY(tsri_path_join(&file, *folder, "x.npy"));
    TSR_TRY(tsri_npy_write(file, &images));
    TSRI_FREE(file);
    TSR_TRY(tsri_path_join(&file, *folder, "y.npy"));
    TSR_TRY(tsri_npy_write(file, &targets));
done:
    tsri_free(file);
    return st;
}

static tsr_status config_of(tsr_config **config, const setting *t, int64_t m, int64_t S,
                            int64_t repeat)
{
    char yaml[2400], data[1200];
    if (t->data)
        (void)snprintf(data, sizeof data, "path: \"%s\", format: npy, split: 0, target_scale: none",
                       t->data);
    else /* --data: as many of its samples */
        (void)snprintf(data, sizeof data, "limit: %d", SAMPLES);
    (void)snprintf(yaml, sizeof yaml,
                   "data: {%s, task: regress, normalize: patch}\n"
                   "model: {name: cnn1, width: %lld}\nloss: half_squares\n"
                   "optim: {name: gd, lr: %.17g, momentum: 0}\n"
                   "scheme: {name: masked, draw: bernoulli, workers: %lld, xi: %g}\nrounds: %lld\n",
                   data, (long long)m, t->eta, (long long)S, CHANCE, (long long)t->rounds);
    return tsri_study_config(config, t->study, yaml, repeat);
}

/* 1 / (largest eigenvalue of H_inf): gradient descent goes eta theta xi times the kernel at most,
 * half of what would not swing. */
static tsr_status choose_step(setting *t)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsri_ntk ntk = {0};
    tsri_ntk_options o = tsri_ntk_options_default();
    o.kind = TSRI_NTK_INFINITE;
    o.lanczos = true;
    t->eta = 1;
    TSR_TRY(config_of(&config, t, 4, 1, 0));
    TSR_TRY(tsri_ntk_of_run(&ntk, config, &o));
    t->eta = 1 / ntk.largest.value;
done:
    tsri_ntk_fini(&ntk);
    tsr_config_destroy(config);
    return st;
}

static tsr_status measure(point *p, const setting *t, int64_t m, int64_t S)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    for (int64_t r = 0; r < t->repeats; r++) {
        TSR_TRY(config_of(&config, t, m, S, r));
        TSR_TRY(tsri_loft_paths(&p->of[WEIGHTS][r], &p->of[OUTPUTS][r], config, r + 1));
        p->of[SUM][r] = p->of[WEIGHTS][r] + p->of[OUTPUTS][r];
        tsr_config_destroy(config);
        config = NULL;
    }
    for (int i = 0; i < PARTS; i++)
        p->mean[i] = tsri_mean_of(p->of[i], t->repeats);
done:
    tsr_config_destroy(config);
    return st;
}

/* ---- Showing and judging -------------------------------------------------------------------- */

static void series(tsri_chart *c, const char *name, const point *p, int64_t n, int which)
{
    double x[MOST], y[MOST], low[MOST], high[MOST];
    for (int64_t i = 0; i < n; i++) {
        const tsri_estimate *e = &p[i].mean[which];
        x[i] = p[i].at;
        y[i] = e->value;
        low[i] = e->low > 0 ? e->low : e->value / 10;
        high[i] = e->high;
    }
    tsri_chart_series(c, &(tsri_series){.name = name,
                                        .n = n,
                                        .x = x,
                                        .y = y,
                                        .low = low,
                                        .high = high,
                                        .marks = TSRI_MARKS_BOTH});
}

static void panel(tsri_chart *c, const char *title, const char *label, const point *p, int64_t n)
{
    tsri_chart_panel(c, &(tsri_panel){.title = title,
                                      .x_label = label,
                                      .y_label = "distance from gradient descent",
                                      .x_log = true,
                                      .y_log = true});
    series(c, "both together", p, n, SUM);
    series(c, "weights", p, n, WEIGHTS);
    series(c, "outputs, summed", p, n, OUTPUTS);
}

static double itself(double at)
{
    return at;
}

/* theta^2 / S, as the second term has it. */
static double second_term(double S)
{
    double theta = 1 - pow(1 - CHANCE, S);
    return theta * theta / S;
}

/* The power of x(m or S) that the sum of each draw goes with. */
static void judge(tsri_study *s, const char *id, const point *p, int64_t n, int64_t repeats,
                  double (*x_of)(double))
{
    double power[REPEATS_MOST], x[MOST], y[MOST];
    for (int64_t r = 0; r < repeats; r++) {
        for (int64_t i = 0; i < n; i++) {
            x[i] = log(x_of(p[i].at));
            y[i] = log(p[i].of[SUM][r]);
        }
        power[r] = tsri_slope_of(NULL, x, y, n).value;
    }
    tsri_study_judge(s, id, NULL, power, repeats);
}

static void table_rows(tsri_table *t, const char *letter, const point *p, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        tsri_table_format(t, "%s = %g", letter, p[i].at);
        tsri_table_format(t, "%.4g", p[i].mean[WEIGHTS].value);
        tsri_table_format(t, "%.4g", p[i].mean[OUTPUTS].value);
        tsri_table_format(t, "%.4g [%.4g, %.4g]", p[i].mean[SUM].value, p[i].mean[SUM].low,
                          p[i].mean[SUM].high);
    }
}

static void show(tsri_study *s, const point *by_m, int64_t ms, const point *by_S, int64_t Ss)
{
    tsri_chart c;
    tsri_table t = {0};
    tsri_chart_begin(&c, "LoFT's distance from gradient descent (Theorem 1)");
    panel(&c, "4 shares", "filters m", by_m, ms);
    panel(&c, "256 filters", "shares S", by_S, Ss);
    tsri_study_chart(s, "theorem1", &c);
    tsri_table_head(&t, "at|weights|outputs, summed|both");
    table_rows(&t, "m", by_m, ms);
    table_rows(&t, "S", by_S, Ss);
    tsri_study_table(s, "theorem1-table", "Squared distances, mean over draws, 95 % interval", &t);
    tsri_table_fini(&t);
    tsri_chart_fini(&c);
}

/* The theorem is abstract: only what it asks for can be departed from. */
static void tell_settings(const setting *t)
{
    tsri_study *s = t->study;
    if (s->data)
        tsri_study_setting(s, "images", "any of Assumption 1", "%d samples of %s", SAMPLES,
                           tsri_study_data_name(s, ""));
    else
        tsri_study_setting(s, "images", "any of Assumption 1", "%d of %d x %d normal pixels",
                           SAMPLES, SIDE, SIDE);
    tsri_study_setting(s, "step", "O(lambda_0 / n^2)", "%.3g, 1 over the largest eigenvalue",
                       t->eta);
    tsri_study_setting(s, "filters", "Omega(n^4 K^2 max(n, d) / (lambda_0^3 delta^2))",
                       "16 to %d, 256 where S varies", s->quick ? 1024 : 4096);
    tsri_study_setting(s, "chance xi", "any", "%g", CHANCE);
    tsri_study_setting(s, "rounds T", "any", "%lld", (long long)t->rounds);
    tsri_study_setting(s, "draws of weights and masks", "an expectation over masks", "%lld a point",
                       (long long)t->repeats);
}

tsr_status tsri_loft_theorem1(tsri_study *s)
{
    static const int64_t m[] = {16, 64, 256, 1024, 4096}, S[] = {1, 2, 4, 8, 16, 32};
    tsr_status st = TSR_OK;
    int64_t ms = s->quick ? 4 : 5, Ss = s->quick ? 5 : 6;
    point *by_m = NULL, *by_S = NULL;
    setting t = {.study = s, .rounds = s->quick ? 20 : 100};
    t.repeats = tsri_study_seeds(s, s->quick ? 6 : 20);
    if (t.repeats > REPEATS_MOST)
        t.repeats = REPEATS_MOST;
    TSR_TRY(tsri_alloc(&by_m, MOST, sizeof *by_m));
    TSR_TRY(tsri_alloc(&by_S, MOST, sizeof *by_S));
    if (!s->data)
        TSR_TRY(write_images(&t.data, s));
    TSR_TRY(choose_step(&t));
    tell_settings(&t);
    for (int64_t i = 0; i < ms; i++) {
        tsri_study_say(s, (double)i / (double)(ms + Ss), "%lld filters", (long long)m[i]);
        by_m[i].at = (double)m[i];
        TSR_TRY(measure(&by_m[i], &t, m[i], 4));
    }
    for (int64_t i = 0; i < Ss; i++) {
        tsri_study_say(s, (double)(ms + i) / (double)(ms + Ss), "%lld shares", (long long)S[i]);
        by_S[i].at = (double)S[i];
        TSR_TRY(measure(&by_S[i], &t, 256, S[i]));
    }
    show(s, by_m, ms, by_S, Ss);
    judge(s, "loft/theorem1/filters", by_m, ms, t.repeats, itself);
    judge(s, "loft/theorem1/shares", by_S, Ss, t.repeats, itself);
    judge(s, "loft/theorem1/one-over-s", by_S, Ss, t.repeats, itself);
    judge(s, "loft/theorem1/theta", by_S, Ss, t.repeats, second_term);
    TSR_TRY(tsri_study_end(s));
done:
    tsri_free(by_m);
    tsri_free(by_S);
    tsri_free(t.data);
    return st;
}
