/* help_runfile.c - the keys of a run file, from the schema: for the screen, as Markdown, as JSON.
 */
#include "cli/help.h"

#include "base/status.h"
#include "base/text.h"
#include "cli/print.h"
#include "io/config.h"
#include "io/json.h"

#include <ctype.h>
#include <string.h>

static const char *const introduction =
    "A run file says what to train on what, and how. It is YAML (JSON, which is YAML too, works "
    "as well): keys, most of them in sections. Every key has a default, so a run file names only "
    "what differs. 'tessera train --set optim.lr=0.05' changes a key without touching the file.";

static const char *const example = "seed: 1\n"
                                   "data:  {name: fashion-mnist}\n"
                                   "model: {name: mlp, hidden: [256, 256]}\n"
                                   "optim: {name: sgd, lr: 0.1, schedule: cosine}\n"
                                   "epochs: 10\n"
                                   "batch: 128\n";

static const char *const rules =
    "The file is read strictly. Refused are unknown keys, keys given twice, values of the wrong "
    "type or out of range, anchors, aliases, tags, a second document, and bytes that are not "
    "UTF-8. The message gives file:line:column, what was expected and the nearest key. A key of "
    "model, scheme, optim or stop that the chosen one does not read is refused, too, unless it has "
    "its default value. Whole numbers are written in digits, other numbers with a point (never a "
    "comma) and perhaps an exponent, truth values as true or false. Text needs quotes only where "
    "YAML would read it as something else.";

/* What a section is about; every one has a row. */
static const struct {
    const char *name, *text;
} sections[] = {
    {"data", "what the network learns from: a named set or your own files, and how they are read, "
             "split and scaled (docs/data.md)"},
    {"model", "the network: its kind, its sizes, what of it is trained (docs/models.md)"},
    {"optim", "how a step changes the weights: the rule, its rate and schedule, clipping and "
              "averaging (docs/optimisers.md)"},
    {"scheme", "how one network is trained as many: which shares are cut, by how many workers, for "
               "how many local steps (docs/schemes.md)"},
    {"stop", "when a run ends before its last epoch"},
    {"distance", "how far the rankings of filters are from those of earlier epochs "
                 "(docs/tickets.md)"},
    {"ticket", "what tessera ticket removes, and how the rest is fine-tuned (docs/tickets.md)"},
    {"eval", "how often the network is judged during training"},
    {"cluster", "runs under mpirun: how long ranks wait for each other (docs/cluster.md)"},
    {"checkpoint", "how often a run saves itself, and how many of those files are kept"},
    {"certify", "when and how thoroughly a run is compared with the papers' theorems "
                "(docs/theory.md)"},
};

static const char *section_text(const char *name)
{
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (strcmp(sections[i].name, name) == 0)
            return sections[i].text;
    return "";
}

/* Does row i begin a new group: another section, or keys outside sections after one? */
static bool begins_group(int64_t i)
{
    if (i == 0)
        return true;
    const char *a = tsri_schema[i - 1].key, *b = tsri_schema[i].key;
    size_t n = strcspn(a, "."), m = strcspn(b, ".");
    if (a[n] != b[m])
        return true;
    return b[m] == '.' && (n != m || strncmp(a, b, n) != 0);
}

/* "data", or "outside sections". */
static const char *group_title(int64_t i, char out[64])
{
    const char *key = tsri_schema[i].key;
    int n = (int)strcspn(key, ".");
    (void)snprintf(out, 64, "%.*s", key[n] == '.' ? n : 16,
                   key[n] == '.' ? key : "outside sections");
    return out;
}

/* The key without its section. */
static const char *last_word(const char *key)
{
    const char *dot = strchr(key, '.');
    return dot ? dot + 1 : key;
}

/* ---- On the screen ------------------------------------------------------------------------ */

static tsr_status add_row(cli_table *t, const tsri_schema_row *row)
{
    tsri_text expected = {0}, preset = {0};
    tsr_status st = tsri_schema_expected(&expected, row);
    if (st == TSR_OK)
        st = tsri_schema_default(&preset, row);
    if (st == TSR_OK) {
        cli_table_text(t, last_word(row->key));
        cli_table_text(t, preset.data);
        cli_table_format(t, "%s (%s)", row->help, expected.data);
    }
    tsri_text_fini(&expected);
    tsri_text_fini(&preset);
    return st;
}

/* Rows from `first` to the end of their group; returns the first row behind it in *next. */
static tsr_status print_group(int64_t first, int64_t *next)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    char title[64], line[300];
    int64_t i = first;
    cli_table_columns(&t, 3, 2);
    do
        TSR_TRY(add_row(&t, &tsri_schema[i++]));
    while (i < tsri_schema_count && !begins_group(i));
    const char *text = section_text(group_title(first, title));
    (void)snprintf(line, sizeof line, "%s: %s", title, text);
    cli_wrap(stdout, *text ? line : "outside sections:", 0, cli_width(stdout));
    TSR_TRY(cli_table_print(&t, stdout));
done:
    *next = i;
    cli_table_fini(&t);
    return st;
}

tsr_status cli_help_runfile(void)
{
    tsr_status st = TSR_OK;
    int width = cli_width(stdout);
    cli_wrap(stdout, introduction, 0, width);
    (void)printf("\n%s\n", example);
    cli_wrap(stdout, rules, 0, width);
    (void)puts("\nKeys, their defaults and what they mean:");
    for (int64_t i = 0; i < tsri_schema_count;) {
        (void)putchar('\n');
        TSR_TRY(print_group(i, &i));
    }
done:
    return st;
}

/* ---- One section, one key ---------------------------------------------------------------------
 */

