/* plan.h - one forward and backward of a network, laid out in memory once and run many times.
 *
 * A plan is made for (network, store, backend, batch, training or not). Making it fuses each ReLU
 * into what stands before it, chooses kernels, and assigns every activation, gradient and scratch
 * buffer a place in one arena by its lifetime, so that buffers that never live together share
 * memory. Running it allocates nothing.
 *
 *     TSR_TRY(tsri_plan_create(&plan, &store, backend, pool, batch, true));
 *     TSR_TRY(tsri_plan_forward(plan, x));                     x [batch, input]
 *     TSR_TRY(tsri_plan_loss(plan, &loss));                    sets loss->sum, ->hits
 *     TSR_TRY(tsri_plan_backward(plan));                       store->g
 */
#ifndef TSRI_PLAN_H
#define TSRI_PLAN_H

#include "backend/backend.h"
#include "net/store.h"

typedef struct tsri_plan tsri_plan;

/* Local. The store, backend and pool must outlive the plan. USAGE when a norm layer would train on
 * a batch of one value per channel. */
tsr_status tsri_plan_create(tsri_plan **out, tsri_store *store, const tsri_backend *backend,
                            tsri_pool *pool, int64_t batch, bool training);
void tsri_plan_destroy(tsri_plan *plan);

/* The same for a network that was resized (subnet/cut.h): makes *plan anew in its own memory, and
 * takes more only when that is too small. *plan is NULL after a failure. */
tsr_status tsri_plan_renew(tsri_plan **plan);

/* Of sequences: how many positions each of the batch has, until the next call; NULL (the start) =
 * all. `length` [batch] must stay as it is until backward is done. */
void tsri_plan_lengths(tsri_plan *plan, const int32_t *length);

/* The same for gradients of outputs instead of a loss: norms use their running statistics, so that
 * no sample sees another. The caller writes the gradient of the output and looks at each op as
 * backward passes it:
 *
 *     TSR_TRY(tsri_plan_forward(plan, x));
 *     ... tsri_plan_output_gradient(plan): e_o in every row ...
 *     TSR_TRY(tsri_plan_backward_each(plan, visit, context));
 *
 * Parameters get gradients only when asked for; store->g may be NULL otherwise. */
tsr_status tsri_plan_create_frozen(tsri_plan **out, tsri_store *store, const tsri_backend *backend,
                                   tsri_pool *pool, int64_t batch, bool gradients);

/* x: floats [batch, input]. They must stay as they are until backward is done. For a part of a
 * network (net/depth.h) x is the output of the part before it, and is copied. */
tsr_status tsri_plan_forward(tsri_plan *plan, const float *x);

/* The outputs of the last forward, [batch, outputs] in the backend's element type. */
const void *tsri_plan_output(const tsri_plan *plan);

/* Fills in x, dx, n and the positions of `loss` and computes it: kind, valid, label or target are
 * the caller's. */
tsr_status tsri_plan_loss(tsri_plan *plan, tsri_loss *loss);

/* The gradients of the last loss into store->g. */
tsr_status tsri_plan_backward(tsri_plan *plan);

/* Of a part of a network. Where the gradient of its output, [batch, outputs], is to be written
 * before backward when the loss is not its own; and the gradient of what came into it, there after
 * backward until the next forward. Both in the backend's type and layout. */
void *tsri_plan_output_gradient(const tsri_plan *plan);
const void *tsri_plan_entry_gradient(const tsri_plan *plan);

/* Bytes of what comes into it and of what goes out. */
int64_t tsri_plan_entry_bytes(const tsri_plan *plan);
int64_t tsri_plan_output_bytes(const tsri_plan *plan);

/* The bytes of memory that a plan of that batch for training would have, not taken. */
tsr_status tsri_plan_measure(int64_t *bytes, const tsri_net *net, const tsri_backend *backend,
                             tsri_pool *pool, int64_t batch);

/* Backward that calls visit after each op, the last one first. One backward for each forward: it
 * reuses the memory of values that it no longer needs. For ops with parameters op->x and
 * op->dy then are the op's input and the gradient behind it, a fused ReLU already in it. */
typedef tsr_status (*tsri_plan_visit)(void *context, const tsri_op *op, const tsri_layer *layer);
tsr_status tsri_plan_backward_each(tsri_plan *plan, tsri_plan_visit visit, void *context);

/* What a batch counts in the running statistics of every norm from now on; PyTorch's 0.1 at first.
 */
void tsri_plan_norm_momentum(tsri_plan *plan, double momentum);

/* Bytes of the arena and of the gates, and the same if nothing of the arena were shared. */
int64_t tsri_plan_bytes(const tsri_plan *plan);
int64_t tsri_plan_bytes_unshared(const tsri_plan *plan);

/* The ops, for tables of kernels and times. */
int64_t tsri_plan_ops(const tsri_plan *plan);
const tsri_op *tsri_plan_op(const tsri_plan *plan, int64_t i, const char **name);

/* Seconds of op i in one forward and one backward of the last run, when timing was switched on. */
void tsri_plan_time(tsri_plan *plan, bool on);
void tsri_plan_op_seconds(const tsri_plan *plan, int64_t i, double *forward, double *backward);

#endif
