/* arrays.c - a program's own arrays, read number by number.
 *
 * Strides are in bytes, so that a view of a picture with channels last is read where it lies.
 */
#include "data/arrays.h"

#include "base/narrow.h"

#include <math.h>
#include <string.h>

/* ---- Arrays --------------------------------------------------------------------------------- */

static const int64_t bytes_of[] = {
    [TSR_F32] = 4, [TSR_F64] = 8, [TSR_U8] = 1, [TSR_I32] = 4, [TSR_I64] = 8};

int64_t tsri_array_bytes(const tsr_array *a)
{
    return bytes_of[a->type];
}

int64_t tsri_array_count(const tsr_array *a)
{
    int64_t count = 1;
    for (int d = 0; d < a->dims; d++)
        count *= a->shape[d];
    return count;
}

tsr_status tsri_array_check(const tsr_array *a, const char *what)
{
    tsr_status st = TSR_OK;
    int64_t count = 1;
    TSR_CHECK(a && a->data, TSR_USAGE, "%s: there is no array", what);
    TSR_CHECK(a->type >= TSR_F32 && a->type <= TSR_I64, TSR_USAGE,
              "%s: there is no type %d of numbers: F32, F64, U8, I32 and I64 are known", what,
              (int)a->type);
    TSR_CHECK(a->dims >= 0 && a->dims <= TSR_DIMS, TSR_USAGE,
              "%s: an array has at most %d dimensions, not %d", what, TSR_DIMS, a->dims);
    for (int d = 0; d < a->dims; d++) {
        TSR_CHECK(a->shape[d] >= 1, TSR_USAGE, "%s: dimension %d has a size of %lld", what, d + 1,
                  (long long)a->shape[d]);
        TSR_TRY(tsri_multiply(&count, count, a->shape[d], what));
    }
done:
    return st;
}

/* Bytes from one index of dimension d to the next. */
static int64_t stride_of(const tsr_array *a, int d)
{
    int64_t inner = tsri_array_bytes(a);
    bool given = false;
    for (int i = 0; i < a->dims; i++)
        given = given || a->stride[i] != 0;
    if (given)
        return a->stride[d];
    for (int i = d + 1; i < a->dims; i++)
        inner *= a->shape[i];
    return inner;
}

bool tsri_array_plain(const tsr_array *a)
{
    int64_t inner = tsri_array_bytes(a);
    for (int d = a->dims - 1; d >= 0; d--) {
        if (a->shape[d] > 1 && stride_of(a, d) != inner)
            return false;
        inner *= a->shape[d];
    }
    return true;
}

static double number_at(const char *at, tsr_type type)
{
    float f;
    double d;
    int32_t i;
    int64_t l;
    switch (type) {
    case TSR_F32:
        return memcpy(&f, at, sizeof f), (double)f;
    case TSR_F64:
        return memcpy(&d, at, sizeof d), d;
    case TSR_U8:
        return (double)*(const uint8_t *)at;
    case TSR_I32:
        return memcpy(&i, at, sizeof i), (double)i;
    case TSR_I64:
        return memcpy(&l, at, sizeof l), (double)l;
    }
    return (double)NAN;
}

typedef void (*put_number)(void *to, int64_t k, const char *at, tsr_type type);

static void put_float(void *to, int64_t k, const char *at, tsr_type type)
{
    ((float *)to)[k] = (float)number_at(at, type);
}

static void put_double(void *to, int64_t k, const char *at, tsr_type type)
{
    ((double *)to)[k] = number_at(at, type);
}

static void put_byte(void *to, int64_t k, const char *at, tsr_type type)
{
    (void)type;
    ((uint8_t *)to)[k] = *(const uint8_t *)at;
}

/* All numbers below `at` from dimension d on, in order. */
static void walk(void *to, int64_t *k, const tsr_array *a, int d, const char *at, put_number put)
{
    if (d == a->dims) {
        put(to, (*k)++, at, a->type);
        return;
    }
    int64_t stride = stride_of(a, d);
    for (int64_t i = 0; i < a->shape[d]; i++)
        walk(to, k, a, d + 1, at + i * stride, put);
}

static void put_same(void *to, int64_t k, const char *at, tsr_type type)
{
    memcpy((char *)to + k * bytes_of[type], at, (size_t)bytes_of[type]);
}

void tsri_array_copy(void *to, const tsr_array *a)
{
    int64_t k = 0;
    walk(to, &k, a, 0, a->data, put_same);
}

static const char *row_at(const tsr_array *a, int64_t i)
{
    return (const char *)a->data + i * stride_of(a, 0);
}

void tsri_array_row(float *to, const tsr_array *a, int64_t i)
{
    int64_t k = 0;
    if (a->type == TSR_F32 && tsri_array_plain(a))
        memcpy(to, row_at(a, i), (size_t)(tsri_array_count(a) / a->shape[0]) * sizeof *to);
    else
        walk(to, &k, a, 1, row_at(a, i), put_float);
}

void tsri_array_row_doubles(double *to, const tsr_array *a, int64_t i)
{
    int64_t k = 0;
    walk(to, &k, a, 1, row_at(a, i), put_double);
}

void tsri_array_row_bytes(uint8_t *to, const tsr_array *a, int64_t i)
{
    int64_t k = 0;
    if (tsri_array_plain(a))
        memcpy(to, row_at(a, i), (size_t)(tsri_array_count(a) / a->shape[0]));
    else
        walk(to, &k, a, 1, row_at(a, i), put_byte);
}

bool tsri_array_whole(int64_t *to, const tsr_array *a, int64_t i)
{
    double v = number_at(row_at(a, i), a->type);
    bool whole = v == floor(v) && fabs(v) < 0x1p53;
    *to = whole ? (int64_t)v : 0;
    return whole;
}
