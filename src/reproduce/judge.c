/* judge.c - three verdicts on a claim, from numbers of at least three seeds. See judge.h. */
#include "reproduce/judge.h"

#include "base/alloc.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const tsri_finding_name[TSRI_FINDINGS] = {"undecided", "holds", "does not hold"};

/* ---- Evidence -------------------------------------------------------------------------------- */

static tsr_status new_part(tsri_evidence **out, tsri_claim *c, const char *name)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_reserve(&c->part, &c->room, c->parts, sizeof *c->part));
    *out = &c->part[c->parts];
    **out = (tsri_evidence){0};
    if (name)
        TSR_TRY(tsri_strdup(&(*out)->name, name));
    c->parts++;
done:
    return st;
}

tsr_status tsri_claim_add(tsri_claim *c, const char *name, const double *value, int64_t seeds)
{
    tsr_status st = TSR_OK;
    tsri_evidence *p;
    TSR_TRY(new_part(&p, c, name));
    TSR_TRY(tsri_alloc(&p->value, seeds > 0 ? seeds : 1, sizeof *p->value));
    if (seeds > 0)
        memcpy(p->value, value, (size_t)seeds * sizeof *value);
    p->seeds = seeds;
done:
    return st;
}

tsr_status tsri_claim_leave(tsri_claim *c, const char *name, const char *why)
{
    tsr_status st = TSR_OK;
    tsri_evidence *p;
    TSR_TRY(new_part(&p, c, name));
    TSR_TRY(tsri_strdup(&p->why, why));
done:
    return st;
}

