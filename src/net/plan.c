/* plan.c - one forward and backward, laid out once.
 *
 * Time, for the lifetimes of buffers: forward of op k happens at k, the loss at K (the number of
 * ops), backward of op k at 2K - k.
 *
 *     value     born at its producer's forward; dies at its last reader: a consumer's forward, or,
 * in training, the backward of whichever kernel says that it needs its input or output gradient
 * born at the backward of the value's last consumer; dies at its producer's backward saved     from
 * forward to backward of its op (in inference: just during forward) scratch   one for all ops: they
 * run one after the other
 */
#include "net/plan.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "net/arena.h"

#include <string.h>

typedef struct step {
    tsri_op op;
    const tsri_layer *layer;
    int in, out; /* values; out is the ReLU's when that is fused */
    double seconds_forward, seconds_backward;
} step;

struct tsri_plan {
    const tsri_net *net;
    tsri_store *store;
    const tsri_backend *backend;
    tsri_pool *pool;
    int64_t batch;
    bool training, timed;
    step *steps; /* [count] */
    int64_t count;
    tsri_buffer *buffer; /* [values] values, [values] gradients, saved ones, scratch */
    int64_t buffers;
    char *arena;
    int64_t arena_bytes, unshared_bytes;
    void *input;      /* a copy of x in the backend's type, or NULL when x is used as it is */
    int64_t *readers; /* [values] layers that read a value */
};

/* ---- Which layers become which ops -------------------------------------------------------- */

static bool fuses_relu(tsri_kind kind)
{
    return kind == TSRI_LINEAR || kind == TSRI_NORM;
}

/* A ReLU right behind its only producer's op, whose output nobody else reads. */
static bool is_fused_relu(const tsri_plan *plan, int64_t i)
{
    const tsri_layer *l = &plan->net->layer[i];
    return l->kind == TSRI_RELU && i > 0 && plan->net->layer[i - 1].out == l->in &&
           plan->readers[l->in] == 1 && fuses_relu(plan->net->layer[i - 1].kind);
}

static const void *weight(const tsri_plan *plan, int p)
{
    return p < 0 ? NULL : tsri_store_at(plan->store, plan->store->w, p);
}

static void *gradient(const tsri_plan *plan, int p)
{
    return p < 0 || !plan->training ? NULL : tsri_store_at(plan->store, plan->store->g, p);
}

static void fill_step(tsri_plan *plan, step *s, const tsri_layer *l)
{
    const tsri_net *net = plan->net;
    s->layer = l;
    s->in = l->in;
    s->out = l->out;
    s->op =
        (tsri_op){.kind = l->kind,
                  .n = plan->batch,
                  .in = net->value[l->in].shape,
                  .out = net->value[l->out].shape,
                  .training = plan->training,
                  .eps = l->eps,
                  .momentum = l->momentum,
                  .need_dx = l->in != 0,
                  .w = weight(plan, l->weight),
                  .b = weight(plan, l->bias),
                  .dw = gradient(plan, l->weight),
                  .db = gradient(plan, l->bias),
                  .mean = l->mean < 0 ? NULL : tsri_store_at(plan->store, plan->store->w, l->mean),
                  .var = l->var < 0 ? NULL : tsri_store_at(plan->store, plan->store->w, l->var),
                  .pool = plan->pool};
}

static tsr_status make_steps(tsri_plan *plan)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = plan->net;
    TSR_TRY(tsri_alloc(&plan->steps, net->layers, sizeof *plan->steps));
    TSR_TRY(tsri_alloc(&plan->readers, net->values, sizeof *plan->readers));
    for (int64_t i = 0; i < net->layers; i++)
        plan->readers[net->layer[i].in]++;
    for (int64_t i = 0; i < net->layers; i++) {
        const tsri_layer *l = &net->layer[i];
        TSR_CHECK(!(plan->training && l->kind == TSRI_NORM) ||
                      plan->batch * net->value[l->in].shape.h * net->value[l->in].shape.w > 1,
                  TSR_USAGE,
                  "batch norm (%s) cannot train on batches of one sample: use batch: 2 or more",
                  l->name);
        if (is_fused_relu(plan, i)) {
            step *before = &plan->steps[plan->count - 1];
            before->op.relu = true;
            before->out = l->out;
            continue;
        }
        fill_step(plan, &plan->steps[plan->count++], l);
    }
    for (int64_t k = 0; k < plan->count; k++)
        TSR_TRY(tsri_op_setup(&plan->steps[k].op, plan->backend));
