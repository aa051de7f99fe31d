/* ntk.h - the tangent kernel of a run file's first weights or of a finished model, on its data.
 *
 *     tsri_ntk_options o = tsri_ntk_options_default();
 *     o.spectrum = true;
 *     TSR_TRY(tsri_ntk_of_run(&k, config, &o));
 *     ... k.k[i * k.n + j], k.smallest.value ...
 *     tsri_ntk_fini(&k);
 *
 *     exact      Gram matrix of the gradients of an output, or summed over outputs (tangent.h)
 *     finite     the masked-neurons paper's H(k) of model shallow, xi/m <x, x'> |both on|; the
 *                exact kernel of u is xi times that
 *     infinite   H_inf of model shallow, or of cnn1 (LoFT, B.3): infinite width, no weights
 */
#ifndef TSRI_NTK_H
#define TSRI_NTK_H

#include "theory/spectrum.h"
#include "theory/tangent.h"

/* In the order of the names "auto|exact|finite|infinite". */
typedef enum tsri_ntk_kind {
    TSRI_NTK_AUTO, /* finite for shallow, else exact */
    TSRI_NTK_EXACT,
    TSRI_NTK_FINITE,
    TSRI_NTK_INFINITE
} tsri_ntk_kind;

typedef struct tsri_ntk_options {
    tsri_ntk_kind kind;
    int64_t n;            /* the first n samples; 0 = 1000, or all when there are fewer */
    int64_t output;       /* of the exact kernel; -1 = summed */
    int64_t memory;       /* bytes for gradients; 0 = 2 GiB */
    bool stops;           /* of the exact kernel: INTERRUPTED when asked to stop */
    bool test_set;        /* samples of the test set instead of the training set */
    const tsr_data *data; /* a program's own, instead of those that the config names, or NULL */
    bool spectrum;        /* all eigenvalues by LAPACK up to n = 5000, else the ends by Lanczos */
    bool lanczos;         /* the ends by Lanczos, whatever n is */
    int64_t repeats;      /* how many times the kernel is computed and timed; 0 = 1 */
    void (*say)(void *context, const char *text); /* the estimate, before it begins; or NULL */
    void *context;
} tsri_ntk_options;

typedef struct tsri_ntk {
    tsri_ntk_kind kind;
    int64_t n, outputs;
    double *k;     /* [n, n] */
    double *value; /* [n] eigenvalues, ascending, or NULL */
    bool ends;     /* smallest and largest are known */
    tsri_eigen smallest, largest;
    double trace;
    double bytes, flops, seconds;       /* bytes and flops are estimates */
    double kernel_min, kernel_median;   /* seconds of the kernel alone, over the repeats */
    double product_min, product_median; /* of that, finite: all pairs of patterns; else 0 */
} tsri_ntk;

tsri_ntk_options tsri_ntk_options_default(void);

/* USAGE when the model has no kernel of that kind; RESOURCES when memory is too small. The caller
 * calls fini, even on failure. */
tsr_status tsri_ntk_of_run(tsri_ntk *ntk, tsr_config *config, const tsri_ntk_options *options);
tsr_status tsri_ntk_of_model(tsri_ntk *ntk, tsr_model *model, const tsri_ntk_options *options);
void tsri_ntk_fini(tsri_ntk *ntk);

/* Samples of a part as the network sees them, the first n: *x [n, dim]; the caller frees it. */
tsr_status tsri_take_samples(float **x, const tsr_data *data, const tsri_part *part, int64_t n);

/* xi of model shallow: a factor of the whole that its shares do not have. */
double tsri_shallow_xi(const tsri_net *net);

/* The patch [C, side, side] around pixel j of image x [C, H, W]; zeros outside the image. */
void tsri_patch_of(float *patch, const float *x, tsri_shape s, int64_t j, int64_t side);

/* H_inf of cnn1: 1/p^2 times the sum, over pixels, of the closed form for the patches around them.
 * The net's first layer is the convolution. */
tsr_status tsri_kernel_cnn1_infinite(double *k, const float *x, int64_t n, const tsri_net *net,
                                     tsri_pool *pool);

#endif
