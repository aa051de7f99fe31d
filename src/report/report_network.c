/* report_network.c - what is inside a network: its axes and which tensors share them, what a ticket
 * kept of each, its layers, histograms of weights and of what layers read, and the first filters as
 * pictures. From model.safetensors, and evaluation.json where it is there. */
#include "report/report_parts.h"

#include "base/alloc.h"
#include "base/number.h"
#include "base/text.h"
#include "io/file.h"
#include "model/activations.h"
#include "model/evaluation.h"
#include "report/colour.h"
#include "report/picture.h"
#include "ticket/origin.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
    MOST_BYTES = 256 << 20, /* of a model file: a page is made in a moment */
    MOST_LAYERS = 200,      /* in tables */
    MOST_CHARTS = 16,
    MOST_FILTERS = 64,
    MOST_UNITS = 4096 /* of an axis whose units are drawn one by one */
};

typedef struct insides {
    tsri_page *page;
    tsr_model *model;
    tsri_origin origin;
    tsri_opened numbers;
} insides;

/* ---- Axes ----------------------------------------------------------------------------------- */

/* An axis has one colour wherever it is named. */
static void put_axis(const insides *in, int axis)
{
    tsri_markup *m = &in->page->html;
    const tsri_axis *a = &in->model->net->axis[axis];
    tsri_markup_add(m, "<span class=\"axis\"><i class=\"swatch c%d\"></i>",
                    axis % TSRI_COLOURS + 1);
    tsri_markup_text(m, a->name);
    tsri_markup_add(m, " <b>%lld</b></span>", (long long)a->size);
}

/* The units of the whole, side by side: those that are still there are filled. */
static void put_strip(const insides *in, int axis)
{
    tsri_markup *m = &in->page->html;
    const tsri_axis *a = &in->model->net->axis[axis];
    if (a->full > MOST_UNITS || a->full == a->size)
        return;
    tsri_markup_add(
        m,
        "<svg class=\"strip\" role=\"img\" viewBox=\"0 0 %lld 1\" "
        "preserveAspectRatio=\"none\"><title>%lld of %lld kept</title><path class=\"k%d\" "
        "d=\"",
        (long long)a->full, (long long)a->size, (long long)a->full, axis % TSRI_COLOURS + 1);
    for (int64_t i = 0, end; i < a->size; i = end) {
        const int64_t *unit = in->origin.unit[axis];
        for (end = i + 1; end < a->size && unit[end] == unit[end - 1] + 1;)
            end++;
        tsri_markup_add(m, "M%lld 0h%lldv1h-%lldz", (long long)unit[i], (long long)(end - i),
                        (long long)(end - i));
    }
    tsri_markup_add(m, "\"/></svg>");
}

static void put_tensors(const insides *in, int axis)
{
    tsri_markup *m = &in->page->html;
    const tsri_net *net = in->model->net;
    const char *before = "";
    for (int64_t i = 0; i < net->params; i++)
        for (int d = 0; d < net->param[i].dims; d++)
            if (net->param[i].axis[d] == axis) {
                tsri_markup_add(m, "%s", before);
                tsri_markup_text(m, net->param[i].name);
                if (net->param[i].dims > 1)
                    tsri_markup_add(m, "<span class=\"quiet\">[%s]</span>", d > 0 ? ":, i" : "i");
                before = ", ";
            }
}

static void axes_table(const insides *in)
{
    tsri_markup *m = &in->page->html;
    const tsri_net *net = in->model->net;
    tsri_markup_add(m, "<h3>Axes</h3>\n<p class=\"quiet\">Tensors that share an axis lose the same "
                       "units when it is cut. i: the dimension that belongs to it.</p>\n"
                       "<div class=\"wide\"><table><thead><tr><th>axis</th><th "
                       "class=\"n\">of</th><th>kept</th><th>tensors</th></tr></thead>\n<tbody>");
    for (int64_t a = 0; a < net->axes && a < MOST_LAYERS; a++) {
        tsri_markup_add(m, "<tr data-axis=\"%lld\"><td>", (long long)a);
        put_axis(in, (int)a);
        tsri_markup_add(m, "</td><td class=\"n\">%lld</td><td>", (long long)net->axis[a].full);
        if (net->axis[a].full == net->axis[a].size)
            tsri_markup_add(m, "<span class=\"quiet\">%s</span>",
                            tsri_axis_prunable(&net->axis[a]) ? "all" : "cannot be cut");
        put_strip(in, (int)a);
        tsri_markup_add(m, "</td><td class=\"tensors\">");
        put_tensors(in, (int)a);
        tsri_markup_add(m, "</td></tr>\n");
    }
    tsri_markup_add(m, "</tbody></table></div>\n");
}

