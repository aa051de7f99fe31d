/* report_certificate.c - the section of certificates: what theorems ask for beside what was
 * measured.
 *
 * Certificates come as JSON (tsri_certificate_json, theory/certificate.h), from files in the run's
 * folder and from its lines of metrics.
 */
#include "report/report_parts.h"

#include "base/alloc.h"
#include "io/file.h"
#include "report/scale.h"
#include "theory/verdict.h"

#include <stdio.h>
#include <string.h>

static void number(tsri_markup *m, const tsri_json_value *object, const char *key)
{
    double value;
    char text[TSRI_LABEL];
    if (!tsri_json_as_real(tsri_json_get(object, key), &value))
        return;
    tsri_tick_text(text, value);
    tsri_markup_text(m, text);
}

static void interval(tsri_markup *m, const tsri_json_value *row)
{
    const tsri_json_value *ends = tsri_json_get(row, "interval");
    double low, high;
    char text[TSRI_LABEL];
    if (!tsri_json_is_array(ends) || !tsri_json_as_real(tsri_json_at(ends, 0), &low) ||
        !tsri_json_as_real(tsri_json_at(ends, 1), &high))
        return;
    tsri_markup_add(m, " <span class=\"quiet\">(");
    tsri_tick_text(text, low);
    tsri_markup_text(m, text);
    tsri_markup_add(m, " to ");
    tsri_tick_text(text, high);
    tsri_markup_text(m, text);
    tsri_markup_add(m, ")</span>");
}

/* "holds", "fails by a factor of 12", "open: 4 of 60 samples were looked at". */
static void verdict(tsri_markup *m, const tsri_json_value *row)
{
    const char *word = tsri_text_at(row, "verdict"), *reason = tsri_text_at(row, "reason");
    tsri_verdict v = tsri_verdict_named(word);
    tsri_markup_add(m, "<td class=\"%s\">",
                    v == TSRI_FAILS   ? "fails"
                    : v == TSRI_HOLDS ? "holds"
                                      : "quiet");
    tsri_markup_text(m, word);
    double factor;
    if (v == TSRI_FAILS && tsri_json_as_real(tsri_json_get(row, "factor"), &factor)) {
        tsri_markup_add(m, " by a factor of ");
        number(m, row, "factor");
    }
    if (reason[0]) {
        tsri_markup_add(m, ": ");
        tsri_markup_text(m, reason);
    }
    tsri_markup_add(m, "</td>");
}

/* "at most 0.5"; nothing where the bound is not known. */
static void requirement(tsri_markup *m, const tsri_json_value *row)
{
    double bound;
    bool known = tsri_json_as_real(tsri_json_get(row, "required"), &bound);
    tsri_markup_add(m, "<td class=\"n\"%s>", known ? " data-head=\"required\"" : "");
    if (known) {
        tsri_markup_text(m, tsri_text_at(row, "sense"));
        tsri_markup_add(m, " ");
        number(m, row, "required");
    }
    tsri_markup_add(m, "</td>");
}

static void row_html(tsri_markup *m, const tsri_json_value *row)
{
    tsri_markup_add(m, "<tr><td>");
    tsri_markup_text(m, tsri_text_at(row, "quantity"));
    tsri_markup_add(m, "</td><td class=\"quiet\">");
    tsri_markup_text(m, tsri_text_at(row, "where"));
    if (tsri_text_at(row, "chance")[0]) {
        tsri_markup_add(m, "<br>probability ");
        tsri_markup_text(m, tsri_text_at(row, "chance"));
    }
    tsri_markup_add(m, "</td><td class=\"n\" data-head=\"measured\">");
    number(m, row, "measured");
    interval(m, row);
    tsri_markup_add(m, "</td>");
    requirement(m, row);
    verdict(m, row);
    tsri_markup_add(m, "</tr>\n");
}

/* "3 hold, 2 fail, 1 is vacuous, ...": vacuous rows are counted apart from those that hold. */
static void counts(tsri_markup *m, const tsri_json_value *c)
{
    const tsri_json_value *all = tsri_json_get(c, "counts");
    if (!tsri_json_is_object(all))
        return;
    tsri_markup_add(m, "<p>");
    for (int v = TSRI_HOLDS; v < TSRI_VERDICTS; v++) {
        int64_t n = 0;
        (void)tsri_json_as_int(tsri_json_get(all, tsri_verdicts[v].name), &n);
        tsri_markup_add(m, "%s%lld %s", v > TSRI_HOLDS ? ", " : "", (long long)n,
                        n == 1 ? tsri_verdicts[v].one : tsri_verdicts[v].many);
    }
    tsri_markup_add(m, "</p>\n");
}

static void words_of(tsri_markup *m, const char *before, const tsri_json_value *list)
{
    const char *word;
    for (int64_t i = 0; tsri_json_is_array(list) && i < tsri_json_length(list); i++)
        if (tsri_json_as_text(tsri_json_at(list, i), &word)) {
            tsri_markup_add(m, i > 0 ? ", " : "%s", before);
            tsri_markup_text(m, word);
        }
}

