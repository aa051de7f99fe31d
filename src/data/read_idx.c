/* read_idx.c - the IDX files of the MNIST family, plain or compressed.
 *
 *     | 0 0 type dims | dims sizes, 32 bits, big-endian | numbers, big-endian, row-major |
 *
 * A folder holds train-images-idx3-ubyte and train-labels-idx1-ubyte, t10k- for testing. A file
 * FOO-images-idx3-ubyte finds its labels in FOO-labels-idx1-ubyte beside it. The header is read
 * first and its claim is checked before memory is taken for it.
 */
#include "data/reader.h"

#include "base/alloc.h"
#include "data/part.h"
#include "io/stream.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DIMS_MAX = 4 };

typedef enum idx_type {
    IDX_U8 = 0x08,
    IDX_I8 = 0x09,
    IDX_I16 = 0x0B,
    IDX_I32 = 0x0C,
    IDX_F32 = 0x0D,
    IDX_F64 = 0x0E
} idx_type;

typedef struct idx {
    const char *path;
    int type, dims;
    int64_t shape[DIMS_MAX];
    int64_t count;  /* product of shape */
    int64_t row;    /* numbers of a sample */
    uint8_t *bytes; /* count numbers of type, as in the file */
} idx;

static int64_t size_of(int type)
{
    switch (type) {
    case IDX_U8:
    case IDX_I8:
        return 1;
    case IDX_I16:
        return 2;
    case IDX_I32:
    case IDX_F32:
        return 4;
    case IDX_F64:
        return 8;
    }
    return 0;
}

/* ---- One file ----------------------------------------------------------------------------- */

/* Bytes of the stream, taken in whatever pieces it gives. */
typedef struct source {
    tsri_stream *stream;
    const uint8_t *block;
    int64_t left;
} source;

static tsr_status take(source *s, uint8_t *out, int64_t n, int64_t *got)
{
    tsr_status st = TSR_OK;
    *got = 0;
    while (*got < n) {
        if (s->left == 0) {
            const void *block = NULL;
            TSR_TRY(tsri_stream_next(s->stream, &block, &s->left));
            s->block = block;
            if (s->left == 0)
                break;
        }
        int64_t part = s->left < n - *got ? s->left : n - *got;
        memcpy(out + *got, s->block, (size_t)part);
        s->block += part;
        s->left -= part;
        *got += part;
    }
done:
    return st;
}

static tsr_status read_header(idx *f, source *s)
{
    tsr_status st = TSR_OK;
    uint8_t head[4 + 4 * DIMS_MAX];
    int64_t got;
    TSR_TRY(take(s, head, 4, &got));
    TSR_CHECK(got == 4 && head[0] == 0 && head[1] == 0 && size_of(head[2]) > 0, TSR_BAD_FILE,
              "%s: byte 0: not an IDX file (it must begin with 0, 0, a type and the number of "
              "dimensions); check data.format",
              tsri_quote(f->path));
    f->type = head[2];
    f->dims = head[3];
    TSR_CHECK(f->dims >= 1 && f->dims <= DIMS_MAX, TSR_BAD_FILE,
              "%s: byte 3: %d dimensions; an IDX file of samples has 1 to %d", tsri_quote(f->path),
              f->dims, DIMS_MAX);
    TSR_TRY(take(s, head, 4 * f->dims, &got));
    TSR_CHECK(got == 4 * f->dims, TSR_BAD_FILE,
              "%s: byte %lld: the file ends inside its header; fetch it again", tsri_quote(f->path),
              (long long)(4 + got));
    f->count = 1;
    for (int i = 0; i < f->dims; i++) {
        const uint8_t *b = head + 4 * i;
        f->shape[i] = (int64_t)b[0] << 24 | (int64_t)b[1] << 16 | (int64_t)b[2] << 8 | b[3];
        TSR_CHECK(f->shape[i] > 0 && f->shape[i] <= INT64_MAX / 8 / f->count, TSR_BAD_FILE,
                  "%s: byte %d: size %lld of dimension %d cannot be right; the file is damaged",
                  tsri_quote(f->path), 4 + 4 * i, (long long)f->shape[i], i + 1);
        f->count *= f->shape[i];
        f->row = i == 0 ? 1 : f->row * f->shape[i];
    }
done:
    return st;
}