/* ---- Layers --------------------------------------------------------------------------------- */

static void put_shape(tsri_markup *m, const tsri_param *p)
{
    for (int d = 0; d < p->dims; d++)
        tsri_markup_add(m, "%s%lld", d > 0 ? " x " : "", (long long)p->shape[d]);
}

static void layer_row(const insides *in, const tsri_layer *l)
{
    tsri_markup *m = &in->page->html;
    const tsri_net *net = in->model->net;
    const tsri_param *w = l->weight >= 0 ? &net->param[l->weight] : NULL;
    tsri_markup_add(m, "<tr><td>");
    tsri_markup_text(m, l->name);
    tsri_markup_add(m, "</td><td>%s</td><td>", tsri_kind_name(l->kind));
    put_axis(in, net->value[l->in].axis);
    tsri_markup_add(m, "</td><td>");
    put_axis(in, net->value[l->out].axis);
    tsri_markup_add(m, "</td><td class=\"n\">");
    char shape[TSRI_SHAPE_TEXT], count[TSRI_NUMBER_TEXT];
    tsri_markup_add(m, "%s</td><td class=\"n\">",
                    tsri_shape_text(shape, &net->value[l->out].shape, &net->input));
    if (w)
        put_shape(m, w);
    tsri_markup_add(m, "</td><td class=\"n\">");
    if (w)
        tsri_markup_add(
            m, "%s",
            tsri_grouped(count, w->count + (l->bias >= 0 ? net->param[l->bias].count : 0)));
    tsri_markup_add(m, "</td></tr>\n");
}

static void say_first(tsri_page *p, int64_t shown, int64_t all)
{
    if (shown < all)
        tsri_page_say(p, "The first %lld of %lld layers.", (long long)shown, (long long)all);
}

static void layers_table(const insides *in)
{
    tsri_markup *m = &in->page->html;
    const tsri_net *net = in->model->net;
    tsri_markup_add(m,
                    "<h3>Layer by layer</h3>\n<div class=\"wide\"><table><thead><tr><th>layer</th>"
                    "<th>kind</th><th>reads</th><th>writes</th><th class=\"n\">its output</th>"
                    "<th class=\"n\">weights</th><th class=\"n\">parameters</th></tr></thead>\n"
                    "<tbody>");
    for (int64_t i = 0; i < net->layers && i < MOST_LAYERS; i++)
        layer_row(in, &net->layer[i]);
    tsri_markup_add(m, "</tbody></table></div>\n");
    say_first(in->page, net->layers < MOST_LAYERS ? net->layers : MOST_LAYERS, net->layers);
}

/* ---- Histograms ----------------------------------------------------------------------------- */

static void histogram(tsri_page *p, const char *title, const char *x_label, double low, double high,
                      const double *count, int64_t n, const char *caption)
{
    double x[TSRI_HISTOGRAM];
    tsri_chart c;
    n = n < TSRI_HISTOGRAM ? n : TSRI_HISTOGRAM;
    for (int64_t i = 0; i < n; i++)
        x[i] = low + ((double)i + 0.5) * (high - low) / (double)n;
    tsri_chart_begin(&c, NULL);
    c.width = 300;
    c.height = 210;
    tsri_chart_panel(&c, &(tsri_panel){.title = title, .x_label = x_label, .y_label = "how many"});
    tsri_chart_series(&c, &(tsri_series){.n = n, .x = x, .y = count});
    tsri_page_chart(p, &c, caption);
    tsri_chart_fini(&c);
}

