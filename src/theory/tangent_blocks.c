/* tangent_blocks.c - what is kept of each layer for each sample.
 *
 * A dense layer keeps its input and the gradient after it. A convolution either keeps patches and
 * gradients of every position, P (columns + rows) numbers whose pair costs P^2 (columns + rows)
 * products, or the gradient of its filters itself, rows x columns numbers and products: the cheaper
 * pair decides. Early layers have many positions and few channels, late ones the opposite.
 *
 * A matrix of a recurrent network is applied at every position of a sequence: A and D of each
 * position, as patches are. Of W, A is the state before and D what back-propagation through time
 * leaves after the ReLU.
 *
 * Long gradients are cut by rows, so that no product sums more than SUMS_MOST numbers at a time.
 */
#include "theory/tangent_parts.h"

#include "base/alloc.h"
#include "linalg/gemm.h"

#include <string.h>

enum { SUMS_MOST = 1 << 18 };

/* ---- Which blocks ------------------------------------------------------------------------- */

static bool trained(const tsri_net *net, int param)
{
    return param >= 0 && net->param[param].role == TSRI_TRAINED;
}

static tsr_status add(tsri_blocks *b, const tsri_block *like)
{
    tsr_status st = tsri_reserve(&b->block, &b->room, b->count, sizeof *b->block);
    if (st == TSR_OK)
        b->block[b->count++] = *like;
    return st;
}

static tsr_status add_linear(tsri_blocks *b, const tsri_net *net, const tsri_layer *l)
{
    bool weight = trained(net, l->weight), bias = trained(net, l->bias);
    if (!weight && !bias)
        return TSR_OK;
    tsri_block k = {.layer = l,
                    .form = TSRI_BLOCK_FACTORS,
                    .positions = 1,
                    .rows = tsri_shape_count(net->value[l->out].shape),
                    .columns = tsri_shape_count(net->value[l->in].shape),
                    .scale = l->scale * l->scale,
                    .bias = bias,
                    .weight = weight};
    k.a_count = weight ? k.columns : 0;
    k.d_count = k.rows;
    k.pair_flops = 2 * (double)(k.a_count + k.d_count);
    return add(b, &k);
}

static tsr_status add_sums(tsri_blocks *b, const tsri_block *whole)
{
    tsr_status st = TSR_OK;
    int64_t most = whole->columns < SUMS_MOST ? SUMS_MOST / whole->columns : 1;
    for (int64_t first = 0; first < whole->rows; first += most) {
        tsri_block k = *whole;
        k.form = TSRI_BLOCK_SUMS;
        k.first = first;
        k.rows = first + most < whole->rows ? most : whole->rows - first;
        k.d_count = k.rows * k.columns;
        k.pair_flops = 2 * (double)k.d_count;
        TSR_TRY(add(b, &k));
    }
done:
    return st;
}

/* A matrix at several positions: their factors, or the gradient itself, whose pair is cheaper. */
static tsr_status add_positions(tsri_blocks *b, tsri_block k)
{
    double P = (double)k.positions, sides = (double)(k.rows + k.columns);
    bool factors = P * P * sides < (double)k.rows * (double)k.columns && P * P <= TSRI_PATCH_PAIRS;
    k.form = TSRI_BLOCK_FACTORS;
    k.weight = true;
    k.a_count = k.positions * k.columns;
    k.d_count = k.positions * k.rows;
    k.pair_flops = 2 * P * P * (sides + 1);
    if (factors || k.positions == 1) {
        b->patches += k.positions > 1;
        return add(b, &k);
    }
    k.a_count = 0;
    return add_sums(b, &k);
}

static tsr_status add_conv(tsri_blocks *b, const tsri_net *net, const tsri_layer *l)
{
    tsr_status st = TSR_OK;
    tsri_shape in = net->value[l->in].shape, out = net->value[l->out].shape;
    tsri_block k = {.layer = l,
                    .positions = out.h * out.w,
                    .rows = out.c,
                    .columns = in.c * l->size * l->size,
                    .scale = 1};
    if (k.positions * k.columns > b->scratch)
        b->scratch = k.positions * k.columns;
    if (trained(net, l->weight))
        TSR_TRY(add_positions(b, k));
    if (trained(net, l->bias)) {
        tsri_block bias = {.layer = l, .form = TSRI_BLOCK_BIAS, .positions = 1, .rows = out.c};
        bias.d_count = out.c;
        bias.pair_flops = 2 * (double)out.c;
        TSR_TRY(add(b, &bias));
    }
done:
    return st;
}