static tsr_status read_content(idx *f, source *s)
{
    tsr_status st = TSR_OK;
    int64_t bytes = f->count * size_of(f->type), got, most = tsri_read_most(f->path);
    int64_t header = 4 + 4 * (int64_t)f->dims;
    TSR_CHECK(bytes <= most, TSR_BAD_FILE,
              "%s: byte 4: the header claims %s of numbers, far more than the file can hold; fetch "
              "it again, or unpack it first if it is right",
              tsri_quote(f->path), tsri_bytes_text((double)bytes));
    TSR_TRY(tsri_alloc_raw(&f->bytes, bytes + 1, 1));
    TSR_TRY(take(s, f->bytes, bytes + 1, &got));
    TSR_CHECK(got >= bytes, TSR_BAD_FILE,
              "%s: byte %lld: the file ends here, %lld bytes too soon; fetch it again",
              tsri_quote(f->path), (long long)(header + got), (long long)(bytes - got));
    TSR_CHECK(got == bytes, TSR_BAD_FILE,
              "%s: byte %lld: there are bytes after the end of the numbers; fetch it again",
              tsri_quote(f->path), (long long)(header + bytes));
done:
    return st;
}

static tsr_status read_file(idx *f, const char *path)
{
    tsr_status st = TSR_OK;
    source s = {0};
    *f = (idx){.path = path};
    TSR_TRY(tsri_stream_open(&s.stream, path, INT64_MAX / 2));
    TSR_TRY(read_header(f, &s));
    TSR_TRY(read_content(f, &s));
done:
    tsri_stream_close(s.stream);
    return st;
}

/* Number k; labels and inputs both fit a double. */
static double number(const idx *f, int64_t k)
{
    int64_t size = size_of(f->type);
    uint64_t bits = 0;
    for (int64_t b = 0; b < size; b++)
        bits = bits << 8 | f->bytes[k * size + b];
    uint32_t word = (uint32_t)bits;
    float single;
    double wide;
    memcpy(&single, &word, sizeof single);
    memcpy(&wide, &bits, sizeof wide);
    switch (f->type) {
    case IDX_U8:
        return (double)(uint8_t)bits;
    case IDX_I8:
        return (double)(int8_t)bits;
    case IDX_I16:
        return (double)(int16_t)bits;
    case IDX_I32:
        return (double)(int32_t)bits;
    case IDX_F32:
        return (double)single;
    default:
        return wide;
    }
}

/* ---- A part: samples and what is wanted of them -------------------------------------------- */

/* Takes the bytes of `x` when they are bytes. */
static tsr_status set_inputs(tsri_part *part, idx *x)
{
    tsr_status st = TSR_OK;
    assert(x->row > 0);
    part->n = x->shape[0];
    if (x->type == IDX_U8) {
        part->bytes = x->bytes;
        x->bytes = NULL;
        goto done;
    }
    TSR_TRY(tsri_alloc_raw(&part->numbers, x->count, sizeof *part->numbers));
    for (int64_t k = 0; k < x->count; k++) {
        part->numbers[k] = (float)number(x, k);
        TSR_CHECK(isfinite(part->numbers[k]), TSR_BAD_FILE,
                  "%s: sample %lld, number %lld is not finite as a float; repair or remove it",
                  tsri_quote(x->path), (long long)(k / x->row + 1), (long long)(k % x->row + 1));
    }
done:
    return st;
}

static tsr_status set_shape(tsr_data *data, const idx *x)
{
    const int64_t *s = x->shape;
    switch (x->dims) {
    case 1:
        return tsri_data_shape(data, 1, 1, 1, x->path);
    case 2:
        return tsri_data_shape(data, s[1], 1, 1, x->path);
    case 3:
        return tsri_data_shape(data, 1, s[1], s[2], x->path);
    default:
        return tsri_data_shape(data, s[1], s[2], s[3], x->path);
    }
}

