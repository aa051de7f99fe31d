/* put.c - shares written back into the whole.
 *
 * The whole is cut into blocks of a few thousand numbers; a block is some pieces of one line, or a
 * part of one piece when the pieces are large. Each block belongs to one thread, which goes through
 * the shares in their order.
 */
#include "subnet/put.h"

#include "base/alloc.h"
#include "base/pieces.h"
#include "subnet/slices.h"

#include <assert.h>
#include <string.h>

enum { BLOCK = 4096 }; /* numbers: sums and counts stay in the first cache */

tsr_status tsri_put_init(tsri_put *put, const tsri_net *net, int threads)
{
    tsr_status st = TSR_OK;
    *put = (tsri_put){.net = net, .threads = threads};
    TSR_TRY(tsri_alloc(&put->cut, net->axes, sizeof *put->cut));
    TSR_TRY(tsri_alloc(&put->sum, (int64_t)threads * BLOCK, sizeof *put->sum));
    TSR_TRY(tsri_alloc(&put->owners, (int64_t)threads * BLOCK, sizeof *put->owners));
done:
    if (st != TSR_OK)
        tsri_put_fini(put);
    return st;
}

void tsri_put_fini(tsri_put *put)
{
    tsri_free(put->cut);
    tsri_free(put->sum);
    tsri_free(put->owners);
    tsri_free(put->opened);
    *put = (tsri_put){0};
}

/* ---- One block ---------------------------------------------------------------------------- */

/* A parameter on its way back. */
typedef struct job {
    const tsri_put *put;
    tsri_slices s;
    float *whole;
    const tsri_owner *owner;
    int64_t count;      /* of owners */
    int64_t param;      /* its number */
    tsri_vector vector; /* which of their numbers */
    int64_t pieces;     /* in a block; 1 when a piece is larger than a block */
    int64_t parts;      /* of a piece */
    int64_t per_line;   /* blocks in a line */
    int64_t part_grain; /* numbers in a part of a piece */
} job;

/* Pieces first .. last-1 of line `line`, of each the numbers from .. to-1. */
typedef struct block {
    int64_t line, first, last, from, to;
    double *sum;     /* [last - first, to - from] */
    int32_t *owners; /* [last - first]: the numbers of a piece have the same */
} block;

static block block_of(const job *j, int64_t i, int thread)
{
    int64_t in_line = i % j->per_line, piece = in_line / j->parts * j->pieces,
            part = in_line % j->parts;
    return (block){.line = i / j->per_line,
                   .first = piece,
                   .last = tsri_min(piece + j->pieces, j->s.size),
                   .from = part * j->part_grain,
                   .to = tsri_min((part + 1) * j->part_grain, j->s.grain),
                   .sum = j->put->sum + (int64_t)thread * BLOCK,
                   .owners = j->put->owners + (int64_t)thread * BLOCK};
}

static const float *numbers_of(const job *j, const tsri_owner *o)
{
    const tsri_opened *host = &j->put->opened[o - j->owner];
    return tsri_opened_at(host, tsri_opened_vector(host, j->vector), j->param);
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
static void add_share(const block *b, const job *j, const tsri_owner *o, const float *line)
{
    int64_t grain = j->s.grain, n = b->to - b->from;
    if (j->s.axis < 0) {
        add_piece(b->sum, b->owners, line + b->from, n);
        return;
    }
    const tsri_pick *pick = &o->share->pick[j->s.axis];
    for (int64_t a = first_from(pick, b->first); a < pick->count && pick->index[a] < b->last; a++) {
        int64_t at = pick->index[a] - b->first;
        add_piece(b->sum + at * n, b->owners + at, line + a * grain + b->from, n);
    }
}

/* The same for a block that only one share has a part of: nothing to add up. */
static void copy_share(const block *b, const job *j, const tsri_owner *o, const float *line)
{
    int64_t grain = j->s.grain, n = b->to - b->from;
    float *to = j->whole + b->line * j->s.size * grain + b->from;
    if (j->s.axis < 0) {
        memcpy(to, line + b->from, (size_t)n * sizeof(float));
        return;
    }
    const tsri_pick *pick = &o->share->pick[j->s.axis];
    for (int64_t a = first_from(pick, b->first); a < pick->count && pick->index[a] < b->last; a++) {
        if (n == 1)
            to[pick->index[a] * grain] = line[a * grain + b->from];
        else
            memcpy(to + pick->index[a] * grain, line + a * grain + b->from,
                   (size_t)n * sizeof(float));
    }
}

/* The sum times 1/N: the mean of N equal floats is still that float, for N x is exact in double and
 * the two roundings behind it are 2^29 times finer than a float. */
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
            w[g] = (float)(sum[g] * part);
    }
}

