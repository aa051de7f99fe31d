/* slices.c - a parameter's numbers between the whole and shares, on this machine's processors.
 *
 * Put cuts the whole into blocks of a few thousand numbers; a block is some pieces of one line, or a
 * part of one piece when the pieces are large. Each block belongs to one thread, which goes through
 * the shares in their order.
 */
#include "backend/slices.h"

#include "base/pieces.h"

#include <string.h>

enum { BLOCK = 4096 }; /* numbers: sums and counts stay in the first cache */

/* ---- Finding lines ------------------------------------------------------------------------ */

static int64_t units(const tsri_slices *s, const tsri_pick *pick, int i)
{
    int axis = s->outer[i].axis;
    return axis < 0 ? s->outer[i].size : pick[axis].count;
}

int64_t tsri_slices_lines(const tsri_slices *s, const tsri_pick *pick)
{
    int64_t lines = 1;
    for (int i = 0; i < s->outers; i++)
        lines *= units(s, pick, i);
    return lines;
}

int64_t tsri_slices_pieces(const tsri_slices *s, const tsri_pick *pick)
{
    return s->axis < 0 ? s->size : pick[s->axis].count;
}

int64_t tsri_slices_from(const tsri_slices *s, const tsri_pick *pick, int64_t j)
{
    int64_t k = 0, stride = 1;
    for (int i = s->outers - 1; i >= 0; i--) {
        int axis = s->outer[i].axis;
        int64_t count = units(s, pick, i), at = j % count;
        k += (axis < 0 ? at : pick[axis].index[at]) * stride;
        j /= count;
        stride *= s->outer[i].size;
    }
    return k;
}

int64_t tsri_slices_find(const tsri_slices *s, const tsri_pick *pick, int64_t k)
{
    int64_t j = 0, stride = 1;
    for (int i = s->outers - 1; i >= 0; i--) {
        int axis = s->outer[i].axis;
        int64_t at = k % s->outer[i].size;
        if (axis >= 0)
            at = pick[axis].place[at];
        if (at < 0)
            return -1;
        j += at * stride;
        k /= s->outer[i].size;
        stride *= units(s, pick, i);
    }
    return j;
}

/* ---- Take --------------------------------------------------------------------------------- */

/* to [pieces, grain] = the picked pieces of `from` [size, grain]. */
static void copy_line(float *to, const float *from, const tsri_slices *s, const tsri_pick *picks)
{
    size_t grain = (size_t)s->grain * sizeof(float);
    if (s->axis < 0 || picks[s->axis].whole) {
        memcpy(to, from, (size_t)s->size * grain);
        return;
    }
    const tsri_pick *pick = &picks[s->axis];
    if (s->grain == 1)
        for (int64_t i = 0; i < pick->count; i++)
            to[i] = from[pick->index[i]];
    else
        for (int64_t i = 0; i < pick->count; i++)
            memcpy(to + i * s->grain, from + pick->index[i] * s->grain, grain);
}

void tsri_slices_take(float *to, const float *from, const tsri_slices *s, const tsri_pick *pick)
{
    int64_t lines = tsri_slices_lines(s, pick), pieces = tsri_slices_pieces(s, pick);
    for (int64_t j = 0; j < lines; j++)
        copy_line(to + j * pieces * s->grain,
                  from + tsri_slices_from(s, pick, j) * s->size * s->grain, s, pick);
}

static tsr_status take(tsri_mem *to, const tsri_mem *from, const tsri_slices *s,
                       const tsri_pick *pick, tsri_device device)
{
    (void)device;
    tsri_slices_take((void *)to, (const void *)from, s, pick);
    return TSR_OK;
}

/* ---- Put: one block ---------------------------------------------------------------------------- */

/* A parameter on its way back. */
typedef struct job {
    tsri_slices s;
    float *whole;
    const tsri_slices_owner *owner;
    int64_t count;      /* of owners */
    int64_t pieces;     /* in a block; 1 when a piece is larger than a block */
    int64_t parts;      /* of a piece */
    int64_t per_line;   /* blocks in a line */
    int64_t part_grain; /* numbers in a part of a piece */
} job;

/* Pieces first .. last-1 of line `line`, of each the numbers from .. to-1. */
typedef struct block {
    int64_t line, first, last, from, to;
    double sum[BLOCK];     /* [last - first, to - from] */
    int32_t owners[BLOCK]; /* [last - first]: the numbers of a piece have the same */
} block;

static void find_block(block *b, const job *j, int64_t i)
{
    int64_t in_line = i % j->per_line, piece = in_line / j->parts * j->pieces,
            part = in_line % j->parts;
    b->line = i / j->per_line;
    b->first = piece;
    b->last = tsri_min(piece + j->pieces, j->s.size);
    b->from = part * j->part_grain;
    b->to = tsri_min((part + 1) * j->part_grain, j->s.grain);
}

