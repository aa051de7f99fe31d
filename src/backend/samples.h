/* samples.h - steps of a shallow network seen from its samples.
 *
 * With a fixed last layer of signs and the whole training set in every step, gradient descent on
 *
 *     f(x_i) = s sum_r a_r relu(z_ri),    z_ri = <w_r, x_i>
 *
 * moves w_r only along the samples: w_r = w_r(0) + sum_i alpha_ri x_i. With c_i = - rate s dL/df_i
 * and b_ri = 1 where z_ri > 0, else 0, a step is
 *
 *     alpha_ri += a_r c_i b_ri            z_rj += a_r sum_i b_ri c_i <x_i, x_j>
 *
 * and no weight is needed. The last sum is a product with a matrix of bits: for every four samples
 * the sixteen possible sums are made once (Arlazarov, Dinic, Kronrod, Faradzhev 1970), and each
 * unit adds up n/4 of them, a quarter of the additions and no multiplication.
 *
 * Columns (samples) are filled up with zeros to a multiple of TSRI_SAMPLES_GRAIN; a sample that is
 * not there has c = 0 and a Gram matrix of zeros. All sums are in a fixed order, without fused
 * multiply-adds: the same bits on every processor.
 *
 * A unit that is off for every sample does not move and adds nothing, in this step and in all that
 * follow: it may be left out, and the bits of all others stay the same. For that the outputs are
 * summed over the units of a chunk in float and over the chunks in double, and the caller says
 * where chunks begin: a chunk keeps its place when units of it are left out.
 */
#ifndef TSRI_SAMPLES_H
#define TSRI_SAMPLES_H

#include "base/pool.h"

enum { TSRI_SAMPLES_GRAIN = 16, TSRI_SAMPLES_MOST = 512, TSRI_SAMPLES_CHUNK = 64 };

typedef struct tsri_samples {
    int64_t chunks, groups, columns; /* groups = ceil(n / 4) */
    const int64_t
        *chunk;        /* [chunks + 1] units chunk[k] .. chunk[k+1]-1, TSRI_SAMPLES_CHUNK at most */
    float *z, *alpha;  /* [units, columns] */
    const float *sign; /* [units] a_r = +1 or -1 */
    const float *c;    /* [columns] */
    const float *table; /* tsri_samples_table floats, of this c */
    double *total;      /* [columns] += sum_r a_r relu(z_rj) of the new z */
} tsri_samples;

typedef struct tsri_samples_ops {
    /* table = the sixteen sums of c_i gram_i of every group; gram [columns, columns] */
    void (*table)(float *table, const float *c, const float *gram, int64_t groups, int64_t columns);
    void (*step)(const tsri_samples *s);
    /* total_j += sum_r a_r relu(z_rj): `step` without the step */
    void (*outputs)(const tsri_samples *s);
    /* awake[r] = 0 when it was, or when the unit is off for every sample: z [units, columns] */
    void (*awake)(uint8_t *awake, const float *z, int64_t units, int64_t columns);
    /* c [m, n] (+)= a [m, k] b, b [k, n] or, transposed, [n, k] */
    tsr_status (*product)(float *c, const float *a, const float *b, int64_t m, int64_t n, int64_t k,
                          bool transposed, bool add, tsri_pool *pool);
} tsri_samples_ops;

static inline int64_t tsri_samples_table_size(int64_t groups, int64_t columns)
{
    return groups * 16 * columns;
}

#endif
