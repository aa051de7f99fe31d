/* report_graph.c - a network drawn from its input down to its output: a box for each layer that
 * computes something of its own, and bands between them.
 *
 *     [ input                             ]   1 x 28 x 28
 *         ||
 *     [ features.0  conv 3 x 3, norm, relu ]   16 x 28 x 28   features.0.filters: 16 of 64
 *         ||
 *
 * A band has the colour of the axis that flows in it, the same as in the table of axes, and grows
 * with the axis. All of the axis is pale; what a ticket kept is filled. What passes boxes by runs
 * down at their left. */
#include "report/report_parts.h"

#include "base/alloc.h"
#include "net/net.h"
#include "report/colour.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ROWS = 150, MOST_WIRES = 4 * MOST_ROWS, MOST_TEXT = 160 };
enum { EDGE = 8, STEP = 46, BOX = 25, BOX_WIDTH = 330, LABELS = 360, LANE = 10, INTO = 40 };

/* Row 0 is the input; the others hold the layers first to last. */
typedef struct row {
    int64_t first, last;
    int out; /* the value that it ends with */
} row;

typedef struct wire {
    int from, to, value; /* rows, and what flows */
    int lane;            /* where it passes rows by: counted from the boxes to the left */
} wire;

typedef struct graph {
    const tsri_net *net;
    row *row;
    wire *wire;
    int *owner; /* [values] the row that makes it */
    int rows, wires, lanes;
    bool cut; /* there are more rows than are drawn */
    double widest;
} graph;

/* ---- Rows and wires ------------------------------------------------------------------------- */

/* Norms and what is pointwise stand in the box of the layer before them. */
static bool begins_row(const graph *g, const tsri_layer *l)
{
    bool small = tsri_kind_of(l->kind)->pointwise || l->mean >= 0;
    return g->rows == 1 || !small || g->row[g->rows - 1].out != l->in;
}

static void make_rows(graph *g)
{
    const tsri_net *net = g->net;
    g->rows = 1;
    g->row[0] = (row){.first = 0, .last = -1, .out = net->entry};
    for (int64_t i = 0; i < net->layers; i++) {
        const tsri_layer *l = &net->layer[i];
        if (begins_row(g, l)) {
            g->cut = g->rows == MOST_ROWS;
            if (g->cut)
                return;
            g->row[g->rows++] = (row){.first = i};
        }
        g->row[g->rows - 1].last = i;
        g->row[g->rows - 1].out = l->out;
        g->owner[l->out] = g->rows - 1;
    }
}

static bool passes_by(const wire *w)
{
    return w->from + 1 < w->to;
}

/* The first lane that no other wire has between these rows. */
static int free_lane(const graph *g, const wire *w)
{
    int lane = 0;
    for (int i = 0; i < g->wires; i++) {
        const wire *o = &g->wire[i];
        if (passes_by(o) && o->lane == lane && o->from < w->to && w->from < o->to) {
            lane++;
            i = -1;
        }
    }
    return lane;
}

static void add_wire(graph *g, int to, int value)
{
    wire w = {.from = value < 0 ? to : g->owner[value], .to = to, .value = value};
    if (w.from == to || g->wires == MOST_WIRES)
        return;
    for (int i = 0; i < g->wires; i++)
        if (g->wire[i].to == to && g->wire[i].from == w.from)
            return;
    if (passes_by(&w)) {
        w.lane = free_lane(g, &w);
        g->lanes = w.lane + 1 > g->lanes ? w.lane + 1 : g->lanes;
    }
    g->wire[g->wires++] = w;
}

static void make_wires(graph *g)
{
    for (int r = 1; r < g->rows; r++)
        for (int64_t i = g->row[r].first; i <= g->row[r].last; i++) {
            add_wire(g, r, g->net->layer[i].in);
            add_wire(g, r, g->net->layer[i].add);
        }
    for (int64_t a = 0; a < g->net->axes; a++)
        g->widest = fmax(g->widest, (double)g->net->axis[a].full);
}

/* ---- Drawing -------------------------------------------------------------------------------- */

static double left_of(const graph *g)
{
    return EDGE + LANE * (double)(g->lanes + 1);
}

