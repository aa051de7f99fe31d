/* read_npy.c - numpy arrays (npy_files.h) as a data set.
 *
 *     x  [n] [n,d]        table                    bytes stay bytes, other numbers become floats
 *        [n,H,W]          grey images              with length.npy, or data.format: sequences,
 *        [n,C,H,W]        images                   [n,L,d] are sequences
 *     y  [n]              whole numbers: classes; real numbers: targets (data.task overrides)
 *        [n,...]          real targets, all of a sample's numbers in a row
 */
#include "data/npy_files.h"

#include "base/alloc.h"
#include "base/log.h"
#include "data/part.h"
#include "data/resolution.h"
#include "io/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Numbers ------------------------------------------------------------------------------ */

static bool is_real(const tsri_npy_array *a)
{
    tsri_dtype d = a->t.dtype;
    return d == TSRI_F16 || d == TSRI_BF16 || d == TSRI_F32 || d == TSRI_F64;
}

/* Numbers of more bits than a float has: does rounding lose what they say? */
static tsr_status check_resolution(const tsri_npy_array *a, int64_t from, int64_t n)
{
    tsr_status st = TSR_OK;
    tsri_resolution *r = NULL;
    char column[40];
    tsri_dtype d = a->t.dtype;
    if (d != TSRI_F64 && d != TSRI_I32 && d != TSRI_U32 && d != TSRI_I64 && d != TSRI_U64)
        goto done;
    TSR_TRY(tsri_alloc(&r, n, sizeof *r));
    for (int64_t i = 0; i < a->count / a->row; i++)
        for (int64_t k = 0; k < n; k++)
            tsri_resolution_see(&r[k], tsri_npy_number(a, i * a->row + from + k));
    for (int64_t k = 0; k < n; k++) {
        (void)snprintf(column, sizeof column, "column %lld", (long long)(from + k + 1));
        TSR_TRY(tsri_resolution_check(&r[k], a->path, column));
    }
done:
    tsri_free(r);
    return st;
}

/* out = numbers [from, from + n) of every sample, as finite floats. */
static tsr_status floats(float *out, const tsri_npy_array *a, int64_t from, int64_t n)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < a->count / a->row; i++)
        for (int64_t k = 0; k < n; k++) {
            double v = tsri_npy_number(a, i * a->row + from + k);
            *out = (float)v;
            TSR_CHECK(
                isfinite(*out), TSR_BAD_FILE,
                "%s: row %lld, column %lld: %g is not a finite float; repair or remove the row",
                tsri_quote(a->path), (long long)(i + 1), (long long)(from + k + 1), v);
            out++;
        }
done:
    return st;
}

static tsr_status whole(int64_t **out, const tsri_npy_array *a, int64_t from)
{
    tsr_status st = TSR_OK;
    int64_t n = a->count / a->row;
    TSR_TRY(tsri_alloc_raw(out, n, sizeof **out));
    for (int64_t i = 0; i < n; i++) {
        double v = tsri_npy_number(a, i * a->row + from);
        TSR_CHECK(v == floor(v) && fabs(v) < 0x1p53, TSR_BAD_FILE,
                  "%s: row %lld: label %g is not a whole number; set data.task to regress",
                  tsri_quote(a->path), (long long)(i + 1), v);
        (*out)[i] = (int64_t)v;
    }
done:
    return st;
}

/* ---- Into the data set -------------------------------------------------------------------- */

/* Is the last column of x the target? */
static bool has_target_column(const tsri_npy_files *f)
{
    return !f->y.path && !f->unlabelled;
}

static tsr_status set_shape(tsr_data *data, const tsri_npy_files *f)
{
    const int64_t *s = f->x.t.shape;
    const char *path = f->x.path;
    bool single = has_target_column(f);
    if (data->sequences)
        return tsri_data_shape(data, s[2], tsri_positions(data->like, s[1], s[2]), 1, path);
    switch (f->x.t.dims) {
    case 1:
        return tsri_data_shape(data, 1, 1, 1, path);
    case 2:
        return tsri_data_shape(data, s[1] - single, 1, 1, path);
    case 3:
        return tsri_data_shape(data, 1, s[1], s[2], path);
    default:
        return tsri_data_shape(data, s[1], s[2], s[3], path);
    }
}

