/* help_runfile.c - the keys of a run file, from the schema: for the screen, as Markdown, as
 * JSON. */
#include "cli/help.h"

#include "cli/print.h"
#include "cli/string.h"

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
    "data, model, scheme, optim or stop that the chosen one does not read is refused, too, unless "
    "it has "
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

tsr_key cli_key_at(int64_t i)
{
    tsr_key key = tsr_key_default();
    (void)tsr_key_at(&key, i); /* there is one */
    return key;
}

const char *cli_key_default(char text[CLI_KEY_DEFAULT], const tsr_key *key)
{
    if (key->when)
        (void)snprintf(text, CLI_KEY_DEFAULT, "%s; with %s %s", key->preset, key->when,
                       key->instead);
    else
        (void)snprintf(text, CLI_KEY_DEFAULT, "%s", key->preset ? key->preset : "");
    return text;
}

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
    const char *a = cli_key_at(i - 1).key, *b = cli_key_at(i).key;
    size_t n = strcspn(a, "."), m = strcspn(b, ".");
    if (a[n] != b[m])
        return true;
    return b[m] == '.' && (n != m || strncmp(a, b, n) != 0);
}

/* "data", or "outside sections". */
static const char *group_title(int64_t i, char out[64])
{
    const char *key = cli_key_at(i).key;
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

static tsr_status add_row(cli_table *t, const tsr_key *row)
{
    tsr_status st = TSR_OK;
    char *expected = NULL, preset[CLI_KEY_DEFAULT];
    TSR_TRY(tsr_key_expected(&expected, row->key));
    cli_table_text(t, last_word(row->key));
    cli_table_text(t, cli_key_default(preset, row));
    cli_table_format(t, "%s (%s)", row->help, expected);
done:
    tsr_free(expected);
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
    do {
        tsr_key row = cli_key_at(i++);
        TSR_TRY(add_row(&t, &row));
    } while (i < tsr_key_count() && !begins_group(i));
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
    for (int64_t i = 0; i < tsr_key_count();) {
        (void)putchar('\n');
        TSR_TRY(print_group(i, &i));
    }
done:
    return st;
}

/* ---- One section, one key ------------------------------------------------------------------ */

/* The first row of a section, or -1. */
static int64_t find_section(const char *name)
{
    size_t n = strlen(name);
    for (int64_t i = 0; n > 0 && i < tsr_key_count(); i++)
        if (strncmp(cli_key_at(i).key, name, n) == 0 && cli_key_at(i).key[n] == '.')
            return i;
    return -1;
}

/* The row of a key, or -1. */
static int64_t find_key(const char *name)
{
    for (int64_t i = 0; i < tsr_key_count(); i++)
        if (strcmp(cli_key_at(i).key, name) == 0)
            return i;
    return -1;
}

static tsr_status print_key(const tsr_key *row)
{
    tsr_status st = TSR_OK;
    char *expected = NULL, preset[CLI_KEY_DEFAULT];
    cli_table t = {0};
    TSR_TRY(tsr_key_expected(&expected, row->key));
    (void)printf("%s: ", row->key);
    cli_wrap(stdout, row->help, 0, cli_width(stdout));
    cli_table_columns(&t, 2, 2);
    cli_table_text(&t, "value");
    cli_table_text(&t, expected);
    cli_table_text(&t, "default");
    cli_table_text(&t, *cli_key_default(preset, row) ? preset : "none");
    cli_table_text(&t, "changes");
    cli_table_text(&t, row->pace ? "only how fast a run is or what it keeps, never its result"
                                 : "the result");
    TSR_TRY(cli_table_print(&t, stdout));
done:
    cli_table_fini(&t);
    tsr_free(expected);
    return st;
}

const char *cli_runfile_section(int64_t i)
{
    return i < (int64_t)(sizeof sections / sizeof *sections) ? sections[i].name : NULL;
}

bool cli_runfile_knows(const char *name)
{
    return find_section(name) >= 0 || find_key(name) >= 0;
}

tsr_status cli_help_runfile_part(const char *name)
{
    int64_t first = find_section(name), next = 0;
    if (first >= 0)
        return print_group(first, &next);
    tsr_key row = cli_key_at(find_key(name));
    return print_key(&row);
}

/* ---- Markdown ----------------------------------------------------------------------------- */

static void markdown_cell(const char *text)
{
    for (; *text; text++)
        (void)printf(*text == '|' ? "\\|" : "%c", *text);
}

static tsr_status markdown_row(const tsr_key *row)
{
    tsr_status st = TSR_OK;
    char *expected = NULL;
    TSR_TRY(tsr_key_expected(&expected, row->key));
    (void)printf("| `%s` | ", row->key);
    (void)printf(row->preset ? "`%s`" : "", row->preset);
    if (row->when)
        (void)printf("; `%s` with `%s`", row->instead, row->when);
    (void)printf(row->preset ? " | " : "| ");
    markdown_cell(expected);
    (void)printf(" | ");
    markdown_cell(row->help);
    (void)printf(" |\n");
done:
    tsr_free(expected);
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
    for (int64_t i = 0; i < tsr_key_count(); i++) {
        tsr_key row = cli_key_at(i);
        if (begins_group(i))
            markdown_heading(i);
        TSR_TRY(markdown_row(&row));
    }
done:
    return st;
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void json_choices(tsr_json *w, const char *choices)
{
    char word[64];
    tsr_json_open(w, "choices", '[');
    for (const char *p = choices; *p; p += *p == '|') {
        size_t n = strcspn(p, "|");
        (void)snprintf(word, sizeof word, "%.*s", (int)n, p);
        tsr_json_text(w, NULL, word);
        p += n;
    }
    tsr_json_close(w, ']');
}

static void json_row(tsr_json *w, const tsr_key *row)
{
    static const char *const type[] = {"int", "real", "bool", "text", "choice", "ints", "reals"};
    tsr_json_open(w, NULL, '{');
    tsr_json_text(w, "key", row->key);
    tsr_json_text(w, "type", type[row->type]);
    tsr_json_text(w, "default", row->preset ? row->preset : NULL);
    if (row->when) {
        tsr_json_text(w, "default_when", row->when);
        tsr_json_text(w, "default_instead", row->instead);
    }
    if (row->choices)
        json_choices(w, row->choices);
    if (row->type != TSR_KEY_BOOL && row->least < row->most) {
        tsr_json_real(w, "least", row->least);
        tsr_json_real(w, "most", row->most);
    }
    tsr_json_text(w, "help", row->help);
    tsr_json_close(w, '}');
}

tsr_status cli_help_runfile_json(const char *part)
{
    tsr_json *w = tsr_json_create();
    size_t n = part ? strlen(part) : 0;
    tsr_json_open(w, "keys", '[');
    for (int64_t i = 0; i < tsr_key_count(); i++) {
        tsr_key row = cli_key_at(i);
        if (!part || (strncmp(row.key, part, n) == 0 && (row.key[n] == '.' || row.key[n] == '\0')))
            json_row(w, &row);
    }
    tsr_json_close(w, ']');
    return cli_json_print(w);
}
