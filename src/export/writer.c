/* writer.c - from layers to nodes, by the rows of their kinds. See writer.h. */
#include "export/writer.h"

#include "base/alloc.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tsri_writer_fini(tsri_writer *w)
{
    tsri_readers_fini(&w->readers);
    tsri_free(w->value);
    tsri_free(w->dims);
    tsri_free(w->gone);
    tsri_free(w->norm);
}

/* How many dimensions the input has: [N, C] for vectors, unless a window goes over it. */
static int input_dims(const tsri_writer *w)
{
    bool planes = w->net->input.h * w->net->input.w > 1;
    for (int64_t i = 0; i < w->net->layers; i++)
        planes = planes || (w->net->layer[i].in == 0 && w->net->layer[i].size > 0);
    return w->sequences ? 3 : planes ? 4 : 2;
}

tsr_status tsri_writer_init(tsri_writer *w, tsri_graph *graph, const tsr_model *model, bool fold)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = model->net;
    *w = (tsri_writer){.graph = graph,
                       .net = net,
                       .w = tsri_store_own(&model->store),
                       .sequences = tsri_model_of(model->config)->sequences};
    TSR_TRY(tsri_readers_init(&w->readers, net));
    TSR_TRY(tsri_alloc(&w->value, net->values, sizeof(char *)));
    TSR_TRY(tsri_alloc(&w->dims, net->values, sizeof *w->dims));
    TSR_TRY(tsri_alloc(&w->gone, net->layers, sizeof *w->gone));
    TSR_TRY(tsri_alloc(&w->norm, net->layers, sizeof *w->norm));
    w->dims[0] = input_dims(w);
    for (int64_t i = 0; i < net->layers; i++) {
        w->norm[i] = -1;
        w->norms += net->layer[i].kind == TSRI_NORM;
    }
    if (fold)
        tsri_fold_find(w);
    tsri_sequence_find(w);
done:
    return st;
}

/* ---- Inputs of a node ----------------------------------------------------------------------- */

tsr_status tsri_writer_param(tsri_writer *w, int param, int dims, const int64_t *shape)
{
    const tsri_param *p = &w->net->param[param];
    tsri_constant c = {.name = p->name,
                       .element = TSRI_ELEMENT_FLOAT,
                       .dims = dims,
                       .data = w->w + p->offset,
                       .bytes = p->count * (int64_t)sizeof(float)};
    memcpy(c.shape, shape, (size_t)dims * sizeof *shape);
    return tsri_graph_constant(w->graph, &c);
}

/* The layer's parameters, in the order in which ONNX wants them. A single output's weights may be a
 * vector in the file; to ONNX they are a matrix. */
static tsr_status add_params(tsri_writer *w, tsri_node *n, int64_t i)
{
    tsr_status st = TSR_OK;
    const tsri_layer *l = &w->net->layer[i];
    const int params[] = {l->weight, l->bias, l->mean, l->var};
    for (size_t k = 0; k < sizeof params / sizeof *params; k++) {
        if (params[k] < 0)
            continue;
        const tsri_param *p = &w->net->param[params[k]];
        int64_t rows = w->net->value[l->out].shape.c, matrix[] = {rows, p->count / rows};
        bool flat = l->kind == TSRI_LINEAR && params[k] == l->weight;
        TSR_TRY(tsri_writer_param(w, params[k], flat ? 2 : p->dims, flat ? matrix : p->shape));
        TSR_TRY(tsri_node_in(w->graph, n, p->name));
    }
done:
    return st;
}

static tsr_status add_folded(tsri_writer *w, tsri_node *n, int64_t i)
{
    tsr_status st = TSR_OK;
    const char *weight, *bias;
    TSR_TRY(tsri_fold_params(w, &weight, &bias, i));
    TSR_TRY(tsri_node_in(w->graph, n, weight));
    TSR_TRY(tsri_node_in(w->graph, n, bias));
done:
    return st;
}

static tsr_status add_zero(tsri_writer *w, tsri_node *n)
{
    tsr_status st = TSR_OK;
    float *zero;
    if (!w->graph->zero) {
        TSR_TRY(tsri_graph_floats(w->graph, &zero, "zero", 0, NULL));
        w->graph->zero = "zero";
    }
    TSR_TRY(tsri_node_in(w->graph, n, w->graph->zero));
done:
    return st;
}

/* *name = that of x as [N, C]; what is not flat yet gets a node that makes it so. */
static tsr_status flat_name(tsri_writer *w, const char **name, const tsri_layer *l)
{
    tsr_status st = TSR_OK;
    *name = w->value[l->in];
    if (w->dims[l->in] != 2) {
        TSR_TRY(tsri_graph_text(w->graph, name, "%s.flat", l->name));
        TSR_TRY(tsri_graph_simple(w->graph, NULL, "Flatten", *name, 1, w->value[l->in]));
    }
done:
    return st;
}

/* ---- A row ---------------------------------------------------------------------------------- */

/* One node of a row being read: "Op(inputs) attributes". */
typedef struct phrase {
    const char *at;     /* what is still to be read */
    const char *before; /* name of what the node before it made */
    int64_t layer;
} phrase;

