/* certificate.h - what a theorem asks for beside what was measured, row by row.
 *
 * A certificate is a list of theorems and a list of rows. A theorem says where it is in the paper,
 * with which probability it is stated, and what it assumes (assume.h). A row belongs to a theorem
 * and names a quantity. It says what was measured, what the paper requires, and how much of what
 * the row quantifies over was looked at. The verdict follows from that alone:
 *
 *     holds            everything was looked at, and the requirement is met
 *     fails            the requirement is missed, by a factor of k
 *     vacuous          met, but the requirement says nothing: it could not have been missed
 *     open             met as far as was looked, but not everything was looked at or is known
 *     does not apply   the run breaks an assumption of the theorem
 *
 * A row that does not say how much it saw (TSRI_UNSAID) is open, and so is a row whose number is
 * not known: neither ever becomes "holds". A maximum over a part can only refute an upper bound. A
 * theorem whose probability is not above 0 for this run says nothing.
 *
 *     tsri_certificate c;
 *     tsri_certificate_init(&c, "masked-neurons");
 *     tsri_assume_run(&c, run);                                      what this run breaks
 *     int t2 = tsri_certify_theorem(&c, &(tsri_theorem){.where = "Theorem 2",
 *                                                       .chance = "1 - delta",
 *                                                       .probability = 1 - delta,
 *                                                       .assumes = TSRI_NO_MOMENTUM});
 *     tsri_certify(&c, &(tsri_condition){.of = t2, .sense = TSRI_AT_LEAST, .measured = m,
 *                                    .required = need, .seen = TSRI_SEEN_ALL}, "width m");
 *     tsri_certify(&c, &(tsri_condition){.of = t2, .sense = TSRI_AT_MOST, .measured = most,
 *                                    .required = R, .seen = tsri_saw(4, n, "samples")}, "radius");
 *     tsri_certify_note(&c, "n %g, m %g", n, m);
 *     TSR_TRY(tsri_certificate_end(&c));         judges all rows; the first failure of all calls
 *     TSR_TRY(tsri_certificate_text(&text, &c));
 *     tsri_certificate_fini(&c);
 *
 * A paper is a file that ends with its row, and a line of TSRI_PAPER_NAMES (papers.h).
 */
#ifndef TSRI_CERTIFICATE_H
#define TSRI_CERTIFICATE_H

#include "io/json.h"
#include "theory/verdict.h"

typedef enum tsri_sense {
    TSRI_MEASURED, /* nothing is required */
    TSRI_AT_LEAST, /* measured >= required */
    TSRI_AT_MOST   /* measured <= required */
} tsri_sense;

enum { TSRI_ROW_TEXT = 200, TSRI_REASON_TEXT = 160 };

/* ---- How much was looked at ----------------------------------------------------------------- */

typedef enum tsri_sight {
    TSRI_UNSAID,  /* nobody said: decides nothing but failure */
    TSRI_ALL,     /* everything that the row quantifies over */
    TSRI_EXTREME, /* the extreme over a part: it can fail, otherwise it is open */
    TSRI_SOME     /* a number from a part that may err either way: always open */
} tsri_sight;

typedef struct tsri_seen {
    tsri_sight sight;
    int64_t part, whole; /* 0: not counted */
    const char *what;    /* "samples"; a literal */
} tsri_seen;

#define TSRI_SEEN_ALL ((tsri_seen){.sight = TSRI_ALL})

/* An extreme over `part` of `whole` things; everything when part >= whole. */
tsri_seen tsri_saw(int64_t part, int64_t whole, const char *what);

/* A number from a part, other than an extreme. */
tsri_seen tsri_saw_some(int64_t part, int64_t whole, const char *what);

/* One of uncountably many, where the row is about their mean or about all: "draw of masks". */
tsri_seen tsri_saw_one(const char *what);

/* For a row that quantifies over both: the worse of the two. */
tsri_seen tsri_saw_both(tsri_seen a, tsri_seen b);

/* ---- Theorems and rows ---------------------------------------------------------------------- */

typedef struct tsri_theorem {
    const char *where;  /* "Theorem 2"; a literal */
    const char *chance; /* in the paper's words: "1 - delta"; "" where it is not about chance */
    double probability; /* the same as a number; NaN where a constant of it is not known */
    unsigned assumes;   /* bits of tsri_assumption (assume.h) */
} tsri_theorem;

/* A value the quantity cannot exceed anyway: an upper bound beyond it (or a lower bound below it)
 * says nothing. `what` names it, in words that follow "not below" or "not above". */
typedef struct tsri_trivial {
    const char *what; /* NULL = there is none; a literal */
    double value;
} tsri_trivial;

/* The estimated number lies in [low, high] with confidence `level`. */
typedef struct tsri_interval {
    double low, high, level; /* level 0 = the number is exact */
} tsri_interval;