/* Sequences: A x_l and B h_l at every position l; W h_(l-1) at every one but the first. */
static tsr_status add_sequence(tsri_blocks *b, const tsri_net *net, const tsri_layer *l)
{
    tsri_shape in = net->value[l->in].shape, out = net->value[l->out].shape;
    tsri_block k = {.layer = l,
                    .positions = l->kind == TSRI_RECURRENT ? in.h - 1 : in.h,
                    .rows = out.c,
                    .columns = in.c,
                    .scale = l->scale * l->scale};
    return trained(net, l->weight) && k.positions > 0 ? add_positions(b, k) : TSR_OK;
}

static tsr_status add_norm(tsri_blocks *b, const tsri_net *net, const tsri_layer *l)
{
    int64_t C = net->value[l->in].shape.c;
    tsri_block k = {.layer = l, .form = TSRI_BLOCK_NORM, .positions = 1, .rows = C};
    k.d_count = 2 * C;
    k.pair_flops = 4 * (double)C;
    return trained(net, l->weight) ? add(b, &k) : TSR_OK;
}

tsr_status tsri_blocks_init(tsri_blocks *b, const tsri_net *net)
{
    tsr_status st = TSR_OK;
    *b = (tsri_blocks){.scratch = 1};
    for (int64_t i = 0; i < net->layers; i++) {
        const tsri_layer *l = &net->layer[i];
        if (l->kind == TSRI_RECURRENT || l->each)
            TSR_TRY(add_sequence(b, net, l));
        else if (l->kind == TSRI_LINEAR)
            TSR_TRY(add_linear(b, net, l));
        else if (l->kind == TSRI_CONV)
            TSR_TRY(add_conv(b, net, l));
        else if (l->kind == TSRI_NORM)
            TSR_TRY(add_norm(b, net, l));
        else
            TSR_CHECK(!trained(net, l->weight) && !trained(net, l->bias), TSR_USAGE,
                      "no tangent kernel is known of layers of the kind %s (%s)",
                      tsri_kind_name(l->kind), l->name);
    }
done:
    if (st != TSR_OK)
        tsri_blocks_fini(b);
    return st;
}

void tsri_blocks_fini(tsri_blocks *b)
{
    tsri_free(b->block);
    *b = (tsri_blocks){0};
}

int64_t tsri_blocks_floats(const tsri_blocks *b, int64_t outputs)
{
    int64_t floats = 0;
    for (int64_t k = 0; k < b->count; k++)
        floats += b->block[k].a_count + outputs * b->block[k].d_count;
    return floats;
}

/* ---- Views -------------------------------------------------------------------------------- */

tsr_status tsri_view_init(tsri_tangent_view *v, const tsri_blocks *b, int64_t room, int64_t outputs)
{
    tsr_status st = TSR_OK;
    *v = (tsri_tangent_view){.blocks = b, .room = room, .outputs = outputs};
    TSR_TRY(tsri_alloc(&v->a, b->count, sizeof *v->a));
    TSR_TRY(tsri_alloc(&v->d, b->count, sizeof *v->d));
    for (int64_t k = 0; k < b->count; k++) {
        TSR_TRY(tsri_alloc_raw(&v->a[k], room * b->block[k].a_count, sizeof(float)));
        TSR_TRY(tsri_alloc_raw(&v->d[k], room * outputs * b->block[k].d_count, sizeof(float)));
    }
done:
    if (st != TSR_OK)
        tsri_view_fini(v);
    return st;
}

void tsri_view_fini(tsri_tangent_view *v)
{
    for (int64_t k = 0; v->blocks && k < v->blocks->count; k++) {
        if (v->a)
            tsri_free(v->a[k]);
        if (v->d)
            tsri_free(v->d[k]);
    }
    tsri_free(v->a);
    tsri_free(v->d);
    *v = (tsri_tangent_view){0};
}

