/* safetensors.c - named tensors in one file: reading.
 *
 * Nothing in the header is believed before it is checked, and nothing is allocated by its word:
 * the header is read whole (its length cannot exceed the file's), scanned once in place, its ranges
 * sorted and laid end to end against the size of the file, and only then the data is read, each
 * tensor to a place aligned for its type.
 */
#include "io/safetensors_header.h"

#include "base/alloc.h"
#include "base/text.h"
#include "io/crc32c.h"
#include "io/file.h"
#include "io/scan.h"
#include "base/utf8.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensors are little-endian in the file");

/* ---- Types and names ---------------------------------------------------------------------- */

static const struct {
    const char *name;
    int64_t bytes;
} dtypes[] = {
#define X(name, bytes) {#name, bytes},
    TSRI_DTYPE_LIST(X)
#undef X
};

enum { DTYPES = sizeof dtypes / sizeof *dtypes };

const char *tsri_dtype_name(tsri_dtype dtype)
{
    return dtypes[dtype].name;
}

int64_t tsri_dtype_bytes(tsri_dtype dtype)
{
    return dtypes[dtype].bytes;
}

bool tsri_dtype_find(tsri_dtype *dtype, const char *name)
{
    for (int i = 0; i < DTYPES; i++) {
        if (strcmp(name, dtypes[i].name) == 0) {
            *dtype = (tsri_dtype)i;
            return true;
        }
    }
    return false;
}

int64_t tsri_tensor_count(const tsri_tensor *tensor)
{
    int64_t count = 1;
    for (int i = 0; i < tensor->dims; i++)
        count *= tensor->shape[i];
    return count;
}

int64_t tsri_tensor_bytes(const tsri_tensor *tensor)
{
    return tsri_tensor_count(tensor) * tsri_dtype_bytes(tensor->dtype);
}

bool tsri_tensor_name_ok(const char *name, size_t n)
{
    if (n == 0 || n > TSRI_TENSOR_NAME_MAX)
        return false;
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)name[i];
        size_t length = tsri_utf8_length(name + i, n - i);
        if (length == 0 || c < 0x20 || c == 0x7f)
            return false;
        i += length;
    }
    return true;
}

/* ---- Looking up ----------------------------------------------------------------------------- */

const char *tsri_tensors_meta(const tsri_tensors *file, const char *key)
{
    for (int64_t i = 0; i < file->metadata_count; i++)
        if (strcmp(file->metadata[i].key, key) == 0)
            return file->metadata[i].value;
    return NULL;
}

const tsri_tensor *tsri_tensors_find(const tsri_tensors *file, const char *name)
{
    int64_t low = 0, high = file->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        const tsri_tensor *t = &file->tensor[file->by_name[middle]];
        int order = strcmp(name, t->name);
        if (order == 0)
            return t;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* ---- Checksums --------------------------------------------------------------------------- */

/* Exactly eight lower-case digits, as we write them; strtoul would take " +1A" too. */
static bool hex8(const char *text, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 8; i++) {
        char c = text[i];
        bool digit = c >= '0' && c <= '9', letter = c >= 'a' && c <= 'f';
        if (!digit && !letter)
            return false;
        *out = *out << 4 | (uint32_t)(digit ? c - '0' : c - 'a' + 10);
    }
    return true;
}

/* Before anything is decoded in place. In valid JSON these bytes, with their quotes, can only be
 * the key itself. *present tells the later check that they were there. */
