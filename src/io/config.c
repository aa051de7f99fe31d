/* config.c - the config itself: one value per row of the schema, made of defaults, asked by key. */
#include "io/config_value.h"

#include "base/alloc.h"
#include "base/sized.h"
#include "io/file.h"

#include <assert.h>
#include <string.h>

int64_t tsri_schema_find(const char *key)
{
    for (int64_t i = 0; i < tsri_schema_count; i++)
        if (strcmp(tsri_schema[i].key, key) == 0)
            return i;
    return -1;
}

/* `preset` is one of our own texts: it is read as a file's text would be. */
static tsr_status put_preset(tsri_setting *value, const tsri_schema_row *row, const char *preset)
{
    tsr_status st = TSR_OK;
    tsri_yaml_node *node = NULL;
    const tsri_yaml_source source = {"default", false};
    TSR_TRY(tsri_yaml_parse(&node, preset, (int64_t)strlen(preset), &source));
    TSR_TRY(tsri_setting_read(value, row, node, &source));
done:
    tsri_yaml_destroy(node);
    return st;
}

tsr_status tsr_config_create(tsr_config **out)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(out);
    *out = NULL;
    TSR_TRY(tsri_alloc(out, 1, sizeof **out));
    TSR_TRY(tsri_alloc(&(*out)->value, tsri_schema_count, sizeof *(*out)->value));
    for (int64_t i = 0; i < tsri_schema_count; i++)
        if (tsri_schema[i].preset)
            TSR_TRY(put_preset(&(*out)->value[i], &tsri_schema[i], tsri_schema[i].preset));
done:
    if (st != TSR_OK && out) {
        tsr_config_destroy(*out);
        *out = NULL;
    }
    return st;
}

/* Is it one of "adam or adamw"? */
static bool is_one_of(const char *value, const char *list)
{
    static const char between[] = " or ";
    for (const char *next; list; list = next ? next + sizeof between - 1 : NULL) {
        next = strstr(list, between);
        size_t n = next ? (size_t)(next - list) : strlen(list);
        if (strlen(value) == n && strncmp(value, list, n) == 0)
            return true;
    }
    return false;
}

/* Does the config have the value that "optim.name=gd" speaks of? */
static tsr_status has_value(bool *has, const tsr_config *c, const char *assignment)
{
    tsr_status st = TSR_OK;
    tsri_text value = {0};
    char key[64];
    size_t n = strcspn(assignment, "=");
    assert(n < sizeof key);
    memcpy(key, assignment, n);
    key[n] = '\0';
    TSR_TRY(tsri_config_write_value(&value, c, key));
    *has = value.length > 0 && is_one_of(value.data, assignment + n + 1);
done:
    tsri_text_fini(&value);
    return st;
}

tsr_status tsri_config_settle(tsr_config *c)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < tsri_schema_count; i++) {
        const tsri_schema_row *row = &tsri_schema[i];
        bool other = false;
        if (!row->when || c->value[i].given)
            continue;
        TSR_TRY(has_value(&other, c, row->when));
        tsri_setting_fini(&c->value[i]);
        TSR_TRY(put_preset(&c->value[i], row, other ? row->instead : row->preset));
    }
done:
    return st;
}

void tsr_config_destroy(tsr_config *config)
{
    if (!config)
        return;
    for (int64_t i = 0; config->value && i < tsri_schema_count; i++)
        tsri_setting_fini(&config->value[i]);
    tsri_free(config->value);
    tsri_free(config->name);
    tsri_free(config);
}

/* ---- Copying ------------------------------------------------------------------------------- */

static tsr_status copy_text(char **out, const char *text)
{
    *out = NULL;
    return text ? tsri_strdup(out, text) : TSR_OK;
}

