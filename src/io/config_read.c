/* config_read.c - a YAML tree, or an option, into a config.
 *
 * A top-level key is a row of the schema ("seed") or a section whose members are rows ("optim" and
 * "lr" make "optim.lr"). Every node either finds its row or is refused with the nearest name.
 */
#include "io/config_value.h"

#include "base/alloc.h"
#include "base/sized.h"
#include "io/file.h"

#include <stdio.h>
#include <string.h>

enum { KEY_MAX = 128, RUN_FILE_MAX = 1000000 };

/* ---- Names -------------------------------------------------------------------------------- */

/* "lr" when `key` is in `section` ("" = outside sections), else NULL. */
static const char *name_in(const char *key, const char *section)
{
    size_t n = strlen(section);
    if (n == 0)
        return strchr(key, '.') ? NULL : key;
    return strncmp(key, section, n) == 0 && key[n] == '.' ? key + n + 1 : NULL;
}

static bool is_section(const char *word)
{
    for (int64_t i = 0; i < tsri_schema_count; i++)
        if (*word && name_in(tsri_schema[i].key, word))
            return true;
    return false;
}

/* The words that may stand in a section; at the top, sections too. */
typedef struct words {
    char (*store)[KEY_MAX];
    const char **word;
    int64_t count;
} words;

static void words_fini(words *w)
{
    tsri_free(w->store);
    tsri_free(w->word);
}

static void add_word(words *w, const char *word, size_t n)
{
    for (int64_t i = 0; i < w->count; i++)
        if (strlen(w->word[i]) == n && strncmp(w->word[i], word, n) == 0)
            return;
    (void)snprintf(w->store[w->count], KEY_MAX, "%.*s", (int)n, word);
    w->word[w->count] = w->store[w->count];
    w->count++;
}

static tsr_status words_of(words *w, const char *section)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc(&w->store, tsri_schema_count, KEY_MAX));
    TSR_TRY(tsri_alloc(&w->word, tsri_schema_count, sizeof *w->word));
    for (int64_t i = 0; i < tsri_schema_count; i++) {
        const char *key = tsri_schema[i].key, *name = name_in(key, section);
        if (!*section)
            add_word(w, key, strcspn(key, "."));
        else if (name)
            add_word(w, name, strlen(name));
    }
done:
    return st;
}

/* The first row in another section that has this last word. */
static const char *same_word_elsewhere(const char *word)
{
    for (int64_t i = 0; i < tsri_schema_count; i++) {
        const char *dot = strchr(tsri_schema[i].key, '.');
        if (strcmp(dot ? dot + 1 : tsri_schema[i].key, word) == 0)
            return tsri_schema[i].key;
    }
    return NULL;
}

/* ---- Refusals ----------------------------------------------------------------------------- */

static tsr_status add_remedy(tsri_text *out, const char *section, const char *word)
{
    tsr_status st = TSR_OK;
    words w = {0};
    TSR_TRY(words_of(&w, section));
    const char *near = tsri_nearest(word, w.word, w.count);
    const char *elsewhere = same_word_elsewhere(word);
    int64_t row = tsri_schema_find(word);
    if (row >= 0 && strchr(word, '.'))
        TSR_TRY(tsri_text_add(out, "write %.*s: {%s: ...}", (int)strcspn(word, "."), word,
                              strchr(word, '.') + 1));
    else if (elsewhere)
        TSR_TRY(tsri_text_add(out, "did you mean %s?", elsewhere));
    else if (near)
        TSR_TRY(tsri_text_add(out, "did you mean %s%s%s?", section, *section ? "." : "", near));
    else {
        TSR_TRY(tsri_text_add(out, "expected one of "));
        for (int64_t i = 0; i < w.count; i++)
            TSR_TRY(tsri_text_add(out, "%s%s", i > 0 ? ", " : "", w.word[i]));
    }
done:
    words_fini(&w);
    return st;
}

static tsr_status refuse_key(const char *place, const char *section, const char *word)
{
    tsri_text remedy = {0};
    tsr_status st = add_remedy(&remedy, section, word);
    if (st == TSR_OK && *section)
        st = tsri_fail(TSR_USAGE, "%s: unknown key '%s' in %s; %s", place, tsri_quote(word),
                       section, remedy.data);
    else if (st == TSR_OK)
        st = tsri_fail(TSR_USAGE, "%s: unknown key '%s'; %s", place, tsri_quote(word), remedy.data);
    tsri_text_fini(&remedy);
    return st;
}

