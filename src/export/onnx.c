/* onnx.c - a model as an ONNX file. See onnx.h. */
#include "export/onnx.h"
#include "export/writer.h"

#include "base/alloc.h"
#include "base/sized.h"
#include "io/file.h"

void tsri_onnx_fini(tsri_onnx_bytes *file)
{
    tsri_free(file->bytes);
    *file = (tsri_onnx_bytes){0};
}

/* The network's answer: [batch, outputs], of sequences that are read at every position
 * [batch, positions, outputs]. */
static tsr_status add_output(tsri_writer *w, const tsr_model *m)
{
    int last = (int)w->net->values - 1;
    tsri_port p = {.name = "output",
                   .about = m->classes > 0 ? "a number for each class: the largest is the answer"
                                           : "a number for each target",
                   .element = TSRI_ELEMENT_FLOAT,
                   .dims = w->dims[last],
                   .shape = {0, w->net->value[last].shape.c, 1, 1},
                   .size_name = {"batch"}};
    if (p.dims == 3) {
        p.size_name[1] = "positions";
        p.shape[2] = p.shape[1];
    }
    return tsri_graph_port(w->graph, false, &p);
}

tsr_status tsri_onnx_make(tsri_onnx_bytes *out, const tsr_model *m, const tsr_onnx_options *o)
{
    tsr_status st = TSR_OK;
    tsri_graph graph = {0};
    tsri_writer w = {0};
    bool back = o->transform && tsri_transforms_output(m);
    *out = (tsri_onnx_bytes){0};
    TSR_TRY(tsri_onnx_can());
    TSR_TRY(tsri_writer_init(&w, &graph, m, o->fold));
    TSR_TRY(tsri_transform_input(&w, m, o->transform));
    TSR_TRY(tsri_writer_layers(&w, back ? "target.scaled" : "output"));
    if (back)
        TSR_TRY(tsri_transform_output(&w, m, "target.scaled"));
    TSR_TRY(add_output(&w, m));
    TSR_TRY(tsri_writer_notes(&w, m, o->transform));
    TSR_TRY(
        tsri_onnx_pack(&out->bytes, &out->n, &graph, tsri_config_text(m->config, "model.name")));
    out->nodes = graph.nodes;
    out->norms = w.norms;
    out->folded = w.folded;
done:
    tsri_writer_fini(&w);
    tsri_graph_fini(&graph);
    return st;
}

tsr_status tsr_export_onnx(tsr_onnx_made *made, const char *path, const tsr_model *model,
                           const tsr_onnx_options *options)
{
    tsr_status st = TSR_OK;
    tsr_onnx_options o = tsr_onnx_options_default();
    tsr_onnx_made m = tsr_onnx_made_default();
    tsri_onnx_bytes file = {0};
    TSRI_GIVEN(path);
    TSRI_GIVEN(model);
    if (options)
        TSR_TRY(TSRI_SIZED_TAKE(&o, options));
    TSR_TRY(tsri_onnx_make(&file, model, &o));
    TSR_TRY(tsri_file_write(path, &(tsri_piece){file.bytes, file.n}, 1));
    m.bytes = file.n;
    m.nodes = file.nodes;
    m.norms_folded = file.folded;
    m.norms_left = file.norms - file.folded;
    m.opset = TSRI_ONNX_OPSET;
    if (made)
        TSR_TRY(TSRI_SIZED_GIVE(made, &m));
done:
    tsri_onnx_fini(&file);
    return st;
}