/* The first row of a section, or -1. */
static int64_t find_section(const char *name)
{
    size_t n = strlen(name);
    for (int64_t i = 0; n > 0 && i < tsri_schema_count; i++)
        if (strncmp(tsri_schema[i].key, name, n) == 0 && tsri_schema[i].key[n] == '.')
            return i;
    return -1;
}

static tsr_status print_key(const tsri_schema_row *row)
{
    tsr_status st = TSR_OK;
    tsri_text expected = {0}, preset = {0};
    cli_table t = {0};
    TSR_TRY(tsri_schema_expected(&expected, row));
    TSR_TRY(tsri_schema_default(&preset, row));
    (void)printf("%s: ", row->key);
    cli_wrap(stdout, row->help, 0, cli_width(stdout));
    cli_table_columns(&t, 2, 2);
    cli_table_text(&t, "value");
    cli_table_text(&t, expected.data);
    cli_table_text(&t, "default");
    cli_table_text(&t, preset.length > 0 ? preset.data : "none");
    cli_table_text(&t, "changes");
    cli_table_text(&t, row->pace ? "only how fast a run is or what it keeps, never its result"
                                 : "the result");
    TSR_TRY(cli_table_print(&t, stdout));
done:
    cli_table_fini(&t);
    tsri_text_fini(&expected);
    tsri_text_fini(&preset);
    return st;
}

const char *cli_runfile_section(int64_t i)
{
    return i < (int64_t)(sizeof sections / sizeof *sections) ? sections[i].name : NULL;
}

bool cli_runfile_knows(const char *name)
{
    return find_section(name) >= 0 || tsri_schema_find(name) >= 0;
}

tsr_status cli_help_runfile_part(const char *name)
{
    int64_t first = find_section(name), next = 0;
    return first >= 0 ? print_group(first, &next) : print_key(&tsri_schema[tsri_schema_find(name)]);
}

/* ---- Markdown ----------------------------------------------------------------------------- */

static void markdown_cell(const char *text)
{
    for (; *text; text++)
        (void)printf(*text == '|' ? "\\|" : "%c", *text);
}

static tsr_status markdown_row(const tsri_schema_row *row)
{
    tsri_text expected = {0};
    tsr_status st = tsri_schema_expected(&expected, row);
    if (st == TSR_OK) {
        (void)printf("| `%s` | ", row->key);
        (void)printf(row->preset ? "`%s`" : "", row->preset);
        if (row->when)
            (void)printf("; `%s` with `%s`", row->instead, row->when);
        (void)printf(row->preset ? " | " : "| ");
        markdown_cell(expected.data);
        (void)printf(" | ");
        markdown_cell(row->help);
        (void)printf(" |\n");
    }
    tsri_text_fini(&expected);
    return st;
}

static void markdown_heading(int64_t first)
{
    char title[64], sentence[256];
    const char *text = section_text(group_title(first, title));
    (void)printf("\n## %s\n\n", title);
    if (*text) {
        (void)snprintf(sentence, sizeof sentence, "%c%s.", toupper((unsigned char)*text), text + 1);
        cli_wrap(stdout, sentence, 0, 100);
        (void)puts("");
    }
    (void)printf("| key | default | value | meaning |\n|---|---|---|---|\n");
}

tsr_status cli_help_runfile_markdown(void)
{
    tsr_status st = TSR_OK;
    (void)puts("# The run file\n\n"
               "*This page is made by `tessera help run-file --markdown`; do not edit it.*\n");
    cli_wrap(stdout, introduction, 0, 100);
    (void)printf("\n```yaml\n%s```\n\n", example);
    cli_wrap(stdout, rules, 0, 100);
    for (int64_t i = 0; i < tsri_schema_count; i++) {
        if (begins_group(i))
            markdown_heading(i);
        TSR_TRY(markdown_row(&tsri_schema[i]));
    }
done:
    return st;
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void json_choices(tsri_json *w, const char *choices)
{
    char word[64];
    tsri_json_key(w, "choices");
    tsri_json_open(w, '[');
    for (const char *p = choices; *p; p += *p == '|') {
        size_t n = strcspn(p, "|");
        (void)snprintf(word, sizeof word, "%.*s", (int)n, p);
        tsri_json_text(w, word);
        p += n;
    }
    tsri_json_close(w, ']');
}

static void json_row(tsri_json *w, const tsri_schema_row *row)
{
    static const char *const type[] = {"int", "real", "bool", "text", "choice", "ints", "reals"};
    tsri_json_open(w, '{');
    tsri_json_put_text(w, "key", row->key);
    tsri_json_put_text(w, "type", type[row->type]);
    tsri_json_key(w, "default");
    if (row->preset)
        tsri_json_text(w, row->preset);
    else
        tsri_json_null(w);
    if (row->when) {
        tsri_json_put_text(w, "default_when", row->when);
        tsri_json_put_text(w, "default_instead", row->instead);
    }
    if (row->choices)
        json_choices(w, row->choices);
    if (row->type != TSRI_TYPE_BOOL && row->least < row->most) {
        tsri_json_put_real(w, "least", row->least);
        tsri_json_put_real(w, "most", row->most);
    }
    tsri_json_put_text(w, "help", row->help);
    tsri_json_close(w, '}');
}

tsr_status cli_help_runfile_json(const char *part)
{
    tsri_json w = {0};
    size_t n = part ? strlen(part) : 0;
    tsri_json_begin(&w);
    tsri_json_key(&w, "keys");
    tsri_json_open(&w, '[');
    for (int64_t i = 0; i < tsri_schema_count; i++) {
        const char *key = tsri_schema[i].key;
        if (!part || (strncmp(key, part, n) == 0 && (key[n] == '.' || key[n] == '\0')))
            json_row(&w, &tsri_schema[i]);
    }
    tsri_json_close(&w, ']');
    tsri_json_close(&w, '}');
    return cli_json_print(&w);
}