static tsr_status copy_value(tsri_setting *to, const tsri_setting *from)
{
    tsr_status st = TSR_OK;
    *to = *from;
    to->place = to->text = NULL;
    to->ints = NULL;
    to->reals = NULL;
    TSR_TRY(copy_text(&to->place, from->place));
    TSR_TRY(copy_text(&to->text, from->text));
    if (from->ints) {
        TSR_TRY(tsri_alloc(&to->ints, from->count, sizeof *to->ints));
        memcpy(to->ints, from->ints, (size_t)from->count * sizeof *to->ints);
    }
    if (from->reals) {
        TSR_TRY(tsri_alloc(&to->reals, from->count, sizeof *to->reals));
        memcpy(to->reals, from->reals, (size_t)from->count * sizeof *to->reals);
    }
done:
    return st;
}

tsr_status tsri_config_copy(tsr_config **out, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    *out = NULL;
    TSR_TRY(tsri_alloc(out, 1, sizeof **out));
    TSR_TRY(tsri_alloc(&(*out)->value, tsri_schema_count, sizeof *(*out)->value));
    TSR_TRY(copy_text(&(*out)->name, config->name));
    for (int64_t i = 0; i < tsri_schema_count; i++)
        TSR_TRY(copy_value(&(*out)->value[i], &config->value[i]));
done:
    if (st != TSR_OK) {
        tsr_config_destroy(*out);
        *out = NULL;
    }
    return st;
}

void tsri_config_unset(tsr_config *config, const char *key)
{
    int64_t row = tsri_schema_find(key);
    assert(row >= 0 && !tsri_schema[row].preset && "a key of the schema without default");
    tsri_setting_fini(&config->value[row]);
}

/* ---- Keys that are read --------------------------------------------------------------------- */

bool tsri_reads(const char *keys, const char *key)
{
    size_t n = strlen(key);
    for (const char *at = keys; *at; at += strcspn(at, " "), at += strspn(at, " "))
        if (strcspn(at, " ") == n && strncmp(at, key, n) == 0)
            return true;
    return false;
}

/* Is it a key of the section that is not among those read? The section's name always is. */
static bool is_unread(const char *key, const char *section, const char *keys)
{
    size_t n = strlen(section);
    return strncmp(key, section, n) == 0 && key[n] == '.' && strcmp(key + n, ".name") != 0 &&
           !tsri_reads(keys, key + n + 1);
}

tsr_status tsri_config_reset(tsr_config *c, const char *key)
{
    tsr_status st = TSR_OK;
    int64_t row = tsri_schema_find(key);
    assert(row >= 0 && "the key is in the schema");
    tsri_setting_fini(&c->value[row]);
    if (tsri_schema[row].preset)
        TSR_TRY(put_preset(&c->value[row], &tsri_schema[row], tsri_schema[row].preset));
    TSR_TRY(tsri_config_settle(c));
done:
    return st;
}

tsr_status tsri_config_unread(const tsr_config *c, const char *key, const char *reader)
{
    tsr_status st = TSR_OK;
    tsr_config *defaults = NULL;
    tsri_text here = {0}, there = {0};
    TSR_TRY(tsr_config_create(&defaults));
    TSR_TRY(tsri_config_write_value(&here, c, key));
    TSR_TRY(tsri_config_write_value(&there, defaults, key));
    bool same =
        here.length == there.length && (here.length == 0 || strcmp(here.data, there.data) == 0);
    TSR_CHECK(same, TSR_USAGE, "%s: %s does not read %s: take it out", tsri_config_place(c, key),
              reader, key);
done:
    tsri_text_fini(&here);
    tsri_text_fini(&there);
    tsr_config_destroy(defaults);
    return st;
}

tsr_status tsri_config_only(const tsr_config *c, const char *section, const char *keys,
                            const char *reader)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < tsri_schema_count; i++)
        if (c->value[i].given && is_unread(tsri_schema[i].key, section, keys))
            TSR_TRY(tsri_config_unread(c, tsri_schema[i].key, reader));
done:
    return st;
}

tsr_status tsri_config_keep(tsr_config *c, const char *section, const char *keys)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < tsri_schema_count; i++)
        if (is_unread(tsri_schema[i].key, section, keys))
            TSR_TRY(tsri_config_reset(c, tsri_schema[i].key));
done:
    return st;
}

