/* certificate_write.c - a certificate as text for people and as JSON. */
#include "theory/certificate.h"

#include "theory/assume.h"

#include <math.h>
#include <stdio.h>

static const char *const sense_words[] = {NULL, "at least", "at most"};

/* ---- Text --------------------------------------------------------------------------------- */

const char *tsri_row_words(char *text, size_t room, const tsri_row *row)
{
    double factor = tsri_row_factor(row);
    const char *word = tsri_verdicts[row->verdict].name;
    if (!word)
        (void)snprintf(text, room, "%s", "");
    else if (row->verdict == TSRI_FAILS && !isinf(factor))
        (void)snprintf(text, room, "%s by a factor of %.3g", word, factor);
    else if (row->reason[0])
        (void)snprintf(text, room, "%s: %s", word, row->reason);
    else
        (void)snprintf(text, room, "%s", word);
    return text;
}

const char *tsri_certificate_summary(char *text, size_t room, const tsri_certificate *c)
{
    int64_t count[TSRI_VERDICTS];
    size_t at = 0;
    tsri_certificate_count(count, c);
    for (int v = TSRI_HOLDS; v < TSRI_VERDICTS && at < room; v++) {
        int wrote = snprintf(text + at, room - at, "%s%lld %s", v > TSRI_HOLDS ? ", " : "",
                             (long long)count[v],
                             count[v] == 1 ? tsri_verdicts[v].one : tsri_verdicts[v].many);
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    return text;
}

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
    const tsri_condition *claim = &row->claim;
    char measured[32], required[32], low[32], high[32], words[TSRI_REASON_TEXT + 64];
    number(measured, claim->measured);
    number(required, claim->required);
    TSR_TRY(
        tsri_text_add(out, "  %-20s %s\n  %-20s   %s", row->where, row->quantity, "", measured));
    if (claim->interval.level > 0) {
        number(low, claim->interval.low);
        number(high, claim->interval.high);
        TSR_TRY(tsri_text_add(out, " [%s, %s] at %.0f %%", low, high, 100 * claim->interval.level));
    }
    if (claim->sense != TSRI_MEASURED)
        TSR_TRY(tsri_text_add(out, ", required %s %s: %s", sense_words[claim->sense], required,
                              tsri_row_words(words, sizeof words, row)));
    TSR_TRY(tsri_text_add(out, "\n"));
done:
    return st;
}

/* "Theorem 3 is stated with probability 1 - delta = 0.9; it assumes: momentum 0, ..." */
static tsr_status theorem_text(tsri_text *out, const tsri_theorem *t)
{
    tsr_status st = TSR_OK;
    const char *between = "";
    TSR_TRY(tsri_text_add(out, "  %s", t->where));
    if (t->chance[0]) {
        TSR_TRY(tsri_text_add(out, ", with probability %s", t->chance));
        if (!isnan(t->probability))
            TSR_TRY(tsri_text_add(out, " = %.6g", t->probability));
    }
    if (t->assumes)
        TSR_TRY(tsri_text_add(out, "%s assumes ", t->chance[0] ? "," : ""));
    for (unsigned bit = 1; bit && t->assumes >= bit; bit <<= 1)
        if (t->assumes & bit) {
            TSR_TRY(tsri_text_add(out, "%s%s", between, tsri_assumption_words(bit)));
            between = ", ";
        }
    TSR_TRY(tsri_text_add(out, "\n"));
done:
    return st;
}

/* Those that a theorem of this certificate needs. */
static tsr_status breaches_text(tsri_text *out, const tsri_certificate *c)
{
    tsr_status st = TSR_OK;
    unsigned needed = 0;
    for (int64_t i = 0; i < c->theorems; i++)
        needed |= c->theorem[i].assumes;
    for (int64_t i = 0; i < c->breaches; i++)
        if (c->breach[i].assumption & needed)
            TSR_TRY(tsri_text_add(out, "  broken: %s (%s)\n",
                                  tsri_assumption_words(c->breach[i].assumption),
                                  c->breach[i].how));
done:
    return st;
}

