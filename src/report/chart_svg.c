/* chart_svg.c - a chart as one <svg> element: panels in a grid under a title and a legend. */
#include "base/alloc.h"
#include "report/chart_parts.h"
#include "report/colour.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- The grid -------------------------------------------------------------------------------- */

typedef struct grid {
    int64_t columns, rows;
    double width, height; /* of a panel */
    double top;           /* title and legend */
    bool one_legend;
} grid;

enum { EDGE = 8, BETWEEN = 14 };

static bool same_name(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_series(const tsri_drawn *a, const tsri_drawn *b)
{
    if (a->count != b->count)
        return false;
    for (int64_t i = 0; i < a->count; i++)
        if (!same_name(a->series[i].name, b->series[i].name) ||
            a->series[i].marks != b->series[i].marks ||
            a->series[i].dashed != b->series[i].dashed ||
            tsri_series_colour(a, i) != tsri_series_colour(b, i))
            return false;
    return true;
}

/* Panels that all show the same series share one legend above them. */
static bool one_legend(const tsri_chart *c)
{
    for (int64_t i = 1; i < c->count; i++)
        if (!same_series(&c->panel[0], &c->panel[i]))
            return false;
    return c->count > 1;
}

static int64_t columns_for(int64_t panels)
{
    return panels <= 3 ? panels : panels == 4 ? 2 : 3;
}

static grid grid_of(const tsri_chart *c)
{
    grid g = {.columns = c->columns > 0 ? c->columns : columns_for(c->count)};
    if (g.columns < 1)
        g.columns = 1;
    g.rows = (c->count + g.columns - 1) / g.columns;
    g.width = g.columns == 1 ? 640 : g.columns == 2 ? 460 : 380;
    g.height = g.columns == 1 ? 400 : g.columns == 2 ? 340 : 300;
    if (c->count > 0 && c->panel[0].map.rows > 0)
        g.height = g.columns == 1 ? 560 : g.width * 0.86;
    g.width = c->width > 0 ? c->width : g.width;
    g.height = c->height > 0 ? c->height : g.height;
    g.one_legend = one_legend(c);
    g.top = EDGE + (c->title ? 28 : 0);
    if (g.one_legend && tsri_draw_legend(NULL, c->panel, 0, 0, g.width * (double)g.columns) > 0)
        g.top +=
            TSRI_LEGEND * tsri_draw_legend(NULL, c->panel, 0, 0, g.width * (double)g.columns - 60) +
            8;
    return g;
}

/* ---- Caption --------------------------------------------------------------------------------- */

enum { CAPTION_FONT = 11, CAPTION_LINE = 14, CAPTION_GAP = 10 };

/* The end of the line that begins at `text` and has at most that many characters, at a space where
 * there is one. */
static const char *line_end(const char *text, int64_t most)
{
    const char *end = text + strlen(text);
    if (end - text <= most)
        return end;
    for (end = text + most; end > text && *end != ' ';)
        end--;
    return end > text ? end : text + most;
}

/* Draws the caption from y on, or with m NULL only counts its lines. Letters are taken as wide as
 * 0.55 of their height, a little more than Helvetica's mean. */
static int64_t draw_caption(tsri_markup *m, const char *text, double width, double y)
{
    int64_t lines = 0, most = (int64_t)((width - 2 * EDGE) / (0.55 * CAPTION_FONT));
    while (text && *text) {
        const char *end = line_end(text, most);
        char line[400];
        (void)snprintf(line, sizeof line, "%.*s", (int)(end - text), text);
        if (m)
            tsri_draw_text(m, EDGE, y + CAPTION_LINE * (double)lines, "start", line);
        lines++;
        text = *end == ' ' ? end + 1 : end;
    }
    return lines;
}

/* ---- Drawing --------------------------------------------------------------------------------- */

static void view_of(tsri_view *v, const tsri_chart *c, const grid *g, int64_t i)
{
    int64_t row = i / g->columns, column = i % g->columns;
    tsri_box box = {EDGE + (g->width + BETWEEN) * (double)column,
                    g->top + (g->height + BETWEEN) * (double)row, g->width, g->height};
    tsri_view_make(v, &c->panel[i], box, !g->one_legend);
}

void tsri_view_of(tsri_view *v, const tsri_chart *c, int64_t i)
{
    grid g = grid_of(c);
    view_of(v, c, &g, i);
}

/* The groups are what a page's script draws again when its reader zooms. */
static void draw_panel(tsri_markup *m, const tsri_chart *c, const grid *g, int64_t i)
{
    tsri_view v;
    view_of(&v, c, g, i);
    tsri_markup_add(m, "<g class=\"panel\">\n");
    if (c->panel[i].map.rows > 0)
        tsri_draw_map(m, &v);
    tsri_draw_axes(m, &v);
    if (c->panel[i].map.rows == 0)
        tsri_draw_series(m, &v);
    tsri_markup_add(m, "</g>\n");
}

static void begin_svg(tsri_markup *m, const tsri_chart *c, double width, double height)
{
    tsri_markup_add(m,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" "
                    "width=\"%s\" height=\"%s\" viewBox=\"0 0 %s %s\" font-size=\"%d\" "
                    "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" "
                    "fill=\"#222222\">\n",
                    tsri_px(width), tsri_px(height), tsri_px(width), tsri_px(height), TSRI_FONT);
    tsri_markup_add(m, "<title>");
    tsri_markup_text(m, c->title ? c->title : "chart");
    tsri_markup_add(m,
                    "</title>\n<rect class=\"paper\" width=\"%s\" height=\"%s\" "
                    "fill=\"#ffffff\"/>\n",
                    tsri_px(width), tsri_px(height));
}

tsr_status tsri_chart_svg(tsri_text *out, const tsri_chart *c)
{
    if (c->st != TSR_OK)
        return c->st;
    tsri_markup m = {.text = *out};
    grid g = grid_of(c);
    double width = 2 * EDGE + g.width * (double)g.columns + BETWEEN * (double)(g.columns - 1);
    double height = g.top + EDGE + (g.height + BETWEEN) * (double)g.rows - (g.rows ? BETWEEN : 0);
    double below = height + CAPTION_GAP;
    int64_t lines = draw_caption(NULL, c->caption, width, 0);
    if (lines > 0)
        height = below + CAPTION_LINE * (double)lines;
    begin_svg(&m, c, width, height);
    if (c->title) {
        tsri_markup_add(&m, "<g font-weight=\"bold\" font-size=\"15\">");
        tsri_draw_text(&m, width / 2, EDGE + 14, "middle", c->title);
        tsri_markup_add(&m, "</g>\n");
    }
    if (g.one_legend)
        (void)tsri_draw_legend(&m, c->panel, EDGE + 50, EDGE + (c->title ? 26 : 0), width - 60);
    for (int64_t i = 0; i < c->count; i++)
        draw_panel(&m, c, &g, i);
    if (lines > 0) {
        tsri_markup_add(&m, "<g font-size=\"%d\">", CAPTION_FONT);
        (void)draw_caption(&m, c->caption, width, below);
        tsri_markup_add(&m, "</g>\n");
    }
    tsri_markup_add(&m, "</svg>\n");
    *out = m.text; /* what was there before is still in it, whatever failed */
    return tsri_markup_end(&m);
}

/* ---- In a page ------------------------------------------------------------------------------- */

static tsr_status rules(tsri_text *out, const char *(*colour)(int64_t))
{
    tsr_status st = TSR_OK;
    for (int i = 0; i < TSRI_COLOURS; i++)
        TSR_TRY(tsri_text_add(out, "--s%d:%s;", i + 1, colour(i)));
done:
    return st;
}

tsr_status tsri_chart_style(tsri_text *out)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_text_add(out, ":root{"));
    TSR_TRY(rules(out, tsri_colour));
    TSR_TRY(tsri_text_add(out, "--ink:#222222;--axis:#555555;--grid:#e2e2e2}\n"
                               "@media screen and (prefers-color-scheme:dark){:root{"));
    TSR_TRY(rules(out, tsri_colour_dark));
    TSR_TRY(tsri_text_add(out, "--ink:#e6e6e6;--axis:#9a9a9a;--grid:#3a3a3a}}\n"));
    for (int i = 1; i <= TSRI_COLOURS; i++)
        TSR_TRY(tsri_text_add(out, ".chart .s%d{stroke:var(--s%d)}.chart .f%d{fill:var(--s%d)}\n",
                              i, i, i, i));
    TSR_TRY(tsri_text_add(out, ".chart .ink{fill:var(--ink)}.chart .axis{stroke:var(--axis)}"
                               ".chart .grid{stroke:var(--grid)}.chart .paper{fill:none}\n"));
done:
    return st;
}