static tsr_status refuse_section(const char *place, const tsri_yaml_node *node, const char *section)
{
    words w = {0};
    tsr_status st = words_of(&w, section);
    if (st == TSR_OK && node->kind == TSRI_YAML_SCALAR && *node->text)
        st = tsri_fail(TSR_USAGE, "%s: %s is a section of keys; write %s: {%s: %s}", place, section,
                       section, w.word[0], tsri_quote(node->text));
    else if (st == TSR_OK && node->kind == TSRI_YAML_SCALAR)
        st = tsri_fail(TSR_USAGE,
                       "%s: the section %s has no keys; write %s: {%s: ...} or leave it out", place,
                       section, section, w.word[0]);
    else if (st == TSR_OK)
        st = tsri_fail(TSR_USAGE, "%s: %s is a section of keys, not a list; write %s: {%s: ...}",
                       place, section, section, w.word[0]);
    words_fini(&w);
    return st;
}

/* ---- Reading ------------------------------------------------------------------------------ */

static tsr_status put_value(tsr_config *c, int64_t row, const tsri_yaml_node *node,
                            const tsri_yaml_source *source)
{
    tsri_setting value;
    tsr_status st = tsri_setting_read(&value, &tsri_schema[row], node, source);
    if (st == TSR_OK) {
        tsri_setting_fini(&c->value[row]);
        c->value[row] = value;
        c->value[row].given = true;
    }
    return st;
}

/* Every member of the mapping `node` is a key of `section`. */
static tsr_status put_section(tsr_config *c, const char *section, const tsri_yaml_node *node,
                              const tsri_yaml_source *source)
{
    tsr_status st = TSR_OK;
    char key[2 * KEY_MAX];
    if (node->kind != TSRI_YAML_MAP)
        return refuse_section(tsri_place_of(source, node->mark).text, node, section);
    for (const tsri_yaml_node *m = node->child; m; m = m->next) {
        int n = snprintf(key, sizeof key, "%s.%s", section, m->key);
        int64_t row = n < (int)sizeof key ? tsri_schema_find(key) : -1;
        if (row < 0)
            return refuse_key(tsri_place_of(source, m->key_mark).text, section, m->key);
        TSR_TRY(put_value(c, row, m, source));
    }
done:
    return st;
}

static tsr_status put_tree(tsr_config *c, const tsri_yaml_node *root,
                           const tsri_yaml_source *source)
{
    tsr_status st = TSR_OK;
    const tsri_mark top = {1, 1};
    TSR_CHECK(root && !(root->kind == TSRI_YAML_MAP && root->count == 0), TSR_USAGE,
              "%s: the run file is empty; 'tessera help run-file' shows what it may hold",
              tsri_place_of(source, root ? root->mark : top).text);
    TSR_CHECK(root->kind == TSRI_YAML_MAP, TSR_USAGE,
              "%s: a run file is made of keys and values, such as 'epochs: 10'; this is %s",
              tsri_place_of(source, root->mark).text,
              root->kind == TSRI_YAML_LIST ? "a list" : "a single text");
    for (const tsri_yaml_node *m = root->child; m; m = m->next) {
        int64_t row = tsri_schema_find(m->key);
        if (row >= 0 && !strchr(m->key, '.'))
            TSR_TRY(put_value(c, row, m, source));
        else if (is_section(m->key))
            TSR_TRY(put_section(c, m->key, m, source));
        else
            return refuse_key(tsri_place_of(source, m->key_mark).text, "", m->key);
    }
done:
    return st;
}

static tsr_status check_size(int64_t n, const char *name)
{
    return n <= RUN_FILE_MAX
               ? TSR_OK
               : tsri_fail(TSR_USAGE, "%s: larger than %s, the most that a run file may have",
                           tsri_quote(name), tsri_bytes_text(RUN_FILE_MAX));
}

tsr_status tsri_config_parse(tsr_config **out, const char *text, int64_t n, const char *name)
{
    tsr_status st = TSR_OK;
    tsri_yaml_node *root = NULL;
    const tsri_yaml_source source = {name, true};
    *out = NULL;
    TSR_TRY(check_size(n, name));
    TSR_TRY(tsri_yaml_parse(&root, text, n, &source));
    TSR_TRY(tsr_config_create(out));
    TSR_TRY(tsri_strdup(&(*out)->name, tsri_quote(name)));
    TSR_TRY(put_tree(*out, root, &source));
    TSR_TRY(tsri_config_settle(*out));
done:
    tsri_yaml_destroy(root);
    if (st != TSR_OK) {
        tsr_config_destroy(*out);
        *out = NULL;
    }
    return st;
}