static tsr_status check_header_crc(const char *header, int64_t n, const char *path, bool *present)
{
    static const char key[] = "\"" TSRI_META_HEADER_CRC "\":\"";
    const char *digits = memmem(header, (size_t)n, key, sizeof key - 1);
    *present = digits != NULL;
    if (!digits)
        return TSR_OK;
    digits += sizeof key - 1;
    int64_t before = digits - header, behind = n - before - 8;
    uint32_t want = 0, crc;
    if (behind < 0 || !hex8(digits, &want))
        return tsri_fail(TSR_BAD_FILE, "%s: the header's checksum is not 8 hexadecimal digits",
                         tsri_quote(path));
    crc = tsri_crc32c(0, header, (size_t)before);
    crc = tsri_crc32c(crc, "00000000", 8);
    crc = tsri_crc32c(crc, digits + 8, (size_t)behind);
    if (crc == want)
        return TSR_OK;
    return tsri_fail(TSR_BAD_FILE,
                     "%s: the header is damaged (CRC32C %08x, should be %08x); take another copy",
                     tsri_quote(path), crc, want);
}

static tsr_status check_one_crc(tsri_scan *s, const tsri_tensors *f, unsigned char *seen)
{
    tsr_status st = TSR_OK;
    char name[TSRI_TENSOR_NAME_MAX + 1], digits[9];
    uint32_t want = 0;
    TSR_TRY(tsri_scan_string_copy(s, name, sizeof name));
    TSR_TRY(tsri_scan_expect(s, ':'));
    TSR_TRY(tsri_scan_string_copy(s, digits, sizeof digits));
    const tsri_tensor *t = tsri_tensors_find(f, name);
    if (!t || seen[t - f->tensor]) {
        st = tsri_scan_fail(s, "a checksum for %s, %s", tsri_quote(name),
                            t ? "twice" : "which is not in the file");
        goto done;
    }
    seen[t - f->tensor] = 1;
    if (!hex8(digits, &want)) {
        st = tsri_scan_fail(s, "the checksum of %s is not 8 hexadecimal digits", tsri_quote(name));
        goto done;
    }
    uint32_t crc = tsri_crc32c(0, t->data, (size_t)tsri_tensor_bytes(t));
    TSR_CHECK(crc == want, TSR_BAD_FILE,
              "%s: tensor %s is damaged (CRC32C %08x, should be %08x); take another copy",
              tsri_quote(s->name), tsri_quote(name), crc, want);
done:
    return st;
}

static tsr_status check_crcs(const tsri_tensors *f, const char *path, bool header_crc)
{
    tsr_status st = TSR_OK;
    unsigned char *seen = NULL;
    bool first = true, more = true;
    int64_t count = 0;
    union {
        const char *from;
        char *to; /* the scanner's copying form leaves the text as it is */
    } text = {tsri_tensors_meta(f, TSRI_META_CRC)};
    TSR_CHECK((text.from != NULL) == header_crc, TSR_BAD_FILE,
              "%s: of the checksums " TSRI_META_CRC " and " TSRI_META_HEADER_CRC
              " one is missing; the header is damaged",
              tsri_quote(path));
    if (!text.from)
        return TSR_OK;
    TSR_TRY(tsri_alloc(&seen, f->count, 1));
    tsri_scan s = {text.to, text.to, text.to + strlen(text.to), path, "checksums,"};
    TSR_TRY(tsri_scan_expect(&s, '{'));
    for (;; count++) {
        TSR_TRY(tsri_scan_more(&s, &first, '}', &more));
        if (!more)
            break;
        TSR_TRY(check_one_crc(&s, f, seen));
    }
    TSR_TRY(tsri_scan_end(&s));
    TSR_CHECK(count == f->count, TSR_BAD_FILE, "%s: %lld tensors have no checksum",
              tsri_quote(path), (long long)(f->count - count));
done:
    tsri_free(seen);
    return st;
}

/* ---- From a file or from memory ------------------------------------------------------------- */

typedef struct source {
    const char *name;
    int64_t size;
    int fd;            /* the file, or */
    const char *bytes; /* the memory; moves on as it is read */
} source;

static tsr_status take(source *from, void *bytes, int64_t n)
{
    tsr_status st = TSR_OK;
    if (from->bytes) {
        memcpy(bytes, from->bytes, (size_t)n);
        from->bytes += n;
        return TSR_OK;
    }
    for (char *next = bytes; n > 0;) {
        int64_t got = 0;
        TSR_TRY(tsri_file_get(&got, from->fd, next, n, from->name));
        TSR_CHECK(got > 0, TSR_BAD_FILE, "%s: became shorter while it was read",
                  tsri_quote(from->name));
        next += got;
        n -= got;
    }
done:
    return st;
}

