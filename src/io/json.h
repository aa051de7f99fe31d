/* json.h - JSON out (a writer that keeps commas right) and JSON in (jansson, behind this header).
 *
 *     tsri_json w = {0};
 *     tsri_json_begin(&w);
 *     tsri_json_put_real(&w, "loss", loss);
 *     tsri_json_close(&w, '}');
 *     TSR_TRY(tsri_json_end(&w));          the first failure of all calls above
 *     ... w.text.data ...
 *     tsri_json_fini(&w);
 *
 * Numbers are written with the fewest digits that read back to the same bits; NaN and infinities,
 * which JSON lacks, become null, and bytes that are not UTF-8 become U+FFFD.
 */
#ifndef TSRI_JSON_H
#define TSRI_JSON_H

#include "base/text.h"

typedef struct tsri_json {
    tsri_text text;
    tsr_status st;
    bool comma;
} tsri_json;

/* The version of the documents this program writes: what --json prints, the JSON files of a run, a
 * sweep, a ticket and a reproduction, metrics.jsonl. It grows when a field is removed or renamed,
 * or changes its meaning, type or unit; a new field does not change it (docs/formats.md). */
enum { TSRI_JSON_FORMAT = 1 };

void tsri_json_begin(tsri_json *w); /* a document: an object that begins with "format" */
void tsri_json_open(tsri_json *w, char bracket);  /* '{' or '[' */
void tsri_json_close(tsri_json *w, char bracket); /* '}' or ']' */
void tsri_json_key(tsri_json *w, const char *key);
void tsri_json_text(tsri_json *w, const char *value);
void tsri_json_int(tsri_json *w, int64_t value);
void tsri_json_real(tsri_json *w, double value);
void tsri_json_float(tsri_json *w, float value); /* shortest for a float */
void tsri_json_bool(tsri_json *w, bool value);
void tsri_json_null(tsri_json *w);
void tsri_json_copy(tsri_json *w, const char *json); /* a value that is JSON already */

/* A key and its value. */
void tsri_json_put_text(tsri_json *w, const char *key, const char *value);
void tsri_json_put_int(tsri_json *w, const char *key, int64_t value);
void tsri_json_put_real(tsri_json *w, const char *key, double value);
void tsri_json_put_bool(tsri_json *w, const char *key, bool value);

tsr_status tsri_json_end(tsri_json *w);
void tsri_json_fini(tsri_json *w);

/* tsri_json_end, and *out = the document, which is the caller's now. */
tsr_status tsri_json_give(char **out, tsri_json *w);

enum { TSRI_JSON_MOST = 4000000 }; /* bytes of a document; larger ones are refused */

/* A parsed document. Duplicate keys, trailing bytes, NUL in strings, numbers out of range and depth
 * over 2048 are refused: BAD_FILE with name:line:column and the reason. */
typedef struct tsri_json_value tsri_json_value; /* a jansson value; borrowed unless said */

tsr_status tsri_json_parse(tsri_json_value **out, const char *bytes, int64_t n, const char *name);
/* The same of a text of any length, which is the program's own. */
tsr_status tsri_json_parse_own(tsri_json_value **out, const char *bytes, int64_t n,
                               const char *name);
void tsri_json_destroy(tsri_json_value *root); /* only what tsri_json_parse gave */

bool tsri_json_is_object(const tsri_json_value *v);
bool tsri_json_is_array(const tsri_json_value *v);
bool tsri_json_is_null(const tsri_json_value *v);
const tsri_json_value *tsri_json_get(const tsri_json_value *object, const char *key); /* or NULL */
/* Member i of an object in the file's order, and its key; NULL after the last. */
const tsri_json_value *tsri_json_member(const tsri_json_value *object, int64_t i, const char **key);
int64_t tsri_json_members(const tsri_json_value *object);
int64_t tsri_json_length(const tsri_json_value *array);
const tsri_json_value *tsri_json_at(const tsri_json_value *array, int64_t i);

/* True, and *out set, when the value is of that kind. Integers count as reals too. */
bool tsri_json_as_text(const tsri_json_value *v, const char **out);
bool tsri_json_as_int(const tsri_json_value *v, int64_t *out);
bool tsri_json_as_real(const tsri_json_value *v, double *out);
bool tsri_json_as_bool(const tsri_json_value *v, bool *out);

/* Calls visit(context, key, value) for each member in the file's order until it fails. */
tsr_status tsri_json_each(const tsri_json_value *object,
                          tsr_status (*visit)(void *context, const char *key,
                                              const tsri_json_value *value),
                          void *context);

#endif
