/* onnx.h - a model as an ONNX file: f32, any batch, opset 15.
 *
 *     tsri_onnx_bytes file = {0};
 *     TSR_TRY(tsri_onnx_make(&file, model, &options));      the file's bytes
 *     TSR_TRY(tsri_file_write(path, &(tsri_piece){file.bytes, file.n}, 1));
 *     tsri_onnx_fini(&file);
 */
#ifndef TSRI_ONNX_H
#define TSRI_ONNX_H

#include "export/graph.h"

/* Opset 15 with version 8 of the format (IR): the oldest pair that has what we use, so that
 * Debian's checker (onnx 1.12) and runtimes since 2021 take it. */
enum { TSRI_ONNX_OPSET = 15, TSRI_ONNX_IR = 8 };

typedef struct tsri_onnx_bytes {
    void *bytes;
    int64_t n;
    int64_t nodes, norms, folded; /* norms that are left are norms - folded */
} tsri_onnx_bytes;

tsr_status tsri_onnx_make(tsri_onnx_bytes *out, const tsr_model *model,
                          const tsr_onnx_options *options);
void tsri_onnx_fini(tsri_onnx_bytes *file);

/* ---- onnx_file.c, or onnx_file_none.c where protobuf-c or onnx.proto was missing -------------- */

/* The graph as the bytes of an ONNX file; the caller frees *bytes. FAILURE, saying what is missing,
 * when this build cannot. */
tsr_status tsri_onnx_pack(void **bytes, int64_t *n, tsri_graph *graph, const char *name);

/* OK when this build can do that; else the same failure. */
tsr_status tsri_onnx_can(void);

#endif
