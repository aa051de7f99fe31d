/* criteria.h - what decides each claim of the papers, written down before anything is run.
 *
 * One row is one claim: the paper's words, the number of a run that tests it, the bound that the
 * number is compared with, and the reason for that bound. No other file of this room has a number
 * that decides a verdict. `tessera reproduce --list NAME` and every summary show the rows.
 */
#ifndef TSRI_CRITERIA_H
#define TSRI_CRITERIA_H

#include "io/json.h"

/* What the seeds have to show. The first three rules are about the mean over the seeds and its 95 %
 * interval, the last two about every seed by itself. */
typedef enum tsri_rule {
    TSRI_RULE_ABOVE,      /* the mean is above low */
    TSRI_RULE_BELOW,      /* below high */
    TSRI_RULE_WITHIN,     /* between low and high */
    TSRI_RULE_EACH_ABOVE, /* every seed is above low */
    TSRI_RULE_EACH_BELOW  /* below high */
} tsri_rule;

typedef struct tsri_criteria_row {
    const char *id;        /* the study's name, a slash, the claim's; NULL ends the table */
    const char *paper;     /* what the paper says, and where */
    const char *statistic; /* what is measured for each seed */
    tsri_rule rule;
    double low, high;
    const char *reason; /* of the bound */
    bool ratio;         /* the mean is geometric */
    bool ours;          /* our own claim, not the paper's: counted separately */
} tsri_criteria_row;

extern const tsri_criteria_row tsri_criteria_table[];

/* The row of that id, or NULL. */
const tsri_criteria_row *tsri_criteria_find(const char *id);

/* Does the claim belong to that study ("loft/fig4")? */
bool tsri_criteria_of(const tsri_criteria_row *c, const char *study);

enum { TSRI_RULE_TEXT = 80 };

/* "below 0.05 in every seed", "above 1, geometric mean"; returns `text`. */
const char *tsri_rule_text(char text[TSRI_RULE_TEXT], const tsri_criteria_row *c);

/* Writes its members into an open object: id, paper, statistic, decided, reason, ours. */
void tsri_criteria_json(tsri_json *w, const tsri_criteria_row *c);

#endif
