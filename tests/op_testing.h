/* op_testing.h - one op of a backend, run once on numbers from a seed: what test_kernels.c compares.
 *
 *     op_case c = {TSRI_CONV, 3, {8, 5, 5}, {16, 5, 5}, {3, 1, 1}, BIAS | RELU | ALL};
 *     buffers got = run_case(&c, number, backend, pool);
 *     ...
 *     free_buffers(&got);
 *
 * A case is written down once, in ref's order [N, C, H, W]; for a backend with channels last its
 * tensors are transposed on the way in and back on the way out, so that numbers are compared one by
 * one. What ref does not fuse is given to ref in two steps: a virtual norm's output is computed here
 * from the scale and shift it saved, a conv's `pre` is applied here to ref's input.
 */
#ifndef OP_TESTING_H
#define OP_TESTING_H

#include "backend_testing.h"

#include "backend/bf16.h"
#include "base/rng.h"

#include <math.h>

enum {
    BIAS = 1,
    RELU = 2,
    TRAIN = 4, /* batch statistics, and backward */
    DX = 8,
    DX_ADD = 16,
    ADD = 32,         /* op->add */
    DADD = 64,        /* its gradient in memory of its own */
    DADD_ADD = 128,   /* which is added to */
    VIRTUAL = 256,    /* norm */
    PRE = 512,        /* conv */
    NO_DW = 1024,     /* gradients of the parameters are not wanted */
    DIRECT = 2048,    /* conv */
    WINOGRAD = 4096,  /* conv */
    BF16 = 8192,      /* conv, linear */
    NARROW_X = 16384, /* x and dx lie as bf16 */
    NARROW_Y = 32768, /* likewise y, dy, add, dadd */
    NARROW = NARROW_X | NARROW_Y,
    CROWD = 65536, /* others run at once */
    ALL = TRAIN | DX
};

typedef struct op_case {
    tsri_kind kind;
    int64_t n;
    tsri_shape in, out;
    struct {
        int64_t size, stride, pad;
    } window;
    int flags;
} op_case;

typedef struct buffers {
    float *x, *y, *dx, *dy, *add, *dadd, *w, *b, *dw, *db, *mean, *var, *pre;
    void *saved;
} buffers;

static tsri_shape flat(tsri_shape s)
{
    return (tsri_shape){tsri_shape_count(s), 1, 1};
}

/* Linear layers take images as they lie. */
static tsri_shape in_shape(const op_case *c)
{
    return c->kind == TSRI_LINEAR ? flat(c->in) : c->in;
}

static int64_t in_count(const op_case *c)
{
    return c->n * tsri_shape_count(c->in);
}

static int64_t out_count(const op_case *c)
{
    return c->n * tsri_shape_count(c->out);
}

static int64_t weights_of(const op_case *c)
{
    if (c->kind == TSRI_CONV)
        return c->out.c * c->in.c * c->window.size * c->window.size;
    return c->kind == TSRI_LINEAR ? tsri_shape_count(c->in) * c->out.c : c->in.c;
}

/* ---- Tensors ------------------------------------------------------------------------------- */

static float *numbers(tsri_rng *rng, int64_t n, double scale)
{
    float *p = NULL;
    assert_ok(tsri_alloc(&p, n, sizeof *p));
    for (int64_t i = 0; i < n; i++)
        p[i] = (float)(scale * tsri_rng_normal(rng));
    return p;
}

/* a [N][rows][cols] becomes [N][cols][rows], in place. */
static void transpose(float *a, int64_t n, int64_t rows, int64_t cols)
{
    float *copy = NULL;
    assert_ok(tsri_alloc(&copy, n * rows * cols, sizeof *copy));
    memcpy(copy, a, (size_t)(n * rows * cols) * sizeof *a);
    for (int64_t i = 0; i < n * rows * cols; i++) {
        int64_t image = i / (rows * cols), row = i / cols % rows, col = i % cols;
        a[(image * cols + col) * rows + row] = copy[i];
    }
    tsri_free(copy);
}

static void turn_images(float *a, const op_case *c, tsri_shape s, bool last)
{
    transpose(a, c->n, last ? s.c : s.h * s.w, last ? s.h * s.w : s.c);
}

