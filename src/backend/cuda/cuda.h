/* cuda.h - what the files of the module share: the device's stream, errors, the table's kernels.
 *
 * Callers without a stream of their own share one: the work of all threads goes through it in the
 * order in which they ask, so that what one has written another reads. Statuses and messages are the
 * library's (backend.c).
 */
#ifndef TSRI_CUDA_H
#define TSRI_CUDA_H

#include "backend/device.h"
#include "backend/cuda/launch.h"

/* ---- context.c ------------------------------------------------------------------------------ */

/* Takes a GPU, once per process: the first, or, for the ranks of a host, one after the other. USAGE
 * without a driver or a GPU that this module has code for, and says which is missing. */
tsr_status tsri_cuda_start(int threads);

/* The number of that GPU. tsri_cuda_use_gpu: from now on this thread's calls go to it. Taking a
 * stream does that, too. */
int tsri_cuda_gpu(void);
void tsri_cuda_use_gpu(void);

/* Name of the chip and versions of the libraries: two runs with the same text give the same
 * bits. */
const char *tsri_cuda_vendor(void);

const char *tsri_cuda_chip(void);

/* Of the chip: 90 is 9.0. */
int tsri_cuda_capability(void);

int tsri_cuda_multiprocessors(void);

/* What a device's `stream` is: a queue, and what must not be shared by what runs at once. */
typedef struct tsri_cuda_lane {
    cudaStream_t stream;
    void *workspace; /* of cuBLAS, which promises the same bits for one size of it */
    unsigned number; /* of the lanes made so far */
    double *parts;   /* TSRI_CUDA_PARTS, for the loss and the length of a gradient */
} tsri_cuda_lane;

/* Bytes that the pool of the device keeps, and those of them that are taken. */
tsr_status tsri_cuda_pool(uint64_t *kept, uint64_t *used);

/* `own` as a lane; where it is NULL the one that this thread has entered, or else the one that all
 * share. */
const tsri_cuda_lane *tsri_cuda_lane_of(void *own);

/* Its stream; while this thread records a step, the stream that it records on. What was put beside
 * it (late.c) is waited for. */
cudaStream_t tsri_cuda_stream(void *own);

/* The same for who takes gradients that are still packed (tsri_cuda_unpack_late) as they are. */
cudaStream_t tsri_cuda_stream_packed(void *own, tsri_cuda_packing *packed);

/* What does not fail a run but should be known. */
void tsri_cuda_tell(tsr_log_level level, const char *fmt, ...) TSR_PRINTF(2, 3);

/* TSRI_CUDA_SLABS numbers of the device that are 0, for kernels whose blocks count themselves;
 * NULL: all are given away. */
unsigned *tsri_cuda_counter_take(void);
void tsri_cuda_counter_drop(unsigned *counter);

/* TSRI_CUDA_SLOT bytes of the device that are one owner's alone, with anything in them: workspaces
 * of cuDNN that hold no more than a counter (mend.c). */
enum { TSRI_CUDA_SLOT = TSRI_CUDA_SLABS * sizeof(unsigned) };
unsigned *tsri_cuda_slot_take(void);
void tsri_cuda_slot_drop(unsigned *slot);
bool tsri_cuda_in_slot(const void *at);

/* A status of what CUDA said of `what`. */
tsr_status tsri_cuda_status(cudaError_t error, const char *what);

/* c [m, n] = alpha a b + beta c, all with rows one after the other; a is [m, k], or [k, m] when
 * turned, b likewise. Of floats in f32, never in less. */
typedef struct tsri_cuda_product {
    int64_t m, n, k;
    const void *a, *b;
    void *c;
    bool a_turned, b_turned;
    float alpha, beta;
    bool narrow, narrow_c;       /* a and b are bf16; c is */
    int64_t a_row, b_row, c_row; /* numbers from row to row; 0: they have no gaps */
    int64_t count, a_step, b_step,
        c_step; /* floats: so many at once, numbers from one to the next */
} tsri_cuda_product;

tsr_status tsri_cuda_multiply(const tsri_cuda_product *product, void *stream);

/* The same for an op that settles what it writes itself (late.c). */
tsr_status tsri_cuda_multiply_op(const tsri_cuda_product *product, const tsri_op *op);

/* The same on a stream of the caller's; not beside another product, since there is one
 * workspace. */
tsr_status tsri_cuda_multiply_on(const tsri_cuda_product *product, const tsri_op *op,
                                 cudaStream_t stream);

/* ---- late.c: work beside what follows ------------------------------------------------------- */

/* Gradients of weights are wanted at the end of a step alone. While one is recorded they go to a
 * stream of their own, beside the chain of gradients of inputs:
 *
 *     TSR_TRY(tsri_cuda_late_begin(&beside, here));      what `here` has done is done there
 *     ... work on `beside` ...
 *     TSR_TRY(tsri_cuda_late_end(x, bytes, dy, bytes));  it reads these
 *
 * and whoever writes what they read waits for them first. Where nothing is recorded `beside` is
 * `here`. */
tsr_status tsri_cuda_late_begin(cudaStream_t *beside, cudaStream_t here);
tsr_status tsri_cuda_late_end(const void *x, int64_t x_bytes, const void *y, int64_t y_bytes);

/* A gradient of weights that may wait until the chip has room, while a step is recorded: `work`
 * goes beside the next launch that leaves some (now), or else to where somebody settles. Until then
 * nobody may write what it reads, late_end's ranges. */
