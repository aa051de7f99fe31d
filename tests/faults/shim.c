/* shim.c - libc's calls on files, with faults (shim.h).
 *
 * Each function asks the kernel directly, so that no other library's copy of the name is needed.
 * One lock is held from the decision to the log: the order of the log is that of the calls.
 */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { HANDLES = 4096 };

/* Kinds of calls, as bits: which faults can meet them. */
enum {
    OPENS = 1,
    MAKES = 2,
    READS = 4,
    WRITES = 8,
    SYNCS = 16,
    CLOSES = 32,
    NAMES = 64, /* rename, unlink, mkdir */
    CUTS = 128,
    LOCKS = 256,
    ANY = 511
};

shim_shared *shim_seen;
static const char *watched;
static shim_plan plan;
static int log_to = -1;
static int handle_of[HANDLES]; /* by descriptor; 0 = not watched */
static int handles;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void shim_watch(const char *folder)
{
    if (!shim_seen)
        shim_seen = mmap(NULL, sizeof *shim_seen, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    watched = folder;
}

void shim_arm(shim_plan p)
{
    plan = p;
    *shim_seen = (shim_shared){0};
}

void shim_record(int log)
{
    log_to = log;
}

/* ---- Deciding ----------------------------------------------------------------------------- */

static unsigned can_meet(int fault)
{
    switch (fault) {
    case SHIM_NONE:
        return 0;
    case SHIM_SHORT:
        return READS | WRITES;
    case SHIM_CUT:
    case SHIM_GROW:
        return READS;
    case ENOSPC:
    case EDQUOT:
    case EROFS:
        return MAKES | WRITES | SYNCS | CLOSES | NAMES | CUTS;
    case EINTR:
        return OPENS | MAKES | READS | WRITES | SYNCS | CLOSES | LOCKS;
    case EMFILE:
        return OPENS | MAKES;
    default:
        return ANY;
    }
}

/* True when the fault meets this call; then it must not be made as it was asked for. */
static bool meets(unsigned kind, const char *call, const char *what)
{
    if (!(can_meet(plan.fault) & kind))
        return false;
    int64_t number = shim_seen->calls++;
    if (number != plan.at && !(plan.persistent && number > plan.at))
        return false;
    shim_seen->met++;
    (void)snprintf(shim_seen->where, sizeof shim_seen->where, "%s %s", call, what);
    if (plan.fault == SHIM_KILL)
        (void)kill(getpid(), SIGKILL);
    return true;
}

static bool fails(unsigned kind, const char *call, const char *what)
{
    if (!meets(kind, call, what))
        return false;
    errno = plan.fault;
    return plan.fault > 0;
}

static bool is_watched(const char *path)
{
    size_t n = watched ? strlen(watched) : 0;
    return n > 0 && strncmp(path, watched, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static int handle(int fd)
{
    return fd >= 0 && fd < HANDLES ? handle_of[fd] : 0;
}

/* ---- The log ------------------------------------------------------------------------------ */

static void note(shim_record_head head, const void *bytes, size_t n, const void *more, size_t m)
{
    struct iovec part[] = {{&head, sizeof head}, {(void *)bytes, n}, {(void *)more, m}};
    int error = errno;
    head.n = (int64_t)(n + m);
    if (log_to >= 0 && syscall(SYS_writev, log_to, part, 3) < 0)
        (void)kill(getpid(), SIGABRT); /* a log with a hole is worse than none */
    errno = error;
}

static void note_path(shim_op op, const char *path)
{
    note((shim_record_head){.op = (int32_t)op}, path, strlen(path), NULL, 0);
}

/* ---- Opening and closing ------------------------------------------------------------------ */

static int shim_open(const char *path, int flags, mode_t mode)
{
    if (!is_watched(path))
        return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    pthread_mutex_lock(&lock);
    int fd = -1;
    if (!fails(flags & O_CREAT ? MAKES : OPENS, "open", path)) {
        bool made = flags & O_CREAT && syscall(SYS_faccessat, AT_FDCWD, path, F_OK) != 0;
        fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
        if (fd >= HANDLES)
            (void)kill(getpid(), SIGABRT);
        if (fd >= 0) {
            handle_of[fd] = ++handles;
            note((shim_record_head){.op = SHIM_OPEN, .handle = handles, .made = made}, path,
                 strlen(path), NULL, 0);
            if (flags & O_TRUNC)
                note((shim_record_head){.op = SHIM_TRUNCATE, .handle = handles}, NULL, 0, NULL, 0);
        }
    }
    pthread_mutex_unlock(&lock);
    return fd;
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return shim_open(path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

/* Linux closes even when it reports an error. */
int close(int fd)
{
    int error = 0;
    if (handle(fd)) {
        pthread_mutex_lock(&lock);
        error = fails(CLOSES, "close", "") ? errno : 0;
        handle_of[fd] = 0;
        pthread_mutex_unlock(&lock);
    }
    int rc = (int)syscall(SYS_close, fd);
    if (error)
        errno = error;
    return error ? -1 : rc;
}

/* ---- Bytes -------------------------------------------------------------------------------- */

/* What another process does to the file at this very moment. */
static void change_file(int fd)
{
    char path[64];
    struct stat about;
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int other = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND);
    if (other < 0 || fstat(other, &about) != 0)
        return;
    static const char junk[] = "1,2,3\n\xff\0 and more than was there before";
    long rc = plan.fault == SHIM_CUT ? syscall(SYS_ftruncate, other, about.st_size / 3)
                                     : syscall(SYS_write, other, junk, sizeof junk);
    (void)rc;
    (void)syscall(SYS_close, other);
}

ssize_t read(int fd, void *bytes, size_t n)
{
    if (handle(fd)) {
        pthread_mutex_lock(&lock);
        bool met = meets(READS, "read", "");
        pthread_mutex_unlock(&lock);
        if (met && plan.fault > 0) {
            errno = plan.fault;
            return -1;
        }
        if (met && plan.fault == SHIM_SHORT && n > 1)
            n = 1;
        if (met && (plan.fault == SHIM_CUT || plan.fault == SHIM_GROW))
            change_file(fd);
    }
    return syscall(SYS_read, fd, bytes, n);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    if (!handle(fd))
        return syscall(SYS_write, fd, bytes, n);
    pthread_mutex_lock(&lock);
    ssize_t rc = -1;
    bool met = meets(WRITES, "write", "");
    if (met && plan.fault > 0) {
        errno = plan.fault;
    } else {
        int64_t at = syscall(SYS_lseek, fd, 0, SEEK_CUR);
        rc = syscall(SYS_write, fd, bytes, met && n > 1 ? 1 : n);
        if (rc > 0)
            note((shim_record_head){.op = SHIM_WRITE, .handle = handle(fd), .at = at}, bytes,
                 (size_t)rc, NULL, 0);
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

int ftruncate(int fd, off_t size)
{
    if (!handle(fd))
        return (int)syscall(SYS_ftruncate, fd, size);
    pthread_mutex_lock(&lock);
    int rc = fails(CUTS, "ftruncate", "") ? -1 : (int)syscall(SYS_ftruncate, fd, size);
    if (rc == 0)
        note((shim_record_head){.op = SHIM_TRUNCATE, .handle = handle(fd), .at = size}, NULL, 0,
             NULL, 0);
    pthread_mutex_unlock(&lock);
    return rc;
}

int ftruncate64(int fd, off64_t size) __attribute__((alias("ftruncate")));

/* The disks of tests have no power to lose: the kernel is not asked to wait for them. */
int fsync(int fd)
{
    if (!handle(fd))
        return (int)syscall(SYS_fsync, fd);
    pthread_mutex_lock(&lock);
    int rc = fails(SYNCS, "fsync", "") ? -1 : 0;
    if (rc == 0)
        note((shim_record_head){.op = SHIM_SYNC, .handle = handle(fd)}, NULL, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    return rc;
}

int fdatasync(int fd) __attribute__((alias("fsync")));

int flock(int fd, int operation)
{
    if (handle(fd) && fails(LOCKS, "flock", ""))
        return -1;
    return (int)syscall(SYS_flock, fd, operation);
}

/* ---- Names -------------------------------------------------------------------------------- */

int rename(const char *from, const char *to)
{
    if (!is_watched(to))
        return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    pthread_mutex_lock(&lock);
    int rc = fails(NAMES, "rename to", to)
                 ? -1
                 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (rc == 0)
        note((shim_record_head){.op = SHIM_RENAME}, from, strlen(from) + 1, to, strlen(to));
    pthread_mutex_unlock(&lock);
    return rc;
}

int unlink(const char *path)
{
    if (!is_watched(path))
        return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    pthread_mutex_lock(&lock);
    int rc = fails(NAMES, "unlink", path) ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    if (rc == 0)
        note_path(SHIM_UNLINK, path);
    pthread_mutex_unlock(&lock);
    return rc;
}

int mkdir(const char *path, mode_t mode)
{
    if (!is_watched(path))
        return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    pthread_mutex_lock(&lock);
    int rc = fails(NAMES, "mkdir", path) ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    if (rc == 0)
        note_path(SHIM_FOLDER, path);
    pthread_mutex_unlock(&lock);
    return rc;
}
