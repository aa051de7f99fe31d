/* sequence.c - layers of sequences, which have more to say than a row can.
 *
 *     product at each position, recurrence  ->  RNN: h_l = relu(A x_l + W h_(l-1)), all positions
 *     last                                  ->  the state with which that RNN ends
 *     product at each position              ->  MatMul with A transposed
 *
 * Sequences are [T, N, C], as ONNX's RNN has them. Its fifth input, how long each is, lets shorter
 * ones end early: after their end the states are 0, as ours are.
 */
#include "export/writer.h"

#include <string.h>

void tsri_sequence_find(tsri_writer *w)
{
    for (int64_t i = 0; i < w->net->layers; i++) {
        const tsri_layer *l = &w->net->layer[i];
        w->gone[i] = w->gone[i] || (l->each && tsri_only_reader(&w->readers, w->net, l->out,
                                                                TSRI_RECURRENT) >= 0);
    }
}

/* A constant of `count` numbers of a parameter, times the layer's scale. */
static tsr_status scaled_param(tsri_writer *w, const tsri_layer *l, int dims, const int64_t *shape)
{
    tsr_status st = TSR_OK;
    const tsri_param *p = &w->net->param[l->weight];
    float *to;
    if (l->scale == 1)
        return tsri_writer_param(w, l->weight, dims, shape);
    TSR_TRY(tsri_graph_floats(w->graph, &to, p->name, dims, shape));
    for (int64_t k = 0; k < p->count; k++)
        to[k] = (float)(l->scale * (double)w->w[p->offset + k]);
done:
    return st;
}

/* y = x A^T at each position. */
static tsr_status write_each(tsri_writer *w, const tsri_layer *l)
{
    tsr_status st = TSR_OK;
    const tsri_param *p = &w->net->param[l->weight];
    int64_t rows = p->shape[0], columns = p->shape[1], turned[] = {columns, rows};
    float *to;
    w->dims[l->out] = w->dims[l->in];
    TSR_TRY(tsri_graph_floats(w->graph, &to, p->name, 2, turned));
    for (int64_t o = 0; o < rows; o++)
        for (int64_t i = 0; i < columns; i++)
            to[i * rows + o] = (float)(l->scale * (double)w->w[p->offset + o * columns + i]);
    TSR_TRY(
        tsri_graph_simple(w->graph, NULL, "MatMul", w->value[l->out], 2, w->value[l->in], p->name));
done:
    return st;
}

/* What feeds a recurrence: a product that it takes in, or, where somebody else reads that too, the
 * value itself times the identity. */
static tsr_status add_feed(tsri_writer *w, tsri_node *n, const tsri_layer *l)
{
    tsr_status st = TSR_OK;
    int64_t before = w->readers.producer[l->in], m = w->net->value[l->out].shape.c;
    if (before >= 0 && w->gone[before]) {
        const tsri_layer *feed = &w->net->layer[before];
        TSR_TRY(scaled_param(w, feed, 3, (int64_t[]){1, m, w->net->value[feed->in].shape.c}));
        TSR_TRY(tsri_node_in(w->graph, n, w->value[feed->in]));
        TSR_TRY(tsri_node_in(w->graph, n, w->net->param[feed->weight].name));
        goto done;
    }
    const char *name;
    float *one;
    TSR_TRY(tsri_graph_text(w->graph, &name, "%s.identity", l->name));
    TSR_TRY(tsri_graph_floats(w->graph, &one, name, 3, (int64_t[]){1, m, m}));
    for (int64_t k = 0; k < m; k++)
        one[k * m + k] = 1;
    TSR_TRY(tsri_node_in(w->graph, n, w->value[l->in]));
    TSR_TRY(tsri_node_in(w->graph, n, name));
done:
    return st;
}

/* *name = the axis 0 or 1 as a constant: Squeeze takes it as an input. */
static tsr_status squeeze(tsri_writer *w, const char *from, const char *to, int64_t axis)
{
    tsr_status st = TSR_OK;
    const char *name;
    TSR_TRY(tsri_graph_text(w->graph, &name, "%s.axis", to));
    TSR_TRY(tsri_graph_axis(w->graph, name, axis));
    TSR_TRY(tsri_graph_simple(w->graph, NULL, "Squeeze", to, 2, from, name));
done:
    return st;
}

/* Y [T, 1, N, m] are all states, Y_h [1, N, m] the last of each sequence. */
static tsr_status write_recurrent(tsri_writer *w, const tsri_layer *l)
{
    tsr_status st = TSR_OK;
    int64_t m = w->net->value[l->out].shape.c;
    bool ends_only = tsri_only_reader(&w->readers, w->net, l->out, TSRI_LAST) >= 0;
    tsri_node *n;
    const char *all, *end;
    TSR_TRY(tsri_graph_node(w->graph, &n, "RNN", l->name));
    TSR_TRY(add_feed(w, n, l));
    TSR_TRY(scaled_param(w, l, 3, (int64_t[]){1, m, m}));
    TSR_TRY(tsri_node_in(w->graph, n, w->net->param[l->weight].name));
    TSR_TRY(tsri_node_in(w->graph, n, "")); /* no bias */
    TSR_TRY(tsri_node_in(w->graph, n, TSRI_LENGTHS));
    tsri_node_int(n, "hidden_size", m);
    tsri_node_word(n, "activations", "Relu");
    TSR_TRY(tsri_graph_text(w->graph, &all, "%s.all", w->value[l->out]));
    TSR_TRY(tsri_graph_text(w->graph, &end, "%s.end", w->value[l->out]));
    TSR_TRY(tsri_node_out(w->graph, n, ends_only ? "" : all));
    TSR_TRY(tsri_node_out(w->graph, n, end));
    w->dims[l->out] = 3;
    if (!ends_only)
        TSR_TRY(squeeze(w, all, w->value[l->out], 1));
done:
    return st;
}

static tsr_status write_last(tsri_writer *w, const tsri_layer *l)
{
    tsr_status st = TSR_OK;
    const char *end;
    int64_t before = w->readers.producer[l->in];
    TSR_CHECK(before >= 0 && w->net->layer[before].kind == TSRI_RECURRENT, TSR_USAGE,
              "layer %s: it takes the last position of what is not a recurrence, which has no form "
              "in ONNX yet",
              l->name);
    TSR_TRY(tsri_graph_text(w->graph, &end, "%s.end", w->value[l->in]));
    TSR_TRY(squeeze(w, end, w->value[l->out], 0));
    w->dims[l->out] = 2;
done:
    return st;
}

tsri_layer_writer tsri_layer_writer_of(const tsri_layer *l)
{
    static const tsri_layer_writer of_kind[TSRI_OP_KINDS] = {
        [TSRI_RECURRENT] = write_recurrent, [TSRI_LAST] = write_last};
    return l->each ? write_each : of_kind[l->kind];
}
