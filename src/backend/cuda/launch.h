/* launch.h - the module's kernels as plain C calls: what the .cu files define and the .c files use.
 *
 * Every call only puts work into a stream, and returns what CUDA said when it did. Tensors are
 * floats of the device, images [N, H, W, C]. No kernel adds with atomics: each sum has one order,
 * which follows from the shapes alone, so that the same step gives the same bits on any chip.
 *
 * Read by nvcc as C++, so nothing here includes the library's own headers.
 */
#ifndef TSRI_CUDA_LAUNCH_H
#define TSRI_CUDA_LAUNCH_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- points.cu: number by number --------------------------------------------------------------
 * With `more` a gradient is added to what is there. */

cudaError_t tsri_cuda_relu(cudaStream_t s, float *y, const float *x, int64_t count);
cudaError_t tsri_cuda_relu_back(cudaStream_t s, float *dx, const float *y, const float *dy,
                                int64_t count, bool more);
/* y = x + add, then the ReLU. */
cudaError_t tsri_cuda_add(cudaStream_t s, float *y, const float *x, const float *add, int64_t count,
                          bool relu);
/* dy = 0 where y is not above 0. */
cudaError_t tsri_cuda_mask(cudaStream_t s, float *dy, const float *y, int64_t count);
/* to = from, or to += from. */
cudaError_t tsri_cuda_copy(cudaStream_t s, float *to, const float *from, int64_t count, bool more);
/* y [rows, columns] += b [columns], then the ReLU; b may be NULL. */
cudaError_t tsri_cuda_bias(cudaStream_t s, float *y, const float *b, int64_t rows, int64_t columns,
                           bool relu);
/* to [n, columns, rows] = from [n, rows, columns]. */
cudaError_t tsri_cuda_turn(cudaStream_t s, float *to, const float *from, int64_t n, int64_t rows,
                           int64_t columns, bool more);
/* to [b, a, c] = from [a, b, c]. */
cudaError_t tsri_cuda_swap(cudaStream_t s, float *to, const float *from, int64_t a, int64_t b,
                           int64_t c, bool more);
/* Bit u of sample i is bit u % 64 of word[i * words + u / 64]: on where z is above 0. */
cudaError_t tsri_cuda_gate_bits(cudaStream_t s, uint64_t *word, const float *z, int64_t n,
                                int64_t units, int64_t words);
/* y = x where the gate is on, else 0. */
cudaError_t tsri_cuda_gate(cudaStream_t s, float *y, const float *x, const uint64_t *word,
                           int64_t n, int64_t units, int64_t words, bool more);

/* ---- sums.cu: over rows and over pixels ------------------------------------------------------- */

/* Bytes of scratch for the sums of `sums` quantities over the rows of a matrix. */
int64_t tsri_cuda_sums_bytes(int64_t rows, int64_t columns, int sums);
/* to [columns] = the sums of x [rows, columns], in double. */
cudaError_t tsri_cuda_column_sums(cudaStream_t s, float *to, const float *x, int64_t rows,
                                  int64_t columns, void *scratch);
/* y [n, c] = means over the pixels of x [n, pixels, c], and back. */
cudaError_t tsri_cuda_global(cudaStream_t s, float *y, const float *x, int64_t n, int64_t pixels,
                             int64_t c);
cudaError_t tsri_cuda_global_back(cudaStream_t s, float *dx, const float *dy, int64_t n,
                                  int64_t pixels, int64_t c, bool more);

/* ---- norm.cu: batch normalisation of x [rows, c] ---------------------------------------------- */

typedef struct tsri_cuda_norm {
    int64_t rows, c;
    const float *x, *add, *w, *b; /* add may be NULL */
    float *y;                     /* NULL: not stored */
    float *mean, *var, *tracked;  /* running; tracked may be NULL */
    float *saved;                 /* scale, shift, mean, 1 / deviation: [c] each */
    double eps, momentum;
    bool batch; /* statistics of the batch, not running ones */
    bool relu;
    float *dy, *dx, *dw, *db; /* dx, dw, db may be NULL */
    bool more;                /* dx is added to */
    void *scratch;            /* tsri_cuda_sums_bytes(rows, c, 2) */
} tsri_cuda_norm;