static tsr_status check_pair(const tsr_data *data, const idx *x, const idx *y, const idx *first)
{
    tsr_status st = TSR_OK;
    assert(x->shape[0] > 0); /* read_header saw to it */
    TSR_CHECK(y->shape[0] == x->shape[0], TSR_BAD_FILE,
              "%s: byte 4: %lld labels, but %s has %lld samples; they must belong together",
              tsri_quote(y->path), (long long)y->shape[0], tsri_quote(x->path),
              (long long)x->shape[0]);
    TSR_CHECK(y->dims <= 2, TSR_BAD_FILE,
              "%s: byte 3: labels of %d dimensions; 1 or 2 are expected", tsri_quote(y->path),
              y->dims);
    TSR_CHECK(x->row == data->dim && x->dims == first->dims &&
                  (x->type == IDX_U8) == (first->type == IDX_U8),
              TSR_BAD_FILE,
              "%s: byte 3: its samples are not of the shape and type of those in %s; training and "
              "test data must agree",
              tsri_quote(x->path), tsri_quote(first->path));
done:
    return st;
}

static tsr_status whole_labels(int64_t **out, const idx *y)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc_raw(out, y->count, sizeof **out));
    for (int64_t k = 0; k < y->count; k++) {
        double v = number(y, k);
        TSR_CHECK(v == floor(v) && fabs(v) < 0x1p53, TSR_BAD_FILE,
                  "%s: label %lld is %g, not a whole number; set data.task to regress",
                  tsri_quote(y->path), (long long)(k + 1), v);
        (*out)[k] = (int64_t)v;
    }
done:
    return st;
}

static tsr_status set_targets(tsri_part *part, const idx *y)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc_raw(&part->target, y->count, sizeof *part->target));
    for (int64_t k = 0; k < y->count; k++)
        part->target[k] = (float)number(y, k);
done:
    return st;
}

static tsr_status set_wanted(tsr_data *data, const idx *y, const idx *y_test, const char *task)
{
    tsr_status st = TSR_OK;
    int64_t *train = NULL, *test = NULL;
    bool real = y->type == IDX_F32 || y->type == IDX_F64 || y->dims == 2;
    assert(y->shape[0] > 0 && (!y_test || y_test->shape[0] > 0)); /* read_header saw to it */
    if (strcmp(task, "auto") != 0)
        real = strcmp(task, "regress") == 0;
    if (data->like)
        real = data->like->classes == 0;
    if (y_test)
        TSR_CHECK(y_test->dims == y->dims && y_test->row == y->row, TSR_BAD_FILE,
                  "%s: byte 3: labels of another shape than in %s", tsri_quote(y_test->path),
                  tsri_quote(y->path));
    if (real) {
        data->targets = y->row;
        TSR_TRY(set_targets(&data->train, y));
        if (y_test)
            TSR_TRY(set_targets(&data->test, y_test));
        goto done;
    }
    TSR_CHECK(y->row == 1, TSR_BAD_FILE,
              "%s: byte 3: several labels per sample; set data.task to regress",
              tsri_quote(y->path));
    TSR_TRY(whole_labels(&train, y));
    if (y_test)
        TSR_TRY(whole_labels(&test, y_test));
    TSR_TRY(tsri_labels_from(data, train, test, false, y->path));
done:
    tsri_free(train);
    tsri_free(test);
    return st;
}

/* ---- Names -------------------------------------------------------------------------------- */

/* The file of the labels that belong to a file of images: the same name with `labels` for
 * `images` and idx1 for idxN. */
