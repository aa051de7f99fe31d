/* onnx_file.c - a graph as the bytes of an ONNX file: protobuf-c, with the messages of Debian's
 * onnx.proto. Messages point at the graph's texts and numbers; packing copies them once. */
#include "export/onnx.h"

#include "base/alloc.h"

#include <onnx.pb-c.h>
#include <string.h>

/* protobuf's limit for one message. */
static const size_t most = INT32_MAX;

/* *list = count pointers to messages of `size` bytes, all the graph's. */
static tsr_status messages(tsri_graph *g, void *list, int64_t count, size_t size)
{
    tsr_status st = TSR_OK;
    void **pointers = NULL;
    char *block = NULL;
    TSR_TRY(tsri_alloc(&pointers, count, sizeof(void *)));
    TSR_TRY(tsri_graph_keep(g, pointers));
    TSR_TRY(tsri_alloc(&block, count, size));
    TSR_TRY(tsri_graph_keep(g, block));
    for (int64_t i = 0; i < count; i++)
        pointers[i] = block + i * (int64_t)size;
    *(void **)list = pointers;
done:
    return st;
}

/* ---- Constants and ports -------------------------------------------------------------------- */

static void pack_constant(Onnx__TensorProto *to, const tsri_constant *c)
{
    onnx__tensor_proto__init(to);
    to->name = (char *)c->name;
    to->has_data_type = true;
    to->data_type = (int32_t)c->element;
    to->n_dims = (size_t)c->dims;
    to->dims = (int64_t *)c->shape;
    to->has_raw_data = true;
    to->raw_data = (ProtobufCBinaryData){(size_t)c->bytes, (uint8_t *)c->data};
}

static void pack_size(Onnx__TensorShapeProto__Dimension *to, const tsri_port *p, int d)
{
    onnx__tensor_shape_proto__dimension__init(to);
    if (p->size_name[d]) {
        to->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
        to->dim_param = (char *)p->size_name[d];
    } else {
        to->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        to->dim_value = p->shape[d];
    }
}

static tsr_status pack_port(tsri_graph *g, Onnx__ValueInfoProto *to, const tsri_port *p)
{
    tsr_status st = TSR_OK;
    Onnx__TypeProto **type;
    Onnx__TypeProto__Tensor **tensor;
    Onnx__TensorShapeProto **shape;
    TSR_TRY(messages(g, &type, 1, sizeof **type));
    TSR_TRY(messages(g, &tensor, 1, sizeof **tensor));
    TSR_TRY(messages(g, &shape, 1, sizeof **shape));
    onnx__value_info_proto__init(to);
    onnx__type_proto__init(*type);
    onnx__type_proto__tensor__init(*tensor);
    onnx__tensor_shape_proto__init(*shape);
    to->name = (char *)p->name;
    to->doc_string = (char *)p->about;
    to->type = *type;
    (*type)->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    (*type)->tensor_type = *tensor;
    (*tensor)->has_elem_type = true;
    (*tensor)->elem_type = (int32_t)p->element;
    (*tensor)->shape = *shape;
    (*shape)->n_dim = (size_t)p->dims;
    TSR_TRY(messages(g, &(*shape)->dim, p->dims, sizeof **(*shape)->dim));
    for (int d = 0; d < p->dims; d++)
        pack_size((*shape)->dim[d], p, d);
done:
    return st;
}

/* ---- Nodes ---------------------------------------------------------------------------------- */

static tsr_status pack_attribute(tsri_graph *g, Onnx__AttributeProto *to, const tsri_attribute *a)
{
    tsr_status st = TSR_OK;
    onnx__attribute_proto__init(to);
    to->name = (char *)a->name;
    to->has_type = true;
    switch (a->kind) {
    case TSRI_ATTRIBUTE_INT:
        to->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT;
        to->has_i = true;
        to->i = a->integer[0];
        break;
    case TSRI_ATTRIBUTE_INTS:
        to->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS;
        to->n_ints = (size_t)a->count;
        to->ints = (int64_t *)a->integer;
        break;
    case TSRI_ATTRIBUTE_REAL:
        to->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT;
        to->has_f = true;
        to->f = a->real;
        break;
    case TSRI_ATTRIBUTE_TEXTS:
        to->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS;
        to->n_strings = 1;
        TSR_TRY(tsri_alloc(&to->strings, 1, sizeof *to->strings));
        TSR_TRY(tsri_graph_keep(g, to->strings));
        *to->strings = (ProtobufCBinaryData){strlen(a->text), (uint8_t *)a->text};
    }
done:
    return st;
}