static tsr_status read_inputs(tsri_writer *w, tsri_node *n, phrase *p, const char *flat)
{
    tsr_status st = TSR_OK;
    const tsri_layer *l = &w->net->layer[p->layer];
    for (; *p->at != ')'; p->at++) {
        switch (*p->at) {
        case '#':
            TSR_TRY(tsri_node_in(w->graph, n, w->value[l->in]));
            break;
        case '~':
            TSR_TRY(tsri_node_in(w->graph, n, flat));
            break;
        case '&':
            TSR_TRY(tsri_node_in(w->graph, n, w->value[l->add]));
            break;
        case '^':
            TSR_TRY(tsri_node_in(w->graph, n, p->before));
            break;
        case '0':
            TSR_TRY(add_zero(w, n));
            break;
        case '@':
            TSR_TRY(w->norm[p->layer] >= 0 ? add_folded(w, n, p->layer)
                                           : add_params(w, n, p->layer));
            break;
        default:
            assert(*p->at == ',' || *p->at == ' ');
        }
    }
    p->at++;
done:
    return st;
}

static void add_window(tsri_node *n, const tsri_layer *l)
{
    const int64_t pads[] = {l->pad, l->pad, l->pad, l->pad};
    tsri_node_ints(n, "kernel_shape", (int64_t[]){l->size, l->size}, 2);
    tsri_node_ints(n, "strides", (int64_t[]){l->stride, l->stride}, 2);
    tsri_node_ints(n, "pads", pads, 4);
}

/* "perm=1,0,2", "transB=1", "alpha=*", "epsilon=!". */
static tsr_status read_value(tsri_writer *w, tsri_node *n, phrase *p)
{
    tsr_status st = TSR_OK;
    const tsri_layer *l = &w->net->layer[p->layer];
    size_t length = strcspn(p->at, "=");
    int64_t values[TSRI_GRAPH_DIMS];
    int count = 0;
    const char *name;
    TSR_TRY(tsri_graph_text(w->graph, &name, "%.*s", (int)length, p->at));
    p->at += length;
    if (p->at[1] == '*' || p->at[1] == '!') {
        if (p->at[1] == '!' || l->scale != 1) /* ONNX's own default is 1 */
            tsri_node_real(n, name, p->at[1] == '*' ? l->scale : l->eps);
        p->at += 2;
        goto done;
    }
    do
        values[count++] = strtoll(p->at + 1, (char **)&p->at, 10);
    while (*p->at == ',' && count < TSRI_GRAPH_DIMS);
    if (count > 1)
        tsri_node_ints(n, name, values, count);
    else
        tsri_node_int(n, name, values[0]);
done:
    return st;
}

static tsr_status read_attributes(tsri_writer *w, tsri_node *n, phrase *p)
{
    tsr_status st = TSR_OK;
    while (*p->at && *p->at != ';') {
        if (*p->at == '%')
            add_window(n, &w->net->layer[p->layer]);
        if (*p->at == '%' || *p->at == ' ')
            p->at++;
        else
            TSR_TRY(read_value(w, n, p));
    }
    p->at += strspn(p->at, "; ");
done:
    return st;
}

/* Appends the row's nodes; the last one makes `out`. */
static tsr_status write_row(tsri_writer *w, int64_t i, const char *row, const char *out)
{
    tsr_status st = TSR_OK;
    const tsri_layer *l = &w->net->layer[i];
    phrase p = {.at = row, .layer = i};
    const char *flat = NULL, *op, *name;
    if (strchr(row, '~'))
        TSR_TRY(flat_name(w, &flat, l));
    while (*p.at) {
        tsri_node *n;
        size_t length = strcspn(p.at, "(");
        bool last = !strchr(p.at, ';');
        TSR_TRY(tsri_graph_text(w->graph, &op, "%.*s", (int)length, p.at));
        TSR_TRY(tsri_graph_text(w->graph, &name, last ? "%s" : "%s.%s", l->name, op));
        TSR_TRY(tsri_graph_node(w->graph, &n, op, name));
        p.at += length + 1;
        TSR_TRY(read_inputs(w, n, &p, flat));
        TSR_TRY(read_attributes(w, n, &p));
        TSR_TRY(tsri_node_out(w->graph, n, last ? out : name));
        p.before = name;
    }
done:
    return st;
}

/* ---- All layers ----------------------------------------------------------------------------- */

static tsr_status write_layer(tsri_writer *w, int64_t i, const char *output)
{
    tsr_status st = TSR_OK;
    const tsri_layer *l = &w->net->layer[i];
    const char *row = tsri_kind_of(l->kind)->onnx;
    tsri_layer_writer writer = tsri_layer_writer_of(l);
    int out = w->norm[i] >= 0 ? w->net->layer[w->norm[i]].out : l->out;
    TSR_CHECK(writer || row, TSR_USAGE, "layer %s: a layer of the kind %s has no form in ONNX yet",
              l->name, tsri_kind_name(l->kind));
    if (out == w->net->values - 1)
        w->value[out] = output;
    else
        TSR_TRY(tsri_graph_text(w->graph, &w->value[out], "x%d", out));
    w->dims[out] = l->kind == TSRI_LINEAR || l->kind == TSRI_FLATTEN ? 2 : w->dims[l->in];
    TSR_TRY(writer ? writer(w, l) : write_row(w, i, row, w->value[out]));
done:
    return st;
}

tsr_status tsri_writer_layers(tsri_writer *w, const char *output)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < w->net->layers; i++)
        if (!w->gone[i])
            TSR_TRY(write_layer(w, i, output));
done:
    return st;
}
