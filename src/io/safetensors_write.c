/* safetensors_write.c - named tensors in one file: writing.
 *
 * The header is text made in memory, the data goes to the disk from where it lies. Largest
 * elements first, then by name: so every tensor is aligned in the file, and the same tensors give
 * the same bytes in whatever order they were handed over.
 */
#include "io/safetensors.h"

#include "base/alloc.h"
#include "base/text.h"
#include "io/crc32c.h"
#include "io/file.h"
#include "io/json.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const tsri_tensor *const *)a)->name, (*(const tsri_tensor *const *)b)->name);
}

static int by_alignment(const void *a, const void *b)
{
    const tsri_tensor *x = *(const tsri_tensor *const *)a, *y = *(const tsri_tensor *const *)b;
    int64_t p = tsri_dtype_bytes(x->dtype), q = tsri_dtype_bytes(y->dtype);
    return p != q ? (p < q) - (p > q) : strcmp(x->name, y->name);
}

/* ---- What can be read back ----------------------------------------------------------------- */

static tsr_status check_tensor(const tsri_tensor *t)
{
    int64_t bytes = tsri_dtype_bytes(t->dtype);
    if (!tsri_tensor_name_ok(t->name, strlen(t->name)) || strcmp(t->name, "__metadata__") == 0)
        return tsri_fail(TSR_FAILURE, "a tensor cannot be named \"%s\"", tsri_quote(t->name));
    if (t->dims < 0 || t->dims > TSRI_DIMS_MAX)
        return tsri_fail(TSR_FAILURE, "tensor %s has %d dimensions; %d is the most",
                         tsri_quote(t->name), t->dims, TSRI_DIMS_MAX);
    for (int i = 0; i < t->dims; i++)
        if (t->shape[i] < 0 || __builtin_mul_overflow(bytes, t->shape[i], &bytes))
            return tsri_fail(TSR_FAILURE, "tensor %s has an impossible shape", tsri_quote(t->name));
    return TSR_OK;
}

static bool is_text(const char *text)
{
    for (size_t n = strlen(text), i = 0, length; i < n; i += length) {
        length = tsri_utf8_length(text + i, n - i);
        if (length == 0)
            return false;
    }
    return true;
}

/* The writer computes these itself; a copy of a file's metadata may bring old ones along. */
static bool is_own_key(const char *key)
{
    return strcmp(key, TSRI_META_CRC) == 0 || strcmp(key, TSRI_META_HEADER_CRC) == 0;
}

static tsr_status check_metadata(const tsri_pair *metadata, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        if (!is_text(metadata[i].key) || !is_text(metadata[i].value))
            return tsri_fail(TSR_FAILURE, "the metadata of %s is not UTF-8",
                             tsri_quote(metadata[i].key));
        for (int64_t j = 0; j < i; j++)
            if (strcmp(metadata[i].key, metadata[j].key) == 0)
                return tsri_fail(TSR_FAILURE, "two metadata entries are named %s",
                                 tsri_quote(metadata[i].key));
    }
    return TSR_OK;
}

static tsr_status sort_and_check(const tsri_tensor **sorted, const tsri_tensor *tensors,
                                 int64_t count)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < count; i++) {
        TSR_TRY(check_tensor(&tensors[i]));
        sorted[i] = &tensors[i];
    }
    if (count > 1)
        qsort(sorted, (size_t)count, sizeof *sorted, by_name);
    for (int64_t i = 1; i < count; i++)
        TSR_CHECK(by_name(&sorted[i - 1], &sorted[i]) != 0, TSR_FAILURE, "two tensors are named %s",
                  tsri_quote(sorted[i]->name));
    if (count > 1)
        qsort(sorted, (size_t)count, sizeof *sorted, by_alignment);
done:
    return st;
}

/* ---- The header ---------------------------------------------------------------------------- */

static tsr_status crc_text(tsri_json *w, const tsri_tensor *const *sorted, int64_t count)
{
    tsri_json_open(w, '{');
    for (int64_t i = 0; i < count; i++) {
        char digits[9];
        (void)snprintf(digits, sizeof digits, "%08x",
                       tsri_crc32c(0, sorted[i]->data, (size_t)tsri_tensor_bytes(sorted[i])));
        tsri_json_put_text(w, sorted[i]->name, digits);
    }
    tsri_json_close(w, '}');
    return tsri_json_end(w);
}

/* *hole = where the header's own checksum goes. */
static tsr_status add_metadata(tsri_json *w, int64_t *hole, const char *crcs,
                               const tsri_pair *metadata, int64_t count)
{
    tsri_json_key(w, "__metadata__");
    tsri_json_open(w, '{');
    for (int64_t i = 0; i < count; i++) {
        if (is_own_key(metadata[i].key))
            continue;
        tsri_json_put_text(w, metadata[i].key, metadata[i].value);
    }
    tsri_json_put_text(w, TSRI_META_CRC, crcs);
    tsri_json_key(w, TSRI_META_HEADER_CRC);
    *hole = w->text.length + 1; /* after the quote */
    tsri_json_text(w, "00000000");
    tsri_json_close(w, '}');
    return tsri_json_end(w);
}