done:
    return st;
}

/* The first op to run backward writes a value's gradient, later ones add to it. */
static void choose_writers(tsri_plan *plan)
{
    for (int64_t k = 0; k < plan->count; k++)
        for (int64_t later = k + 1; later < plan->count; later++)
            if (plan->steps[later].in == plan->steps[k].in)
                plan->steps[k].op.dx_add = true;
}

/* ---- Memory ------------------------------------------------------------------------------- */

static void live(tsri_buffer *b, int64_t time)
{
    if (time < b->born)
        b->born = time;
    if (time > b->dies)
        b->dies = time;
}

static void find_lifetimes(tsri_plan *plan)
{
    int64_t K = plan->count, values = plan->net->values, scratch = 0;
    tsri_buffer *value = plan->buffer, *grad = value + values, *saved = grad + values;
    for (int64_t i = 0; i < plan->buffers; i++)
        plan->buffer[i] = (tsri_buffer){.born = INT64_MAX, .dies = -1};
    for (int64_t k = 0; k < K; k++) {
        step *s = &plan->steps[k];
        const tsri_op *op = &s->op;
        int64_t back = 2 * K - k;
        value[s->out].bytes = op->n * tsri_shape_count(op->out) * plan->backend->real_bytes;
        live(&value[s->out], k);
        live(&value[s->in], k);
        saved[k].bytes = op->saved_bytes;
        live(&saved[k], k);
        if (op->scratch_bytes > scratch)
            scratch = op->scratch_bytes;
        if (!plan->training)
            continue;
        live(&saved[k], back);
        if (op->kernel->backward_needs_x)
            live(&value[s->in], back);
        if (op->kernel->backward_needs_y)
            live(&value[s->out], back);
        grad[s->out].bytes = value[s->out].bytes;
        live(&grad[s->out], back);
        if (s->in != 0)
            live(&grad[s->in], back);
    }
    live(&value[plan->steps[K - 1].out], K); /* the loss reads the output and writes its gradient */
    if (plan->training)
        live(&grad[plan->steps[K - 1].out], K);
    value[0].bytes = 0; /* the input is the caller's, or plan->input */
    saved[K].bytes = scratch;
    saved[K].born = 0;
    saved[K].dies = 2 * K;
}

static tsr_status lay_out(tsri_plan *plan)
{
    tsr_status st = TSR_OK;
    int64_t values = plan->net->values, K = plan->count;
    plan->buffers = 2 * values + K + 1;
    TSR_TRY(tsri_alloc(&plan->buffer, plan->buffers, sizeof *plan->buffer));
    find_lifetimes(plan);
    for (int64_t i = 0; i < plan->buffers; i++)
        plan->unshared_bytes += plan->buffer[i].bytes;
    TSR_TRY(tsri_arena_pack(plan->buffer, plan->buffers, &plan->arena_bytes));
    TSR_TRY(tsri_alloc(&plan->arena, plan->arena_bytes, 1));
    if (plan->backend->real_bytes != sizeof(float))
        TSR_TRY(tsri_alloc(&plan->input, plan->batch * tsri_shape_count(plan->net->input),
                           (size_t)plan->backend->real_bytes));
    for (int64_t k = 0; k < K; k++) {
        step *s = &plan->steps[k];
        s->op.x = s->in == 0 ? plan->input : plan->arena + plan->buffer[s->in].offset;
        s->op.y = plan->arena + plan->buffer[s->out].offset;
        s->op.dx = s->in == 0 ? NULL : plan->arena + plan->buffer[values + s->in].offset;
        s->op.dy = plan->arena + plan->buffer[values + s->out].offset;
        s->op.saved = plan->arena + plan->buffer[2 * values + k].offset;
        s->op.scratch = plan->arena + plan->buffer[2 * values + K].offset;
    }
done:
    return st;
}