tsr_status tsri_certificate_text(tsri_text *out, const tsri_certificate *c)
{
    tsr_status st = c->st;
    char summary[200];
    TSR_TRY(st);
    if (c->round > 0)
        TSR_TRY(tsri_text_add(out, "%s, after round %lld\n", c->paper, (long long)c->round));
    else
        TSR_TRY(tsri_text_add(out, "%s, before the run\n", c->paper));
    for (int64_t i = 1; i < c->theorems; i++)
        TSR_TRY(theorem_text(out, &c->theorem[i]));
    TSR_TRY(breaches_text(out, c));
    for (int64_t i = 0; i < c->count; i++)
        TSR_TRY(row_text(out, &c->row[i]));
    for (int64_t i = 0; i < c->notes; i++)
        TSR_TRY(tsri_text_add(out, "  note: %s\n", c->note[i]));
    TSR_TRY(tsri_text_add(out, "  %s\n", tsri_certificate_summary(summary, sizeof summary, c)));
done:
    return st;
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void key_word(tsri_json *w, const char *key, const char *word)
{
    tsri_json_key(w, key);
    if (word && word[0])
        tsri_json_text(w, word);
    else
        tsri_json_null(w);
}

/* What is not about chance has no probability. */
static void probability_json(tsri_json *w, const tsri_theorem *t)
{
    tsri_json_put_real(w, "probability", t->chance[0] ? t->probability : (double)NAN);
}

static void interval_json(tsri_json *w, const tsri_interval *interval)
{
    tsri_json_key(w, "interval");
    if (!(interval->level > 0)) {
        tsri_json_null(w);
    } else {
        tsri_json_open(w, '[');
        tsri_json_real(w, interval->low);
        tsri_json_real(w, interval->high);
        tsri_json_close(w, ']');
    }
    tsri_json_put_real(w, "level", interval->level > 0 ? interval->level : (double)NAN);
}

static void seen_json(tsri_json *w, const tsri_seen *seen)
{
    static const char *const words[] = {NULL, "all", "extreme of a part", "part"};
    tsri_json_key(w, "seen");
    if (seen->sight == TSRI_UNSAID) {
        tsri_json_null(w);
        return;
    }
    tsri_json_open(w, '{');
    key_word(w, "sight", words[seen->sight]);
    if (seen->what) {
        tsri_json_put_int(w, "part", seen->part);
        if (seen->whole > 0)
            tsri_json_put_int(w, "whole", seen->whole);
        key_word(w, "what", seen->what);
    }
    tsri_json_close(w, '}');
}

static void row_json(tsri_json *w, const tsri_certificate *c, const tsri_row *row)
{
    const tsri_condition *claim = &row->claim;
    const tsri_theorem *theorem = &c->theorem[claim->of];
    tsri_json_open(w, '{');
    key_word(w, "quantity", row->quantity);
    key_word(w, "where", row->where);
    key_word(w, "theorem", theorem->where);
    key_word(w, "chance", theorem->chance);
    probability_json(w, theorem);
    tsri_json_put_real(w, "measured", claim->measured);
    key_word(w, "sense", sense_words[claim->sense]);
    tsri_json_put_real(w, "required", claim->required);
    key_word(w, "verdict", tsri_verdicts[row->verdict].name);
    key_word(w, "reason", row->reason);
    tsri_json_put_real(w, "factor", tsri_row_factor(row));
    interval_json(w, &claim->interval);
    seen_json(w, &claim->seen);
    tsri_json_close(w, '}');
}

static void theorem_json(tsri_json *w, const tsri_certificate *c, const tsri_theorem *t)
{
    tsri_json_open(w, '{');
    key_word(w, "theorem", t->where);
    key_word(w, "chance", t->chance);
    probability_json(w, t);
    tsri_json_key(w, "assumes");
    tsri_json_open(w, '[');
    for (unsigned bit = 1; bit && t->assumes >= bit; bit <<= 1)
        if (t->assumes & bit)
            tsri_json_text(w, tsri_assumption_words(bit));
    tsri_json_close(w, ']');
    tsri_json_key(w, "broken");
    tsri_json_open(w, '[');
    for (int64_t i = 0; i < c->breaches; i++)
        if (c->breach[i].assumption & t->assumes)
            tsri_json_text(w, c->breach[i].how);
    tsri_json_close(w, ']');
    tsri_json_close(w, '}');
}

static void counts_json(tsri_json *w, const tsri_certificate *c)
{
    int64_t count[TSRI_VERDICTS];
    tsri_certificate_count(count, c);
    tsri_json_key(w, "counts");
    tsri_json_open(w, '{');
    for (int v = TSRI_HOLDS; v < TSRI_VERDICTS; v++)
        tsri_json_put_int(w, tsri_verdicts[v].name, count[v]);
    tsri_json_close(w, '}');
}

void tsri_certificate_json(tsri_json *w, const tsri_certificate *c)
{
    key_word(w, "paper", c->paper);
    tsri_json_put_int(w, "round", c->round);
    tsri_json_put_bool(w, "holds", tsri_certificate_holds(c));
    counts_json(w, c);
    tsri_json_key(w, "theorems");
    tsri_json_open(w, '[');
    for (int64_t i = 1; i < c->theorems; i++)
        theorem_json(w, c, &c->theorem[i]);
    tsri_json_close(w, ']');
    tsri_json_key(w, "rows");
    tsri_json_open(w, '[');
    for (int64_t i = 0; i < c->count; i++)
        row_json(w, c, &c->row[i]);
    tsri_json_close(w, ']');
    tsri_json_key(w, "notes");
    tsri_json_open(w, '[');
    for (int64_t i = 0; i < c->notes; i++)
        tsri_json_text(w, c->note[i]);
    tsri_json_close(w, ']');
}
