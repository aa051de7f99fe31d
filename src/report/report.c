/* report.c - report.html: the page around its sections. */
#include "report/report.h"

#include "base/alloc.h"
#include "base/number.h"
#include "io/file.h"
#include "report/report_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- The page's look ------------------------------------------------------------------------- */

static const char style[] =
    ":root{color-scheme:light dark;--page:#ffffff;--soft:#f5f6f8;--edge:#dfe2e6;--text:#1d2126;"
    "--quiet:#5b6570;--good:#00704f;--bad:#b3400a}\n"
    "@media (prefers-color-scheme:dark){:root{--page:#15181c;--soft:#1e2228;--edge:#343a42;"
    "--text:#e4e7ea;--quiet:#9aa4ae;--good:#3ecf9f;--bad:#ff9a5c}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--page);color:var(--text);font:16px/1.55 system-ui,-apple-system,"
    "'Segoe UI',Helvetica,Arial,sans-serif}\n"
    "main{max-width:1060px;margin:0 auto;padding:28px 20px 60px}\n"
    "h1{font-size:1.7rem;line-height:1.2;margin:0 0 4px;overflow-wrap:anywhere}\n"
    "h2{font-size:1.15rem;margin:44px 0 10px;padding-top:14px;border-top:1px solid var(--edge)}\n"
    "h3{font-size:1rem;margin:22px 0 6px}\n"
    "p{margin:6px "
    "0;max-width:44em;overflow-wrap:anywhere}.quiet,figcaption,footer{color:var(--quiet);"
    "font-size:.9rem}\n"
    ".facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;"
    "margin:22px 0 0;padding:0}\n"
    ".facts div{background:var(--soft);border:1px solid var(--edge);border-radius:8px;padding:10px "
    "14px}\n"
    ".facts dt{color:var(--quiet);font-size:.85rem}.facts dd{margin:0;font-size:1.35rem;"
    "font-weight:600;font-variant-numeric:tabular-nums}\n"
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));"
    "gap:18px 26px}\n"
    "figure{margin:10px 0 0;min-width:0}figcaption{margin:2px 0 0}\n"
    ".chart{width:100%;height:auto;display:block}\n"
    ".wide{overflow-x:auto;margin:10px 0}\n"
    "table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums}\n"
    "th,td{text-align:left;padding:5px 12px 5px 0;border-bottom:1px solid var(--edge);"
    "vertical-align:top}\n"
    "th{font-weight:600;line-height:1.25;color:var(--quiet);vertical-align:bottom}\n"
    "td.n,.named td:first-child{white-space:nowrap}.n{text-align:right}\n"
    "th:first-child,td:first-child{position:sticky;left:0;background:var(--page)}\n"
    ".map td,.map tr+tr th{text-align:center;padding:7px 12px}.map td.best{box-shadow:"
    "inset 0 0 0 3px #000000;font-weight:700}\n"
    ".holds{color:var(--good);font-weight:600}.fails{color:var(--bad);font-weight:600}\n"
    "pre{background:var(--soft);border:1px solid var(--edge);border-radius:8px;padding:14px;"
    "overflow-x:auto;font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}\n"
    "summary{cursor:pointer;color:var(--quiet)}\n"
    "footer{margin-top:40px}\n"
    "@media print{main{max-width:none;padding:0}}\n";

void tsri_section_open(tsri_page *p, const char *title)
{
    tsri_markup_add(&p->html, "<section>\n<h2>");
    tsri_markup_text(&p->html, title);
    tsri_markup_add(&p->html, "</h2>\n");
}

void tsri_section_close(tsri_page *p)
{
    tsri_markup_add(&p->html, "</section>\n");
}

void tsri_page_say(tsri_page *p, const char *fmt, ...)
{
    char text[800];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    tsri_markup_add(&p->html, "<p>");
    tsri_markup_text(&p->html, text);
    tsri_markup_add(&p->html, "</p>\n");
}

void tsri_page_fact(tsri_page *p, const char *name, const char *value)
{
    tsri_markup_add(&p->html, "<div><dt>");
    tsri_markup_text(&p->html, name);
    tsri_markup_add(&p->html, "</dt><dd>");
    tsri_markup_text(&p->html, value);
    tsri_markup_add(&p->html, "</dd></div>\n");
}

void tsri_page_number(tsri_page *p, const char *name, double value, int digits, const char *unit)
{
    char text[TSRI_NUMBER_TEXT], whole[80];
    if (!isfinite(value))
        return;
    (void)snprintf(whole, sizeof whole, "%s%s", tsri_fixed(text, value, digits), unit);
    tsri_page_fact(p, name, whole);
}

void tsri_page_chart(tsri_page *p, const tsri_chart *chart, const char *caption)
{
    tsri_markup_add(&p->html, "<figure>");
    if (p->html.st == TSR_OK)
        p->html.st = tsri_chart_svg(&p->html.text, chart);
    if (caption) {
        tsri_markup_add(&p->html, "<figcaption>");
        tsri_markup_text(&p->html, caption);
        tsri_markup_add(&p->html, "</figcaption>");
    }
    tsri_markup_add(&p->html, "</figure>\n");
}

/* ---- Reading --------------------------------------------------------------------------------- */

static tsr_status path_in(char **path, const tsri_page *p, const char *name)
{
    return tsri_path_join(path, p->folder, name);
}