tsr_status tsri_plan_create(tsri_plan **out, tsri_store *store, const tsri_backend *backend,
                            tsri_pool *pool, int64_t batch, bool training)
{
    tsr_status st = TSR_OK;
    tsri_plan *plan = NULL;
    *out = NULL;
    TSR_TRY(tsri_alloc(&plan, 1, sizeof *plan));
    plan->net = store->net;
    plan->store = store;
    plan->backend = backend;
    plan->pool = pool;
    plan->batch = batch;
    plan->training = training;
    TSR_TRY(make_steps(plan));
    choose_writers(plan);
    TSR_TRY(lay_out(plan));
    *out = plan;
    plan = NULL;
done:
    tsri_plan_destroy(plan);
    return st;
}

void tsri_plan_destroy(tsri_plan *plan)
{
    if (!plan)
        return;
    for (int64_t k = 0; k < plan->count; k++)
        tsri_op_teardown(&plan->steps[k].op);
    tsri_free(plan->steps);
    tsri_free(plan->readers);
    tsri_free(plan->buffer);
    tsri_free(plan->arena);
    tsri_free(plan->input);
    tsri_free(plan);
}

/* ---- Running ------------------------------------------------------------------------------ */

static void take_input(tsri_plan *plan, const float *x)
{
    if (plan->input) {
        double *to = plan->input;
        for (int64_t i = 0; i < plan->batch * tsri_shape_count(plan->net->input); i++)
            to[i] = (double)x[i];
        return;
    }
    for (int64_t k = 0; k < plan->count; k++)
        if (plan->steps[k].in == 0)
            plan->steps[k].op.x = x;
}

static void count_batch(tsri_plan *plan, const step *s)
{
    if (s->layer->tracked < 0)
        return;
    void *n = tsri_store_at(plan->store, plan->store->w, s->layer->tracked);
    if (plan->backend->real_bytes == 8)
        *(double *)n += 1;
    else
        *(float *)n += 1;
}

tsr_status tsri_plan_forward(tsri_plan *plan, const float *x)
{
    tsr_status st = TSR_OK;
    take_input(plan, x);
    for (int64_t k = 0; k < plan->count; k++) {
        step *s = &plan->steps[k];
        double start = plan->timed ? tsri_clock() : 0;
        TSR_TRY(s->op.kernel->forward(&s->op));
        if (plan->training)
            count_batch(plan, s);
        if (plan->timed)
            s->seconds_forward = tsri_clock() - start;
    }
done:
    return st;
}

const void *tsri_plan_output(const tsri_plan *plan)
{
    return plan->steps[plan->count - 1].op.y;
}

tsr_status tsri_plan_loss(tsri_plan *plan, tsri_loss *loss)
{
    tsri_op *last = &plan->steps[plan->count - 1].op;
    loss->n = plan->batch;
    loss->outputs = tsri_shape_count(last->out);
    loss->x = last->y;
    loss->dx = plan->training ? last->dy : NULL;
    return plan->backend->loss(loss, plan->pool);
}

tsr_status tsri_plan_backward(tsri_plan *plan)
{
    tsr_status st = TSR_OK;
    for (int64_t k = plan->count - 1; k >= 0; k--) {
        step *s = &plan->steps[k];
        double start = plan->timed ? tsri_clock() : 0;
        TSR_TRY(s->op.kernel->backward(&s->op));
        if (plan->timed)
            s->seconds_backward = tsri_clock() - start;
    }
done:
    return st;
}

/* ---- What was planned --------------------------------------------------------------------- */

int64_t tsri_plan_bytes(const tsri_plan *plan)
{
    return plan->arena_bytes;
}

int64_t tsri_plan_bytes_unshared(const tsri_plan *plan)
{
    return plan->unshared_bytes;
}

int64_t tsri_plan_ops(const tsri_plan *plan)
{
    return plan->count;
}

const tsri_op *tsri_plan_op(const tsri_plan *plan, int64_t i, const char **name)
{
    if (name)
        *name = plan->steps[i].layer->name;
    return &plan->steps[i].op;
}

void tsri_plan_time(tsri_plan *plan, bool on)
{
    plan->timed = on;
}

void tsri_plan_op_seconds(const tsri_plan *plan, int64_t i, double *forward, double *backward)
{
    *forward = plan->steps[i].seconds_forward;
    *backward = plan->steps[i].seconds_backward;
}
