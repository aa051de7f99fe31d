/* schemes.h - the schemes' functions, one file each. */
#ifndef TSRI_SCHEMES_H
#define TSRI_SCHEMES_H

#include "scheme/run.h"

tsr_status tsri_dense_setup(tsri_run *run);
tsr_status tsri_dense_round(tsri_run *run);
void tsri_dense_teardown(tsri_run *run);
bool tsri_dense_knows_gates(const tsri_run *run); /* samples are what they are: once for all */

tsr_status tsri_dropout_draw(tsri_draw_kind *kind, const tsr_config *config);
tsr_status tsri_dropout_round(tsri_run *run);

tsr_status tsri_masked_draw(tsri_draw_kind *kind, const tsr_config *config);
tsr_status tsri_masked_round(tsri_run *run);

tsr_status tsri_ist_draw(tsri_draw_kind *kind, const tsr_config *config);
tsr_status tsri_ist_round(tsri_run *run);

tsr_status tsri_loft_draw(tsri_draw_kind *kind, const tsr_config *config);
tsr_status tsri_loft_axes(bool *cut, const tsr_config *config, const tsri_net *net);
tsr_status tsri_loft_round(tsri_run *run);

tsr_status tsri_local_sgd_draw(tsri_draw_kind *kind, const tsr_config *config);
tsr_status tsri_local_sgd_round(tsri_run *run);

tsr_status tsri_gpipe_setup(tsri_run *run);
tsr_status tsri_gpipe_round(tsri_run *run);
void tsri_gpipe_teardown(tsri_run *run);
tsr_status tsri_gpipe_assemble(tsri_run *run);
tsr_status tsri_gpipe_serve(tsri_run *run);
tsr_status tsri_gpipe_collect(tsri_run *run);

#endif
