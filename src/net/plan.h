/* plan.h - one forward and backward of a network, laid out in memory once and run many times.
 *
 * A plan is made for (network, store, device, batch, training or not). Making it fuses each ReLU
 * into what stands before it, chooses kernels, and assigns every activation, gradient and scratch
 * buffer a place in one arena by its lifetime, so that buffers that never live together share
 * memory. Running it allocates nothing.
 *
 *     TSR_TRY(tsri_plan_create(&plan, &store, device, batch, true));
 *     TSR_TRY(tsri_plan_forward(plan, x));                     x [batch, input]
 *     TSR_TRY(tsri_plan_loss(plan, &loss));                    and the gradient of the outputs
 *     TSR_TRY(tsri_plan_backward(plan));                       store->g
 *     TSR_TRY(tsri_plan_tally(&tally, plan));              what the loss came to
 *
 * optim/step.h does all of it, and the update.
 */
#ifndef TSRI_PLAN_H
#define TSRI_PLAN_H

#include "backend/device.h"
#include "net/store.h"

typedef struct tsri_plan tsri_plan;

/* Local. The store and the device's pool must outlive the plan; the store must be in the device's
 * memory. USAGE when a norm layer would train on a batch of one value per channel. */
tsr_status tsri_plan_create(tsri_plan **out, tsri_store *store, tsri_device device, int64_t batch,
                            bool training);
void tsri_plan_destroy(tsri_plan *plan);

/* The same for a network that was resized (subnet/cut.h): makes *plan anew in its own memory, and
 * takes more only when that is too small. *plan is NULL after a failure. */
tsr_status tsri_plan_renew(tsri_plan **plan);

/* A plan that only predicts, with weights that are in the store already and do not change: they are
 * packed for products once. Plans of the same store, backend and batch may share the packed
 * weights: `packer` is an earlier one, which must outlive this one, or NULL. */
tsr_status tsri_plan_create_steady(tsri_plan **out, tsri_store *store, tsri_device device,
                                   int64_t batch, const tsri_plan *packer);

/* Of sequences: how many positions each of the batch has, until the next call; NULL (the start) =
 * all. `length` [batch] must stay as it is until backward is done. */
void tsri_plan_lengths(tsri_plan *plan, const int32_t *length);
void tsri_plan_lengths_there(tsri_plan *plan, const tsri_mem *length); /* lie on the device */

/* A plan for gradients of outputs instead of a loss: norms use their running statistics, so that
 * no sample sees another. The caller writes the gradient of the output and looks at each op as
 * backward passes it:
 *
 *     TSR_TRY(tsri_plan_forward(plan, x));
 *     TSR_TRY(tsri_plan_write_gradient(plan, rows));           e_o in every row
 *     TSR_TRY(tsri_plan_backward_each(plan, visit, context));
 *
 * Parameters get gradients only when asked for; store->g may be NULL otherwise. */
tsr_status tsri_plan_create_frozen(tsri_plan **out, tsri_store *store, tsri_device device,
                                   int64_t batch, bool gradients);

/* x: floats [batch, input] of the host. They must stay as they are until backward is done. For a
 * part of a network (net/depth.h) x is what the part before it gave, in the backend's type. */
tsr_status tsri_plan_forward(tsri_plan *plan, const float *x);

/* Its two halves: x is brought in from the host; all ops are called, on the device alone. */
tsr_status tsri_plan_enter(tsri_plan *plan, const float *x);
tsr_status tsri_plan_pass(tsri_plan *plan);

/* Instead of enter, on a device that cannot read the host's memory: fills in count, x and layout of
 * the rows to be drawn into the plan's input (backend/draw.h). */
void tsri_plan_draws(tsri_drawing *drawing, const tsri_plan *plan);

/* Forward from the output of the part before this one, which stays on the device. */
tsr_status tsri_plan_forward_from(tsri_plan *plan, const tsri_plan *before);

/* to [rows, outputs] = the outputs of the last forward of the first `rows` samples, in the
 * backend's element type. */
tsr_status tsri_plan_read_output(void *to, const tsri_plan *plan, int64_t rows);

/* Fills in x, dx, n and the positions of `loss` and computes it: kind, valid, label or target are
 * the caller's. Its value stays on the device until the tally is asked for. */
tsr_status tsri_plan_loss(tsri_plan *plan, tsri_loss *loss);
tsr_status tsri_plan_tally(tsri_tally *tally, const tsri_plan *plan);
tsr_status tsri_plan_keep_tally(tsri_mem *to, const tsri_plan *plan); /* a copy on the device */

/* The gradients of the last loss into store->g. */
tsr_status tsri_plan_backward(tsri_plan *plan);

/* For a part of a network that does not compute the loss itself: the gradient of its output [batch,
 * outputs], written before backward from the host or from the part after it; and the gradient of
 * its input, valid after backward until the next forward. All in the backend's type and layout. */
tsr_status tsri_plan_write_gradient(tsri_plan *plan, const void *from);
tsr_status tsri_plan_gradient_from(tsri_plan *plan, const tsri_plan *behind);
tsr_status tsri_plan_read_entry_gradient(void *to, const tsri_plan *plan);

/* Bytes of a part's input and of its output. */
int64_t tsri_plan_entry_bytes(const tsri_plan *plan);
int64_t tsri_plan_output_bytes(const tsri_plan *plan);

/* *bytes = the memory that a plan for that batch would take. None is taken. */
tsr_status tsri_plan_measure(int64_t *bytes, const tsri_net *net, tsri_device device, int64_t batch,
                             bool training);

/* Backward that calls visit after each op, the last one first. One backward for each forward: it
 * reuses the memory of values that it no longer needs. The op's x, y, dx, dy and saved are the
 * host's for as long as the visit lasts; of ops with parameters x and dy then are the input and the
 * gradient after it, a fused ReLU already in it. */
typedef tsr_status (*tsri_plan_visit)(void *context, const tsri_op *op, const tsri_layer *layer);
tsr_status tsri_plan_backward_each(tsri_plan *plan, tsri_plan_visit visit, void *context);

/* The same for a visitor that works on the device: the op keeps the device's addresses. */
tsr_status tsri_plan_backward_there(tsri_plan *plan, tsri_plan_visit visit, void *context);

/* The weight of a batch in the running statistics of every norm from now on; at first PyTorch's
 * 0.1. */
void tsri_plan_norm_momentum(tsri_plan *plan, double momentum);

/* Bytes of the arena and of the gates, and what they would be if buffers shared no memory. */
int64_t tsri_plan_bytes(const tsri_plan *plan);
int64_t tsri_plan_bytes_unshared(const tsri_plan *plan);

/* What it was made for. */
tsri_store *tsri_plan_store(const tsri_plan *plan);
tsri_device tsri_plan_device(const tsri_plan *plan);
int64_t tsri_plan_batch(const tsri_plan *plan);
bool tsri_plan_timed(const tsri_plan *plan); /* below */

/* The ops, for tables of kernels and times. */
int64_t tsri_plan_ops(const tsri_plan *plan);
const tsri_op *tsri_plan_op(const tsri_plan *plan, int64_t i, const char **name);

/* Calls op i alone, on what the last pass left in memory: for timing. */
tsr_status tsri_plan_call(tsri_plan *plan, int64_t i, bool backward);

/* Seconds of op i in one forward and one backward of the last run, when timing was switched on. */
void tsri_plan_time(tsri_plan *plan, bool on);
void tsri_plan_op_seconds(const tsri_plan *plan, int64_t i, double *forward, double *backward);

#endif