cudaError_t tsri_cuda_norm_forward(cudaStream_t s, const tsri_cuda_norm *norm);
cudaError_t tsri_cuda_norm_backward(cudaStream_t s, const tsri_cuda_norm *norm);

/* ---- narrow.cu, narrow_norm.cu: values that lie as bf16 (backend/op.h), [rows, c] each ---------- */

typedef uint16_t tsri_cuda_bf16;

cudaError_t tsri_cuda_narrow_relu(cudaStream_t s, tsri_cuda_bf16 *y, const tsri_cuda_bf16 *x,
                                  int64_t rows, int64_t c);
/* dx = dy where y is above 0, else 0; dx may be dy. */
cudaError_t tsri_cuda_narrow_mask(cudaStream_t s, tsri_cuda_bf16 *dx, const tsri_cuda_bf16 *dy,
                                  const tsri_cuda_bf16 *y, int64_t rows, int64_t c, bool more);
cudaError_t tsri_cuda_narrow_copy(cudaStream_t s, tsri_cuda_bf16 *to, const tsri_cuda_bf16 *from,
                                  int64_t rows, int64_t c, bool more);
/* From floats [rows, c], and to them. */
cudaError_t tsri_cuda_narrow_rows(cudaStream_t s, tsri_cuda_bf16 *to, const float *from,
                                  int64_t rows, int64_t c);
cudaError_t tsri_cuda_widen_rows(cudaStream_t s, float *to, const tsri_cuda_bf16 *from,
                                 int64_t rows, int64_t c, bool more);
cudaError_t tsri_cuda_narrow_global(cudaStream_t s, tsri_cuda_bf16 *y, const tsri_cuda_bf16 *x,
                                    int64_t n, int64_t pixels, int64_t c);
cudaError_t tsri_cuda_narrow_global_back(cudaStream_t s, tsri_cuda_bf16 *dx,
                                         const tsri_cuda_bf16 *dy, int64_t n, int64_t pixels,
                                         int64_t c, bool more);
cudaError_t tsri_cuda_narrow_column_sums(cudaStream_t s, float *to, const tsri_cuda_bf16 *x,
                                         int64_t rows, int64_t c);

/* Weights of several layers, and their gradients. */
enum { TSRI_CUDA_PACK = 64 };

typedef struct tsri_cuda_packed {
    const void *from;
    void *to;
    int64_t rows, c; /* of floats */
    int64_t rows_to; /* of bf16, whose rows are filled up */
} tsri_cuda_packed;

typedef struct tsri_cuda_packing {
    tsri_cuda_packed item[TSRI_CUDA_PACK];
    int64_t count;
} tsri_cuda_packing;

cudaError_t tsri_cuda_pack(cudaStream_t s, const tsri_cuda_packing *packing);
cudaError_t tsri_cuda_unpack_all(cudaStream_t s, const tsri_cuda_packing *packing);
/* A gradient back: to [rows, c] of from [.., c filled up], floats where `wide`, else bf16. */
cudaError_t tsri_cuda_unpack(cudaStream_t s, float *to, const void *from, bool wide, int64_t rows,
                             int64_t c);

typedef struct tsri_cuda_narrow_norm {
    int64_t rows, c;
    const tsri_cuda_bf16 *x, *add; /* add may be NULL */
    tsri_cuda_bf16 *y;
    const float *w, *b;
    float *mean, *var, *tracked; /* running; tracked may be NULL */
    float *saved;                /* scale, shift, mean, 1 / deviation, and of backward three: [c] */
    double eps, momentum;
    double part, part_less; /* 1 / rows and 1 / (rows - 1): divisions would be waited for */
    bool batch, relu;
    tsri_cuda_bf16 *dy, *dx; /* dx may be NULL */
    float *dw, *db;          /* may be NULL */
    bool more;
    void *scratch;     /* tsri_cuda_narrow_norm_bytes */
    unsigned *counter; /* [TSRI_CUDA_SLABS] 0, and 0 again afterwards */
    int crowd;         /* so many such networks run at once (backend/queue.h) */
} tsri_cuda_narrow_norm;

