/* file.c - whole files, read and replaced.
 *
 * A file is replaced in an order that leaves no moment with half a file under its name:
 *
 *     open the folder -> create a temporary file -> write -> fsync -> close -> rename
 *     -> fsync of the folder
 *
 * Everything that can fail cheaply (is the folder there? is the target a plain file?) comes before
 * the first byte is written, and everything up to the rename can be undone by one unlink.
 */
#include "io/file.h"

#include "base/alloc.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* open(2) takes a variable list of arguments; the table wants a fixed one. */
static int system_open(const char *path, int flags, mode_t mode)
{
    return open(path, flags, mode);
}

tsri_io_table tsri_io = {
    .open = system_open,
    .read = read,
    .write = write,
    .fsync = fsync,
    .close = close,
    .rename = rename,
    .unlink = unlink,
    .ftruncate = ftruncate,
    .lseek = lseek,
    .flock = flock,
};

/* ---- Small steps -------------------------------------------------------------------------- */

tsr_status tsri_file_failed(int error, const char *what, const char *path)
{
    if (error == EFBIG)
        return tsri_fail(TSR_RESOURCES,
                         "%s: cannot %s: %s; raise the limit on file sizes (ulimit -f) and try "
                         "again",
                         tsri_quote(path), what, strerror(error));
    if (error == ENOSPC || error == EDQUOT)
        return tsri_fail(TSR_RESOURCES, "%s: cannot %s: %s; free some space and try again",
                         tsri_quote(path), what, strerror(error));
    tsr_status status =
        error == EMFILE || error == ENFILE || error == ENOMEM ? TSR_RESOURCES : TSR_FAILURE;
    return tsri_fail(status, "%s: cannot %s: %s", tsri_quote(path), what, strerror(error));
}

