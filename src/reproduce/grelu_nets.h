/* grelu_nets.h - a gated net and its ReLU twin trained side by side: what Table 2 and Figures 3 to
 * 5 of the GReLU paper share.
 *
 *     tsri_twins t = {.data = "{name: sgemm, limit: 256}", .n = 256, .inputs = 14, .outputs = 1};
 *     double rate = tsri_twins_rate(&t, 8, 128, 10);
 *     tsri_twins_run_file(yaml, sizeof yaml, &t, TSRI_TWIN_GRELU, 128, 10, rate);
 *     TSR_TRY(tsri_study_sweep(s, &sweep, "grelu", yaml, &options, 0, 1));
 *     TSR_TRY(tsri_bundle_take(&b, &t, &sweep, cell));           its seeds folded into one band
 *
 * The rate. At the start the kernel of one output has about L m^2 / (d_x d_y) on its diagonal, so
 * nets of all sizes have the same dynamics, in steps, at
 *
 *     eta = a d_x d_y / (L m^2)  for the mean over the samples of a step, eta / batch for their sum
 *
 * and a measures a rate independently of the size: 2n over the largest eigenvalue of the kernel is
 * a few units of a. The paper's 1e-4 at width 10,000, depth 6 on CIFAR-10 is a = 1.95 if its loss
 * is a mean over the batch; for a sum it would be hundreds of times what is stable.
 *
 * Errors are squared errors of a sample, summed over its outputs, averaged over the training set.
 * The paper calls its error a sum (over samples, too). But 0.02 to 0.75 for 50,000 samples, whose
 * targets alone sum to 50,000, can only be this mean.
 */
#ifndef TSRI_GRELU_NETS_H
#define TSRI_GRELU_NETS_H

#include "reproduce/cost_estimate.h"

enum { TSRI_TWIN_RELU, TSRI_TWIN_GRELU, TSRI_TWINS };

extern const char *const tsri_twin_model[TSRI_TWINS]; /* in a run file */
extern const char *const tsri_twin_name[TSRI_TWINS];  /* for messages */

/* What the paper says about the data and sizes of a figure; "not given" where it says nothing. */
typedef struct tsri_twins_paper {
    const char *data, *n, *inputs, *width, *layers, *batch, *epochs, *rate, *seeds;
} tsri_twins_paper;

/* What all runs of a study have in common. */
typedef struct tsri_twins {
    const char *data;           /* section of the run file */
    int64_t n, inputs, outputs; /* training samples; d_x, d_y */
    int64_t batch, epochs, every /* epochs between points of a curve */, seeds;
} tsri_twins;

/* eta of a step on `batch` samples whose squared errors are summed. */
double tsri_twins_rate(const tsri_twins *t, double a, int64_t width, int64_t layers);

void tsri_twins_run_file(char *yaml, size_t size, const tsri_twins *t, int net, int64_t width,
                         int64_t layers, double rate);

/* Where --data is given, the counts become those of that data, and no step has more samples than
 * there are. */
typedef struct tsri_twins_data {
    int64_t test_n;
    bool images; /* of bytes, grey or coloured */
} tsri_twins_data;

tsr_status tsri_twins_settle(tsri_twins *t, const tsri_study *s, tsri_twins_data *more);

/* Adds our settings beside the paper's; `data` and `rate` are our words for them. */
void tsri_twins_settings(tsri_study *s, const tsri_twins *t, const tsri_twins_paper *paper,
                         const char *data, const char *widths, const char *layers,
                         const char *rate);

/* Adds the cost of `runs` runs of that shape, with the training error at every point of a curve. */
void tsri_twins_cost(tsri_cost_estimate *cost, const tsri_twins *t, int net, int64_t width,
                     int64_t layers, int64_t runs);

/* Seeds and curves for tsri_study_sweep. */
tsri_sweep_options tsri_twins_options(const tsri_twins *t, const char *const *grid, int64_t grids);

/* The curves of one cell over its seeds. */
typedef struct tsri_bundle {
    int64_t points, seeds, diverged;
    double *epoch, *mean, *low, *high; /* [points] geometric mean, least and most of the seeds that
                                          did not diverge; NaN when all did */
    double *one; /* [seeds][points]; infinite at the end of one that diverged, NaN of one that
                    nobody made yet (cells.h) */
} tsri_bundle;

/* Allocates curves with a point at every `every` epochs. The caller writes `one`; fold computes the
 * rest from it and counts the seeds that diverged. */
tsr_status tsri_bundle_init(tsri_bundle *b, int64_t points, int64_t every, int64_t seeds);
void tsri_bundle_fold(tsri_bundle *b);

/* Makes all of it from a cell of a sweep. Call fini even after a failure. */
tsr_status tsri_bundle_take(tsri_bundle *b, const tsri_twins *t, const tsri_sweep *sweep,
                            int64_t cell);
void tsri_bundle_fini(tsri_bundle *b);

/* Draws a line with its band in the last panel; the name says how many seeds diverged. */
void tsri_bundle_draw(tsri_chart *c, const tsri_bundle *b, const char *name, int colour,
                      bool dashed);

/* The final error of seed k, infinity when it diverged; and the geometric mean and interval of
 * all. */
double tsri_bundle_end(const tsri_bundle *b, int64_t k);
tsri_estimate tsri_bundle_ends(const tsri_bundle *b);

/* The ratio of the final errors of a and b: geometric mean and interval over pairs of equal seeds.
 * Unknown when one of them diverged. */
tsri_estimate tsri_bundle_ratio(const tsri_bundle *a, const tsri_bundle *b);

/* The same for pair k of equal seeds; NaN when one of them diverged. */
double tsri_bundle_ratio_of(const tsri_bundle *a, const tsri_bundle *b, int64_t k);

/* Judges a part of claim `id`: the ratio of the final errors of a and b, seed by seed. */
void tsri_bundle_judge_ratio(tsri_study *s, const char *id, const char *part, const tsri_bundle *a,
                             const tsri_bundle *b);

/* Judges a part of claim `id`: the difference of a statistic of a and of b, seed by seed. */
void tsri_bundle_judge_less(tsri_study *s, const char *id, const char *part, const tsri_bundle *a,
                            const tsri_bundle *b, double (*of)(const tsri_bundle *, int64_t));

/* The fraction of points at which seed k's error is above the point before; and the average rise,
 * relative to the error (falls count as 0): the amplitude of its oscillations. NaN when it
 * diverged. */
double tsri_bundle_rises(const tsri_bundle *b, int64_t k);
double tsri_bundle_amplitude(const tsri_bundle *b, int64_t k);

/* The mean of one of these statistics over the seeds, with its interval. */
tsri_estimate tsri_bundle_mean(const tsri_bundle *b, double (*of)(const tsri_bundle *, int64_t));

#endif
