/* device.h - where a network's numbers live and who computes with them.
 *
 * A device is a backend (its kernels and its memory) and the queue that its work goes through, in
 * order: on this machine's processors, a pool of threads. It is a small value, passed as it is. Two
 * devices of one backend share its memory: workers have a queue each and the same kind of numbers.
 *
 * All calls into a backend go through the functions below. Addresses (tsri_mem) are of the device's
 * memory, anything else is the host's.
 */
#ifndef TSRI_DEVICE_H
#define TSRI_DEVICE_H

#include "backend/backend.h"

static inline tsri_device tsri_device_on(const tsri_backend *backend, tsri_pool *pool)
{
    return (tsri_device){.backend = backend, .pool = pool};
}

/* Waits until all that was called on the device's queue is done: before a clock is read. */
tsr_status tsri_device_wait(tsri_device device);

/* ---- Layers -------------------------------------------------------------------------------- */

tsr_status tsri_op_forward(tsri_op *op, tsri_device device);
tsr_status tsri_op_backward(tsri_op *op, tsri_device device);

/* Before the forwards of a pass: the weights of those ops as their products want them. */
tsr_status tsri_device_pack(tsri_device device, tsri_op *const *op, int64_t count);

/* The pointer that stands for an address in an op. Only for code that fills in ops. */
static inline void *tsri_mem_bind(const tsri_mem *mem)
{
    return (void *)(uintptr_t)mem;
}

static inline tsri_mem *tsri_mem_bound(const void *pointer)
{
    return (tsri_mem *)(uintptr_t)pointer;
}

/* to = a batch as a network reads it, in the backend's type and layout: x [n, shape] of the host is
 * floats with channels outermost, sequences (`turned`) as [N, T, C]. */
tsr_status tsri_device_input(tsri_device device, tsri_mem *to, const float *x, int64_t n,
                             tsri_shape shape, tsri_layout layout);

/* A batch made of samples that are on the device already, of a backend that can (draw.h). */
tsr_status tsri_device_draw(tsri_device device, const tsri_drawing *drawing);

/* Adds one to the number at `counter`: another batch. */
tsr_status tsri_device_count(tsri_device device, tsri_mem *counter);

tsr_status tsri_device_loss(tsri_device device, const tsri_loss *loss);

/* ---- Vectors of parameters ----------------------------------------------------------------- */

tsr_status tsri_device_update(tsri_device device, const tsri_update *update);
tsr_status tsri_device_adam(tsri_device device, const tsri_adam *adam);

/* As torch.nn.utils.clip_grad_norm_: g *= min(1, longest / (|g| + 1e-6)). A gradient that is not
 * finite stays so: the run tells that it has diverged. */
tsr_status tsri_device_clip(tsri_device device, tsri_mem *g, int64_t count, double longest);

/* a += part (w - a), in double; part = 1 copies. */
tsr_status tsri_device_blend(tsri_device device, tsri_mem *a, const tsri_mem *w, int64_t count,
                             double part);

/* sum = g where `first`, else sum + g; where `last`, g = scale sum. */
tsr_status tsri_device_gather(tsri_device device, tsri_mem *sum, tsri_mem *g, int64_t count,
                              bool first, bool last, float scale);

/* ---- Shares (slices.h) --------------------------------------------------------------------- */

tsr_status tsri_device_take(tsri_device device, tsri_mem *to, const tsri_mem *from,
                            const tsri_slices *s, const tsri_pick *pick);
tsr_status tsri_device_put(tsri_device device, tsri_mem *whole, const tsri_slices *s,
                           const tsri_slices_owner *owner, int64_t count);

#endif
