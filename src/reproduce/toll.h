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
    char sizes[400]; /* of the nets, for people; what does not fit is left out */
    char data[60];   /* that the last of them are trained on, not in `sizes` yet */
} tsri_toll;

void tsri_toll_add(tsri_toll *t, int64_t runs, double products, double bytes);

/* "6 x 256" trained on "256 samples, 180 epochs" is among them: each is told once. */
void tsri_toll_net(tsri_toll *t, const char *net, const char *data);

/* Says sizes and cost as progress, the cost as a note. */
tsr_status tsri_study_toll(tsri_study *s, const tsri_toll *t);

#endif
