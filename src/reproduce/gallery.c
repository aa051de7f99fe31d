/* gallery.c - a page of pictures and verdicts, and the same as a table in Markdown. */
#include "reproduce/gallery.h"

#include "base/alloc.h"
#include "base/number.h"
#include "io/file.h"
#include "io/json.h"
#include "report/report_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SVG_MOST = 4000000 };

/* One study as its files tell it. */
typedef struct exhibit {
    const tsri_reproduction *row;
    char *folder, *name;      /* its path, and that below the gallery's folder */
    tsri_json_value *summary; /* NULL: nobody has made it here */
} exhibit;

tsr_status tsri_study_folder_name(char **out, const tsri_reproduction *row, bool paper)
{
    tsr_status st = TSR_OK;
    tsri_text name = {0};
    TSR_TRY(tsri_text_add(&name, "%s%s", row->name, paper ? "-paper" : ""));
    for (char *p = name.data; *p; p++)
        if (*p == '/')
            *p = '-';
    *out = name.data;
done:
    return st;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static const char *text_of(const tsri_json_value *v, const char *key)
{
    const char *text = "";
    (void)tsri_json_as_text(tsri_json_get(v, key), &text);
    return text;
}

static bool flag_of(const tsri_json_value *v, const char *key)
{
    bool on = false;
    (void)tsri_json_as_bool(tsri_json_get(v, key), &on);
    return on;
}

static double real_of(const tsri_json_value *v, const char *key)
{
    double real = NAN;
    (void)tsri_json_as_real(tsri_json_get(v, key), &real);
    return real;
}

static tsr_status read_summary(exhibit *e)
{
    tsr_status st = TSR_OK;
    char *path = NULL, *bytes = NULL;
    int64_t n = 0;
    TSR_TRY(tsri_path_join(&path, e->folder, "summary.json"));
    if (!tsri_file_exists(path))
        goto done;
    TSR_TRY(tsri_file_read(&bytes, &n, path, TSRI_JSON_MOST));
    TSR_TRY(tsri_json_parse(&e->summary, bytes, n, tsri_quote(path)));
    TSR_CHECK(strcmp(text_of(e->summary, "name"), e->row->name) == 0, TSR_BAD_FILE,
              "%s is of %s, not of %s", tsri_quote(path), tsri_quote(text_of(e->summary, "name")),
              e->row->name);
done:
    tsri_free(bytes);
    tsri_free(path);
    return st;
}

static tsr_status open_exhibit(exhibit *e, const tsri_reproduction *row, const char *folder,
                               bool paper)
{
    tsr_status st = TSR_OK;
    *e = (exhibit){.row = row};
    TSR_TRY(tsri_study_folder_name(&e->name, row, paper));
    TSR_TRY(tsri_path_join(&e->folder, folder, e->name));
    TSR_TRY(read_summary(e));
done:
    return st;
}

static void close_exhibit(exhibit *e)
{
    tsri_json_destroy(e->summary);
    tsri_free(e->folder);
    tsri_free(e->name);
    *e = (exhibit){0};
}

/* ---- Both -------------------------------------------------------------------------------------- */

/* The finding on a claim: "0.97 (0.93 to 1.01)" where it is one number, else its sentence. */
static const char *found_text(char number[100], const tsri_json_value *claim)
{
    const tsri_json_value *parts = tsri_json_get(claim, "parts");
    const tsri_json_value *part = tsri_json_length(parts) == 1 ? tsri_json_at(parts, 0) : NULL;
    double value = real_of(part, "value"), low = real_of(part, "low"), high = real_of(part, "high");
    if (!part || !isfinite(value) || !isfinite(low) || !isfinite(high))
        return text_of(claim, "found");
    (void)snprintf(number, 100, "%.4g (%.4g to %.4g)", value, low, high);
    return number;
}

static const char *size_of(const tsri_json_value *summary)
{
    return flag_of(summary, "quick")   ? "quick: smaller than the paper's"
           : flag_of(summary, "paper") ? "the paper's own setting"
                                       : "full size";
}

/* Behind the name of a study that was made in the paper's own setting. */
static const char *paper_mark(const exhibit *e)
{
    return flag_of(e->summary, "paper") ? " --paper" : "";
}

/* "tessera 0.2.0 (commit 1234), 93 s". A study in the paper's own setting is put together from
 * cells that may have been made elsewhere: the seconds are only those of the last call. */
static tsr_status made_by(tsri_text *out, const tsri_json_value *summary)
{
    tsr_status st = TSR_OK;
    const char *version = text_of(summary, "version"), *commit = text_of(summary, "commit");
    TSR_TRY(tsri_text_add(out, "tessera %s", *version ? version : "before 0.3.0"));
    if (*commit)
        TSR_TRY(tsri_text_add(out, ", commit %s", commit));
    if (isfinite(real_of(summary, "seconds")) && !flag_of(summary, "paper"))
        TSR_TRY(tsri_text_add(out, ", %.0f s", real_of(summary, "seconds")));
done:
    return st;
}

static tsr_status command_of(tsri_text *out, const exhibit *e)
{
    const char *told = text_of(e->summary, "command");
    return *told ? tsri_text_add(out, "%s", told)
                 : tsri_text_add(out, "tessera reproduce %s%s", e->row->name,
                                 e->summary && !flag_of(e->summary, "quick") ? "" : " --quick");
}

/* ---- The page --------------------------------------------------------------------------------- */

/* As wide as it was drawn, at most: one panel does not fill the page. */
static double width_of(const char *svg)
{
    const char *box = svg ? strstr(svg, "viewBox=\"0 0 ") : NULL;
    double width = box ? strtod(box + strlen("viewBox=\"0 0 "), NULL) : 0;
    return width > 0 ? 1.2 * width : 1000;
}

/* The drawing itself, so that the page needs no other file. An SVG of ours has no XML head. */
static void show_picture(tsri_page *p, const exhibit *e, const char *file)
{
    char *path = NULL, *svg = NULL;
    int64_t n = 0;
    tsr_status st = tsri_path_join(&path, e->folder, file);
    if (st == TSR_OK && tsri_file_exists(path)) {
        st = tsri_file_read(&svg, &n, path, SVG_MOST);
        const char *begin = st == TSR_OK ? strstr(svg, "<svg") : NULL;
        tsri_markup_add(&p->html, "<figure class=\"%s\" style=\"max-width:%spx\">",
                        width_of(begin) > 800 ? "wide" : "", tsri_px(width_of(begin)));
        if (begin && p->html.st == TSR_OK)
            st = tsri_text_add_bytes(&p->html.text, begin, strlen(begin));
        tsri_markup_add(&p->html, "</figure>\n");
    }
    if (p->html.st == TSR_OK)
        p->html.st = st;
    tsri_free(svg);
    tsri_free(path);
}

static void show_pictures(tsri_page *p, const exhibit *e)
{
    const tsri_json_value *files = tsri_json_get(e->summary, "files");
    for (int64_t i = 0; i < tsri_json_length(files); i++) {
        const char *file = "";
        (void)tsri_json_as_text(tsri_json_at(files, i), &file);
        const char *ending = strrchr(file, '.');
        if (ending && strcmp(ending, ".svg") == 0 && !strchr(file, '/'))
            show_picture(p, e, file);
    }
}

static void show_claims(tsri_page *p, const exhibit *e)
{
    const tsri_json_value *claims = tsri_json_get(e->summary, "claims");
    tsri_markup_add(&p->html,
                    "<div class=\"wide\"><table class=\"claims\"><thead><tr><th>verdict</th>"
                    "<th>the paper</th><th>here</th></tr></thead>\n");
    for (int64_t i = 0; i < tsri_json_length(claims); i++) {
        const tsri_json_value *c = tsri_json_at(claims, i);
        const char *verdict = text_of(c, "verdict");
        bool holds = strcmp(verdict, tsri_finding_name[TSRI_FINDING_HOLDS]) == 0;
        bool fails = strcmp(verdict, tsri_finding_name[TSRI_FINDING_FAILS]) == 0;
        tsri_markup_add(&p->html, "<tr><td class=\"%s\">",
                        holds   ? "holds"
                        : fails ? "fails"
                                : "quiet");
        tsri_markup_text(&p->html, verdict);
        tsri_markup_add(&p->html, "</td><td>%s", flag_of(c, "ours") ? "(Ours.) " : "");
        tsri_markup_text(&p->html, text_of(c, "paper"));
        tsri_markup_add(&p->html, "</td><td>");
        tsri_markup_text(&p->html, text_of(c, "found"));
        tsri_markup_add(&p->html, " (asked: ");
        tsri_markup_text(&p->html, text_of(c, "decided"));
        tsri_markup_add(&p->html, ")</td></tr>\n");
    }
    tsri_markup_add(&p->html, "</table></div>\n");
}

static int64_t departures(const tsri_json_value *summary)
{
    const tsri_json_value *settings = tsri_json_get(summary, "settings");
    int64_t count = 0;
    for (int64_t i = 0; i < tsri_json_length(settings); i++)
        count += flag_of(tsri_json_at(settings, i), "departs");
    return count;
}

/* What is otherwise than in the paper, first; then what is the same. */
static void show_settings(tsri_page *p, const exhibit *e)
{
    const tsri_json_value *settings = tsri_json_get(e->summary, "settings");
    int64_t n = tsri_json_length(settings);
    tsri_table t = {0};
    if (n == 0)
        return;
    tsri_table_head(&t, "setting|in the paper|here");
    for (int64_t i = 0; i < 2 * n; i++) {
        const tsri_json_value *one = tsri_json_at(settings, i % n);
        if (flag_of(one, "departs") != (i < n))
            continue;
        tsri_table_text(&t, text_of(one, "what"));
        tsri_table_text(&t, text_of(one, "paper"));
        tsri_table_text(&t, flag_of(one, "departs") ? text_of(one, "here") : "the same");
    }
    tsri_markup_add(&p->html,
                    "<details><summary>%lld of %lld settings differ from the "
                    "paper's</summary>\n<div class=\"wide\">",
                    (long long)departures(e->summary), (long long)n);
    tsri_table_html(&p->html, &t);
    tsri_markup_add(&p->html, "</div></details>\n");
    tsri_table_fini(&t);
}

static tsr_status show_exhibit(tsri_page *p, const exhibit *e)
{
    tsr_status st = TSR_OK;
    tsri_text command = {0}, made = {0};
    char title[300];
    TSR_TRY(command_of(&command, e));
    TSR_TRY(made_by(&made, e->summary));
    (void)snprintf(title, sizeof title, "%s%s: %s", e->row->name, paper_mark(e), e->row->help);
    tsri_section_open(p, title);
    show_pictures(p, e);
    show_claims(p, e);
    show_settings(p, e);
    tsri_markup_add(&p->html, "<p class=\"quiet\"><code>");
    tsri_markup_text(&p->html, command.data);
    tsri_markup_add(&p->html, "</code> (%s; ", size_of(e->summary));
    tsri_markup_text(&p->html, made.data);
    tsri_markup_add(&p->html, ")</p>\n");
    tsri_section_close(p);
    TSR_TRY(tsri_markup_end(&p->html));
done:
    tsri_text_fini(&made);
    tsri_text_fini(&command);
    return st;
}

/* A line of the overview: its verdicts, or the command that makes it. */
static tsr_status list_exhibit(tsri_page *p, const exhibit *e)
{
    static const char *const key[] = {"holds", "does_not_hold", "undecided"};
    tsr_status st = TSR_OK;
    tsri_text command = {0};
    const tsri_json_value *verdicts = tsri_json_get(e->summary, "verdicts");
    if (e->summary) {
        tsri_markup_add(&p->html, "<tr><td>%s%s</td><td>%s</td>", e->row->name, paper_mark(e),
                        e->row->help);
        for (int k = 0; k < 3; k++)
            tsri_markup_add(&p->html, "<td class=\"n\">%.0f</td>", real_of(verdicts, key[k]));
    } else {
        TSR_TRY(command_of(&command, e));
        tsri_markup_add(&p->html, "<tr><td class=\"quiet\">%s</td><td>%s</td>", e->row->name,
                        e->row->help);
        tsri_markup_add(&p->html,
                        "<td colspan=\"3\" class=\"quiet\">not made: <code>%s</code></td>",
                        command.data);
    }
    tsri_markup_add(&p->html, "</tr>\n");
    TSR_TRY(tsri_markup_end(&p->html));
done:
    tsri_text_fini(&command);
    return st;
}

/* ---- The table -------------------------------------------------------------------------------- */

tsr_status tsri_markdown_cell(tsri_text *out, const char *text)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_text_add(out, " "));
    for (const char *p = text; *p; p++)
        TSR_TRY(*p == '|' ? tsri_text_add(out, "\\|")
                          : tsri_text_add(out, "%c", *p == '\n' ? ' ' : *p));
    TSR_TRY(tsri_text_add(out, " |"));
