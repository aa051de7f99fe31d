/* op.h - one operation of a network, planned: what it computes, on which buffers, by which kernel.
 *
 * The plan (net/plan.h) fills in an op for every layer, asks the backend for a kernel, lays out the
 * memory the kernel asked for, and then only calls forward and backward, thousands of times.
 *
 * Letters: N batch, C channels (or features), H x W pixels. Tensors hold `real` elements: float, or
 * double on the reference backend of the gradient tests.
 */
#ifndef TSRI_OP_H
#define TSRI_OP_H

#include "base/pool.h"
#include "base/status.h"

typedef enum tsri_kind {
    TSRI_LINEAR, /* y = x W^T + b                     W [out, in], b [out] or NULL */
    TSRI_NORM,   /* y = (x - mean) / sqrt(var + eps) * w + b      per channel      */
    TSRI_RELU    /* y = max(x, 0)                                                  */
} tsri_kind;

const char *tsri_kind_name(tsri_kind kind);

/* Of one sample. A vector of features is {C, 1, 1}. */
typedef struct tsri_shape {
    int64_t c, h, w;
} tsri_shape;

static inline int64_t tsri_shape_count(tsri_shape s)
{
    return s.c * s.h * s.w;
}

/* Floating-point operations of one sample's forward pass (multiply and add count as two). */
int64_t tsri_kind_flops(tsri_kind kind, tsri_shape in, tsri_shape out);

typedef struct tsri_kernel tsri_kernel;

typedef struct tsri_op {
    /* What is computed. */
    tsri_kind kind;
    int64_t n;            /* samples in the batch */
    tsri_shape in, out;   /*                      */
    bool training;        /* norm: batch statistics, not running ones; backward will be called */
    bool relu;            /* y = max(., 0) of the result, fused */
    double eps, momentum; /* norm */
    bool need_dx;         /* false for the first layer */
    bool dx_add;          /* dx += instead of dx = (another op wrote it before) */

    /* On which buffers; bound by the plan. */
    const void *x;     /* [N, in]  */
    void *y;           /* [N, out] */
    void *dx;          /* [N, in]  */
    void *dy;          /* [N, out]; may be overwritten by backward */
    const void *w, *b; /* parameters */
    void *dw, *db;     /* their gradients, written, not added to */
    void *mean, *var;  /* norm: running statistics */

    /* By which kernel, with what memory of its own. */
    const tsri_kernel *kernel;
    int64_t saved_bytes;   /* asked for by setup: kept from forward to backward */
    int64_t scratch_bytes; /* asked for by setup: free for others between two calls */
    void *saved, *scratch;
    void *state; /* made by setup, freed by teardown */
    tsri_pool *pool;
} tsri_op;

/* One implementation of one kind of operation. A backend lists them fastest first; the first that
 * is applicable is used. */
struct tsri_kernel {
    const char *name;
    tsri_kind kind;
    bool backward_needs_x, backward_needs_y; /* what must live until backward */
    bool (*applicable)(const tsri_op *op);   /* (optional) NULL = always */
    tsr_status (*setup)(tsri_op *op);        /* (optional) */
    tsr_status (*forward)(tsri_op *op);
    tsr_status (*backward)(tsri_op *op);
    void (*teardown)(tsri_op *op); /* (optional) */
};

#endif
