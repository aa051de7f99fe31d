/* plan_gates.c - which values have gates, which steps only serve gates, and who needs gradients.
 *
 * A value wants a gradient when something trained stands before it. Of a gated net the first layer
 * and the whole net of the gates are fixed: their steps are idle in backward, and when the gates
 * are given (gate_table.h) the net of the gates is idle in forward, too.
 *
 * Gates are made for what a gate layer makes, and, on a backend that skips, for what a linear layer
 * with a ReLU makes where that may be skipped; linear layers that read such a value see them.
 *
 * A part of a net (depth.h) must skip what the whole does, or its sums would have another order. It
 * sees the value that enters it, not the gates that made it. So where the net may be cut, cut or
 * not, who reads the value finds from its numbers what is on; of a ReLU that is the same.
 */
#include "net/plan_parts.h"

#include "base/alloc.h"
#include "net/depth.h"

static bool trained(const tsri_net *net, int p)
{
    return p >= 0 && net->param[p].role == TSRI_TRAINED;
}

tsr_status tsri_plan_wants(tsri_plan *plan)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = plan->net;
    TSR_TRY(tsri_alloc(&plan->wants, net->values, sizeof *plan->wants));
    if (net->entry != 0) /* of a part, the part before it */
        plan->wants[net->entry] = true;
    for (int64_t i = 0; i < net->layers; i++) {
        const tsri_layer *l = &net->layer[i];
        bool second = l->add >= 0 && l->kind != TSRI_GATE && plan->wants[l->add];
        plan->wants[l->out] =
            plan->wants[l->in] || second || trained(net, l->weight) || trained(net, l->bias);
    }
    for (int64_t i = 0; i < net->layers; i++)
        if (net->layer[i].kind == TSRI_RECURRENT && net->layer[i].in != 0)
            plan->wants[net->layer[i].in] = true;        /* its backward works in that memory */
    plan->wants[net->layer[net->layers - 1].out] = true; /* the loss writes it */
done:
    return st;
}

/* A step is for gates only if its output is read by nothing but gates and such steps. */
static void find_gate_only(tsri_plan *plan)
{
    for (int64_t k = plan->count - 1; k >= 0; k--) {
        tsri_planned *s = &plan->step[k];
        bool read = false, otherwise = k == plan->count - 1;
        for (int64_t j = k + 1; j < plan->count; j++) {
            const tsri_planned *r = &plan->step[j];
            bool gates = r->op.kind == TSRI_GATE || r->op.gate;
            read = read || r->in == s->out || r->add == s->out;
            otherwise =
                otherwise || (r->in == s->out && !r->for_gates) || (r->add == s->out && !gates);
        }
        s->for_gates = read && !otherwise;
    }
}

/* A ReLU's zeros are other ones in every step; from this size on, looking for them is repaid well
 * (docs/grelu.md). */
static bool repaid(const tsri_plan *plan, int64_t units)
{
    enum { BATCH = 128, UNITS = 512 };
    return plan->batch >= BATCH && units >= UNITS;
}

/* May zeros of a linear layer's ReLU be skipped? */
static bool skips_relu(const tsri_plan *plan, int64_t units)
{
    const tsri_net *net = plan->net;
    return net->skip_relu || (net->skip_gates && (net->gated || repaid(plan, units)));
}

/* Does the step make a value whose zeros are worth knowing? */
static bool makes_gates(const tsri_plan *plan, const tsri_planned *s)
{
    if (s->op.kind == TSRI_GATE || s->op.gate)
        return true;
    if (s->op.kind != TSRI_LINEAR || !s->op.relu || !plan->device.backend->can.skips_zeros ||
        s->for_gates || plan->net->bf16 || s->op.positions > 1)
        return false;
    return skips_relu(plan, tsri_shape_count(s->op.out));
}

static tsr_status take_words(tsri_gates *g, const tsri_plan *plan)
{
    tsr_status st = plan->device.backend->heap->take(&g->mem, g->bytes);
    g->word = tsri_mem_bind(g->mem);
    return st;
}

