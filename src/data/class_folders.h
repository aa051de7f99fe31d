/* class_folders.h - which folders of pictures are classes, and which only look like it. */
#ifndef TSRI_CLASS_FOLDERS_H
#define TSRI_CLASS_FOLDERS_H

#include "data/words.h"

/* Does the folder of this name (n bytes) hold the test part? val, valid, validation, test, testing,
 * in upper or lower case. */
bool tsri_names_test(const char *name, size_t n);

/* `folders`: all that hold pictures, by their paths below `root`. BAD_FILE when one of them is
 * inside another: nobody can say whether that is a class of its own or a part of the one around
 * it. */
tsr_status tsri_class_folders_check(const tsri_words *folders, const char *root);

/* Notes folders of `root`, or of its train/, that hold nothing we can read: they are not
 * classes. */
tsr_status tsri_class_folders_tell_empty(const tsri_words *folders, const char *root);

#endif
