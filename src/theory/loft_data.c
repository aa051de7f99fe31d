/* loft_data.c - lengths, targets and equal images of a training set. */
#include "theory/loft_data.h"

#include "base/alloc.h"
#include "data/loader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct fingerprint {
    uint64_t hash;
    int64_t image;
} fingerprint;

static int by_hash(const void *a, const void *b)
{
    const fingerprint *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->image < y->image ? -1 : x->image > y->image;
}

/* FNV-1a of the numbers; 0 and -0 are the same. */
static uint64_t hash_of(const float *x, int64_t count)
{
    uint64_t hash = 14695981039346656037u;
    for (int64_t i = 0; i < count; i++) {
        float value = x[i] == 0 ? 0 : x[i];
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * 1099511628211u;
    }
    return hash;
}

static bool same(const float *x, const float *y, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (x[i] != y[i])
            return false;
    return true;
}

/* Equal images have equal hashes: each is compared with those before it that have its hash. */
static void find_equal(tsri_loft_data *f, const tsr_data *data, const fingerprint *mark, float *x)
{
    int64_t n = data->train.n, dim = data->dim;
    for (int64_t i = 1; i < n; i++)
        for (int64_t j = i - 1; j >= 0 && mark[j].hash == mark[i].hash; j--) {
            tsri_sample(x, data, &data->train, mark[i].image);
            tsri_sample(x + dim, data, &data->train, mark[j].image);
            if (!same(x, x + dim, dim))
                continue;
            if (f->equal++ == 0) {
                f->twin = mark[j].image;
                f->image = mark[i].image;
            }
            break;
        }
}

tsr_status tsri_loft_look_at_data(tsri_loft_data *f, const tsr_data *data, const tsri_net *net)
{
    tsr_status st = TSR_OK;
    float *x = NULL;
    fingerprint *mark = NULL;
    int64_t n = data->train.n, dim = data->dim;
    double root_q = (double)net->layer[0].size;
    *f = (tsri_loft_data){0};
    TSR_TRY(tsri_alloc_raw(&x, 2 * dim, sizeof *x));
    TSR_TRY(tsri_alloc_raw(&mark, n, sizeof *mark));
    for (int64_t i = 0; i < n; i++) {
        double square = 0;
        tsri_sample(x, data, &data->train, i);
        for (int64_t e = 0; e < dim; e++)
            square += (double)x[e] * (double)x[e];
        double error = fabs(sqrt(square) * root_q - 1);
        f->worst = error > f->norm_error ? i : f->worst;
        f->norm_error = fmax(f->norm_error, error);
        double y = (double)data->train.target[i];
        f->largest_target = fmax(f->largest_target, fabs(y));
        f->squares += y * y;
        mark[i] = (fingerprint){hash_of(x, dim), i};
    }
    qsort(mark, (size_t)n, sizeof *mark, by_hash);
    find_equal(f, data, mark, x);
done:
    tsri_free(x);
    tsri_free(mark);
    return st;
}
