/* live.c - the documents of the live page. */
#include "watch/live.h"

#include "report/assets.h"
#include "report/markup.h"
#include "report/report.h"

#include <string.h>

static const char style[] =
    ":root{color-scheme:light dark;--page:#ffffff;--edge:#dfe2e6;--text:#1d2126;--quiet:#5b6570;"
    "--good:#00704f;--bad:#b3400a;--link:#0b5cad}\n"
    "@media (prefers-color-scheme:dark){:root{--page:#15181c;--edge:#343a42;--text:#e4e7ea;"
    "--quiet:#9aa4ae;--good:#3ecf9f;--bad:#ff9a5c;--link:#7cbcff}}\n"
    "*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--text);font:16px/1.55 "
    "system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif}\n"
    "main{max-width:1060px;margin:0 auto;padding:28px 20px 60px}h1{font-size:1.7rem;"
    "overflow-wrap:anywhere;margin:0}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.9rem;"
    "font-variant-numeric:tabular-nums}th,td{text-align:left;padding:6px 12px 6px 0;border-bottom:"
    "1px solid var(--edge);vertical-align:top}th{color:var(--quiet)}.n{text-align:right;"
    "white-space:nowrap}td:first-child{overflow-wrap:anywhere}\n"
    /* A phone has room for the name, the state, the test and the time. */
    "@media (max-width:640px){main{padding:18px 14px 40px}th,td{padding-right:8px}"
    "th:nth-child(3),td:nth-child(3),th:nth-child(4),td:nth-child(4),th:nth-child(5),"
    "td:nth-child(5){display:none}td:first-child{min-width:9em}}\n";

/* For both kinds of page: the line at the top, and the words for states. */
static const char bar_style[] =
    "#live{position:sticky;top:0;z-index:9;display:flex;flex-wrap:wrap;gap:4px 16px;align-items:"
    "center;padding:6px 20px;font:14px/1.5 system-ui,sans-serif;font-variant-numeric:tabular-nums;"
    "background:var(--page,#fff);color:var(--text,#1d2126);border-bottom:1px solid "
    "var(--edge,#dfe2e6)}\n"
    "#live a,#runs "
    "a{color:inherit}progress{width:110px;height:9px;accent-color:#0072b2;border:0;"
    "background:var(--edge,#dfe2e6)}progress::-webkit-progress-bar{background:var(--edge,#dfe2e6)}"
    "progress::-webkit-progress-value{background:#0072b2}progress::-moz-progress-bar{background:"
    "#0072b2}.quiet{color:"
    "var(--quiet);font-size:.85rem}\n"
    ".state.running,.state.starting{font-weight:700;color:var(--link,#0b5cad)}"
    ".state.finished{color:var(--good,#00704f)}"
    ".state.stalled,.state.interrupted,.state.diverged,.state.failed{color:var(--bad,#b3400a)}\n"
    "@media print{#live{display:none}}\n";

static void add_script(tsri_markup *m, const char *token, const tsri_followed *run)
{
    tsri_markup_add(m, "<script src=\"/%s/live.js\" data-base=\"/%s/\"", token, token);
    if (run) {
        tsri_markup_add(m, " data-version=\"%lld\" data-run=\"", (long long)run->version);
        tsri_markup_text(m, run->name);
        tsri_markup_add(m, "\"");
    }
    tsri_markup_add(m, "></script>\n");
}

/* Our own text of any length; tsri_markup_add is for short ones. */
static void add_whole(tsri_markup *m, const char *text)
{
    if (m->st == TSR_OK)
        m->st = tsri_text_add_bytes(&m->text, text, strlen(text));
}

tsr_status tsri_live_list(tsri_text *out, const tsri_lookout *w, const char *token)
{
    tsr_status st = TSR_OK;
    tsri_markup m = {0};
    add_whole(&m, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                  "<title>runs - tessera</title>\n<style>");
    add_whole(&m, style);
    add_whole(&m, bar_style);
    add_whole(&m, "</style></head>\n<body><main><h1>");
    tsri_markup_text(&m, w->folder);
    add_whole(&m,
              "</h1>\n<p id=\"count\" role=\"status\">looking</p>\n<noscript><p>This list needs "
              "its script; <code>tessera watch --once</code> does without.</p></noscript>\n"
              "<div class=\"wide\"><table><thead><tr><th>run</th><th>state</th><th>done</th>"
              "<th class=\"n\">round</th><th class=\"n\">loss</th><th class=\"n\">test</th>"
              "<th class=\"n\">time</th></tr></thead>\n<tbody id=\"runs\"></tbody></table>"
              "</div>\n");
    add_script(&m, token, NULL);
    add_whole(&m, "</main></body></html>\n");
    TSR_TRY(tsri_markup_end(&m));
    TSR_TRY(tsri_text_add_bytes(out, m.text.data, (size_t)m.text.length));
done:
    tsri_markup_fini(&m);
    return st;
}

/* Where the last `what` begins, or NULL. */
static const char *last(const tsri_text *text, const char *what)
{
    const char *found = NULL, *at = text->data;
    while (at && (at = strstr(at, what)))
        found = at++;
    return found;
}

tsr_status tsri_live_run(tsri_text *out, const tsri_followed *run, const char *token)
{
    tsr_status st = TSR_OK;
    tsri_text page = {0};
    tsri_markup m = {0};
    TSR_TRY(tsri_report_text(&page, run->folder, true));
    const char *end = last(&page, "</body>");
    TSR_CHECK(end, TSR_FAILURE, "the report has no end");
    add_whole(&m, "<style>");
    add_whole(&m, bar_style);
    add_whole(&m, "</style>\n");
    add_script(&m, token, run);
    TSR_TRY(tsri_markup_end(&m));
    TSR_TRY(tsri_text_add_bytes(out, page.data, (size_t)(end - page.data)));
    TSR_TRY(tsri_text_add_bytes(out, m.text.data, (size_t)m.text.length));
    TSR_TRY(tsri_text_add(out, "%s", end));
done:
    tsri_text_fini(&page);
    tsri_markup_fini(&m);
    return st;
}

tsr_status tsri_live_script(tsri_text *out)
{
    return tsri_text_add_bytes(out, (const char *)tsri_asset_live, tsri_asset_live_size);
}

tsr_status tsri_live_policy(tsri_text *out)
{
    tsr_status st = TSR_OK;
    tsri_text script = {0};
    TSR_TRY(tsri_page_script(&script));
    TSR_TRY(tsri_text_add(out, "default-src 'none'; script-src 'self' "));
    TSR_TRY(tsri_script_digest(out, script.data, script.length));
    TSR_TRY(tsri_text_add(out, "; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
                               "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"));
done:
    tsri_text_fini(&script);
    return st;
}

tsr_status tsri_live_event(tsri_text *out, const tsri_lookout *w)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_text_add(out, "event: state\ndata: "));
    TSR_TRY(tsri_lookout_json(out, w));
    TSR_TRY(tsri_text_add(out, "\n\n"));
done:
    return st;
}