/* [out][in][taps] to the backend's order, or back. */
static void turn_filters(float *w, const op_case *c, bool last, tsri_filter_order order)
{
    int64_t taps = c->window.size * c->window.size;
    if (order == TSRI_OHWI) {
        transpose(w, c->out.c, last ? c->in.c : taps, last ? taps : c->in.c);
    } else if (last) {
        transpose(w, 1, c->out.c, c->in.c * taps); /* [in][taps][out] */
        transpose(w, 1, c->in.c, taps * c->out.c); /* [taps][out][in] */
        transpose(w, taps, c->out.c, c->in.c);
    } else {
        transpose(w, taps, c->in.c, c->out.c);
        transpose(w, 1, taps * c->out.c, c->in.c);
        transpose(w, 1, c->in.c * taps, c->out.c);
    }
}

/* All tensors into channels last, or back. */
static void turn(buffers *v, const op_case *c, bool last, tsri_filter_order order)
{
    float *ins[] = {v->x, v->dx}, *outs[] = {v->y, v->dy, v->add, v->dadd};
    for (int i = 0; i < 2; i++)
        turn_images(ins[i], c, in_shape(c), last);
    for (int i = 0; i < 4; i++)
        turn_images(outs[i], c, c->out, last);
    if (c->kind == TSRI_CONV) {
        turn_filters(v->w, c, last, order);
        turn_filters(v->dw, c, last, order);
    }
}

static void round_numbers(float *p, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        p[i] = tsri_bf16_round(p[i]);
}

/* Both sides are given what bf16 can hold. */
static void round_narrow(buffers *v, const op_case *c)
{
    float *ins[] = {v->x, v->dx}, *outs[] = {v->y, v->dy, v->add, v->dadd};
    for (int i = 0; c->flags & NARROW_X && i < 2; i++)
        round_numbers(ins[i], in_count(c));
    for (int i = 0; c->flags & NARROW_Y && i < 4; i++)
        round_numbers(outs[i], out_count(c));
}

/* The inputs depend on the case only; outputs begin as numbers that must be overwritten. */
static buffers make_buffers(const op_case *c, int64_t number)
{
    int64_t in = in_count(c), out = out_count(c), channels = c->out.c;
    tsri_rng rng = tsri_rng_stream(1, TSRI_FOR_TEST, number, 0, 0);
    buffers v = {.x = numbers(&rng, in, 1),
                 .y = numbers(&rng, out, 1),
                 .dx = numbers(&rng, in, 1),
                 .dy = numbers(&rng, out, 1),
                 .add = numbers(&rng, out, 1),
                 .dadd = numbers(&rng, out, 1),
                 .w = numbers(&rng, weights_of(c), 1),
                 .b = numbers(&rng, channels, 1),
                 .dw = numbers(&rng, weights_of(c), 1),
                 .db = numbers(&rng, channels, 1),
                 .mean = numbers(&rng, channels, 1),
                 .var = numbers(&rng, channels, 1),
                 .pre = numbers(&rng, 2 * c->in.c, 1)};
    for (int64_t i = 0; i < channels; i++)
        v.var[i] = fabsf(v.var[i]) + 0.1f;
    for (int64_t i = 0; c->flags & BF16 && i < in; i++)
        v.x[i] = roundf(8 * v.x[i]) / 8; /* so that what a norm in front gives is exact, ... */
    for (int64_t i = 0; c->flags & BF16 && i < 2 * c->in.c; i++)
        v.pre[i] = roundf(8 * v.pre[i]) / 8; /* ... and rounds to the same bf16 on both sides */
    for (int64_t i = 0; c->kind == TSRI_MAXPOOL && i < in; i++)
        v.x[i] = roundf(v.x[i]); /* so that windows have several largest pixels */
    round_narrow(&v, c);
    return v;
}

/* All of them by number, in the order of the struct. */
enum { BUFFERS = 13 };

static float **buffer(buffers *v, int i)
{
    float **all[BUFFERS] = {&v->x, &v->y,  &v->dx, &v->dy,   &v->add, &v->dadd, &v->w,
                            &v->b, &v->dw, &v->db, &v->mean, &v->var, &v->pre};
    return all[i];
}