done:
    return st;
}

static tsr_status claim_rows(tsri_text *out, const exhibit *e)
{
    tsr_status st = TSR_OK;
    const tsri_json_value *claims = tsri_json_get(e->summary, "claims");
    char number[100];
    TSR_TRY(tsri_text_add(out, "| the paper | here | asked | verdict |\n|---|---|---|---|\n"));
    for (int64_t i = 0; i < tsri_json_length(claims); i++) {
        const tsri_json_value *c = tsri_json_at(claims, i);
        TSR_TRY(tsri_text_add(out, "|"));
        TSR_TRY(tsri_markdown_cell(out, text_of(c, "paper")));
        TSR_TRY(tsri_markdown_cell(out, found_text(number, c)));
        TSR_TRY(tsri_markdown_cell(out, text_of(c, "decided")));
        TSR_TRY(tsri_text_add(out, " **%s**%s |\n", text_of(c, "verdict"),
                              flag_of(c, "ours") ? " (ours)" : ""));
    }
done:
    return st;
}

static tsr_status table_exhibit(tsri_text *out, const exhibit *e)
{
    tsr_status st = TSR_OK;
    tsri_text command = {0}, made = {0};
    TSR_TRY(tsri_text_add(out, "\n## %s%s\n", e->row->name, paper_mark(e)));
    TSR_TRY(command_of(&command, e));
    if (!e->summary) {
        TSR_TRY(tsri_text_add(out, "Not made yet: `%s`.\n", command.data));
        goto done;
    }
    TSR_TRY(made_by(&made, e->summary));
    TSR_TRY(
        tsri_text_add(out, "%c%s.\n%s; %lld settings differ from the paper's.\n`%s`,%c%s.\n\n",
                      e->row->help[0] - ('a' <= e->row->help[0] && e->row->help[0] <= 'z' ? 32 : 0),
                      e->row->help + 1,
                      flag_of(e->summary, "quick")   ? "Quick: smaller than the paper's"
                      : flag_of(e->summary, "paper") ? "The paper's own setting"
                                                     : "Full size",
                      (long long)departures(e->summary), command.data,
                      command.length + made.length > 90 ? '\n' : ' ', made.data));
    TSR_TRY(claim_rows(out, e));
done:
    tsri_text_fini(&made);
    tsri_text_fini(&command);
    return st;
}

