/* certificate.c - theorems and rows collected, and judged once, at the end. */
#include "theory/certificate.h"

#include "base/alloc.h"
#include "theory/assume.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- How much was looked at --------------------------------------------------------------- */

tsri_seen tsri_saw(int64_t part, int64_t whole, const char *what)
{
    tsri_sight sight = part >= whole ? TSRI_ALL : TSRI_EXTREME;
    return (tsri_seen){part > 0 ? sight : TSRI_UNSAID, part, whole, what};
}

tsri_seen tsri_saw_some(int64_t part, int64_t whole, const char *what)
{
    return (tsri_seen){part >= whole ? TSRI_ALL : TSRI_SOME, part, whole, what};
}

tsri_seen tsri_saw_one(const char *what)
{
    return (tsri_seen){TSRI_SOME, 1, 0, what};
}

tsri_seen tsri_saw_both(tsri_seen a, tsri_seen b)
{
    static const int order[] = {
        [TSRI_UNSAID] = 3, [TSRI_SOME] = 2, [TSRI_EXTREME] = 1, [TSRI_ALL] = 0};
    return order[b.sight] > order[a.sight] ? b : a;
}

/* ---- Collecting --------------------------------------------------------------------------- */

void tsri_certificate_init(tsri_certificate *c, const char *paper)
{
    *c = (tsri_certificate){.paper = paper};
    (void)tsri_certify_theorem(c, &(tsri_theorem){.where = "", .chance = "", .probability = NAN});
}

void tsri_certificate_fini(tsri_certificate *c)
{
    for (int64_t i = 0; i < c->notes; i++)
        tsri_free(c->note[i]);
    tsri_free(c->note);
    tsri_free(c->row);
    tsri_free(c->theorem);
    tsri_free(c->breach);
    *c = (tsri_certificate){0};
}

int tsri_certify_theorem(tsri_certificate *c, const tsri_theorem *theorem)
{
    if (c->st == TSR_OK)
        c->st = tsri_reserve(&c->theorem, &c->theorems_room, c->theorems, sizeof *c->theorem);
    if (c->st != TSR_OK)
        return 0;
    c->theorem[c->theorems] = *theorem;
    return (int)c->theorems++;
}

void tsri_certify_breach(tsri_certificate *c, unsigned assumption, const char *how, ...)
{
    va_list list;
    if (c->st == TSR_OK)
        c->st = tsri_reserve(&c->breach, &c->breaches_room, c->breaches, sizeof *c->breach);
    if (c->st != TSR_OK)
        return;
    tsri_breach *b = &c->breach[c->breaches++];
    *b = (tsri_breach){.assumption = assumption};
    va_start(list, how);
    (void)vsnprintf(b->how, sizeof b->how, how, list);
    va_end(list);
}

static void add_row(tsri_certificate *c, const tsri_condition *claim, const char *quantity,
                    va_list list)
{
    if (c->st == TSR_OK)
        c->st = tsri_reserve(&c->row, &c->room, c->count, sizeof *c->row);
    if (c->st != TSR_OK)
        return;
    tsri_row *row = &c->row[c->count++];
    *row = (tsri_row){.claim = *claim};
    if (claim->sense == TSRI_MEASURED)
        row->claim.required = NAN;
    (void)vsnprintf(row->quantity, sizeof row->quantity, quantity, list);
    size_t used = strlen(row->quantity);
    if (isnan(claim->measured)) {
        row->claim.seen = (tsri_seen){.sight = TSRI_UNSAID};
        row->claim.interval = (tsri_interval){0};
    } else if (claim->worst) {
        (void)snprintf(row->quantity + used, sizeof row->quantity - used,
                       ", at the worst round so far, %lld", (long long)*claim->worst);
    }
    row->claim.worst = NULL; /* it may be gone when the row is read */
    (void)snprintf(row->where, sizeof row->where, "%s",
                   claim->where ? claim->where : c->theorem[claim->of].where);
    row->claim.where = NULL; /* the copy is what counts */
}

void tsri_certify(tsri_certificate *c, const tsri_condition *claim, const char *quantity, ...)
{
    va_list list;
    va_start(list, quantity);
    add_row(c, claim, quantity, list);
    va_end(list);
}