static int64_t bytes_of(const op_case *c, int i)
{
    int64_t in = in_count(c), out = out_count(c), w = weights_of(c), k = c->out.c;
    const int64_t all[BUFFERS] = {in, out, in, out, out, out, w, k, w, k, k, k, 2 * c->in.c};
    return all[i] * (int64_t)sizeof(float);
}

static void free_buffers(buffers *v)
{
    for (int i = 0; i < BUFFERS; i++)
        tsri_free(*buffer(v, i));
    tsri_free(v->saved);
}

/* ---- Narrow values -------------------------------------------------------------------------- */

static bool is_narrow(const op_case *c, int i)
{
    bool x = i == 0 || i == 2, y = i == 1 || (i >= 3 && i <= 5);
    return (x && c->flags & NARROW_X) || (y && c->flags & NARROW_Y);
}

static int64_t bytes_there(const op_case *c, int i)
{
    bool x = i == 0 || i == 2;
    return is_narrow(c, i) ? tsri_narrow_bytes(c->n, x ? in_shape(c) : c->out) : bytes_of(c, i);
}

/* Pixels of bf16, behind whose channels are zeros; not a number where they must be written. */
static void to_narrow(tsri_bf16 *to, const float *from, const op_case *c, int i)
{
    bool x = i == 0 || i == 2;
    tsri_shape s = x ? in_shape(c) : c->out;
    bool written = i == 1 || (i == 2 && c->flags & DX && c->flags & TRAIN && !(c->flags & DX_ADD));
    int64_t pitch = tsri_narrow_channels(s.c);
    for (int64_t k = 0; k < c->n * s.h * s.w * pitch; k++)
        to[k] = k % pitch < s.c ? tsri_bf16_of(from[k / pitch * s.c + k % pitch])
                : written       ? 0x7fc0
                                : 0;
}

static void from_narrow(float *to, const tsri_bf16 *from, const op_case *c, int i)
{
    tsri_shape s = i == 0 || i == 2 ? in_shape(c) : c->out;
    int64_t pitch = tsri_narrow_channels(s.c);
    for (int64_t k = 0; k < c->n * s.h * s.w * pitch; k++) {
        float v = tsri_bf16_float(from[k]);
        if (k % pitch < s.c)
            to[k / pitch * s.c + k % pitch] = v;
        else if (v != 0)
            fail_msg("buffer %d has %g behind its channels", i, (double)v);
    }
}

static tsri_mem *lend_buffer(const tsri_backend *backend, const float *from, const op_case *c,
                             int i)
{
    tsri_bf16 *half = NULL;
    if (!is_narrow(c, i))
        return lend(backend, from, bytes_of(c, i));
    assert_ok(tsri_alloc(&half, bytes_there(c, i), 1));
    to_narrow(half, from, c, i);
    tsri_mem *mem = lend(backend, half, bytes_there(c, i));
    tsri_free(half);
    return mem;
}

static void take_buffer(float *to, const tsri_backend *backend, tsri_mem *mem, const op_case *c,
                        int i)
{
    tsri_bf16 *half = NULL;
    if (!is_narrow(c, i)) {
        take_back(to, backend, mem, bytes_of(c, i));
        return;
    }
    assert_ok(tsri_alloc(&half, bytes_there(c, i), 1));
    take_back(half, backend, mem, bytes_there(c, i));
    from_narrow(to, half, c, i);
    tsri_free(half);
}

/* ---- Running ------------------------------------------------------------------------------- */