static tsr_status pack_node(tsri_graph *g, Onnx__NodeProto *to, tsri_node *n)
{
    tsr_status st = TSR_OK;
    onnx__node_proto__init(to);
    to->op_type = (char *)n->op;
    to->name = (char *)n->name;
    to->n_input = (size_t)n->ins;
    to->input = (char **)n->in;
    to->n_output = (size_t)n->outs;
    to->output = (char **)n->out;
    to->n_attribute = (size_t)n->attributes;
    TSR_TRY(messages(g, &to->attribute, n->attributes, sizeof **to->attribute));
    for (int i = 0; i < n->attributes; i++)
        TSR_TRY(pack_attribute(g, to->attribute[i], &n->attribute[i]));
done:
    return st;
}

/* ---- All ------------------------------------------------------------------------------------ */

static tsr_status pack_graph(tsri_graph *g, Onnx__GraphProto *to, const char *name)
{
    tsr_status st = TSR_OK;
    onnx__graph_proto__init(to);
    to->name = (char *)name;
    to->n_initializer = (size_t)g->constants;
    to->n_input = (size_t)g->inputs;
    to->n_output = (size_t)g->outputs;
    to->n_node = (size_t)g->nodes;
    TSR_TRY(messages(g, &to->initializer, g->constants, sizeof **to->initializer));
    TSR_TRY(messages(g, &to->input, g->inputs, sizeof **to->input));
    TSR_TRY(messages(g, &to->output, g->outputs, sizeof **to->output));
    TSR_TRY(messages(g, &to->node, g->nodes, sizeof **to->node));
    for (int64_t i = 0; i < g->constants; i++)
        pack_constant(to->initializer[i], &g->constant[i]);
    for (int64_t i = 0; i < g->inputs; i++)
        TSR_TRY(pack_port(g, to->input[i], &g->input[i]));
    for (int64_t i = 0; i < g->outputs; i++)
        TSR_TRY(pack_port(g, to->output[i], &g->output[i]));
    for (int64_t i = 0; i < g->nodes; i++)
        TSR_TRY(pack_node(g, to->node[i], g->node[i]));
done:
    return st;
}

static tsr_status pack_notes(tsri_graph *g, Onnx__ModelProto *to)
{
    tsr_status st = TSR_OK;
    to->n_metadata_props = (size_t)g->notes;
    TSR_TRY(messages(g, &to->metadata_props, g->notes, sizeof **to->metadata_props));
    for (int64_t i = 0; i < g->notes; i++) {
        onnx__string_string_entry_proto__init(to->metadata_props[i]);
        to->metadata_props[i]->key = (char *)g->note[i].key;
        to->metadata_props[i]->value = (char *)g->note[i].value;
    }
done:
    return st;
}

tsr_status tsri_onnx_can(void)
{
    return TSR_OK;
}

tsr_status tsri_onnx_pack(void **bytes, int64_t *n, tsri_graph *g, const char *name)
{
    tsr_status st = TSR_OK;
    Onnx__ModelProto model = ONNX__MODEL_PROTO__INIT;
    Onnx__GraphProto graph = ONNX__GRAPH_PROTO__INIT;
    Onnx__OperatorSetIdProto opset = ONNX__OPERATOR_SET_ID_PROTO__INIT, *opsets[] = {&opset};
    *bytes = NULL;
    *n = 0;
    TSR_TRY(pack_graph(g, &graph, name));
    TSR_TRY(pack_notes(g, &model));
    opset.domain = (char *)"";
    opset.has_version = true;
    opset.version = TSRI_ONNX_OPSET;
    model.has_ir_version = true;
    model.ir_version = TSRI_ONNX_IR;
    model.n_opset_import = 1;
    model.opset_import = opsets;
    model.producer_name = (char *)"tessera";
    model.producer_version = (char *)tsr_version();
    model.graph = &graph;
    size_t size = onnx__model_proto__get_packed_size(&model);
    TSR_CHECK(size <= most, TSR_USAGE,
              "an ONNX file holds at most 2 GB, and this network needs %.3g GB",
              (double)size / 1e9);
    TSR_TRY(tsri_alloc_raw(bytes, (int64_t)size, 1));
    *n = (int64_t)onnx__model_proto__pack(&model, *bytes);
done:
    return st;
}
