/* certify_widths.c - tessera certify --widths: constants that a paper does not state, over widths.
 *
 * Where a theorem hides its constant the certificate has a number: the measured side over the
 * formula. A constant that is one stays the same as the network grows: so the numbers are measured
 * at several widths, and a power of the width is fitted to each, with its interval.
 */
#include "cli/certify_widths.h"

#include "cli/print.h"
#include "cli/settings.h"

#include "base/alloc.h"
#include "base/estimate.h"
#include "theory/papers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTHS_LEAST = 3, WIDTHS_MOST = 16 };

typedef struct widths {
    int64_t count;
    double width[WIDTHS_MOST];
    tsri_certificate c[WIDTHS_MOST];
} widths;

static tsr_status parse(widths *w, const char *list)
{
    tsr_status st = TSR_OK;
    char *end = NULL;
    for (const char *at = list; *at; at = *end ? end + 1 : end) {
        long long width = strtoll(at, &end, 10);
        TSR_CHECK(end > at && (*end == ',' || !*end) && width > 0 && w->count < WIDTHS_MOST,
                  TSR_USAGE, "--widths: \"%s\" is not a list of %d to %d widths, as 64,128,256",
                  tsri_quote(list), WIDTHS_LEAST, WIDTHS_MOST);
        w->width[w->count++] = (double)width;
    }
    TSR_CHECK(w->count >= WIDTHS_LEAST, TSR_USAGE,
              "--widths: a power cannot be fitted to %lld widths; give at least %d",
              (long long)w->count, WIDTHS_LEAST);
done:
    return st;
}

static tsr_status measure(widths *w, const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    char setting[64];
    for (int64_t i = 0; i < w->count; i++) {
        TSR_TRY(tsr_config_read(&config, args->operand[0]));
        TSR_TRY(cli_settings(config, args));
        (void)snprintf(setting, sizeof setting, "model.width=%lld", (long long)w->width[i]);
        TSR_TRY(tsr_config_set(config, setting));
        TSR_TRY(tsri_certify_before(&w->c[i], config));
        tsr_config_destroy(config);
        config = NULL;
    }
done:
    tsr_config_destroy(config);
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
        x[i] = log(w->width[i]);
        y[i] = log(value[i]);
    }
    *power = tsri_slope_of(NULL, x, y, w->count);
    return true;
}

static void print_text(const widths *w)
{
    char text[TSRI_ESTIMATE_TEXT];
    (void)printf("%s: rows without requirement over the width m\n", w->c[0].paper);
    for (int64_t row = 0; row < w->c[0].count; row++) {
        double value[WIDTHS_MOST];
        tsri_estimate power;
        if (!fit(value, &power, w, row))
            continue;
        (void)printf("  %-20s %s\n  %-20s  ", w->c[0].row[row].where, w->c[0].row[row].quantity,
                     "");
        for (int64_t i = 0; i < w->count; i++)
            (void)printf(" m = %.0f: %.4g;", w->width[i], value[i]);
        (void)printf(" as m to the power of %s\n", tsri_estimate_text(text, power));
    }
}

static tsr_status print_json(const widths *w)
{
    tsri_json j = {0};
    tsri_json_begin(&j);
    tsri_json_put_text(&j, "paper", w->c[0].paper);
    tsri_json_key(&j, "widths");
    tsri_json_open(&j, '[');
    for (int64_t i = 0; i < w->count; i++)
        tsri_json_int(&j, (int64_t)w->width[i]);
    tsri_json_close(&j, ']');
    tsri_json_key(&j, "numbers");
    tsri_json_open(&j, '[');
    for (int64_t row = 0; row < w->c[0].count; row++) {
        double value[WIDTHS_MOST];
        tsri_estimate power;
        if (!fit(value, &power, w, row))
            continue;
        tsri_json_open(&j, '{');
        tsri_json_put_text(&j, "where", w->c[0].row[row].where);
        tsri_json_put_text(&j, "quantity", w->c[0].row[row].quantity);
        tsri_json_key(&j, "values");
        tsri_json_open(&j, '[');
        for (int64_t i = 0; i < w->count; i++)
            tsri_json_real(&j, value[i]);
        tsri_json_close(&j, ']');
        tsri_json_put_real(&j, "power", power.value);
        tsri_json_put_real(&j, "power_low", power.low);
        tsri_json_put_real(&j, "power_high", power.high);
        tsri_json_close(&j, '}');
    }
    tsri_json_close(&j, ']');
    tsri_json_close(&j, '}');
    return cli_json_print(&j);
}

tsr_status cli_certify_widths(const cli_args *args, const char *list)
{
    tsr_status st = TSR_OK;
    widths *w = NULL;
    TSR_TRY(tsri_alloc(&w, 1, sizeof *w));
    TSR_TRY(parse(w, list));
    TSR_TRY(measure(w, args));
    if (args->json)
        TSR_TRY(print_json(w));
    else
        print_text(w);
done:
    for (int64_t i = 0; w && i < w->count; i++)
        tsri_certificate_fini(&w->c[i]);
    tsri_free(w);
    return st;
}
