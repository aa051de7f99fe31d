/* graph.c - a network as ONNX has it. See graph.h. */
#include "export/graph.h"

#include "base/alloc.h"
#include "base/text.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tsri_graph_fini(tsri_graph *g)
{
    for (int64_t i = 0; i < g->keeps; i++)
        tsri_free(g->kept[i]);
    tsri_free(g->kept);
    tsri_free(g->constant);
    tsri_free(g->node);
    tsri_free(g->input);
    tsri_free(g->output);
    tsri_free(g->note);
    *g = (tsri_graph){0};
}

tsr_status tsri_graph_keep(tsri_graph *g, void *memory)
{
    tsr_status st = tsri_reserve(&g->kept, &g->keeps_room, g->keeps, sizeof(void *));
    if (st == TSR_OK)
        g->kept[g->keeps++] = memory;
    else
        tsri_free(memory);
    return st;
}

tsr_status tsri_graph_text(tsri_graph *g, const char **out, const char *fmt, ...)
{
    tsr_status st = TSR_OK;
    char *text = NULL;
    va_list args;
    *out = "";
    va_start(args, fmt);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    TSR_TRY(tsri_alloc(&text, n + 1, 1));
    va_start(args, fmt);
    (void)vsnprintf(text, (size_t)n + 1, fmt, args);
    va_end(args);
    TSR_TRY(tsri_graph_keep(g, text));
    *out = text;
done:
    return st;
}

/* ---- Appending ------------------------------------------------------------------------------ */

tsr_status tsri_graph_constant(tsri_graph *g, const tsri_constant *c)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_reserve(&g->constant, &g->constants_room, g->constants, sizeof *g->constant));
    tsri_constant *at = &g->constant[g->constants];
    *at = *c;
    TSR_TRY(tsri_graph_text(g, &at->name, "%s", c->name));
    g->constants++;
done:
    return st;
}

tsr_status tsri_graph_port(tsri_graph *g, bool in, const tsri_port *p)
{
    tsr_status st = TSR_OK;
    tsri_port **list = in ? &g->input : &g->output;
    int64_t *count = in ? &g->inputs : &g->outputs;
    TSR_TRY(tsri_reserve(list, in ? &g->inputs_room : &g->outputs_room, *count, sizeof **list));
    tsri_port *at = &(*list)[*count];
    *at = *p;
    TSR_TRY(tsri_graph_text(g, &at->name, "%s", p->name));
    if (p->about)
        TSR_TRY(tsri_graph_text(g, &at->about, "%s", p->about));
    ++*count;
done:
    return st;
}

tsr_status tsri_graph_note_add(tsri_graph *g, const char *key, const char *value)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_reserve(&g->note, &g->notes_room, g->notes, sizeof *g->note));
    tsri_graph_note *at = &g->note[g->notes];
    at->key = key;
    TSR_TRY(tsri_graph_text(g, &at->value, "%s", value));
    g->notes++;
done:
    return st;
}

tsr_status tsri_graph_node(tsri_graph *g, tsri_node **out, const char *op, const char *name)
{
    tsr_status st = TSR_OK;
    tsri_node *n = NULL;
    *out = NULL;
    TSR_TRY(tsri_reserve(&g->node, &g->nodes_room, g->nodes, sizeof(tsri_node *)));
    TSR_TRY(tsri_alloc(&n, 1, sizeof *n));
    TSR_TRY(tsri_graph_keep(g, n));
    TSR_TRY(tsri_graph_text(g, &n->op, "%s", op));
    TSR_TRY(tsri_graph_text(g, &n->name, "%s", name));
    g->node[g->nodes++] = n;
    *out = n;
done:
    return st;
}

tsr_status tsri_node_in(tsri_graph *g, tsri_node *n, const char *name)
{
    assert(n->ins < TSRI_NODE_PORTS);
    return tsri_graph_text(g, &n->in[n->ins++], "%s", name);
}

tsr_status tsri_node_out(tsri_graph *g, tsri_node *n, const char *name)
{
    assert(n->outs < TSRI_NODE_PORTS);
    return tsri_graph_text(g, &n->out[n->outs++], "%s", name);
}

/* ---- Attributes ----------------------------------------------------------------------------- */

static tsri_attribute *attribute(tsri_node *n, const char *name)
{
    assert(n->attributes < TSRI_NODE_PORTS);
    tsri_attribute *a = &n->attribute[n->attributes++];
    a->name = name;
    return a;
}

void tsri_node_ints(tsri_node *n, const char *name, const int64_t *values, int count)
{
    tsri_attribute *a = attribute(n, name);
    assert(count <= TSRI_GRAPH_DIMS);
    a->kind = TSRI_ATTRIBUTE_INTS;
    a->count = count;
    memcpy(a->integer, values, (size_t)count * sizeof *values);
}

void tsri_node_int(tsri_node *n, const char *name, int64_t value)
{
    tsri_attribute *a = attribute(n, name);
    a->kind = TSRI_ATTRIBUTE_INT;
    a->integer[0] = value;
}

void tsri_node_real(tsri_node *n, const char *name, double value)
{
    tsri_attribute *a = attribute(n, name);
    a->kind = TSRI_ATTRIBUTE_REAL;
    a->real = (float)value;
}

void tsri_node_word(tsri_node *n, const char *name, const char *word)
{
    tsri_attribute *a = attribute(n, name);
    a->kind = TSRI_ATTRIBUTE_TEXTS;
    a->text = word;
}

/* ---- In one call ---------------------------------------------------------------------------- */

tsr_status tsri_graph_simple(tsri_graph *g, tsri_node **out, const char *op, const char *output,
                             int ins, ...)
{
    tsr_status st = TSR_OK;
    tsri_node *n = NULL;
    va_list names;
    va_start(names, ins);
    TSR_TRY(tsri_graph_node(g, &n, op, output));
    for (int i = 0; i < ins; i++)
        TSR_TRY(tsri_node_in(g, n, va_arg(names, const char *)));
    TSR_TRY(tsri_node_out(g, n, output));
done:
    va_end(names);
    if (out)
        *out = n;
    return st;
}

tsr_status tsri_graph_floats(tsri_graph *g, float **out, const char *name, int dims,
                             const int64_t *shape)
{
    tsr_status st = TSR_OK;
    tsri_constant c = {.name = name, .element = TSRI_ELEMENT_FLOAT, .dims = dims};
    int64_t count = 1;
    for (int d = 0; d < dims; d++)
        count *= c.shape[d] = shape[d];
    TSR_TRY(tsri_alloc(out, count, sizeof **out));
    TSR_TRY(tsri_graph_keep(g, *out));
    c.data = *out;
    c.bytes = count * (int64_t)sizeof **out;
    TSR_TRY(tsri_graph_constant(g, &c));
done:
    return st;
}

tsr_status tsri_graph_axis(tsri_graph *g, const char *name, int64_t axis)
{
    tsr_status st = TSR_OK;
    int64_t *value = NULL;
    TSR_TRY(tsri_alloc(&value, 1, sizeof *value));
    *value = axis;
    TSR_TRY(tsri_graph_keep(g, value));
    TSR_TRY(tsri_graph_constant(g, &(tsri_constant){.name = name,
                                                    .element = TSRI_ELEMENT_INT64,
                                                    .dims = 1,
                                                    .shape = {1},
                                                    .data = value,
                                                    .bytes = sizeof *value}));
done:
    return st;
}