/* Gates of `value`, which a ReLU made or a gate. */
static tsr_status make_gates(tsri_gates **out, tsri_plan *plan, int value, bool relu)
{
    tsr_status st = TSR_OK;
    tsri_gates *g = &plan->gates[plan->gated++];
    *out = g;
    g->n = plan->batch;
    g->units = tsri_shape_count(plan->net->value[value].shape);
    g->words = (g->units + 63) / 64;
    g->dry = plan->dry;
    g->bytes = g->n * g->words * (int64_t)sizeof *g->word;
    if (!plan->dry)
        TSR_TRY(take_words(g, plan));
    g->skip = plan->device.backend->can.skips_zeros && !plan->net->bf16 &&
              (relu ? plan->net->skip_relu || plan->net->skip_gates : plan->net->skip_gates);
done:
    return st;
}

/* The linear layers that read `value` see them. */
static void show_gates(tsri_gates *g, tsri_plan *plan, int value)
{
    for (int64_t k = 0; g->skip && k < plan->count; k++) {
        tsri_planned *r = &plan->step[k];
        if (r->op.kind == TSRI_LINEAR && r->in == value && !r->for_gates)
            r->op.x_gates = g;
    }
}

/* Gates that readers make of the numbers of `value`. */
static tsr_status make_read_gates(tsri_plan *plan, int value, bool relu)
{
    tsr_status st = TSR_OK;
    tsri_gates *g = NULL;
    TSR_TRY(make_gates(&g, plan, value, relu));
    g->entered = true;
    show_gates(g, plan, value);
done:
    return st;
}

static tsr_status make_entry_gates(tsri_plan *plan)
{
    const tsri_net *net = plan->net;
    bool relu = net->entry_relu && skips_relu(plan, tsri_shape_count(net->value[net->entry].shape));
    if (!plan->device.backend->can.skips_zeros || net->bf16 || !(relu || net->entry_gate))
        return TSR_OK;
    return make_read_gates(plan, net->entry, relu);
}

/* May the net be cut right after what makes the value? */
static bool may_cross(const tsri_net *net, int value)
{
    for (int64_t i = 1; i < net->layers; i++)
        if (net->layer[i - 1].out == value)
            return tsri_depth_cuttable(net, i);
    return false;
}

static tsr_status make_step_gates(tsri_plan *plan, tsri_planned *s)
{
    tsr_status st = TSR_OK;
    TSR_TRY(make_gates(&s->op.gates, plan, s->out, s->op.relu));
    if (!s->op.relu && s->op.gates->skip && may_cross(plan->net, s->out))
        TSR_TRY(make_read_gates(plan, s->out, false));
    else
        show_gates(s->op.gates, plan, s->out);
done:
    return st;
}

tsr_status tsri_plan_gates(tsri_plan *plan)
{
    tsr_status st = TSR_OK;
    find_gate_only(plan);
    TSR_TRY(tsri_alloc(&plan->gates, 2 * plan->count + 1, sizeof *plan->gates));
    TSR_TRY(make_entry_gates(plan));
    for (int64_t k = 0; k < plan->count; k++) {
        tsri_planned *s = &plan->step[k];
        s->idle = !plan->wants[s->out] || s->for_gates;
        if (makes_gates(plan, s))
            TSR_TRY(make_step_gates(plan, s));
    }
done:
    return st;
}

int64_t tsri_plan_gates_bytes(const tsri_plan *plan)
{
    int64_t bytes = 0;
    for (int64_t i = 0; i < plan->gated; i++)
        bytes += plan->gates[i].bytes;
    return bytes;
}

void tsri_plan_gates_free(tsri_plan *plan)
{
    for (int64_t i = 0; plan->gates && i < plan->gated; i++) {
        if (plan->gates[i].forget)
            plan->gates[i].forget(plan->gates[i].inspected);
        plan->device.backend->heap->drop(plan->gates[i].mem);
    }
    tsri_free(plan->gates);
    tsri_free(plan->wants);
}
