/* graph.h - a network in ONNX's terms: constants, nodes, inputs and outputs. onnx_file.c turns it into
 * protobuf messages.
 *
 *     tsri_graph g = {0};
 *     tsri_node *n;
 *     TSR_TRY(tsri_graph_node(&g, &n, "Relu", "relu1"));
 *     TSR_TRY(tsri_node_in(&g, n, "x1"));
 *     TSR_TRY(tsri_node_out(&g, n, "x2"));
 *     ...
 *     tsri_graph_fini(&g);
 *
 * All texts and numbers that the graph does not share with the model belong to it.
 */
#ifndef TSRI_GRAPH_H
#define TSRI_GRAPH_H

#include "base/status.h"

enum { TSRI_GRAPH_DIMS = 4, TSRI_NODE_PORTS = 6 };

/* Numbers are ONNX's. */
typedef enum tsri_element {
    TSRI_ELEMENT_FLOAT = 1,
    TSRI_ELEMENT_INT32 = 6,
    TSRI_ELEMENT_INT64 = 7
} tsri_element;

typedef struct tsri_constant {
    const char *name;
    tsri_element element;
    int dims;
    int64_t shape[TSRI_GRAPH_DIMS];
    const void *data; /* the model's memory, or the graph's */
    int64_t bytes;
} tsri_constant;

/* What comes in or goes out. A dimension of 0 is any size, and has a name. */
typedef struct tsri_port {
    const char *name, *about; /* about: a sentence, or NULL */
    tsri_element element;
    int dims;
    int64_t shape[TSRI_GRAPH_DIMS];
    const char *size_name[TSRI_GRAPH_DIMS];
} tsri_port;

typedef struct tsri_attribute {
    const char *name;
    enum {
        TSRI_ATTRIBUTE_INT,
        TSRI_ATTRIBUTE_INTS,
        TSRI_ATTRIBUTE_REAL,
        TSRI_ATTRIBUTE_TEXTS
    } kind;
    int64_t integer[TSRI_GRAPH_DIMS];
    int count; /* of integers */
    float real;
    const char *text; /* the only one of a list */
} tsri_attribute;

typedef struct tsri_node {
    const char *op, *name;
    const char *in[TSRI_NODE_PORTS]; /* "" = an optional one that is left out */
    const char *out[TSRI_NODE_PORTS];
    int ins, outs;
    tsri_attribute attribute[TSRI_NODE_PORTS];
    int attributes;
} tsri_node;

typedef struct tsri_graph_note {
    const char *key, *value;
} tsri_graph_note;

typedef struct tsri_graph {
    tsri_constant *constant;
    tsri_node **node; /* in the order in which they run */
    tsri_port *input, *output;
    tsri_graph_note *note; /* metadata */
    void **kept;           /* memory that is the graph's */
    int64_t constants, nodes, inputs, outputs, notes, keeps;
    int64_t constants_room, nodes_room, inputs_room, outputs_room, notes_room, keeps_room;
    const char *zero; /* name of the constant 0, NULL = there is none yet */
} tsri_graph;

void tsri_graph_fini(tsri_graph *g);

/* Memory becomes the graph's, also when this fails. */
tsr_status tsri_graph_keep(tsri_graph *g, void *memory);

/* *out = a text that is the graph's. */
tsr_status tsri_graph_text(tsri_graph *g, const char **out, const char *fmt, ...) TSR_PRINTF(3, 4);

/* Each appends; texts are copied, and `data` is not. */
tsr_status tsri_graph_constant(tsri_graph *g, const tsri_constant *c);
tsr_status tsri_graph_port(tsri_graph *g, bool in, const tsri_port *p);
tsr_status tsri_graph_note_add(tsri_graph *g, const char *key, const char *value);
tsr_status tsri_graph_node(tsri_graph *g, tsri_node **out, const char *op, const char *name);
tsr_status tsri_node_in(tsri_graph *g, tsri_node *n, const char *name);
tsr_status tsri_node_out(tsri_graph *g, tsri_node *n, const char *name);

/* Of a node; names and texts are string literals, or the graph's. */
void tsri_node_ints(tsri_node *n, const char *name, const int64_t *values, int count);
void tsri_node_int(tsri_node *n, const char *name, int64_t value);
void tsri_node_real(tsri_node *n, const char *name, double value);
void tsri_node_word(tsri_node *n, const char *name, const char *word);

/* A node of one output in a call: `ins` names of inputs follow. */
tsr_status tsri_graph_simple(tsri_graph *g, tsri_node **out, const char *op, const char *output,
                             int ins, ...);

/* Constants that are made here: floats of the graph's own memory, *out to be filled in; and a list
 * of axes. */
tsr_status tsri_graph_floats(tsri_graph *g, float **out, const char *name, int dims,
                             const int64_t *shape);
tsr_status tsri_graph_axis(tsri_graph *g, const char *name, int64_t axis);

#endif
