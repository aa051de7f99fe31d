/* module.h - a backend in a library of its own, loaded when a run file names it.
 *
 * The library does not link the libraries of a vendor whose chips most machines lack. A module does.
 * It is found beside the program (or the library), or where an environment variable says, and exports
 * one symbol, `tsri_this_module`:
 *
 *     const tsri_module tsri_this_module = {TSRI_MODULE_HEADER, .accept = accept, .backend = &cuda};
 *
 * Modules are built with the program, from the same headers. Whether they were is checked before
 * anything of them runs: the number of the interface and the sizes of what passes through it.
 */
#ifndef TSRI_MODULE_H
#define TSRI_MODULE_H

#include "backend/backend.h"

/* Goes up by one whenever a field of a struct that passes through changes its meaning. */
enum { TSRI_MODULE_INTERFACE = 4 };

/* The library's functions that a module needs. They are handed over because the library's own names
 * are hidden. */
typedef struct tsri_services {
    tsr_status (*fail)(tsr_status status, const char *fmt, ...) TSR_PRINTF(2, 3);
    tsr_status (*alloc)(void *out, int64_t count, size_t size);
    void (*release)(void *memory);
    void (*log)(tsr_log_level level, const char *fmt, ...) TSR_PRINTF(2, 3);
    int64_t (*slices_lines)(const tsri_slices *s, const tsri_pick *pick);
    int64_t (*slices_pieces)(const tsri_slices *s, const tsri_pick *pick);
    int64_t (*slices_from)(const tsri_slices *s, const tsri_pick *pick, int64_t j);
    int64_t (*slices_find)(const tsri_slices *s, const tsri_pick *pick, int64_t k);
} tsri_services;

typedef struct tsri_module {
    int32_t interface;
    int32_t bytes[4]; /* of a backend, an op, a loss, the services */
    const char *version;
    void (*accept)(const tsri_services *services);
    const tsri_backend *backend;
} tsri_module;

#define TSRI_MODULE_HEADER                                                                         \
    .interface = TSRI_MODULE_INTERFACE,                                                            \
    .bytes = {(int32_t)sizeof(tsri_backend), (int32_t)sizeof(tsri_op), (int32_t)sizeof(tsri_loss), \
              (int32_t)sizeof(tsri_services)},                                                     \
    .version = TSR_VERSION_STRING

/* The backend of libtessera-NAME.so, loaded once per process and kept. USAGE when there is none, or
 * another one than this program needs, with what to do about it. */
tsr_status tsri_module_load(const tsri_backend **backend, const char *name);

#endif
