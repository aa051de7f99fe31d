/* kernels.h - the kernels of the cpu backend, one file each. */
#ifndef TSRI_CPU_KERNELS_H
#define TSRI_CPU_KERNELS_H

#include "backend/backend.h"
#include "backend/cpu/conv.h"

extern const tsri_kernel tsri_cpu_linear;
extern const tsri_kernel tsri_cpu_linear_bf16;
extern const tsri_kernel tsri_cpu_conv_bf16;
extern const tsri_kernel tsri_cpu_conv_winograd;
extern const tsri_kernel tsri_cpu_conv_direct;
extern const tsri_kernel tsri_cpu_norm_virtual;
extern const tsri_kernel tsri_cpu_norm;
extern const tsri_kernel tsri_cpu_relu;
extern const tsri_kernel tsri_cpu_gate;
extern const tsri_kernel tsri_cpu_add;
extern const tsri_kernel tsri_cpu_maxpool;
extern const tsri_kernel tsri_cpu_avgpool;
extern const tsri_kernel tsri_cpu_globalpool;
extern const tsri_kernel tsri_cpu_flatten;
extern const tsri_kernel tsri_cpu_recurrent;
extern const tsri_kernel tsri_cpu_last;
extern const tsri_kernel tsri_cpu_turn;

/* What all convolutions share: the shape; USAGE when filters are too large; db. */
tsri_conv_shape tsri_cpu_conv_shape(const tsri_op *op);
tsr_status tsri_cpu_conv_check(const tsri_op *op);
void tsri_cpu_conv_bias_gradient(tsri_op *op);

/* What all linear layers share: the sizes of a row and how many there are (of sequences, all
 * positions of all samples); dy = 0 where the ReLU was off, and db. */
int64_t tsri_cpu_linear_rows(const tsri_op *op, int64_t *in, int64_t *out);
void tsri_cpu_linear_mask(tsri_op *op);

/* op->packed = its weights as the products read them. */
void tsri_cpu_linear_pack(tsri_op *op);
void tsri_cpu_conv_pack(tsri_op *op);

extern const tsri_samples_ops tsri_cpu_samples; /* samples.c */

tsr_status tsri_cpu_update(const tsri_update *update, tsri_device device);
tsr_status tsri_cpu_adam(const tsri_adam *adam, tsri_device device);

#endif
