/* data_schema.c - a schema on its way into a model file and back. */
#include "data/data_schema.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

static void names_free(char **name, int64_t n)
{
    for (int64_t i = 0; name && i < n; i++)
        tsri_free(name[i]);
    tsri_free(name);
}

void tsri_data_schema_fini(tsri_data_schema *s)
{
    for (int64_t k = 0; s->field && k < s->fields; k++) {
        tsri_free(s->field[k].name);
        names_free(s->field[k].word, s->field[k].words);
    }
    tsri_free(s->field);
    names_free(s->target, s->targets);
    names_free(s->ignored, s->ignoreds);
    tsri_free(s->unit);
    tsri_free(s->normalize);
    tsri_free(s->target_scale);
    *s = (tsri_data_schema){0};
}

/* ---- Copying ------------------------------------------------------------------------------- */

static tsr_status copy_text(char **to, const char *from)
{
    *to = NULL;
    return from ? tsri_strdup(to, from) : TSR_OK;
}

static tsr_status copy_names(char ***to, int64_t *count, char *const *from, int64_t n)
{
    tsr_status st = TSR_OK;
    if (!from)
        return TSR_OK;
    TSR_TRY(tsri_alloc(to, n, sizeof **to));
    *count = n;
    for (int64_t i = 0; i < n; i++)
        TSR_TRY(copy_text(&(*to)[i], from[i]));
done:
    return st;
}

tsr_status tsri_data_schema_copy(tsri_data_schema *to, const tsri_data_schema *from)
{
    tsr_status st = TSR_OK;
    *to = (tsri_data_schema){.kind = from->kind, .classes = from->classes};
    if (from->field)
        TSR_TRY(tsri_alloc(&to->field, from->fields, sizeof *to->field));
    to->fields = from->fields;
    for (int64_t k = 0; from->field && k < to->fields; k++) {
        const tsri_field *f = &from->field[k];
        to->field[k].dates = f->dates;
        TSR_TRY(copy_text(&to->field[k].name, f->name));
        TSR_TRY(copy_names(&to->field[k].word, &to->field[k].words, f->word, f->words));
    }
    TSR_TRY(copy_names(&to->target, &to->targets, from->target, from->targets));
    TSR_TRY(copy_names(&to->ignored, &to->ignoreds, from->ignored, from->ignoreds));
    TSR_TRY(copy_text(&to->unit, from->unit));
    TSR_TRY(copy_text(&to->normalize, from->normalize));
    TSR_TRY(copy_text(&to->target_scale, from->target_scale));
done:
    return st;
}

int64_t tsri_field_word(const tsri_field *f, const char *text, size_t n)
{
    for (int64_t w = 0; w < f->words; w++)
        if (strlen(f->word[w]) == n && memcmp(f->word[w], text, n) == 0)
            return w;
    return -1;
}

static bool names_are_words(const tsri_like *like)
{
    for (int64_t i = 0; like->class_name && i < like->classes; i++)
        if (strspn(like->class_name[i], "+-0123456789") == strlen(like->class_name[i]))
            return false;
    return like->class_name;
}

int64_t tsri_like_label(const tsri_like *like, int64_t label)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%lld", (long long)label);
    if (names_are_words(like))
        return label >= 0 && label < like->classes ? label : -1;
    return tsri_like_class(like, text, strlen(text));
}

static bool same_words(const tsri_field *a, const tsri_field *b)
{
    bool same = !a->word == !b->word && a->words == b->words;
    for (int64_t w = 0; same && a->word && b->word && w < a->words; w++)
        same = strcmp(a->word[w], b->word[w]) == 0;
    return same;
}

/* Does another target stand where this one stood? A new name in its place is another matter. */
static const char *targets_differ(const tsri_data_schema *here, const tsri_data_schema *there)
{
    static _Thread_local char text[240];
    for (int64_t i = 0; i < here->targets; i++)
        for (int64_t j = 0; j < there->targets; j++) {
            const char *a = here->target[i], *b = there->target[j];
            if (i == j || !a || !b || strcmp(a, b) != 0)
                continue;
            (void)snprintf(text, sizeof text, "target %.60s is number %lld here, %lld there",
                           tsri_quote(a), (long long)i + 1, (long long)j + 1);
            return text;
        }
    return NULL;
}

const char *tsri_data_schema_differs(const tsri_data_schema *here, const tsri_data_schema *there)
{
    static _Thread_local char text[240];
    if (here->fields == 0 || there->fields == 0)
        return NULL;
    if (here->fields != there->fields) {
        (void)snprintf(text, sizeof text, "%lld columns of inputs here, %lld there",
                       (long long)here->fields, (long long)there->fields);
        return text;
    }
    for (int64_t k = 0; k < here->fields; k++) {
        const tsri_field *a = &here->field[k], *b = &there->field[k];
        if (a->name && b->name && strcmp(a->name, b->name) != 0) {
            (void)snprintf(text, sizeof text, "column %lld is %.60s here", (long long)k + 1,
                           tsri_quote(a->name));
            size_t at = strlen(text);
            (void)snprintf(text + at, sizeof text - at, ", %.60s there", tsri_quote(b->name));
            return text;
        }
        if (a->dates >= 0 && b->dates >= 0 && a->dates != b->dates) {
            (void)snprintf(text, sizeof text, "column %lld is %s here", (long long)k + 1,
                           a->dates ? "dates" : "no dates");
            return text;
        }
        if (!same_words(a, b)) {
            (void)snprintf(text, sizeof text, "column %lld has other words", (long long)k + 1);
            return text;
        }
    }
    return targets_differ(here, there);
}

