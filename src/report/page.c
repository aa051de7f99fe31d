/* page.c - the frame of every page: head, contents, sections, charts, and at its end the numbers of
 * all charts with the script that brings them to life.
 *
 * A page is one file that asks for nothing else: a Content-Security-Policy in its head forbids
 * every request, and every script but ours, which is named by its digest. So a run may be called
 * <script> even where an escape were forgotten. Without JavaScript the page still shows all its
 * pictures and tables. */
#include "base/alloc.h"
#include "base/base64.h"
#include "base/number.h"
#include "io/digest.h"
#include "report/assets.h"
#include "report/report.h"
#include "report/report_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Parts of a page ------------------------------------------------------------------------ */

/* "Traffic and time" is #traffic-and-time. */
static void name_section(char name[80], const char *title)
{
    size_t n = 0;
    for (; *title && n + 1 < 80; title++)
        name[n++] = (*title >= 'a' && *title <= 'z') || (*title >= '0' && *title <= '9') ? *title
                    : *title >= 'A' && *title <= 'Z' ? (char)(*title - 'A' + 'a')
                                                     : '-';
    name[n] = '\0';
}

/* Among the contents a title ends at its colon: "loft/table1: traffic of ..." */
void tsri_section_open(tsri_page *p, const char *title)
{
    char shown[120];
    name_section(p->section, title); /* letters, digits and dashes: nothing to escape */
    tsri_markup_add(&p->html, "<section id=\"%s\">\n<h2>", p->section);
    tsri_markup_text(&p->html, title);
    tsri_markup_add(&p->html, "</h2>\n");
    tsri_markup_add(&p->contents, "<li><a href=\"#%s\">", p->section);
    (void)snprintf(shown, sizeof shown, "%.*s", (int)strcspn(title, ":"), title);
    tsri_markup_text(&p->contents, shown);
    tsri_markup_add(&p->contents, "</a></li>\n");
    p->sections++;
    p->charts = 0;
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
    char text[TSRI_NUMBER_TEXT], front[TSRI_NUMBER_TEXT], whole[120];
    if (!isfinite(value))
        return;
    const char *all = tsri_fixed(text, value, digits), *point = strchr(all, '.');
    if (value != 0 && !strpbrk(all, "123456789")) /* 2.8e-08 is not 0.0000 */
        (void)snprintf(whole, sizeof whole, "%.3g%s", value, unit);
    else if (fabs(value) >= 10000 && fabs(value) < 1e15) /* 27,224.7 */
        (void)snprintf(whole, sizeof whole, "%s%s%s", tsri_grouped(front, strtoll(all, NULL, 10)),
                       point ? point : "", unit);
    else
        (void)snprintf(whole, sizeof whole, "%s%s", all, unit);
    tsri_page_fact(p, name, whole);
}

/* BASE-learning; the second of a section is BASE-learning-2. */
static tsr_status picture_name(tsri_text *base, tsri_page *p)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_text_add(base, "%s-%s", p->pictures, p->section));
    if (++p->charts > 1)
        TSR_TRY(tsri_text_add(base, "-%lld", (long long)p->charts));
    p->drawn++;
done:
    return st;
}

static tsr_status write_picture(tsri_page *p, const tsri_chart *chart, const char *caption)
{
    tsr_status st = TSR_OK;
    tsri_text base = {0};
    tsri_chart told = *chart; /* with the line that the page has below it */
    char *line = NULL;
    if (caption && !chart->caption) {
        TSR_TRY(tsri_strdup(&line, caption));
        told.caption = line;
    }
    TSR_TRY(picture_name(&base, p));
    TSR_TRY(tsri_chart_write(&told, base.data));
done:
    tsri_free(line);
    tsri_text_fini(&base);
    return st;
}

