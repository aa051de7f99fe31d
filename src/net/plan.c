/* plan.c - making a plan, running it, looking at it. */
#include "net/plan_parts.h"

#include "base/alloc.h"
#include "base/clock.h"

/* Its steps and their memory; weights that stay as they are, as products want them. */
static tsr_status fit_out(tsri_plan *plan)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_plan_steps(plan));
    TSR_TRY(tsri_plan_memory(plan));
    if (plan->steady && plan->packs > 0) {
        TSR_TRY(tsri_device_pack(plan->device, plan->packed, plan->packs));
        TSR_TRY(tsri_device_wait(plan->device)); /* others read them, in other queues */
    }
done:
    return st;
}

static tsr_status make(tsri_plan **out, const tsri_plan *like)
{
    tsr_status st = TSR_OK;
    tsri_plan *plan = NULL;
    *out = NULL;
    TSR_TRY(tsri_alloc(&plan, 1, sizeof *plan));
    *plan = *like;
    TSR_TRY(fit_out(plan));
    *out = plan;
    plan = NULL;
done:
    tsri_plan_destroy(plan);
    return st;
}

tsr_status tsri_plan_create(tsri_plan **out, tsri_store *store, tsri_device device, int64_t batch,
                            bool training)
{
    tsri_plan like = {.net = store->net,
                      .store = store,
                      .device = device,
                      .batch = batch,
                      .training = training,
                      .gradients = training};
    return make(out, &like);
}

tsr_status tsri_plan_create_steady(tsri_plan **out, tsri_store *store, tsri_device device,
                                   int64_t batch, const tsri_plan *packer)
{
    tsri_plan like = {.net = store->net,
                      .store = store,
                      .device = device,
                      .batch = batch,
                      .steady = true,
                      .packer = packer};
    return make(out, &like);
}

tsr_status tsri_plan_measure(int64_t *bytes, const tsri_net *net, tsri_device device, int64_t batch,
                             bool training)
{
    tsr_status st = TSR_OK;
    tsri_plan *plan = NULL;
    /* Kernels ask for room where there is something to compute: all vectors are there, as addresses
     * that nobody looks behind. */
    static const _Alignas(256) char nowhere[256];
    tsri_store none = {.net = net,
                       .real_bytes = device.backend->real_bytes,
                       .w = tsri_mem_bound(nowhere),
                       .g = tsri_mem_bound(nowhere)};
    tsri_plan like = {.net = net,
                      .store = &none,
                      .device = device,
                      .batch = batch,
                      .training = training,
                      .gradients = training,
                      .dry = true};
    TSR_TRY(make(&plan, &like));
    *bytes = tsri_plan_bytes(plan) + plan->input_bytes;
done:
    tsri_plan_destroy(plan);
    return st;
}

tsr_status tsri_plan_create_frozen(tsri_plan **out, tsri_store *store, tsri_device device,
                                   int64_t batch, bool gradients)
{
    tsri_plan like = {.net = store->net,
                      .store = store,
                      .device = device,
                      .batch = batch,
                      .training = true,
                      .frozen = true,
                      .gradients = gradients};
    return make(out, &like);
}

/* All but its memory for values. */
static void undo_steps(tsri_plan *plan)
{
    for (int64_t k = 0; k < plan->count; k++)
        tsri_op_teardown(&plan->step[k].op);
    tsri_plan_gates_free(plan);
    tsri_free(plan->step);
    tsri_free(plan->alias);
    tsri_free(plan->packed);
}

tsr_status tsri_plan_renew(tsri_plan **plan)
{
    tsr_status st = TSR_OK;
    tsri_plan *p = *plan;
    undo_steps(p);
    *p = (tsri_plan){.net = p->net,
                     .store = p->store,
                     .device = p->device,
                     .batch = p->batch,
                     .training = p->training,
                     .frozen = p->frozen,
                     .gradients = p->gradients,
                     .steady = p->steady,
                     .packer = p->packer,
                     .timed = p->timed,
                     .arena = p->arena,
                     .arena_room = p->arena_room,
                     .input = p->input,
                     .tally = p->tally};
    TSR_TRY(fit_out(p));
done:
    if (st != TSR_OK) {
        tsri_plan_destroy(p);
        *plan = NULL;
    }
    return st;
}

void tsri_plan_destroy(tsri_plan *plan)
{
    if (!plan)
        return;
    undo_steps(plan);
    plan->device.backend->heap->drop(plan->arena);
    plan->device.backend->heap->drop(plan->input);
    plan->device.backend->heap->drop(plan->tally);
    tsri_free(plan);
}

/* ---- Running ------------------------------------------------------------------------------ */

tsr_status tsri_plan_enter(tsri_plan *plan, const float *x)
{
    if (plan->entry)
        return plan->device.backend->heap->in(plan->entry, x, tsri_plan_entry_bytes(plan));
    if (plan->input)
        return tsri_device_input(plan->device, plan->input, x, plan->batch, plan->net->input,
                                 plan->layout);
    for (int64_t k = 0; k < plan->count; k++)
        if (plan->step[k].in == 0)
            plan->step[k].op.x = x;
    return TSR_OK;
}