void tsri_claim_fini(tsri_claim *c)
{
    for (int64_t i = 0; i < c->parts; i++) {
        tsri_free(c->part[i].name);
        tsri_free(c->part[i].value);
        tsri_free(c->part[i].why);
    }
    tsri_free(c->part);
    *c = (tsri_claim){0};
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/* The mean, geometric where the criterion says so, with an interval. */
static tsri_estimate mean(const tsri_criteria_row *c, const tsri_evidence *p, double miss)
{
    double value[TSRI_SEEDS_MOST];
    int64_t n = p->seeds < TSRI_SEEDS_MOST ? p->seeds : TSRI_SEEDS_MOST;
    for (int64_t i = 0; i < n; i++)
        value[i] = c->ratio ? log(p->value[i]) : p->value[i];
    tsri_estimate e = tsri_mean_within(value, n, miss);
    return c->ratio ? (tsri_estimate){exp(e.value), exp(e.low), exp(e.high)} : e;
}

static bool each(const tsri_criteria_row *c)
{
    return c->rule == TSRI_RULE_EACH_ABOVE || c->rule == TSRI_RULE_EACH_BELOW;
}

/* The least and the most of the seeds around their mean. */
static tsri_estimate range(const tsri_criteria_row *c, const tsri_evidence *p)
{
    tsri_estimate e = {mean(c, p, TSRI_MISS).value, INFINITY, -INFINITY};
    for (int64_t i = 0; i < p->seeds; i++) {
        e.low = fmin(e.low, p->value[i]); /* passes NaN over */
        e.high = fmax(e.high, p->value[i]);
    }
    return e;
}

static int64_t unmeasured(const tsri_evidence *p)
{
    int64_t count = 0;
    for (int64_t i = 0; i < p->seeds; i++)
        count += isnan(p->value[i]);
    return count;
}

tsri_estimate tsri_part_shows(const tsri_claim *c, int64_t part)
{
    const tsri_evidence *p = &c->part[part];
    if (p->why || p->seeds == 0)
        return (tsri_estimate){NAN, NAN, NAN};
    return each(c->criterion) ? range(c->criterion, p) : mean(c->criterion, p, TSRI_MISS);
}

/* ---- Verdicts -------------------------------------------------------------------------------- */

/* Comparisons with NaN are false: an interval that is not there proves nothing. */
static bool inside(const tsri_criteria_row *c, tsri_estimate e)
{
    bool above = e.low > c->low, below = e.high < c->high;
    if (c->rule == TSRI_RULE_WITHIN)
        return above && below;
    return c->rule == TSRI_RULE_ABOVE || c->rule == TSRI_RULE_EACH_ABOVE ? above : below;
}

static bool outside(const tsri_criteria_row *c, tsri_estimate e)
{
    bool below = e.high <= c->low, above = e.low >= c->high;
    if (c->rule == TSRI_RULE_WITHIN)
        return below || above;
    return c->rule == TSRI_RULE_ABOVE ? below : above;
}

/* One seed on the wrong side is enough; on the right side have to be all of them. */
static tsri_finding judge_each(const tsri_criteria_row *c, const tsri_evidence *p)
{
    for (int64_t i = 0; i < p->seeds; i++)
        if (!isnan(p->value[i]) &&
            !inside(c, (tsri_estimate){p->value[i], p->value[i], p->value[i]}))
            return TSRI_FINDING_FAILS;
    return unmeasured(p) > 0 ? TSRI_FINDING_UNDECIDED : TSRI_FINDING_HOLDS;
}

tsri_finding tsri_part_verdict(const tsri_claim *c, int64_t part)
{
    const tsri_criteria_row *r = c->criterion;
    const tsri_evidence *p = &c->part[part];
    if (p->why || p->seeds < TSRI_SEEDS_LEAST)
        return TSRI_FINDING_UNDECIDED;
    if (each(r))
        return judge_each(r, p);
    for (int64_t i = 0; i < p->seeds; i++)
        if (!isfinite(p->value[i]))
            return TSRI_FINDING_UNDECIDED;
    if (inside(r, mean(r, p, TSRI_MISS)))
        return TSRI_FINDING_HOLDS;
    return outside(r, mean(r, p, TSRI_MISS / (double)c->parts)) ? TSRI_FINDING_FAILS
                                                                : TSRI_FINDING_UNDECIDED;
}

tsri_finding tsri_claim_verdict(const tsri_claim *c)
{
    int64_t count[TSRI_FINDINGS] = {0};
    for (int64_t i = 0; i < c->parts; i++)
        count[tsri_part_verdict(c, i)]++;
    if (count[TSRI_FINDING_FAILS] > 0)
        return TSRI_FINDING_FAILS;
    return c->parts > 0 && count[TSRI_FINDING_HOLDS] == c->parts ? TSRI_FINDING_HOLDS
                                                                 : TSRI_FINDING_UNDECIDED;
}

/* ---- Words ----------------------------------------------------------------------------------- */

static int64_t diverged(const tsri_evidence *p)
{
    int64_t count = 0;
    for (int64_t i = 0; i < p->seeds; i++)
        count += isinf(p->value[i]) != 0;
    return count;
}

/* Why a part is undecided; "" when the interval says it. */
static tsr_status add_why(tsri_text *out, const tsri_claim *c, const tsri_evidence *p)
{
    if (p->why)
        return tsri_text_add(out, "%s", p->why);
    if (p->seeds < TSRI_SEEDS_LEAST)
        return tsri_text_add(out, "; %lld seed%s, %d are needed", (long long)p->seeds,
                             p->seeds == 1 ? "" : "s", TSRI_SEEDS_LEAST);
    if (unmeasured(p) > 0)
        return tsri_text_add(out, "; not measured in %lld of %lld seeds", (long long)unmeasured(p),
                             (long long)p->seeds);
    if (!each(c->criterion) && diverged(p) > 0)
        return tsri_text_add(out, "; infinite in %lld of %lld seeds", (long long)diverged(p),
                             (long long)p->seeds);
    return TSR_OK;
}

static tsr_status add_numbers(tsri_text *out, const tsri_claim *c, int64_t i)
{
    tsri_estimate e = tsri_part_shows(c, i);
    char text[TSRI_ESTIMATE_TEXT];
    if (!each(c->criterion) || unmeasured(&c->part[i]) == c->part[i].seeds)
        return tsri_text_add(out, "%s", tsri_estimate_text(text, e));
    if (isinf(e.low))
        return tsri_text_add(out, "infinite in every seed");
    if (e.low == e.high)
        return tsri_text_add(out, "%.3g in every seed", e.low);
    return tsri_text_add(
        out, isinf(e.high) ? "%.3g to infinity over the seeds" : "%.3g to %.3g over the seeds",
        e.low, e.high);
}

tsr_status tsri_claim_found(tsri_text *out, const tsri_claim *c)
{
    tsr_status st = TSR_OK;
    tsri_finding all = tsri_claim_verdict(c);
    if (c->parts == 0)
        TSR_TRY(tsri_text_add(out, "not measured"));
    for (int64_t i = 0; i < c->parts; i++) {
        const tsri_evidence *p = &c->part[i];
        tsri_finding one = tsri_part_verdict(c, i);
        TSR_TRY(tsri_text_add(out, "%s%s%s", i > 0 ? "; " : "", p->name ? p->name : "",
                              p->name ? ": " : ""));
        if (!p->why)
            TSR_TRY(add_numbers(out, c, i));
        if (one == TSRI_FINDING_UNDECIDED)
            TSR_TRY(add_why(out, c, p));
        if (one != all)
            TSR_TRY(tsri_text_add(out, ", %s", tsri_finding_name[one]));
    }
done:
    return st;
}
