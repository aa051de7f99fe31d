/* certificate.h - what a theorem asks for beside what was measured, row by row.
 *
 * A certificate is a list of rows. A row names a quantity and the place in the paper that defines
 * it, says what was measured on this run and what the paper requires, and so whether the condition
 * holds or by which factor it fails. Rows without a requirement are measurements that others need.
 * An estimate (from draws, from a fit) carries its interval, and holds or fails only when the whole
 * interval does.
 *
 *     tsri_certificate c;
 *     tsri_certificate_init(&c, "masked-neurons");
 *     tsri_certify(&c, "Theorem 2", TSRI_AT_LEAST, m, need, "width m");
 *     tsri_certify_interval(&c, low, high, 0.95);                    of the row before
 *     tsri_certify_note(&c, "constants of Omega and O are taken as 1");
 *     TSR_TRY(tsri_certificate_end(&c));                      the first failure of all calls above
 *     TSR_TRY(tsri_certificate_text(&text, &c));
 *     tsri_certificate_fini(&c);
 *
 * A paper adds its certificate as a row of tsri_papers[] (papers.h).
 */
#ifndef TSRI_CERTIFICATE_H
#define TSRI_CERTIFICATE_H

#include "io/json.h"

typedef enum tsri_sense {
    TSRI_MEASURED, /* nothing is required */
    TSRI_AT_LEAST, /* measured >= required */
    TSRI_AT_MOST   /* measured <= required */
} tsri_sense;

typedef enum tsri_verdict {
    TSRI_NO_VERDICT, /* nothing is required */
    TSRI_HOLDS,
    TSRI_FAILS,
    TSRI_OPEN /* the interval has the requirement inside, or a number is not known (NaN) */
} tsri_verdict;

enum { TSRI_ROW_TEXT = 200 };

typedef struct tsri_row {
    char quantity[TSRI_ROW_TEXT]; /* "width m" */
    char where[48];               /* "Theorem 2", "(6), first term" */
    tsri_sense sense;
    double measured;         /* NaN = not known yet */
    double required;         /* NaN for TSRI_MEASURED */
    double low, high, level; /* interval of an estimate and its confidence; NaN when exact */
} tsri_row;

typedef struct tsri_certificate {
    const char *paper; /* "masked-neurons" */
    int64_t round;     /* rounds done when it was made; 0 = before the run */
    tsri_row *row;     /* [count] */
    int64_t count, room;
    char **note; /* [notes] sentences: what the rows rest on */
    int64_t notes, notes_room;
    tsr_status st; /* the first failure */
} tsri_certificate;

/* `paper` must live as long as the certificate. */
void tsri_certificate_init(tsri_certificate *c, const char *paper);
void tsri_certificate_fini(tsri_certificate *c);

/* Adds a row. `required` is not looked at for TSRI_MEASURED. */
void tsri_certify(tsri_certificate *c, const char *where, tsri_sense sense, double measured,
                  double required, const char *quantity, ...) TSR_PRINTF(6, 7);

/* How many rows are conditions, and how many of these hold; the row that fails by the largest
 * factor, or NULL. */
void tsri_certificate_count(const tsri_certificate *c, int64_t *conditions, int64_t *holding);
const tsri_row *tsri_certificate_worst(const tsri_certificate *c);

/* The last row is an estimate: it lies in [low, high] with confidence `level`. */
void tsri_certify_interval(tsri_certificate *c, double low, double high, double level);

/* A sentence below the rows. */
void tsri_certify_note(tsri_certificate *c, const char *fmt, ...) TSR_PRINTF(2, 3);

tsr_status tsri_certificate_end(const tsri_certificate *c);

tsri_verdict tsri_row_verdict(const tsri_row *row);

/* By which factor a condition is missed (> 1) or kept (<= 1): required / measured for at least,
 * measured / required for at most; infinite when it cannot be reached by scaling, NaN when there is
 * nothing to compare. */
double tsri_row_factor(const tsri_row *row);

/* "holds", "fails by a factor of 4.1e+03", "open", "". `room` bytes at `text`; returns it. */
const char *tsri_row_words(char *text, size_t room, const tsri_row *row);

/* Do all conditions hold? Rows that are open count as not. */
bool tsri_certificate_holds(const tsri_certificate *c);

/* One paragraph per row group, for people; lines of at most 100 columns. */
tsr_status tsri_certificate_text(tsri_text *out, const tsri_certificate *c);

/* Members of an object that the caller has opened: "paper", "round", "holds", "rows": [{"quantity",
 * "where", "measured", "sense": "at least" | "at most" | null, "required", "verdict": "holds" |
 * "fails" | "open" | null, "factor", "interval": [low, high] | null, "level"}], "notes". */
void tsri_certificate_json(tsri_json *w, const tsri_certificate *c);

#endif
