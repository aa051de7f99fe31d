/* annotations.h - the classes of pictures that are not in class folders.
 *
 * Tiny-ImageNet keeps its validation pictures in one folder and their classes in a list beside it:
 *
 *     val/images/val_0.JPEG
 *     val/val_annotations.txt         val_0.JPEG <tab> n03444034 <tab> 0 <tab> 32 <tab> ...
 *
 * so the list of folder F is F/F_annotations.txt. What follows the class in a line is ignored.
 */
#ifndef TSRI_ANNOTATIONS_H
#define TSRI_ANNOTATIONS_H

#include "data/words.h"

typedef struct tsri_annotations {
    tsri_words files; /* "val/val_0.JPEG" */
    tsri_words classes;
    int64_t *class_of; /* [files.count] number of its class */
    int64_t capacity;
} tsri_annotations;

/* Is the file at `path` (perhaps a name in an archive) such a list? Then *folder is the "val"
 * above, with its length. */
bool tsri_is_annotations(const char *path, const char **folder, size_t *length);

/* Adds the lines of one list. BAD_FILE, with the line, when one is malformed or gives a picture a
 * second class. */
tsr_status tsri_annotations_add(tsri_annotations *a, const char *path, const char *bytes,
                                int64_t n);

/* The class of "FOLDER/FILE", or NULL. */
const char *tsri_annotations_class(const tsri_annotations *a, const char *file);

void tsri_annotations_fini(tsri_annotations *a);

#endif