void tsri_certify_number(tsri_certificate *c, int of, double measured, const char *quantity, ...)
{
    va_list list;
    va_start(list, quantity);
    add_row(c, &(tsri_condition){.of = of, .sense = TSRI_MEASURED, .measured = measured}, quantity,
            list);
    va_end(list);
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

/* ---- Judging ------------------------------------------------------------------------------ */

static bool kept(const tsri_condition *claim, double value)
{
    return claim->sense == TSRI_AT_LEAST ? value >= claim->required : value <= claim->required;
}

static tsri_verdict because(tsri_row *row, tsri_verdict verdict, const char *fmt, ...)
    TSR_PRINTF(3, 4);

static tsri_verdict because(tsri_row *row, tsri_verdict verdict, const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    (void)vsnprintf(row->reason, sizeof row->reason, fmt, list);
    va_end(list);
    return verdict;
}

/* The first breach of what the row's theorem assumes, or NULL. */
static const tsri_breach *breach_of(const tsri_certificate *c, const tsri_row *row)
{
    unsigned assumes = c->theorem[row->claim.of].assumes;
    for (int64_t i = 0; i < c->breaches; i++)
        if (c->breach[i].assumption & assumes)
            return &c->breach[i];
    return NULL;
}

/* A bound that no double reaches, or that overflowed, is met by everything. */
static bool endless(const tsri_condition *claim)
{
    return isinf(claim->required) && (claim->required > 0) == (claim->sense == TSRI_AT_MOST);
}

/* Does the requirement allow every value that there is? */
static bool says_nothing(const tsri_condition *claim)
{
    return claim->trivial.what &&
           (claim->sense == TSRI_AT_MOST ? claim->required >= claim->trivial.value
                                         : claim->required <= claim->trivial.value);
}

static tsri_verdict judge_seen(tsri_row *row)
{
    const tsri_seen *seen = &row->claim.seen;
    switch (seen->sight) {
    case TSRI_ALL:
        return TSRI_HOLDS;
    case TSRI_EXTREME:
    case TSRI_SOME:
        if (seen->whole == 0)
            return because(row, TSRI_OPEN, "one %s of many was looked at", seen->what);
        return because(row, TSRI_OPEN, "%lld of %lld %s were looked at", (long long)seen->part,
                       (long long)seen->whole, seen->what);
    default:
        return because(row, TSRI_OPEN, "how much was looked at is not known");
    }
}

/* What is met: entirely, or in a way that says nothing, or as far as one looked? */
static tsri_verdict judge_met(tsri_row *row, const tsri_theorem *theorem)
{
    const tsri_condition *claim = &row->claim;
    if (theorem->chance[0] && theorem->probability <= 0)
        return because(row, TSRI_VACUOUS, "its probability, %s, is not above 0", theorem->chance);
    if (claim->by_construction)
        return because(row, TSRI_VACUOUS, "true by %s", claim->by_construction);
    if (says_nothing(claim))
        return because(row, TSRI_VACUOUS, "the bound is not %s %s",
                       claim->sense == TSRI_AT_MOST ? "below" : "above", claim->trivial.what);
    if (endless(claim))
        return because(row, TSRI_VACUOUS, "the bound is infinite");
    if (isinf(claim->measured))
        return because(row, TSRI_OPEN, "the number is beyond a double");
    if (claim->unproven)
        return because(row, TSRI_OPEN, "%s", claim->unproven);
    return judge_seen(row);
}

static tsri_verdict judge(const tsri_certificate *c, tsri_row *row)
{
    const tsri_condition *claim = &row->claim;
    const tsri_breach *breach = breach_of(c, row);
    bool estimate = claim->interval.level > 0;
    if (claim->sense == TSRI_MEASURED)
        return TSRI_NO_VERDICT;
    if (breach)
        return because(row, TSRI_DOES_NOT_APPLY, "%s", breach->how);
    if (isnan(claim->measured))
        return because(row, TSRI_OPEN, "not measured");
    if (isnan(claim->required))
        return because(row, TSRI_OPEN, "the bound is not known");
    double low = estimate ? claim->interval.low : claim->measured;
    double high = estimate ? claim->interval.high : claim->measured;
    if (isnan(low) || isnan(high))
        return because(row, TSRI_OPEN, "an estimate without an interval");
    if (fabs(claim->measured - claim->required) < claim->blur)
        return because(row, TSRI_OPEN, "rounding hides on which side of its bound it is");
    bool met = kept(claim, low) && kept(claim, high);
    bool missed = !kept(claim, low) && !kept(claim, high);
    if (missed && claim->seen.sight != TSRI_SOME)
        return TSRI_FAILS;
    if (met)
        return judge_met(row, &c->theorem[claim->of]);
    if (claim->seen.sight == TSRI_SOME)
        return judge_seen(row);
    return because(row, TSRI_OPEN, "the bound lies within the interval");
}

tsr_status tsri_certificate_end(tsri_certificate *c)
{
    for (int64_t i = 0; c->st == TSR_OK && i < c->count; i++) {
        c->row[i].reason[0] = '\0';
        c->row[i].verdict = judge(c, &c->row[i]);
    }
    return c->st;
}

/* ---- Reading ------------------------------------------------------------------------------ */

void tsri_certificate_count(int64_t count[TSRI_VERDICTS], const tsri_certificate *c)
{
    memset(count, 0, TSRI_VERDICTS * sizeof *count);
    for (int64_t i = 0; i < c->count; i++)
        count[c->row[i].verdict]++;
}

bool tsri_certificate_holds(const tsri_certificate *c)
{
    int64_t count[TSRI_VERDICTS];
    tsri_certificate_count(count, c);
    return count[TSRI_HOLDS] > 0 && count[TSRI_FAILS] == 0 && count[TSRI_OPEN] == 0 &&
           count[TSRI_DOES_NOT_APPLY] == 0;
}

double tsri_row_factor(const tsri_row *row)
{
    const tsri_condition *claim = &row->claim;
    double top = claim->sense == TSRI_AT_LEAST ? claim->required : claim->measured;
    double bottom = claim->sense == TSRI_AT_LEAST ? claim->measured : claim->required;
    if (claim->sense == TSRI_MEASURED || isnan(top) || isnan(bottom))
        return NAN;
    if (kept(claim, claim->measured) && (top <= 0 || bottom <= 0))
        return top == bottom ? 1 : 0;
    return bottom > 0 ? top / bottom : (double)INFINITY;
}

const tsri_row *tsri_certificate_worst(const tsri_certificate *c)
{
    const tsri_row *worst = NULL;
    double most = 0;
    for (int64_t i = 0; i < c->count; i++) {
        const tsri_row *row = &c->row[i];
        double factor = tsri_row_factor(row);
        if (row->verdict == TSRI_FAILS && (!worst || (isfinite(factor) && factor > most))) {
            worst = row;
            most = isfinite(factor) ? factor : 0;
        }
    }
    return worst;
}