static void weights(const insides *in)
{
    const tsri_net *net = in->model->net;
    int64_t shown = 0, all = 0;
    tsri_markup_add(&in->page->html, "<h3>Weights</h3>\n<div class=\"charts small\">\n");
    for (int64_t i = 0; i < net->layers; i++) {
        const tsri_layer *l = &net->layer[i];
        tsri_histogram h;
        double count[TSRI_HISTOGRAM];
        if (l->weight < 0 || l->mean >= 0 || ++all > MOST_CHARTS)
            continue;
        tsri_histogram_of(&h, tsri_opened_at(&in->numbers, in->numbers.w, l->weight),
                          net->param[l->weight].count);
        for (int k = 0; k < TSRI_HISTOGRAM; k++)
            count[k] = (double)h.count[k];
        histogram(in->page, l->name, "weight", h.low, h.high, count, TSRI_HISTOGRAM, NULL);
        shown++;
    }
    tsri_markup_add(&in->page->html, "</div>\n");
    say_first(in->page, shown, all);
}

static void reads(tsri_page *p, const tsri_json_value *layer)
{
    double count[TSRI_HISTOGRAM] = {0};
    char zeros[80];
    const tsri_json_value *list = tsri_json_get(layer, "counts");
    int64_t n = tsri_json_length(list);
    for (int64_t i = 0; i < n && i < TSRI_HISTOGRAM; i++)
        (void)tsri_json_as_real(tsri_json_at(list, i), &count[i]);
    (void)snprintf(zeros, sizeof zeros, "%.1f %% are 0", 100 * tsri_number_at(layer, "zeros"));
    histogram(p, tsri_text_at(layer, "name"), "what it reads", tsri_number_at(layer, "low"),
              tsri_number_at(layer, "high"), count, n, zeros);
}

static tsr_status activations(const insides *in, const char *network)
{
    tsr_status st = TSR_OK;
    tsri_json_value *root = NULL;
    char name[300];
    (void)snprintf(name, sizeof name, "%.200s%s" TSRI_EVALUATION_FILE, network,
                   *network ? "/" : "");
    TSR_TRY(tsri_page_json(&root, in->page, name));
    const tsri_json_value *layers = root ? tsri_json_get(root, "layers") : NULL;
    int64_t n = tsri_json_is_array(layers) ? tsri_json_length(layers) : 0;
    if (n == 0 || !tsri_evaluation_is_of(root, in->model->file))
        goto done;
    tsri_markup_add(&in->page->html,
                    "<h3>What each layer reads</h3>\n<p class=\"quiet\">From %.0f samples of the ",
                    tsri_number_at(root, "looked_at"));
    tsri_markup_text(&in->page->html, tsri_text_at(root, "set"));
    tsri_markup_add(&in->page->html, " set.</p>\n<div class=\"charts small\">\n");
    for (int64_t i = 0; i < n && i < MOST_CHARTS; i++)
        reads(in->page, tsri_json_at(layers, i));
    tsri_markup_add(&in->page->html, "</div>\n");
    say_first(in->page, n < MOST_CHARTS ? n : MOST_CHARTS, n);
done:
    tsri_json_destroy(root);
    return st;
}

/* ---- Filters -------------------------------------------------------------------------------- */

/* 0 is grey; the largest of all filters, by size, black or white. */
static tsr_status draw_filters(const insides *in, const float *w, int64_t count, tsri_shape each,
                               const char *what)
{
    tsr_status st = TSR_OK;
    int64_t size = tsri_shape_count(each);
    int64_t shown = count < MOST_FILTERS ? count : MOST_FILTERS;
    float most = 0;
    uint8_t *pixel = NULL;
    TSR_TRY(tsri_alloc(&pixel, size, 1));
    for (int64_t i = 0; i < shown * size; i++)
        most = fmaxf(most, fabsf(w[i]));
    tsri_markup_add(&in->page->html, "<h3>%s</h3>\n<p class=\"quiet\">Grey is 0.", what);
    if (count > shown)
        tsri_markup_add(&in->page->html, " The first %lld of %lld.", (long long)shown,
                        (long long)count);
    tsri_markup_add(&in->page->html, "</p>\n<div class=\"filters-of\">\n");
    for (int64_t i = 0; i < shown; i++) {
        char alt[60];
        for (int64_t k = 0; k < size; k++)
            pixel[k] = most > 0 ? (uint8_t)lroundf(127.5F + 127.5F * w[i * size + k] / most) : 128;
        (void)snprintf(alt, sizeof alt, "unit %lld", (long long)i);
        tsri_picture(&in->page->html, pixel, each.c, each.h, each.w, alt);
    }
    tsri_markup_add(&in->page->html, "</div>\n");
done:
    tsri_free(pixel);
    return st;
}

