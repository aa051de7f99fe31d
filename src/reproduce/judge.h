/* judge.h - three verdicts on a claim, from numbers of at least three seeds.
 *
 *     tsri_claim c = {.criterion = tsri_criteria_find("loft/fig4/faster")};
 *     TSR_TRY(tsri_claim_add(&c, NULL, difference, seeds));
 *     if (tsri_claim_verdict(&c) == TSRI_FINDING_HOLDS) ...
 *     tsri_claim_fini(&c);
 *
 * A claim holds when the whole interval lies on its side of the bound, does not hold when the whole
 * interval lies on the other, and is undecided otherwise: when the interval straddles the bound,
 * with fewer than three seeds, and when something was not measured.
 *
 * A claim of several things ("for every number of shares") has parts. It holds when every part
 * does. It does not hold when one part does not, with its interval widened for that many looks
 * (Bonferroni): otherwise one in twenty would fail by chance.
 */
#ifndef TSRI_JUDGE_H
#define TSRI_JUDGE_H

#include "base/estimate.h"
#include "base/text.h"
#include "reproduce/criteria.h"

enum { TSRI_SEEDS_LEAST = 3, TSRI_SEEDS_MOST = 1000 }; /* the most that the program takes */

typedef enum tsri_finding {
    TSRI_FINDING_UNDECIDED,
    TSRI_FINDING_HOLDS,
    TSRI_FINDING_FAILS
} tsri_finding;

enum { TSRI_FINDINGS = 3 };

extern const char *const tsri_finding_name[TSRI_FINDINGS]; /* "undecided", ... */

/* What the seeds say about one part. */
typedef struct tsri_evidence {
    char *name; /* "p = 4"; NULL: the claim has no parts */
    double *value;
    int64_t seeds;
    char *why; /* it was not measured; NULL: it was */
} tsri_evidence;

typedef struct tsri_claim {
    const tsri_criteria_row *criterion;
    tsri_evidence *part;
    int64_t parts, room;
} tsri_claim;

/* Copies the seeds' values; NaN is a seed that was not measured, infinity one that diverged. */
tsr_status tsri_claim_add(tsri_claim *c, const char *name, const double *value, int64_t seeds);

/* A part that was not measured, and why: the claim cannot hold. */
tsr_status tsri_claim_leave(tsri_claim *c, const char *name, const char *why);
void tsri_claim_fini(tsri_claim *c);

/* What a part shows: the mean over its seeds with the 95 % interval or, where every seed is
 * compared with the bound, with the least and the largest of them. */
tsri_estimate tsri_part_shows(const tsri_claim *c, int64_t part);
tsri_finding tsri_part_verdict(const tsri_claim *c, int64_t part);
tsri_finding tsri_claim_verdict(const tsri_claim *c);

/* Adds a sentence without full stop: what each part shows, its verdict where they differ, and why a
 * claim is undecided. */
tsr_status tsri_claim_found(tsri_text *out, const tsri_claim *c);

#endif
