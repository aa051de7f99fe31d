/* position.h - how far a run has come: what a checkpoint stores beside the numbers of the store.
 *
 * Plain values: a position can be copied, kept and put back. A run that is resumed from it goes on
 * as if it had not been interrupted.
 */
#ifndef TSRI_POSITION_H
#define TSRI_POSITION_H

#include <stdint.h>

/* One time that the run diverged and went back (train/rollback.h). */
typedef struct tsri_rollback_entry {
    int64_t to;    /* rounds done where it went on: the rate is halved from there */
    int64_t round; /* the one that diverged, counted from 1 */
    double loss;   /* that was too large; NaN: it was not finite, or that of the whole network */
} tsri_rollback_entry;

enum { TSRI_ROLLBACKS_MOST = 3 };

/* A mean in the making: kept in checkpoints, so that a resumed run reports the same numbers. */
typedef struct tsri_mean {
    double sum;
    int64_t count;
} tsri_mean;

typedef struct tsri_run_position {
    int64_t round;     /* rounds done */
    int64_t converted; /* the round after which the gated net became a ReLU net; -1 = not yet */
    tsri_mean recent;  /* training loss since the last line of metrics */
    double first_loss; /* of the first step; 0 = none yet */

    double test_loss, test_accuracy;   /* of the last evaluation; NaN = none yet */
    double test_rmse;                  /* likewise, in the units of real targets; NaN for classes */
    double train_loss, train_accuracy; /* likewise of the whole training set, if it is judged */
    double ranking_change;             /* how far the ranking of filters has moved (score_log.h) */

    double best_score;    /* accuracy, or minus the loss, of the best checkpoint; -inf = none */
    int64_t best_round;   /* -1 = none */
    double best_loss;     /* the least train_loss, or test metric of a run with patience;
                             infinity = none yet */
    int64_t best_iterate; /* the round that had it; -1 = none */
    int64_t stale;        /* evaluations in a row without a better one */

    int64_t unlooked;      /* 1: a stop ended the observers' look at this round */
    int64_t bytes_total;   /* sent between workers */
    int64_t lost_shares;   /* of workers that died, were late or returned nonsense */
    int64_t metrics_bytes; /* length of metrics.jsonl */

    tsri_rollback_entry rollback[TSRI_ROLLBACKS_MOST];
    int64_t rollbacks; /* of these */
} tsri_run_position;

#endif
