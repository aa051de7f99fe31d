/* bf16_weights.c - the gradient of the filters: sums over the slots of a grid.
 *
 *     dW[tap][c][k] = sum over q of x[q + shift of the tap][c] dy[q][k]
 *
 * The sum now runs along the slots, so x is wanted with slots innermost, [c][slots], and dy in
 * pairs of slots. Both are made for a span of slots that stays in a core's cache; then every tap
 * and block of channels is one product over the span, added to what the spans before gave.
 */
#include "backend/cpu/bf16_grid.h"

#include "backend/cpu/counts.h"

#include <string.h>

enum { SPAN = 2048 }; /* slots: 64 steps of a product */

typedef struct job {
    const tsri_bf16_loops *loops;
    tsri_bf16_grid x, dy;
    tsri_class class;
    const float *x_numbers, *dy_numbers;
    tsri_preop pre;
    int64_t span, lead, row;   /* slots of a span; before it; numbers of a row of `turned` */
    int64_t pieces, dy_pieces; /* of 32 slots, in a row of each phase and in dy */
    int64_t first, count;      /* the span: its first slot, and how many (a multiple of 32) */
    int64_t at[SPAN / TSRI_SIDE];
    tsri_bf16 *cells;  /* [threads][32][wider of the two] */
    tsri_bf16 *turned; /* [phases][c][row] */
    tsri_bf16 *pairs;  /* [k / 32][span / 32][TSRI_STEP] */
    float *sums;       /* [taps][c][k], both rounded up: dw itself where they are even */
    float *dw, scale;
} job;

/* ---- Memory -------------------------------------------------------------------------------- */

static bool in_place(const job *j)
{
    return j->x.c == j->x.wide && j->dy.c == j->dy.wide;
}

/* The bytes, and where they lie in `work`. */
static int64_t lay_out(job *j, void *work, int threads)
{
    j->span = tsri_min(SPAN, tsri_round_up(j->x.line, TSRI_SIDE));
    j->lead = tsri_round_up(j->x.lead, TSRI_SIDE);
    j->row = j->lead + j->span + tsri_round_up(j->x.tail, TSRI_SIDE);
    j->pieces = j->row / TSRI_SIDE;
    if (j->row / TSRI_SIDE % 2 == 0) /* an odd number of cache lines spreads the rows */
        j->row += TSRI_SIDE;
    int64_t two = (int64_t)sizeof(tsri_bf16);
    int64_t cells = (int64_t)threads * TSRI_SIDE * tsri_max(j->x.wide, j->dy.wide) * two;
    int64_t turned = j->x.phases * j->x.wide * j->row * two;
    int64_t pairs = j->dy.wide * j->span * two;
    int64_t sums =
        in_place(j) ? 0 : j->class.count * j->x.wide * j->dy.wide * (int64_t)sizeof(float);
    j->cells = work;
    j->turned = tsri_behind(work, cells);
    j->pairs = tsri_behind(j->turned, turned);
    j->sums = tsri_behind(j->pairs, pairs);
    return cells + turned + pairs + sums;
}

/* ---- One span ------------------------------------------------------------------------------ */

static void turn_piece(job *j, tsri_bf16 *cells, int64_t phase, int64_t piece)
{
    tsri_grid_fill(cells, &j->x, phase, j->first - j->lead + piece * TSRI_SIDE, TSRI_SIDE,
                   j->x_numbers, j->pre, j->loops);
    for (int64_t c = 0; c < j->x.wide; c += TSRI_HALF)
        j->loops->turn(j->turned + (phase * j->x.wide + c) * j->row + piece * TSRI_SIDE, j->row,
                       cells + c, j->x.wide);
}

static void pair_piece(job *j, tsri_bf16 *cells, int64_t piece)
{
    tsri_grid_fill(cells, &j->dy, 0, j->first + piece * TSRI_SIDE, TSRI_SIDE, j->dy_numbers,
                   (tsri_preop){0}, j->loops);
    for (int64_t k = 0; k < j->dy.wide; k += TSRI_HALF)
        j->loops->pairs(j->pairs + (k / TSRI_SIDE * (j->span / TSRI_SIDE) + piece) * TSRI_STEP +
                            k % TSRI_SIDE / TSRI_HALF * TSRI_TILE,
                        cells + k, j->dy.wide);
}

