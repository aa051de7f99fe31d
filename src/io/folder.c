/* folder.c - folders: made, listed, locked (file.h). */
#include "io/file.h"

#include "base/alloc.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

bool tsri_file_exists(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0;
}

tsr_status tsri_path_join(char **out, const char *folder, const char *name)
{
    size_t n = strlen(folder), m = strlen(name);
    bool slash = n > 0 && folder[n - 1] != '/';
    tsr_status st = tsri_alloc(out, (int64_t)(n + m + 2), 1);
    if (st == TSR_OK)
        (void)snprintf(*out, n + m + 2, "%s%s%s", folder, slash ? "/" : "", name);
    return st;
}

/* ---- Making ------------------------------------------------------------------------------- */

static tsr_status make_one(const char *path)
{
    struct stat about;
    if (mkdir(path, 0777) == 0)
        return tsri_sync_folder_of(path);
    int error = errno;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return TSR_OK;
    if (error == EEXIST)
        return tsri_fail(TSR_USAGE, "%s is a file; a folder is needed there", tsri_quote(path));
    return tsri_file_failed(error, "make the folder", path);
}

tsr_status tsri_make_folder(const char *path)
{
    tsr_status st = TSR_OK;
    char *part = NULL;
    TSR_TRY(tsri_strdup(&part, path));
    for (char *slash = strchr(part + (*part == '/'), '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        TSR_TRY(make_one(part));
        *slash = '/';
    }
    TSR_TRY(make_one(path));
done:
    tsri_free(part);
    return st;
}

tsr_status tsri_make_own_folder(const char *path)
{
    struct stat about;
    if (lstat(path, &about) == 0 && S_ISLNK(about.st_mode))
        return tsri_fail(TSR_USAGE,
                         "%s is a symbolic link, and files where it points at would be replaced "
                         "and removed: remove the link, or choose another folder",
                         tsri_quote(path));
    return tsri_make_folder(path);
}

/* ---- Listing ------------------------------------------------------------------------------ */

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void tsri_names_free(char **names, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        tsri_free(names[i]);
    tsri_free(names);
}

tsr_status tsri_list_folder(char ***names, int64_t *count, const char *path)
{
    tsr_status st = TSR_OK;
    char **list = NULL;
    int64_t used = 0, capacity = 0;
    *names = NULL;
    *count = 0;
    DIR *folder = opendir(path);
    TSR_CHECK(folder, TSR_BAD_FILE, "%s: cannot open the folder: %s", tsri_quote(path),
              strerror(errno));
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(folder);
        if (!entry)
            break;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        TSR_TRY(tsri_reserve(&list, &capacity, used, sizeof *list));
        TSR_TRY(tsri_strdup(&list[used], entry->d_name));
        used++;
    }
    TSR_CHECK(errno == 0, TSR_BAD_FILE, "%s: cannot list the folder: %s", tsri_quote(path),
              strerror(errno));
    if (used > 1)
        qsort(list, (size_t)used, sizeof *list, by_bytes);
    *names = list;
    *count = used;
    list = NULL;
done:
    if (folder)
        (void)closedir(folder);
    if (list)
        tsri_names_free(list, used);
    return st;
}

/* ---- Locking ------------------------------------------------------------------------------ */

/* The number the holder wrote, or 0 while it has not got there yet. */
static long holder_of(int fd)
{
    char text[32] = {0};
    ssize_t n = tsri_io.read(fd, text, sizeof text - 1);
    return n > 0 ? strtol(text, NULL, 10) : 0;
}

static tsr_status refuse(int fd, const char *folder)
{
    long pid = holder_of(fd);
    if (pid > 0)
        return tsri_fail(TSR_USAGE,
                         "%s: process %ld is running in this folder; wait for it, stop it, or "
                         "choose another folder",
                         tsri_quote(folder), pid);
    return tsri_fail(TSR_USAGE,
                     "%s: another process is running in this folder; wait for it, stop it, or "
                     "choose another folder",
                     tsri_quote(folder));
}

tsr_status tsri_lock_folder(int *lock, const char *folder)
{
    tsr_status st = TSR_OK;
    char *path = NULL, text[32];
    int fd = -1, rc;
    bool created;
    *lock = -1;
    TSR_TRY(tsri_path_join(&path, folder, "run.lock"));
    TSR_TRY(tsri_file_open_own(&fd, &created, path));
    do
        rc = tsri_io.flock(fd, LOCK_EX | LOCK_NB);
    while (rc != 0 && errno == EINTR);
    if (rc != 0) {
        st = errno == EWOULDBLOCK ? refuse(fd, folder) : tsri_file_failed(errno, "lock", path);
        goto done;
    }
    int n = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (tsri_io.ftruncate(fd, 0) != 0) {
        st = tsri_file_failed(errno, "empty the lock", path);
        goto done;
    }
    TSR_TRY(tsri_file_put(fd, text, n, path));
    *lock = fd;
    fd = -1;
done:
    if (fd >= 0)
        (void)tsri_io.close(fd);
    tsri_free(path);
    return st;
}

/* The file stays: removing it would let a third process lock a new one beside the waiting
 * second. */
void tsri_unlock_folder(int lock)
{
    if (lock < 0)
        return;
    (void)tsri_io.ftruncate(lock, 0);
    (void)tsri_io.close(lock);
}
