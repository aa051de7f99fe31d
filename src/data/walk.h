/* walk.h - the files below a folder, in the order of their names.
 *
 * Symbolic links are followed, since data is often elsewhere. What a stranger can do with them is
 * bounded. A link back to a folder that contains it would be followed forever (or, with a limit of
 * depth, 14 such links 14^8 times). So a folder is never entered from within itself, and the number
 * of folders is limited.
 */
#ifndef TSRI_WALK_H
#define TSRI_WALK_H

#include "base/status.h"

typedef struct tsri_walk {
    int depth;       /* folders below the first one that are entered */
    int64_t entries; /* of each folder that are looked at; 0 = all */
    int64_t folders; /* that are entered in all */
    bool strict;     /* BAD_FILE for a loop or too many folders; else they are skipped */
    /* A file or a folder too deep: its path, and its name below the first folder. *enough = true
     * ends the walk. Names that begin with a dot are not shown. */
    tsr_status (*visit)(void *context, const char *path, const char *name, bool *enough);
    void *context;
} tsri_walk;

tsr_status tsri_walk_folder(const char *folder, const tsri_walk *how);

#endif