enum { TSRI_CUDA_SLABS = 64 };

/* What stands behind a product: y = relu(y + b + add); any of these may be missing. */
typedef struct tsri_cuda_finish {
    tsri_cuda_bf16 *y;
    const tsri_cuda_bf16 *add;
    const float *b;
    int64_t rows, c;
    bool relu;
} tsri_cuda_finish;

int64_t tsri_cuda_narrow_norm_bytes(int64_t rows, int64_t c);
/* With `feeds` the statistics of that norm, too, which reads y. */
cudaError_t tsri_cuda_narrow_finish(cudaStream_t s, const tsri_cuda_finish *finish,
                                    const tsri_cuda_narrow_norm *feeds);
/* `fed`: the statistics are there. */
cudaError_t tsri_cuda_narrow_norm_forward(cudaStream_t s, const tsri_cuda_narrow_norm *norm,
                                          bool fed);
cudaError_t tsri_cuda_narrow_norm_backward(cudaStream_t s, const tsri_cuda_narrow_norm *norm);

/* ---- window.cu, conv.cu: windows of size x size pixels ---------------------------------------- */

typedef struct tsri_cuda_window {
    int n, size, stride, pad;
    struct {
        int c, h, w;
    } in, out;
} tsri_cuda_window;

/* ---- tangents.cu: beside the products of a tangent kernel --------------------------------------- */

typedef struct tsri_cuda_spread { /* to[i][p][c] = from[i][p][c] */
    float *to;
    int64_t to_i, to_p;
    const float *from;
    int64_t from_i, from_p;
    int64_t n, p, c;
} tsri_cuda_spread;

cudaError_t tsri_cuda_tangent_spread(cudaStream_t s, const tsri_cuda_spread *v);
cudaError_t tsri_cuda_tangent_windows(cudaStream_t s, float *to, int64_t to_i, const float *x,
                                      const tsri_cuda_window *window);
cudaError_t tsri_cuda_tangent_sums(cudaStream_t s, float *to, int64_t to_i, const float *dy,
                                   const float *x, const float *saved, int64_t n, int64_t pixels,
                                   int64_t c);
cudaError_t tsri_cuda_tangent_collect(cudaStream_t s, double *sum, const float *part, int64_t count,
                                      bool first);
cudaError_t tsri_cuda_tangent_fold(cudaStream_t s, double *k, int64_t n, const double *d,
                                   const double *a, int64_t rows, int64_t columns, double scale,
                                   double bias);
cudaError_t tsri_cuda_tangent_positions(cudaStream_t s, double *k, int64_t n, const float *a,
                                        const float *d, int64_t rows, int64_t columns,
                                        int64_t positions, double scale);

/* `taken`: for each output the pixel that it came from; NULL = not wanted. */
cudaError_t tsri_cuda_maxpool(cudaStream_t s, float *y, int32_t *taken, const float *x,
                              const tsri_cuda_window *window);
cudaError_t tsri_cuda_maxpool_back(cudaStream_t s, float *dx, const int32_t *taken, const float *dy,
                                   const tsri_cuda_window *window, bool more);
cudaError_t tsri_cuda_avgpool(cudaStream_t s, float *y, const float *x,
                              const tsri_cuda_window *window);
cudaError_t tsri_cuda_avgpool_back(cudaStream_t s, float *dx, const float *dy,
                                   const tsri_cuda_window *window, bool more);

typedef struct tsri_cuda_conv {
    tsri_cuda_window window;
    const float *x, *w; /* w [out, size, size, in] */
    const float *pre;   /* scale and shift [in.c] of a norm in front and its ReLU, or NULL */
    const float *b, *add;
    bool relu;
    bool round; /* x, w and dy are rounded to bf16 as they are read */
    float *y;
    const float *dy;
    float *dx, *dw;
    bool more;     /* dx is added to */
    void *scratch; /* tsri_cuda_conv_bytes */
} tsri_cuda_conv;