tsr_status tsri_page_json(tsri_json_value **root, const tsri_page *p, const char *name)
{
    tsr_status st = TSR_OK;
    char *path = NULL, *bytes = NULL;
    int64_t n = 0;
    *root = NULL;
    TSR_TRY(path_in(&path, p, name));
    if (!tsri_file_exists(path))
        goto done;
    TSR_TRY(tsri_file_read(&bytes, &n, path, TSRI_JSON_MOST));
    TSR_TRY(tsri_json_parse(root, bytes, n, tsri_quote(path)));
done:
    tsri_free(bytes);
    tsri_free(path);
    return st;
}

static tsr_status read_run(tsri_page *p)
{
    tsr_status st = TSR_OK;
    char *path = NULL, *metrics = NULL;
    TSR_TRY(path_in(&path, p, "run.yaml"));
    TSR_CHECK(tsri_file_exists(path), TSR_USAGE,
              "%s holds no run: there is no run.yaml in it (tessera train writes one)",
              tsri_quote(p->folder));
    TSR_TRY(tsr_config_read(&p->config, path));
    TSR_TRY(path_in(&metrics, p, "metrics.jsonl"));
    if (tsri_file_exists(metrics)) {
        TSR_TRY(tsri_curves_read(&p->lines, metrics, NULL));
        TSR_TRY(tsri_curves_read(&p->puts, metrics, "put"));
    }
done:
    tsri_free(path);
    tsri_free(metrics);
    return st;
}

/* ---- The whole --------------------------------------------------------------------------------
 */

tsr_status tsri_last_name(char **name, const char *folder)
{
    tsr_status st = TSR_OK;
    size_t end = strlen(folder);
    while (end > 0 && folder[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && folder[begin - 1] != '/')
        begin--;
    TSR_TRY(tsri_strdup(name, end > begin ? folder + begin : "run"));
    if (end > begin)
        (*name)[end - begin] = '\0';
done:
    return st;
}

tsr_status tsri_page_begin(tsri_page *p, const char *title)
{
    tsr_status st = TSR_OK;
    tsri_markup_add(&p->html, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
                              "<meta name=\"viewport\" content=\"width=device-width, "
                              "initial-scale=1\"/>\n<title>");
    tsri_markup_text(&p->html, title);
    tsri_markup_add(&p->html, " - tessera</title>\n<style>\n");
    TSR_TRY(tsri_markup_end(&p->html));
    TSR_TRY(tsri_chart_style(&p->html.text));
    TSR_TRY(tsri_text_add_bytes(&p->html.text, style, sizeof style - 1));
    tsri_markup_add(&p->html, "</style></head>\n<body><main>\n<h1>");
    tsri_markup_text(&p->html, title);
    tsri_markup_add(&p->html, "</h1>\n");
done:
    return st;
}

tsr_status tsri_page_end(tsri_page *p)
{
    tsri_markup_add(&p->html, "<footer>tessera %s</footer>\n</main></body></html>\n",
                    tsr_version());
    return tsri_markup_end(&p->html);
}

const char *tsri_byte_unit(double most, double *size)
{
    static const struct {
        double size;
        const char *name;
    } unit[] = {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "bytes"}};
    size_t i = 0;
    while (i < 4 && most < unit[i].size)
        i++;
    *size = unit[i].size;
    return unit[i].name;
}

static tsr_status write_run_file(tsri_page *p)
{
    tsr_status st = TSR_OK;
    tsri_text yaml = {0};
    tsri_section_open(p, "The run file");
    TSR_TRY(tsri_config_write(&yaml, p->config, NULL));
    tsri_markup_add(&p->html, "<details><summary>every key, also those left as they were"
                              "</summary>\n<pre>");
    tsri_markup_text(&p->html, yaml.data);
    tsri_markup_add(&p->html, "</pre></details>\n");
    tsri_section_close(p);
done:
    tsri_text_fini(&yaml);
    return st;
}

static tsr_status write_run(tsri_page *p)
{
    tsr_status st = TSR_OK;
    char *name = NULL;
    bool tickets = false;
    TSR_TRY(tsri_last_name(&name, p->folder));
    TSR_TRY(tsri_page_begin(p, name));
    tsri_report_subtitle(p);
    TSR_TRY(tsri_report_ticket(p, &tickets));
    tsri_report_learning(p, tickets);
    tsri_report_cost(p);
    TSR_TRY(tsri_report_distance(p));
    TSR_TRY(tsri_report_certificates(p));
done:
    tsri_free(name);
    return st;
}

/* A sweep's folder has a grid.json. */
static tsr_status write_page(tsri_page *p)
{
    tsr_status st = TSR_OK;
    char *grid = NULL;
    TSR_TRY(path_in(&grid, p, "grid.json"));
    TSR_TRY(tsri_file_exists(grid) ? tsri_report_sweep(p) : write_run(p));
    TSR_TRY(write_run_file(p));
    TSR_TRY(tsri_page_end(p));
done:
    tsri_free(grid);
    return st;
}

tsr_status tsri_report_write(const char *folder, const char *path)
{
    tsr_status st = TSR_OK;
    char *usual = NULL;
    tsri_page p = {.folder = folder};
    TSR_TRY(read_run(&p));
    TSR_TRY(write_page(&p));
    TSR_TRY(path_in(&usual, &p, "report.html"));
    TSR_TRY(tsri_file_write_text(path ? path : usual, p.html.text.data));
done:
    tsri_free(usual);
    tsri_curves_fini(&p.lines);
    tsri_curves_fini(&p.puts);
    tsr_config_destroy(p.config);
    tsri_markup_fini(&p.html);
    return st;
}
