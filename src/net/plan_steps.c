/* plan_steps.c - which layers become which ops.
 *
 * Four things are fused, each only where it changes no number but the last bits:
 *
 *     linear, gate    ->  linear with gate    on a backend that skips
 *     X, relu         ->  X with relu          X = linear, norm, add; read by nobody else
 *     X, add          ->  X with add           X = conv, norm; the other summand is ready before X
 *     norm relu, conv ->  virtual norm, conv   channels last; every reader of the norm is a conv
 *
 * A virtual norm computes its statistics and stores nothing else; the convs apply scale, shift and
 * ReLU as they read.
 *
 * The gradient of a fused summand is the gradient of the sum. So both share memory (alias), which
 * is right when nobody wrote the summand's gradient before: all other readers of the summand must
 * stand before the sum, so that their backward comes after it.
 */
#include "net/plan_parts.h"
#include "net/readers.h"

#include "base/alloc.h"

typedef struct scan {
    tsri_plan *plan;
    tsri_readers of;
    bool *gone;      /* [layers] fused into another */
    bool *all_convs; /* [values] every reader is a conv */
} scan;

static void scan_free(scan *s)
{
    tsri_readers_fini(&s->of);
    tsri_free(s->gone);
    tsri_free(s->all_convs);
}

static tsr_status scan_net(scan *s, tsri_plan *plan)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = plan->net;
    *s = (scan){.plan = plan};
    TSR_TRY(tsri_readers_init(&s->of, net));
    TSR_TRY(tsri_alloc(&s->gone, net->layers, sizeof *s->gone));
    TSR_TRY(tsri_alloc(&s->all_convs, net->values, sizeof *s->all_convs));
    for (int64_t v = 0; v < net->values; v++)
        s->all_convs[v] = true;
    for (int64_t i = 0; i < net->layers; i++) {
        const tsri_layer *l = &net->layer[i];
        s->all_convs[l->in] = s->all_convs[l->in] && l->kind == TSRI_CONV;
        if (l->add >= 0)
            s->all_convs[l->add] = false;
    }
done:
    return st;
}

/* ---- One layer ---------------------------------------------------------------------------- */

static void *weight(const tsri_plan *plan, int p)
{
    return p < 0 ? NULL : tsri_mem_bind(tsri_store_at(plan->store, plan->store->w, p));
}

/* NULL also for what is never changed: kernels then do not compute it. */
static void *gradient(const tsri_plan *plan, int p)
{
    bool wanted = p >= 0 && plan->gradients && plan->net->param[p].role == TSRI_TRAINED;
    return wanted ? tsri_mem_bind(tsri_store_at(plan->store, plan->store->g, p)) : NULL;
}

static tsri_planned step_of(const tsri_plan *plan, int64_t i)
{
    const tsri_layer *l = &plan->net->layer[i];
    tsri_planned s = {.op = tsri_net_op(plan->net, i, plan->batch),
                      .layer = l,
                      .in = l->in,
                      .dx = l->in,
                      .out = l->out,
                      .add = l->add,
                      .norm = -1,
                      .fed = -1,
                      .source = -1};
    s.op.training = plan->training && !(plan->frozen && l->kind == TSRI_NORM);
    s.op.need_dx = plan->wants[l->in];
    s.op.w = weight(plan, l->weight);
    s.op.b = weight(plan, l->bias);
    s.op.dw = gradient(plan, l->weight);
    s.op.db = gradient(plan, l->bias);
    s.op.mean = weight(plan, l->mean);
    s.op.var = weight(plan, l->var);
    if (plan->device.backend->can.counts && s.op.training)
        s.op.tracked = weight(plan, l->tracked);
    s.op.pool = plan->device.pool;
    s.op.stream = plan->device.stream;
    s.op.crowd = plan->device.crowd;
    s.op.steady = plan->steady;
    return s;
}

/* ---- Fusing ------------------------------------------------------------------------------- */

static void fuse_relu(scan *s, tsri_planned *step)
{
    tsri_kind kind = step->op.kind;
    int64_t i = tsri_only_reader(&s->of, s->plan->net, step->out, TSRI_RELU);
    if (i < 0 || (kind != TSRI_LINEAR && kind != TSRI_NORM && kind != TSRI_ADD))
        return;
    step->op.relu = true;
    step->out = s->plan->net->layer[i].out;
    s->gone[i] = true;
}

/* The gate's value stays beside it as `add`, read by forward unless the gates are given. */
static void fuse_gate(scan *s, tsri_planned *step)
{
    int64_t i = tsri_only_reader(&s->of, s->plan->net, step->out, TSRI_GATE);
    if (i < 0 || step->op.kind != TSRI_LINEAR || step->op.relu ||
        !s->plan->device.backend->can.fused_gates || s->plan->net->bf16 ||
        s->plan->net->layer[i].in != step->out)
        return;
    step->op.gate = true;
    step->add = s->plan->net->layer[i].add;
    step->out = s->plan->net->layer[i].out;
    s->gone[i] = true;
}

