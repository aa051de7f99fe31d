/* skip_columns.c - one sample through a linear layer whose weights stay as they are.
 *
 * With one sample a layer is bound by reading its weights. They are laid out once, input after
 * input, so that those of an input that is 0 are one piece of memory, which is not read at all:
 * behind a ReLU that is half of them.
 */
#include "backend/cpu/skip.h"
#include "base/pieces.h"
#include "base/simd.h"

enum { COLUMNS = 256 }; /* outputs of one piece */

/* ---- Laying out ---------------------------------------------------------------------------- */

typedef struct layout {
    float *to;
    const float *w;
    int64_t inputs, outputs;
} layout;

static void turn_piece(void *context, int64_t piece, int thread)
{
    (void)thread;
    const layout *l = context;
    int64_t first = piece * COLUMNS, cols = tsri_min(COLUMNS, l->outputs - first);
    tsri_loops_best()->turn(l->to + first * l->inputs, cols, l->w + first * l->inputs, l->inputs,
                            cols, l->inputs);
}

void tsri_columns_pack(float *to, const float *w, int64_t inputs, int64_t outputs, tsri_pool *pool)
{
    layout l = {to, w, inputs, outputs};
    tsri_pool_run(pool, turn_piece, &l, tsri_ceil_div(outputs, COLUMNS));
}

/* ---- The sample ---------------------------------------------------------------------------- */

int64_t tsri_columns_room(int64_t inputs)
{
    return inputs + tsri_loops_best()->ahead;
}

typedef struct job {
    const tsri_columns *c;
    int64_t on; /* inputs that are not 0 */
} job;

TSRI_CLONES
static void finish(float *y, const float *b, float scale, bool relu, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        float v = scale * y[j] + (b ? b[j] : 0);
        y[j] = relu && !(v > 0) ? 0 : v;
    }
}

static void run_piece(void *context, int64_t piece, int thread)
{
    (void)thread;
    const job *work = context;
    const tsri_columns *c = work->c;
    int64_t first = piece * COLUMNS, cols = tsri_min(COLUMNS, c->outputs - first);
    float scale = c->scale == 0 ? 1 : (float)c->scale, *y = c->y + first;
    tsri_loops_best()->sums(y, cols, c->w + first * c->inputs, cols, c->x, c->at, work->on);
    finish(y, c->b ? c->b + first : NULL, scale, c->relu, cols);
}

/* Where x is not 0, in order; NaN counts, so that it is seen. */
static int64_t find_inputs(int32_t *at, const float *x, int64_t n)
{
    int64_t on = 0;
    for (int64_t i = 0; i < n; i++) {
        at[on] = (int32_t)i;
        on += x[i] != 0;
    }
    return on;
}

void tsri_columns_run(const tsri_columns *c, tsri_pool *pool)
{
    job work = {c, find_inputs(c->at, c->x, c->inputs)};
    for (int64_t i = work.on; i < tsri_columns_room(c->inputs); i++)
        c->at[i] = work.on > 0 ? c->at[work.on - 1] : 0;
    tsri_pool_run(pool, run_piece, &work, tsri_ceil_div(c->outputs, COLUMNS));
}
