/* info.c - facts about a data set that are worth knowing before training on it. */
#include "data/info.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "data/loader.h"
#include "io/crc32c.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Means -------------------------------------------------------------------------------- */

static double value_at(const tsr_data *data, const tsri_part *part, int64_t i, int64_t k)
{
    return part->bytes ? (double)part->bytes[i * data->dim + k]
                       : (double)part->numbers[i * data->dim + k];
}

/* The numbers of channel c in sample i: from *k on, every *stride, *n of them. */
static void channel_of(int64_t *k, int64_t *stride, int64_t *n, const tsr_data *data,
                       const tsri_part *part, int64_t i, int64_t c)
{
    int64_t plane = data->height * data->width;
    *k = data->sequences ? c : c * plane;
    *stride = data->sequences ? data->channels : 1;
    *n = part->length ? part->length[i] : plane;
}

static tsri_column_info channel_info(const tsr_data *data, int64_t c)
{
    const tsri_part *part = &data->train;
    tsri_column_info info = {0.0, 0.0, INFINITY, -INFINITY};
    double sum = 0.0, squares = 0.0;
    int64_t count = 0, k, stride, n;
    for (int64_t i = 0; i < part->n; i++) {
        channel_of(&k, &stride, &n, data, part, i, c);
        for (count += n; n > 0; n--, k += stride) {
            double v = value_at(data, part, i, k);
            sum += v;
            info.least = v < info.least ? v : info.least;
            info.most = v > info.most ? v : info.most;
        }
    }
    info.mean = sum / (double)count;
    for (int64_t i = 0; i < part->n; i++) {
        channel_of(&k, &stride, &n, data, part, i, c);
        for (; n > 0; n--, k += stride) {
            double d = value_at(data, part, i, k) - info.mean;
            squares += d * d;
        }
    }
    info.deviation = sqrt(squares / (double)count);
    return info;
}

static tsri_column_info target_info(const tsr_data *data)
{
    tsri_column_info info = {0.0, 0.0, INFINITY, -INFINITY};
    int64_t n = data->train.n * data->targets;
    double sum = 0.0, squares = 0.0;
    for (int64_t k = 0; k < n; k++) {
        double v = (double)data->train.target[k];
        sum += v;
        info.least = v < info.least ? v : info.least;
        info.most = v > info.most ? v : info.most;
    }
    info.mean = sum / (double)n;
    for (int64_t k = 0; k < n; k++) {
        double d = (double)data->train.target[k] - info.mean;
        squares += d * d;
    }
    info.deviation = sqrt(squares / (double)n);
    return info;
}

/* ---- Duplicates --------------------------------------------------------------------------- */

typedef struct mark {
    uint64_t hash;
    int64_t index;
} mark;

