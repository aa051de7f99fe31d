/* stream.c - the decompressed content of a file, block by block.
 *
 *     file -> [ nothing | zlib for gzip | libarchive's filters for xz, bzip2, zstd ] -> blocks
 *
 * gzip goes through zlib itself because libarchive (3.6) skips gzip's trailer: it would hand out
 * damaged data as good. The filters are named one by one: libarchive's "all" would include some
 * that start programs.
 */
#include "io/stream.h"

#include "base/alloc.h"
#include "base/text.h"
#include "io/file.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>
#include <zlib.h>

enum { BLOCK = 1 << 17, MAGIC = 10, GZIP_LEAST = 18 };

typedef enum packing { PLAIN, GZIP, FILTERED } packing;

struct tsri_stream {
    const char *path;
    int fd;
    int64_t file_size, most, given;
    packing kind;
    bool ended;
    unsigned char *in; /* [BLOCK] bytes of the file */
    int64_t in_used;   /* how many of them are waiting; PLAIN and FILTERED take all at once */
    /* GZIP */
    unsigned char *out; /* [BLOCK] */
    z_stream z;
    bool z_open, member_ended;
    int64_t hint;
    /* FILTERED */
    struct archive *filter;
    tsr_status callback_status; /* what our own code said inside a libarchive callback */
};

/* ---- The file's own bytes ----------------------------------------------------------------- */

static tsr_status refill(tsri_stream *s)
{
    return tsri_file_get(&s->in_used, s->fd, s->in, BLOCK, s->path);
}

/* A short first read is possible; the magic needs up to ten bytes. */
static tsr_status first_bytes(tsri_stream *s)
{
    tsr_status st = TSR_OK;
    int64_t got = 1;
    while (s->in_used < MAGIC && got > 0) {
        TSR_TRY(tsri_file_get(&got, s->fd, s->in + s->in_used, BLOCK - s->in_used, s->path));
        s->in_used += got;
    }
done:
    return st;
}

static bool begins(const tsri_stream *s, const char *magic, size_t n)
{
    return s->in_used >= (int64_t)n && memcmp(s->in, magic, n) == 0;
}

static bool is_bzip2(const tsri_stream *s)
{
    return s->in_used >= 10 && memcmp(s->in, "BZh", 3) == 0 && s->in[3] >= '1' && s->in[3] <= '9' &&
           (memcmp(s->in + 4, "1AY&SY", 6) == 0 || memcmp(s->in + 4, "\x17rE8P\x90", 6) == 0);
}

static packing packing_of(const tsri_stream *s)
{
    if (begins(s, "\x1f\x8b", 2))
        return GZIP;
    if (begins(s,
               "\xFD"
               "7zXZ",
               6) || /* with its NUL */
        begins(s, "\x28\xB5\x2F\xFD", 4) ||
        is_bzip2(s))
        return FILTERED;
    return PLAIN;
}

/* A compressed file cut down to its first bytes must not pass for a plain one. */
static tsr_status check_name(const tsri_stream *s)
{
    static const char *const ending[] = {".gz", ".tgz", ".xz", ".txz", ".bz2", ".zst"};
    size_t n = strlen(s->path);
    for (size_t i = 0; s->kind == PLAIN && i < sizeof ending / sizeof *ending; i++) {
        size_t m = strlen(ending[i]);
        if (n > m && strcmp(s->path + n - m, ending[i]) == 0)
            return tsri_fail(TSR_BAD_FILE,
                             "%s: named %s but not compressed so; it is cut off or damaged, or "
                             "unpacked already (then rename it)",
                             tsri_quote(s->path), ending[i]);
    }
    return TSR_OK;
}

/* ---- gzip --------------------------------------------------------------------------------- */

/* The last four bytes of a gzip file say how large it gets (modulo 2^32). Deflate cannot gain more
 * than a factor of 1032, so a lie costs little. */
static tsr_status gzip_hint(tsri_stream *s)
{
    tsr_status st = TSR_OK;
    unsigned char t[4];
    int64_t got = 0;
    off_t back = tsri_io.lseek(s->fd, 0, SEEK_CUR);
    if (back < 0 || s->file_size < GZIP_LEAST || tsri_io.lseek(s->fd, -4, SEEK_END) < 0)
        return TSR_OK;
    TSR_TRY(tsri_file_get(&got, s->fd, t, 4, s->path));
    int64_t claim =
        got == 4 ? (int64_t)t[0] | (int64_t)t[1] << 8 | (int64_t)t[2] << 16 | (int64_t)t[3] << 24
                 : 0;
    s->hint = claim / 1032 <= s->file_size ? claim : 0;
    TSR_CHECK(tsri_io.lseek(s->fd, back, SEEK_SET) >= 0, TSR_BAD_FILE, "%s: cannot read: %s",
              tsri_quote(s->path), strerror(errno));
done:
    return st;
}

