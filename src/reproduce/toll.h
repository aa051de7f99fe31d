/* toll.h - what a study will take, told before it begins.
 *
 *     tsri_toll t = {0};
 *     tsri_toll_add(&t, seeds, 3e12, 2e9);         seeds runs of 3e12 multiplications, 2 GB each
 *     TSR_TRY(tsri_study_toll(s, &t));             says it; RESOURCES when one run does not fit
 *
 * The time is that of the multiplications alone, none skipped, at the rate a large product reaches
 * on this machine now: small layers take several times as long, gates that are skipped less. Sweeps
 * of the study then keep as many runs beside each other as memory allows.
 */
#ifndef TSRI_TOLL_H
#define TSRI_TOLL_H

#include "reproduce/reproduce.h"

typedef struct tsri_toll {
    int64_t runs;
    double products; /* multiplications with their additions, of all runs */
    double bytes;    /* of the largest run */
} tsri_toll;

void tsri_toll_add(tsri_toll *t, int64_t runs, double products, double bytes);

/* Says it as progress and as a note. */
tsr_status tsri_study_toll(tsri_study *s, const tsri_toll *t);

#endif
