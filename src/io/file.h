/* file.h - whole files, read and replaced.
 *
 * Reading copies the file into memory (never mmap: a file that shrinks under a map kills the
 * process). Writing is atomic: temporary file in the same folder, write, fsync, rename, fsync of
 * the folder; whoever reads the name sees the old bytes or the new ones, never a part. An fsync
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
} tsri_io_table;

extern tsri_io_table tsri_io; /* the system's calls; tests replace entries */

/* *bytes = the whole file and a NUL behind it, *n = its size. BAD_FILE with the path and the reason
 * when it cannot be read or is larger than `most`. The caller frees *bytes. */
tsr_status tsri_file_read(char **bytes, int64_t *n, const char *path, int64_t most);

/* A piece of a file to write. */
typedef struct tsri_piece {
    const void *bytes;
    int64_t n;
} tsri_piece;

/* Replaces `path` by the pieces one after the other, atomically. RESOURCES when the disk is full,
 * FAILURE otherwise; then `path` is what it was and no temporary file is left. */
tsr_status tsri_file_write(const char *path, const tsri_piece *pieces, int64_t count);
tsr_status tsri_file_write_text(const char *path, const char *text);

bool tsri_file_exists(const char *path);
tsr_status tsri_make_folder(const char *path); /* with its parents; fine when it is there */

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
