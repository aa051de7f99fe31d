/* follow.c - a file of lines that another process is writing, read as it grows. */
#include "watch/follow.h"

#include "base/alloc.h"
#include "base/text.h"
#include "io/file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1 << 16 };

tsr_status tsri_follow_begin(tsri_follow *f, const char *path)
{
    *f = (tsri_follow){0};
    return tsri_strdup(&f->path, path);
}

void tsri_follow_fini(tsri_follow *f)
{
    tsri_free(f->path);
    *f = (tsri_follow){0};
}

void tsri_follow_again(tsri_follow *f)
{
    f->inode = 0;
    f->size = -1;
}

/* ---- Is it still the same file? ------------------------------------------------------------- */

static void forget(tsri_follow *f)
{
    f->offset = f->tail_length = f->too_long = 0;
    f->passing = false;
}

/* Reads n bytes at `offset`; fewer only at the end of the file. */
static tsr_status read_at(int64_t *got, int fd, char *bytes, int64_t n, int64_t offset,
                          const char *path)
{
    tsr_status st = TSR_OK;
    int64_t part = 0;
    *got = 0;
    TSR_CHECK(tsri_io.lseek(fd, offset, SEEK_SET) == offset, TSR_BAD_FILE, "%s: cannot read: %s",
              tsri_quote(path), strerror(errno));
    while (*got < n) {
        TSR_TRY(tsri_file_get(&part, fd, bytes + *got, n - *got, path));
        if (part == 0)
            break;
        *got += part;
    }
done:
    return st;
}

static tsr_status same_file(bool *same, const tsri_follow *f, int fd, const struct stat *about)
{
    tsr_status st = TSR_OK;
    char now[TSRI_FOLLOW_TAIL];
    int64_t got = 0;
    *same = f->device == (uint64_t)about->st_dev && f->inode == (uint64_t)about->st_ino &&
            about->st_size >= f->offset;
    if (!*same || f->tail_length == 0)
        return TSR_OK;
    TSR_TRY(read_at(&got, fd, now, f->tail_length, f->offset - f->tail_length, f->path));
    *same = got == f->tail_length && memcmp(now, f->tail, (size_t)got) == 0;
done:
    return st;
}

/* ---- Lines ---------------------------------------------------------------------------------- */

/* The last bytes before the new place: of `bytes`, and of the old tail where those are few. */
static void move_on(tsri_follow *f, const char *bytes, int64_t n)
{
    int64_t keep = n < TSRI_FOLLOW_TAIL ? TSRI_FOLLOW_TAIL - n : 0;
    keep = keep < f->tail_length ? keep : f->tail_length;
    memmove(f->tail, f->tail + f->tail_length - keep, (size_t)keep);
    int64_t fresh = n < TSRI_FOLLOW_TAIL - keep ? n : TSRI_FOLLOW_TAIL - keep;
    memcpy(f->tail + keep, bytes + n - fresh, (size_t)fresh);
    f->tail_length = keep + fresh;
    f->offset += n;
}

static tsr_status hand_over(tsri_follow *f, const char *line, int64_t n, bool *changed,
                            const tsri_follow_visitor *v)
{
    bool passed = f->passing;
    f->passing = false;
    move_on(f, line, n + 1);
    *changed = true;
    return passed || n == 0 ? TSR_OK : v->line(v->context, line, n);
}

/* All whole lines of text[0 .. n); *used = their bytes. */
static tsr_status split(tsri_follow *f, const char *text, int64_t n, int64_t *used, bool *changed,
                        const tsri_follow_visitor *v)
{
    tsr_status st = TSR_OK;
    const char *at = text, *end;
    while ((end = memchr(at, '\n', (size_t)(text + n - at)))) {
        const char *line = at;
        at = end + 1;
        TSR_TRY(hand_over(f, line, end - line, changed, v));
    }
done:
    *used = at - text;
    return st;
}

static void pass_over(tsri_follow *f, const char *text, int64_t n)
{
    f->too_long += !f->passing;
    f->passing = true;
    move_on(f, text, n);
}

static tsr_status read_lines(tsri_follow *f, int fd, bool *changed, const tsri_follow_visitor *v)
{
    tsr_status st = TSR_OK;
    char *text = NULL;
    int64_t room = BLOCK, held = 0, got = 0, used = 0, all = 0;
    TSR_TRY(tsri_alloc_raw(&text, room, 1));
    for (; all < TSRI_FOLLOW_MOST; all += got) {
        if (held == room) { /* no line end in all of it */
            TSR_TRY(tsri_realloc(&text, 2 * room, 1));
            room *= 2;
        }
        TSR_TRY(read_at(&got, fd, text + held, room - held, f->offset + held, f->path));
        if (got == 0)
            break;
        TSR_TRY(split(f, text, held + got, &used, changed, v));
        held += got - used;
        memmove(text, text + used, (size_t)held);
        if (held > TSRI_FOLLOW_LINE) {
            pass_over(f, text, held);
            held = 0;
        }
    }
    f->behind = got > 0;
done:
    tsri_free(text);
    return st;
}

/* ---- A look --------------------------------------------------------------------------------- */

static tsr_status look_at(tsri_follow *f, int fd, bool *changed, const tsri_follow_visitor *v)
{
    tsr_status st = TSR_OK;
    struct stat about;
    bool same = false;
    TSR_CHECK(fstat(fd, &about) == 0, TSR_BAD_FILE, "%s: %s", tsri_quote(f->path), strerror(errno));
    TSR_TRY(same_file(&same, f, fd, &about));
    if (!same) {
        if (f->offset > 0) {
            v->restart(v->context);
            *changed = true;
        }
        forget(f);
    }
    f->device = (uint64_t)about.st_dev;
    f->inode = (uint64_t)about.st_ino;
    f->size = about.st_size;
    f->modified = (double)about.st_mtim.tv_sec + 1e-9 * (double)about.st_mtim.tv_nsec;
    if (about.st_size > f->offset)
        TSR_TRY(read_lines(f, fd, changed, v));
    else
        f->behind = false;
done:
    return st;
}

/* Nothing to read: the same size and time as at the last look. */
static bool untouched(const tsri_follow *f, const struct stat *about)
{
    double modified = (double)about->st_mtim.tv_sec + 1e-9 * (double)about->st_mtim.tv_nsec;
    return f->inode == (uint64_t)about->st_ino && f->device == (uint64_t)about->st_dev &&
           f->size == about->st_size && modified - f->modified == 0 && !f->behind;
}

tsr_status tsri_follow_look(tsri_follow *f, bool *changed, const tsri_follow_visitor *visitor)
{
    tsr_status st = TSR_OK;
    int fd = -1;
    int64_t size;
    bool unused = false, *news = changed ? changed : &unused;
    struct stat about;
    *news = false;
    if (lstat(f->path, &about) != 0) {
        if (f->offset > 0) {
            visitor->restart(visitor->context);
            *news = true;
        }
        forget(f);
        f->size = 0;
        f->inode = 0;
        f->modified = 0;
        f->behind = false;
        return TSR_OK;
    }
    if (untouched(f, &about))
        return TSR_OK;
    TSR_TRY(tsri_file_open(&fd, &size, f->path));
    TSR_TRY(look_at(f, fd, news, visitor));
done:
    if (fd >= 0)
        (void)tsri_io.close(fd);
    return st;
}
