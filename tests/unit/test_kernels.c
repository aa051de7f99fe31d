/* Every kernel of a backend (cpu, or the one that backend_testing.h says) against ref, forward and
 * backward, over odd, unit, empty and large shapes, with one and with three threads (which must not
 * change a bit).
 *
 * A case is written down once, in ref's order [N, C, H, W]; for a backend with channels last its
 * tensors are transposed on the way in and back on the way out, so that numbers are compared one by
 * one. What ref does not fuse is given to ref in two steps: a virtual norm's output is
 * computed here from the scale and shift it saved, a conv's `pre` is applied here to ref's input.
 */
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
                     .pool = pool};
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

/* ---- Comparing ----------------------------------------------------------------------------- */

/* All of it times 1 + |number|, operands being about 1.
 *
 * A product adds K terms in another order than ref: partial sums grow to sqrt(K), and K of them are
 * rounded, independently: the difference is about sqrt(K) sqrt(K) = K ulps of 1. A convolution is
 * such a product; F(4x4) is bounded as in test_conv.c, by 3e-5 of the result's size sqrt(K). Norm
 * divides its sums by the count again, so that sqrt(K) is left, and multiplies by w r, here below
 * 30. Means of a window or an image round as often as there are pixels, of a sum divided by their
 * number. The rest adds the same numbers in the same order. */
static double tolerance_of(const op_case *c)
{
    double ulp = 6e-8, in = (double)tsri_shape_count(c->in), out = (double)c->out.c;
    double taps = (double)(c->window.size * c->window.size),
           rows = (double)(c->n * c->in.h * c->in.w);
    double most = fmax(taps * fmax((double)c->in.c, out), rows);
    switch (c->kind) {
    case TSRI_LINEAR:
        return 2 * ulp * (fmax(fmax(in, out), (double)c->n) + 1);
    case TSRI_CONV:
        return c->flags & (DIRECT | BF16) ? 2 * ulp * (most + 1) : 3e-5 * sqrt(most);
    case TSRI_NORM:
        return ulp * 4 * 30 * sqrt(rows + 1);
    case TSRI_AVGPOOL:
    case TSRI_GLOBALPOOL:
        return 8 * ulp;
    default:
        return 0;
    }
}

/* What is stored as bf16 loses half an ulp, 2^-8 of itself. A product that something is added to was
 * stored before: it lost as much of its own size, 4 sqrt(K) at most. */
static double narrow_tolerance(const op_case *c, bool narrow, bool added)
{
    double taps = (double)(c->window.size * c->window.size);
    double most = c->kind == TSRI_CONV ? taps * fmax((double)c->in.c, (double)c->out.c)
                                       : fmax((double)tsri_shape_count(c->in), (double)c->out.c);
    bool product = c->kind == TSRI_CONV || c->kind == TSRI_LINEAR;
    return narrow ? ldexp(1, -8) * (product && added ? 1 + 4 * sqrt(most) : 1) : 0;
}

static void compare(const char *what, int64_t number, const float *got, const float *want,
                    int64_t n, double tolerance)
{
    for (int64_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - (double)want[i]) <= tolerance * (1 + fabs((double)want[i]))))
            fail_msg("case %lld: %s[%lld] = %.9g, ref has %.9g", (long long)number, what,
                     (long long)i, (double)got[i], (double)want[i]);
}