/* ---- Filling ------------------------------------------------------------------------------ */

typedef struct filling {
    tsri_tangent_view *view;
    const tsri_op *op;
    const tsri_block *block;
    int64_t number, from, slot;
    bool channels_last;
    float *scratch;
} filling;

/* Where channel c of pixel p of an image lies: c * channel + p * pixel. */
typedef struct steps {
    int64_t channel, pixel;
} steps;

static steps steps_of(const filling *f, tsri_shape s)
{
    return f->channels_last ? (steps){1, s.c} : (steps){s.h * s.w, 1};
}

/* patch [P][size size C] of one image; zeros outside it. */
static void take_patches(float *patch, const float *x, const filling *f)
{
    const tsri_op *op = f->op;
    steps at = steps_of(f, op->in);
    for (int64_t oy = 0; oy < op->out.h; oy++)
        for (int64_t ox = 0; ox < op->out.w; ox++)
            for (int64_t ky = 0; ky < op->size; ky++)
                for (int64_t kx = 0; kx < op->size; kx++) {
                    int64_t y = oy * op->stride + ky - op->pad, z = ox * op->stride + kx - op->pad;
                    bool inside = y >= 0 && y < op->in.h && z >= 0 && z < op->in.w;
                    const float *pixel = x + (y * op->in.w + z) * at.pixel;
                    for (int64_t c = 0; c < op->in.c; c++)
                        *patch++ = inside ? pixel[c * at.channel] : 0;
                }
}

/* d [P][stride] = the gradients after a convolution, rows first .. of them. */
static void take_gradients(float *d, int64_t stride, const float *dy, const filling *f)
{
    steps at = steps_of(f, f->op->out);
    for (int64_t p = 0; p < f->block->positions; p++)
        for (int64_t r = 0; r < f->block->rows; r++)
            d[p * stride + r] = dy[p * at.pixel + (f->block->first + r) * at.channel];
}

/* A [P, columns], D [P, rows] -> sum over p of D_p (x) A_p. Channels last, D is read in place. */
static void take_sums(float *g, const float *x, const float *dy, const filling *f, float *scratch)
{
    const tsri_block *b = f->block;
    steps at = steps_of(f, f->op->out);
    int64_t P = b->positions;
    take_patches(scratch, x, f);
    if (at.channel == 1) {
        tsri_gemm_tile(g, b->columns, dy + b->first, at.pixel, scratch, b->columns, b->rows,
                       b->columns, P, true);
        return;
    }
    for (int64_t r = 0; r < b->rows; r++)
        for (int64_t c = 0; c < b->columns; c++) {
            float sum = 0;
            for (int64_t p = 0; p < P; p++)
                sum += dy[(b->first + r) * at.channel + p] * scratch[p * b->columns + c];
            g[r * b->columns + c] = sum;
        }
}

static void take_bias(float *g, const float *dy, const filling *f)
{
    steps at = steps_of(f, f->op->out);
    int64_t pixels = f->op->out.h * f->op->out.w;
    for (int64_t c = 0; c < f->op->out.c; c++) {
        double sum = 0;
        for (int64_t p = 0; p < pixels; p++)
            sum += (double)dy[p * at.pixel + c * at.channel];
        g[c] = (float)sum;
    }
}

/* y = (x - mu) r w + b: by w it is the sum over pixels of dy (x - mu) r, by b that of dy. */
static void take_norm(float *g, const float *x, const float *dy, const filling *f)
{
    steps at = steps_of(f, f->op->in);
    int64_t pixels = f->op->in.h * f->op->in.w, C = f->op->in.c;
    const float *saved = f->op->saved; /* scale, shift, mu, r */
    for (int64_t c = 0; c < C; c++) {
        double sum = 0, dot = 0, mu = (double)saved[2 * C + c], r = (double)saved[3 * C + c];
        for (int64_t p = 0; p < pixels; p++) {
            int64_t i = p * at.pixel + c * at.channel;
            sum += (double)dy[i];
            dot += (double)dy[i] * ((double)x[i] - mu) * r;
        }
        g[c] = (float)dot;
        g[C + c] = (float)sum;
    }
}

