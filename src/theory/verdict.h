/* verdict.h - the verdicts on a row of a certificate, and their words in files, texts and pages. */
#ifndef TSRI_VERDICT_H
#define TSRI_VERDICT_H

/* certificate.h says what each of them means. */
typedef enum tsri_verdict {
    TSRI_NO_VERDICT, /* nothing is required */
    TSRI_HOLDS,
    TSRI_FAILS,
    TSRI_VACUOUS,
    TSRI_OPEN,
    TSRI_DOES_NOT_APPLY,
    TSRI_VERDICTS
} tsri_verdict;

/* TSRI_NO_VERDICT has none: all are NULL. */
typedef struct tsri_verdict_words {
    const char *name;       /* "vacuous": in JSON, and in a row of its own */
    const char *one, *many; /* "is vacuous", "are vacuous": after a count */
} tsri_verdict_words;

extern const tsri_verdict_words tsri_verdicts[TSRI_VERDICTS];

/* The verdict of that name; TSRI_NO_VERDICT when there is none. */
tsri_verdict tsri_verdict_named(const char *name);

#endif