static int open_patiently(const char *path, int flags)
{
    int fd;
    do
        fd = tsri_io.open(path, flags | O_CLOEXEC, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

tsr_status tsri_file_get(int64_t *got, int fd, void *bytes, int64_t n, const char *path)
{
    for (;;) {
        ssize_t rc = tsri_io.read(fd, bytes, (size_t)n);
        if (rc >= 0) {
            *got = rc;
            return TSR_OK;
        }
        if (errno != EINTR)
            return tsri_fail(TSR_BAD_FILE, "%s: cannot read: %s", tsri_quote(path),
                             strerror(errno));
    }
}

tsr_status tsri_file_put(int fd, const void *bytes, int64_t n, const char *path)
{
    const char *next = bytes;
    while (n > 0) {
        ssize_t rc = tsri_io.write(fd, next, (size_t)n);
        if (rc < 0 && errno == EINTR)
            continue;
        if (rc <= 0) /* a write of nothing would otherwise loop forever */
            return tsri_file_failed(rc < 0 ? errno : ENOSPC, "write", path);
        next += rc;
        n -= rc;
    }
    return TSR_OK;
}

/* ---- Reading ------------------------------------------------------------------------------ */

tsr_status tsri_file_open(int *fd, int64_t *size, const char *path)
{
    tsr_status st = TSR_OK;
    struct stat about;
    /* O_NONBLOCK: a pipe without a writer must be refused below, not waited for here. */
    *fd = open_patiently(path, O_RDONLY | O_NONBLOCK);
    TSR_CHECK(*fd >= 0, TSR_BAD_FILE, "%s: cannot open: %s", tsri_quote(path), strerror(errno));
    TSR_CHECK(fstat(*fd, &about) == 0, TSR_BAD_FILE, "%s: cannot examine: %s", tsri_quote(path),
              strerror(errno));
    TSR_CHECK(!S_ISDIR(about.st_mode), TSR_BAD_FILE, "%s is a folder; a file is needed",
              tsri_quote(path));
    TSR_CHECK(S_ISREG(about.st_mode), TSR_BAD_FILE,
              "%s is a device or a pipe; a regular file is needed", tsri_quote(path));
    *size = about.st_size;
done:
    if (st != TSR_OK && *fd >= 0) {
        (void)tsri_io.close(*fd);
        *fd = -1;
    }
    return st;
}

tsr_status tsri_file_open_own(int *fd, bool *created, const char *path)
{
    tsr_status st = TSR_OK;
    struct stat about;
    enum { FLAGS = O_RDWR | O_NOFOLLOW | O_NONBLOCK };
    *created = false;
    *fd = open_patiently(path, FLAGS);
    if (*fd < 0 && errno == ENOENT) {
        *fd = open_patiently(path, FLAGS | O_CREAT);
        *created = *fd >= 0;
    }
    TSR_CHECK(*fd >= 0 || errno != ELOOP, TSR_USAGE,
              "%s is a symbolic link, and what it points at would be changed: remove the link, or "
              "choose another folder",
              tsri_quote(path));
    if (*fd < 0)
        return tsri_file_failed(errno, "open", path);
    TSR_CHECK(fstat(*fd, &about) == 0 && S_ISREG(about.st_mode), TSR_USAGE,
              "%s is not a regular file: remove it, or choose another folder", tsri_quote(path));
done:
    if (st != TSR_OK && *fd >= 0) {
        (void)tsri_io.close(*fd);
        *fd = -1;
    }
    return st;
}

static tsr_status too_large(const char *path, int64_t most)
{
    return tsri_fail(TSR_BAD_FILE, "%s: larger than %s, the most that is accepted here",
                     tsri_quote(path), tsri_bytes_text((double)most));
}

/* All that comes out of fd, which says that it has `size` bytes. */
static tsr_status read_all(char **bytes, int64_t *n, int fd, int64_t size, const char *path,
                           int64_t most)
{
    tsr_status st = TSR_OK;
    char *buffer = NULL;
    int64_t used = 0, got = 0;
    *bytes = NULL;
    *n = 0;
    if (size > most) {
        st = too_large(path, most);
        goto done;
    }
    /* One byte more than the file: it takes the NUL, and a read into it sees whether the file has
     * grown (files of /proc say size 0 and have bytes all the same). */
    int64_t capacity = size + 1;
    TSR_TRY(tsri_alloc_raw(&buffer, capacity, 1));
    for (;;) {
        TSR_TRY(tsri_file_get(&got, fd, buffer + used, capacity - used, path));
        used += got;
        if (got == 0)
            break;
        if (used > most) {
            st = too_large(path, most);
            goto done;
        }
        if (used == capacity) {
            capacity = capacity < 4096 ? 8192 : capacity * 2;
            TSR_TRY(tsri_realloc(&buffer, capacity, 1));
        }
    }
    buffer[used] = '\0';
    *bytes = buffer;
    *n = used;
    buffer = NULL;
done:
    tsri_free(buffer);
    return st;
}

tsr_status tsri_file_read(char **bytes, int64_t *n, const char *path, int64_t most)
{
    tsr_status st = TSR_OK;
    int fd = -1;
    int64_t size = 0;
    *bytes = NULL;
    *n = 0;
    TSR_TRY(tsri_file_open(&fd, &size, path));
    TSR_TRY(read_all(bytes, n, fd, size, path, most));
done:
    if (fd >= 0)
        (void)tsri_io.close(fd);
    return st;
}

tsr_status tsri_file_read_stdin(char **bytes, int64_t *n, int64_t most)
{
    return read_all(bytes, n, STDIN_FILENO, 0, "standard input", most);
}

/* ---- Writing ------------------------------------------------------------------------------ */

#define TEMP_PREFIX ".tessera-"
#define TEMP_SUFFIX ".tmp"

/* "folder/.tessera-<pid>-<number>.tmp": short whatever the target's name, and never its own. */
static tsr_status temporary_name(char **out, const char *folder)
{
    static atomic_uint number;
    char name[64];
    (void)snprintf(name, sizeof name, TEMP_PREFIX "%ld-%u" TEMP_SUFFIX, (long)getpid(),
                   atomic_fetch_add(&number, 1));
    return tsri_path_join(out, folder, name);
}

static bool is_temporary(const char *name)
{
    size_t n = strlen(name), prefix = strlen(TEMP_PREFIX), suffix = strlen(TEMP_SUFFIX);
    return n > prefix + suffix && strncmp(name, TEMP_PREFIX, prefix) == 0 &&
           strcmp(name + n - suffix, TEMP_SUFFIX) == 0;
}

/* What can be locked is nobody's: its process is gone. A file that had lost its name by then, to
 * another sweeper, is no longer what the name stands for: its writer may have made the next one. */
static tsr_status remove_abandoned(const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat about;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        return TSR_OK;
    int fd = open_patiently(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return TSR_OK;
    bool abandoned =
        tsri_io.flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &about) == 0 && about.st_nlink > 0;
    int rc = abandoned ? tsri_io.unlink(path) : 0, error = errno;
    (void)tsri_io.close(fd);
    return rc == 0 || error == ENOENT ? TSR_OK : tsri_file_failed(error, "remove", path);
}

/* Takes no memory, so that a write which begins with it cannot fail for want of that. */
tsr_status tsri_sweep_folder(const char *folder)
{
    tsr_status st = TSR_OK;
    const struct dirent *entry;
    DIR *list = opendir(folder);
    TSR_CHECK(list, TSR_BAD_FILE, "%s: cannot open the folder: %s", tsri_quote(folder),
              strerror(errno));
    while ((entry = readdir(list)))
        if (is_temporary(entry->d_name))
            TSR_TRY(remove_abandoned(folder, entry->d_name));
done:
    if (list)
        (void)closedir(list);
    return st;
}

/* Slashes at the end of a folder's own name separate nothing. */
static tsr_status folder_of(char **out, const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    const char *slash = memrchr(path, '/', n);
    if (!slash)
        return tsri_strdup(out, ".");
    return tsri_strndup(out, path, slash == path ? 1 : (size_t)(slash - path));
}

/* A rename over /dev/null would replace the device for everyone. */
static tsr_status check_target(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0 || S_ISREG(about.st_mode))
        return TSR_OK;
    return tsri_fail(TSR_FAILURE, "%s is %s and cannot be replaced by a file", tsri_quote(path),
                     S_ISDIR(about.st_mode) ? "a folder" : "a device or a pipe");
}

/* The file is locked until it is renamed: by that tsri_sweep_folder tells it from those that killed
 * processes left. Who sweeps may come before the lock: then the file has no name any more, and
 * another is made. Where a file system has no locks, nobody sweeps. */
static tsr_status create_temporary(int *fd, const char *temp, const char *path)
{
    struct stat about;
    for (;;) {
        *fd = open_patiently(temp, O_WRONLY | O_CREAT | O_EXCL);
        if (*fd < 0)
            return tsri_file_failed(errno, "create a file beside it", path);
        while (tsri_io.flock(*fd, LOCK_EX) != 0 && errno == EINTR)
            continue;
        if (fstat(*fd, &about) != 0 || about.st_nlink > 0)
            return TSR_OK;
        (void)tsri_io.close(*fd);
    }
}

/* Brings the bytes to the disk under their final name. On failure the temporary file is gone again.
 * After the fsync nothing is left that closing the file could fail to write. */
static tsr_status write_temporary(const char *temp, const char *path, const tsri_piece *pieces,
                                  int64_t count)
{
    tsr_status st = TSR_OK;
    int fd = -1;
    TSR_TRY(create_temporary(&fd, temp, path));
    for (int64_t i = 0; i < count; i++)
        TSR_TRY(tsri_file_put(fd, pieces[i].bytes, pieces[i].n, path));
    /* Once only: after a failed fsync the kernel may call the lost pages clean, and a second fsync
     * that succeeds proves nothing (Rebello et al., ATC'20). */
    if (tsri_io.fsync(fd) != 0)
        st = tsri_file_failed(errno, "bring to the disk", path);
    else if (tsri_io.rename(temp, path) != 0)
        st = tsri_file_failed(errno, "replace", path);
done:
    if (fd >= 0 && st != TSR_OK)
        (void)tsri_io.unlink(temp);
    if (fd >= 0)
        (void)tsri_io.close(fd);
    return st;
}

/* Some file systems cannot fsync a folder (EINVAL); there the rename is as safe as it gets. */
static tsr_status sync_folder(int folder, const char *path)
{
    if (tsri_io.fsync(folder) == 0 || errno == EINVAL || errno == ENOTSUP)
        return TSR_OK;
    return tsri_file_failed(errno, "bring the folder to the disk after writing", path);
}

tsr_status tsri_sync_folder_of(const char *path)
{
    tsr_status st = TSR_OK;
    char *folder_path = NULL;
    TSR_TRY(folder_of(&folder_path, path));
    int folder = open_patiently(folder_path, O_RDONLY | O_DIRECTORY);
    if (folder >= 0) {
        st = sync_folder(folder, path);
        (void)tsri_io.close(folder);
    } else if (errno != EACCES) { /* who may enter and write, but not list, cannot sync it */
        st = tsri_file_failed(errno, "open its folder", path);
    }
done:
    tsri_free(folder_path);
    return st;
}

tsr_status tsri_file_write(const char *path, const tsri_piece *pieces, int64_t count)
{
    tsr_status st = TSR_OK;
    char *folder_path = NULL, *temp = NULL;
    int folder = -1;
    TSR_TRY(folder_of(&folder_path, path));
    TSR_TRY(temporary_name(&temp, folder_path));
    TSR_TRY(check_target(path));
    folder = open_patiently(folder_path, O_RDONLY | O_DIRECTORY);
    if (folder < 0) {
        st = tsri_file_failed(errno, "open its folder", path);
        goto done;
    }
    (void)tsri_sweep_folder(folder_path); /* what cannot be cleared away does not hinder */
    TSR_TRY(write_temporary(temp, path, pieces, count));
    TSR_TRY(sync_folder(folder, path));
done:
    if (folder >= 0)
        (void)tsri_io.close(folder);
    tsri_free(folder_path);
    tsri_free(temp);
    return st;
}

tsr_status tsri_file_write_text(const char *path, const char *text)
{
    tsri_piece piece = {text, (int64_t)strlen(text)};
    return tsri_file_write(path, &piece, 1);
}
