/* config_write.c - a config as YAML again.
 *
 * Every key that has a value is written, in the schema's order, so the same config gives the same
 * bytes, and reading them gives the same config. Numbers have the fewest digits that read back to
 * the same bits; texts stand bare only when nothing in YAML could take them for something else.
 */
#include "io/config_value.h"

#include "base/number.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Files are read by others, too. YAML 1.1, and PyYAML with it, takes 1e-8 for a word: in a file a
 * number with an exponent has a point. */
static tsr_status write_real(tsri_text *out, double value, bool file)
{
    char text[TSRI_NUMBER_TEXT];
    size_t n = strcspn(tsri_shortest(text, value), "e");
    bool bare = file && text[n] && !memchr(text, '.', n);
    return tsri_text_add(out, "%.*s%s%s", (int)n, text, bare ? ".0" : "", text + n);
}

/* A word that needs no quotes: letters, digits and a few signs that mean nothing to YAML inside a
 * word; not YAML's null. */
static bool is_plain(const char *text)
{
    if (!isalnum((unsigned char)text[0]) && text[0] != '/' && text[0] != '.')
        return false;
    for (const char *p = text; *p; p++)
        if ((unsigned char)*p >= 0x80 || (!isalnum((unsigned char)*p) && !strchr("_./-+", *p)))
            return false;
    return strcmp(text, "null") != 0 && strcmp(text, "Null") != 0 && strcmp(text, "NULL") != 0 &&
           strcmp(text, "...") != 0;
}

/* Would YAML 1.1 make a number, a date or a truth of it? */
static bool means_more(const char *text)
{
    static const char *const words[] = {"yes", "no", "on", "off", "true", "false"};
    bool found = isdigit((unsigned char)text[0]) || text[0] == '.';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        found = found || strcasecmp(text, words[i]) == 0;
    return found;
}

static tsr_status write_list(tsri_text *out, const tsri_schema_row *row, const tsri_setting *value,
                             bool file)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_text_add(out, "["));
    for (int64_t i = 0; i < value->count; i++) {
        if (i > 0)
            TSR_TRY(tsri_text_add(out, ", "));
        if (row->type == TSRI_TYPE_INTS)
            TSR_TRY(tsri_text_add(out, "%lld", (long long)value->ints[i]));
        else
            TSR_TRY(write_real(out, value->reals[i], file));
    }
    TSR_TRY(tsri_text_add(out, "]"));
done:
    return st;
}

/* The value as YAML that reads back to it. */
static tsr_status write_setting(tsri_text *out, const tsri_schema_row *row,
                                const tsri_setting *value, bool file)
{
    switch (row->type) {
    case TSRI_TYPE_INT:
        return tsri_text_add(out, "%lld", (long long)value->number);
    case TSRI_TYPE_REAL:
        return write_real(out, value->real, file);
    case TSRI_TYPE_BOOL:
        return tsri_text_add(out, "%s", value->number ? "true" : "false");
    case TSRI_TYPE_TEXT:
    case TSRI_TYPE_CHOICE:
        return is_plain(value->text) && !(file && means_more(value->text))
                   ? tsri_text_add(out, "%s", value->text)
                   : tsri_yaml_quote(out, value->text);
    case TSRI_TYPE_INTS:
    case TSRI_TYPE_REALS:
        return write_list(out, row, value, file);
    }
    return tsri_fail(TSR_FAILURE, "%s has no type in the schema", row->key);
}

/* ---- The whole config --------------------------------------------------------------------- */

/* The length of "optim" in "optim.lr"; 0 for a key outside sections. */
static size_t section_length(const char *key)
{
    const char *dot = strchr(key, '.');
    return dot ? (size_t)(dot - key) : 0;
}

static bool in_section(const char *key, const char *section)
{
    size_t n = section_length(key);
    return !section || (n == strlen(section) && n > 0 && strncmp(key, section, n) == 0);
}

static tsr_status write_rows(tsri_text *out, const tsr_config *c, const char *section, bool pace)
{
    tsr_status st = TSR_OK;
    const char *open = ""; /* the key whose section was begun last */
    for (int64_t i = 0; i < tsri_schema_count; i++) {
        const tsri_schema_row *row = &tsri_schema[i];
        size_t n = section_length(row->key);
        if (!c->value[i].present || !in_section(row->key, section) || (row->pace && !pace))
            continue;
        if (n > 0 && (section_length(open) != n || strncmp(open, row->key, n) != 0))
            TSR_TRY(tsri_text_add(out, "%.*s:\n", (int)n, row->key));
        open = row->key;
        TSR_TRY(
            tsri_text_add(out, "%s%s: ", n > 0 ? "  " : "", n > 0 ? row->key + n + 1 : row->key));
        TSR_TRY(write_setting(out, row, &c->value[i], true));
        TSR_TRY(tsri_text_add(out, "\n"));
    }
done:
    return st;
}

tsr_status tsri_config_write(tsri_text *out, const tsr_config *c, const char *section)
{
    return write_rows(out, c, section, true);
}

tsr_status tsri_config_write_result(tsri_text *out, const tsr_config *c)
{
    return write_rows(out, c, NULL, false);
}

tsr_status tsri_config_write_value(tsri_text *out, const tsr_config *c, const char *key)
{
    int64_t row = tsri_schema_find(key);
    assert(row >= 0 && "the key is in the schema");
    return c->value[row].present ? write_setting(out, &tsri_schema[row], &c->value[row], false)
                                 : TSR_OK;
}

static tsr_status write_or_none(tsri_text *out, const tsri_schema_row *row,
                                const tsri_setting *value)
{
    return value->present ? write_setting(out, row, value, false) : tsri_text_add(out, "(none)");
}

tsr_status tsri_config_differences(tsri_text *out, const tsr_config *a, const tsr_config *b)
{
    tsr_status st = TSR_OK;
    tsri_text va = {0}, vb = {0};
    for (int64_t i = 0; i < tsri_schema_count; i++) {
        va.length = vb.length = 0;
        TSR_TRY(write_or_none(&va, &tsri_schema[i], &a->value[i]));
        TSR_TRY(write_or_none(&vb, &tsri_schema[i], &b->value[i]));
        if (!tsri_schema[i].pace && strcmp(va.data, vb.data) != 0)
            TSR_TRY(tsri_text_add(out, "%s: %s -> %s\n", tsri_schema[i].key, va.data, vb.data));
    }
done:
    tsri_text_fini(&va);
    tsri_text_fini(&vb);
    return st;
}