/* dx [n, in.h, in.w, c] of what each pixel of y gives to the one that it stands on: of a window of
 * one pixel. */
cudaError_t tsri_cuda_narrow_spread(cudaStream_t s, tsri_cuda_bf16 *dx, const tsri_cuda_bf16 *from,
                                    const tsri_cuda_window *window, bool more);

/* to [pixels of y, size size in.c filled up] = x of floats around each pixel, as bf16. */
cudaError_t tsri_cuda_patches(cudaStream_t s, tsri_cuda_bf16 *to, const float *x,
                              const tsri_cuda_window *window);

int64_t tsri_cuda_conv_bytes(const tsri_cuda_window *window);
cudaError_t tsri_cuda_conv_forward(cudaStream_t s, const tsri_cuda_conv *conv);
cudaError_t tsri_cuda_conv_input(cudaStream_t s, const tsri_cuda_conv *conv);  /* dx */
cudaError_t tsri_cuda_conv_weight(cudaStream_t s, const tsri_cuda_conv *conv); /* dw */

/* ---- sequence.cu: sequences [T, N, C]; length [N], or NULL = all T ---------------------------- */

/* y = max(y + x, 0) of position l, 0 behind a sequence's end. */
cudaError_t tsri_cuda_recur(cudaStream_t s, float *y, const float *x, const int32_t *length,
                            int64_t l, int64_t n, int64_t c);
/* dx = (dx or, at the last position, 0) + dy where y is above 0, else 0. */
cudaError_t tsri_cuda_recur_back(cudaStream_t s, float *dx, const float *dy, const float *y,
                                 int64_t count, bool last);
/* ---- recurrent.cu: the same under bf16, all positions in one launch, c at most so many ---------- */

enum { TSRI_CUDA_RECURRENT_MOST = 1024, TSRI_CUDA_RECURRENT_UNITS = 64 };

typedef struct tsri_cuda_recurrence {
    int64_t n, c, t;        /* samples, units, positions */
    const float *w;         /* [c, c] */
    float scale;            /* of the product */
    const float *start;     /* [t, n, c] what is added to it: x, or back dy */
    const float *mask;      /* back: y, above 0 where the ReLU is on */
    const int32_t *length;  /* forward: [n] or NULL */
    float *to;              /* [t, n, c] y, or back dx */
    tsri_cuda_bf16 *narrow; /* [t, n, c filled up] the same */
    void *packed;           /* W as it is read, both ways */
    bool back;
} tsri_cuda_recurrence;

int64_t tsri_cuda_recurrent_bytes(int64_t c); /* of W as it is read */
cudaError_t tsri_cuda_recurrent_pack(cudaStream_t s, void *to, const float *w, int64_t c);
/* Before each run. */
cudaError_t tsri_cuda_recurrent_clear(cudaStream_t s, const tsri_cuda_recurrence *r);
/* Its blocks wait for each other: no more launches at once than there are gates (gates.c). */
cudaError_t tsri_cuda_recurrent_run(cudaStream_t s, const tsri_cuda_recurrence *r);
/* One position, whose product is in `to`; the first has none. */
cudaError_t tsri_cuda_recurrent_step(cudaStream_t s, const tsri_cuda_recurrence *r, int64_t l,
                                     bool first);

cudaError_t tsri_cuda_last(cudaStream_t s, float *y, const float *x, const int32_t *length,
                           int64_t t, int64_t n, int64_t c);
cudaError_t tsri_cuda_last_back(cudaStream_t s, float *dx, const float *dy, const int32_t *length,
                                int64_t t, int64_t n, int64_t c);

enum { TSRI_CUDA_PARTS = 256 }; /* numbers that a lane has for sums of blocks */

/* ---- loss.cu ---------------------------------------------------------------------------------- */

/* The losses that have code here, by name. Another one is refused. */
#define TSRI_CUDA_LOSSES(X)                                                                        \
    X(cross_entropy)                                                                               \
    X(mse)                                                                                         \
    X(half_squares)                                                                                \
    X(huber)                                                                                       \
    X(hinge)                                                                                       \
    X(squared_hinge)                                                                               \
    X(exponential)                                                                                 \
    X(logistic)

