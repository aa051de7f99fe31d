/* file.h - whole files, read and replaced.
 *
 * Reading copies the file into memory (never mmap: a file that shrinks under a map kills the
 * process). Writing is atomic: temporary file in the same folder, write, fsync, rename, fsync of
 * the folder; a reader of the file sees the old bytes or the new ones, never a part. An fsync
 * that fails is never tried again: the temporary file is thrown away and the old one stays.
 *
 * Every system call goes through the table tsri_io, so that a test can count, fail, cut or kill it.
 */
#ifndef TSRI_FILE_H
#define TSRI_FILE_H

#include "base/status.h"

#include <sys/types.h>

typedef struct tsri_io_table {
    int (*open)(const char *path, int flags, mode_t mode);
    ssize_t (*read)(int fd, void *bytes, size_t n);
    ssize_t (*write)(int fd, const void *bytes, size_t n);
    int (*fsync)(int fd);
    int (*close)(int fd);
    int (*rename)(const char *from, const char *to);
    int (*unlink)(const char *path);
    int (*ftruncate)(int fd, off_t size);
    off_t (*lseek)(int fd, off_t offset, int whence);
    int (*flock)(int fd, int operation);
} tsri_io_table;

extern tsri_io_table tsri_io; /* the system's calls; tests replace entries */

/* Opens a regular file for reading, *size = its bytes now. BAD_FILE with the path and the reason: a
 * folder, a device and a pipe are refused, so that no read waits forever. Close with
 * tsri_io.close. */
tsr_status tsri_file_open(int *fd, int64_t *size, const char *path);

/* Opens a file of a run's folder that is changed in place (a lock, metrics), for reading and
 * writing; *created = it was not there. A symbolic link is refused (USAGE): a folder from a
 * stranger must not have us empty the file that a link points at. So is what is not a regular file.
 * Close with tsri_io.close. */
tsr_status tsri_file_open_own(int *fd, bool *created, const char *path);

/* *got = how many bytes were read, 0 only at the end; an interrupted call goes on. */
tsr_status tsri_file_get(int64_t *got, int fd, void *bytes, int64_t n, const char *path);

/* Writes all n bytes, however many calls that takes. */
tsr_status tsri_file_put(int fd, const void *bytes, int64_t n, const char *path);

/* The status and sentence of a call that changed a file and failed: RESOURCES for a full disk, a
 * limit on file sizes or too many open files, FAILURE otherwise. `error` is errno. (Beyond such a
 * limit a write is an error only where SIGXFSZ is ignored, as the program does; the library leaves
 * signals to its host.) */
tsr_status tsri_file_failed(int error, const char *what, const char *path);

/* *bytes = the whole file followed by a NUL, *n = its size. BAD_FILE with the path and the reason
 * when it cannot be read or is larger than `most`. The caller frees *bytes. */
tsr_status tsri_file_read(char **bytes, int64_t *n, const char *path, int64_t most);

/* The same of standard input, up to its end. */
tsr_status tsri_file_read_stdin(char **bytes, int64_t *n, int64_t most);

/* A piece of a file to write. */
typedef struct tsri_piece {
    const void *bytes;
    int64_t n;
} tsri_piece;

/* Replaces `path` by the pieces one after the other, atomically. RESOURCES when the disk is full,
 * FAILURE otherwise; then `path` is what it was and no temporary file is left. (One exception: when
 * only the last step, the fsync of the folder, fails, `path` is already the new file, whole, but a
 * power cut may bring the old one back.) */
tsr_status tsri_file_write(const char *path, const tsri_piece *pieces, int64_t count);
tsr_status tsri_file_write_text(const char *path, const char *text);

/* Removes the temporary files that killed processes left in the folder, not those that are being
 * written. Every tsri_file_write does so in its folder. */
tsr_status tsri_sweep_folder(const char *folder);

/* Brings the entries of the folder that `path` is in to the disk: a file that was created is only
 * then one that a power cut leaves. */
tsr_status tsri_sync_folder_of(const char *path);

bool tsri_file_exists(const char *path);
/* With its parents, each on the disk before the next; fine when it is there; USAGE when a file has
 * that name. */
tsr_status tsri_make_folder(const char *path);

/* The same for a folder inside a run's own, in which files are replaced and removed. A symbolic
 * link in its place is refused (USAGE), as by tsri_file_open_own. */
tsr_status tsri_make_own_folder(const char *path);

/* "folder/name" in a new string. */
tsr_status tsri_path_join(char **out, const char *folder, const char *name);

/* The names in a folder, sorted by byte order, "." and ".." left out. Free with tsri_names_free. */
tsr_status tsri_list_folder(char ***names, int64_t *count, const char *path);
void tsri_names_free(char **names, int64_t count);

/* An exclusive lock on folder/run.lock, held until released or the process ends. USAGE, naming the
 * process that holds it, when another run has the folder. */
tsr_status tsri_lock_folder(int *lock, const char *folder);
void tsri_unlock_folder(int lock);

#endif