/* May the gradient of summand `other` be the gradient of layer `sum` itself? Only if nobody wrote
 * it before: the sum is its last reader. The input has no gradient. */
static bool may_alias(const scan *s, int64_t sum, int other)
{
    return other != 0 && s->of.last[other] == sum;
}

static void fuse_add(scan *s, tsri_planned *step, int64_t i)
{
    int64_t sum = tsri_only_reader(&s->of, s->plan->net, step->out, TSRI_ADD);
    if (sum < 0 || (step->op.kind != TSRI_CONV && step->op.kind != TSRI_NORM))
        return;
    const tsri_layer *l = &s->plan->net->layer[sum];
    int other = l->in == step->out ? l->add : l->in;
    if (other == step->dx || s->of.producer[other] >= i || !may_alias(s, sum, other))
        return;
    step->add = other;
    step->out = l->out;
    s->gone[sum] = true;
}

/* The gradient of the second summand shares the memory of the sum's, where that is right: of a
 * fused one always (fuse_add saw to it). The sum is what comes out after a fused ReLU. */
static void share_summand(scan *s, tsri_planned *step, int64_t i)
{
    bool alone = step->op.kind == TSRI_ADD;
    if (step->op.kind == TSRI_GATE || step->op.gate)
        return;
    if (step->add >= 0 && (!alone || (step->add != step->in && may_alias(s, i, step->add))))
        s->plan->alias[step->add] = step->out;
}

static bool becomes_virtual(const scan *s, const tsri_planned *step)
{
    return s->plan->device.backend->can.virtual_norms && !s->plan->frozen && !s->plan->narrow &&
           step->op.kind == TSRI_NORM && step->op.relu && step->add < 0 &&
           s->of.count[step->out] > 0 && s->all_convs[step->out];
}

/* A conv whose input is a virtual norm reads that norm's input instead. */
static void read_through_norm(tsri_plan *plan, tsri_planned *step)
{
    for (int64_t k = 0; k < plan->count; k++)
        if (plan->step[k].op.virtual && plan->step[k].out == step->in) {
            step->norm = (int)k;
            step->in = plan->step[k].in;
        }
}

/* ---- bf16 --------------------------------------------------------------------------------- */

/* Values lie as bf16 when every kind of the network can: what comes in is read by products alone,
 * and a linear layer makes what goes out, both of them floats. A plan whose ops are looked at while
 * they run (frozen), or of a part of a network, has floats. */
static bool may_be_narrow(const tsri_plan *plan)
{
    const tsri_net *net = plan->net;
    uint32_t kinds = plan->device.backend->can.narrow;
    bool may = net->bf16 && kinds && !plan->frozen && net->entry == 0 &&
               net->layer[net->layers - 1].kind == TSRI_LINEAR;
    for (int64_t i = 0; may && i < net->layers; i++) {
        const tsri_layer *l = &net->layer[i];
        bool product = l->kind == TSRI_CONV || l->kind == TSRI_LINEAR;
        may = kinds >> l->kind & 1 && (l->in != 0 || product) && !l->each;
    }
    return may;
}

static tsri_shape flat(tsri_shape s)
{
    return (tsri_shape){tsri_shape_count(s), 1, 1};
}

/* What linear layers read is filled up as a vector, not pixel by pixel. */
static void choose_narrow(tsri_plan *plan)
{
    for (int64_t k = 0; plan->narrow && k < plan->count; k++) {
        tsri_op *op = &plan->step[k].op;
        op->narrow_x = plan->step[k].in != 0;
        op->narrow_y = k < plan->count - 1;
        op->in = op->kind == TSRI_LINEAR ? flat(op->in) : op->in;
        op->out = op->kind == TSRI_FLATTEN ? flat(op->out) : op->out;
    }
}

/* Norms whose statistics are computed by the op that makes their input. */
static void feed_norms(tsri_plan *plan)
{
    bool feeds = plan->narrow && plan->device.backend->can.feeds;
    for (int64_t k = 0; feeds && k < plan->count; k++) {
        tsri_planned *norm = &plan->step[k];
        for (int64_t j = 0; j < k && norm->op.kind == TSRI_NORM && norm->op.training; j++) {
            tsri_planned *from = &plan->step[j];
            bool makes = from->op.kind == TSRI_CONV || from->op.kind == TSRI_ADD;
            if (!makes || from->out != norm->in || from->fed >= 0)
                continue;
            from->fed = (int)k;
            from->op.feeds = &norm->op;
            norm->op.fed = true;
        }
    }
}

