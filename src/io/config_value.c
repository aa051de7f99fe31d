/* config_value.c - one value of a run file against its row of the schema.
 *
 * Every refusal is one sentence of one form:  PLACE: KEY must be EXPECTED, not 'FOUND'; HINT
 * where EXPECTED comes from the row (tsri_schema_expected), so that the message, the help and the
 * documentation can never disagree.
 */
#include "io/config_value.h"

#include "base/alloc.h"
#include "base/number.h"

#include <stdio.h>
#include <string.h>

/* ---- What a row expects, in words --------------------------------------------------------- */

/* A bound of a range: integers in full, others as short as they go. */
static const char *bound(char out[TSRI_NUMBER_TEXT], double value)
{
    if (value == (double)(int64_t)value && value < 1e16)
        (void)snprintf(out, TSRI_NUMBER_TEXT, "%lld", (long long)value);
    else
        (void)tsri_shortest(out, value);
    return out;
}

tsr_status tsri_schema_expected(tsri_text *out, const tsri_schema_row *row)
{
    static const char *const noun[] = {
        [TSRI_TYPE_INT] = "a whole number",      [TSRI_TYPE_REAL] = "a number",
        [TSRI_TYPE_BOOL] = "true or false",      [TSRI_TYPE_TEXT] = "a text",
        [TSRI_TYPE_CHOICE] = "one of ",          [TSRI_TYPE_INTS] = "a list of whole numbers",
        [TSRI_TYPE_REALS] = "a list of numbers",
    };
    char least[TSRI_NUMBER_TEXT], most[TSRI_NUMBER_TEXT];
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_text_add(out, "%s", noun[row->type]));
    switch (row->type) {
    case TSRI_TYPE_CHOICE:
        for (const char *p = row->choices; *p; p++)
            TSR_TRY(*p == '|' ? tsri_text_add(out, ", ") : tsri_text_add_bytes(out, p, 1));
        break;
    case TSRI_TYPE_INT:
    case TSRI_TYPE_REAL:
    case TSRI_TYPE_INTS:
    case TSRI_TYPE_REALS:
        TSR_TRY(
            tsri_text_add(out, " from %s to %s", bound(least, row->least), bound(most, row->most)));
        break;
    case TSRI_TYPE_BOOL:
    case TSRI_TYPE_TEXT:
        break;
    }
done:
    return st;
}

/* ---- Refusals ----------------------------------------------------------------------------- */

/* What is being read, for the sentence that refuses it. */
typedef struct context {
    const tsri_schema_row *row;
    const tsri_yaml_source *source;
    bool element; /* of a list */
} context;

/* What was found: 'text', a list, a mapping. */
static const char *found(char out[300], const tsri_yaml_node *node)
{
    if (node->kind == TSRI_YAML_SCALAR)
        (void)snprintf(out, 300, "'%s'", tsri_quote(node->text));
    else
        (void)snprintf(out, 300, "%s", node->kind == TSRI_YAML_LIST ? "a list" : "a mapping");
    return out;
}

static tsr_status refuse(const context *c, const tsri_yaml_node *node, const char *hint)
{
    tsri_text expected = {0};
    char what[300];
    tsr_status st = tsri_schema_expected(&expected, c->row);
    if (st == TSR_OK)
        st = tsri_fail(TSR_USAGE,
                       c->element ? "%s: %s must be %s; %s is not one%s%s"
                                  : "%s: %s must be %s, not %s%s%s",
                       tsri_place_of(c->source, node->mark).text, c->row->key, expected.data,
                       found(what, node), *hint ? "; " : "", hint);
    tsri_text_fini(&expected);
    return st;
}

static bool is_null(const tsri_yaml_node *node)
{
    return node->kind == TSRI_YAML_SCALAR && !node->quoted &&
           (!*node->text || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0 ||
            strcmp(node->text, "Null") == 0 || strcmp(node->text, "NULL") == 0);
}