void tsri_page_chart(tsri_page *p, const tsri_chart *chart, const char *caption)
{
    double wide = chart->width > 0 ? 1.12 * chart->width + 30 : 1020; /* text keeps its size */
    tsri_markup_add(&p->html, "<figure class=\"drawn%s\" style=\"max-width:%spx\">",
                    chart->width > 800 ? " wide" : "", tsri_px(wide)); /* a phone scrolls those */
    if (p->html.st == TSR_OK)
        p->html.st = tsri_chart_svg(&p->html.text, chart);
    tsri_chart_data_add(&p->data, chart);
    if (p->pictures && p->html.st == TSR_OK)
        p->html.st = write_picture(p, chart, caption);
    if (caption) {
        tsri_markup_add(&p->html, "<figcaption>");
        tsri_markup_text(&p->html, caption);
        tsri_markup_add(&p->html, "</figcaption>");
    }
    tsri_markup_add(&p->html, "</figure>\n");
}

void tsri_svg_begin(tsri_markup *m, const char *class, double width, double height,
                    const char *title)
{
    tsri_markup_add(m,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart %s\" role=\"img\" "
                    "width=\"%s\" height=\"%s\" viewBox=\"0 0 %s %s\" font-size=\"12\" "
                    "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\"><title>",
                    class, tsri_px(width), tsri_px(height), tsri_px(width), tsri_px(height));
    tsri_markup_text(m, title);
    tsri_markup_add(m,
                    "</title><rect class=\"paper\" width=\"%s\" height=\"%s\" "
                    "fill=\"#ffffff\"/>\n",
                    tsri_px(width), tsri_px(height));
}

static tsr_status write_svg(tsri_page *p, const tsri_text *svg)
{
    tsr_status st = TSR_OK;
    tsri_text base = {0};
    TSR_TRY(picture_name(&base, p));
    TSR_TRY(tsri_svg_write(svg, base.data));
done:
    tsri_text_fini(&base);
    return st;
}

void tsri_page_svg(tsri_page *p, const tsri_text *svg, const char *caption)
{
    tsri_markup_add(&p->html, "<figure class=\"wide\">");
    if (p->html.st == TSR_OK)
        p->html.st = tsri_text_add_bytes(&p->html.text, svg->data, (size_t)svg->length);
    if (p->pictures && p->html.st == TSR_OK)
        p->html.st = write_svg(p, svg);
    tsri_markup_add(&p->html, "<figcaption>");
    tsri_markup_text(&p->html, caption);
    tsri_markup_add(&p->html, "</figcaption></figure>\n");
}

/* ---- Head and end --------------------------------------------------------------------------- */

static const char script_begins[] = "/*<![CDATA[*/(()=>{\"use strict\";\n";
static const char script_ends[] = "})();/*]]>*/";

tsr_status tsri_page_script(tsri_text *out)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_text_add_bytes(out, script_begins, sizeof script_begins - 1));
    TSR_TRY(tsri_text_add_bytes(out, (const char *)tsri_asset_js, tsri_asset_js_size));
    TSR_TRY(tsri_text_add_bytes(out, script_ends, sizeof script_ends - 1));
done:
    return st;
}

