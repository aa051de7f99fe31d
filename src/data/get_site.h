/* get_site.h - the folder in which a download becomes a data set, FOLDER.part beside FOLDER.
 *
 * It carries a mark, so that only folders of an earlier get are ever removed: a folder of that name
 * without the mark is somebody else's and is refused.
 */
#ifndef TSRI_GET_SITE_H
#define TSRI_GET_SITE_H

#include "base/status.h"

typedef struct tsri_site {
    char *part;
    char *work; /* for downloads */
    char *out;  /* becomes the data set */
    char *log;  /* what programs print */
    int lock;   /* -1 = not ours */
} tsri_site;

/* *whole = `folder` as an absolute path without slashes at its end: programs run elsewhere, and
 * FOLDER.part is beside it. USAGE when it is empty, or exists and is not a folder. The caller frees
 * it. */
tsr_status tsri_site_target(char **whole, const char *folder);

/* Makes FOLDER.part and locks it; what an earlier get left in it is removed. USAGE when it is not
 * from a get, or in use by one. Finish with close, even after a failure. */
tsr_status tsri_site_open(tsri_site *s, const char *folder);
void tsri_site_close(tsri_site *s);

/* Removes what a get left that was killed when the data were in their place already; a folder that
 * is not from a get, or in use by one, stays. */
void tsri_site_clear(const char *folder);

/* How many bytes the files in s->work have. */
int64_t tsri_site_bytes(const tsri_site *s);

#endif
