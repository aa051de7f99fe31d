/* winograd_filters.c - filters into the space of points: U = G w G^T. */
#include "backend/cpu/winograd.h"

#include <assert.h>
#include <string.h>

enum { TURN = 16, MOST_COLS = 32 }; /* filters turned at a time; columns of the widest table */

static void filters_straight(float *u, int64_t point, const tsri_wino_job *j, int64_t panel,
                             int64_t l0, int64_t nl)
{
    const tsri_wino_layout *g = &j->g;
    int64_t cols = g->kn->cols, k0 = panel * cols, k = tsri_min(cols, g->out_c - k0);
    for (int64_t p = 0; k < cols && p < g->points; p++)
        memset(u + p * point, 0, sizeof(float) * (size_t)(nl * cols));
    for (int64_t l = 0; l < nl; l++)
        g->form->weight(u + l * cols, point, j->w + (l0 + l) * g->out_c + k0, g->in_c * g->out_c,
                        k);
}

/* The filters w [9][out_c][in_c] of the backward pass: turned by 180 degrees, channels
 * exchanged. */
static void filters_turned(float *u, int64_t point, const tsri_wino_job *j, int64_t panel,
                           int64_t l0, int64_t nl)
{
    const tsri_wino_layout *g = &j->g;
    int64_t cols = g->kn->cols, c0 = panel * cols, nc = tsri_min(cols, g->out_c - c0);
    float t[9 * TURN * MOST_COLS];
    assert(cols <= MOST_COLS);
    memset(t, 0, sizeof t);
    for (int64_t done = 0; done < nl; done += TURN) {
        int64_t n = tsri_min(TURN, nl - done);
        for (int64_t tap = 0; tap < 9; tap++) {
            const float *from = j->w + (tap * g->out_c + c0) * g->in_c + l0 + done;
            float *to = t + (8 - tap) * TURN * cols;
            for (int64_t c = 0; c < nc; c++)
                for (int64_t l = 0; l < n; l++)
                    to[l * cols + c] = from[c * g->in_c + l];
        }
        for (int64_t l = 0; l < n; l++)
            g->form->weight(u + (done + l) * cols, point, t + l * cols, TURN * cols, cols);
    }
}

void tsri_wino_filters(float *u, int64_t point, const tsri_wino_job *j, int64_t panel, int64_t l0,
                       int64_t nl)
{
    (j->turned ? filters_turned : filters_straight)(u, point, j, panel, l0, nl);
}
