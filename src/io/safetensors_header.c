/* safetensors_header.c - the header of a safetensors file: scanned, sorted, checked.
 *
 * One pass over the text, decoding in place; then the ranges, sorted, must lie end to end over
 * exactly the data that the file has. The reference reader accepts duplicate names and white space
 * in front; this one does not.
 */
#include "io/safetensors_header.h"

#include "base/alloc.h"
#include "base/text.h"
#include "io/scan.h"

#include <stdlib.h>
#include <string.h>

/* ---- One tensor's entry ------------------------------------------------------------------- */

static tsr_status read_dtype(tsri_scan *s, tsri_tensor *t)
{
    char name[32];
    tsr_status st = tsri_scan_string_copy(s, name, sizeof name);
    if (st != TSR_OK)
        return st;
    if (tsri_dtype_find(&t->dtype, name))
        return TSR_OK;
    return tsri_scan_fail(s, "tensor %s has the unknown dtype %s", tsri_quote(t->name),
                          tsri_quote(name));
}

static tsr_status read_shape(tsri_scan *s, tsri_tensor *t)
{
    tsr_status st = TSR_OK;
    bool first = true, more = true;
    TSR_TRY(tsri_scan_expect(s, '['));
    for (;;) {
        TSR_TRY(tsri_scan_more(s, &first, ']', &more));
        if (!more)
            break;
        if (t->dims == TSRI_DIMS_MAX) {
            st = tsri_scan_fail(s, "tensor %s has more than %d dimensions", tsri_quote(t->name),
                                TSRI_DIMS_MAX);
            goto done;
        }
        TSR_TRY(tsri_scan_count(s, &t->shape[t->dims]));
        t->dims++;
    }
done:
    return st;
}

static tsr_status read_offsets(tsri_scan *s, int64_t range[2])
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_scan_expect(s, '['));
    TSR_TRY(tsri_scan_count(s, &range[0]));
    TSR_TRY(tsri_scan_expect(s, ','));
    TSR_TRY(tsri_scan_count(s, &range[1]));
    TSR_TRY(tsri_scan_expect(s, ']'));
done:
    return st;
}

/* shape x dtype must be exactly the range, and the range must lie in the data. */
static tsr_status check_range(tsri_scan *s, const tsri_tensor *t, const int64_t range[2],
                              int64_t data_size)
{
    int64_t bytes = tsri_dtype_bytes(t->dtype);
    for (int i = 0; i < t->dims; i++)
        if (__builtin_mul_overflow(bytes, t->shape[i], &bytes))
            return tsri_scan_fail(s, "the shape of tensor %s overflows", tsri_quote(t->name));
    if (range[0] > range[1])
        return tsri_scan_fail(s, "tensor %s begins at %lld, after its end %lld",
                              tsri_quote(t->name), (long long)range[0], (long long)range[1]);
    if (range[1] > data_size)
        return tsri_scan_fail(
            s, "tensor %s ends at byte %lld of the data, which has %lld; the file is cut off",
            tsri_quote(t->name), (long long)range[1], (long long)data_size);
    if (range[1] - range[0] != bytes)
        return tsri_scan_fail(s, "tensor %s needs %lld bytes and its range has %lld",
                              tsri_quote(t->name), (long long)bytes,
                              (long long)(range[1] - range[0]));
    return TSR_OK;
}

/* Until the data is read, `data` holds where it begins. */
static int64_t begin_of(const tsri_tensor *t)
{
    return (int64_t)(uintptr_t)t->data;
}

static tsr_status read_tensor(tsri_scan *s, tsri_tensor *t, int64_t data_size)
{
    tsr_status st = TSR_OK;
    static const char *const key[] = {"dtype", "shape", "data_offsets"};
    bool seen[3] = {false, false, false}, first = true, more = true;
    int64_t range[2] = {0, 0};
    char text[32];
    TSR_TRY(tsri_scan_expect(s, '{'));
    for (;;) {
        int k = 0;
        TSR_TRY(tsri_scan_more(s, &first, '}', &more));
        if (!more)
            break;
        TSR_TRY(tsri_scan_string_copy(s, text, sizeof text));
        while (k < 3 && strcmp(text, key[k]) != 0)
            k++;
        if (k == 3 || seen[k]) {
            st = tsri_scan_fail(s, "tensor %s has the %s key %s", tsri_quote(t->name),
                                k == 3 ? "unknown" : "duplicate", tsri_quote(text));
            goto done;
        }
        seen[k] = true;
        TSR_TRY(tsri_scan_expect(s, ':'));
        TSR_TRY(k == 0 ? read_dtype(s, t) : k == 1 ? read_shape(s, t) : read_offsets(s, range));
    }
    for (int k = 0; k < 3; k++) {
        if (!seen[k]) {
            st = tsri_scan_fail(s, "tensor %s has no %s", tsri_quote(t->name), key[k]);
            goto done;
        }
    }
    TSR_TRY(check_range(s, t, range, data_size));
    t->data = (const void *)(uintptr_t)range[0];
done:
    return st;
}