static double top_of(int r)
{
    return EDGE + STEP * (double)r;
}

static int axis_of(const graph *g, int value)
{
    return g->net->value[value].axis;
}

static void put_band(tsri_markup *m, const graph *g, const wire *w)
{
    int axis = axis_of(g, w->value), colour = axis % TSRI_COLOURS;
    const tsri_axis *a = &g->net->axis[axis];
    double width = 5 + 27 * sqrt((double)a->full / g->widest), top = top_of(w->from) + BOX;
    for (int kept = 0; kept < 2; kept++)
        tsri_markup_add(m,
                        "<rect class=\"band f%d\" data-axis=\"%d\" x=\"%s\" y=\"%s\" width=\"%s\" "
                        "height=\"%d\" fill=\"%s\" fill-opacity=\"%s\"/>",
                        colour + 1, axis, tsri_px(left_of(g) + INTO), tsri_px(top),
                        tsri_px(kept ? width * (double)a->size / (double)a->full : width),
                        STEP - BOX, tsri_colour(colour), kept ? "1" : "0.22");
    tsri_markup_add(m, "\n");
}

static void put_bypass(tsri_markup *m, const graph *g, const wire *w)
{
    int axis = axis_of(g, w->value), colour = axis % TSRI_COLOURS;
    double left = left_of(g), far = left - LANE * (double)(w->lane + 1);
    tsri_markup_add(m,
                    "<path class=\"band s%d\" data-axis=\"%d\" fill=\"none\" stroke=\"%s\" "
                    "stroke-width=\"3\" d=\"M%s %sH%sV%sH%s\"/>\n",
                    colour + 1, axis, tsri_colour(colour), tsri_px(left),
                    tsri_px(top_of(w->from) + BOX - 6), tsri_px(far), tsri_px(top_of(w->to) + 6),
                    tsri_px(left));
}

/* "features.0  conv 3 x 3 / 2, norm, relu"; of the input its name. */
static void row_text(char text[MOST_TEXT], const graph *g, const row *r)
{
    size_t n = 0;
    (void)snprintf(text, MOST_TEXT, "%s", r->last < r->first ? "input" : "");
    for (int64_t i = r->first; i <= r->last && n + 1 < MOST_TEXT; i++) {
        const tsri_layer *l = &g->net->layer[i];
        const char *kind = tsri_kind_name(l->kind);
        if (i == r->first && strcmp(l->name, kind) == 0) /* not "turn turn" */
            (void)snprintf(text, MOST_TEXT, "%s", kind);
        else if (i == r->first)
            (void)snprintf(text, MOST_TEXT, "%s  %s", l->name, kind);
        else
            (void)snprintf(text + n, MOST_TEXT - n, ", %s", kind);
        n = strlen(text);
        if (l->size > 0 && n + 1 < MOST_TEXT)
            (void)snprintf(text + n, MOST_TEXT - n, " %lld x %lld", (long long)l->size,
                           (long long)l->size);
        n = strlen(text);
        if (l->size > 0 && l->stride > 1 && n + 1 < MOST_TEXT)
            (void)snprintf(text + n, MOST_TEXT - n, " / %lld", (long long)l->stride);
        n = strlen(text);
    }
    if (n > 52)
        (void)snprintf(text + 49, MOST_TEXT - 49, "...");
}

const char *tsri_shape_text(char text[TSRI_SHAPE_TEXT], const tsri_shape *s,
                            const tsri_shape *input)
{
    bool image = input->w > 1, sequence = input->h > 1;
    if (image || s->w > 1)
        (void)snprintf(text, TSRI_SHAPE_TEXT, "%lld x %lld x %lld", (long long)s->c,
                       (long long)s->h, (long long)s->w);
    else if (sequence || s->h > 1)
        (void)snprintf(text, TSRI_SHAPE_TEXT, "%lld x %lld", (long long)s->c, (long long)s->h);
    else
        (void)snprintf(text, TSRI_SHAPE_TEXT, "%lld", (long long)s->c);
    return text;
}