void tsri_plan_draws(tsri_drawing *drawing, const tsri_plan *plan)
{
    drawing->count = plan->batch;
    drawing->x = plan->input;
    drawing->layout = plan->layout;
}

/* The clock when the device has done what it was asked for; a failure there comes again with the
 * next call. */
static double time_of(const tsri_plan *plan)
{
    if (!plan->timed)
        return 0;
    (void)tsri_device_wait(plan->device);
    return tsri_clock();
}

static tsr_status count_batch(tsri_plan *plan, const tsri_planned *s)
{
    if (s->layer->tracked < 0 || s->op.tracked)
        return TSR_OK;
    return tsri_device_count(plan->device,
                             tsri_store_at(plan->store, plan->store->w, s->layer->tracked));
}

void tsri_plan_lengths(tsri_plan *plan, const int32_t *length)
{
    plan->length = length;
    for (int64_t k = 0; k < plan->count; k++)
        plan->step[k].op.length = length;
}

void tsri_plan_lengths_there(tsri_plan *plan, const tsri_mem *length)
{
    tsri_plan_lengths(plan, tsri_mem_bind(length));
}

tsr_status tsri_plan_pass(tsri_plan *plan)
{
    tsr_status st = TSR_OK;
    if (plan->packs > 0 && !plan->steady)
        TSR_TRY(tsri_device_pack(plan->device, plan->packed, plan->packs));
    for (int64_t k = 0; k < plan->count; k++) {
        tsri_planned *s = &plan->step[k];
        double start = time_of(plan);
        if (s->for_gates && plan->gates_given)
            continue;
        TSR_TRY(tsri_op_forward(&s->op, plan->device));
        if (plan->training && !plan->frozen)
            TSR_TRY(count_batch(plan, s));
        if (plan->timed)
            s->seconds_forward = time_of(plan) - start;
    }
done:
    return st;
}

tsr_status tsri_plan_forward(tsri_plan *plan, const float *x)
{
    tsr_status st = tsri_plan_enter(plan, x);
    return st == TSR_OK ? tsri_plan_pass(plan) : st;
}

tsr_status tsri_plan_forward_from(tsri_plan *plan, const tsri_plan *before)
{
    const tsri_heap *heap = plan->device.backend->heap;
    tsr_status st = heap->within(plan->entry, before->output, tsri_plan_entry_bytes(plan));
    return st == TSR_OK ? tsri_plan_pass(plan) : st;
}

tsr_status tsri_plan_read_output(void *to, const tsri_plan *plan, int64_t rows)
{
    int64_t row = tsri_plan_output_bytes(plan) / plan->batch;
    return plan->device.backend->heap->out(to, plan->output, rows * row);
}

tsr_status tsri_plan_loss(tsri_plan *plan, tsri_loss *loss)
{
    tsri_op *last = &plan->step[plan->count - 1].op;
    loss->n = plan->batch;
    loss->outputs = tsri_shape_count(last->out);
    loss->positions = last->out.h;
    loss->first = plan->net->first;
    loss->length =
        last->out.h > 1 ? plan->length : NULL; /* read at the end, there is one position */
    loss->x = last->y;
    loss->dx = plan->training ? last->dy : NULL;
    loss->tally = plan->tally;
    return tsri_device_loss(plan->device, loss);
}

tsr_status tsri_plan_keep_tally(tsri_mem *to, const tsri_plan *plan)
{
    return plan->device.backend->heap->within(to, plan->tally, sizeof(tsri_tally));
}

tsr_status tsri_plan_tally(tsri_tally *tally, const tsri_plan *plan)
{
    return plan->device.backend->heap->out(tally, plan->tally, sizeof *tally);
}

tsr_status tsri_plan_backward(tsri_plan *plan)
{
    tsr_status st = TSR_OK;
    for (int64_t k = plan->count - 1; k >= 0; k--) {
        tsri_planned *s = &plan->step[k];
        double start = time_of(plan);
        if (s->idle)
            continue;
        TSR_TRY(tsri_op_backward(&s->op, plan->device));
        if (plan->timed)
            s->seconds_backward = time_of(plan) - start;
    }
done:
    return st;
}

void tsri_plan_norm_momentum(tsri_plan *plan, double momentum)
{
    for (int64_t k = 0; k < plan->count; k++)
        plan->step[k].op.momentum = momentum;
}

/* ---- Parts -------------------------------------------------------------------------------- */

tsr_status tsri_plan_write_gradient(tsri_plan *plan, const void *from)
{
    const tsri_heap *heap = plan->device.backend->heap;
    return heap->in(plan->output_grad, from, tsri_plan_output_bytes(plan));
}

tsr_status tsri_plan_gradient_from(tsri_plan *plan, const tsri_plan *behind)
{
    const tsri_heap *heap = plan->device.backend->heap;
    return heap->within(plan->output_grad, behind->entry_grad, tsri_plan_output_bytes(plan));
}

tsr_status tsri_plan_read_entry_gradient(void *to, const tsri_plan *plan)
{
    return plan->device.backend->heap->out(to, plan->entry_grad, tsri_plan_entry_bytes(plan));
}

