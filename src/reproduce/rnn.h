/* rnn.h - the studies of recurrent networks: the rows of rnn.c's list, and what they share. */
#ifndef TSRI_REPRODUCE_RNN_H
#define TSRI_REPRODUCE_RNN_H

#include "reproduce/reproduce.h"

enum { TSRI_RNN_SEEDS = 16 }; /* the most that a study uses */

tsr_status tsri_rnn_convergence(tsri_study *study);
tsr_status tsri_rnn_length_study(tsri_study *study);
tsr_status tsri_rnn_memorise(tsri_study *study);

/* The rate of loss ~ e^(-rate round), and how straight that is: r^2, 0 for a line that does not
 * fall. Both are NaN for fewer than four points, and where a loss before the line's end is not
 * finite. */
typedef struct tsri_rnn_line {
    double rate, r2, reached; /* reached: the very last loss over the first */
    bool falling;             /* no loss was less than the last */
} tsri_rnn_line;

/* Of loss[n] at the rounds round[n]. Below `floor` times the first loss the line ends: there f32
 * rounds. */
tsri_rnn_line tsri_rnn_line_of(const double *round, const double *loss, int64_t n, double floor);

#endif
