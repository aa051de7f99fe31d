/* signs.c - patterns of bits and the product of all pairs, in strips of columns over the pool. */
#include "theory/signs.h"

#include "base/alloc.h"
#include "base/pieces.h"

#include <string.h>

enum { GRANULE = 8, ROWS = 512 }; /* words of a cache line; rows of one piece of a strip */

tsr_status tsri_signs_init(tsri_signs *bits, int64_t n, int64_t m)
{
    *bits = (tsri_signs){.n = n, .m = m, .words = (m + 511) / 512 * GRANULE};
    return tsri_alloc(&bits->row, n * bits->words, sizeof *bits->row);
}

void tsri_signs_fini(tsri_signs *bits)
{
    tsri_free(bits->row);
    *bits = (tsri_signs){0};
}

static const tsri_bit_loop *best(void)
{
    const tsri_bit_loop *loop = &tsri_bit_loop_base, *next;
    for (int i = 0; (next = tsri_bit_loop_at(i)) != NULL; i++)
        loop = next;
    return loop;
}

void tsri_signs_sign(tsri_signs *bits, int64_t i, int64_t from, const float *z, int64_t count)
{
    best()->sign(bits->row + i * bits->words + from / 64, z, count);
}

void tsri_signs_row(uint64_t *row, int64_t words, const uint8_t *mark, int64_t m)
{
    memset(row, 0, (size_t)words * sizeof *row);
    for (int64_t r = 0; r < m; r++)
        row[r / 64] |= (uint64_t)(mark[r] != 0) << (r % 64);
}

void tsri_signs_and(tsri_signs *to, const tsri_signs *from, const uint64_t *row)
{
    for (int64_t i = 0; i < from->n; i++)
        for (int64_t k = 0; k < from->words; k++)
            to->row[i * from->words + k] = from->row[i * from->words + k] & row[k];
}

int64_t tsri_signs_differ(const tsri_signs *a, const tsri_signs *b, int64_t i)
{
    int64_t count = 0;
    for (int64_t k = 0; k < a->words; k++)
        count += __builtin_popcountll(a->row[i * a->words + k] ^ b->row[i * b->words + k]);
    return count;
}

/* ---- All pairs ---------------------------------------------------------------------------- */

/* Strip s has the columns s COLUMNS .., and of the rows those above its last column: pieces of ROWS
 * rows, numbered through all strips, the longest strips first. */
typedef struct product {
    const tsri_signs *bits;
    const tsri_bit_loop *loop;
    tsri_counts_sink sink;
    void *context;
    char *scratch; /* [threads][each] */
    int64_t each, strips;
} product;

static int64_t strip_rows(const product *p, int64_t s)
{
    return tsri_min((s + 1) * TSRI_BIT_COLUMNS, p->bits->n);
}

static int64_t strip_pieces(const product *p, int64_t s)
{
    return tsri_ceil_div(strip_rows(p, s), ROWS);
}

static void run_piece(void *context, int64_t piece, int thread)
{
    const product *p = context;
    const tsri_signs *b = p->bits;
    int64_t s = p->strips - 1;
    while (piece >= strip_pieces(p, s))
        piece -= strip_pieces(p, s--);
    int64_t from = s * TSRI_BIT_COLUMNS, columns = tsri_min(TSRI_BIT_COLUMNS, b->n - from);
    int64_t first = piece * ROWS, rows = tsri_min(ROWS, strip_rows(p, s) - first);
    uint32_t *count = (uint32_t *)(p->scratch + thread * p->each);
    p->loop->strip(count, b->row + first * b->words, rows, b->row + from * b->words, columns,
                   b->words, count + ROWS * TSRI_BIT_COLUMNS);
    for (int64_t i = 0; i < rows; i++)
        p->sink(p->context, first + i, from, columns, count + i * TSRI_BIT_COLUMNS);
}

tsr_status tsri_signs_gram_by(const tsri_signs *bits, const tsri_bit_loop *loop, tsri_pool *pool,
                              tsri_counts_sink sink, void *context)
{
    tsr_status st = TSR_OK;
    product p = {.bits = bits, .loop = loop, .sink = sink, .context = context};
    p.each = ROWS * TSRI_BIT_COLUMNS * (int64_t)sizeof(uint32_t) + TSRI_BIT_SCRATCH;
    p.strips = tsri_ceil_div(bits->n, TSRI_BIT_COLUMNS);
    int64_t pieces = 0;
    for (int64_t s = 0; s < p.strips; s++)
        pieces += strip_pieces(&p, s);
    TSR_TRY(tsri_alloc_raw(&p.scratch, tsri_pool_threads(pool) * p.each, 1));
    tsri_pool_run(pool, run_piece, &p, pieces);
done:
    tsri_free(p.scratch);
    return st;
}

tsr_status tsri_signs_gram(const tsri_signs *bits, tsri_pool *pool, tsri_counts_sink sink,
                           void *context)
{
    return tsri_signs_gram_by(bits, best(), pool, sink, context);
}