static void piece_body(void *context, int64_t i, int thread)
{
    job *j = context;
    int64_t turns = j->x.phases * j->pieces;
    tsri_bf16 *cells = j->cells + (int64_t)thread * TSRI_SIDE * tsri_max(j->x.wide, j->dy.wide);
    if (i < turns)
        turn_piece(j, cells, i / j->pieces, i % j->pieces);
    else
        pair_piece(j, cells, i - turns);
}

/* 32 rows of one tap. */
static void product_body(void *context, int64_t i, int thread)
{
    job *j = context;
    (void)thread;
    int64_t blocks = j->x.wide / TSRI_SIDE, c = i % blocks * TSRI_SIDE;
    const tsri_tap *tap = &j->class.tap[i / blocks];
    const tsri_bf16 *a =
        j->turned + (tap->phase * j->x.wide + c) * j->row + j->lead + tsri_grid_shift(&j->x, tap);
    float *sums = j->sums + (i / blocks * j->x.wide + c) * j->dy.wide;
    if (j->loops->begin)
        j->loops->begin();
    for (int64_t k = 0; k < j->dy.wide; k += TSRI_SIDE)
        j->loops->product(sums + k, j->dy.wide, a, j->row, j->at, j->count / TSRI_SIDE,
                          j->pairs + k / TSRI_SIDE * (j->span / TSRI_SIDE) * TSRI_STEP,
                          j->first > 0);
    if (j->loops->end)
        j->loops->end();
}

/* ---- The whole ----------------------------------------------------------------------------- */

/* Sums to their place, scaled: one tap. */
static void finish_body(void *context, int64_t i, int thread)
{
    job *j = context;
    (void)thread;
    for (int64_t c = 0; c < j->x.c; c++) {
        const float *from = j->sums + (i * j->x.wide + c) * j->dy.wide;
        float *to = j->dw + (i * j->x.c + c) * j->dy.c;
        for (int64_t k = 0; k < j->dy.c; k++)
            to[k] = j->scale * from[k];
    }
}

static job weights_job(const tsri_conv_shape *s)
{
    job j = {0};
    tsri_grid_forward(&j.x, &j.class, s);
    j.dy = tsri_grid_outputs(&j.x, &j.class, s->k);
    for (int64_t i = 0; i < SPAN / TSRI_SIDE; i++)
        j.at[i] = i * TSRI_SIDE;
    return j;
}

void tsri_bf16_backward_weights(float *dw, const float *x, const float *dy,
                                const tsri_conv_shape *s, tsri_preop pre, float scale,
                                const tsri_bf16_team *team)
{
    job j = weights_job(s);
    if (j.x.line == 0) { /* the sum of nothing, which no unit would write */
        memset(dw, 0, sizeof *dw * (size_t)(s->size * s->size * s->c * s->k));
        return;
    }
    j.loops = team->loops, j.x_numbers = x, j.dy_numbers = dy, j.pre = pre;
    j.dw = dw, j.scale = scale;
    lay_out(&j, team->work, tsri_pool_threads(team->pool));
    if (in_place(&j))
        j.sums = dw;
    for (j.first = 0; j.first < j.x.line; j.first += j.span) {
        j.count = tsri_min(j.span, tsri_round_up(j.x.line - j.first, TSRI_SIDE));
        tsri_pool_run(team->pool, piece_body, &j, j.x.phases * j.pieces + j.count / TSRI_SIDE);
        tsri_pool_run(team->pool, product_body, &j, j.class.count * (j.x.wide / TSRI_SIDE));
    }
    if (!in_place(&j) || scale != 1)
        tsri_pool_run(team->pool, finish_body, &j, j.class.count);
}

int64_t tsri_bf16_weights_work(const tsri_conv_shape *s, int threads)
{
    job j = weights_job(s);
    return lay_out(&j, NULL, threads);
}

int64_t tsri_bf16_work(const tsri_conv_shape *s, int threads)
{
    return tsri_max(tsri_bf16_pass_work(s, threads), tsri_bf16_weights_work(s, threads));
}
