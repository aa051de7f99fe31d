/* print.c - text for people, aligned tables and wrapped paragraphs, and the JSON of --json. */
#include "cli/print.h"
#include "cli/string.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { GAP = 2, NARROWEST = 40, USUAL = 80 };

int cli_width(FILE *to)
{
    struct winsize size = {0};
    int fd = fileno(to);
    if (fd < 0 || !isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return USUAL;
    return size.ws_col < NARROWEST ? NARROWEST : size.ws_col;
}

static bool starts_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

static int columns_of(const char *text, size_t n)
{
    int columns = 0;
    for (size_t i = 0; i < n; i++)
        columns += starts_character(text[i]);
    return columns;
}

int cli_columns(const char *text)
{
    return columns_of(text, strlen(text));
}

/* ---- Paragraphs --------------------------------------------------------------------------- */

/* The bytes of the next line: as many words as fit, at least one; *skip includes the space
 * behind. */
static size_t next_line(const char *text, int width, size_t *skip)
{
    size_t end = 0;
    for (size_t i = 0;; i++) {
        bool stop = text[i] == '\0' || text[i] == '\n';
        if (stop || text[i] == ' ') {
            if (end > 0 && columns_of(text, i) > width)
                break;
            end = i;
        }
        if (stop)
            break;
    }
    *skip = end;
    while (text[*skip] == ' ')
        ++*skip;
    *skip += text[*skip] == '\n' && *skip == end;
    return end;
}

void cli_wrap(FILE *to, const char *text, int indent, int width)
{
    int room = width - indent < 20 ? 20 : width - indent;
    do {
        size_t skip = 0, n = next_line(text, room, &skip);
        (void)fprintf(to, "%.*s\n", (int)n, text);
        text += skip;
        if (*text && *text != '\n')
            (void)fprintf(to, "%*s", indent, "");
    } while (*text);
}

/* ---- Tables ------------------------------------------------------------------------------- */

static void clean(char *text)
{
    for (unsigned char *p = (unsigned char *)text; *p; p++)
        if (*p < 0x20 || *p == 0x7f)
            *p = '?';
        else if (p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0) /* C1 controls */
            p[0] = p[1] = '?';
}

static void add_cell(cli_table *t, const char *text, bool number)
{
    char *copy = NULL;
    if (t->st == TSR_OK)
        t->st = cli_reserve(&t->cell, &t->capacity, t->count, sizeof *t->cell);
    if (t->st == TSR_OK)
        t->st = cli_alloc(&copy, (int64_t)strlen(text), 1);
    if (t->st != TSR_OK)
        return;
    memcpy(copy, text, strlen(text) + 1);
    clean(copy);
    t->cell[t->count++] = (cli_cell){copy, number};
}

void cli_table_columns(cli_table *t, int columns, int indent)
{
    t->columns = columns < CLI_COLUMNS_MAX ? columns : CLI_COLUMNS_MAX;
    t->indent = indent;
}

void cli_table_head(cli_table *t, int columns, ...)
{
    va_list heads;
    cli_table_columns(t, columns, 0);
    t->headed = true;
    va_start(heads, columns);
    for (int i = 0; i < columns; i++)
        add_cell(t, va_arg(heads, const char *), false);
    va_end(heads);
}

void cli_table_text(cli_table *t, const char *text)
{
    add_cell(t, text ? text : "", false);
}

void cli_table_format(cli_table *t, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    add_cell(t, text, false);
}

void cli_table_int(cli_table *t, int64_t value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%lld", (long long)value);
    add_cell(t, text, true);
}

void cli_table_real(cli_table *t, double value, int digits)
{
    char text[400];
    (void)snprintf(text, sizeof text, isnan(value) ? "-" : "%.*f", digits, value);
    add_cell(t, text, true);
}

/* Widths of the columns, and which hold nothing but numbers. */
static void measure(const cli_table *t, int width[CLI_COLUMNS_MAX], bool right[CLI_COLUMNS_MAX])
{
    assert(t->columns > 0 && "cli_table_head or cli_table_columns comes first");
    for (int c = 0; c < CLI_COLUMNS_MAX; c++) {
        width[c] = 0;
        right[c] = true;
    }
    for (int64_t i = 0; i < t->count; i++) {
        int c = (int)(i % t->columns), w = cli_columns(t->cell[i].text);
        width[c] = w > width[c] ? w : width[c];
        if (i >= (t->headed ? t->columns : 0) && !t->cell[i].number && *t->cell[i].text)
            right[c] = false;
    }
}

tsr_status cli_table_print(const cli_table *t, FILE *to)
{
    int width[CLI_COLUMNS_MAX], screen = cli_width(to);
    bool right[CLI_COLUMNS_MAX];
    if (t->st != TSR_OK)
        return t->st;
    measure(t, width, right);
    int at = 0, owed = 0; /* column reached; spaces to print before the next text, if any comes */
    for (int64_t i = 0; i < t->count; i++) {
        int c = (int)(i % t->columns);
        const char *text = t->cell[i].text;
        int pad = width[c] - cli_columns(text);
        if (c == 0)
            at = owed = t->indent;
        owed += right[c] ? pad : 0;
        if (*text)
            (void)fprintf(to, "%*s", owed, "");
        if (c == t->columns - 1) {
            cli_wrap(to, text, at, screen);
            continue;
        }
        (void)fputs(text, to);
        owed = (*text ? 0 : owed) + (right[c] ? 0 : pad) + GAP;
        at += width[c] + GAP;
    }
    return TSR_OK;
}

void cli_table_fini(cli_table *t)
{
    for (int64_t i = 0; i < t->count; i++)
        free(t->cell[i].text);
    free(t->cell);
    *t = (cli_table){0};
}

tsr_status cli_json_print(tsr_json *w)
{
    char *text = NULL;
    tsr_status st = tsr_json_end(&text, w);
    if (st == TSR_OK)
        cli_print(text);
    return st;
}

tsr_status cli_show(const cli_args *args, const char *json, tsr_status (*text)(const tsr_doc *doc))
{
    tsr_status st = TSR_OK;
    tsr_doc *doc = NULL;
    if (args->json) {
        (void)puts(json);
        goto done;
    }
    TSR_TRY(tsr_doc_parse(&doc, json));
    TSR_TRY(text(doc));
done:
    tsr_doc_destroy(doc);
    return st;
}

void cli_print(char *text)
{
    (void)puts(text);
    tsr_free(text);
}