typedef tsr_status (*tsri_cuda_work)(const tsri_op *op, cudaStream_t stream);
tsr_status tsri_cuda_late_postpone(tsri_cuda_work work, const tsri_op *op);
tsr_status tsri_cuda_late_now(cudaStream_t here);

/* The stream of an op that settles itself what it writes. */
cudaStream_t tsri_cuda_op_stream(const tsri_op *op);
tsr_status tsri_cuda_settle(const void *to, int64_t bytes);

/* Before an op's backward: what its gradients overwrite. */
tsr_status tsri_cuda_settle_op(const tsri_op *op);

/* From now on this thread's work goes to `stream`, late work to `beside` (NULL: there, too). */
void tsri_cuda_record_on(cudaStream_t stream, cudaStream_t beside);
cudaStream_t tsri_cuda_recording(void);
tsr_status tsri_cuda_settle_all(void);

/* A gradient of weights that lies packed in memory that is the op's own becomes floats: at once, or
 * while a step is recorded together with all others, when the first of them is asked for. */
tsr_status tsri_cuda_unpack_late(const tsri_cuda_packed *gradient, cudaStream_t stream);

/* ---- gates.c: kernels whose blocks wait for each other ----------------------------------------- */

/* How many may run at once; 0: the chip is too small for one. */
int tsri_cuda_gates(void);
/* Around a launch. `leave` must follow when `enter` went well. */
tsr_status tsri_cuda_gate_enter(void *queue, cudaStream_t stream);
tsr_status tsri_cuda_gate_leave(void *queue, cudaStream_t stream);
/* Whether this thread has recorded such a launch since it was last asked. */
bool tsri_cuda_gate_recorded(void);

/* W as the recurrence reads it (recurrent_bf16.c). */
tsr_status tsri_cuda_recurrent_pack_op(const tsri_op *op, cudaStream_t s);

/* ---- mend.c: a recorded step without the zeros of single counters ------------------------------ */

/* Recorded first: sets the counters of *zeros, memory that is given back with cudaFree. */
tsr_status tsri_cuda_zeros_begin(tsri_cuda_zeros **zeros, cudaStream_t stream);
/* Takes what sets single counters in slots out of the recording, and into *zeros. */
tsr_status tsri_cuda_zeros_end(tsri_cuda_zeros *zeros, cudaGraph_t graph, cudaStream_t stream);

/* ---- narrow.c: ops whose values lie as bf16 -------------------------------------------------- */

/* Rows of x and of y: pixels. */
int64_t tsri_cuda_rows_in(const tsri_op *op);
int64_t tsri_cuda_rows_out(const tsri_op *op);
int64_t tsri_cuda_bytes_in(const tsri_op *op);
int64_t tsri_cuda_bytes_out(const tsri_op *op);

tsri_cuda_window tsri_cuda_window_of(const tsri_op *op); /* products.c */

/* Behind a product that wrote y: bias, sum, ReLU, and the statistics of a norm that it feeds; its
 * scratch has at least tsri_cuda_finish_bytes. */
tsr_status tsri_cuda_finish_product(const tsri_op *op, bool bias);
int64_t tsri_cuda_finish_bytes(const tsri_op *op);

/* ---- The table ------------------------------------------------------------------------------ */

extern const tsri_heap tsri_cuda_heap;
extern const tsri_kernel tsri_cuda_linear, tsri_cuda_conv_kernel, tsri_cuda_norm_kernel,
    tsri_cuda_relu_kernel, tsri_cuda_add_kernel, tsri_cuda_maxpool_kernel, tsri_cuda_avgpool_kernel,
    tsri_cuda_global_kernel, tsri_cuda_flatten_kernel, tsri_cuda_recurrent_kernel,
    tsri_cuda_last_kernel, tsri_cuda_turn_kernel, tsri_cuda_gate_kernel;
extern const tsri_kernel tsri_cuda_conv_patches, tsri_cuda_conv_dnn, tsri_cuda_linear_bf16,
    tsri_cuda_relu_narrow, tsri_cuda_add_narrow, tsri_cuda_norm_narrow, tsri_cuda_global_narrow,
    tsri_cuda_conv_floats, tsri_cuda_maxpool_floats, tsri_cuda_avgpool_floats,
    tsri_cuda_flatten_floats, tsri_cuda_recurrent_bf16;
extern const tsri_vector_ops tsri_cuda_vectors;
extern const tsri_tape_ops tsri_cuda_tape;
extern const tsri_queue_ops tsri_cuda_queues;
extern const tsri_slices_ops tsri_cuda_slices;
extern const tsri_tangent_ops tsri_cuda_tangents;

tsr_status tsri_cuda_loss_batch(const tsri_loss *loss, tsri_device device);
tsr_status tsri_cuda_update_vector(const tsri_update *update, tsri_device device);
tsr_status tsri_cuda_adam_vector(const tsri_adam *adam, tsri_device device);
tsr_status tsri_cuda_input(tsri_mem *to, const float *x, int64_t n, tsri_shape shape,
                           tsri_layout layout, tsri_device device);
tsr_status tsri_cuda_draw_batch(const tsri_drawing *drawing, tsri_device device);
tsr_status tsri_cuda_count_batch(tsri_mem *counter, tsri_device device);
tsr_status tsri_cuda_wait(tsri_device device);
tsr_status tsri_cuda_pack_weights(tsri_op *const *op, int64_t count, tsri_device device);

/* The place of a loss in TSRI_CUDA_LOSSES; -1 = it has no code here. */
int tsri_cuda_loss_number(const tsri_loss_kind *kind);

/* dy = 0 where the fused ReLU was off. */
tsr_status tsri_cuda_mask_gradient(const tsri_op *op);

#endif