static tsri_op op_of(const op_case *c, const buffers *v, bool fused, bool narrow, tsri_pool *pool)
{
    bool gradients = !(c->flags & NO_DW);
    return (tsri_op){.kind = c->kind,
                     .n = c->n,
                     .in = c->in,
                     .out = c->out,
                     .size = c->window.size,
                     .stride = c->window.stride,
                     .pad = c->window.pad,
                     .conv = c->flags & DIRECT     ? TSRI_CONV_DIRECT
                             : c->flags & WINOGRAD ? TSRI_CONV_WINOGRAD
                                                   : TSRI_CONV_AUTO,
                     .bf16 = c->flags & BF16,
                     .narrow_x = narrow && c->flags & NARROW_X,
                     .narrow_y = narrow && c->flags & NARROW_Y,
                     .virtual = fused && c->flags & VIRTUAL,
                     .training = c->flags & TRAIN,
                     .relu = c->flags & RELU,
                     .eps = 1e-5,
                     .momentum = 0.1,
                     .need_dx = c->flags & DX,
                     .dx_add = c->flags & DX_ADD,
                     .dadd_add = c->flags & DADD_ADD,
                     .x = v->x,
                     .y = v->y,
                     .dx = v->dx,
                     .dy = v->dy,
                     .add = c->flags & ADD ? v->add : NULL,
                     .dadd = c->flags & DADD ? v->dadd : NULL,
                     .w = v->w,
                     .b = c->flags & BIAS ? v->b : NULL,
                     .dw = gradients ? v->dw : NULL,
                     .db = gradients && c->flags & BIAS ? v->db : NULL,
                     .mean = v->mean,
                     .var = v->var,
                     .pre = fused && c->flags & PRE ? v->pre : NULL,
                     .pool = pool,
                     .crowd = c->flags & CROWD ? 4 : 0};
}

/* to = relu(scale x + shift), scale and shift [C] each at `pre`; channels first or last. */
static void activate(float *to, const float *x, const op_case *c, const float *pre, bool last)
{
    int64_t pixels = c->in.h * c->in.w;
    for (int64_t i = 0; i < in_count(c); i++) {
        int64_t k = last ? i % c->in.c : i / pixels % c->in.c;
        double v = (double)pre[k] * (double)x[i] + (double)pre[c->in.c + k];
        to[i] = v > 0 ? (float)v : 0;
    }
}

/* Forward and backward, on copies in the backend's memory. */
static void run_op(buffers *v, const op_case *c, const tsri_backend *backend, tsri_pool *pool)
{
    tsri_device device = tsri_device_on(backend, pool);
    tsri_mem *mem[BUFFERS], *saved, *scratch, *packed, *late;
    buffers there = {0};
    op_case wide = *c;
    if (backend->can.narrow == 0)
        wide.flags &= ~NARROW;
    c = &wide;
    for (int i = 0; i < BUFFERS; i++) {
        mem[i] = lend_buffer(backend, *buffer(v, i), c, i);
        *buffer(&there, i) = tsri_mem_bind(mem[i]);
    }
    tsri_op op = op_of(c, &there, backend->can.channels_last, backend->can.narrow != 0, pool);
    tsri_op *packs = &op;
    assert_ok(tsri_op_setup(&op, backend));
    saved = lend(backend, NULL, op.saved_bytes);
    scratch = lend(backend, NULL, op.scratch_bytes);
    packed = lend(backend, NULL, op.packed_bytes);
    late = lend(backend, NULL, op.late_bytes);
    op.saved = tsri_mem_bind(saved);
    op.scratch = tsri_mem_bind(scratch);
    op.packed = tsri_mem_bind(packed);
    op.late = tsri_mem_bind(late);
    if (op.packed_bytes > 0)
        assert_ok(tsri_device_pack(device, &packs, 1));
    assert_ok(tsri_op_forward(&op, device));
    if (c->flags & TRAIN)
        assert_ok(tsri_op_backward(&op, device));
    tsri_op_teardown(&op);
    for (int i = 0; i < BUFFERS; i++)
        take_buffer(*buffer(v, i), backend, mem[i], c, i);
    assert_ok(tsri_alloc(&v->saved, op.saved_bytes, 1));
    take_back(v->saved, backend, saved, op.saved_bytes);
    take_back(NULL, backend, scratch, op.scratch_bytes);
    take_back(NULL, backend, packed, op.packed_bytes);
    take_back(NULL, backend, late, op.late_bytes);
    if (op.virtual)
        activate(v->y, v->x, c, v->saved, true);
}

static buffers run_case(const op_case *c, int64_t number, const tsri_backend *backend,
                        tsri_pool *pool)
{
    buffers v = make_buffers(c, number);
    bool last = backend->can.channels_last;
    if (last)
        turn(&v, c, true, backend->can.filters);
    else if (c->flags & PRE)
        activate(v.x, v.x, c, v.pre, false);
    run_op(&v, c, backend, pool);
    if (last)
        turn(&v, c, false, backend->can.filters);
    return v;
}

#endif
