/* certificate.c - rows collected, judged, and written down. */
#include "theory/certificate.h"

#include "base/alloc.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Collecting --------------------------------------------------------------------------- */

void tsri_certificate_init(tsri_certificate *c, const char *paper)
{
    *c = (tsri_certificate){.paper = paper};
}

void tsri_certificate_fini(tsri_certificate *c)
{
    for (int64_t i = 0; i < c->notes; i++)
        tsri_free(c->note[i]);
    tsri_free(c->note);
    tsri_free(c->row);
    *c = (tsri_certificate){0};
}

void tsri_certify(tsri_certificate *c, const char *where, tsri_sense sense, double measured,
                  double required, const char *quantity, ...)
{
    va_list list;
    if (c->st == TSR_OK)
        c->st = tsri_reserve(&c->row, &c->room, c->count, sizeof *c->row);
    if (c->st != TSR_OK)
        return;
    tsri_row *row = &c->row[c->count++];
    *row = (tsri_row){.sense = sense,
                      .measured = measured,
                      .required = sense == TSRI_MEASURED ? (double)NAN : required,
                      .low = NAN,
                      .high = NAN,
                      .level = NAN};
    va_start(list, quantity);
    (void)vsnprintf(row->quantity, sizeof row->quantity, quantity, list);
    va_end(list);
    (void)snprintf(row->where, sizeof row->where, "%s", where);
}

void tsri_certify_interval(tsri_certificate *c, double low, double high, double level)
{
    if (c->st != TSR_OK || c->count == 0)
        return;
    c->row[c->count - 1].low = low;
    c->row[c->count - 1].high = high;
    c->row[c->count - 1].level = level;
}

void tsri_certify_note(tsri_certificate *c, const char *fmt, ...)
{
    char text[600];
    va_list list;
    va_start(list, fmt);
    (void)vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    if (c->st == TSR_OK)
        c->st = tsri_reserve(&c->note, &c->notes_room, c->notes, sizeof *c->note);
    if (c->st == TSR_OK)
        c->st = tsri_strdup(&c->note[c->notes], text);
    if (c->st == TSR_OK)
        c->notes++;
}

tsr_status tsri_certificate_end(const tsri_certificate *c)
{
    return c->st;
}

/* ---- Judging ------------------------------------------------------------------------------ */

static bool kept(const tsri_row *row, double value)
{
    return row->sense == TSRI_AT_LEAST ? value >= row->required : value <= row->required;
}

tsri_verdict tsri_row_verdict(const tsri_row *row)
{
    if (row->sense == TSRI_MEASURED)
        return TSRI_NO_VERDICT;
    if (isnan(row->measured) || isnan(row->required))
        return TSRI_OPEN;
    double low = isnan(row->low) ? row->measured : row->low;
    double high = isnan(row->high) ? row->measured : row->high;
    if (kept(row, low) && kept(row, high))
        return TSRI_HOLDS;
    return kept(row, low) || kept(row, high) ? TSRI_OPEN : TSRI_FAILS;
}

double tsri_row_factor(const tsri_row *row)
{
    double top = row->sense == TSRI_AT_LEAST ? row->required : row->measured;
    double bottom = row->sense == TSRI_AT_LEAST ? row->measured : row->required;
    if (row->sense == TSRI_MEASURED || isnan(top) || isnan(bottom))
        return NAN;
    if (kept(row, row->measured) && (top <= 0 || bottom <= 0))
        return top == bottom ? 1 : 0;
    return bottom > 0 ? top / bottom : (double)INFINITY;
}

const char *tsri_row_words(char *text, size_t room, const tsri_row *row)
{
    double factor = tsri_row_factor(row);
    switch (tsri_row_verdict(row)) {
    case TSRI_NO_VERDICT:
        (void)snprintf(text, room, "%s", "");
        break;
    case TSRI_HOLDS:
        (void)snprintf(text, room, "holds");
        break;
    case TSRI_OPEN:
        (void)snprintf(text, room, isnan(row->measured) ? "not known yet" : "open");
        break;
    case TSRI_FAILS:
        if (isinf(factor))
            (void)snprintf(text, room, "fails");
        else
            (void)snprintf(text, room, "fails by a factor of %.3g", factor);
        break;
    }
    return text;
}

bool tsri_certificate_holds(const tsri_certificate *c)
{
    for (int64_t i = 0; i < c->count; i++) {
        tsri_verdict v = tsri_row_verdict(&c->row[i]);
        if (v == TSRI_FAILS || v == TSRI_OPEN)
            return false;
    }
    return true;
}

void tsri_certificate_count(const tsri_certificate *c, int64_t *conditions, int64_t *holding)
{
    *conditions = *holding = 0;
    for (int64_t i = 0; i < c->count; i++) {
        tsri_verdict v = tsri_row_verdict(&c->row[i]);
        *conditions += v != TSRI_NO_VERDICT;
        *holding += v == TSRI_HOLDS;
    }
}