/* ---- All of it -------------------------------------------------------------------------------- */

enum { MOST = 200 };

typedef struct gallery {
    tsri_page page;
    tsri_text whole, table; /* index.html and results.md */
    exhibit exhibit[MOST];
    int64_t all, shown;
} gallery;

/* Studies in the paper's own setting are optional in a gallery: a missing one is not mentioned. */
static tsr_status look_at(gallery *g, const tsri_reproduction *r, bool paper)
{
    tsr_status st = TSR_OK;
    exhibit *e = &g->exhibit[g->all++];
    TSR_TRY(open_exhibit(e, r, g->page.folder, paper));
    g->shown += e->summary != NULL;
    if (paper && !e->summary) {
        close_exhibit(e);
        g->all--;
    }
done:
    return st;
}

static tsr_status look(gallery *g)
{
    tsr_status st = TSR_OK;
    for (int i = 0; tsri_reproductions[i]; i++)
        for (const tsri_reproduction *r = tsri_reproductions[i]; r->name && g->all < MOST - 1;
             r++) {
            TSR_TRY(look_at(g, r, false));
            if (r->paper)
                TSR_TRY(look_at(g, r, true));
        }
    TSR_CHECK(g->shown > 0, TSR_USAGE, "%s holds no study: tessera reproduce all makes them",
              tsri_quote(g->page.folder));
done:
    return st;
}