/* Of a convolution its filters, of a linear layer that reads images what each unit looks at. */
static tsr_status first_filters(const insides *in)
{
    const tsri_net *net = in->model->net;
    int64_t i = 0;
    while (i < net->layers && (net->layer[i].weight < 0 || net->layer[i].mean >= 0))
        i++;
    if (i == net->layers)
        return TSR_OK;
    const tsri_param *p = &net->param[net->layer[i].weight];
    const float *w = tsri_opened_at(&in->numbers, in->numbers.w, net->layer[i].weight);
    tsri_shape in_shape = net->input;
    bool colours = in_shape.c == 1 || in_shape.c == 3;
    if (p->dims == 4 && p->shape[2] > 1 && (p->shape[1] == 1 || p->shape[1] == 3))
        return draw_filters(in, w, p->shape[0], (tsri_shape){p->shape[1], p->shape[2], p->shape[3]},
                            "The filters of the first layer");
    if (p->dims == 2 && colours && in_shape.h > 1 && in_shape.w > 1 &&
        p->shape[1] == tsri_shape_count(in_shape))
        return draw_filters(in, w, p->shape[0], in_shape,
                            "What each unit of the first layer looks at");
    return TSR_OK;
}

/* ---- The section ---------------------------------------------------------------------------- */

static tsr_status show(insides *in, const char *network)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = in->model->net;
    char total[TSRI_NUMBER_TEXT], work[TSRI_NUMBER_TEXT];
    double flops = tsri_net_flops(net);
    const char *ticket = tsri_tensors_meta(in->model->file, TSRI_META_TICKET);
    TSR_TRY(tsri_origin_read(&in->origin, net, ticket, in->model->path));
    TSR_TRY(tsri_store_open(&in->numbers, &in->model->store, TSRI_OPEN_WEIGHTS));
    tsri_section_open(in->page, "The network");
    if (flops < 1e6)
        (void)tsri_grouped(work, llround(flops));
    else
        (void)snprintf(work, sizeof work, "%.4g million", flops / 1e6);
    tsri_page_say(in->page, "%.80s%s%s parameters in %lld layers, %s operations a sample.", network,
                  *network ? ": " : "", tsri_grouped(total, net->total), (long long)net->layers,
                  work);
    TSR_TRY(tsri_report_graph(in->page, net));
    axes_table(in);
    layers_table(in);
    TSR_TRY(first_filters(in));
    weights(in);
    TSR_TRY(activations(in, network));
    tsri_section_close(in->page);
done:
    tsri_store_close(&in->numbers);
    tsri_origin_fini(&in->origin);
    return st;
}

tsr_status tsri_report_network(tsri_page *p, const char *network)
{
    tsr_status st = TSR_OK;
    insides in = {.page = p};
    char *folder = NULL, *path = NULL;
    struct stat about;
    if (*network && !tsri_folder_named(network))
        return TSR_OK;
    TSR_TRY(*network ? tsri_path_join(&folder, p->folder, network)
                     : tsri_strdup(&folder, p->folder));
    TSR_TRY(tsri_path_join(&path, folder, "model.safetensors"));
    if (stat(path, &about) != 0)
        goto done;
    if (about.st_size > MOST_BYTES) {
        tsri_page_say(p, "The network has %s: too many to be shown on a page.",
                      tsri_bytes_text((double)about.st_size));
        goto done;
    }
    TSR_TRY(tsr_model_read(&in.model, path));
    TSR_TRY(show(&in, network));
done:
    tsr_model_destroy(in.model);
    tsri_free(folder);
    tsri_free(path);
    return st;
}