static tsr_status refuse_null(const context *c, const tsri_yaml_node *node)
{
    tsri_text expected = {0};
    tsr_status st = tsri_schema_expected(&expected, c->row);
    if (st == TSR_OK)
        st = tsri_fail(TSR_USAGE, "%s: %s has no value; give %s, or leave the key out",
                       tsri_place_of(c->source, node->mark).text, c->row->key, expected.data);
    tsri_text_fini(&expected);
    return st;
}

/* ---- Scalars ------------------------------------------------------------------------------ */

static tsr_status check_unquoted(const context *c, const tsri_yaml_node *node)
{
    if (node->kind != TSRI_YAML_SCALAR)
        return refuse(c, node, "");
    if (!node->quoted)
        return TSR_OK;
    double real = 0;
    bool value = tsri_number_real(&real, node->text) == TSRI_NUMBER_OK ||
                 strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0;
    return refuse(c, node, value ? "remove the quotes" : "");
}

/* Compared as integers: above 2^53 a double would let neighbours of the bound through. The schema's
 * bounds are whole and far below 2^63. */
static bool outside_int(const context *c, int64_t value)
{
    return value < (int64_t)c->row->least || value > (int64_t)c->row->most;
}

static bool outside_real(const context *c, double value)
{
    return !(value >= c->row->least && value <= c->row->most);
}

static const char *int_hint(const char *text)
{
    double real = 0;
    if (tsri_number_real(&real, text) == TSRI_NUMBER_OK)
        return "write it in digits only, without point, exponent or leading zeros";
    return strpbrk(text, "_,") ? "write the digits without separators" : "";
}

static tsr_status read_int(int64_t *out, const context *c, const tsri_yaml_node *node)
{
    tsr_status st = TSR_OK;
    TSR_TRY(check_unquoted(c, node));
    tsri_number_fault fault = tsri_number_int(out, node->text);
    if (fault == TSRI_NUMBER_FORM)
        return refuse(c, node, int_hint(node->text));
    if (fault == TSRI_NUMBER_RANGE || outside_int(c, *out))
        return refuse(c, node, "");
done:
    return st;
}

static const char *real_hint(const char *text)
{
    return strchr(text, ',')   ? "write the decimal point as '.'"
           : strchr(text, '_') ? "write the digits without separators"
                               : "";
}

static tsr_status read_real(double *out, const context *c, const tsri_yaml_node *node)
{
    tsr_status st = TSR_OK;
    TSR_TRY(check_unquoted(c, node));
    tsri_number_fault fault = tsri_number_real(out, node->text);
    if (fault == TSRI_NUMBER_FORM)
        return refuse(c, node, real_hint(node->text));
    if (fault == TSRI_NUMBER_RANGE || outside_real(c, *out))
        return refuse(c, node, "");
done:
    return st;
}

static tsr_status read_bool(int64_t *out, const context *c, const tsri_yaml_node *node)
{
    tsr_status st = TSR_OK;
    TSR_TRY(check_unquoted(c, node));
    *out = strcmp(node->text, "true") == 0;
    if (!*out && strcmp(node->text, "false") != 0)
        return refuse(c, node, "");
done:
    return st;
}

static tsr_status read_text(char **out, const context *c, const tsri_yaml_node *node)
{
    if (node->kind != TSRI_YAML_SCALAR)
        return refuse(c, node, "");
    if (!*node->text)
        return refuse(c, node, "give a text, or leave the key out");
    return tsri_strdup(out, node->text);
}

enum { CHOICES_MAX = 64 };

/* Cuts "a|b|c" in place; returns how many. */
static int64_t split_choices(const char *words[CHOICES_MAX], char *choices)
{
    int64_t n = 0;
    char *rest = NULL;
    for (char *w = strtok_r(choices, "|", &rest); w && n < CHOICES_MAX;
         w = strtok_r(NULL, "|", &rest))
        words[n++] = w;
    return n;
}