static tsr_status labels_of(char **out, const char *images)
{
    tsr_status st = TSR_OK;
    tsri_text t = {0};
    const char *name = strrchr(images, '/');
    name = name ? name + 1 : images;
    const char *at = strstr(name, "images");
    TSR_CHECK(at, TSR_BAD_FILE,
              "%s: cannot tell which file has its labels; name them FOO-images-idx3-ubyte and "
              "FOO-labels-idx1-ubyte",
              tsri_quote(images));
    TSR_TRY(tsri_text_add(&t, "%.*slabels%s", (int)(at - images), images, at + 6));
    char *idx_n = strstr(t.data + (at - images), "idx");
    if (idx_n && idx_n[3] >= '1' && idx_n[3] <= '4')
        idx_n[3] = '1';
    if (!tsri_is_file(t.data) && tsri_ends_with(t.data, ".gz")) { /* only one was compressed */
        t.data[t.length - 3] = '\0';
    } else if (!tsri_is_file(t.data)) {
        TSR_TRY(tsri_text_add(&t, ".gz"));
    }
    TSR_CHECK(tsri_is_file(t.data), TSR_BAD_FILE,
              "%s: its labels are not beside it as %s; put them there", tsri_quote(images),
              tsri_quote(t.data));
    *out = t.data;
    t.data = NULL;
done:
    tsri_text_fini(&t);
    return st;
}

/* *out = the images of `prefix` in a folder, or NULL. */
static tsr_status images_in(char **out, const char *folder, const char *prefix)
{
    tsr_status st = TSR_OK;
    *out = NULL;
    for (int dims = 3; dims >= 2 && !*out; dims = dims == 3 ? 4 : dims == 4 ? 2 : 1)
        for (int dot = 0; dot < 2 && !*out; dot++) {
            char name[64];
            (void)snprintf(name, sizeof name, "%s-images%cidx%d-ubyte", prefix, dot ? '.' : '-',
                           dims);
            TSR_TRY(tsri_find_in(out, folder, name));
        }
done:
    return st;
}

tsr_status tsri_is_idx(bool *is, const char *path)
{
    tsr_status st = TSR_OK;
    char *images = NULL;
    if (tsri_is_folder(path))
        st = images_in(&images, path, "train");
    *is = images || (strstr(path, "-ubyte") && tsri_is_file(path));
    tsri_free(images);
    return st;
}

static tsr_status locate(char **train, char **test, const tsri_read *want)
{
    tsr_status st = TSR_OK;
    if (tsri_is_folder(want->path)) {
        TSR_TRY(images_in(train, want->path, "train"));
        TSR_CHECK(
            *train, TSR_BAD_FILE,
            "%s: there is no train-images-idx3-ubyte (or .gz) in this folder; check data.path",
            tsri_quote(want->path));
        TSR_TRY(images_in(test, want->path, "t10k"));
    } else {
        TSR_TRY(tsri_strdup(train, want->path));
    }
    if (want->test_path) {
        TSRI_FREE(*test);
        if (tsri_is_folder(want->test_path))
            TSR_TRY(images_in(test, want->test_path, "t10k"));
        else
            TSR_TRY(tsri_strdup(test, want->test_path));
        TSR_CHECK(*test, TSR_BAD_FILE,
                  "%s: there is no t10k-images-idx3-ubyte (or .gz) in this folder; check "
                  "data.test_path",
                  tsri_quote(want->test_path));
    }
done:
    return st;
}

tsr_status tsri_read_idx(tsr_data *data, const tsri_read *want)
{
    tsr_status st = TSR_OK;
    char *path[4] = {0}; /* images and labels for training, images and labels for testing */
    idx file[4] = {0};
    TSR_TRY(locate(&path[0], &path[2], want));
    for (int i = 0; i < 4 && path[i]; i += 2) {
        TSR_TRY(labels_of(&path[i + 1], path[i]));
        TSR_TRY(read_file(&file[i], path[i]));
        TSR_TRY(read_file(&file[i + 1], path[i + 1]));
        if (i == 0)
            TSR_TRY(set_shape(data, &file[0]));
        TSR_TRY(check_pair(data, &file[i], &file[i + 1], &file[0]));
        TSR_TRY(set_inputs(i == 0 ? &data->train : &data->test, &file[i]));
    }
    TSR_TRY(set_wanted(data, &file[1], path[2] ? &file[3] : NULL, want->task));
done:
    for (int i = 0; i < 4; i++) {
        tsri_free(path[i]);
        tsri_free(file[i].bytes);
    }
    return st;
}