static void *z_alloc(void *context, unsigned int count, unsigned int size)
{
    void *memory = NULL;
    (void)context;
    return tsri_alloc_raw(&memory, (int64_t)count, size) == TSR_OK ? memory : NULL;
}

static void z_free(void *context, void *memory)
{
    (void)context;
    tsri_free(memory);
}

static tsr_status gzip_begin(tsri_stream *s)
{
    tsr_status st = TSR_OK;
    TSR_TRY(gzip_hint(s));
    TSR_TRY(tsri_alloc_raw(&s->out, BLOCK, 1));
    s->z.zalloc = z_alloc;
    s->z.zfree = z_free;
    s->z.next_in = s->in;
    s->z.avail_in = (unsigned int)s->in_used;
    TSR_CHECK(inflateInit2(&s->z, 16 + MAX_WBITS) == Z_OK, TSR_RESOURCES,
              "%s: out of memory for decompression", tsri_quote(s->path));
    s->z_open = true;
done:
    return st;
}

/* *more = whether input waits, after reading some if none did. */
static tsr_status gzip_feed(tsri_stream *s, bool *more)
{
    tsr_status st = TSR_OK;
    if (s->z.avail_in == 0) {
        TSR_TRY(refill(s));
        s->z.next_in = s->in;
        s->z.avail_in = (unsigned int)s->in_used;
    }
    *more = s->z.avail_in > 0;
done:
    return st;
}

/* Behind a member: the end, zeros up to it (tapes and block devices pad so), or another member. */
static tsr_status gzip_between(tsri_stream *s)
{
    tsr_status st = TSR_OK;
    bool more = true, zeros = false;
    for (;;) {
        TSR_TRY(gzip_feed(s, &more));
        if (!more) {
            s->ended = true;
            goto done;
        }
        if (*s->z.next_in != 0)
            break;
        zeros = true;
        s->z.next_in++;
        s->z.avail_in--;
    }
    TSR_CHECK(!zeros && *s->z.next_in == 0x1f, TSR_BAD_FILE,
              "%s: bytes after the end of the compressed data; the file is damaged",
              tsri_quote(s->path));
    (void)inflateReset(&s->z);
    s->member_ended = false;
done:
    return st;
}

static tsr_status gzip_next(tsri_stream *s, const void **block, int64_t *n)
{
    tsr_status st = TSR_OK;
    s->z.next_out = s->out;
    s->z.avail_out = BLOCK;
    while (s->z.avail_out == BLOCK && !s->ended) {
        bool more = true;
        if (s->member_ended) {
            TSR_TRY(gzip_between(s));
            continue;
        }
        TSR_TRY(gzip_feed(s, &more));
        TSR_CHECK(more, TSR_BAD_FILE,
                  "%s: the compressed data is cut off at byte %lld; fetch the file again",
                  tsri_quote(s->path), (long long)s->file_size);
        int rc = inflate(&s->z, Z_NO_FLUSH);
        TSR_CHECK(rc != Z_MEM_ERROR, TSR_RESOURCES, "%s: out of memory for decompression",
                  tsri_quote(s->path));
        TSR_CHECK(rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR, TSR_BAD_FILE,
                  "%s: the compressed data is damaged (%s); fetch the file again",
                  tsri_quote(s->path), s->z.msg ? s->z.msg : "gzip");
        s->member_ended = rc == Z_STREAM_END;
    }
    *block = s->out;
    *n = BLOCK - (int64_t)s->z.avail_out;
done:
    return st;
}

/* ---- xz, bzip2, zstd ---------------------------------------------------------------------- */

static tsr_status filter_failed(const tsri_stream *s)
{
    if (s->callback_status != TSR_OK)
        return s->callback_status;
    const char *why = archive_error_string(s->filter);
    return tsri_fail(TSR_BAD_FILE,
                     "%s: the compressed data is damaged or cut off (%s); fetch the file again",
                     tsri_quote(s->path), why ? tsri_quote(why) : "no reason given");
}

static la_ssize_t filter_read(struct archive *a, void *context, const void **block)
{
    tsri_stream *s = context;
    (void)a;
    if (s->in_used == 0) {
        s->callback_status = refill(s);
        if (s->callback_status != TSR_OK)
            return -1;
    }
    la_ssize_t n = (la_ssize_t)s->in_used;
    s->in_used = 0;
    *block = s->in;
    return n;
}

