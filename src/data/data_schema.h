/* data_schema.h - what the columns, words, targets and classes of a data set are called.
 *
 * A model file keeps the schema of the data it was trained on (tessera.schema), and whatever the
 * model is shown later is matched with it by name: columns may be in another order; words and
 * classes keep the inputs and outputs that they had in training. Arrays, which have no names, are
 * matched by shape alone, with a note.
 */
#ifndef TSRI_DATA_SCHEMA_H
#define TSRI_DATA_SCHEMA_H

#include "data/scaling.h"

typedef struct tsri_field {
    char *name;    /* NULL: the table had no header */
    char **word;   /* [words] in the order of their inputs; NULL: a column of numbers */
    int64_t words; /* 0 for a column of numbers */
    int dates;     /* 1: its numbers are days of dates, 0: they are not, -1: not said (0.1) */
} tsri_field;

typedef struct tsri_data_schema {
    const char *kind;  /* "table", "images", "arrays"; NULL: not known (an older model file) */
    tsri_field *field; /* [fields] columns of inputs, in order */
    int64_t fields;
    char **target; /* [targets] names of the target's columns; an entry is NULL without a header */
    int64_t targets;
    char **ignored; /* [ignoreds] names of columns that were left out */
    int64_t ignoreds;
    int64_t classes;                /* 0 for real targets */
    char *unit;                     /* of real targets, or NULL */
    char *normalize, *target_scale; /* what was done: keys of the run file, never auto */
} tsri_data_schema;

void tsri_data_schema_fini(tsri_data_schema *s);

/* The caller finishes *to, also after a failure. */
tsr_status tsri_data_schema_copy(tsri_data_schema *to, const tsri_data_schema *from);

/* As one JSON object, and back. BAD_FILE, naming `path`, when the text is not such an object. */
void tsri_data_schema_write(tsri_json *w, const tsri_data_schema *s);
tsr_status tsri_data_schema_read(tsri_data_schema *s, const char *text, const char *path);

/* What a table's columns are taken for, in a sentence or two: "inputs: city (words A, B, C), size;
 * target: price (real); left out: id". Nothing for other kinds of data. */
tsr_status tsri_data_schema_text(tsri_text *out, const tsri_data_schema *s);

/* Place of a word of the field, or -1. */
int64_t tsri_field_word(const tsri_field *f, const char *text, size_t n);

/* How the columns of two tables differ, in words ("column 2 is "a" here and "b" there"); NULL when
 * they do not, or when one of them has none to compare. The text lives until the next call. */
const char *tsri_data_schema_differs(const tsri_data_schema *here, const tsri_data_schema *there);

/* Does any column have a name? */
bool tsri_data_schema_named(const tsri_data_schema *s);

/* The data that a model was trained on, for loading others like them. */
typedef struct tsri_like {
    const tsri_scaling *scaling;
    const tsri_data_schema *schema;
    char *const *class_name;         /* [classes], or NULL: classes are numbered from 0 */
    int64_t classes, targets;        /* one of them is 0 */
    int64_t channels, height, width; /* of a sample */
    bool unlabelled;                 /* targets may be missing: they are not needed */
} tsri_like;

/* The class of that name, or of that number where classes have no names; -1 when there is none. */
int64_t tsri_like_class(const tsri_like *like, const char *text, size_t n);

/* The class that a whole number means: the one of that name, or, where names are words (of a named
 * set, whose files have numbers), the one in that place; -1 when there is none. */
int64_t tsri_like_label(const tsri_like *like, int64_t label);

#endif