/* A recurrence keeps what it makes as its products read it; its neighbours may read that, too. */
static void meet_recurrences(tsri_plan *plan, const scan *s)
{
    for (int64_t k = 0; k + 1 < plan->count; k++) {
        tsri_planned *first = &plan->step[k], *then = &plan->step[k + 1];
        if (then->in != first->out)
            continue;
        if (first->op.kind == TSRI_RECURRENT) {
            then->source = (int)k;
            then->op.source = &first->op;
        }
        if (then->op.kind == TSRI_RECURRENT && !then->idle && s->of.count[first->out] == 1)
            first->op.reader = &then->op;
    }
}

/* Weights that another plan has packed are not packed again. */
static tsr_status list_packed(tsri_plan *plan)
{
    tsr_status st = TSR_OK;
    if (plan->packer)
        return TSR_OK;
    TSR_TRY(tsri_alloc(&plan->packed, plan->count, sizeof *plan->packed));
    for (int64_t k = 0; k < plan->count; k++)
        if (plan->step[k].op.packed_bytes > 0)
            plan->packed[plan->packs++] = &plan->step[k].op;
done:
    return st;
}

/* The steps of the other plan are the same: it was made for the same network, device and batch.
 * packed_bytes stays what setup said: kernels see by it what they are to read. */
static void use_packed(tsri_plan *plan, const tsri_plan *packer)
{
    for (int64_t k = 0; packer && k < plan->count; k++)
        plan->step[k].op.packed = packer->step[k].op.packed;
}

/* ---- The whole ---------------------------------------------------------------------------- */

/* Backward, the first op to reach a value's gradient writes it, later ones add to it. A gradient
 * that shares its sum's memory is there before anyone writes. */
static tsr_status choose_writers(tsri_plan *plan)
{
    tsr_status st = TSR_OK;
    bool *written = NULL;
    TSR_TRY(tsri_alloc(&written, plan->net->values, sizeof *written));
    for (int64_t k = plan->count - 1; k >= 0; k--) {
        tsri_planned *s = &plan->step[k];
        if (s->idle)
            continue;
        bool shared = s->add >= 0 && plan->alias[s->add] != s->add;
        if (shared)
            written[s->add] = true;
        s->op.dx_add = written[s->dx];
        written[s->dx] = true;
        if (s->add > 0 && !shared && plan->wants[s->add]) {
            s->owns_dadd = true;
            s->op.dadd_add = written[s->add];
            written[s->add] = true;
        }
    }
done:
    tsri_free(written);
    return st;
}

static tsr_status enough_samples(const tsri_plan *plan, const tsri_layer *l)
{
    tsri_shape s = plan->net->value[l->in].shape;
    if (plan->training && !plan->frozen && l->kind == TSRI_NORM && plan->batch * s.h * s.w < 2)
        return tsri_fail(
            TSR_USAGE,
            "batch norm (%s) cannot train on batches of one sample: use batch: 2 or more", l->name);
    return TSR_OK;
}

tsr_status tsri_plan_steps(tsri_plan *plan)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = plan->net;
    scan s = {0};
    TSR_TRY(tsri_alloc(&plan->step, net->layers, sizeof *plan->step));
    TSR_TRY(tsri_alloc(&plan->alias, net->values, sizeof *plan->alias));
    for (int64_t v = 0; v < net->values; v++)
        plan->alias[v] = (int)v;
    plan->narrow = may_be_narrow(plan);
    TSR_TRY(tsri_plan_wants(plan));
    TSR_TRY(scan_net(&s, plan));
    for (int64_t i = 0; i < net->layers; i++) {
        TSR_TRY(enough_samples(plan, &net->layer[i]));
        if (s.gone[i])
            continue;
        tsri_planned step = step_of(plan, i);
        fuse_gate(&s, &step);
        fuse_add(&s, &step, i);
        if (step.op.kind != TSRI_CONV && !step.op.gate)
            fuse_relu(&s, &step);
        share_summand(&s, &step, i);
        step.op.virtual = becomes_virtual(&s, &step);
        if (step.op.kind == TSRI_CONV)
            read_through_norm(plan, &step);
        plan->step[plan->count++] = step;
    }
    TSR_TRY(tsri_plan_gates(plan));
    TSR_TRY(choose_writers(plan));
    choose_narrow(plan);
    feed_norms(plan);
    meet_recurrences(plan, &s);
    for (int64_t k = 0; k < plan->count; k++)
        TSR_TRY(tsri_op_setup(&plan->step[k].op, plan->device.backend));
    use_packed(plan, plan->packer);
    TSR_TRY(list_packed(plan));
done:
    scan_free(&s);
    return st;
}
