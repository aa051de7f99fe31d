/* onnx_file_none.c - in place of onnx_file.c, where protobuf-c or onnx.proto was missing. */
#include "export/onnx.h"

tsr_status tsri_onnx_can(void)
{
    return tsri_fail(TSR_FAILURE,
                     "this tessera was built without ONNX: install protobuf-c-compiler, "
                     "libprotobuf-c-dev and libonnx-dev, and build it again");
}

tsr_status tsri_onnx_pack(void **bytes, int64_t *n, tsri_graph *graph, const char *name)
{
    (void)graph;
    (void)name;
    *bytes = NULL;
    *n = 0;
    return tsri_onnx_can();
}
