/* kernels.h - the kernels of the cpu backend, one file each. */
#ifndef TSRI_CPU_KERNELS_H
#define TSRI_CPU_KERNELS_H

#include "backend/backend.h"

extern const tsri_kernel tsri_cpu_linear;
extern const tsri_kernel tsri_cpu_conv_winograd;
extern const tsri_kernel tsri_cpu_conv_direct;
extern const tsri_kernel tsri_cpu_norm_virtual;
extern const tsri_kernel tsri_cpu_norm;
extern const tsri_kernel tsri_cpu_relu;
extern const tsri_kernel tsri_cpu_add;
extern const tsri_kernel tsri_cpu_maxpool;
extern const tsri_kernel tsri_cpu_avgpool;
extern const tsri_kernel tsri_cpu_globalpool;
extern const tsri_kernel tsri_cpu_flatten;
extern const tsri_kernel tsri_cpu_recurrent;
extern const tsri_kernel tsri_cpu_last;
extern const tsri_kernel tsri_cpu_turn;

tsr_status tsri_cpu_update(const tsri_update *update, tsri_pool *pool);

#endif