/* ---- Metadata ----------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
    return strcmp((*(const tsri_pair *const *)a)->key, (*(const tsri_pair *const *)b)->key);
}

static tsr_status check_keys(const tsri_scan *s, const tsri_tensors *f)
{
    tsr_status st = TSR_OK;
    const tsri_pair **sorted = NULL;
    TSR_TRY(tsri_alloc(&sorted, f->metadata_count, sizeof *sorted));
    for (int64_t i = 0; i < f->metadata_count; i++)
        sorted[i] = &f->metadata[i];
    if (f->metadata_count > 1)
        qsort(sorted, (size_t)f->metadata_count, sizeof *sorted, by_key);
    for (int64_t i = 1; i < f->metadata_count; i++) {
        if (by_key(&sorted[i - 1], &sorted[i]) == 0) {
            st = tsri_scan_fail(s, "duplicate metadata key %s", tsri_quote(sorted[i]->key));
            goto done;
        }
    }
done:
    tsri_free(sorted);
    return st;
}

static tsr_status read_metadata(tsri_scan *s, tsri_tensors *f)
{
    tsr_status st = TSR_OK;
    bool first = true, more = true;
    int64_t capacity = 0;
    size_t n;
    char *key, *value;
    if (f->metadata)
        return tsri_scan_fail(s, "duplicate __metadata__");
    TSR_TRY(tsri_scan_expect(s, '{'));
    TSR_TRY(tsri_reserve(&f->metadata, &capacity, 0, sizeof *f->metadata));
    for (;;) {
        TSR_TRY(tsri_scan_more(s, &first, '}', &more));
        if (!more)
            break;
        if (f->metadata_count == TSRI_METADATA_MAX) {
            st = tsri_scan_fail(s, "more than %d metadata entries", TSRI_METADATA_MAX);
            goto done;
        }
        TSR_TRY(tsri_scan_string(s, &key, &n));
        TSR_TRY(tsri_scan_expect(s, ':'));
        if (tsri_scan_peek(s) != '"') {
            st = tsri_scan_fail(s, "the metadata value of %s is not a string", tsri_quote(key));
            goto done;
        }
        TSR_TRY(tsri_scan_string(s, &value, &n));
        TSR_TRY(tsri_reserve(&f->metadata, &capacity, f->metadata_count, sizeof *f->metadata));
        f->metadata[f->metadata_count++] = (tsri_pair){key, value};
    }
    TSR_TRY(check_keys(s, f));
done:
    return st;
}

/* ---- The header --------------------------------------------------------------------------- */

/* The shortest entry: "a":{"dtype":"U8","shape":[],"data_offsets":[0,0]} */
enum { ENTRY_LEAST = 49 };

/* As many tensors as the header can hold: each has one opening brace. */
static int64_t tensors_at_most(const tsri_scan *s)
{
    int64_t braces = 0, by_size = (s->end - s->start) / ENTRY_LEAST + 1;
    for (const char *p = s->start; p < s->end; p++)
        braces += *p == '{';
    int64_t most = braces < by_size ? braces : by_size;
    return most < TSRI_TENSORS_MAX ? most : TSRI_TENSORS_MAX;
}

