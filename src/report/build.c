/* build.c - how the library was built, and what it runs on here. */
#include "backend/backend.h"
#include "base/sized.h"
#include "comm/comm.h"
#include "io/json.h"
#include "linalg/openblas.h"
#include "report/png.h"

tsr_status tsr_build(char **json)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    TSRI_GIVEN(json);
    *json = NULL;
    tsri_json_begin(&w);
    tsri_json_put_text(&w, "version", tsr_version());
    tsri_json_put_text(&w, "compiler", __VERSION__);
    tsri_json_put_text(&w, "kernels", tsri_backend_vendor(&tsri_backend_cpu));
    tsri_json_put_text(&w, "core", tsri_openblas_core()); /* bench/kernels.sh */
    tsri_json_put_bool(&w, "mpi", tsri_comm_built());
    tsri_json_put_bool(&w, "png", tsri_png_available());
    tsri_json_close(&w, '}');
    TSR_TRY(tsri_json_give(json, &w));
done:
    tsri_json_fini(&w);
    return st;
}
