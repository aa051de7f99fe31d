/* config_value.h - one value of a run file against its row of the schema. Private to the config's
 * files. */
#ifndef TSRI_CONFIG_VALUE_H
#define TSRI_CONFIG_VALUE_H

#include "io/config.h"
#include "io/yaml.h"

typedef struct tsri_setting {
    bool present;   /* false: a key without default that was not given */
    bool given;     /* in the file or by set */
    char *place;    /* where it was given */
    int64_t number; /* INT; BOOL as 0 or 1 */
    double real;    /* REAL */
    char *text;     /* TEXT, CHOICE */
    int64_t *ints;  /* INTS [count] */
    double *reals;  /* REALS [count] */
    int64_t count;
} tsri_setting;

/* One value per row of the schema. */
struct tsr_config {
    tsri_setting *value;
    char *name; /* of the file, for the places of defaults; NULL = none */
};

/* *out = what the node says, when it has the row's type and range; else USAGE with the place and
 * what was expected. *out is overwritten; on failure it is empty. */
tsr_status tsri_setting_read(tsri_setting *out, const tsri_schema_row *row,
                             const tsri_yaml_node *node, const tsri_yaml_source *source);
void tsri_setting_fini(tsri_setting *value);

/* Defaults that depend on another key, after keys have changed. */
tsr_status tsri_config_settle(tsr_config *config);

#endif
