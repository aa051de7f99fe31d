/* tessera.h - the public interface of libtessera.
 *
 * Tessera trains one wide network as many small ones, puts them together again and draws the
 * winning ticket from the result. Everything a program needs is in this one header.
 *
 * Every fallible function returns a tsr_status; when it is not TSR_OK, tsr_last_error() gives the
 * sentence that says what went wrong, where, and what to do. The library never prints, never exits
 * and never aborts.
 */
#ifndef TESSERA_H
#define TESSERA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TSR_API            __attribute__((visibility("default")))
#define TSR_PRINTF(fmt, a) __attribute__((format(printf, fmt, a)))
#else
#define TSR_API
#define TSR_PRINTF(fmt, a)
#endif

#define TSR_VERSION_MAJOR  0
#define TSR_VERSION_MINOR  1
#define TSR_VERSION_PATCH  0
#define TSR_VERSION_STRING "0.1.0"

/* ---- Status ------------------------------------------------------------------------------- */

/* One line per status: name, exit code of the program, meaning. */
#define TSR_STATUS_LIST(X)                                                                         \
    X(OK, 0, "ok")                                                                                 \
    X(FAILURE, 1, "failure")                                                                       \
    X(USAGE, 2, "wrong usage or run file")                                                         \
    X(BAD_FILE, 3, "bad input file")                                                               \
    X(RESOURCES, 4, "out of memory, disk or another resource")                                     \
    X(DIVERGED, 5, "the training diverged")                                                        \
    X(INTERRUPTED, 130, "interrupted after saving")

typedef enum tsr_status {
#define X(name, code, text) TSR_##name = code,
    TSR_STATUS_LIST(X)
#undef X
} tsr_status;

/* The last error's sentence on this thread; "" when there was none. Valid until the next call
 * that fails on this thread. */
TSR_API const char *tsr_last_error(void);

/* What a status means in a few words. Never NULL. */
TSR_API const char *tsr_status_text(tsr_status status);

/* The version of the library that is running, "major.minor.patch". */
TSR_API const char *tsr_version(void);

/* ---- Memory ------------------------------------------------------------------------------- */

/* Replaces the library's allocator. Both functions must be safe to call from several threads.
 * Call it before anything else of the library; NULL restores malloc. alloc must return memory
 * aligned to 64 bytes, or NULL. */
typedef struct tsr_allocator {
    void *(*alloc)(void *context, size_t bytes);
    void (*free)(void *context, void *memory);
    void *context;
} tsr_allocator;

TSR_API void tsr_set_allocator(const tsr_allocator *allocator);

/* Bytes the library holds now, and the most it has held since the start. */
TSR_API size_t tsr_memory_in_use(void);
TSR_API size_t tsr_memory_peak(void);

/* ---- Messages ----------------------------------------------------------------------------- */

typedef enum tsr_log_level {
    TSR_LOG_ERROR,
    TSR_LOG_WARNING,
    TSR_LOG_INFO,
    TSR_LOG_DEBUG
} tsr_log_level;

/* Where messages go. The library is silent until a program asks for them. Called from any thread,
 * one at a time. */
typedef void (*tsr_log_function)(void *context, tsr_log_level level, const char *text);

TSR_API void tsr_set_log(tsr_log_function function, void *context, tsr_log_level most);

/* ---- Run files ---------------------------------------------------------------------------- */

/* A run file with every key known, checked and filled in; docs/run-file.md lists the keys. */
typedef struct tsr_config tsr_config;

/* Reads a YAML (or JSON) run file. USAGE with file:line:column, what was expected and the nearest
 * key when it is wrong; BAD_FILE when it cannot be read. The caller destroys *out. */
TSR_API tsr_status tsr_config_read(tsr_config **out, const char *path);

/* A config of defaults only. */
TSR_API tsr_status tsr_config_create(tsr_config **out);

/* Changes one value: "optim.lr=0.05", "model.hidden=[256, 256]". USAGE as above. */
TSR_API tsr_status tsr_config_set(tsr_config *config, const char *assignment);

TSR_API void tsr_config_destroy(tsr_config *config);

#ifdef __cplusplus
}
#endif

#endif