static int by_hash(const void *a, const void *b)
{
    const mark *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static const void *row_of(const tsr_data *data, int64_t i, size_t *bytes)
{
    *bytes = (size_t)data->dim * (data->train.bytes ? 1 : sizeof(float));
    return data->train.bytes ? (const void *)(data->train.bytes + i * data->dim)
                             : (const void *)(data->train.numbers + i * data->dim);
}

static bool same_row(const tsr_data *data, int64_t i, int64_t j)
{
    size_t n;
    const void *a = row_of(data, i, &n), *b = row_of(data, j, &n);
    return memcmp(a, b, n) == 0;
}

static bool same_answer(const tsr_data *data, int64_t i, int64_t j)
{
    const tsri_part *p = &data->train;
    if (p->label)
        return p->label[i] == p->label[j];
    return memcmp(p->target + i * data->targets, p->target + j * data->targets,
                  (size_t)data->targets * sizeof *p->target) == 0;
}

static tsr_status find_duplicates(tsri_data_info *info, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    mark *marks = NULL;
    int64_t n = data->train.n;
    TSR_TRY(tsri_alloc_raw(&marks, n, sizeof *marks));
    for (int64_t i = 0; i < n; i++) {
        size_t bytes;
        const void *row = row_of(data, i, &bytes);
        uint32_t low = tsri_crc32c(0, row, bytes);
        marks[i] = (mark){(uint64_t)tsri_crc32c(~low, row, bytes) << 32 | low, i};
    }
    qsort(marks, (size_t)n, sizeof *marks, by_hash);
    for (int64_t i = 1, first = 0; i < n; i++) {
        if (marks[i].hash != marks[first].hash) {
            first = i;
            continue;
        }
        if (!same_row(data, marks[i].index, marks[first].index))
            continue; /* different rows with the same checksum */
        info->duplicates++;
        if (!same_answer(data, marks[i].index, marks[first].index)) {
            info->conflict[0] = marks[first].index;
            info->conflict[1] = marks[i].index;
            info->conflicts++;
        }
    }
done:
    tsri_free(marks);
    return st;
}

/* ---- The least distance ------------------------------------------------------------------- */

enum { PHI_ROWS = 1000 };
static const double PHI_WORK = 4e8; /* products: about half a second */

/* Rows of norm 1; false for a row of zeros. */
static bool unit(float *x, int64_t n)
{
    double squares = 0.0;
    for (int64_t k = 0; k < n; k++)
        squares += (double)x[k] * (double)x[k];
    for (int64_t k = 0; k < n && squares > 0.0; k++)
        x[k] = (float)((double)x[k] / sqrt(squares));
    return squares > 0.0;
}

static double distance2(const float *x, const float *y, int64_t n)
{
    double part[4] = {0};
    int64_t k = 0;
    for (; k + 4 <= n; k += 4)
        for (int j = 0; j < 4; j++) {
            double d = (double)(x[k + j] - y[k + j]);
            part[j] += d * d;
        }
    for (; k < n; k++)
        part[0] += (double)(x[k] - y[k]) * (double)(x[k] - y[k]);
    return part[0] + part[1] + part[2] + part[3];
}

static tsr_status measure_phi(tsri_data_info *info, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    float *x = NULL;
    int64_t *perm = NULL, rows = 0, n = data->train.n;
    int64_t most = (int64_t)sqrt(2.0 * PHI_WORK / (double)data->dim);
    most = most > PHI_ROWS ? PHI_ROWS : most < 2 ? 2 : most;
    TSR_TRY(tsri_alloc_raw(&perm, n, sizeof *perm));
    TSR_TRY(tsri_alloc_raw(&x, (most < n ? most : n) * data->dim, sizeof *x));
    tsri_rng rng = tsri_rng_stream(1, TSRI_FOR_SPLIT, 3, 0, 0);
    tsri_rng_permutation(&rng, perm, n);
    for (int64_t i = 0; i < n && i < most; i++) {
        tsri_sample(x + rows * data->dim, data, &data->train, perm[i]);
        if (unit(x + rows * data->dim, data->dim))
            perm[rows++] = perm[i];
    }
    info->phi_rows = rows;
    info->phi = -1.0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < i; j++) {
            double d = sqrt(distance2(x + i * data->dim, x + j * data->dim, data->dim));
            if (info->phi < 0.0 || d < info->phi) {
                info->phi = d;
                info->phi_pair[0] = perm[j];
                info->phi_pair[1] = perm[i];
            }
        }
done:
    tsri_free(x);
    tsri_free(perm);
    return st;
}

/* ---- All ---------------------------------------------------------------------------------- */

static tsr_status count_classes(int64_t **count, const tsr_data *data, const tsri_part *part)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc(count, data->classes, sizeof **count));
    for (int64_t i = 0; i < part->n; i++)
        (*count)[part->label[i]]++;
done:
    return st;
}

tsr_status tsri_data_info_of(tsri_data_info *info, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    *info = (tsri_data_info){0};
    TSR_TRY(tsri_alloc(&info->channel, data->channels, sizeof *info->channel));
    for (int64_t c = 0; c < data->channels; c++)
        info->channel[c] = channel_info(data, c);
    if (data->classes > 0) {
        TSR_TRY(count_classes(&info->count, data, &data->train));
        TSR_TRY(count_classes(&info->test_count, data, &data->test));
    } else {
        info->target = target_info(data);
    }
    for (int64_t i = 0; data->train.length && i < data->train.n; i++) {
        int64_t n = data->train.length[i];
        info->shortest = i == 0 || n < info->shortest ? n : info->shortest;
        info->longest = n > info->longest ? n : info->longest;
    }
    TSR_TRY(find_duplicates(info, data));
    TSR_TRY(measure_phi(info, data));
done:
    if (st != TSR_OK)
        tsri_data_info_fini(info);
    return st;
}

void tsri_data_info_fini(tsri_data_info *info)
{
    tsri_free(info->channel);
    tsri_free(info->count);
    tsri_free(info->test_count);
    *info = (tsri_data_info){0};
}
