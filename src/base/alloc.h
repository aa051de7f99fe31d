/* alloc.h - the one allocator of the library.
 *
 * Every byte the library takes comes from here: aligned to 64 bytes (a cache line, an AVX-512
 * register), counted, replaceable (tsr_context_set_allocator), and able to fail the n-th call so
 * that a test can walk through every failure path. All of that for this thread's context
 * (context.h).
 */
#ifndef TSRI_ALLOC_H
#define TSRI_ALLOC_H

#include "base/status.h"

/* *out = count * size bytes, zeroed. Zero bytes give a valid pointer. RESOURCES on overflow or when
 * memory is out; *out is then NULL. `out` is the address of any object pointer. */
tsr_status tsri_alloc(void *out, int64_t count, size_t size);

/* The same, not zeroed: for buffers that are written whole before they are read. */
tsr_status tsri_alloc_raw(void *out, int64_t count, size_t size);

/* Grows (or shrinks) *memory to count * size bytes; new bytes are zero. On failure *memory is
 * unchanged. */
tsr_status tsri_realloc(void *memory, int64_t count, size_t size);

/* Makes room for one more element in an array that doubles: *memory holds *capacity elements of
 * `size` bytes, `count` of them used. */
tsr_status tsri_reserve(void *memory, int64_t *capacity, int64_t count, size_t size);

/* *out = a copy of text, or of its first n bytes followed by a NUL. */
tsr_status tsri_strdup(char **out, const char *text);
tsr_status tsri_strndup(char **out, const char *text, size_t n);

/* NULL is fine. */
void tsri_free(void *memory);

/* Frees *memory and sets it to NULL. */
#define TSRI_FREE(memory) (tsri_free(memory), (memory) = NULL)

/* For tests. After `n` more allocations one fails (and all later ones too if `persistent`);
 * n < 0 switches it off. Returns how many allocations were made since the last call. */
int64_t tsri_alloc_fail_after(int64_t n, bool persistent);

/* Blocks not freed yet. */
int64_t tsri_alloc_blocks(void);

/* malloc and free: what a context uses unless the program sets another allocator. */
void *tsri_alloc_default(void *context, size_t bytes);
void tsri_free_default(void *context, void *memory);

#define TSRI_ALLOCATOR_DEFAULT                                                                     \
    {                                                                                              \
        tsri_alloc_default, tsri_free_default, NULL                                                \
    }

#endif
