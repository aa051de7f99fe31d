/* deep_relu_moved.c - Theorem 5.3 (ii) and (iii): how far states are from those of W(0), and how
 * many units have switched.
 *
 * A state after a small step differs from the first one by less than the rounding of either, so
 * the difference of two states would say what rounding says: it failed and held by chance. The
 * differences go through the layers themselves,
 *
 *     z_l - z_l(0) = (W_l - W_l(0))^T x_(l-1)(0) + W_l^T (x_(l-1) - x_(l-1)(0)),
 *
 * and are as exact as the states are, however small.
 */
#include "theory/deep_relu.h"

#include "base/pieces.h"
#include "linalg/gemm.h"

#include <math.h>

/* dz [n, m] of layer l, from dx [n, inputs] of the one before; `change` has room for W_l. */
static tsr_status next(float *dz, const float *dx, float *change, const tsri_deep_block *was,
                       const tsri_deep_layer *now, const tsri_deep_layer *then, int64_t l,
                       tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    tsri_gemm g = {.b_transposed = true,
                   .m = was->n,
                   .n = now->m,
                   .k = now->inputs,
                   .a = was->x[l - 1],
                   .b = change,
                   .c = dz};
    for (int64_t i = 0; i < now->m * now->inputs; i++)
        change[i] = now->w[i] - then->w[i];
    TSR_TRY(tsri_gemm_run(&g, pool));
    if (l > 1) {
        g.a = dx;
        g.b = now->w;
        g.add = true;
        TSR_TRY(tsri_gemm_run(&g, pool));
    }
done:
    return st;
}

/* now_+ - then_+, of which `dz` is the difference: a unit that is on in both has moved by that. */
static float through(float now, float then, float dz)
{
    if (then > 0)
        return now > 0 ? dz : -then;
    return now > 0 ? now : 0;
}

/* dz becomes dx; and the largest numbers of the layer. */
static void compare(tsri_deep_moved *out, float *dz, const tsri_deep_block *at,
                    const tsri_deep_block *was, int64_t l, int64_t m)
{
    for (int64_t i = 0; i < at->n; i++) {
        double squares = 0;
        int64_t flips = 0;
        for (int64_t e = i * m; e < (i + 1) * m; e++) {
            float z = at->z[l][e], z0 = was->z[l][e];
            flips += (z > 0) != (z0 > 0);
            dz[e] = through(z, z0, dz[e]);
            squares += (double)dz[e] * (double)dz[e];
        }
        double reach = tsri_length(at->x[l] + i * m, m) + tsri_length(was->x[l] + i * m, m);
        out->far = fmax(out->far, sqrt(squares));
        out->reach = fmax(out->reach, reach);
        out->flipped = fmax(out->flipped, (double)flips / (double)m);
    }
}

tsr_status tsri_deep_moved_of(tsri_deep_moved *out, const tsri_deep_block *at,
                              const tsri_deep_block *was, const tsri_deep_net *now,
                              const tsri_deep_net *then, tsri_deep_room *room, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    float *dx = room->one, *dz = room->other;
    for (int64_t l = 1; l <= now->L; l++) {
        const tsri_deep_layer *a = &now->layer[l - 1], *b = &then->layer[l - 1];
        TSR_TRY(next(dz, dx, room->change, was, a, b, l, pool));
        compare(out, dz, at, was, l, a->m);
        float *swap = dx;
        dx = dz;
        dz = swap;
    }
done:
    return st;
}