static const op_case cases[] = {
    {TSRI_LINEAR, 1, {1, 1, 1}, {1, 1, 1}, {0}, ALL | BIAS},
    {TSRI_LINEAR, 3, {5, 1, 1}, {7, 1, 1}, {0}, ALL | BIAS | RELU},
    {TSRI_LINEAR, 3, {5, 1, 1}, {7, 1, 1}, {0}, ALL | RELU | DX_ADD},
    {TSRI_LINEAR, 3, {5, 1, 1}, {7, 1, 1}, {0}, ALL | BIAS | RELU | NO_DW},
    {TSRI_LINEAR, 0, {5, 1, 1}, {7, 1, 1}, {0}, ALL | BIAS | RELU},
    {TSRI_LINEAR, 17, {33, 1, 1}, {129, 1, 1}, {0}, TRAIN | BIAS | RELU},
    {TSRI_LINEAR, 64, {2, 5, 5}, {10, 1, 1}, {0}, ALL | BIAS},
    {TSRI_LINEAR, 128, {784, 1, 1}, {300, 1, 1}, {0}, ALL | BIAS | RELU},
    {TSRI_LINEAR, 200, {257, 1, 1}, {515, 1, 1}, {0}, ALL | DX_ADD},
    {TSRI_LINEAR, 100, {300, 1, 1}, {10, 1, 1}, {0}, BIAS},

    {TSRI_CONV, 1, {1, 1, 1}, {1, 1, 1}, {3, 1, 1}, ALL | BIAS | DIRECT},
    {TSRI_CONV, 1, {1, 1, 1}, {1, 1, 1}, {3, 1, 1}, ALL | BIAS | WINOGRAD},
    {TSRI_CONV, 1, {1, 1, 1}, {1, 1, 1}, {1, 1, 0}, ALL},
    {TSRI_CONV, 3, {3, 5, 7}, {5, 5, 7}, {3, 1, 1}, ALL | BIAS | DIRECT | DX_ADD},
    {TSRI_CONV, 3, {3, 5, 7}, {5, 5, 7}, {3, 1, 1}, ALL | BIAS | WINOGRAD | DX_ADD},
    {TSRI_CONV, 2, {17, 9, 6}, {33, 9, 6}, {3, 1, 1}, ALL | PRE | ADD | DIRECT},
    {TSRI_CONV, 2, {17, 9, 6}, {33, 9, 6}, {3, 1, 1}, ALL | PRE | ADD | WINOGRAD},
    {TSRI_CONV, 2, {17, 9, 6}, {33, 7, 4}, {3, 1, 0}, ALL | BIAS | PRE | DX_ADD},
    {TSRI_CONV, 2, {17, 9, 6}, {16, 11, 8}, {3, 1, 2}, ALL | BIAS | NO_DW | WINOGRAD},
    {TSRI_CONV, 2, {17, 9, 6}, {16, 9, 6}, {3, 1, 1}, ALL | BIAS | NO_DW | DIRECT},
    {TSRI_CONV, 2, {20, 9, 8}, {24, 5, 4}, {3, 2, 1}, ALL | PRE | ADD},
    {TSRI_CONV, 2, {20, 8, 8}, {24, 4, 4}, {1, 2, 0}, ALL | PRE | DX_ADD},
    {TSRI_CONV, 2, {3, 14, 15}, {20, 7, 8}, {7, 2, 3}, TRAIN | BIAS},
    {TSRI_CONV, 0, {16, 8, 8}, {16, 8, 8}, {3, 1, 1}, ALL | BIAS | WINOGRAD},
    {TSRI_CONV, 0, {16, 8, 8}, {16, 8, 8}, {3, 1, 1}, ALL | BIAS | DIRECT},
    {TSRI_CONV, 40, {18, 16, 16}, {20, 16, 16}, {3, 1, 1}, ALL | PRE | WINOGRAD},
    {TSRI_CONV, 6, {64, 8, 8}, {70, 8, 8}, {3, 1, 1}, BIAS | ADD},

    {TSRI_LINEAR, 1, {1, 1, 1}, {1, 1, 1}, {0}, ALL | BIAS | BF16},
    {TSRI_LINEAR, 3, {5, 1, 1}, {7, 1, 1}, {0}, ALL | BIAS | RELU | DX_ADD | BF16},
    {TSRI_LINEAR, 0, {5, 1, 1}, {7, 1, 1}, {0}, ALL | BIAS | RELU | BF16},
    {TSRI_LINEAR, 200, {257, 1, 1}, {515, 1, 1}, {0}, ALL | BIAS | BF16},
    {TSRI_LINEAR, 64, {2, 5, 5}, {10, 1, 1}, {0}, BIAS | BF16},
    {TSRI_CONV, 1, {1, 1, 1}, {1, 1, 1}, {3, 1, 1}, ALL | BIAS | BF16},
    {TSRI_CONV, 3, {3, 5, 7}, {5, 5, 7}, {3, 1, 1}, ALL | BIAS | BF16 | DX_ADD},
    {TSRI_CONV, 2, {17, 9, 6}, {33, 7, 4}, {3, 1, 0}, ALL | BIAS | PRE | ADD | BF16},
    {TSRI_CONV, 2, {20, 9, 8}, {24, 5, 4}, {3, 2, 1}, ALL | PRE | ADD | BF16},
    {TSRI_CONV, 2, {20, 8, 8}, {24, 4, 4}, {1, 2, 0}, ALL | PRE | DX_ADD | BF16},
    {TSRI_CONV, 2, {3, 14, 15}, {20, 7, 8}, {7, 2, 3}, TRAIN | BIAS | BF16},
    {TSRI_CONV, 0, {16, 8, 8}, {16, 8, 8}, {3, 1, 1}, ALL | BIAS | BF16},
    {TSRI_CONV, 40, {18, 16, 16}, {20, 16, 16}, {3, 1, 1}, ALL | PRE | BF16},

    {TSRI_NORM, 2, {1, 1, 1}, {1, 1, 1}, {0}, ALL | BIAS},
    {TSRI_NORM, 5, {3, 1, 1}, {3, 1, 1}, {0}, ALL | BIAS | RELU},
    {TSRI_NORM, 128, {257, 1, 1}, {257, 1, 1}, {0}, ALL | BIAS | RELU | DX_ADD},
    {TSRI_NORM, 70, {40000, 1, 1}, {40000, 1, 1}, {0}, ALL | BIAS | RELU},
    {TSRI_NORM, 1000, {31, 1, 1}, {31, 1, 1}, {0}, TRAIN | BIAS},
    {TSRI_NORM, 5000, {64, 1, 1}, {64, 1, 1}, {0}, ALL | BIAS | RELU},
    {TSRI_NORM, 9, {31, 1, 1}, {31, 1, 1}, {0}, BIAS | RELU},
    {TSRI_NORM, 5, {19, 7, 3}, {19, 7, 3}, {0}, ALL | BIAS | RELU | ADD},
    {TSRI_NORM, 5, {19, 7, 3}, {19, 7, 3}, {0}, ALL | BIAS | ADD | DX_ADD},
    {TSRI_NORM, 5, {19, 7, 3}, {19, 7, 3}, {0}, ALL | BIAS | RELU | NO_DW},
    {TSRI_NORM, 5, {19, 7, 3}, {19, 7, 3}, {0}, BIAS | RELU | ADD},
    {TSRI_NORM, 0, {19, 7, 3}, {19, 7, 3}, {0}, BIAS | RELU | ADD},
    {TSRI_NORM, 0, {19, 7, 3}, {19, 7, 3}, {0}, ALL | BIAS | RELU | ADD},
    {TSRI_NORM, 0, {5, 1, 1}, {5, 1, 1}, {0}, ALL | BIAS | DX_ADD | NO_DW},
    {TSRI_NORM, 16, {40, 16, 16}, {40, 16, 16}, {0}, ALL | BIAS | RELU | ADD},

    {TSRI_NORM, 1, {1, 1, 2}, {1, 1, 2}, {0}, ALL | BIAS | RELU | VIRTUAL},
    {TSRI_NORM, 5, {19, 7, 3}, {19, 7, 3}, {0}, ALL | BIAS | RELU | VIRTUAL},
    {TSRI_NORM, 5, {33, 7, 3}, {33, 7, 3}, {0}, ALL | BIAS | RELU | VIRTUAL | DX_ADD},
    {TSRI_NORM, 5, {16, 3, 3}, {16, 3, 3}, {0}, TRAIN | BIAS | RELU | VIRTUAL},
    {TSRI_NORM, 5, {16, 3, 3}, {16, 3, 3}, {0}, ALL | BIAS | RELU | VIRTUAL | NO_DW},
    {TSRI_NORM, 5, {19, 7, 3}, {19, 7, 3}, {0}, BIAS | RELU | VIRTUAL},
    {TSRI_NORM, 0, {19, 7, 3}, {19, 7, 3}, {0}, BIAS | RELU | VIRTUAL},
    {TSRI_NORM, 0, {19, 7, 3}, {19, 7, 3}, {0}, ALL | BIAS | RELU | VIRTUAL},
    {TSRI_NORM, 3, {17000, 2, 1}, {17000, 2, 1}, {0}, ALL | BIAS | RELU | VIRTUAL},
    {TSRI_NORM, 30, {67, 16, 16}, {67, 16, 16}, {0}, ALL | BIAS | RELU | VIRTUAL},

    {TSRI_RELU, 1, {1, 1, 1}, {1, 1, 1}, {0}, ALL},
    {TSRI_RELU, 7, {1000, 3, 3}, {1000, 3, 3}, {0}, ALL | DX_ADD},
    {TSRI_RELU, 7, {1000, 3, 3}, {1000, 3, 3}, {0}, TRAIN},
    {TSRI_RELU, 0, {4, 1, 1}, {4, 1, 1}, {0}, ALL},

    {TSRI_ADD, 1, {1, 1, 1}, {1, 1, 1}, {0}, ALL | ADD | DADD},
    {TSRI_ADD, 3, {5, 7, 3}, {5, 7, 3}, {0}, ALL | ADD | RELU | DADD | DADD_ADD},
    {TSRI_ADD, 3, {5, 7, 3}, {5, 7, 3}, {0}, ALL | ADD | RELU | DX_ADD},
    {TSRI_ADD, 3, {5, 7, 3}, {5, 7, 3}, {0}, TRAIN | ADD | RELU | DADD},
    {TSRI_ADD, 0, {5, 7, 3}, {5, 7, 3}, {0}, ALL | ADD | RELU | DADD},
    {TSRI_ADD, 9, {64, 16, 16}, {64, 16, 16}, {0}, ALL | ADD | RELU | DADD | DX_ADD},

    {TSRI_MAXPOOL, 1, {1, 1, 1}, {1, 1, 1}, {1, 1, 0}, ALL},
    {TSRI_MAXPOOL, 3, {5, 7, 9}, {5, 3, 4}, {2, 2, 0}, ALL},
    {TSRI_MAXPOOL, 3, {5, 7, 9}, {5, 4, 5}, {3, 2, 1}, ALL | DX_ADD},
    {TSRI_MAXPOOL, 3, {5, 7, 9}, {5, 7, 9}, {3, 1, 1}, ALL},
    {TSRI_MAXPOOL, 3, {5, 7, 9}, {5, 2, 2}, {5, 4, 2}, TRAIN},
    {TSRI_MAXPOOL, 3, {5, 7, 9}, {5, 4, 5}, {3, 2, 1}, 0},
    {TSRI_MAXPOOL, 0, {5, 7, 9}, {5, 4, 5}, {3, 2, 1}, ALL},
    {TSRI_MAXPOOL, 20, {65, 32, 32}, {65, 16, 16}, {2, 2, 0}, ALL},

    {TSRI_AVGPOOL, 1, {1, 1, 1}, {1, 1, 1}, {1, 1, 0}, ALL},
    {TSRI_AVGPOOL, 3, {5, 7, 9}, {5, 3, 4}, {2, 2, 0}, ALL},
    {TSRI_AVGPOOL, 3, {5, 7, 9}, {5, 4, 5}, {3, 2, 1}, ALL | DX_ADD},
    {TSRI_AVGPOOL, 3, {5, 7, 9}, {5, 7, 9}, {3, 1, 1}, TRAIN},
    {TSRI_AVGPOOL, 0, {5, 7, 9}, {5, 4, 5}, {3, 2, 1}, ALL},
    {TSRI_AVGPOOL, 20, {65, 32, 32}, {65, 16, 16}, {2, 2, 0}, ALL},

    {TSRI_GLOBALPOOL, 1, {1, 1, 1}, {1, 1, 1}, {0}, ALL},
    {TSRI_GLOBALPOOL, 3, {5, 7, 9}, {5, 1, 1}, {0}, ALL | DX_ADD},
    {TSRI_GLOBALPOOL, 3, {5, 7, 9}, {5, 1, 1}, {0}, TRAIN},
    {TSRI_GLOBALPOOL, 0, {5, 7, 9}, {5, 1, 1}, {0}, ALL},
    {TSRI_GLOBALPOOL, 20, {130, 16, 16}, {130, 1, 1}, {0}, ALL},

    {TSRI_FLATTEN, 1, {1, 1, 1}, {1, 1, 1}, {0}, ALL},
    {TSRI_FLATTEN, 3, {5, 7, 9}, {315, 1, 1}, {0}, ALL},
    {TSRI_FLATTEN, 3, {5, 7, 9}, {315, 1, 1}, {0}, ALL | DX_ADD},
    {TSRI_FLATTEN, 3, {5, 7, 9}, {315, 1, 1}, {0}, TRAIN},
    {TSRI_FLATTEN, 0, {5, 7, 9}, {315, 1, 1}, {0}, ALL},
    {TSRI_FLATTEN, 20, {130, 16, 16}, {33280, 1, 1}, {0}, ALL},

    {TSRI_LINEAR, 1, {1, 1, 1}, {1, 1, 1}, {0}, ALL | BIAS | BF16 | NARROW},
    {TSRI_LINEAR, 3, {5, 1, 1}, {7, 1, 1}, {0}, ALL | BIAS | RELU | BF16 | NARROW},
    {TSRI_LINEAR, 3, {5, 1, 1}, {7, 1, 1}, {0}, ALL | DX_ADD | BF16 | NARROW_X},
    {TSRI_LINEAR, 3, {5, 1, 1}, {7, 1, 1}, {0}, TRAIN | BIAS | RELU | BF16 | NARROW_Y},
    {TSRI_LINEAR, 64, {104, 1, 1}, {300, 1, 1}, {0}, ALL | BIAS | RELU | BF16 | NARROW},
    {TSRI_CONV, 1, {1, 1, 1}, {1, 1, 1}, {3, 1, 1}, ALL | BIAS | BF16 | NARROW},
    {TSRI_CONV, 0, {16, 8, 8}, {16, 8, 8}, {3, 1, 1}, ALL | BIAS | BF16 | NARROW},
    {TSRI_CONV, 3, {3, 9, 7}, {16, 9, 7}, {3, 1, 1}, TRAIN | BIAS | BF16 | NARROW_Y},
    {TSRI_CONV, 2, {16, 9, 6}, {24, 9, 6}, {3, 1, 1}, ALL | BF16 | NARROW},
    {TSRI_CONV, 2, {17, 9, 6}, {33, 9, 6}, {3, 1, 1}, ALL | ADD | BIAS | BF16 | NARROW},
    {TSRI_CONV, 2, {20, 9, 8}, {24, 5, 4}, {3, 2, 1}, ALL | BF16 | NARROW},
    {TSRI_CONV, 2, {43, 8, 8}, {21, 4, 4}, {1, 2, 0}, ALL | DX_ADD | BF16 | NARROW},
    {TSRI_CONV, 3, {16, 9, 7}, {24, 5, 4}, {1, 2, 0}, ALL | BF16 | NARROW},
    {TSRI_CONV, 2, {9, 8, 8}, {16, 3, 3}, {1, 3, 0}, ALL | DX_ADD | BF16 | NARROW},
    {TSRI_CONV, 3, {1, 9, 7}, {16, 9, 7}, {3, 1, 1}, TRAIN | BF16 | NARROW_Y},
    {TSRI_CONV, 2, {2, 9, 7}, {8, 5, 4}, {5, 2, 2}, TRAIN | BF16 | NARROW_Y},
    {TSRI_CONV, 2, {16, 8, 8}, {8, 8, 8}, {3, 1, 1}, BF16 | NARROW},
    {TSRI_NORM, 2, {1, 1, 1}, {1, 1, 1}, {0}, ALL | BIAS | NARROW},
    {TSRI_NORM, 5, {19, 7, 3}, {19, 7, 3}, {0}, ALL | BIAS | RELU | NARROW},
    {TSRI_NORM, 5, {19, 7, 3}, {19, 7, 3}, {0}, ALL | BIAS | RELU | ADD | NARROW},
    {TSRI_NORM, 5, {19, 7, 3}, {19, 7, 3}, {0}, ALL | BIAS | ADD | DX_ADD | NARROW},
    {TSRI_NORM, 128, {257, 1, 1}, {257, 1, 1}, {0}, ALL | BIAS | RELU | DX_ADD | NARROW},
    {TSRI_NORM, 9, {4100, 1, 1}, {4100, 1, 1}, {0}, ALL | BIAS | RELU | NO_DW | NARROW},
    {TSRI_NORM, 30, {64, 16, 16}, {64, 16, 16}, {0}, ALL | BIAS | RELU | NARROW},
    {TSRI_NORM, 9, {31, 1, 1}, {31, 1, 1}, {0}, BIAS | RELU | NARROW},
    {TSRI_NORM, 0, {19, 7, 3}, {19, 7, 3}, {0}, BIAS | RELU | ADD | NARROW},
    {TSRI_RELU, 7, {100, 3, 3}, {100, 3, 3}, {0}, ALL | DX_ADD | NARROW},
    {TSRI_RELU, 7, {5, 3, 3}, {5, 3, 3}, {0}, ALL | NARROW},
    {TSRI_ADD, 3, {5, 7, 3}, {5, 7, 3}, {0}, ALL | ADD | RELU | DADD | DADD_ADD | NARROW},
    {TSRI_ADD, 9, {64, 5, 5}, {64, 5, 5}, {0}, ALL | ADD | DX_ADD | NARROW},
    {TSRI_MAXPOOL, 3, {5, 7, 9}, {5, 4, 5}, {3, 2, 1}, ALL | DX_ADD | NARROW},
    {TSRI_MAXPOOL, 3, {5, 7, 9}, {5, 3, 4}, {2, 2, 0}, ALL | NARROW},
    {TSRI_AVGPOOL, 3, {5, 7, 9}, {5, 4, 5}, {3, 2, 1}, ALL | DX_ADD | NARROW},
    {TSRI_GLOBALPOOL, 3, {5, 7, 9}, {5, 1, 1}, {0}, ALL | DX_ADD | NARROW},
    {TSRI_GLOBALPOOL, 20, {130, 4, 4}, {130, 1, 1}, {0}, ALL | NARROW},
    {TSRI_FLATTEN, 3, {5, 7, 9}, {315, 1, 1}, {0}, ALL | DX_ADD | NARROW},
};