static tsr_status read_header(tsri_scan *s, tsri_tensors *f, int64_t data_size)
{
    tsr_status st = TSR_OK;
    bool first = true, more = true;
    char *name;
    size_t n;
    int64_t most = tensors_at_most(s);
    TSR_TRY(tsri_alloc(&f->tensor, most, sizeof *f->tensor));
    if (s->at == s->end || *s->at != '{') {
        st = tsri_scan_fail(s, "a header must begin with '{'; not a safetensors file");
        goto done;
    }
    s->at++;
    for (;;) {
        TSR_TRY(tsri_scan_more(s, &first, '}', &more));
        if (!more)
            break;
        TSR_TRY(tsri_scan_string(s, &name, &n));
        TSR_TRY(tsri_scan_expect(s, ':'));
        if (strcmp(name, "__metadata__") == 0) {
            TSR_TRY(read_metadata(s, f));
            continue;
        }
        if (!tsri_tensor_name_ok(name, n)) {
            st = tsri_scan_fail(s,
                                "a tensor's name must have 1 to %d bytes and no control "
                                "characters; found \"%s\" (%zu bytes)",
                                TSRI_TENSOR_NAME_MAX, tsri_printable(name, n), n);
            goto done;
        }
        if (f->count == most) {
            st = tsri_scan_fail(s, "more than %d tensors", TSRI_TENSORS_MAX);
            goto done;
        }
        f->tensor[f->count].name = name;
        TSR_TRY(read_tensor(s, &f->tensor[f->count], data_size));
        f->count++;
    }
    TSR_TRY(tsri_scan_end(s));
done:
    return st;
}

/* ---- Order, duplicates, holes -------------------------------------------------------------- */

/* By place; an empty tensor comes before the one that begins where it stands. */
static int by_place(const void *a, const void *b)
{
    const tsri_tensor *x = a, *y = b;
    int64_t p = begin_of(x), q = begin_of(y);
    if (p == q) {
        p = tsri_tensor_bytes(x);
        q = tsri_tensor_bytes(y);
    }
    return p != q ? (p > q) - (p < q) : strcmp(x->name, y->name);
}

static void sort_by_place(tsri_tensors *f)
{
    for (int64_t i = 1; i < f->count; i++) {
        if (by_place(&f->tensor[i - 1], &f->tensor[i]) > 0) { /* most files are in order */
            qsort(f->tensor, (size_t)f->count, sizeof *f->tensor, by_place);
            return;
        }
    }
}

static int by_name(const void *a, const void *b, void *context)
{
    const tsri_tensor *t = context;
    return strcmp(t[*(const int32_t *)a].name, t[*(const int32_t *)b].name);
}

tsr_status tsri_tensors_sort_names(tsri_tensors *f, const char *path)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc(&f->by_name, f->count, sizeof *f->by_name));
    for (int64_t i = 0; i < f->count; i++)
        f->by_name[i] = (int32_t)i;
    if (f->count > 1)
        qsort_r(f->by_name, (size_t)f->count, sizeof *f->by_name, by_name, f->tensor);
    for (int64_t i = 1; i < f->count; i++)
        TSR_CHECK(by_name(&f->by_name[i - 1], &f->by_name[i], f->tensor) != 0, TSR_BAD_FILE,
                  "%s: two tensors are named %s", tsri_quote(path),
                  tsri_quote(f->tensor[f->by_name[i]].name));
done:
    return st;
}

/* End to end from 0 to the end of the file. */
static tsr_status check_cover(const tsri_tensors *f, int64_t data_size, const char *path)
{
    int64_t at = 0;
    for (int64_t i = 0; i < f->count; i++) {
        const tsri_tensor *t = &f->tensor[i];
        if (begin_of(t) != at)
            return tsri_fail(TSR_BAD_FILE,
                             "%s: %s before tensor %s (data byte %lld, expected %lld)",
                             tsri_quote(path), begin_of(t) > at ? "a hole" : "an overlap",
                             tsri_quote(t->name), (long long)begin_of(t), (long long)at);
        at += tsri_tensor_bytes(t);
    }
    if (at != data_size)
        return tsri_fail(TSR_BAD_FILE, "%s: %lld bytes after the last tensor belong to none",
                         tsri_quote(path), (long long)(data_size - at));
    return TSR_OK;
}

tsr_status tsri_tensors_header(tsri_tensors *f, int64_t n, int64_t data_size, const char *path)
{
    tsr_status st = TSR_OK;
    tsri_scan s = {f->header, f->header, f->header + n, path, "header"};
    TSR_TRY(read_header(&s, f, data_size));
    sort_by_place(f);
    TSR_TRY(tsri_tensors_sort_names(f, path));
    TSR_TRY(check_cover(f, data_size, path));
done:
    return st;
}