static tsr_status set_lengths(tsri_part *part, const tsr_data *data, const tsri_npy_files *f)
{
    tsr_status st = TSR_OK;
    const tsri_npy_array *length = &f->length;
    const int64_t most = f->x.t.shape[1];
    TSR_TRY(tsri_alloc_raw(&part->length, part->n, sizeof *part->length));
    for (int64_t i = 0; i < part->n; i++) {
        double n = length->path ? tsri_npy_number(length, i) : (double)most;
        TSR_CHECK(n == floor(n) && n >= 1 && n <= (double)most, TSR_BAD_FILE,
                  "%s: row %lld: a length of %g; 1 to %lld is expected", tsri_quote(length->path),
                  (long long)(i + 1), n, (long long)most);
        part->length[i] = (int32_t)n;
        int64_t used = part->length[i] * data->channels;
        memset(part->numbers + i * data->dim + used, 0, (size_t)(data->dim - used) * sizeof(float));
    }
done:
    return st;
}

/* Samples of `row` numbers come to stand `dim` numbers apart. */
static void spread(float *x, int64_t n, int64_t row, int64_t dim)
{
    for (int64_t i = n - 1; i > 0 && row < dim; i--)
        memmove(x + i * dim, x + i * row, (size_t)row * sizeof *x);
}

static tsr_status set_inputs(tsri_part *part, const tsr_data *data, const tsri_npy_files *f)
{
    tsr_status st = TSR_OK;
    const tsri_npy_array *x = &f->x;
    const int64_t row = x->row - has_target_column(f);
    bool shorter = data->sequences && data->like && x->t.shape[2] == data->channels;
    part->n = x->t.shape[0];
    TSR_CHECK(row == data->dim || (shorter && row < data->dim), TSR_BAD_FILE,
              "%s: header: %lld numbers in a sample, but the training data has %lld; they must "
              "agree",
              tsri_quote(x->path), (long long)row, (long long)data->dim);
    if (x->t.dtype == TSRI_U8 && !has_target_column(f) && !data->sequences) {
        TSR_TRY(tsri_alloc_raw(&part->bytes, x->count, 1));
        memcpy(part->bytes, x->t.data, (size_t)x->count);
        goto done;
    }
    TSR_TRY(tsri_alloc_raw(&part->numbers, part->n * data->dim, sizeof *part->numbers));
    TSR_TRY(floats(part->numbers, x, 0, row));
    spread(part->numbers, part->n, row, data->dim);
    if (!data->like)
        TSR_TRY(check_resolution(x, 0, data->dim));
    if (data->sequences)
        TSR_TRY(set_lengths(part, data, f));
done:
    return st;
}

static tsr_status real_targets(tsri_part *part, const tsr_data *data, const tsri_npy_files *f)
{
    tsr_status st = TSR_OK;
    const tsri_npy_array *y = f->y.path ? &f->y : &f->x;
    TSR_CHECK((f->y.path ? y->row : 1) == data->targets, TSR_BAD_FILE,
              "%s: header: %lld targets in a row, but the training data has %lld; they must agree",
              tsri_quote(y->path), (long long)y->row, (long long)data->targets);
    TSR_TRY(tsri_alloc_raw(&part->target, part->n * data->targets, sizeof *part->target));
    TSR_TRY(floats(part->target, y, y->row - data->targets, data->targets));
    if (!data->like)
        TSR_TRY(check_resolution(y, y->row - data->targets, data->targets));
done:
    return st;
}

/* One 1 among zeros in every row: classes, as other tools want them. */
static void doubt_rows(const tsr_data *data, const tsri_npy_array *y)
{
    for (int64_t i = 0; i < data->train.n; i++) {
        int64_t ones = 0, zeros = 0;
        for (int64_t k = 0; k < data->targets; k++) {
            float v = data->train.target[i * data->targets + k];
            ones += v == 1;
            zeros += v == 0;
        }
        if (ones != 1 || ones + zeros != data->targets)
            return;
    }
    TSRI_WARN("%s: each row has one 1 among zeros, and these are taken for %lld real targets; if "
              "they are classes, save y.argmax(1)",
              tsri_quote(y->path), (long long)data->targets);
}

/* Few different whole numbers are classes more often than not, whatever type they were saved in. */
static void doubt_targets(const tsr_data *data, const tsri_npy_array *y)
{
    enum { MOST = 20 };
    float seen[MOST];
    int64_t count = 0;
    for (int64_t i = 0; i < data->train.n; i++) {
        float v = data->train.target[i];
        int64_t j = 0;
        while (j < count && seen[j] != v)
            j++;
        if (v != floorf(v) || j == MOST)
            return;
        if (j == count)
            seen[count++] = v;
    }
    TSRI_WARN("%s: its %lld different numbers are whole, but saved as real ones, and are taken for "
              "real targets; set data.task to classify if they are classes",
              tsri_quote(y->path), (long long)count);
}

