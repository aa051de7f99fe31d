/* plan.c - making a plan, running it, looking at it. */
#include "net/plan_parts.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <string.h>

static tsr_status make(tsri_plan **out, const tsri_plan *like)
{
    tsr_status st = TSR_OK;
    tsri_plan *plan = NULL;
    *out = NULL;
    TSR_TRY(tsri_alloc(&plan, 1, sizeof *plan));
    *plan = *like;
    TSR_TRY(tsri_plan_steps(plan));
    TSR_TRY(tsri_plan_memory(plan));
    *out = plan;
    plan = NULL;
done:
    tsri_plan_destroy(plan);
    return st;
}

tsr_status tsri_plan_create(tsri_plan **out, tsri_store *store, const tsri_backend *backend,
                            tsri_pool *pool, int64_t batch, bool training)
{
    tsri_plan like = {.net = store->net,
                      .store = store,
                      .backend = backend,
                      .pool = pool,
                      .batch = batch,
                      .training = training,
                      .gradients = training};
    return make(out, &like);
}

tsr_status tsri_plan_measure(int64_t *bytes, const tsri_net *net, const tsri_backend *backend,
                             tsri_pool *pool, int64_t batch)
{
    tsr_status st = TSR_OK;
    tsri_plan *plan = NULL;
    tsri_store none = {.net = net, .real_bytes = backend->real_bytes};
    tsri_plan like = {.net = net,
                      .store = &none,
                      .backend = backend,
                      .pool = pool,
                      .batch = batch,
                      .training = true,
                      .gradients = true,
                      .dry = true};
    TSR_TRY(make(&plan, &like));
    *bytes = tsri_plan_bytes(plan) + plan->input_bytes;
done:
    tsri_plan_destroy(plan);
    return st;
}

tsr_status tsri_plan_create_frozen(tsri_plan **out, tsri_store *store, const tsri_backend *backend,
                                   tsri_pool *pool, int64_t batch, bool gradients)
{
    tsri_plan like = {.net = store->net,
                      .store = store,
                      .backend = backend,
                      .pool = pool,
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
}

tsr_status tsri_plan_renew(tsri_plan **plan)
{
    tsr_status st = TSR_OK;
    tsri_plan *p = *plan;
    undo_steps(p);
    *p = (tsri_plan){.net = p->net,
                     .store = p->store,
                     .backend = p->backend,
                     .pool = p->pool,
                     .batch = p->batch,
                     .training = p->training,
                     .frozen = p->frozen,
                     .gradients = p->gradients,
                     .timed = p->timed,
                     .arena = p->arena,
                     .arena_room = p->arena_room,
                     .input = p->input};
    TSR_TRY(tsri_plan_steps(p));
    TSR_TRY(tsri_plan_memory(p));
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
    tsri_free(plan->arena);
    tsri_free(plan->input);
    tsri_free(plan);
}

/* ---- Running ------------------------------------------------------------------------------ */

/* [N, C, H, W] to [N, H, W, C]. */
static void put_channels_last(float *to, const float *x, int64_t n, tsri_shape s)
{
    int64_t pixels = s.h * s.w;
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < s.c; c++)
            for (int64_t p = 0; p < pixels; p++)
                to[(i * pixels + p) * s.c + c] = x[(i * s.c + c) * pixels + p];
}

/* [N, T, C] to [T, N, C], in the backend's type. */
static void turn_input(tsri_plan *plan, const float *x)
{
    tsri_shape s = plan->net->input;
    bool wide = plan->backend->real_bytes == sizeof(double);
    for (int64_t n = 0; n < plan->batch; n++)
        for (int64_t l = 0; l < s.h; l++) {
            int64_t to = (l * plan->batch + n) * s.c, from = (n * s.h + l) * s.c;
            for (int64_t c = 0; c < s.c; c++)
                if (wide)
                    ((double *)plan->input)[to + c] = (double)x[from + c];
                else
                    ((float *)plan->input)[to + c] = x[from + c];
        }
}

