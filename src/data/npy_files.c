/* npy_files.c - finding and reading the arrays of a data set (npy_files.h). */
#include "data/npy_files.h"

#include "base/alloc.h"
#include "io/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Numbers ------------------------------------------------------------------------------ */

static double half(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double v = exponent == 0    ? ldexp(fraction, -24)
               : exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                                : ldexp(1024 + fraction, exponent - 25);
    return h >> 15 ? -v : v;
}

static double brain(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

#define AS(type) ((const type *)a->t.data)[k]
double tsri_npy_number(const tsri_npy_array *a, int64_t k)
{
    switch (a->t.dtype) {
    case TSRI_BOOL:
    case TSRI_U8:
        return (double)AS(uint8_t);
    case TSRI_I8:
        return (double)AS(int8_t);
    case TSRI_I16:
        return (double)AS(int16_t);
    case TSRI_U16:
        return (double)AS(uint16_t);
    case TSRI_F16:
        return half(AS(uint16_t));
    case TSRI_BF16:
        return brain(AS(uint16_t));
    case TSRI_I32:
        return (double)AS(int32_t);
    case TSRI_U32:
        return (double)AS(uint32_t);
    case TSRI_F32:
        return (double)AS(float);
    case TSRI_I64:
        return (double)AS(int64_t);
    case TSRI_U64:
        return (double)AS(uint64_t);
    case TSRI_F64:
        return AS(double);
    }
    return (double)NAN;
}
#undef AS

/* ---- Files -------------------------------------------------------------------------------- */

/* Takes the path. */
static tsr_status read_array(tsri_npy_array *a, char *path)
{
    tsr_status st = TSR_OK;
    a->path = path;
    TSR_TRY(tsri_npy_read(&a->t, &a->memory, path));
    a->count = tsri_tensor_count(&a->t);
    TSR_CHECK(a->t.dims >= 1 && a->t.dims <= 4 && a->count > 0, TSR_BAD_FILE,
              "%s: header: an array of %d dimensions with %lld numbers; 1 to 4, samples "
              "first, are expected",
              tsri_quote(path), a->t.dims, (long long)a->count);
    a->row = a->count / a->t.shape[0];
done:
    return st;
}

static tsr_status read_in(tsri_npy_array *a, const char *folder, const char *name, bool *found)
{
    tsr_status st = TSR_OK;
    char *path = NULL;
    TSR_TRY(tsri_path_join(&path, folder, name));
    *found = tsri_is_file(path);
    if (*found) {
        st = read_array(a, path);
        path = NULL;
    }
done:
    tsri_free(path);
    return st;
}

static tsr_status read_folder(tsri_npy_files *f, const char *folder, const char *suffix,
                              bool unlabelled, bool *found)
{
    tsr_status st = TSR_OK;
    char name[32];
    bool y, length;
    (void)snprintf(name, sizeof name, "x%s.npy", suffix);
    TSR_TRY(read_in(&f->x, folder, name, found));
    if (!*found)
        goto done;
    (void)snprintf(name, sizeof name, "y%s.npy", suffix);
    TSR_TRY(read_in(&f->y, folder, name, &y));
    f->unlabelled = !y && unlabelled;
    TSR_CHECK(y || unlabelled, TSR_BAD_FILE,
              "%s: there is an x%s.npy but no y%s.npy in this folder; add it", tsri_quote(folder),
              suffix, suffix);
    TSR_CHECK(!y || f->y.t.shape[0] == f->x.t.shape[0], TSR_BAD_FILE,
              "%s: header: %lld rows, but %s has %lld; they must belong together",
              tsri_quote(f->y.path), (long long)f->y.t.shape[0], tsri_quote(f->x.path),
              (long long)f->x.t.shape[0]);
    (void)snprintf(name, sizeof name, "length%s.npy", suffix);
    TSR_TRY(read_in(&f->length, folder, name, &length));
    TSR_CHECK(!length || f->length.count == f->x.t.shape[0], TSR_BAD_FILE,
              "%s: header: %lld lengths for %lld sequences; one for each is expected",
              tsri_quote(f->length.path), (long long)f->length.count, (long long)f->x.t.shape[0]);
done:
    return st;
}

/* A table with the target in its last column, or without any where nobody needs one: then its rows
 * are as long as the model's inputs, and it may be images, too. */
static tsr_status read_single(tsri_npy_files *f, const char *path, const tsri_like *like)
{
    tsr_status st = TSR_OK;
    char *copy = NULL;
    TSR_TRY(tsri_strdup(&copy, path));
    TSR_TRY(read_array(&f->x, copy));
    int64_t inputs = like ? like->channels * like->height * like->width : 0;
    bool shorter =
        like && f->x.t.dims == 3 && f->x.t.shape[2] == like->channels && f->x.row < inputs;
    f->unlabelled = like && like->unlabelled && (f->x.row == inputs || shorter);
    TSR_CHECK(!like || f->unlabelled || (f->x.t.dims == 2 && f->x.row >= inputs), TSR_BAD_FILE,
              "%s: header: samples of %lld numbers, but the model takes %lld", tsri_quote(path),
              (long long)f->x.row, (long long)inputs);
    TSR_CHECK(f->unlabelled || (f->x.t.dims == 2 && f->x.row >= 2), TSR_BAD_FILE,
              "%s: header: a single file must be a table [rows, columns] whose last column is the "
              "target; for anything else give a folder with x.npy and y.npy",
              tsri_quote(path));
done:
    return st;
}

/* The folder of .../x.npy when targets or lengths are beside it, else NULL. */
static tsr_status folder_of(char **out, const char *path)
{
    tsr_status st = TSR_OK;
    char *y = NULL, *length = NULL, *folder = NULL;
    const char *slash = strrchr(path, '/');
    *out = NULL;
    if (strcmp(slash ? slash + 1 : path, "x.npy") != 0)
        goto done;
    TSR_TRY(slash ? tsri_strndup(&folder, path, (size_t)(slash - path + 1))
                  : tsri_strdup(&folder, "."));
    TSR_TRY(tsri_path_join(&y, folder, "y.npy"));
    TSR_TRY(tsri_path_join(&length, folder, "length.npy"));
    if (tsri_is_file(y) || tsri_is_file(length)) {
        *out = folder;
        folder = NULL;
    }
done:
    tsri_free(folder);
    tsri_free(y);
    tsri_free(length);
    return st;
}

tsr_status tsri_npy_files_read(tsri_npy_files *f, const char *path, const char *suffix,
                               const tsri_like *like, bool *found)
{
    tsr_status st = TSR_OK;
    char *folder = NULL;
    if (tsri_is_folder(path)) {
        st = read_folder(f, path, suffix, like && like->unlabelled, found);
        goto done;
    }
    TSR_TRY(folder_of(&folder, path));
    if (folder) {
        st = read_folder(f, folder, suffix, like && like->unlabelled, found);
    } else {
        *found = *suffix == '\0';
        if (*found)
            st = read_single(f, path, like);
    }
done:
    tsri_free(folder);
    return st;
}

void tsri_npy_files_fini(tsri_npy_files *f)
{
    tsri_npy_array *all[] = {&f->x, &f->y, &f->length};
    for (int i = 0; i < 3; i++) {
        tsri_free(all[i]->memory);
        tsri_free(all[i]->path);
    }
}
