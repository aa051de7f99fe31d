/* theories_public.c - the calculator of widths and the fit of hidden constants, as documents.
 *
 * Where a theorem hides its constant the certificate has a number: the measured side over the
 * formula. A constant that is one stays the same as the network grows: so the numbers are measured
 * at several widths, and a power of the width is fitted to each, with its interval.
 */
#include "base/alloc.h"
#include "base/estimate.h"
#include "base/sized.h"
#include "io/json.h"
#include "theory/papers.h"
#include "theory/theories.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- The calculator ------------------------------------------------------------------------- */

static void theory_json(tsri_json *w, const tsri_theory *t, const tsri_theory_setting *s)
{
    tsri_theory_logs logs = tsri_theory_logs_of(t, s);
    tsri_json_open(w, '{');
    tsri_json_put_text(w, "theory", t->name);
    tsri_json_put_text(w, "where", t->where);
    tsri_json_put_real(w, "width", t->width);
    tsri_json_put_real(w, "iterations", t->iterations);
    tsri_json_put_real(w, "step", t->step);
    tsri_json_put_real(w, "log10_width", logs.width);
    tsri_json_put_real(w, "log10_iterations", logs.iterations);
    tsri_json_put_real(w, "log10_step", logs.step);
    tsri_json_put_text(w, "probability", t->probability);
    tsri_json_put_text(w, "remark", t->remark);
    tsri_json_close(w, '}');
}

tsr_status tsr_theories(char **json, const tsr_theory_setting *setting)
{
    tsr_status st = TSR_OK;
    tsri_theory theory[TSRI_THEORIES];
    tsr_theory_setting o;
    tsri_json w = {0};
    TSRI_GIVEN(json);
    *json = NULL;
    TSR_TRY(TSRI_SIZED_TAKE(&o, setting));
    const double given[] = {o.n,  o.L, o.d,   o.dy,    o.epsilon, o.delta,
                            o.xi, o.p, o.tau, o.kappa, o.phi};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        TSR_CHECK(given[i] > 0, TSR_USAGE,
                  "a number of the setting is not above 0: begin with "
                  "tsr_theory_setting_default()");
    tsri_theory_setting s = {.n = o.n,
                             .L = o.L,
                             .d = o.d,
                             .dy = o.dy,
                             .epsilon = o.epsilon,
                             .delta = o.delta,
                             .lambda = o.lambda > 0 ? o.lambda : (double)NAN,
                             .xi = o.xi,
                             .p = o.p,
                             .tau = o.tau,
                             .kappa = o.kappa,
                             .phi = o.phi,
                             .K = o.K > 0 ? o.K : (double)NAN};
    tsri_theories(theory, &s);
    tsri_json_begin(&w);
    tsri_json_key(&w, "theories");
    tsri_json_open(&w, '[');
    for (int i = 0; i < TSRI_THEORIES; i++)
        theory_json(&w, &theory[i], &s);
    tsri_json_close(&w, ']');
    tsri_json_close(&w, '}');
    TSR_TRY(tsri_json_give(json, &w));
done:
    tsri_json_fini(&w);
    return st;
}

/* ---- Constants over widths ------------------------------------------------------------------ */

enum { WIDTHS_LEAST = 3, WIDTHS_MOST = 16 };

typedef struct widths {
    int64_t count;
    const int64_t *width;
    tsri_certificate c[WIDTHS_MOST];
} widths;

static tsr_status measure(widths *w, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    tsr_config *copy = NULL;
    char setting[64];
    for (int64_t i = 0; i < w->count; i++) {
        TSR_TRY(tsri_config_copy(&copy, config));
        (void)snprintf(setting, sizeof setting, "model.width=%lld", (long long)w->width[i]);
        TSR_TRY(tsr_config_set(copy, setting));
        TSR_TRY(tsri_certify_before(&w->c[i], copy));
        tsr_config_destroy(copy);
        copy = NULL;
    }
done:
    tsr_config_destroy(copy);
    return st;
}

