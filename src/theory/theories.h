/* theories.h - a calculator: the width, the iterations and the step that theories of
 * over-parameterised training ask for.
 *
 *   - the five rows of Table 1 of the GReLU paper (Noy, Xu, Aflalo, Zelnik-Manor, Jin), for deep
 *     networks;
 *   - Theorems 3 and 4 of the masked-neurons paper (Liao, Kyrillidis), for shallow ones, with the
 *     constants of its appendices and targets of at most 1;
 *   - Theorems 1 and 2 of Allen-Zhu, Li, Song, for recurrent ones, with the least C that the proof
 *     allows;
 *   - Theorems 4.1 and 4.5 of Zou, Cao, Zhou, Gu, for deep ones with logistic loss, with the
 *     factors of appendix C and with c_0 = C_0 = 1.
 *
 * The table's constants are taken as 1, except those of GReLU's iterations, (46); so are logarithms
 * where it writes a tilde.
 */
#ifndef TSRI_THEORIES_H
#define TSRI_THEORIES_H

#include <stdint.h>

typedef struct tsri_theory_setting {
    double n, L, d, dy;       /* samples, hidden layers, inputs, outputs */
    double epsilon, delta;    /* error wanted, failure probability */
    double lambda;            /* lambda_0; NaN = not known */
    double xi, p, tau, kappa; /* masks: chance, shares, local steps; deviation of weights */
    double phi;               /* separation of two inputs */
    double K;                 /* rounds of masked training; NaN = as many as the rate asks for */
} tsri_theory_setting;

typedef struct tsri_theory {
    const char *name, *where;
    double width, iterations, step; /* NaN where lambda_0 is needed and not known */
    const char *probability;        /* of failure */
    const char *remark;
} tsri_theory;

enum { TSRI_THEORIES = 11 };

tsri_theory_setting tsri_theory_setting_default(void);
void tsri_theories(tsri_theory theory[TSRI_THEORIES], const tsri_theory_setting *s);

/* log10 of a theory's numbers, including those that do not fit a double. */
typedef struct tsri_theory_logs {
    double width, iterations, step;
} tsri_theory_logs;

tsri_theory_logs tsri_theory_logs_of(const tsri_theory *theory, const tsri_theory_setting *s);

#endif