/* What comes out, and on which axis where that is a new one. */
static void put_labels(tsri_markup *m, const graph *g, int r)
{
    const tsri_value *out = &g->net->value[g->row[r].out];
    const tsri_axis *a = &g->net->axis[out->axis];
    bool new_axis = r == 0 || g->net->value[g->net->layer[g->row[r].first].in].axis != out->axis;
    double x = left_of(g) + BOX_WIDTH + 12, y = top_of(r) + 17;
    char text[MOST_TEXT];
    char shape[TSRI_SHAPE_TEXT];
    tsri_markup_add(m, "<text class=\"ink\" x=\"%s\" y=\"%s\">%s</text>", tsri_px(x), tsri_px(y),
                    tsri_shape_text(shape, &out->shape, &g->net->input));
    if (!new_axis)
        return;
    (void)snprintf(text, sizeof text, a->size < a->full ? "%s: %lld of %lld" : "%s: %lld", a->name,
                   (long long)a->size, (long long)a->full);
    tsri_markup_add(m,
                    "<rect class=\"band f%d\" data-axis=\"%d\" x=\"%s\" y=\"%s\" width=\"10\" "
                    "height=\"10\" fill=\"%s\"/><text class=\"ink\" x=\"%s\" y=\"%s\">",
                    out->axis % TSRI_COLOURS + 1, out->axis, tsri_px(x + 100), tsri_px(y - 9),
                    tsri_colour(out->axis % TSRI_COLOURS), tsri_px(x + 115), tsri_px(y));
    tsri_markup_text(m, text);
    tsri_markup_add(m, "</text>");
}

static void put_row(tsri_markup *m, const graph *g, int r)
{
    char text[MOST_TEXT];
    row_text(text, g, &g->row[r]);
    tsri_markup_add(m,
                    "<rect class=\"node\" x=\"%s\" y=\"%s\" width=\"%d\" height=\"%d\" rx=\"5\" "
                    "fill=\"#f5f6f8\" stroke=\"#999999\"/><text class=\"ink\" x=\"%s\" y=\"%s\">",
                    tsri_px(left_of(g)), tsri_px(top_of(r)), BOX_WIDTH, BOX,
                    tsri_px(left_of(g) + 10), tsri_px(top_of(r) + 17));
    tsri_markup_text(m, text);
    tsri_markup_add(m, "</text>");
    put_labels(m, g, r);
    tsri_markup_add(m, "\n");
}

static void draw(tsri_markup *m, const graph *g)
{
    double width = left_of(g) + BOX_WIDTH + LABELS;
    tsri_svg_begin(m, "graph", width, top_of(g->rows) - STEP + BOX + EDGE, "The network, drawn");
    for (int i = 0; i < g->wires; i++)
        if (passes_by(&g->wire[i]))
            put_bypass(m, g, &g->wire[i]);
        else
            put_band(m, g, &g->wire[i]);
    for (int r = 0; r < g->rows; r++)
        put_row(m, g, r);
    tsri_markup_add(m, "</svg>");
}

tsr_status tsri_report_graph(tsri_page *p, const tsri_net *net)
{
    tsr_status st = TSR_OK;
    graph g = {.net = net, .widest = 1};
    tsri_markup svg = {0};
    TSR_TRY(tsri_alloc(&g.row, MOST_ROWS, sizeof *g.row));
    TSR_TRY(tsri_alloc(&g.wire, MOST_WIRES, sizeof *g.wire));
    TSR_TRY(tsri_alloc(&g.owner, net->values, sizeof *g.owner));
    make_rows(&g);
    make_wires(&g);
    draw(&svg, &g);
    TSR_TRY(tsri_markup_end(&svg));
    tsri_page_svg(p, &svg.text,
                  "From the input down to the output. A band has the colour of its axis and grows "
                  "with it; what was cut away is pale. Point at a band: all that shares its axis "
                  "is marked.");
    if (g.cut)
        tsri_page_say(p, "The first %d boxes; the table below has all layers.", MOST_ROWS);
done:
    tsri_markup_fini(&svg);
    tsri_free(g.row);
    tsri_free(g.wire);
    tsri_free(g.owner);
    return st;
}