static unsigned nibble(char digit)
{
    return (unsigned)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

tsr_status tsri_script_digest(tsri_text *out, const char *script, int64_t n)
{
    tsr_status st = TSR_OK;
    char hex[TSRI_SHA256_HEX];
    uint8_t digest[(TSRI_SHA256_HEX - 1) / 2];
    TSR_TRY(tsri_sha256(hex, script, n));
    for (size_t i = 0; i < sizeof digest; i++)
        digest[i] = (uint8_t)(nibble(hex[2 * i]) << 4 | nibble(hex[2 * i + 1]));
    TSR_TRY(tsri_text_add(out, "'sha256-"));
    TSR_TRY(tsri_text_base64(out, digest, sizeof digest));
    TSR_TRY(tsri_text_add(out, "'"));
done:
    return st;
}

static tsr_status policy(tsri_text *out)
{
    tsr_status st = TSR_OK;
    tsri_text script = {0};
    TSR_TRY(tsri_page_script(&script));
    TSR_TRY(tsri_text_add(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
                               "'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
                               "form-action 'none'; script-src "));
    TSR_TRY(tsri_script_digest(out, script.data, script.length));
    TSR_TRY(tsri_text_add(out, "\"/>\n"));
done:
    tsri_text_fini(&script);
    return st;
}

tsr_status tsri_page_begin(tsri_page *p, const char *title)
{
    tsr_status st = TSR_OK;
    tsri_markup_add(&p->head, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
                              "<meta name=\"viewport\" content=\"width=device-width, "
                              "initial-scale=1\"/>\n");
    TSR_TRY(tsri_markup_end(&p->head));
    if (!p->live)
        TSR_TRY(policy(&p->head.text));
    tsri_markup_add(&p->head, "<title>");
    tsri_markup_text(&p->head, title);
    tsri_markup_add(&p->head, " - tessera</title>\n<style>\n");
    TSR_TRY(tsri_markup_end(&p->head));
    TSR_TRY(tsri_chart_style(&p->head.text));
    TSR_TRY(tsri_text_add_bytes(&p->head.text, (const char *)tsri_asset_css, tsri_asset_css_size));
    tsri_markup_add(&p->head, "</style></head>\n<body><main>\n<h1>");
    tsri_markup_text(&p->head, title);
    tsri_markup_add(&p->head, "</h1>\n");
    TSR_TRY(tsri_markup_end(&p->head));
done:
    return st;
}

/* Inside <script> a '<' may end the script, and to XML '&' begins an entity: both stand in texts
 * alone, where JSON has another way to write them. */
static void put_data(tsri_markup *m, const tsri_text *json)
{
    static const char *const safe[] = {['<'] = "\\u003c", ['>'] = "\\u003e", ['&'] = "\\u0026"};
    for (const char *at = json->data; *at; at++) {
        size_t n = strcspn(at, "<>&");
        if (m->st == TSR_OK)
            m->st = tsri_text_add_bytes(&m->text, at, n);
        at += n;
        if (!*at)
            return;
        tsri_markup_add(m, "%s", safe[(unsigned char)*at]);
    }
}

static tsr_status data_and_script(tsri_page *p)
{
    tsr_status st = TSR_OK;
    tsri_text json = {0};
    TSR_TRY(tsri_chart_data_end(&json, &p->data));
    tsri_markup_add(&p->html, "<script type=\"application/json\" id=\"data\">");
    put_data(&p->html, &json);
    tsri_markup_add(&p->html, "</script>\n<script>");
    TSR_TRY(tsri_markup_end(&p->html));
    TSR_TRY(tsri_page_script(&p->html.text));
    tsri_markup_add(&p->html, "</script>\n");
done:
    tsri_text_fini(&json);
    return st;
}

/* The contents are known when all sections are: the page is put together here. */
tsr_status tsri_page_end(tsri_text *out, tsri_page *p)
{
    tsr_status st = TSR_OK;
    tsri_markup_add(&p->html, "<footer>tessera %s</footer>\n</main>\n", tsr_version());
    TSR_TRY(data_and_script(p));
    tsri_markup_add(&p->html, "</body></html>\n");
    if (p->sections > 1) {
        tsri_markup_add(&p->head, "<nav aria-label=\"contents\"><ul>\n");
        TSR_TRY(tsri_markup_end(&p->contents));
        TSR_TRY(tsri_text_add_bytes(&p->head.text, p->contents.text.data,
                                    (size_t)p->contents.text.length));
        tsri_markup_add(&p->head, "</ul></nav>\n");
    }
    TSR_TRY(tsri_markup_end(&p->head));
    TSR_TRY(tsri_markup_end(&p->html));
    TSR_TRY(tsri_text_add_bytes(out, p->head.text.data, (size_t)p->head.text.length));
    TSR_TRY(tsri_text_add_bytes(out, p->html.text.data, (size_t)p->html.text.length));
done:
    return st;
}

void tsri_page_fini(tsri_page *p)
{
    tsri_curves_fini(&p->lines);
    tsri_curves_fini(&p->puts);
    tsr_config_destroy(p->config);
    tsri_markup_fini(&p->head);
    tsri_markup_fini(&p->contents);
    tsri_markup_fini(&p->html);
    tsri_chart_data_fini(&p->data);
    *p = (tsri_page){0};
}