typedef struct tsri_condition {
    int of;            /* index of its theorem (tsri_certify_theorem); 0 = none */
    const char *where; /* (optional) "(6), first term"; else the theorem's own */
    tsri_sense sense;
    double measured; /* NaN = not known yet */
    double required; /* ignored for TSRI_MEASURED */
    tsri_seen seen;
    tsri_interval interval;
    double blur; /* rounding error of the measured number: it is not judged when it is nearer than
                    that to its bound; 0 = it is exact, or never near */
    tsri_trivial trivial;
    const char *by_construction; /* (optional) why it cannot fail: "the triangle inequality" */
    const char *unproven;        /* (optional) why meeting it proves nothing: "the worst support was
                                    searched for, not proven"; then it is open unless it fails */
    const int64_t *worst;        /* (optional) the round, of all, that the number is from; the
                                    quantity then ends with "..., at the worst round so far, 7" */
} tsri_condition;

typedef struct tsri_row {
    tsri_condition claim;
    char quantity[TSRI_ROW_TEXT]; /* "width m" */
    char where[48];
    tsri_verdict verdict;          /* set by tsri_certificate_end */
    char reason[TSRI_REASON_TEXT]; /* of vacuous, open and does not apply; else empty */
} tsri_row;

/* An assumption that the run, or its data, breaks. */
typedef struct tsri_breach {
    unsigned assumption; /* one bit */
    char how[TSRI_REASON_TEXT];
} tsri_breach;

typedef struct tsri_certificate {
    const char *paper; /* "masked-neurons" */
    int64_t round;     /* rounds done when it was made; 0 = before the run */
    tsri_theorem *theorem;
    int64_t theorems, theorems_room; /* theorem[0] is for rows without one */
    tsri_breach *breach;
    int64_t breaches, breaches_room;
    tsri_row *row;
    int64_t count, room;
    char **note; /* [notes] sentences: what the rows are based on */
    int64_t notes, notes_room;
    tsr_status st; /* the first failure */
} tsri_certificate;

/* `paper` must live as long as the certificate. */
void tsri_certificate_init(tsri_certificate *c, const char *paper);
void tsri_certificate_fini(tsri_certificate *c);

/* Adds a theorem; returns its index for tsri_condition.of. */
int tsri_certify_theorem(tsri_certificate *c, const tsri_theorem *theorem);

/* The run breaks one assumption (a bit of tsri_assumption): rows of all theorems that need it do
 * not apply, whichever was added first. `how` in words: "momentum is 0.9". */
void tsri_certify_breach(tsri_certificate *c, unsigned assumption, const char *how, ...)
    TSR_PRINTF(3, 4);

/* Adds a row. If its number is not known (NaN), nothing was seen: interval and worst round of the
 * claim are ignored. */
void tsri_certify(tsri_certificate *c, const tsri_condition *claim, const char *quantity, ...)
    TSR_PRINTF(3, 4);

/* Adds a row without requirement: a number that others need. */
void tsri_certify_number(tsri_certificate *c, int of, double measured, const char *quantity, ...)
    TSR_PRINTF(4, 5);

/* A sentence below the rows. */
void tsri_certify_note(tsri_certificate *c, const char *fmt, ...) TSR_PRINTF(2, 3);

/* Judges every row. The first failure of the calls above. */
tsr_status tsri_certificate_end(tsri_certificate *c);

/* ---- Reading (after tsri_certificate_end) --------------------------------------------------- */

/* How many rows have each verdict. */
void tsri_certificate_count(int64_t count[TSRI_VERDICTS], const tsri_certificate *c);

/* Does at least one row hold and none fail, stay open or not apply? Vacuous rows say nothing. */
bool tsri_certificate_holds(const tsri_certificate *c);

/* The row that fails by the largest factor, or NULL. */
const tsri_row *tsri_certificate_worst(const tsri_certificate *c);

/* The factor by which a condition is missed (> 1) or met (<= 1): required / measured for at least,
 * measured / required for at most; infinite when no scaling would meet it, NaN when there is
 * nothing to compare. */
double tsri_row_factor(const tsri_row *row);

/* "holds", "fails by a factor of 4.1e+03", "open: 4 of 60 samples were looked at". `room` bytes at
 * `text`; returns it. */
const char *tsri_row_words(char *text, size_t room, const tsri_row *row);

/* "3 hold, 1 fails, 2 are vacuous, 4 are open, 5 do not apply"; returns `text`. */
const char *tsri_certificate_summary(char *text, size_t room, const tsri_certificate *c);

/* ---- Writing (certificate_write.c) ---------------------------------------------------------- */

/* For people; lines of at most 100 columns but for long reasons. */
tsr_status tsri_certificate_text(tsri_text *out, const tsri_certificate *c);

/* Members of an object that the caller has opened; docs/formats.md lists them. */
void tsri_certificate_json(tsri_json *w, const tsri_certificate *c);

#endif