static tsr_status set_wanted(tsr_data *data, const tsri_npy_files *train,
                             const tsri_npy_files *test, const char *task)
{
    tsr_status st = TSR_OK;
    int64_t *labels = NULL, *test_labels = NULL;
    const tsri_npy_array *y = train->y.path ? &train->y : &train->x;
    bool real = is_real(y) || (train->y.path && y->row > 1);
    bool guessed = strcmp(task, "auto") == 0 && !data->like;
    if (strcmp(task, "auto") != 0)
        real = strcmp(task, "regress") == 0;
    if (data->like)
        real = data->like->classes == 0;
    if (real) {
        data->targets = train->y.path ? y->row : 1;
        TSR_TRY(real_targets(&data->train, data, train));
        if (test)
            TSR_TRY(real_targets(&data->test, data, test));
        if (guessed)
            data->targets == 1 ? doubt_targets(data, y) : doubt_rows(data, y);
        goto done;
    }
    TSR_CHECK(!train->y.path || y->row == 1, TSR_BAD_FILE,
              "%s: header: %lld labels for a sample; set data.task to regress", tsri_quote(y->path),
              (long long)y->row);
    TSR_TRY(whole(&labels, y, y->row - 1));
    if (test) {
        const tsri_npy_array *z = test->y.path ? &test->y : &test->x;
        TSR_TRY(whole(&test_labels, z, z->row - 1));
    }
    TSR_TRY(tsri_labels_from(data, labels, test_labels, false, y->path));
done:
    tsri_free(labels);
    tsri_free(test_labels);
    return st;
}

tsr_status tsri_read_npy(tsr_data *data, const tsri_read *want)
{
    tsr_status st = TSR_OK;
    tsri_npy_files train = {0}, test = {0};
    bool found = false, tested = false;
    TSR_TRY(tsri_npy_files_read(&train, want->path, "", want->like, &found));
    TSR_CHECK(found, TSR_BAD_FILE, "%s: there is no x.npy in this folder; check data.path",
              tsri_quote(want->path));
    if (want->test_path)
        TSR_TRY(tsri_npy_files_read(&test, want->test_path, "", want->like, &tested));
    else
        TSR_TRY(tsri_npy_files_read(&test, want->path, "_test", want->like, &tested));
    TSR_CHECK(tested || !want->test_path, TSR_BAD_FILE,
              "%s: there is no x.npy in this folder; check data.test_path",
              tsri_quote(want->test_path));
    data->sequences = data->sequences || train.length.path;
    TSR_CHECK(!data->sequences || train.x.t.dims == 3, TSR_BAD_FILE,
              "%s: header: %d dimensions; sequences are arrays [n, length, numbers at a position]",
              tsri_quote(train.x.path), train.x.t.dims);
    TSR_TRY(set_shape(data, &train));
    TSR_TRY(set_inputs(&data->train, data, &train));
    if (tested) {
        TSR_CHECK(test.x.t.dims == train.x.t.dims && !test.y.path == !train.y.path &&
                      (test.x.t.dtype == TSRI_U8) == (train.x.t.dtype == TSRI_U8),
                  TSR_BAD_FILE,
                  "%s: header: another number of dimensions or kind of numbers than in %s; they "
                  "must agree",
                  tsri_quote(test.x.path), tsri_quote(train.x.path));
        TSR_TRY(set_inputs(&data->test, data, &test));
    }
    if (data->like && data->like->unlabelled && has_target_column(&train))
        TSRI_INFO("%s: the last of its %lld columns is taken for the target",
                  tsri_quote(want->path), (long long)train.x.row);
    if (train.unlabelled)
        TSR_TRY(tsri_take_classes(data));
    else
        TSR_TRY(set_wanted(data, &train, tested ? &test : NULL, want->task));
done:
    tsri_npy_files_fini(&train);
    tsri_npy_files_fini(&test);
    return st;
}

tsr_status tsri_is_npy(bool *is, const char *path)
{
    tsr_status st = TSR_OK;
    char *x = NULL;
    *is = tsri_ends_with(path, ".npy") && tsri_is_file(path);
    if (tsri_is_folder(path)) {
        TSR_TRY(tsri_path_join(&x, path, "x.npy"));
        *is = tsri_is_file(x);
    }
done:
    tsri_free(x);
    return st;
}