static void add_tensor(tsri_json *w, const tsri_tensor *t, int64_t *at)
{
    tsri_json_key(w, t->name);
    tsri_json_open(w, '{');
    tsri_json_put_text(w, "dtype", tsri_dtype_name(t->dtype));
    tsri_json_key(w, "shape");
    tsri_json_open(w, '[');
    for (int i = 0; i < t->dims; i++)
        tsri_json_int(w, t->shape[i]);
    tsri_json_close(w, ']');
    tsri_json_key(w, "data_offsets");
    tsri_json_open(w, '[');
    tsri_json_int(w, *at);
    *at += tsri_tensor_bytes(t);
    tsri_json_int(w, *at);
    tsri_json_close(w, ']');
    tsri_json_close(w, '}');
}

static tsr_status make_header(tsri_json *w, const tsri_tensor *const *sorted, int64_t count,
                              const tsri_pair *metadata, int64_t metadata_count)
{
    tsr_status st = TSR_OK;
    tsri_json crcs = {0};
    int64_t hole = 0, at = 0;
    char digits[9];
    TSR_TRY(crc_text(&crcs, sorted, count));
    tsri_json_open(w, '{');
    TSR_TRY(add_metadata(w, &hole, crcs.text.data, metadata, metadata_count));
    for (int64_t i = 0; i < count; i++)
        add_tensor(w, sorted[i], &at);
    tsri_json_close(w, '}');
    TSR_TRY(tsri_json_end(w));
    while (w->text.length % 8 != 0)
        TSR_TRY(tsri_text_add_bytes(&w->text, " ", 1));
    TSR_CHECK(w->text.length <= TSRI_HEADER_MAX, TSR_FAILURE,
              "a safetensors header of %s; 100 MB is the most",
              tsri_bytes_text((double)w->text.length));
    (void)snprintf(digits, sizeof digits, "%08x",
                   tsri_crc32c(0, w->text.data, (size_t)w->text.length));
    memcpy(w->text.data + hole, digits, 8);
done:
    tsri_json_fini(&crcs);
    return st;
}

/* ---- The file ------------------------------------------------------------------------------ */

static tsr_status gather(tsri_sink *to, const tsri_piece *pieces, int64_t count)
{
    tsr_status st = TSR_OK;
    int64_t at = 0;
    to->n = 0;
    for (int64_t i = 0; i < count; i++)
        to->n += pieces[i].n;
    TSR_TRY(tsri_alloc_raw(&to->bytes, to->n, 1));
    for (int64_t i = 0; i < count; at += pieces[i].n, i++)
        if (pieces[i].n > 0)
            memcpy(to->bytes + at, pieces[i].bytes, (size_t)pieces[i].n);
done:
    return st;
}

tsr_status tsri_tensors_put(tsri_sink *to, const tsri_tensor *tensors, int64_t count,
                            const tsri_pair *metadata, int64_t metadata_count)
{
    tsr_status st = TSR_OK;
    const tsri_tensor **sorted = NULL;
    tsri_piece *pieces = NULL;
    tsri_json header = {0};
    unsigned char length[8];
    TSR_CHECK(count <= TSRI_TENSORS_MAX && metadata_count <= TSRI_METADATA_MAX - 2, TSR_FAILURE,
              "%s: too many tensors or metadata entries",
              tsri_quote(to->path ? to->path : "memory"));
    TSR_TRY(tsri_alloc(&sorted, count, sizeof *sorted));
    TSR_TRY(sort_and_check(sorted, tensors, count));
    TSR_TRY(check_metadata(metadata, metadata_count));
    TSR_TRY(make_header(&header, sorted, count, metadata, metadata_count));
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)((uint64_t)header.text.length >> (8 * i));
    TSR_TRY(tsri_alloc(&pieces, count + 2, sizeof *pieces));
    pieces[0] = (tsri_piece){length, 8};
    pieces[1] = (tsri_piece){header.text.data, header.text.length};
    for (int64_t i = 0; i < count; i++)
        pieces[i + 2] = (tsri_piece){sorted[i]->data, tsri_tensor_bytes(sorted[i])};
    TSR_TRY(to->path ? tsri_file_write(to->path, pieces, count + 2)
                     : gather(to, pieces, count + 2));
done:
    tsri_free(sorted);
    tsri_free(pieces);
    tsri_json_fini(&header);
    return st;
}

tsr_status tsri_tensors_write(const char *path, const tsri_tensor *tensors, int64_t count,
                              const tsri_pair *metadata, int64_t metadata_count)
{
    return tsri_tensors_put(&(tsri_sink){.path = path}, tensors, count, metadata, metadata_count);
}