const tsri_row *tsri_certificate_worst(const tsri_certificate *c)
{
    const tsri_row *worst = NULL;
    double most = 0;
    for (int64_t i = 0; i < c->count; i++) {
        const tsri_row *row = &c->row[i];
        double factor = tsri_row_factor(row);
        if (tsri_row_verdict(row) == TSRI_FAILS &&
            (!worst || (isfinite(factor) && factor > most))) {
            worst = row;
            most = isfinite(factor) ? factor : 0;
        }
    }
    return worst;
}

/* ---- Text --------------------------------------------------------------------------------- */

/* 6 digits are enough to compare; whole numbers below a million stay whole. */
static void number(char text[32], double value)
{
    if (isnan(value))
        (void)snprintf(text, 32, "-");
    else
        (void)snprintf(text, 32, "%.6g", value);
}

static tsr_status row_text(tsri_text *out, const tsri_row *row)
{
    tsr_status st = TSR_OK;
    char measured[32], required[32], low[32], high[32], words[64];
    number(measured, row->measured);
    number(required, row->required);
    TSR_TRY(
        tsri_text_add(out, "  %-20s %s\n  %-20s   %s", row->where, row->quantity, "", measured));
    if (!isnan(row->low) || !isnan(row->high)) {
        number(low, row->low);
        number(high, row->high);
        TSR_TRY(tsri_text_add(out, " [%s, %s] at %.0f %%", low, high, 100 * row->level));
    }
    if (row->sense != TSRI_MEASURED)
        TSR_TRY(tsri_text_add(out, ", required %s %s: %s",
                              row->sense == TSRI_AT_LEAST ? "at least" : "at most", required,
                              tsri_row_words(words, sizeof words, row)));
    TSR_TRY(tsri_text_add(out, "\n"));
done:
    return st;
}

tsr_status tsri_certificate_text(tsri_text *out, const tsri_certificate *c)
{
    tsr_status st = c->st;
    int64_t conditions, holding;
    tsri_certificate_count(c, &conditions, &holding);
    TSR_TRY(st);
    if (c->round > 0)
        TSR_TRY(tsri_text_add(out, "%s, after round %lld\n", c->paper, (long long)c->round));
    else
        TSR_TRY(tsri_text_add(out, "%s, before the run\n", c->paper));
    for (int64_t i = 0; i < c->count; i++)
        TSR_TRY(row_text(out, &c->row[i]));
    for (int64_t i = 0; i < c->notes; i++)
        TSR_TRY(tsri_text_add(out, "  note: %s\n", c->note[i]));
    TSR_TRY(tsri_text_add(out, "  %lld of %lld conditions hold\n", (long long)holding,
                          (long long)conditions));
done:
    return st;
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void key_word(tsri_json *w, const char *key, const char *word)
{
    tsri_json_key(w, key);
    if (word)
        tsri_json_text(w, word);
    else
        tsri_json_null(w);
}

static void row_json(tsri_json *w, const tsri_row *row)
{
    static const char *const sense[] = {NULL, "at least", "at most"};
    static const char *const verdict[] = {NULL, "holds", "fails", "open"};
    tsri_json_open(w, '{');
    key_word(w, "quantity", row->quantity);
    key_word(w, "where", row->where);
    tsri_json_put_real(w, "measured", row->measured);
    key_word(w, "sense", sense[row->sense]);
    tsri_json_put_real(w, "required", row->required);
    key_word(w, "verdict", verdict[tsri_row_verdict(row)]);
    tsri_json_put_real(w, "factor", tsri_row_factor(row));
    tsri_json_key(w, "interval");
    if (isnan(row->low) && isnan(row->high)) {
        tsri_json_null(w);
    } else {
        tsri_json_open(w, '[');
        tsri_json_real(w, row->low);
        tsri_json_real(w, row->high);
        tsri_json_close(w, ']');
    }
    tsri_json_put_real(w, "level", row->level);
    tsri_json_close(w, '}');
}

void tsri_certificate_json(tsri_json *w, const tsri_certificate *c)
{
    key_word(w, "paper", c->paper);
    tsri_json_put_int(w, "round", c->round);
    tsri_json_put_bool(w, "holds", tsri_certificate_holds(c));
    tsri_json_key(w, "rows");
    tsri_json_open(w, '[');
    for (int64_t i = 0; i < c->count; i++)
        row_json(w, &c->row[i]);
    tsri_json_close(w, ']');
    tsri_json_key(w, "notes");
    tsri_json_open(w, '[');
    for (int64_t i = 0; i < c->notes; i++)
        tsri_json_text(w, c->note[i]);
    tsri_json_close(w, ']');
}
