/* safetensors.h - named tensors in one file, as PyTorch's users know it.
 *
 *     | u64 header length N | N bytes of JSON, padded with spaces | data, without holes |
 *
 * Our reader is stricter than the reference: duplicate names, holes, overlaps, overflow, more than
 * 8 dimensions, an oversized header, trailing bytes, odd metadata are all refused with the reason.
 * Files we write carry a CRC32C per tensor in the metadata ("tessera.crc32c") and one of the header
 * itself ("tessera.header.crc32c"), checked on load, so that every changed byte is noticed; files
 * without them (from other tools) are accepted.
 *
 * Memory while reading: the file once, and at most twice its header on top (a tensor takes 88 bytes
 * here and some 50 there): whatever the header claims.
 *
 *     tsri_tensors *file = NULL;
 *     TSR_TRY(tsri_tensors_read(&file, path));
 *     const tsri_tensor *w = tsri_tensors_find(file, "layers.0.weight");
 *     ...
 *     tsri_tensors_destroy(file);
 */
#ifndef TSRI_SAFETENSORS_H
#define TSRI_SAFETENSORS_H

#include "base/status.h"

enum {
    TSRI_DIMS_MAX = 8,
    TSRI_TENSORS_MAX = 1000000,
    TSRI_TENSOR_NAME_MAX = 1024,    /* bytes */
    TSRI_METADATA_MAX = 10000,      /* entries */
    TSRI_HEADER_MAX = 100 * 1000000 /* bytes */
};

#define TSRI_META_CRC "tessera.crc32c" /* {"name":"8 hex digits",...} */
#define TSRI_META_HEADER_CRC                                                                       \
    "tessera.header.crc32c" /* of the header with 00000000 in this place                           \
                             */

/* name in the file, bytes of an element */
#define TSRI_DTYPE_LIST(X)                                                                         \
    X(BOOL, 1)                                                                                     \
    X(U8, 1)                                                                                       \
    X(I8, 1)                                                                                       \
    X(I16, 2)                                                                                      \
    X(U16, 2)                                                                                      \
    X(F16, 2)                                                                                      \
    X(BF16, 2)                                                                                     \
    X(I32, 4)                                                                                      \
    X(U32, 4)                                                                                      \
    X(F32, 4)                                                                                      \
    X(I64, 8)                                                                                      \
    X(U64, 8)                                                                                      \
    X(F64, 8)

typedef enum tsri_dtype {
#define X(name, bytes) TSRI_##name,
    TSRI_DTYPE_LIST(X)
#undef X
} tsri_dtype;

const char *tsri_dtype_name(tsri_dtype dtype);
int64_t tsri_dtype_bytes(tsri_dtype dtype);
bool tsri_dtype_find(tsri_dtype *dtype, const char *name); /* false when there is none */

typedef struct tsri_tensor {
    const char *name;
    tsri_dtype dtype;
    int dims; /* 0 = a scalar */
    int64_t shape[TSRI_DIMS_MAX];
    const void *data; /* little-endian, row-major; aligned to its element when we read it */
} tsri_tensor;

typedef struct tsri_pair {
    const char *key;
    const char *value;
} tsri_pair;

/* A file in memory: tensors in the order of their data, metadata in the order of the header. */
typedef struct tsri_tensors {
    tsri_tensor *tensor;
    int64_t count;
    tsri_pair *metadata;
    int64_t metadata_count;
    char *header;     /* where the names and metadata live */
    char *data;       /* where the tensors live */
    int32_t *by_name; /* [count] places in `tensor`, sorted by name */
} tsri_tensors;

/* BAD_FILE with path, place and reason. */
tsr_status tsri_tensors_read(tsri_tensors **out, const char *path);

/* The same from memory; `bytes` is copied. `name` stands for the path in messages. */
tsr_status tsri_tensors_parse(tsri_tensors **out, const char *bytes, int64_t n, const char *name);

void tsri_tensors_destroy(tsri_tensors *file);

const tsri_tensor *tsri_tensors_find(const tsri_tensors *file, const char *name); /* or NULL */
const char *tsri_tensors_meta(const tsri_tensors *file, const char *key);         /* or NULL */
int64_t tsri_tensor_count(const tsri_tensor *tensor);                             /* elements */
int64_t tsri_tensor_bytes(const tsri_tensor *tensor);

/* Is this the name of a tensor? Valid UTF-8, 1 to TSRI_TENSOR_NAME_MAX bytes, no control
 * characters. */
bool tsri_tensor_name_ok(const char *name, size_t n);

/* Where such a file goes: to a path, or, when that is NULL, into memory, bytes [n], which the
 * caller frees. */
typedef struct tsri_sink {
    const char *path;
    char *bytes;
    int64_t n;
} tsri_sink;

/* Writes the file atomically: tensors sorted as the reference does (alignment, then name), metadata
 * as given plus the two checksums (given ones are replaced). The same input gives the same bytes.
 * FAILURE when a name, key or shape could not be read back. */
tsr_status tsri_tensors_put(tsri_sink *to, const tsri_tensor *tensors, int64_t count,
                            const tsri_pair *metadata, int64_t metadata_count);
tsr_status tsri_tensors_write(const char *path, const tsri_tensor *tensors, int64_t count,
                              const tsri_pair *metadata, int64_t metadata_count);

#endif
