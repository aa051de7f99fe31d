/* skip_rows.c - one sample through a linear layer, of which some outputs may be off.
 *
 * With one sample a layer is bound by reading its weights, each once: a general product, which packs
 * them first, reads them twice. Rows of outputs that are off are not read at all.
 */
#include "backend/cpu/skip.h"

enum { ROWS = 64 }; /* outputs of one piece: one word of gates */

/* The outputs of one word that are on, four at a time; the last four may repeat one. */
static void run_rows(const tsri_rows *r, const tsri_loops *loops, const float *x, float *y,
                     int64_t first, uint64_t on)
{
    float scale = r->scale == 0 ? 1 : (float)r->scale;
    int64_t next = first;
    while (on) {
        const float *w[4];
        int64_t output[4];
        float sum[4];
        for (int k = 0; k < 4; k++) {
            next = on ? first + __builtin_ctzll(on) : next;
            on &= on - (on != 0);
            output[k] = next;
            w[k] = r->w + output[k] * r->inputs;
        }
        loops->dots(sum, w, x, r->inputs);
        for (int k = 0; k < 4; k++)
            y[output[k]] = scale * sum[k] + (r->b ? r->b[output[k]] : 0);
        for (int k = 0; r->relu && k < 4; k++)
            y[output[k]] = y[output[k]] > 0 ? y[output[k]] : 0;
    }
}

static void run_word(void *context, int64_t piece, int thread)
{
    (void)thread;
    const tsri_rows *r = context;
    int64_t words = (r->outputs + ROWS - 1) / ROWS, sample = piece / words, word = piece % words;
    int64_t first = word * ROWS, last = first + ROWS < r->outputs ? first + ROWS : r->outputs;
    float *y = r->y + sample * r->outputs;
    for (int64_t o = first; o < last; o++)
        y[o] = 0;
    uint64_t all = ~UINT64_C(0) >> (ROWS - (last - first));
    run_rows(r, tsri_loops_best(), r->x + sample * r->inputs, y, first,
             r->gates ? r->gates[sample * words + word] : all);
}

void tsri_rows_run(const tsri_rows *rows, tsri_pool *pool)
{
    tsri_rows copy = *rows;
    tsri_pool_run(pool, run_word, &copy, rows->n * ((rows->outputs + ROWS - 1) / ROWS));
}
