/* archive.h - compressed files and archives, by content, not by name.
 *
 * gzip, xz, bzip2 and zstd are recognised by their first bytes and undone; anything else is taken
 * as it is. So a reader of IDX or CSV reads .gz and .xz without knowing. Data that is cut off or
 * does not match its checksum is an error, never a shorter file. Every call has a limit for what
 * may come out, so that a bomb ends with an error.
 *
 *     char *bytes = NULL;
 *     int64_t n = 0;
 *     TSR_TRY(tsri_archive_read_file(&bytes, &n, "train-images-idx3-ubyte.gz", 1 << 30));
 *     ...
 *     tsri_free(bytes);
 */
#ifndef TSRI_ARCHIVE_H
#define TSRI_ARCHIVE_H

#include "base/status.h"

/* *bytes = the file's content, decompressed, followed by a NUL; *n = its size. BAD_FILE with path
 * and reason when it cannot be read, is damaged, or would be larger than `most`. The caller frees
 * *bytes. */
tsr_status tsri_archive_read_file(char **bytes, int64_t *n, const char *path, int64_t most);

/* Called for each member; `bytes` is valid during the call, and followed by a NUL. `name` comes
 * from the archive: compare it, print it through tsri_quote, never make a path of it. */
typedef tsr_status (*tsri_archive_visit)(void *context, const char *name, const char *bytes,
                                         int64_t n);

/* Walks the regular files in a tar (plain or compressed as above) or zip in the archive's order
 * until visit fails; folders and links are skipped. `most` limits the decompressed archive as a
 * whole. One member is in memory at a time. Damage after the last member is an error too. */
tsr_status tsri_archive_each(const char *path, tsri_archive_visit visit, void *context,
                             int64_t most);

#endif