static void take_input(tsri_plan *plan, const float *x)
{
    if (plan->turned) {
        turn_input(plan, x);
        return;
    }
    int64_t count = plan->batch * tsri_shape_count(plan->net->input);
    if (plan->input && plan->backend->real_bytes == sizeof(float)) {
        put_channels_last(plan->input, x, plan->batch, plan->net->input);
        return;
    }
    for (int64_t i = 0; plan->input && i < count; i++)
        ((double *)plan->input)[i] = (double)x[i];
    for (int64_t k = 0; !plan->input && k < plan->count; k++)
        if (plan->step[k].in == 0)
            plan->step[k].op.x = x;
}

static void count_batch(tsri_plan *plan, const tsri_step *s)
{
    if (s->layer->tracked < 0)
        return;
    void *n = tsri_store_at(plan->store, plan->store->w, s->layer->tracked);
    if (plan->backend->real_bytes == sizeof(double))
        *(double *)n += 1;
    else
        *(float *)n += 1;
}

void tsri_plan_lengths(tsri_plan *plan, const int32_t *length)
{
    plan->length = length;
    for (int64_t k = 0; k < plan->count; k++)
        plan->step[k].op.length = length;
}

tsr_status tsri_plan_forward(tsri_plan *plan, const float *x)
{
    tsr_status st = TSR_OK;
    if (plan->entry)
        memcpy(plan->entry, x, (size_t)tsri_plan_entry_bytes(plan));
    else
        take_input(plan, x);
    for (int64_t k = 0; k < plan->count; k++) {
        tsri_step *s = &plan->step[k];
        double start = plan->timed ? tsri_clock() : 0;
        if (s->for_gates && plan->gates_given)
            continue;
        TSR_TRY(s->op.kernel->forward(&s->op));
        if (plan->training && !plan->frozen)
            count_batch(plan, s);
        if (plan->timed)
            s->seconds_forward = tsri_clock() - start;
    }
done:
    return st;
}

const void *tsri_plan_output(const tsri_plan *plan)
{
    return plan->step[plan->count - 1].op.y;
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
    return plan->backend->loss(loss, plan->pool);
}

tsr_status tsri_plan_backward(tsri_plan *plan)
{
    tsr_status st = TSR_OK;
    for (int64_t k = plan->count - 1; k >= 0; k--) {
        tsri_step *s = &plan->step[k];
        double start = plan->timed ? tsri_clock() : 0;
        if (s->idle)
            continue;
        TSR_TRY(s->op.kernel->backward(&s->op));
        if (plan->timed)
            s->seconds_backward = tsri_clock() - start;
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

void *tsri_plan_output_gradient(const tsri_plan *plan)
{
    return plan->step[plan->count - 1].op.dy;
}

const void *tsri_plan_entry_gradient(const tsri_plan *plan)
{
    return plan->entry_grad;
}

int64_t tsri_plan_entry_bytes(const tsri_plan *plan)
{
    tsri_shape s = plan->net->value[plan->net->entry].shape;
    return plan->batch * tsri_shape_count(s) * plan->backend->real_bytes;
}

int64_t tsri_plan_output_bytes(const tsri_plan *plan)
{
    const tsri_op *last = &plan->step[plan->count - 1].op;
    return plan->batch * tsri_shape_count(last->out) * plan->backend->real_bytes;
}

tsr_status tsri_plan_backward_each(tsri_plan *plan, tsri_plan_visit visit, void *context)
{
    tsr_status st = TSR_OK;
    for (int64_t k = plan->count - 1; k >= 0; k--) {
        tsri_step *s = &plan->step[k];
        if (s->idle)
            continue;
        TSR_TRY(s->op.kernel->backward(&s->op));
        TSR_TRY(visit(context, &s->op, s->layer));
    }
done:
    return st;
}

/* ---- Looking ------------------------------------------------------------------------------ */

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

void tsri_plan_time(tsri_plan *plan, bool on)
{
    plan->timed = on;
}

void tsri_plan_op_seconds(const tsri_plan *plan, int64_t i, double *forward, double *backward)
{
    *forward = plan->step[i].seconds_forward;
    *backward = plan->step[i].seconds_backward;
}
