/* loops_template.h - the inner loops, written once for every vector width.
 *
 * A loops_<isa>.c sets WIDTH, ROWS, SKIP_*, TABLE and NAME and includes this file; the build
 * compiles it for its instruction set. The parts are headers only so that they can be read one at a
 * time.
 */
#include "backend/cpu/vector.h"
#include "backend/cpu/loops_product.h"
#include "backend/cpu/loops_points.h"
#include "backend/cpu/loops_winograd.h"
#include "backend/cpu/loops_pixels.h"
#include "backend/cpu/loops_samples.h"
#include "backend/cpu/loops_skip.h"

const tsri_loops TABLE = {
    .name = NAME,
    .width = WIDTH,
    .rows = ROWS,
    .cols = 2 * WIDTH,
    .gemm = gemm,
    .gemm_t = gemm_t,
    .activate = activate_pixels,
    .moments = moments,
    .norm_sums = norm_sums,
    .norm_backward = norm_backward,
    .samples_table = samples_table,
    .samples_step = samples_step,
    .samples_outputs = samples_outputs,
    .samples_awake = samples_awake,
    .form2 = {2, 4, input2, output2, output_adjoint2, weight2, weight_adjoint2},
    .form4 = {4, 6, input4, output4, output_adjoint4, weight4, weight_adjoint4},
    .skip_items = SKIP_ITEMS,
    .skip_cols = SKIP_COLS,
    .skip_unit = SKIP_COLS * 4,
    .skip = skip,
    .skip_rows = skip_rows,
    .skip_out = skip_out,
    .turn = turn,
    .dots = dots,
    .sums = sums,
    .ahead = SOON,
};