static tsr_status take_header(source *from, tsri_tensors *f, int64_t *header_size)
{
    tsr_status st = TSR_OK;
    unsigned char length[8];
    uint64_t n = 0;
    TSR_CHECK(from->size >= 8, TSR_BAD_FILE,
              "%s: %lld bytes are too few for a safetensors file; it is cut off",
              tsri_quote(from->name), (long long)from->size);
    TSR_TRY(take(from, length, 8));
    for (int i = 7; i >= 0; i--)
        n = n << 8 | length[i];
    TSR_CHECK(
        n <= TSRI_HEADER_MAX, TSR_BAD_FILE,
        "%s: says its header has %llu bytes, over the limit of 100 MB; not a safetensors file",
        tsri_quote(from->name), (unsigned long long)n);
    TSR_CHECK((int64_t)n <= from->size - 8, TSR_BAD_FILE,
              "%s: says its header has %llu bytes, but %lld follow; the file is cut off",
              tsri_quote(from->name), (unsigned long long)n, (long long)(from->size - 8));
    *header_size = (int64_t)n;
    TSR_TRY(tsri_alloc_raw(&f->header, (int64_t)n + 1, 1));
    TSR_TRY(take(from, f->header, (int64_t)n));
    f->header[n] = '\0';
done:
    return st;
}

static int64_t aligned(int64_t n)
{
    return (n + 7) / 8 * 8;
}

static tsr_status take_data(source *from, tsri_tensors *f)
{
    tsr_status st = TSR_OK;
    int64_t size = 0, at = 0;
    for (int64_t i = 0; i < f->count; i++)
        size += aligned(tsri_tensor_bytes(&f->tensor[i]));
    TSR_TRY(tsri_alloc_raw(&f->data, size, 1));
    for (int64_t i = 0; i < f->count; i++) {
        int64_t n = tsri_tensor_bytes(&f->tensor[i]);
        TSR_TRY(take(from, f->data + at, n));
        f->tensor[i].data = f->data + at;
        at += aligned(n);
    }
done:
    return st;
}

static tsr_status load(tsri_tensors **out, source *from)
{
    tsr_status st = TSR_OK;
    tsri_tensors *f = NULL;
    int64_t n = 0;
    bool header_crc = false;
    TSR_TRY(tsri_alloc(&f, 1, sizeof *f));
    TSR_TRY(take_header(from, f, &n));
    TSR_TRY(check_header_crc(f->header, n, from->name, &header_crc));
    TSR_TRY(tsri_tensors_header(f, n, from->size - 8 - n, from->name));
    TSR_TRY(take_data(from, f));
    TSR_TRY(check_crcs(f, from->name, header_crc));
    *out = f;
    f = NULL;
done:
    tsri_tensors_destroy(f);
    return st;
}

tsr_status tsri_tensors_read(tsri_tensors **out, const char *path)
{
    tsr_status st = TSR_OK;
    source from = {.name = path, .fd = -1};
    *out = NULL;
    TSR_TRY(tsri_file_open(&from.fd, &from.size, path));
    TSR_TRY(load(out, &from));
done:
    if (from.fd >= 0)
        (void)tsri_io.close(from.fd);
    return st;
}

tsr_status tsri_tensors_parse(tsri_tensors **out, const char *bytes, int64_t n, const char *name)
{
    source from = {.name = name, .size = n, .fd = -1, .bytes = bytes};
    *out = NULL;
    return load(out, &from);
}

void tsri_tensors_destroy(tsri_tensors *file)
{
    if (!file)
        return;
    tsri_free(file->tensor);
    tsri_free(file->metadata);
    tsri_free(file->header);
    tsri_free(file->data);
    tsri_free(file->by_name);
    tsri_free(file);
}