bool tsri_data_schema_named(const tsri_data_schema *s)
{
    for (int64_t k = 0; k < s->fields; k++)
        if (s->field[k].name)
            return true;
    return false;
}

int64_t tsri_like_class(const tsri_like *like, const char *text, size_t n)
{
    char number[24];
    for (int64_t i = 0; i < like->classes; i++) {
        (void)snprintf(number, sizeof number, "%lld", (long long)i);
        const char *name = like->class_name ? like->class_name[i] : number;
        if (strlen(name) == n && memcmp(name, text, n) == 0)
            return i;
    }
    return -1;
}

/* ---- For people --------------------------------------------------------------------------- */

enum { MOST_WORDS = 5, MOST_COLUMNS = 40 };

static tsr_status field_text(tsri_text *out, const tsri_field *f, int64_t k)
{
    tsr_status st = TSR_OK;
    if (f->name && *f->name)
        TSR_TRY(tsri_text_add(out, "%s%s", k > 0 ? ", " : "", tsri_quote(f->name)));
    else
        TSR_TRY(tsri_text_add(out, "%scolumn %lld", k > 0 ? ", " : "", (long long)k + 1));
    if (f->dates == 1)
        TSR_TRY(tsri_text_add(out, " (dates, as days)"));
    if (!f->word)
        goto done;
    TSR_TRY(tsri_text_add(out, " (%lld words:", (long long)f->words));
    for (int64_t w = 0; w < f->words && w < MOST_WORDS; w++)
        TSR_TRY(tsri_text_add(out, "%s %s", w > 0 ? "," : "", tsri_quote(f->word[w])));
    TSR_TRY(tsri_text_add(out, f->words > MOST_WORDS ? ", ...)" : ")"));
done:
    return st;
}

static tsr_status names_text(tsri_text *out, const char *before, char *const *name, int64_t n)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < n && i < MOST_COLUMNS; i++)
        TSR_TRY(tsri_text_add(out, "%s%s", i > 0 ? ", " : before,
                              name[i] ? tsri_quote(name[i]) : "a column without a name"));
    if (n > MOST_COLUMNS)
        TSR_TRY(tsri_text_add(out, ", and %lld more", (long long)(n - MOST_COLUMNS)));
done:
    return st;
}

tsr_status tsri_data_schema_text(tsri_text *out, const tsri_data_schema *s)
{
    tsr_status st = TSR_OK;
    if (s->fields == 0)
        return TSR_OK;
    TSR_TRY(tsri_text_add(out, "inputs: "));
    for (int64_t k = 0; k < s->fields && k < MOST_COLUMNS; k++)
        TSR_TRY(field_text(out, &s->field[k], k));
    if (s->fields > MOST_COLUMNS)
        TSR_TRY(tsri_text_add(out, ", and %lld more", (long long)(s->fields - MOST_COLUMNS)));
    TSR_TRY(names_text(out, "; target: ", s->target, s->targets));
    if (s->classes > 0)
        TSR_TRY(tsri_text_add(out, " (%lld classes)", (long long)s->classes));
    else
        TSR_TRY(tsri_text_add(out, " (numbers%s%s)", s->unit ? ", " : "", s->unit ? s->unit : ""));
    TSR_TRY(names_text(out, "; left out: ", s->ignored, s->ignoreds));
done:
    return st;
}

/* ---- Writing ------------------------------------------------------------------------------ */

static void text_or_null(tsri_json *w, const char *text)
{
    if (text)
        tsri_json_text(w, text);
    else
        tsri_json_null(w);
}

static void write_names(tsri_json *w, const char *key, char *const *name, int64_t n)
{
    tsri_json_key(w, key);
    if (!name) {
        tsri_json_null(w);
        return;
    }
    tsri_json_open(w, '[');
    for (int64_t i = 0; i < n; i++)
        text_or_null(w, name[i]);
    tsri_json_close(w, ']');
}

void tsri_data_schema_write(tsri_json *w, const tsri_data_schema *s)
{
    tsri_json_open(w, '{');
    tsri_json_put_text(w, "kind", s->kind ? s->kind : "arrays");
    tsri_json_key(w, "columns");
    tsri_json_open(w, '[');
    for (int64_t k = 0; k < s->fields; k++) {
        tsri_json_open(w, '{');
        tsri_json_key(w, "name");
        text_or_null(w, s->field[k].name);
        write_names(w, "words", s->field[k].word, s->field[k].words);
        if (s->field[k].dates >= 0)
            tsri_json_put_bool(w, "dates", s->field[k].dates == 1);
        tsri_json_close(w, '}');
    }
    tsri_json_close(w, ']');
    write_names(w, "targets", s->target, s->targets);
    write_names(w, "ignored", s->ignored, s->ignoreds);
    tsri_json_put_int(w, "classes", s->classes);
    tsri_json_key(w, "unit");
    text_or_null(w, s->unit);
    tsri_json_key(w, "normalize");
    text_or_null(w, s->normalize);
    tsri_json_key(w, "target_scale");
    text_or_null(w, s->target_scale);
    tsri_json_close(w, '}');
}