static tsr_status make_page(gallery *g)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_page_begin(&g->page, "The papers' figures and tables, made again"));
    tsri_page_say(&g->page,
                  "Each claim of a paper is judged by a bound that was fixed beforehand. "
                  "%lld of %lld studies have been made here.",
                  (long long)g->shown, (long long)g->all);
    tsri_markup_add(&g->page.html,
                    "<div class=\"wide\"><table class=\"named studies\"><tr><th>study</th>"
                    "<th>shows</th><th class=\"n\">holds</th><th class=\"n\">does "
                    "not</th><th class=\"n\">undecided</th></tr>\n");
    for (int64_t i = 0; i < g->all; i++)
        TSR_TRY(list_exhibit(&g->page, &g->exhibit[i]));
    tsri_markup_add(&g->page.html, "</table></div>\n");
    for (int64_t i = 0; i < g->all; i++)
        if (g->exhibit[i].summary)
            TSR_TRY(show_exhibit(&g->page, &g->exhibit[i]));
    TSR_TRY(tsri_page_end(&g->whole, &g->page));
done:
    return st;
}

static tsr_status make_table(gallery *g)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_text_add(
        &g->table, "# Results\n\nWhat the five papers say, and what came out here. Written by "
                   "`tessera reproduce --index`\nfrom the studies' own files; bounds are fixed "
                   "beforehand (`tessera reproduce --list NAME`). Numbers\nare means over seeds "
                   "(of ratios and factors the geometric ones) with their 95 %% interval,\nor with "
                   "the least and the most of them.\n"));
    for (int64_t i = 0; i < g->all; i++)
        TSR_TRY(table_exhibit(&g->table, &g->exhibit[i]));
done:
    return st;
}

static tsr_status write_both(gallery *g)
{
    tsr_status st = TSR_OK;
    char *page = NULL, *table = NULL;
    TSR_TRY(tsri_path_join(&page, g->page.folder, "index.html"));
    TSR_TRY(tsri_path_join(&table, g->page.folder, "results.md"));
    TSR_TRY(tsri_file_write_text(page, g->whole.data));
    TSR_TRY(tsri_file_write_text(table, g->table.data));
done:
    tsri_free(table);
    tsri_free(page);
    return st;
}

tsr_status tsri_gallery_write(int64_t *shown, const char *folder)
{
    tsr_status st = TSR_OK;
    gallery g = {.page = {.folder = folder}};
    TSR_TRY(look(&g));
    TSR_TRY(make_page(&g));
    TSR_TRY(make_table(&g));
    TSR_TRY(write_both(&g));
    *shown = g.shown;
done:
    for (int64_t i = 0; i < g.all; i++)
        close_exhibit(&g.exhibit[i]);
    tsri_page_fini(&g.page);
    tsri_text_fini(&g.whole);
    tsri_text_fini(&g.table);
    return st;
}
