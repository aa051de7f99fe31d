/* cuda.h - what the files of the module share: the device's stream, errors, the table's kernels.
 *
 * Who has no stream of its own shares one: work of all threads goes through it in the order in which
 * they ask, so that what one has written another reads. Statuses and messages are the library's (services.c).
 */
#ifndef TSRI_CUDA_H
#define TSRI_CUDA_H

#include "backend/device.h"
#include "backend/cuda/launch.h"

/* ---- context.c ------------------------------------------------------------------------------ */

/* Chooses the device, once per process. USAGE without a driver or a device that this module has
 * code for, and says which is missing. */
tsr_status tsri_cuda_start(int threads);

/* Name of the chip and versions of the libraries: two runs with the same text give the same bits. */
const char *tsri_cuda_vendor(void);

/* `own`, or where it is NULL the stream that all share; while this thread records a step, the stream
 * that it records on. */
cudaStream_t tsri_cuda_stream(void *own);

/* From now on this thread's work goes there; NULL: as before. */
void tsri_cuda_record_on(cudaStream_t stream);

/* A status of what CUDA said of `what`. */
tsr_status tsri_cuda_status(cudaError_t error, const char *what);

/* TSRI_CUDA_PARTS doubles, for the length of a gradient. */
double *tsri_cuda_parts(void);

/* c [m, n] = alpha a b + beta c, all with rows one after the other; a is [m, k], or [k, m] when
 * turned, b likewise. In f32, never in less. */
typedef struct tsri_cuda_product {
    int64_t m, n, k;
    const float *a, *b;
    float *c;
    bool a_turned, b_turned;
    float alpha, beta;
} tsri_cuda_product;

tsr_status tsri_cuda_multiply(const tsri_cuda_product *product, void *stream);

/* ---- The table ------------------------------------------------------------------------------ */

extern const tsri_heap tsri_cuda_heap;
extern const tsri_kernel tsri_cuda_linear, tsri_cuda_conv_kernel, tsri_cuda_norm_kernel,
    tsri_cuda_relu_kernel, tsri_cuda_add_kernel, tsri_cuda_maxpool_kernel, tsri_cuda_avgpool_kernel,
    tsri_cuda_global_kernel, tsri_cuda_flatten_kernel, tsri_cuda_recurrent_kernel,
    tsri_cuda_last_kernel, tsri_cuda_turn_kernel, tsri_cuda_gate_kernel;
extern const tsri_vector_ops tsri_cuda_vectors;
extern const tsri_tape_ops tsri_cuda_tape;
extern const tsri_slices_ops tsri_cuda_slices;

tsr_status tsri_cuda_loss_batch(const tsri_loss *loss, tsri_device device);
tsr_status tsri_cuda_update_vector(const tsri_update *update, tsri_device device);
tsr_status tsri_cuda_adam_vector(const tsri_adam *adam, tsri_device device);
tsr_status tsri_cuda_input(tsri_mem *to, const float *x, int64_t n, tsri_shape shape,
                           tsri_layout layout, tsri_device device);
tsr_status tsri_cuda_draw_batch(const tsri_drawing *drawing, tsri_device device);
tsr_status tsri_cuda_count_batch(tsri_mem *counter, tsri_device device);
tsr_status tsri_cuda_wait(tsri_device device);

/* The place of a loss in TSRI_CUDA_LOSSES; -1 = it has no code here. */
int tsri_cuda_loss_number(const tsri_loss_kind *kind);

/* dy = 0 where the fused ReLU was off. */
tsr_status tsri_cuda_mask_gradient(const tsri_op *op);

#endif