/* What each theorem assumes, and what of it the run breaks. */
static void theorems(tsri_markup *m, const tsri_json_value *c)
{
    const tsri_json_value *all = tsri_json_get(c, "theorems");
    if (!tsri_json_is_array(all) || tsri_json_length(all) == 0)
        return;
    tsri_markup_add(m, "<details><summary>what the theorems assume</summary><ul>\n");
    for (int64_t i = 0; i < tsri_json_length(all); i++) {
        const tsri_json_value *t = tsri_json_at(all, i);
        tsri_markup_add(m, "<li>");
        tsri_markup_text(m, tsri_text_at(t, "theorem"));
        words_of(m, ": ", tsri_json_get(t, "assumes"));
        if (tsri_json_length(tsri_json_get(t, "broken")) > 0) {
            tsri_markup_add(m, "<br><span class=\"fails\">does not apply</span>");
            words_of(m, ": ", tsri_json_get(t, "broken"));
        }
        tsri_markup_add(m, "</li>\n");
    }
    tsri_markup_add(m, "</ul></details>\n");
}

static void certificate(tsri_markup *m, const tsri_json_value *c)
{
    const tsri_json_value *rows = tsri_json_get(c, "rows"), *notes = tsri_json_get(c, "notes");
    int64_t round = 0;
    if (!tsri_json_is_array(rows))
        return;
    tsri_markup_add(m, "<h3>");
    tsri_markup_text(m, tsri_text_at(c, "paper"));
    if (tsri_json_as_int(tsri_json_get(c, "round"), &round))
        tsri_markup_add(m, round > 0 ? ", after round %lld" : ", before the run", (long long)round);
    tsri_markup_add(m, "</h3>\n");
    counts(m, c);
    tsri_markup_add(
        m, "<div class=\"wide\"><table class=\"verdicts\">\n<thead><tr><th>quantity</th><th>where"
           "</th><th class=\"n\">measured</th><th class=\"n\">required</th>"
           "<th>verdict</th>"
           "</tr></thead>\n<tbody>");
    for (int64_t i = 0; i < tsri_json_length(rows); i++)
        row_html(m, tsri_json_at(rows, i));
    tsri_markup_add(m, "</tbody></table></div>\n");
    theorems(m, c);
    for (int64_t i = 0; tsri_json_is_array(notes) && i < tsri_json_length(notes); i++) {
        const char *note;
        if (tsri_json_as_text(tsri_json_at(notes, i), &note)) {
            tsri_markup_add(m, "<p class=\"quiet\">");
            tsri_markup_text(m, note);
            tsri_markup_add(m, "</p>\n");
        }
    }
}

/* A file holds one certificate, or a list of them. */
static tsr_status one_file(tsri_markup *m, const tsri_page *p, const char *name)
{
    tsr_status st = TSR_OK;
    tsri_json_value *root = NULL;
    TSR_TRY(tsri_page_json(&root, p, name));
    if (tsri_json_is_object(root))
        certificate(m, root);
    for (int64_t i = 0; tsri_json_is_array(root) && i < tsri_json_length(root); i++)
        certificate(m, tsri_json_at(root, i));
done:
    tsri_json_destroy(root);
    return st;
}

static bool is_certificate(const char *name)
{
    size_t n = strlen(name);
    return n > 5 && strncmp(name, "certificate", 11) == 0 && strcmp(name + n - 5, ".json") == 0;
}

static tsr_status all_files(tsri_markup *m, const tsri_page *p)
{
    tsr_status st = TSR_OK;
    char **names = NULL;
    int64_t count = 0;
    TSR_TRY(tsri_list_folder(&names, &count, p->folder));
    for (int64_t i = 0; i < count; i++)
        if (is_certificate(names[i]))
            TSR_TRY(one_file(m, p, names[i]));
done:
    tsri_names_free(names, count);
    return st;
}

/* ---- Along the run (certify.every): the latest of each paper ------------------------------- */

enum { MOST_PAPERS = 8 };

typedef struct latest {
    char paper[64];
    tsri_markup html;
} latest;

static tsr_status take_certificate(void *context, const tsri_json_value *line)
{
    latest *all = context;
    const char *paper = tsri_text_at(line, "paper");
    int i = 0;
    while (i < MOST_PAPERS - 1 && *all[i].paper && strcmp(all[i].paper, paper) != 0)
        i++;
    (void)snprintf(all[i].paper, sizeof all[i].paper, "%.60s", paper);
    tsri_markup_fini(&all[i].html);
    certificate(&all[i].html, line);
    return tsri_markup_end(&all[i].html);
}

static tsr_status along_the_run(tsri_markup *m, const tsri_page *p)
{
    tsr_status st = TSR_OK;
    latest all[MOST_PAPERS] = {0};
    char *path = NULL;
    TSR_TRY(tsri_path_join(&path, p->folder, "metrics.jsonl"));
    if (tsri_file_exists(path))
        TSR_TRY(tsri_lines_each(path, "certificate", take_certificate, all));
    for (int i = 0; i < MOST_PAPERS; i++)
        if (all[i].html.text.length > 0)
            TSR_TRY(tsri_text_add_bytes(&m->text, all[i].html.text.data,
                                        (size_t)all[i].html.text.length));
done:
    for (int i = 0; i < MOST_PAPERS; i++)
        tsri_markup_fini(&all[i].html);
    tsri_free(path);
    return st;
}

tsr_status tsri_report_certificates(tsri_page *p)
{
    tsr_status st = TSR_OK;
    tsri_markup m = {0};
    TSR_TRY(all_files(&m, p));
    TSR_TRY(along_the_run(&m, p));
    TSR_TRY(tsri_markup_end(&m));
    if (m.text.length == 0)
        goto done;
    tsri_section_open(p, "Certificates");
    if (p->html.st == TSR_OK)
        TSR_TRY(tsri_text_add_bytes(&p->html.text, m.text.data, (size_t)m.text.length));
    tsri_section_close(p);
done:
    tsri_markup_fini(&m);
    return st;
}