/* The row of the other certificate that stands for the same quantity: the k-th of its place. */
static const tsri_row *same_row(const tsri_certificate *c, const tsri_certificate *of, int64_t row)
{
    int64_t before = 0;
    for (int64_t i = 0; i < row; i++)
        before += strcmp(of->row[i].where, of->row[row].where) == 0;
    for (int64_t i = 0; i < c->count; i++)
        if (strcmp(c->row[i].where, of->row[row].where) == 0 && before-- == 0)
            return &c->row[i];
    return NULL;
}

/* The numbers of one row over widths, and the power of m that fits them; false when it has none. */
static bool fit(double value[WIDTHS_MOST], tsri_estimate *power, const widths *w, int64_t row)
{
    double x[WIDTHS_MOST], y[WIDTHS_MOST];
    for (int64_t i = 0; i < w->count; i++) {
        const tsri_row *r = same_row(&w->c[i], &w->c[0], row);
        value[i] = r ? r->claim.measured : (double)NAN;
        if (!r || r->claim.sense != TSRI_MEASURED || !(value[i] > 0) || isinf(value[i]))
            return false;
        x[i] = log((double)w->width[i]);
        y[i] = log(value[i]);
    }
    *power = tsri_slope_of(NULL, x, y, w->count);
    return true;
}

static void row_json(tsri_json *j, const widths *w, int64_t row)
{
    double value[WIDTHS_MOST];
    tsri_estimate power;
    char text[TSRI_ESTIMATE_TEXT];
    if (!fit(value, &power, w, row))
        return;
    tsri_json_open(j, '{');
    tsri_json_put_text(j, "where", w->c[0].row[row].where);
    tsri_json_put_text(j, "quantity", w->c[0].row[row].quantity);
    tsri_json_key(j, "values");
    tsri_json_open(j, '[');
    for (int64_t i = 0; i < w->count; i++)
        tsri_json_real(j, value[i]);
    tsri_json_close(j, ']');
    tsri_json_put_real(j, "power", power.value);
    tsri_json_put_real(j, "power_low", power.low);
    tsri_json_put_real(j, "power_high", power.high);
    tsri_json_put_text(j, "power_text", tsri_estimate_text(text, power));
    tsri_json_close(j, '}');
}

static void widths_json(tsri_json *j, const widths *w)
{
    tsri_json_begin(j);
    tsri_json_put_text(j, "paper", w->c[0].paper);
    tsri_json_key(j, "widths");
    tsri_json_open(j, '[');
    for (int64_t i = 0; i < w->count; i++)
        tsri_json_int(j, w->width[i]);
    tsri_json_close(j, ']');
    tsri_json_key(j, "numbers");
    tsri_json_open(j, '[');
    for (int64_t row = 0; row < w->c[0].count; row++)
        row_json(j, w, row);
    tsri_json_close(j, ']');
    tsri_json_close(j, '}');
}

tsr_status tsr_certify_widths(char **json, const tsr_config *config, const int64_t *width,
                              int64_t count)
{
    tsr_status st = TSR_OK;
    widths *w = NULL;
    tsri_json j = {0};
    TSRI_GIVEN(json);
    *json = NULL;
    TSRI_GIVEN(config);
    TSRI_GIVEN(width);
    TSR_CHECK(count >= WIDTHS_LEAST && count <= WIDTHS_MOST, TSR_USAGE,
              "a power is fitted to %d to %d widths, not to %lld", WIDTHS_LEAST, WIDTHS_MOST,
              (long long)count);
    TSR_TRY(tsri_alloc(&w, 1, sizeof *w));
    w->count = count;
    w->width = width;
    TSR_TRY(measure(w, config));
    widths_json(&j, w);
    TSR_TRY(tsri_json_give(json, &j));
done:
    tsri_json_fini(&j);
    for (int64_t i = 0; w && i < w->count; i++)
        tsri_certificate_fini(&w->c[i]);
    tsri_free(w);
    return st;
}