tsr_status tsri_config_set_data(tsr_config *c, const char *name_or_path)
{
    /* how the set before was made, and how its files were read: a set by name has its own ways */
    static const char *const making[] = {"data.n",        "data.test_n", "data.dim",
                                         "data.classes",  "data.length", "data.targets",
                                         "data.channels", "data.phi",    NULL};
    static const char *const reading[] = {
        "data.format", "data.target",  "data.ignore",  "data.header", "data.missing",
        "data.words",  "data.unknown", "data.decimal", "data.dates",  "data.size",
        NULL};
    tsr_status st = TSR_OK;
    tsri_text assignment = {0};
    bool path = strpbrk(name_or_path, "/.") || strcmp(name_or_path, "-") == 0 ||
                tsri_file_exists(name_or_path);
    tsri_config_unset(c, "data.name");
    tsri_config_unset(c, "data.path");
    tsri_config_unset(c, "data.test_path");
    for (const char *const *key = path ? making : reading; *key; key++)
        TSR_TRY(tsri_config_reset(c, *key));
    TSR_TRY(tsri_text_add(&assignment, "%s=%s", path ? "data.path" : "data.name", name_or_path));
    TSR_TRY(tsr_config_set(c, assignment.data));
done:
    tsri_text_fini(&assignment);
    return st;
}

/* ---- Asking ------------------------------------------------------------------------------- */

static const tsri_setting *value_of(const tsr_config *c, const char *key)
{
    int64_t row = tsri_schema_find(key);
    assert(row >= 0 && "the key is in the schema");
    return &c->value[row];
}

/* The same, and the row has one of two types: asking with the wrong one is our own mistake. */
static const tsri_setting *typed(const tsr_config *c, const char *key, tsri_type a, tsri_type b)
{
    const tsri_setting *value = value_of(c, key);
    tsri_type type = tsri_schema[value - c->value].type;
    assert((type == a || type == b) && "the key has this type in the schema");
    (void)type;
    (void)a;
    (void)b;
    return value;
}

bool tsri_config_given(const tsr_config *c, const char *key)
{
    return value_of(c, key)->given;
}

const char *tsri_config_place(const tsr_config *c, const char *key)
{
    const tsri_setting *value = value_of(c, key);
    if (value->given)
        return value->place;
    return c->name ? c->name : "default";
}

int64_t tsri_config_int(const tsr_config *c, const char *key)
{
    return typed(c, key, TSRI_TYPE_INT, TSRI_TYPE_INT)->number;
}

double tsri_config_real(const tsr_config *c, const char *key)
{
    return typed(c, key, TSRI_TYPE_REAL, TSRI_TYPE_REAL)->real;
}

bool tsri_config_bool(const tsr_config *c, const char *key)
{
    return typed(c, key, TSRI_TYPE_BOOL, TSRI_TYPE_BOOL)->number != 0;
}

const char *tsri_config_text(const tsr_config *c, const char *key)
{
    return typed(c, key, TSRI_TYPE_TEXT, TSRI_TYPE_CHOICE)->text;
}

/* A misspelt choice would never be made: our own mistake. */
static void check_choice(const char *at, const char *choice)
{
    size_t n = strlen(choice);
    while (strncmp(at, choice, n) != 0 || (at[n] && at[n] != '|')) {
        at += strcspn(at, "|");
        assert(*at && "the row has this choice");
        at++;
    }
}

bool tsri_config_is(const tsr_config *c, const char *key, const char *choice)
{
    const tsri_setting *value = typed(c, key, TSRI_TYPE_CHOICE, TSRI_TYPE_CHOICE);
    check_choice(tsri_schema[value - c->value].choices, choice);
    return strcmp(value->text, choice) == 0;
}

int64_t tsri_config_ints(const tsr_config *c, const char *key, const int64_t **values)
{
    const tsri_setting *value = typed(c, key, TSRI_TYPE_INTS, TSRI_TYPE_INTS);
    *values = value->ints;
    return value->count;
}

int64_t tsri_config_reals(const tsr_config *c, const char *key, const double **values)
{
    const tsri_setting *value = typed(c, key, TSRI_TYPE_REALS, TSRI_TYPE_REALS);
    *values = value->reals;
    return value->count;
}