tsr_status tsr_config_read(tsr_config **out, const char *path)
{
    tsr_status st = TSR_OK;
    char *text = NULL;
    int64_t n = 0;
    int fd = -1;
    TSRI_GIVEN(out);
    *out = NULL;
    TSRI_GIVEN(path);
    TSR_TRY(tsri_file_open(&fd, &n, path));
    TSR_TRY(check_size(n, path)); /* USAGE: to the reader of files it would be one that is bad */
    TSR_TRY(tsri_file_read(&text, &n, path, RUN_FILE_MAX));
    TSR_TRY(tsri_config_parse(out, text, n, path));
done:
    if (fd >= 0)
        (void)tsri_io.close(fd);
    tsri_free(text);
    return st;
}

/* ---- Setting ------------------------------------------------------------------------------ */

/* A text given as an option is taken as it stands: the shell's quotes were quotes enough. */
static tsr_status literal(tsri_yaml_node **out, const char *text, const tsri_yaml_source *source)
{
    tsr_status st = TSR_OK;
    tsri_mark mark;
    const char *problem = NULL;
    bool fine = tsri_yaml_characters(text, (int64_t)strlen(text), &mark, &problem);
    TSR_CHECK(fine, TSR_USAGE, "%s: %s", tsri_place_of(source, mark).text, problem);
    TSR_CHECK(strlen(text) <= TSRI_YAML_SCALAR_MAX, TSR_USAGE,
              "%s: the text is longer than %d bytes", tsri_place_of(source, mark).text,
              TSRI_YAML_SCALAR_MAX);
    TSR_TRY(tsri_alloc(out, 1, sizeof **out));
    (*out)->quoted = true;
    TSR_TRY(tsri_strdup(&(*out)->text, text));
done:
    return st;
}

static bool takes_text(int64_t row)
{
    return row >= 0 &&
           (tsri_schema[row].type == TSRI_TYPE_TEXT || tsri_schema[row].type == TSRI_TYPE_CHOICE);
}

tsr_status tsri_config_assign_key(tsr_config *config, const char *option, const char *key,
                                  const char *text)
{
    tsr_status st = TSR_OK;
    char name[KEY_MAX + 16];
    tsri_yaml_node *node = NULL;
    (void)snprintf(name, sizeof name, "%s %s", option, key);
    const tsri_yaml_source source = {name, false};
    int64_t row = tsri_schema_find(key), dot = (int64_t)strcspn(key, ".");
    if (row < 0 && !is_section(key)) {
        char section[KEY_MAX];
        (void)snprintf(section, sizeof section, "%.*s", (int)dot, key);
        bool inside = key[dot] == '.' && is_section(section);
        return refuse_key(tsri_quote(name), inside ? section : "", inside ? key + dot + 1 : key);
    }
    if (takes_text(row))
        TSR_TRY(literal(&node, text, &source));
    else
        TSR_TRY(tsri_yaml_parse(&node, text, (int64_t)strlen(text), &source));
    TSR_CHECK(node, TSR_USAGE, "%s: there is no value after the '='", tsri_quote(name));
    TSR_TRY(row >= 0 ? put_value(config, row, node, &source)
                     : put_section(config, key, node, &source));
    TSR_TRY(tsri_config_settle(config));
done:
    tsri_yaml_destroy(node);
    return st;
}

tsr_status tsri_config_assign(tsr_config *config, const char *option, const char *assignment)
{
    char key[KEY_MAX];
    size_t n = strcspn(assignment, "=");
    if (assignment[n] != '=' || n == 0)
        return tsri_fail(TSR_USAGE, "%s %s: expected key=value, such as optim.lr=0.05", option,
                         tsri_quote(assignment));
    if (n >= sizeof key)
        return tsri_fail(TSR_USAGE, "%s %s: no key is that long", option, tsri_quote(assignment));
    (void)snprintf(key, sizeof key, "%.*s", (int)n, assignment);
    return tsri_config_assign_key(config, option, key, assignment + n + 1);
}

tsr_status tsr_config_set(tsr_config *config, const char *assignment)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(config);
    TSRI_GIVEN(assignment);
    TSR_TRY(tsri_config_assign(config, "--set", assignment));
done:
    return st;
}
