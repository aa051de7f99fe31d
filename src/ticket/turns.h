/* turns.h - how long things take, measured side by side.
 *
 * One thing, then the next, and so on, round after round: so whatever else the machine does disturbs
 * all of them alike, and the fastest of many repetitions has the least noise. The noise that is left
 * is measured, too: repetitions go in turn to four groups, and each group's fastest is a measurement
 * of its own.
 */
#ifndef TSRI_TURNS_H
#define TSRI_TURNS_H

#include "base/status.h"

/* Milliseconds. */
typedef struct tsri_duration {
    double least; /* of all repetitions */
    double worst; /* the slowest of the four groups' least times */
    double median;
} tsri_duration;

/* Something to be timed: one repetition, begun and ended. */
typedef struct tsri_turn {
    tsr_status (*run)(void *of);
    void *of;
} tsri_turn;

/* out[i] = the time of turns[i]: one warm-up, then at least four repetitions, and more until
 * `seconds` have passed. */
tsr_status tsri_take_turns(tsri_duration *out, const tsri_turn *turns, int64_t count,
                           double seconds);

typedef enum tsri_speedup {
    TSRI_NOT_FASTER,     /* a gain below 2 % does not count */
    TSRI_PERHAPS_FASTER, /* the least fell, but not in every group: may be noise */
    TSRI_FASTER          /* each group's time after is below every group's time before */
} tsri_speedup;

/* Is it significant? Two equal networks come out as faster at most once in 70 times. */
tsri_speedup tsri_faster(tsri_duration before, tsri_duration after);

#endif
