/* config.h - the run file, checked against one table.
 *
 * A run file is YAML (and so JSON): sections of keys. Every key the program knows is one row of
 * tsri_schema[] (schema.c): dotted name, type, default, range or choices, one line of help. The
 * same row makes the check, the help, the man page and the completion.
 *
 *     tsr_config *c = NULL;
 *     TSR_TRY(tsr_config_read(&c, "run.yaml"));
 *     TSR_TRY(tsr_config_set(c, "optim.lr=0.05"));
 *     double lr = tsri_config_real(c, "optim.lr");
 *
 * A wrong file is refused with file:line:column, what was expected and the nearest key. Aliases,
 * tags and duplicate keys are refused. Values not given have the default of their row.
 */
#ifndef TSRI_CONFIG_H
#define TSRI_CONFIG_H

#include "base/text.h"

typedef enum tsri_type {
    TSRI_TYPE_INT,
    TSRI_TYPE_REAL,
    TSRI_TYPE_BOOL,
    TSRI_TYPE_TEXT,
    TSRI_TYPE_CHOICE,
    TSRI_TYPE_INTS, /* a list of integers */
    TSRI_TYPE_REALS /* a list of numbers */
} tsri_type;

typedef struct tsri_schema_row {
    const char *key;     /* "optim.lr"; "loss" for a key outside sections */
    tsri_type type;      /* of its value                                   */
    const char *preset;  /* default as text; NULL = none ("not given")     */
    const char *choices; /* "sgd|gd" for CHOICE, else NULL                 */
    double least, most;  /* range of numbers, both ends allowed            */
    const char *help;    /* one line                                       */
    bool pace;           /* changes how fast a run is or what it keeps, never its result */
    /* (optional, both or none) another default where another key has this value: "optim.name=gd" */
    const char *when, *instead;
} tsri_schema_row;

extern const tsri_schema_row tsri_schema[];
extern const int64_t tsri_schema_count;

/* The row of a key, or -1. */
int64_t tsri_schema_find(const char *key);

/* What the row's value must be, in words: "a number from 0 to 1000", "one of sgd, gd". */
tsr_status tsri_schema_expected(tsri_text *out, const tsri_schema_row *row);

/* Reads (tsr_config_read and _set and _destroy are public, in tessera.h). _parse takes the text
 * itself; `name` stands for the path. */
tsr_status tsri_config_parse(tsr_config **out, const char *text, int64_t n, const char *name);

/* tsr_config_set for another option than --set: `option` ("--grid") stands in the messages and in
 * the value's place. */
tsr_status tsri_config_assign(tsr_config *config, const char *option, const char *assignment);

/* The same with key and value apart. */
tsr_status tsri_config_assign_key(tsr_config *config, const char *option, const char *key,
                                  const char *text);

/* The same values with the same places. The caller destroys *out. */
tsr_status tsri_config_copy(tsr_config **out, const tsr_config *config);

/* Was the key given (in the file or by set), or is it the default? */
bool tsri_config_given(const tsr_config *c, const char *key);

/* "run.yaml:7:12", or "--set optim.lr", or for a default "run.yaml": where the value came from, for
 * messages of checks that need more than one key. */
const char *tsri_config_place(const tsr_config *c, const char *key);

/* Takes back a key that has no default, as if it had not been given. */
void tsri_config_unset(tsr_config *c, const char *key);

/* Back to the default of its row. */
tsr_status tsri_config_reset(tsr_config *c, const char *key);

/* USAGE, with the place, when the key does not have its default: `reader` ("scheme loft") does not
 * read it, and setting it would have no effect. (Its default is allowed: a resolved run file has
 * every key.) */
tsr_status tsri_config_unread(const tsr_config *c, const char *key, const char *reader);

/* The same for all keys of a section but its name and those in `keys`, between spaces: "workers
 * xi". */
tsr_status tsri_config_only(const tsr_config *c, const char *section, const char *keys,
                            const char *reader);

/* Sets all keys of a section but those back to their defaults: the section has another reader
 * now. */
tsr_status tsri_config_keep(tsr_config *c, const char *section, const char *keys);

/* Is the key, without its section, among `keys`? */
bool tsri_reads(const char *keys, const char *key);

/* Names other data: the path of a file or folder that exists, or something that looks like a path;
 * else the name of a set. Replaces all that the run file says about where the data is. */
tsr_status tsri_config_set_data(tsr_config *c, const char *name_or_path);

/* Typed reads. The key must be in the schema with that type (asserted); a key without value gives
 * 0, false, NULL, an empty list. Lists and texts belong to the config. */
int64_t tsri_config_int(const tsr_config *c, const char *key);
double tsri_config_real(const tsr_config *c, const char *key);
bool tsri_config_bool(const tsr_config *c, const char *key);
const char *tsri_config_text(const tsr_config *c, const char *key);            /* TEXT and CHOICE */
bool tsri_config_is(const tsr_config *c, const char *key, const char *choice); /* one of CHOICE */
int64_t tsri_config_ints(const tsr_config *c, const char *key, const int64_t **values);
int64_t tsri_config_reals(const tsr_config *c, const char *key, const double **values);

/* The whole config, defaults filled in, as YAML that reads back to the same config; `section` NULL
 * for all, or "model" for one section (what a model file carries). Keys in the schema's order: the
 * same config gives the same bytes. */
tsr_status tsri_config_write(tsri_text *out, const tsr_config *c, const char *section);

/* The same for all keys that decide the result: what a finished model carries, so that its
 * bytes do not depend on the number of threads. */
tsr_status tsri_config_write_result(tsri_text *out, const tsr_config *c);

/* One value as it would be written there; nothing for a key without value. */
tsr_status tsri_config_write_value(tsri_text *out, const tsr_config *c, const char *key);

/* The keys in which the results of a and b may differ, as "key: a-value -> b-value" lines; empty
 * when none. */
tsr_status tsri_config_differences(tsri_text *out, const tsr_config *a, const tsr_config *b);

#endif