/* What is compared: everything that may be written. dy only where it is promised (op.h): the sum's
 * gradient, masked. */
static void compare_all(const op_case *c, int64_t number, const buffers *got, const buffers *want)
{
    double tolerance = tolerance_of(c);
    double y = tolerance + narrow_tolerance(c, c->flags & NARROW_Y, c->flags & (ADD | BIAS));
    double dx = tolerance + narrow_tolerance(c, c->flags & NARROW_X, c->flags & DX_ADD);
    compare("y", number, got->y, want->y, out_count(c), y);
    compare("dx", number, got->dx, want->dx, in_count(c), dx);
    bool rounded = c->kind == TSRI_CONV && c->flags & NARROW_Y; /* once, as autocast does */
    compare("dw", number, got->dw, want->dw, weights_of(c),
            tolerance + (rounded ? ldexp(1, -8) : 0));
    compare("db", number, got->db, want->db, c->out.c, tolerance);
    compare("dadd", number, got->dadd, want->dadd, out_count(c), y);
    compare("mean", number, got->mean, want->mean, c->out.c, tolerance);
    compare("var", number, got->var, want->var, c->out.c, tolerance);
    if (c->flags & ADD)
        compare("dy", number, got->dy, want->dy, out_count(c), 0);
}

static void same_bits(const op_case *c, const buffers *a, const buffers *b)
{
    assert_memory_equal(a->y, b->y, (size_t)out_count(c) * sizeof *a->y);
    assert_memory_equal(a->dx, b->dx, (size_t)in_count(c) * sizeof *a->dx);
    assert_memory_equal(a->dadd, b->dadd, (size_t)out_count(c) * sizeof *a->dadd);
    assert_memory_equal(a->dw, b->dw, (size_t)weights_of(c) * sizeof *a->dw);
    assert_memory_equal(a->db, b->db, (size_t)c->out.c * sizeof *a->db);
}

