/* late.h - a library that is loaded when it is first needed, with its functions in a table.
 *
 * Nothing links it. So a program starts where the library is missing, too, and does everything that
 * does not need it. The table has one pointer per function, named as in the library:
 *
 *     #define CALLS(X) X(compress) X(compressBound)
 *     struct table {
 *     #define X(name) __typeof__(&(name)) name;
 *         CALLS(X)
 *     #undef X
 *     } table;
 *     static const tsri_late_call calls[] = {
 *     #define X(name) {#name, offsetof(struct table, name)},
 *         CALLS(X)
 *     #undef X
 *     };
 *     TSRI_LATE_NOTE("libz.so.1", "pictures", "smaller pictures", "suggested");
 */
#ifndef TSRI_LATE_H
#define TSRI_LATE_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct tsri_late_call {
    const char *name;
    size_t at; /* offset of its pointer in the table */
} tsri_late_call;

typedef struct tsri_late {
    const char *file;   /* "libopenblas.so.0" */
    const char *name;   /* "OpenBLAS" */
    const char *remedy; /* what to do when it is missing: "install libopenblas0-pthread" */
    tsr_status status;  /* of that failure */
    const tsri_late_call *call;
    size_t calls;
} tsri_late;

/* Loads the library and fills the table; after a failure the table is as it was. The library is
 * bound at once (RTLD_NOW) and for us alone (RTLD_LOCAL): it does not get in the way of a copy that
 * the host program uses. The caller closes it (dlclose), or keeps it. */
tsr_status tsri_late_open(void **library, void *table, const tsri_late *late);

/* Notes in the binary what is loaded late, for makers of packages and tools/sbom: the ELF note of
 * the UAPI group, which systemd's libraries carry as well. Once in a file, at its top level. */
#define TSRI_LATE_NOTE(file, feature, description, priority)                                       \
    __attribute__((used, section(".note.dlopen"), aligned(4))) static const struct {               \
        uint32_t name_size, text_size, type;                                                       \
        char name[4];                                                                              \
        char text[(sizeof TSRI_LATE_TEXT(file, feature, description, priority) + 3) / 4 * 4];      \
    } late_note = {4, sizeof TSRI_LATE_TEXT(file, feature, description, priority), 0x407c0c0a,     \
                   "FDO", TSRI_LATE_TEXT(file, feature, description, priority)}

#define TSRI_LATE_TEXT(file, feature, description, priority)                                       \
    "[{\"soname\":[\"" file "\"],\"feature\":\"" feature "\",\"description\":\"" description       \
    "\",\"priority\":\"" priority "\"}]"

#endif