static tsr_status filter_begin(tsri_stream *s)
{
    tsr_status st = TSR_OK;
    struct archive_entry *entry;
    s->filter = archive_read_new();
    TSR_CHECK(s->filter, TSR_RESOURCES, "%s: out of memory for decompression", tsri_quote(s->path));
    TSR_CHECK(archive_read_support_filter_xz(s->filter) == ARCHIVE_OK &&
                  archive_read_support_filter_bzip2(s->filter) == ARCHIVE_OK &&
                  archive_read_support_filter_zstd(s->filter) == ARCHIVE_OK,
              TSR_FAILURE, "%s: this libarchive lacks xz, bzip2 or zstd", tsri_quote(s->path));
    (void)archive_read_support_format_raw(s->filter);
    (void)archive_read_support_format_empty(s->filter);
    int rc = archive_read_open2(s->filter, s, NULL, filter_read, NULL, NULL);
    if (rc == ARCHIVE_OK)
        rc = archive_read_next_header(s->filter, &entry);
    /* A file cut off inside its header is no longer recognised, and would pass as it is. */
    TSR_CHECK(rc < 0 || archive_filter_code(s->filter, 0) != ARCHIVE_FILTER_NONE, TSR_BAD_FILE,
              "%s: the compressed data is cut off; fetch the file again", tsri_quote(s->path));
    if (rc == ARCHIVE_EOF)
        s->ended = true; /* compressed nothing */
    else if (rc != ARCHIVE_OK)
        st = filter_failed(s);
done:
    return st;
}

static tsr_status filter_next(tsri_stream *s, const void **block, int64_t *n)
{
    size_t size = 0;
    la_int64_t offset;
    int rc = ARCHIVE_OK;
    *n = 0;
    while (size == 0 && rc == ARCHIVE_OK)
        rc = archive_read_data_block(s->filter, block, &size, &offset);
    if (rc != ARCHIVE_OK && rc != ARCHIVE_EOF)
        return filter_failed(s);
    s->ended = rc == ARCHIVE_EOF;
    *n = (int64_t)size;
    return TSR_OK;
}

/* ---- The stream --------------------------------------------------------------------------- */

tsr_status tsri_stream_open(tsri_stream **out, const char *path, int64_t most)
{
    tsr_status st = TSR_OK;
    tsri_stream *s = NULL;
    *out = NULL;
    TSR_TRY(tsri_alloc(&s, 1, sizeof *s));
    s->fd = -1;
    s->path = path;
    s->most = most;
    TSR_TRY(tsri_alloc_raw(&s->in, BLOCK, 1));
    TSR_TRY(tsri_file_open(&s->fd, &s->file_size, path));
    TSR_TRY(first_bytes(s));
    s->kind = packing_of(s);
    TSR_TRY(check_name(s));
    if (s->kind == GZIP)
        TSR_TRY(gzip_begin(s));
    else if (s->kind == FILTERED)
        TSR_TRY(filter_begin(s));
    *out = s;
    s = NULL;
done:
    tsri_stream_close(s);
    return st;
}

static tsr_status plain_next(tsri_stream *s, const void **block, int64_t *n)
{
    tsr_status st = TSR_OK;
    if (s->in_used == 0)
        TSR_TRY(refill(s));
    *block = s->in;
    *n = s->in_used;
    s->in_used = 0;
done:
    return st;
}

tsr_status tsri_stream_next(tsri_stream *s, const void **block, int64_t *n)
{
    tsr_status st = TSR_OK;
    *block = NULL;
    *n = 0;
    if (s->ended)
        return TSR_OK;
    if (s->kind == GZIP)
        TSR_TRY(gzip_next(s, block, n));
    else if (s->kind == FILTERED)
        TSR_TRY(filter_next(s, block, n));
    else
        TSR_TRY(plain_next(s, block, n));
    s->given += *n;
    TSR_CHECK(s->given <= s->most, TSR_BAD_FILE,
              "%s: holds more than %s, the most that is accepted here; if that is right and it is "
              "compressed, unpack it first",
              tsri_quote(s->path), tsri_bytes_text((double)s->most));
done:
    return st;
}

bool tsri_stream_plain(const tsri_stream *s)
{
    return s->kind == PLAIN;
}

tsr_status tsri_stream_seek(tsri_stream *s, int64_t *where, int64_t offset, int whence)
{
    off_t at = tsri_io.lseek(s->fd, offset, whence);
    if (at < 0)
        return tsri_fail(TSR_BAD_FILE, "%s: cannot read: %s", tsri_quote(s->path), strerror(errno));
    s->in_used = 0;
    s->given = 0; /* some bytes are read twice; a caller that seeks does its own counting */
    *where = at;
    return TSR_OK;
}

int64_t tsri_stream_hint(const tsri_stream *s)
{
    int64_t hint = s->kind == PLAIN ? s->file_size : s->kind == GZIP ? s->hint : 0;
    return hint < s->most ? hint : s->most;
}

void tsri_stream_close(tsri_stream *s)
{
    if (!s)
        return;
    if (s->z_open)
        (void)inflateEnd(&s->z);
    if (s->filter)
        (void)archive_read_free(s->filter);
    if (s->fd >= 0)
        (void)tsri_io.close(s->fd);
    tsri_free(s->in);
    tsri_free(s->out);
    tsri_free(s);
}
