/* stream.h - the decompressed content of a file, block by block; shared by the archive readers. */
#ifndef TSRI_STREAM_H
#define TSRI_STREAM_H

#include "base/status.h"

typedef struct tsri_stream tsri_stream;

/* Looks at the first bytes to choose the decompressor. The path is borrowed. */
tsr_status tsri_stream_open(tsri_stream **out, const char *path, int64_t most);

/* *block = the next *n bytes, valid until the next call; *n = 0 at the end, and only when the end
 * was reached as the format demands (trailers present, checksums right). BAD_FILE otherwise, and
 * when more than `most` bytes would come out. */
tsr_status tsri_stream_next(tsri_stream *stream, const void **block, int64_t *n);

/* The file as it lies on disk: for formats with a directory at the end. Only when plain. */
bool tsri_stream_plain(const tsri_stream *stream);
tsr_status tsri_stream_seek(tsri_stream *stream, int64_t *where, int64_t offset, int whence);

/* A guess at the decompressed size, or 0; never more than the format can hold, never over
 * `most`. */
int64_t tsri_stream_hint(const tsri_stream *stream);

void tsri_stream_close(tsri_stream *stream); /* NULL is fine */

#endif