int64_t tsri_plan_entry_bytes(const tsri_plan *plan)
{
    tsri_shape s = plan->net->value[plan->net->entry].shape;
    return plan->batch * tsri_shape_count(s) * plan->device.backend->real_bytes;
}

int64_t tsri_plan_output_bytes(const tsri_plan *plan)
{
    const tsri_op *last = &plan->step[plan->count - 1].op;
    return plan->batch * tsri_shape_count(last->out) * plan->device.backend->real_bytes;
}

/* An op as the host sees it. */
typedef struct shown {
    tsri_op op;
    tsri_mapping x, y, dx, dy, saved;
} shown;

static void hide(shown *h)
{
    tsri_map_close(&h->x);
    tsri_map_close(&h->y);
    tsri_map_close(&h->dx);
    tsri_map_close(&h->dy);
    tsri_map_close(&h->saved);
}

static tsr_status open_one(tsri_mapping *mapping, const tsri_plan *plan, const void *at,
                           int64_t bytes)
{
    return tsri_map_open(mapping, plan->device.backend->heap, tsri_mem_bound(at), bytes);
}

static tsr_status show(shown *h, const tsri_plan *plan, const tsri_planned *s)
{
    tsr_status st = TSR_OK;
    const tsri_op *op = &s->op;
    int64_t real = plan->device.backend->real_bytes;
    int64_t in = op->n * tsri_shape_count(op->in) * real;
    int64_t out = op->n * tsri_shape_count(op->out) * real;
    bool hosts = s->in == 0 && !plan->input; /* the op reads the host's x itself */
    *h = (shown){.op = *op};
    TSR_TRY(open_one(&h->x, plan, hosts ? NULL : op->x, in));
    TSR_TRY(open_one(&h->y, plan, op->y, out));
    TSR_TRY(open_one(&h->dx, plan, op->dx, in));
    TSR_TRY(open_one(&h->dy, plan, op->dy, out));
    TSR_TRY(open_one(&h->saved, plan, op->saved, op->saved_bytes));
    h->op.x = hosts ? op->x : h->x.host;
    h->op.y = h->y.host;
    h->op.dx = h->dx.host;
    h->op.dy = h->dy.host;
    h->op.saved = h->saved.host;
done:
    return st;
}

tsr_status tsri_plan_backward_each(tsri_plan *plan, tsri_plan_visit visit, void *context)
{
    tsr_status st = TSR_OK;
    shown seen = {0};
    for (int64_t k = plan->count - 1; k >= 0; k--) {
        tsri_planned *s = &plan->step[k];
        if (s->idle)
            continue;
        TSR_TRY(tsri_op_backward(&s->op, plan->device));
        TSR_TRY(show(&seen, plan, s));
        TSR_TRY(visit(context, &seen.op, s->layer));
        hide(&seen);
    }
done:
    hide(&seen);
    return st;
}

tsr_status tsri_plan_backward_there(tsri_plan *plan, tsri_plan_visit visit, void *context)
{
    tsr_status st = TSR_OK;
    for (int64_t k = plan->count - 1; k >= 0; k--) {
        tsri_planned *s = &plan->step[k];
        if (s->idle)
            continue;
        TSR_TRY(tsri_op_backward(&s->op, plan->device));
        TSR_TRY(visit(context, &s->op, s->layer));
    }
done:
    return st;
}

/* ---- Looking ------------------------------------------------------------------------------ */

tsri_store *tsri_plan_store(const tsri_plan *plan)
{
    return plan->store;
}

tsri_device tsri_plan_device(const tsri_plan *plan)
{
    return plan->device;
}

int64_t tsri_plan_batch(const tsri_plan *plan)
{
    return plan->batch;
}

bool tsri_plan_timed(const tsri_plan *plan)
{
    return plan->timed;
}

int64_t tsri_plan_bytes(const tsri_plan *plan)
{
    return plan->arena_bytes + tsri_plan_gates_bytes(plan);
}

int64_t tsri_plan_bytes_unshared(const tsri_plan *plan)
{
    return plan->unshared_bytes + tsri_plan_gates_bytes(plan);
}

int64_t tsri_plan_ops(const tsri_plan *plan)
{
    return plan->count;
}

const tsri_op *tsri_plan_op(const tsri_plan *plan, int64_t i, const char **name)
{
    if (name)
        *name = plan->step[i].layer->name;
    return &plan->step[i].op;
}

tsr_status tsri_plan_call(tsri_plan *plan, int64_t i, bool backward)
{
    tsri_planned *s = &plan->step[i];
    if (!backward)
        return tsri_op_forward(&s->op, plan->device);
    return s->idle ? TSR_OK : tsri_op_backward(&s->op, plan->device);
}

void tsri_plan_time(tsri_plan *plan, bool on)
{
    plan->timed = on;
}

void tsri_plan_op_seconds(const tsri_plan *plan, int64_t i, double *forward, double *backward)
{
    *forward = plan->step[i].seconds_forward;
    *backward = plan->step[i].seconds_backward;
}