/* ---- Sequences ---- positions are outermost, [T, N, C], so those of one sample lie apart */

/* A and D of a sample's first position, and how far it is to the next. */
typedef struct sides {
    const float *a, *d;
    int64_t a_step, d_step;
} sides;

static sides sides_of(const tsri_op *op, int64_t i)
{
    int64_t in = op->n * op->in.c, out = op->n * op->out.c;
    if (op->kind == TSRI_RECURRENT) /* dW = sum over l of dx_l (x) y_(l-1) */
        return (sides){(const float *)op->y + i * op->in.c,
                       (const float *)op->dx + in + i * op->in.c, in, in};
    return (sides){(const float *)op->x + i * op->in.c, (const float *)op->dy + i * op->out.c, in,
                   out};
}

static void fill_sequence(void *context, int64_t i, int thread)
{
    (void)thread;
    const filling *f = context;
    const tsri_block *b = f->block;
    sides s = sides_of(f->op, i);
    int64_t at = f->from + i, outputs = f->view->outputs;
    float *a = f->view->a[f->number] + at * b->a_count;
    float *d = f->view->d[f->number] + at * outputs * b->d_count;
    if (b->form == TSRI_BLOCK_SUMS) {
        tsri_gemm_tile(d + f->slot * b->d_count, b->columns, s.d + b->first, s.d_step, s.a,
                       s.a_step, b->rows, b->columns, b->positions, true);
        return;
    }
    for (int64_t p = 0; p < b->positions; p++) {
        if (f->slot == 0)
            memcpy(a + p * b->columns, s.a + p * s.a_step, (size_t)b->columns * sizeof *a);
        memcpy(d + (p * outputs + f->slot) * b->rows, s.d + p * s.d_step,
               (size_t)b->rows * sizeof *d);
    }
}

static void fill_sample(void *context, int64_t i, int thread)
{
    const filling *f = context;
    const tsri_block *b = f->block;
    const float *x = (const float *)f->op->x + i * tsri_shape_count(f->op->in);
    const float *dy = (const float *)f->op->dy + i * tsri_shape_count(f->op->out);
    int64_t at = f->from + i, outputs = f->view->outputs;
    float *a = f->view->a[f->number] + at * b->a_count;
    float *d = f->view->d[f->number] + at * outputs * b->d_count;
    float *scratch = f->scratch + thread * f->view->blocks->scratch;
    bool dense = b->form == TSRI_BLOCK_FACTORS && f->op->kind == TSRI_LINEAR;
    bool first = f->slot == 0 && b->a_count > 0;
    if (dense && first)
        memcpy(a, x, (size_t)b->a_count * sizeof *a);
    if (dense)
        memcpy(d + f->slot * b->rows, dy, (size_t)b->rows * sizeof *d);
    else if (b->form == TSRI_BLOCK_FACTORS)
        take_gradients(d + f->slot * b->rows, outputs * b->rows, dy, f);
    if (!dense && b->form == TSRI_BLOCK_FACTORS && first)
        take_patches(a, x, f);
    if (b->form == TSRI_BLOCK_SUMS)
        take_sums(d + f->slot * b->d_count, x, dy, f, scratch);
    if (b->form == TSRI_BLOCK_BIAS)
        take_bias(d + f->slot * b->d_count, dy, f);
    if (b->form == TSRI_BLOCK_NORM)
        take_norm(d + f->slot * b->d_count, x, dy, f);
}

void tsri_view_fill(tsri_tangent_view *v, const tsri_op *op, const tsri_layer *layer,
                    bool channels_last, int64_t from, int64_t count, int64_t slot, float *scratch,
                    tsri_pool *pool)
{
    for (int64_t k = 0; k < v->blocks->count; k++)
        if (v->blocks->block[k].layer == layer) {
            filling f = {v, op, &v->blocks->block[k], k, from, slot, channels_last, scratch};
            bool sequence = layer->kind == TSRI_RECURRENT || layer->each;
            tsri_pool_run(pool, sequence ? fill_sequence : fill_sample, &f, count);
        }
}
