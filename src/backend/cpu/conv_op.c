/* conv_op.c - convolution layers: Winograd where it wins, direct sums elsewhere.
 *
 * The choice follows from the shape alone (never from a timing: two runs must have the same bits),
 * or from the run file's `conv:` key. Winograd's F(4x4, 3x3) does a quarter of the multiplications
 * and has three to five times the rounding error; tests/unit/test_conv.c holds the bounds, and
 * docs/measurements/convolution.md the numbers behind the rule.
 *
 *     y = conv(relu(scale x + shift), W) + b + add       dx, dW, db = its derivatives
 */
#include "backend/cpu/conv.h"
#include "backend/cpu/kernels.h"
#include "base/pieces.h"
#include "base/simd.h"

enum { TILE = 4, FEW = 8, MANY = 16, PIECE = 64 };

/* Fewer tiles than that read U, which is four times as large as the filters, for too little. */
enum { FEW_TILES = 8 };

tsri_conv_shape tsri_cpu_conv_shape(const tsri_op *op)
{
    return (tsri_conv_shape){.n = op->n,
                             .h = op->in.h,
                             .w = op->in.w,
                             .c = op->in.c,
                             .k = op->out.c,
                             .size = op->size,
                             .stride = op->stride,
                             .pad = op->pad};
}

/* ---- What both algorithms share ----------------------------------------------------------- */

static const tsri_loops *loops_of(const tsri_op *op)
{
    return tsri_loops_for(tsri_max(op->in.c, op->out.c));
}

static tsri_conv_team team_of(const tsri_op *op)
{
    return (tsri_conv_team){loops_of(op), op->pool, op->scratch};
}

static tsri_fuse fuse_of(const tsri_op *op)
{
    const float *pre = op->pre;
    return (tsri_fuse){{pre, pre ? pre + op->in.c : NULL}, op->add};
}

TSRI_CLONES
static void add_bias(float *y, const float *b, int64_t pixels, int64_t C)
{
    for (int64_t p = 0; p < pixels; p++)
        for (int64_t c = 0; c < C; c++)
            y[p * C + c] += b[c];
}

static void bias_piece(void *context, int64_t i, int thread)
{
    (void)thread;
    tsri_op *op = context;
    int64_t pixels = op->out.h * op->out.w, C = op->out.c;
    add_bias((float *)op->y + i * pixels * C, op->b, pixels, C);
}

/* db of the channels from i PIECE on: all pixels in order. */
TSRI_CLONES
static void sum_columns(float *db, const float *dy, int64_t pixels, int64_t stride, int64_t columns)
{
    double sum[PIECE] = {0};
    for (int64_t p = 0; p < pixels; p++)
        for (int64_t c = 0; c < columns; c++)
            sum[c] += (double)dy[p * stride + c];
    for (int64_t c = 0; c < columns; c++)
        db[c] = (float)sum[c];
}

static void bias_gradient_piece(void *context, int64_t i, int thread)
{
    (void)thread;
    tsri_op *op = context;
    int64_t C = op->out.c, left = C - i * PIECE;
    sum_columns((float *)op->db + i * PIECE, (const float *)op->dy + i * PIECE,
                op->n * op->out.h * op->out.w, C, left < PIECE ? left : PIECE);
}

static void finish_forward(tsri_op *op)
{
    if (op->b)
        tsri_pool_run(op->pool, bias_piece, op, op->n);
}

void tsri_cpu_conv_bias_gradient(tsri_op *op)
{
    if (op->db)
        tsri_pool_run(op->pool, bias_gradient_piece, op, (op->out.c + PIECE - 1) / PIECE);
}

/* ---- Winograd ----------------------------------------------------------------------------- */

/* Tiles cover the image with room to spare: a third of their pixels at least must be needed. A few
 * channels that many filters read are a network's first layer: exact sums take as long. So are few
 * tiles when the filters are packed already. */
static bool winograd_pays(const tsri_op *op)
{
    int64_t tiles = tsri_ceil_div(op->out.h, TILE) * tsri_ceil_div(op->out.w, TILE);
    bool first = op->in.c < FEW && op->out.c > MANY * op->in.c;
    bool few = op->steady && op->n == 1 && tiles < FEW_TILES;
    return !first && !few && 3 * op->out.h * op->out.w >= tiles * TILE * TILE;
}