/* The first of the picked units that is not before `unit`. */
static int64_t first_from(const tsri_pick *pick, int64_t unit)
{
    int64_t low = 0, high = pick->count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (pick->index[middle] < unit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first owner's numbers are the sum, the sign of a zero included. */
static void add_piece(double *sum, int32_t *owners, const float *from, int64_t n)
{
    if ((*owners)++ == 0)
        for (int64_t i = 0; i < n; i++)
            sum[i] = (double)from[i];
    else
        for (int64_t i = 0; i < n; i++)
            sum[i] += (double)from[i];
}

/* Adds what the share has of the block; `line` points to its line. */
static void add_share(block *b, const job *j, const tsri_slices_owner *o, const float *line)
{
    int64_t grain = j->s.grain, n = b->to - b->from;
    if (j->s.axis < 0) {
        add_piece(b->sum, b->owners, line + b->from, n);
        return;
    }
    const tsri_pick *pick = &o->pick[j->s.axis];
    for (int64_t a = first_from(pick, b->first); a < pick->count && pick->index[a] < b->last; a++) {
        int64_t at = pick->index[a] - b->first;
        add_piece(b->sum + at * n, b->owners + at, line + a * grain + b->from, n);
    }
}

/* The same for a block that only one share has a part of: nothing to add up. */
static void copy_share(const block *b, const job *j, const tsri_slices_owner *o, const float *line)
{
    int64_t grain = j->s.grain, n = b->to - b->from;
    float *to = j->whole + b->line * j->s.size * grain + b->from;
    if (j->s.axis < 0) {
        memcpy(to, line + b->from, (size_t)n * sizeof(float));
        return;
    }
    const tsri_pick *pick = &o->pick[j->s.axis];
    for (int64_t a = first_from(pick, b->first); a < pick->count && pick->index[a] < b->last; a++) {
        if (n == 1)
            to[pick->index[a] * grain] = line[a * grain + b->from];
        else
            memcpy(to + pick->index[a] * grain, line + a * grain + b->from,
                   (size_t)n * sizeof(float));
    }
}

/* The sum times 1/N: the mean of N equal floats is still that float, for N x is exact in double and
 * the two roundings after it are 2^29 times finer than a float. */
static void write_means(const block *b, const job *j)
{
    int64_t grain = j->s.grain, n = b->to - b->from;
    for (int64_t at = 0; at < b->last - b->first; at++) {
        float *w = j->whole + (b->line * j->s.size + b->first + at) * grain + b->from;
        const double *sum = b->sum + at * n;
        if (b->owners[at] == 0)
            continue;
        double part = 1 / (double)b->owners[at];
        for (int64_t g = 0; g < n; g++)
            w[g] = (float)(sum[g] * part); /* NOLINT: a piece with owners has a sum (add_piece) */
    }
}

/* The block's line in the share's numbers, or NULL when the share lacks it. */
static const float *line_of(const block *b, const job *j, const tsri_slices_owner *o)
{
    int64_t line = tsri_slices_find(&j->s, o->pick, b->line);
    const float *numbers = (const void *)o->numbers;
    return line < 0 ? NULL : numbers + line * tsri_slices_pieces(&j->s, o->pick) * j->s.grain;
}

static void put_block(void *context, int64_t i, int thread)
{
    const job *j = context;
    block b __attribute__((uninitialized)); /* large, and written before it is read */
    (void)thread;
    find_block(&b, j, i);
    const float *only = NULL;
    int64_t owners = 0, who = -1;
    for (int64_t o = 0; o < j->count; o++) {
        const float *line = line_of(&b, j, &j->owner[o]);
        if (!line)
            continue;
        if (owners++ == 0) {
            only = line;
            who = o;
            continue;
        }
        if (owners == 2) {
            memset(b.owners, 0, (size_t)(b.last - b.first) * sizeof *b.owners);
            add_share(&b, j, &j->owner[who], only);
        }
        add_share(&b, j, &j->owner[o], line);
    }
    if (owners == 1)
        copy_share(&b, j, &j->owner[who], only);
    else if (owners > 1)
        write_means(&b, j);
}

/* ---- Put: all ---------------------------------------------------------------------------------- */

static tsr_status put(tsri_mem *whole, const tsri_slices *s, const tsri_slices_owner *owner,
                      int64_t count, tsri_device device)
{
    bool large = s->grain > BLOCK;
    job j = {.s = *s,
             .whole = (void *)whole,
             .owner = owner,
             .count = count,
             .pieces = large          ? 1
                       : s->grain > 0 ? BLOCK / s->grain
                                      : BLOCK,
             .part_grain = large ? BLOCK : s->grain,
             .parts = large ? tsri_ceil_div(s->grain, BLOCK) : 1};
    j.per_line = tsri_ceil_div(s->size, j.pieces) * j.parts;
    tsri_pool_run(device.pool, put_block, &j, s->lines * j.per_line);
    return TSR_OK;
}

const tsri_slices_ops tsri_slices_here = {.take = take, .put = put};