/* ---- Reading ------------------------------------------------------------------------------ */

static tsr_status wrong(const char *path, const char *what)
{
    return tsri_fail(TSR_BAD_FILE, "%s: tessera.schema: %s", path, what);
}

/* A text, or null where that may be. */
static tsr_status read_text(char **out, const tsri_json_value *value, const char *path)
{
    const char *text;
    if (!value || tsri_json_is_null(value))
        return TSR_OK;
    if (!tsri_json_as_text(value, &text))
        return wrong(path, "a name is not text");
    return tsri_strdup(out, text);
}

static tsr_status read_names(char ***out, int64_t *n, const tsri_json_value *list, const char *path)
{
    tsr_status st = TSR_OK;
    if (!list || tsri_json_is_null(list))
        return TSR_OK;
    if (!tsri_json_is_array(list))
        return wrong(path, "names are not a list");
    int64_t count = tsri_json_length(list);
    TSR_TRY(tsri_alloc(out, count, sizeof **out));
    *n = count;
    for (int64_t i = 0; i < count; i++)
        TSR_TRY(read_text(&(*out)[i], tsri_json_at(list, i), path));
done:
    return st;
}

static tsr_status read_field(tsri_field *f, const tsri_json_value *value, const char *path)
{
    tsr_status st = TSR_OK;
    if (!tsri_json_is_object(value))
        return wrong(path, "a column is not an object");
    TSR_TRY(read_text(&f->name, tsri_json_get(value, "name"), path));
    TSR_TRY(read_names(&f->word, &f->words, tsri_json_get(value, "words"), path));
    for (int64_t w = 0; w < f->words; w++)
        if (!f->word[w])
            return wrong(path, "a word is missing");
    bool dates;
    f->dates = tsri_json_as_bool(tsri_json_get(value, "dates"), &dates) ? dates : -1;
done:
    return st;
}

/* A header names all columns, so either all have a name or none. */
static tsr_status read_fields(tsri_data_schema *s, const tsri_json_value *columns, const char *path)
{
    tsr_status st = TSR_OK;
    int64_t count = tsri_json_length(columns), named = 0;
    TSR_TRY(tsri_alloc(&s->field, count, sizeof *s->field));
    s->fields = count;
    for (int64_t k = 0; k < count; k++) {
        TSR_TRY(read_field(&s->field[k], tsri_json_at(columns, k), path));
        named += s->field[k].name != NULL;
    }
    if (named != 0 && named != count)
        st = wrong(path, "some columns have no name");
done:
    return st;
}

static tsr_status read_kind(tsri_data_schema *s, const tsri_json_value *root, const char *path)
{
    static const char *const kinds[] = {"table", "images", "arrays"};
    const char *kind = "";
    (void)tsri_json_as_text(tsri_json_get(root, "kind"), &kind);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i]) == 0)
            s->kind = kinds[i];
    return s->kind ? TSR_OK : wrong(path, "there is no such kind of data");
}

tsr_status tsri_data_schema_read(tsri_data_schema *s, const char *text, const char *path)
{
    tsr_status st = TSR_OK;
    tsri_json_value *root = NULL;
    *s = (tsri_data_schema){0};
    st = tsri_json_parse(&root, text, (int64_t)strlen(text), "tessera.schema");
    if (st != TSR_OK) {
        tsri_fail_prefix("%s: ", path);
        goto done;
    }
    TSR_TRY(read_kind(s, root, path));
    const tsri_json_value *columns = tsri_json_get(root, "columns");
    if (!tsri_json_is_array(columns))
        TSR_TRY(wrong(path, "there are no columns"));
    TSR_TRY(read_fields(s, columns, path));
    TSR_TRY(read_names(&s->target, &s->targets, tsri_json_get(root, "targets"), path));
    TSR_TRY(read_names(&s->ignored, &s->ignoreds, tsri_json_get(root, "ignored"), path));
    if (!tsri_json_as_int(tsri_json_get(root, "classes"), &s->classes) || s->classes < 0)
        TSR_TRY(wrong(path, "the number of classes is missing"));
    TSR_TRY(read_text(&s->unit, tsri_json_get(root, "unit"), path));
    TSR_TRY(read_text(&s->normalize, tsri_json_get(root, "normalize"), path));
    TSR_TRY(read_text(&s->target_scale, tsri_json_get(root, "target_scale"), path));
    if (!s->normalize || !s->target_scale)
        TSR_TRY(wrong(path, "normalize and target_scale are missing"));
done:
    tsri_json_destroy(root);
    if (st != TSR_OK)
        tsri_data_schema_fini(s);
    return st;
}
