/* faults.h - the table of system calls, with a fault in it.
 *
 * Calls that change files are numbered as they come; number `fault_at` fails with `fault_error`,
 * or, for a write, takes one byte only (FAULT_SHORT), or ends the process (FAULT_KILL). With
 * fault_persistent all later ones fail too.
 *
 *     for (fault_at = 0; ; fault_at++) {
 *         faults_on(ENOSPC, false);
 *         ... the call under test ...
 *         if (!faults_off())
 *             break;                           no call had this number: all were tried
 *     }
 */
#ifndef TSRI_FAULTS_H
#define TSRI_FAULTS_H

#include "io/file.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

enum { FAULT_SHORT = -1, FAULT_KILL = -2 };

static tsri_io_table fault_real;
static int fault_at, fault_calls, fault_error;
static bool fault_persistent, fault_hit;

/* True when this call must fail; errno is set. */
static inline bool fault(void)
{
    int call = fault_calls++;
    if (call != fault_at && !(fault_persistent && call > fault_at))
        return false;
    fault_hit = true;
    if (fault_error == FAULT_KILL)
        _exit(9);
    errno = fault_error;
    return fault_error != FAULT_SHORT;
}

static int fault_open(const char *path, int flags, mode_t mode)
{
    return fault() ? -1 : fault_real.open(path, flags, mode);
}

static ssize_t fault_write(int fd, const void *bytes, size_t n)
{
    bool now = fault_calls == fault_at || (fault_persistent && fault_calls > fault_at);
    if (fault())
        return -1;
    return fault_real.write(fd, bytes, now && n > 1 ? 1 : n);
}

static int fault_fsync(int fd)
{
    return fault() ? -1 : fault_real.fsync(fd);
}

static int fault_close(int fd) /* Linux closes even when it reports an error */
{
    bool failed = fault();
    int error = errno, rc = fault_real.close(fd);
    errno = error;
    return failed ? -1 : rc;
}

static int fault_rename(const char *from, const char *to)
{
    return fault() ? -1 : fault_real.rename(from, to);
}

static int fault_unlink(const char *path)
{
    return fault() ? -1 : fault_real.unlink(path);
}

static int fault_ftruncate(int fd, off_t size)
{
    return fault() ? -1 : fault_real.ftruncate(fd, size);
}

static inline void faults_on(int error, bool persistent)
{
    fault_real = tsri_io;
    fault_calls = 0;
    fault_hit = false;
    fault_error = error;
    fault_persistent = persistent;
    tsri_io.open = fault_open;
    tsri_io.write = fault_write;
    tsri_io.fsync = fault_fsync;
    tsri_io.close = fault_close;
    tsri_io.rename = fault_rename;
    tsri_io.unlink = fault_unlink;
    tsri_io.ftruncate = fault_ftruncate;
}

/* Whether the fault was met. */
static inline bool faults_off(void)
{
    tsri_io = fault_real;
    return fault_hit;
}

#endif