static void equals_ref(void **state)
{
    (void)state;
    const tsri_backend *backend = tested_backend();
    tsri_pool *one = NULL, *three = NULL;
    assert_ok(tsri_pool_create(&one, 1));
    assert_ok(tsri_pool_create(&three, 3));
    bool bf16 = tested_bf16(backend);
    for (int64_t i = 0; i < (int64_t)(sizeof cases / sizeof *cases); i++) {
        if ((cases[i].flags & BF16 && !bf16) || (cases[i].flags & NARROW && !backend->can.narrow))
            continue;
        buffers want = run_case(&cases[i], i, &tsri_backend_ref, one);
        buffers got = run_case(&cases[i], i, backend, one);
        buffers again = run_case(&cases[i], i, backend, three);
        compare_all(&cases[i], i, &got, &want);
        same_bits(&cases[i], &got, &again);
        free_buffers(&want);
        free_buffers(&got);
        free_buffers(&again);
    }
    tsri_pool_destroy(one);
    tsri_pool_destroy(three);
}

/* 3x3 convolutions of stride 1: not a first layer by its looks, and a third of the pixels of the
 * 4x4 tiles needed (docs/convolution.md). */
static void rule_of_the_shape(void **state)
{
    (void)state;
    static const struct {
        int64_t c, k, h, w, stride;
        bool winograd;
    } shapes[] = {
        {8, 8, 32, 32, 1, true},    {3, 8, 32, 32, 1, true},   {8, 1, 32, 32, 1, true},
        {64, 64, 4, 4, 1, true},    {64, 64, 5, 5, 1, true},   {64, 64, 3, 3, 1, true},
        {512, 512, 2, 2, 1, false}, {64, 64, 1, 1, 1, false},  {64, 64, 1, 32, 1, false},
        {64, 64, 2, 32, 1, true},   {64, 64, 8, 8, 2, false},  {3, 64, 32, 32, 1, false},
        {1, 16, 28, 28, 1, true},   {1, 17, 28, 28, 1, false}, {8, 512, 8, 8, 1, true},
    };
    tsri_pool *pool = NULL;
    assert_ok(tsri_pool_create(&pool, 1));
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        int64_t h = shapes[i].h / shapes[i].stride, w = shapes[i].w / shapes[i].stride;
        tsri_op op = {.kind = TSRI_CONV,
                      .n = 1,
                      .in = {shapes[i].c, shapes[i].h, shapes[i].w},
                      .out = {shapes[i].k, h, w},
                      .size = 3,
                      .stride = shapes[i].stride,
                      .pad = 1,
                      .pool = pool};
        assert_ok(tsri_op_setup(&op, &tsri_backend_cpu));
        assert_string_equal(op.kernel->name, shapes[i].winograd ? "winograd 4x4" : "direct");
        tsri_op_teardown(&op);
    }
    tsri_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equals_ref),
                                       cmocka_unit_test(rule_of_the_shape)};
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
