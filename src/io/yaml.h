/* yaml.h - a YAML text as a small tree with the place of everything in it.
 *
 * Only what a run file needs: one document of mappings, lists and scalars. Aliases, anchors, tags,
 * duplicate keys, several documents, bytes that are not UTF-8, deep nesting, huge scalars and huge
 * trees are refused (USAGE) with their place: nothing in a text can make the tree larger than the
 * text. JSON is YAML and takes the same way.
 *
 *     tsri_yaml_source source = {"run.yaml", true};
 *     tsri_yaml_node *root = NULL;
 *     TSR_TRY(tsri_yaml_parse(&root, text, n, &source));
 *     for (const tsri_yaml_node *m = root->child; m; m = m->next)
 *         ... m->key, m->text, tsri_place_of(&source, m->mark).text ...
 *     tsri_yaml_destroy(root);
 */
#ifndef TSRI_YAML_H
#define TSRI_YAML_H

#include "base/text.h"

enum {
    TSRI_YAML_DEPTH = 16,        /* nesting */
    TSRI_YAML_NODES = 10000,     /* values in one text */
    TSRI_YAML_SCALAR_MAX = 65536 /* bytes of one scalar */
};

typedef enum tsri_yaml_kind { TSRI_YAML_SCALAR, TSRI_YAML_LIST, TSRI_YAML_MAP } tsri_yaml_kind;

typedef struct tsri_mark {
    int64_t line, column; /* from 1 */
} tsri_mark;

typedef struct tsri_yaml_node {
    tsri_yaml_kind kind;
    bool quoted; /* a scalar in quotes is never a number */
    char *text;  /* a scalar's, followed by a NUL; none inside */
    char *key;   /* of a member of a mapping, else NULL */
    tsri_mark mark, key_mark;
    int64_t count; /* children */
    struct tsri_yaml_node *child, *next;
} tsri_yaml_node;

/* Where a text comes from. Texts of one line (an option's value) have no lines worth naming. */
typedef struct tsri_yaml_source {
    const char *name;
    bool lines;
} tsri_yaml_source;

typedef struct tsri_place {
    char text[320];
} tsri_place;

/* "run.yaml:7:12", or "--set optim.lr" for a source without lines. */
tsri_place tsri_place_of(const tsri_yaml_source *source, tsri_mark mark);

/* *out = the tree, or NULL when there is nothing but space and comments. The caller destroys it
 * (NULL is fine). */
tsr_status tsri_yaml_parse(tsri_yaml_node **out, const char *text, int64_t n,
                           const tsri_yaml_source *source);
void tsri_yaml_destroy(tsri_yaml_node *node);

/* Adds `text` as a double-quoted scalar that reads back to the same bytes. */
tsr_status tsri_yaml_quote(tsri_text *out, const char *text);

/* Is `text` (n bytes) UTF-8 made only of characters that YAML allows? If not, where not. */
bool tsri_yaml_characters(const char *text, int64_t n, tsri_mark *mark, const char **problem);

#endif
