/* archive.c - compressed files and archives: libarchive's formats over our own stream.
 *
 * libarchive stops at an archive's end mark, before the last checksums of the compression around
 * it; so the stream is read to its end afterwards, and damage there is found too. A zip has its
 * directory at the end and a checksum per member: it is read by seeking in the plain file.
 */
#include "io/archive.h"

#include "base/alloc.h"
#include "base/text.h"
#include "io/stream.h"

#include <archive.h>
#include <archive_entry.h>
#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- A growing block of bytes -------------------------------------------------------------- */

typedef struct content {
    char *bytes;
    int64_t used, capacity;
} content;

/* Room for n more and a NUL. Doubling, because sizes in headers are only claims. */
static tsr_status content_room(content *c, int64_t n)
{
    int64_t need = c->used + n + 1;
    if (need <= c->capacity)
        return TSR_OK;
    int64_t capacity = c->capacity * 2 > need ? c->capacity * 2 : need;
    tsr_status st = tsri_realloc(&c->bytes, capacity, 1);
    if (st == TSR_OK)
        c->capacity = capacity;
    return st;
}

static tsr_status content_add(content *c, const void *bytes, int64_t n)
{
    tsr_status st = content_room(c, n);
    if (st == TSR_OK) {
        assert(c->bytes && "room was made");
        memcpy(c->bytes + c->used, bytes, (size_t)n);
        c->used += n;
        c->bytes[c->used] = '\0';
    }
    return st;
}

tsr_status tsri_archive_read_file(char **bytes, int64_t *n, const char *path, int64_t most)
{
    tsr_status st = TSR_OK;
    tsri_stream *stream = NULL;
    content c = {0};
    const void *block;
    int64_t size;
    *bytes = NULL;
    *n = 0;
    TSR_TRY(tsri_stream_open(&stream, path, most));
    TSR_TRY(content_room(&c, tsri_stream_hint(stream)));
    do {
        TSR_TRY(tsri_stream_next(stream, &block, &size));
        TSR_TRY(content_add(&c, size ? block : "", size));
    } while (size > 0);
    *bytes = c.bytes;
    *n = c.used;
    c.bytes = NULL;
done:
    tsri_free(c.bytes);
    tsri_stream_close(stream);
    return st;
}

/* ---- Members of an archive ---------------------------------------------------------------- */

typedef struct walk {
    struct archive *archive;
    tsri_stream *stream;
    const char *path;
    int64_t left;               /* bytes of members still accepted */
    tsr_status callback_status; /* what our own code said inside a libarchive callback */
    content member;
} walk;

static la_ssize_t walk_read(struct archive *a, void *context, const void **block)
{
    walk *w = context;
    int64_t n = 0;
    (void)a;
    w->callback_status = tsri_stream_next(w->stream, block, &n);
    return w->callback_status == TSR_OK ? (la_ssize_t)n : -1;
}

static la_int64_t walk_seek(struct archive *a, void *context, la_int64_t offset, int whence)
{
    walk *w = context;
    int64_t where = 0;
    (void)a;
    w->callback_status = tsri_stream_seek(w->stream, &where, offset, whence);
    return w->callback_status == TSR_OK ? where : ARCHIVE_FATAL;
}

static tsr_status walk_failed(const walk *w, const char *what)
{
    if (w->callback_status != TSR_OK)
        return w->callback_status;
    const char *why = archive_error_string(w->archive);
    return tsri_fail(TSR_BAD_FILE, "%s: %s (%s); fetch the file again", tsri_quote(w->path), what,
                     why ? tsri_quote(why) : "no reason given");
}

static tsr_status walk_begin(walk *w)
{
    tsr_status st = TSR_OK;
    w->archive = archive_read_new();
    TSR_CHECK(w->archive, TSR_RESOURCES, "%s: out of memory for an archive", tsri_quote(w->path));
    (void)archive_read_support_format_tar(w->archive);
    if (tsri_stream_plain(w->stream)) {
        (void)archive_read_support_format_zip_seekable(w->archive);
        (void)archive_read_set_seek_callback(w->archive, walk_seek);
    }
    (void)archive_read_set_read_callback(w->archive, walk_read);
    (void)archive_read_set_callback_data(w->archive, w);
    if (archive_read_open1(w->archive) != ARCHIVE_OK)
        st = walk_failed(w, "not an archive we can read, or damaged");
done:
    return st;
}

/* All of one member. A warning of libarchive here means a checksum or a size that does not
 * match. */
static tsr_status read_member(walk *w, const char *name)
{
    tsr_status st = TSR_OK;
    char block[1 << 15];
    w->member.used = 0;
    TSR_TRY(content_add(&w->member, "", 0));
    for (;;) {
        la_ssize_t n = archive_read_data(w->archive, block, sizeof block);
        if (n < 0) {
            char what[400];
            (void)snprintf(what, sizeof what, "member %s is damaged or cut off", tsri_quote(name));
            st = walk_failed(w, what);
            goto done;
        }
        if (n == 0)
            break;
        w->left -= n;
        TSR_CHECK(w->left >= 0, TSR_BAD_FILE,
                  "%s: unpacks to more than the limit accepted here; member %s went over it",
                  tsri_quote(w->path), tsri_quote(name));
        TSR_TRY(content_add(&w->member, block, n));
    }
done:
    return st;
}

/* *name is NULL at the end and "" for what is not a regular file. */
static tsr_status next_member(walk *w, const char **name)
{
    struct archive_entry *entry;
    int rc = archive_read_next_header(w->archive, &entry);
    *name = NULL;
    if (rc == ARCHIVE_EOF)
        return TSR_OK;
    /* A warning here is a name that the locale cannot show; its bytes are still there. */
    if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN)
        return walk_failed(w, "not an archive we can read, or damaged");
    *name = "";
    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry))
        return TSR_OK;
    const char *text = archive_entry_pathname(entry);
    if (!text)
        text = archive_entry_pathname_utf8(entry);
    if (text)
        *name = text;
    return TSR_OK;
}

/* Up to the end of a tar's compression, where the last checksum stands. */
static tsr_status drain(tsri_stream *stream)
{
    tsr_status st = TSR_OK;
    const void *block;
    int64_t n;
    if (tsri_stream_plain(stream))
        return TSR_OK;
    do
        TSR_TRY(tsri_stream_next(stream, &block, &n));
    while (n > 0);
done:
    return st;
}

tsr_status tsri_archive_each(const char *path, tsri_archive_visit visit, void *context,
                             int64_t most)
{
    tsr_status st = TSR_OK;
    walk w = {.path = path, .left = most};
    const char *name = "";
    TSR_TRY(tsri_stream_open(&w.stream, path, most));
    TSR_TRY(walk_begin(&w));
    for (;;) {
        TSR_TRY(next_member(&w, &name));
        if (!name)
            break;
        if (!*name)
            continue;
        TSR_TRY(read_member(&w, name));
        TSR_TRY(visit(context, name, w.member.bytes, w.member.used));
    }
    TSR_TRY(drain(w.stream));
done:
    if (w.archive)
        (void)archive_read_free(w.archive);
    tsri_stream_close(w.stream);
    tsri_free(w.member.bytes);
    return st;
}