static bool winograd_fits(const tsri_op *op)
{
    if (op->size != 3 || op->stride != 1 || op->pad > 2 || op->conv == TSRI_CONV_DIRECT)
        return false;
    return op->conv == TSRI_CONV_WINOGRAD || winograd_pays(op);
}

static tsr_status winograd_setup(tsri_op *op)
{
    tsri_conv_shape s = tsri_cpu_conv_shape(op);
    op->scratch_bytes = (int64_t)sizeof(float) *
                        tsri_winograd_work(&s, TILE, loops_of(op), tsri_pool_threads(op->pool));
    return TSR_OK;
}

static tsr_status winograd_forward(tsri_op *op)
{
    tsri_conv_shape s = tsri_cpu_conv_shape(op);
    tsri_conv_team team = team_of(op);
    tsri_winograd_forward(op->y, op->x, op->w, &s, TILE, fuse_of(op), &team);
    finish_forward(op);
    return TSR_OK;
}

static tsr_status winograd_backward(tsri_op *op)
{
    tsri_conv_shape s = tsri_cpu_conv_shape(op);
    tsri_conv_team team = team_of(op);
    tsri_cpu_conv_bias_gradient(op);
    if (op->dw)
        tsri_winograd_backward_weights(op->dw, op->x, op->dy, &s, TILE, fuse_of(op), &team);
    if (op->need_dx)
        tsri_winograd_backward_data(op->dx, op->dy, op->w, &s, TILE, op->dx_add ? op->dx : NULL,
                                    &team);
    return TSR_OK;
}

const tsri_kernel tsri_cpu_conv_winograd = {.name = "winograd 4x4",
                                            .kind = TSRI_CONV,
                                            .backward_needs_x = true,
                                            .applicable = winograd_fits,
                                            .setup = winograd_setup,
                                            .forward = winograd_forward,
                                            .backward = winograd_backward};

/* ---- Direct ------------------------------------------------------------------------------- */

tsr_status tsri_cpu_conv_check(const tsri_op *op)
{
    if (op->size > 7)
        return tsri_fail(TSR_USAGE, "convolutions of %lldx%lld are not supported: 7x7 at most",
                         (long long)op->size, (long long)op->size);
    return TSR_OK;
}

static tsr_status direct_setup(tsri_op *op)
{
    tsri_conv_shape s = tsri_cpu_conv_shape(op);
    tsr_status st = tsri_cpu_conv_check(op);
    if (st == TSR_OK)
        op->scratch_bytes = (int64_t)sizeof(float) *
                            tsri_direct_work(&s, loops_of(op), tsri_pool_threads(op->pool));
    if (st == TSR_OK && op->steady)
        op->packed_bytes = (int64_t)sizeof(float) * tsri_direct_packed_size(&s, loops_of(op));
    return st;
}

void tsri_cpu_conv_pack(tsri_op *op)
{
    tsri_conv_shape s = tsri_cpu_conv_shape(op);
    tsri_conv_team team = team_of(op);
    tsri_direct_pack(op->packed, op->w, &s, &team);
}

static tsr_status direct_forward(tsri_op *op)
{
    tsri_conv_shape s = tsri_cpu_conv_shape(op);
    tsri_conv_team team = team_of(op);
    if (op->steady)
        tsri_direct_forward_packed(op->y, op->x, op->packed, &s, fuse_of(op), &team);
    else
        tsri_direct_forward(op->y, op->x, op->w, &s, fuse_of(op), &team);
    finish_forward(op);
    return TSR_OK;
}

static tsr_status direct_backward(tsri_op *op)
{
    tsri_conv_shape s = tsri_cpu_conv_shape(op);
    tsri_conv_team team = team_of(op);
    tsri_cpu_conv_bias_gradient(op);
    if (op->dw)
        tsri_direct_backward_weights(op->dw, op->x, op->dy, &s, fuse_of(op), &team);
    if (op->need_dx)
        tsri_direct_backward_data(op->dx, op->dy, op->w, &s, op->dx_add ? op->dx : NULL, &team);
    return TSR_OK;
}

const tsri_kernel tsri_cpu_conv_direct = {.name = "direct",
                                          .kind = TSRI_CONV,
                                          .backward_needs_x = true,
                                          .setup = direct_setup,
                                          .forward = direct_forward,
                                          .backward = direct_backward};