/* The block's line in the share's numbers, or NULL when the share lacks it. */
static const float *line_of(const block *b, const job *j, const tsri_owner *o)
{
    int64_t line = tsri_slices_find(&j->s, o->share, b->line);
    return line < 0 ? NULL
                    : numbers_of(j, o) + line * tsri_slices_pieces(&j->s, o->share) * j->s.grain;
}

static void put_block(void *context, int64_t i, int thread)
{
    const job *j = context;
    block b = block_of(j, i, thread);
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

/* ---- All ---------------------------------------------------------------------------------- */

static void put_param(job *j, tsri_pool *pool)
{
    bool large = j->s.grain > BLOCK;
    j->pieces = large ? 1 : j->s.grain > 0 ? BLOCK / j->s.grain : BLOCK;
    j->part_grain = large ? BLOCK : j->s.grain;
    j->parts = large ? tsri_ceil_div(j->s.grain, BLOCK) : 1;
    j->per_line = tsri_ceil_div(j->s.size, j->pieces) * j->parts;
    tsri_pool_run(pool, put_block, j, j->s.lines * j->per_line);
}

static void find_cuts(tsri_put *put, const tsri_owner *owner, int64_t count)
{
    for (int64_t a = 0; a < put->net->axes; a++) {
        put->cut[a] = false;
        for (int64_t o = 0; o < count; o++)
            put->cut[a] = put->cut[a] || owner[o].share->cut[a];
    }
}

static void put_params(const tsri_put *put, const tsri_opened *whole, const tsri_owner *owner,
                       int64_t count, bool momentum, tsri_pool *pool)
{
    const tsri_net *net = put->net;
    for (int64_t p = 0; p < net->params; p++) {
        if (net->param[p].role == TSRI_FIXED)
            continue;
        job j = {.put = put,
                 .s = tsri_slices_of(&net->param[p], net, put->cut),
                 .whole = tsri_opened_at(whole, whole->w, p),
                 .owner = owner,
                 .count = count,
                 .param = p};
        put_param(&j, pool);
        if (!momentum || net->param[p].role != TSRI_TRAINED)
            continue;
        for (j.vector = TSRI_MOMENTUM; j.vector < TSRI_VECTORS; j.vector++) {
            void *vector = tsri_opened_vector(whole, j.vector);
            if (!vector)
                continue;
            j.whole = tsri_opened_at(whole, vector, p);
            put_param(&j, pool);
        }
    }
}

tsr_status tsri_put_run(tsri_put *put, tsri_store *whole, const tsri_owner *owner, int64_t count,
                        bool momentum, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    tsri_opened host = {0};
    int which = momentum ? TSRI_OPEN_UNITS : TSRI_OPEN_WEIGHTS;
    assert(whole->real_bytes == sizeof(float) && tsri_pool_threads(pool) <= put->threads);
    if (count == 0)
        return TSR_OK;
    find_cuts(put, owner, count);
    if (count > put->rooms) {
        TSR_TRY(tsri_realloc(&put->opened, count, sizeof *put->opened));
        put->rooms = count;
    }
    TSR_TRY(tsri_store_open(&host, whole, which));
    for (int64_t o = 0; o < count; o++)
        TSR_TRY(tsri_store_open(&put->opened[o], owner[o].store, which));
    put_params(put, &host, owner, count, momentum, pool);
    TSR_TRY(tsri_store_save(&host));
done:
    tsri_store_close(&host);
    for (int64_t o = 0; o < count && o < put->rooms; o++)
        tsri_store_close(&put->opened[o]);
    return st;
}
