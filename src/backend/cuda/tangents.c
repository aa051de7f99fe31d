/* tangents.c - exact tangent kernels on the GPU (backend/tangents.h).
 *
 * Products are cuBLAS's, in f32, CHUNK numbers of a row at a time, and added up in double, as on the
 * host: a sum of millions is as good as one of thousands. Convolutions in the form of sums are one
 * batch of products, a sample each, of the pixels' surroundings. All of it is in the order of the
 * shared queue, whose memory pool gives the room between.
 */
#include "backend/cuda/cuda.h"

enum {
    CHUNK = 4096,
    SIDE = 2048,          /* of a square of pairs: two waves of blocks on an H200 */
    ROOM = (int)1 << 26,  /* numbers of what stands between */
    MOST_PAIRS = 32 << 10 /* of a launch with a block each: the grid's second side */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Room between, given back in the order of the queue. */
static tsr_status take_room(void *out, int64_t count, size_t size, cudaStream_t s)
{
    return tsri_cuda_status(cudaMallocAsync((void **)out, (size_t)count * size, s),
                            "taking memory for a tangent kernel");
}

static void give_back(void *room, cudaStream_t s)
{
    if (room)
        (void)cudaFreeAsync(room, s);
}

/* ---- Filling ------------------------------------------------------------------------------- */

/* A and D of a sample's first position, from sample to sample and from position to position. */
typedef struct sides {
    const float *a, *d;
    int64_t a_i, a_p, d_i, d_p;
} sides;

static sides sides_of(const tsri_tangent_fill *f)
{
    const tsri_op *op = f->op;
    int64_t in = op->n * op->in.c, out = op->n * op->out.c;
    if (f->sequence && op->kind == TSRI_RECURRENT) /* dW = sum over l of dx_l (x) y_(l-1) */
        return (sides){op->y, (const float *)op->dx + in, op->in.c, in, op->in.c, in};
    if (f->sequence)
        return (sides){op->x, op->dy, op->in.c, in, op->out.c, out};
    return (sides){op->x,
                   (const float *)op->dy + f->block->first,
                   tsri_shape_count(op->in),
                   0,
                   tsri_shape_count(op->out),
                   op->out.c};
}

static float *a_at(const tsri_tangent_fill *f)
{
    return (float *)tsri_mem_bind(f->a) + f->from * f->block->a_count;
}

/* Of slot 0; rows of a sample's outputs lie one after the other. */
static float *d_at(const tsri_tangent_fill *f)
{
    return (float *)tsri_mem_bind(f->d) + f->from * f->outputs * f->block->d_count;
}

static tsr_status windows(float *to, int64_t to_i, const tsri_tangent_fill *f, int64_t from,
                          int64_t count, cudaStream_t s)
{
    tsri_cuda_window w = tsri_cuda_window_of(f->op);
    const float *x = (const float *)f->op->x + from * tsri_shape_count(f->op->in);
    w.n = (int)count;
    return tsri_cuda_status(tsri_cuda_tangent_windows(s, to, to_i, x, &w), "a tangent kernel");
}

static tsr_status fill_factors(const tsri_tangent_fill *f, cudaStream_t s)
{
    tsr_status st = TSR_OK;
    const tsri_block *b = f->block;
    sides v = sides_of(f);
    int64_t d_p = f->outputs * b->rows;
    tsri_cuda_spread d = {.to = d_at(f) + f->slot * b->rows,
                          .to_i = f->outputs * b->d_count,
                          .to_p = d_p,
                          .from = v.d,
                          .from_i = v.d_i,
                          .from_p = v.d_p,
                          .n = f->count,
                          .p = b->positions,
                          .c = b->rows};
    tsri_cuda_spread a = {.to = a_at(f),
                          .to_i = b->a_count,
                          .to_p = b->columns,
                          .from = v.a,
                          .from_i = v.a_i,
                          .from_p = v.a_p,
                          .n = f->count,
                          .p = b->positions,
                          .c = b->columns};
    TSR_TRY(tsri_cuda_status(tsri_cuda_tangent_spread(s, &d), "a tangent kernel"));
    if (f->slot > 0 || b->a_count == 0)
        return TSR_OK;
    TSR_TRY(f->op->kind == TSRI_CONV
                ? windows(a.to, b->a_count, f, 0, f->count, s)
                : tsri_cuda_status(tsri_cuda_tangent_spread(s, &a), "a tangent kernel"));
done:
    return st;
}

/* to_i = sum over p of D_ip (x) A_ip, a product for each sample. */
static tsr_status multiply_sums(const tsri_tangent_fill *f, sides v, int64_t from, int64_t count,
                                tsri_device device)
{
    const tsri_block *b = f->block;
    return tsri_cuda_multiply(
        &(tsri_cuda_product){.m = b->rows,
                             .n = b->columns,
                             .k = b->positions,
                             .a = v.d,
                             .a_turned = true,
                             .a_row = v.d_p,
                             .b = v.a,
                             .b_row = v.a_p,
                             .c = d_at(f) + (from * f->outputs + f->slot) * b->d_count,
                             .alpha = 1,
                             .count = count,
                             .a_step = v.d_i,
                             .b_step = v.a_i,
                             .c_step = f->outputs * b->d_count},
        device.stream);
}

static tsr_status fill_sums(const tsri_tangent_fill *f, cudaStream_t s, tsri_device device)
{
    tsr_status st = TSR_OK;
    const tsri_block *b = f->block;
    sides v = sides_of(f);
    int64_t each = b->positions * b->columns, at_once = ROOM / each > 0 ? ROOM / each : 1;
    float *around = NULL;
    if (f->sequence) {
        v.d += b->first;
        return multiply_sums(f, v, 0, f->count, device);
    }
    at_once = least(at_once, f->count);
    TSR_TRY(take_room(&around, at_once * each, sizeof *around, s));
    for (int64_t from = 0; from < f->count; from += at_once) {
        int64_t count = least(at_once, f->count - from);
        TSR_TRY(windows(around, each, f, from, count, s));
        sides part = {.a = around,
                      .a_i = each,
                      .a_p = b->columns,
                      .d = v.d + from * v.d_i,
                      .d_i = v.d_i,
                      .d_p = v.d_p};
        TSR_TRY(multiply_sums(f, part, from, count, device));
    }
done:
    give_back(around, s);
    return st;
}

static tsr_status fill_short(const tsri_tangent_fill *f, cudaStream_t s)
{
    const tsri_op *op = f->op;
    const tsri_block *b = f->block;
    bool norm = b->form == TSRI_BLOCK_NORM;
    tsri_shape shape = norm ? op->in : op->out;
    return tsri_cuda_status(tsri_cuda_tangent_sums(s, d_at(f) + f->slot * b->d_count,
                                                   f->outputs * b->d_count, op->dy,
                                                   norm ? op->x : NULL, op->saved, f->count,
                                                   shape.h * shape.w, shape.c),
                            "a tangent kernel");
}

static tsr_status fill(const tsri_tangent_fill *f, tsri_device device)
{
    cudaStream_t s = tsri_cuda_stream(device.stream);
    switch (f->block->form) {
    case TSRI_BLOCK_FACTORS:
        return fill_factors(f, s);
    case TSRI_BLOCK_SUMS:
        return fill_sums(f, s, device);
    default:
        return fill_short(f, s);
    }
}

/* ---- Pairs ---------------------------------------------------------------------------------- */

/* c [m, n] = x y^T of rows of `count` numbers, in f32. */
static tsr_status rows_product(float *c, const float *x, int64_t m, const float *y, int64_t n,
                               int64_t count, int64_t row, tsri_device device)
{
    return tsri_cuda_multiply(&(tsri_cuda_product){.m = m,
                                                   .n = n,
                                                   .k = count,
                                                   .a = x,
                                                   .a_row = row,
                                                   .b = y,
                                                   .b_row = row,
                                                   .b_turned = true,
                                                   .c = c,
                                                   .alpha = 1},
                              device.stream);
}

/* The room of a square: two sums, and a product before it is added. */
typedef struct desk {
    double *a, *d;
    float *part;
} desk;

static tsr_status long_product(double *sum, const desk *k, const float *x, int64_t rows,
                               const float *y, int64_t columns, int64_t count, tsri_device device)
{
    tsr_status st = TSR_OK;
    cudaStream_t s = tsri_cuda_stream(device.stream);
    for (int64_t from = 0; from < count; from += CHUNK) {
        TSR_TRY(rows_product(k->part, x + from, rows, y + from, columns, least(CHUNK, count - from),
                             count, device));
        TSR_TRY(
            tsri_cuda_status(tsri_cuda_tangent_collect(s, sum, k->part, rows * columns, from == 0),
                             "a tangent kernel"));
    }
done:
    return st;
}

static const float *row_of(const tsri_mem *mem, int64_t i, int64_t count)
{
    return (const float *)tsri_mem_bind(mem) + i * count;
}

/* A square of pairs that begins at (i, j). */
static tsr_status square(const tsri_tangent_gram *g, const desk *k, int64_t i, int64_t rows,
                         int64_t j, int64_t columns, tsri_device device)
{
    tsr_status st = TSR_OK;
    const tsri_block *b = g->block;
    bool factors = b->form == TSRI_BLOCK_FACTORS && b->weight;
    int64_t count = g->outputs * b->d_count;
    double *to = (double *)tsri_mem_bind(g->k) + (g->i0 + i) * g->n + g->j0 + j;
    TSR_TRY(long_product(k->d, k, row_of(g->xd, i, count), rows, row_of(g->yd, j, count), columns,
                         count, device));
    if (factors)
        TSR_TRY(long_product(k->a, k, row_of(g->xa, i, b->a_count), rows,
                             row_of(g->ya, j, b->a_count), columns, b->a_count, device));
    TSR_TRY(tsri_cuda_status(
        tsri_cuda_tangent_fold(tsri_cuda_stream(device.stream), to, g->n, k->d,
                               factors ? k->a : NULL, rows, columns,
                               factors || b->form == TSRI_BLOCK_SUMS ? b->scale : 1, b->bias),
        "a tangent kernel"));
done:
    return st;
}

static tsr_status squares(const tsri_tangent_gram *g, tsri_device device)
{
    tsr_status st = TSR_OK;
    cudaStream_t s = tsri_cuda_stream(device.stream);
    int64_t most = least(SIDE, g->rows) * least(SIDE, g->columns);
    desk k = {NULL, NULL, NULL};
    TSR_TRY(take_room(&k.a, most, sizeof *k.a, s));
    TSR_TRY(take_room(&k.d, most, sizeof *k.d, s));
    TSR_TRY(take_room(&k.part, most, sizeof *k.part, s));
    for (int64_t i = 0; i < g->rows; i += SIDE)
        for (int64_t j = g->xd == g->yd ? i : 0; j < g->columns; j += SIDE)
            TSR_TRY(
                square(g, &k, i, least(SIDE, g->rows - i), j, least(SIDE, g->columns - j), device));
done:
    give_back(k.a, s);
    give_back(k.d, s);
    give_back(k.part, s);
    return st;
}

/* Positions against positions, as many pairs of samples at once as the room holds. */
static tsr_status positions(const tsri_tangent_gram *g, tsri_device device)
{
    tsr_status st = TSR_OK;
    cudaStream_t s = tsri_cuda_stream(device.stream);
    const tsri_block *b = g->block;
    int64_t P = b->positions, deep = g->outputs * b->rows, wide = least(g->columns, MOST_PAIRS);
    wide = least(wide, ROOM / (P * P));
    int64_t tall = least(g->rows, least(MOST_PAIRS, ROOM / (P * P) / wide));
    float *a = NULL, *d = NULL;
    TSR_TRY(take_room(&a, tall * wide * P * P, sizeof *a, s));
    TSR_TRY(take_room(&d, tall * wide * P * P, sizeof *d, s));
    for (int64_t i = 0; i < g->rows; i += tall)
        for (int64_t j = 0; j < g->columns; j += wide) {
            int64_t m = least(tall, g->rows - i), n = least(wide, g->columns - j);
            double *to = (double *)tsri_mem_bind(g->k) + (g->i0 + i) * g->n + g->j0 + j;
            if (g->xd == g->yd && j + n <= i)
                continue;
            TSR_TRY(rows_product(a, row_of(g->xa, i, b->a_count), m * P,
                                 row_of(g->ya, j, b->a_count), n * P, b->columns, b->columns,
                                 device));
            TSR_TRY(rows_product(d, row_of(g->xd, i, P * deep), m * P, row_of(g->yd, j, P * deep),
                                 n * P, deep, deep, device));
            TSR_TRY(
                tsri_cuda_status(tsri_cuda_tangent_positions(s, to, g->n, a, d, m, n, P, b->scale),
                                 "a tangent kernel"));
        }
done:
    give_back(a, s);
    give_back(d, s);
    return st;
}

static tsr_status gram(const tsri_tangent_gram *g, tsri_device device)
{
    bool many = g->block->form == TSRI_BLOCK_FACTORS && g->block->positions > 1;
    return many ? positions(g, device) : squares(g, device);
}

const tsri_tangent_ops tsri_cuda_tangents = {.fill = fill, .gram = gram};
