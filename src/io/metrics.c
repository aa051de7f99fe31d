/* metrics.c - metrics.jsonl: one JSON object per line.
 *
 * What holds between calls: the file ends with a line end (or is empty), and its size and the kept
 * lines make up `offset`.
 */
#include "io/metrics.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/text.h"
#include "io/file.h"
#include "io/json.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct tsri_metrics {
    int fd;
    int64_t offset;
    char *path;
    tsri_text kept; /* lines that are not in the file yet */
    bool broken;    /* an fsync failed: what the disk has is unknown */
};

enum { KEPT_MOST = 64 << 20 }; /* bytes */

/* ---- Opening -------------------------------------------------------------------------------- */

static tsr_status cut(tsri_metrics *m, int64_t size)
{
    if (tsri_io.ftruncate(m->fd, size) != 0 || tsri_io.lseek(m->fd, size, SEEK_SET) != size)
        return tsri_file_failed(errno, "cut the file", m->path);
    m->offset = size;
    return TSR_OK;
}

/* *size = the bytes up to and with the last line end before `limit`. Reads backwards in blocks. */
static tsr_status whole_lines(tsri_metrics *m, int64_t limit, int64_t *size)
{
    tsr_status st = TSR_OK;
    char block[4096];
    *size = 0;
    for (int64_t end = limit; end > 0;) {
        size_t n = end < (int64_t)sizeof block ? (size_t)end : sizeof block, used = 0;
        int64_t begin = end - (int64_t)n, got = 0;
        TSR_CHECK(tsri_io.lseek(m->fd, begin, SEEK_SET) == begin, TSR_FAILURE,
                  "%s: cannot go back: %s", tsri_quote(m->path), strerror(errno));
        for (; used < n; used += (size_t)got) {
            TSR_TRY(tsri_file_get(&got, m->fd, block + used, (int64_t)(n - used), m->path));
            TSR_CHECK(got > 0, TSR_FAILURE, "%s: became shorter while it was read",
                      tsri_quote(m->path));
        }
        const char *last = memrchr(block, '\n', n);
        if (last) {
            *size = begin + (last - block) + 1;
            break;
        }
        end = begin;
    }
done:
    return st;
}

static tsr_status settle(tsri_metrics *m, int64_t offset)
{
    tsr_status st = TSR_OK;
    int64_t whole = 0, size = tsri_io.lseek(m->fd, 0, SEEK_END);
    if (size < 0)
        return tsri_file_failed(errno, "find the end", m->path);
    if (offset > size)
        TSRI_WARN("%s has %lld bytes, %lld less than when the checkpoint was made; the lines "
                  "between are lost",
                  tsri_quote(m->path), (long long)size, (long long)(offset - size));
    if (offset < 0 || offset > size)
        offset = size;
    TSR_TRY(whole_lines(m, offset, &whole));
    TSR_TRY(cut(m, whole));
done:
    return st;
}

tsr_status tsri_metrics_open(tsri_metrics **out, const char *path, int64_t offset)
{
    tsr_status st = TSR_OK;
    tsri_metrics *m = NULL;
    bool created;
    *out = NULL;
    TSR_TRY(tsri_alloc(&m, 1, sizeof *m));
    m->fd = -1;
    TSR_TRY(tsri_strdup(&m->path, path));
    TSR_TRY(tsri_file_open_own(&m->fd, &created, path));
    TSR_TRY(settle(m, offset));
    if (created) {
        TSR_TRY(tsri_metrics_sync(m));
        TSR_TRY(tsri_sync_folder_of(path));
    }
    *out = m;
    m = NULL;
done:
    tsri_metrics_close(m);
    return st;
}

tsr_status tsri_metrics_cut(tsri_metrics *m, int64_t offset)
{
    m->kept.length = 0;
    return settle(m, offset);
}

/* ---- Lines ---------------------------------------------------------------------------------- */

tsr_status tsri_metrics_flush(tsri_metrics *m)
{
    tsr_status st = TSR_OK;
    int64_t end = m->offset - m->kept.length;
    if (m->kept.length == 0)
        return TSR_OK;
    if (tsri_io.lseek(m->fd, end, SEEK_SET) != end)
        return tsri_file_failed(errno, "find the end", m->path);
    st = tsri_file_put(m->fd, m->kept.data, m->kept.length, m->path);
    if (st == TSR_OK)
        m->kept.length = 0;
    else /* takes back the part that went out; where even that fails, it is written over */
        (void)tsri_io.ftruncate(m->fd, end);
    return st;
}

/* Behind the lines that are kept. */
static tsr_status keep(tsri_metrics *m, const char *text, size_t n)
{
    tsr_status st = TSR_OK;
    int64_t before = m->kept.length;
    if (m->offset == 0 && text[0] == '{') { /* the first line says the format of all */
        TSR_TRY(tsri_text_add(&m->kept, "{\"format\":%d%s", TSRI_JSON_FORMAT,
                              strncmp(text, "{}", 2) == 0 ? "" : ","));
        text++;
        n--;
    }
    TSR_TRY(tsri_text_add_bytes(&m->kept, text, n));
    TSR_TRY(tsri_text_add_bytes(&m->kept, "\n", 1));
    m->offset += m->kept.length - before;
done:
    if (st != TSR_OK)
        m->kept.length = before;
    return st;
}

tsr_status tsri_metrics_line(tsri_metrics *m, const char *text)
{
    tsr_status st = TSR_OK;
    size_t n = strlen(text);
    bool waiting = m->kept.length > 0;
    TSR_CHECK(!memchr(text, '\n', n), TSR_FAILURE, "%s: a line of metrics with a line end inside",
              tsri_quote(m->path));
    TSR_CHECK(
        m->kept.length < KEPT_MOST, TSR_RESOURCES,
        "%s: cannot write, and %s of lines are waiting: make room, then add --resume to go on "
        "from the last checkpoint",
        tsri_quote(m->path), tsri_bytes_text((double)m->kept.length));
    TSR_TRY(keep(m, text, n));
    if (tsri_metrics_flush(m) != TSR_OK && !waiting)
        TSRI_WARN("%s; the line is kept for later, and no checkpoint can be saved before it is "
                  "written",
                  tsr_last_error());
done:
    return st;
}

int64_t tsri_metrics_offset(const tsri_metrics *m)
{
    return m->offset;
}

tsr_status tsri_metrics_sync(tsri_metrics *m)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(!m->broken, TSR_FAILURE,
              "%s: the disk failed to take what was written; add --resume to go on from the last "
              "checkpoint",
              tsri_quote(m->path));
    TSR_TRY(tsri_metrics_flush(m));
    if (tsri_io.fsync(m->fd) != 0) { /* once only: see write_temporary in file.c */
        m->broken = true;
        st = tsri_file_failed(errno, "bring to the disk", m->path);
    }
done:
    return st;
}

bool tsri_metrics_broken(const tsri_metrics *m)
{
    return m->broken;
}

void tsri_metrics_close(tsri_metrics *m)
{
    if (!m)
        return;
    if (m->fd >= 0)
        (void)tsri_io.close(m->fd);
    tsri_text_fini(&m->kept);
    tsri_free(m->path);
    tsri_free(m);
}
