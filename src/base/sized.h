/* sized.h - structs of the public header that say how large they are.
 *
 * A program may have been compiled with an older header than ours, or a newer one. Its struct then
 * ends earlier, or later; what both know is the beginning. So a public function works on a copy of
 * its own:
 *
 *     tsr_run_options o;
 *     TSR_TRY(TSRI_SIZED_TAKE(&o, options));        what the program did not know is 0
 *     ...
 *     TSR_TRY(TSRI_SIZED_GIVE(result, &r));         what the program does not know is left out
 */
#ifndef TSRI_SIZED_H
#define TSRI_SIZED_H

#include "base/status.h"

/* *mine [known bytes] = *theirs, which begins with its size. USAGE when theirs is NULL, has no
 * size, or is larger than ours and holds anything but zeros there. `type` is for the message. */
tsr_status tsri_sized_take(void *mine, size_t known, const void *theirs, const char *type);

/* The other way round; their size stays. */
tsr_status tsri_sized_give(void *theirs, const void *mine, size_t known, const char *type);

/* The names of structs are those of their pointers: the compiler checks that they are of one
 * type. */
#define TSRI_SIZED_TAKE(mine, theirs)                                                              \
    tsri_sized_take((mine), sizeof *(1 ? (mine) : (theirs)), (theirs), #theirs)
#define TSRI_SIZED_GIVE(theirs, mine)                                                              \
    tsri_sized_give((theirs), (mine), sizeof *(1 ? (mine) : (theirs)), #theirs)

/* USAGE when a pointer that must be there is NULL. */
#define TSRI_GIVEN(pointer) TSR_CHECK((pointer) != NULL, TSR_USAGE, "%s must not be NULL", #pointer)

#endif
