/* report_certificate.c - the section of certificates: what theorems ask for beside what was
 * measured. The files are those of tsri_certificate_json (theory/certificate.h). */
#include "report/report_parts.h"

#include "base/alloc.h"
#include "io/file.h"
#include "report/scale.h"

#include <math.h>
#include <string.h>

static const char *text_of(const tsri_json_value *object, const char *key)
{
    const char *text = "";
    (void)tsri_json_as_text(tsri_json_get(object, key), &text);
    return text;
}

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

/* "holds", "fails by a factor of 12", "open". */
static void verdict(tsri_markup *m, const tsri_json_value *row)
{
    const char *word = text_of(row, "verdict");
    bool fails = strcmp(word, "fails") == 0;
    tsri_markup_add(m, "<td class=\"%s\">",
                    fails                        ? "fails"
                    : strcmp(word, "holds") == 0 ? "holds"
                                                 : "quiet");
    tsri_markup_text(m, word);
    double factor;
    if (fails && tsri_json_as_real(tsri_json_get(row, "factor"), &factor)) {
        tsri_markup_add(m, " by a factor of ");
        number(m, row, "factor");
    }
    tsri_markup_add(m, "</td>");
}

static void row_html(tsri_markup *m, const tsri_json_value *row)
{
    tsri_markup_add(m, "<tr><td>");
    tsri_markup_text(m, text_of(row, "quantity"));
    tsri_markup_add(m, "</td><td class=\"quiet\">");
    tsri_markup_text(m, text_of(row, "where"));
    tsri_markup_add(m, "</td><td class=\"n\">");
    number(m, row, "measured");
    interval(m, row);
    tsri_markup_add(m, "</td><td class=\"n\">");
    tsri_markup_text(m, text_of(row, "sense"));
    tsri_markup_add(m, " ");
    number(m, row, "required");
    tsri_markup_add(m, "</td>");
    verdict(m, row);
    tsri_markup_add(m, "</tr>\n");
}

static void certificate(tsri_page *p, const tsri_json_value *c)
{
    tsri_markup *m = &p->html;
    const tsri_json_value *rows = tsri_json_get(c, "rows"), *notes = tsri_json_get(c, "notes");
    int64_t round = 0;
    if (!tsri_json_is_array(rows))
        return;
    tsri_markup_add(m, "<h3>");
    tsri_markup_text(m, text_of(c, "paper"));
    if (tsri_json_as_int(tsri_json_get(c, "round"), &round))
        tsri_markup_add(m, round > 0 ? ", after round %lld" : ", before the run", (long long)round);
    tsri_markup_add(m, "</h3>\n<div class=\"wide\"><table>\n<thead><tr><th>quantity</th><th>where"
                       "</th><th class=\"n\">measured</th><th class=\"n\">required</th><th></th>"
                       "</tr></thead>\n<tbody>");
    for (int64_t i = 0; i < tsri_json_length(rows); i++)
        row_html(m, tsri_json_at(rows, i));
    tsri_markup_add(m, "</tbody></table></div>\n");
    for (int64_t i = 0; tsri_json_is_array(notes) && i < tsri_json_length(notes); i++) {
        const char *note;
        if (tsri_json_as_text(tsri_json_at(notes, i), &note))
            tsri_page_say(p, "%s", note);
    }
}

/* A file holds one certificate, or a list of them. */
static tsr_status one_file(tsri_page *p, const char *name)
{
    tsr_status st = TSR_OK;
    tsri_json_value *root = NULL;
    TSR_TRY(tsri_page_json(&root, p, name));
    if (tsri_json_is_object(root))
        certificate(p, root);
    for (int64_t i = 0; tsri_json_is_array(root) && i < tsri_json_length(root); i++)
        certificate(p, tsri_json_at(root, i));
done:
    tsri_json_destroy(root);
    return st;
}

static bool is_certificate(const char *name)
{
    size_t n = strlen(name);
    return n > 5 && strncmp(name, "certificate", 11) == 0 && strcmp(name + n - 5, ".json") == 0;
}

tsr_status tsri_report_certificates(tsri_page *p)
{
    tsr_status st = TSR_OK;
    char **names = NULL;
    int64_t count = 0;
    bool any = false;
    TSR_TRY(tsri_list_folder(&names, &count, p->folder));
    for (int64_t i = 0; i < count; i++) {
        if (!is_certificate(names[i]))
            continue;
        if (!any)
            tsri_section_open(p, "Certificates");
        any = true;
        TSR_TRY(one_file(p, names[i]));
    }
    if (any)
        tsri_section_close(p);
done:
    tsri_names_free(names, count);
    return st;
}