typedef struct tsri_cuda_loss {
    int kind; /* its place in that list */
    bool sum, margins;
    int64_t n, valid, outputs, positions, first;
    const int32_t *length, *label; /* NULL or of the device, as all pointers here */
    const float *x, *target;
    const double *weight, *weight_mean;
    double smoothing;
    float *dx;
    void *tally;  /* a double, the sum; an int64_t, the hits */
    double *part; /* TSRI_CUDA_PARTS of scratch */
} tsri_cuda_loss;

cudaError_t tsri_cuda_loss_of(cudaStream_t s, const tsri_cuda_loss *loss);

/* ---- narrow.cu: counters of a recorded step --------------------------------------------------- */

enum { TSRI_CUDA_ZEROS = 255 };

typedef struct tsri_cuda_zeros {
    int64_t count;
    unsigned *at[TSRI_CUDA_ZEROS];
} tsri_cuda_zeros;

/* `zeros` is read when it runs. */
cudaError_t tsri_cuda_zero(cudaStream_t s, const tsri_cuda_zeros *zeros);

/* ---- vectors.cu: vectors of parameters -------------------------------------------------------- */

/* tsri_dials as kernels see it. */
typedef struct tsri_cuda_dials {
    double rate;
    double shrink, decay, new1, keep2, new2, adam_rate, root, epsilon;
} tsri_cuda_dials;

typedef struct tsri_cuda_sgd {
    float *w, *v, *dw;
    int64_t count;
    const tsri_cuda_dials *dials;
    float momentum, decay;
    bool nesterov;
} tsri_cuda_sgd;

/* Parts of dw that are still `packed` are unpacked on the way. */
cudaError_t tsri_cuda_update(cudaStream_t s, const tsri_cuda_sgd *sgd,
                             const tsri_cuda_packing *packed);
cudaError_t tsri_cuda_adam(cudaStream_t s, float *w, float *v, float *square, const float *dw,
                           int64_t count, const tsri_cuda_dials *dials);
/* part: TSRI_CUDA_PARTS doubles of scratch. */
cudaError_t tsri_cuda_clip(cudaStream_t s, float *g, int64_t count, double longest, double *part);
cudaError_t tsri_cuda_blend(cudaStream_t s, float *a, const float *w, int64_t count, double part);
cudaError_t tsri_cuda_gather(cudaStream_t s, float *sum, float *g, int64_t count, bool first,
                             bool last, float scale);
cudaError_t tsri_cuda_count(cudaStream_t s, float *counter);

/* ---- draw.cu: batches of samples that are on the device ---------------------------------------- */

typedef struct tsri_cuda_drawing {
    int64_t count, dim, c, h, w;
    const uint8_t *bytes; /* [n, c, h, w], or NULL: */
    const float *numbers; /* [n, dim] */
    const float *shift, *scale, *black;
    const int64_t *index;
    const int32_t *move; /* [count, 3] down, right, flip; or NULL */
    float *x;
    int64_t per_sample, per_channel, per_pixel; /* how far apart these are in x */
    bool inside;                                /* channels of a sample are inside: a sequence */
} tsri_cuda_drawing;

cudaError_t tsri_cuda_draw(cudaStream_t s, const tsri_cuda_drawing *drawing);

/* ---- slices.cu: shares ------------------------------------------------------------------------ */

enum {
    TSRI_CUDA_OWNER = 2
}; /* numbers of an owner's row: where its numbers are, pieces in a line */

/* to [lines, pieces, grain] of `from` [.., size, grain]; table: lines, then pieces, of the
 * whole. */
cudaError_t tsri_cuda_take(cudaStream_t s, float *to, const float *from, const int64_t *table,
                           int64_t lines, int64_t pieces, int64_t size, int64_t grain);
/* whole [lines, size, grain]; table: the owners' rows, then for each its lines and its pieces. */
cudaError_t tsri_cuda_put(cudaStream_t s, float *whole, const int64_t *table, int64_t owners,
                          int64_t lines, int64_t size, int64_t grain);

#ifdef __cplusplus
}
#endif

#endif