static tsr_status read_choice(char **out, const context *c, const tsri_yaml_node *node)
{
    tsr_status st = TSR_OK;
    char *copy = NULL;
    const char *words[CHOICES_MAX];
    if (node->kind != TSRI_YAML_SCALAR)
        return refuse(c, node, "");
    TSR_TRY(tsri_strdup(&copy, c->row->choices));
    int64_t n = split_choices(words, copy);
    for (int64_t i = 0; i < n; i++)
        if (strcmp(words[i], node->text) == 0) {
            TSR_TRY(tsri_strdup(out, node->text));
            goto done;
        }
    tsri_near near = tsri_near_to(node->text);
    for (int64_t i = 0; i < n; i++)
        tsri_near_try(&near, words[i]);
    st = refuse(c, node, tsri_near_ask(&near, ""));
done:
    tsri_free(copy);
    return st;
}

/* ---- Lists -------------------------------------------------------------------------------- */

static tsr_status refuse_not_list(const context *c, const tsri_yaml_node *node)
{
    char hint[160] = "";
    if (node->kind == TSRI_YAML_SCALAR && !node->quoted)
        (void)snprintf(hint, sizeof hint, "write [%.100s]", tsri_quote(node->text));
    return refuse(c, node, hint);
}

static tsr_status read_ints(tsri_setting *out, const context *c, const tsri_yaml_node *node)
{
    tsr_status st = TSR_OK;
    const context element = {c->row, c->source, true};
    if (node->kind != TSRI_YAML_LIST)
        return refuse_not_list(c, node);
    TSR_TRY(tsri_alloc(&out->ints, node->count, sizeof *out->ints));
    for (const tsri_yaml_node *item = node->child; item; item = item->next)
        TSR_TRY(read_int(&out->ints[out->count++], &element, item));
done:
    return st;
}

static tsr_status read_reals(tsri_setting *out, const context *c, const tsri_yaml_node *node)
{
    tsr_status st = TSR_OK;
    const context element = {c->row, c->source, true};
    if (node->kind != TSRI_YAML_LIST)
        return refuse_not_list(c, node);
    TSR_TRY(tsri_alloc(&out->reals, node->count, sizeof *out->reals));
    for (const tsri_yaml_node *item = node->child; item; item = item->next)
        TSR_TRY(read_real(&out->reals[out->count++], &element, item));
done:
    return st;
}

/* ---- A value ------------------------------------------------------------------------------ */

static tsr_status read_by_type(tsri_setting *out, const context *c, const tsri_yaml_node *node)
{
    switch (c->row->type) {
    case TSRI_TYPE_INT:
        return read_int(&out->number, c, node);
    case TSRI_TYPE_REAL:
        return read_real(&out->real, c, node);
    case TSRI_TYPE_BOOL:
        return read_bool(&out->number, c, node);
    case TSRI_TYPE_TEXT:
        return read_text(&out->text, c, node);
    case TSRI_TYPE_CHOICE:
        return read_choice(&out->text, c, node);
    case TSRI_TYPE_INTS:
        return read_ints(out, c, node);
    case TSRI_TYPE_REALS:
        return read_reals(out, c, node);
    }
    return tsri_fail(TSR_FAILURE, "%s has no type in the schema", c->row->key);
}

tsr_status tsri_setting_read(tsri_setting *out, const tsri_schema_row *row,
                             const tsri_yaml_node *node, const tsri_yaml_source *source)
{
    const context c = {row, source, false};
    *out = (tsri_setting){0};
    tsr_status st = is_null(node) ? refuse_null(&c, node) : read_by_type(out, &c, node);
    if (st == TSR_OK)
        st = tsri_strdup(&out->place, tsri_place_of(source, node->mark).text);
    if (st == TSR_OK)
        out->present = true;
    else
        tsri_setting_fini(out);
    return st;
}

void tsri_setting_fini(tsri_setting *value)
{
    tsri_free(value->place);
    tsri_free(value->text);
    tsri_free(value->ints);
    tsri_free(value->reals);
    *value = (tsri_setting){0};
}
