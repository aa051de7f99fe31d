/* plan_memory.c - where every buffer lies.
 *
 * Time: forward of step k happens at k, the loss at K (the number of steps), backward of step k at
 * 2K - k. A buffer is needed from its first to its last use:
 *
 *     value     forward of its producer and readers; in training also the backward of every kernel
 *               that says that it needs its input, or its output for the ReLU's mask
 *     gradient  backward of the value's readers and of its producer; values whose gradients share
 *               memory (fused sums) share one buffer
 *     saved     forward and backward of its step; a virtual norm's until its convs are done
 *     scratch   always: one for all steps, they run one after the other; `late` likewise, for
 *               what runs beside the steps that follow
 *     packed    always: weights as products want them, filled in before the first step
 *
 * A backend may still read an op's x and dy when it goes on to the next ops in backward (lingers):
 * they then live so much longer.
 */
#include "net/plan_parts.h"

#include "base/alloc.h"

typedef struct book {
    tsri_plan *plan;
    tsri_buffer *buffer; /* values, gradients, saved, packed, scratch, late */
    tsri_buffer *value, *grad, *saved, *packed, *scratch, *late;
    int64_t count;
} book;

static void live(tsri_buffer *b, int64_t time)
{
    if (time < b->born)
        b->born = time;
    if (time > b->dies)
        b->dies = time;
}

/* The value in whose buffer the gradient of v lies. */
static int home(const tsri_plan *plan, int v)
{
    while (plan->alias[v] != v)
        v = plan->alias[v];
    return v;
}

/* Of what a step makes. */
static int64_t bytes_of(const tsri_plan *plan, const tsri_op *op)
{
    return op->narrow_y ? tsri_narrow_bytes(op->n, op->out)
                        : op->n * tsri_shape_count(op->out) * plan->device.backend->real_bytes;
}

/* The largest that any step asks for, always there. */
static void note_shared(book *b, tsri_buffer *shared, int64_t bytes)
{
    if (bytes > shared->bytes)
        shared->bytes = bytes;
    live(shared, 0);
    live(shared, 2 * b->plan->count);
}

static void note_forward(book *b, int64_t k)
{
    const tsri_planned *s = &b->plan->step[k];
    if (!s->op.virtual)
        b->value[s->out].bytes = bytes_of(b->plan, &s->op);
    live(&b->value[s->out], k);
    live(&b->value[s->in], k);
    if (s->add >= 0)
        live(&b->value[s->add], k);
    b->saved[k].bytes = s->op.saved_bytes;
    live(&b->saved[k], k);
    if (s->norm >= 0)
        live(&b->saved[s->norm], k);
    if (s->fed >= 0)
        live(&b->saved[s->fed], k);
    if (s->source >= 0)
        live(&b->saved[s->source], k);
    note_shared(b, &b->packed[k], b->plan->packer ? 0 : s->op.packed_bytes);
    note_shared(b, b->scratch, s->op.scratch_bytes);
    note_shared(b, b->late, s->op.late_bytes);
}

static void note_backward(book *b, int64_t k)
{
    const tsri_planned *s = &b->plan->step[k];
    int64_t back = 2 * b->plan->count - k, end = 2 * b->plan->count;
    int64_t still = s->op.dw ? back + b->plan->device.backend->can.lingers : back;
    bool masked = s->op.relu || s->op.kind == TSRI_RELU || s->op.kind == TSRI_RECURRENT;
    tsri_buffer *dy = &b->grad[home(b->plan, s->out)];
    live(&b->saved[k], back);
    if (s->norm >= 0)
        live(&b->saved[s->norm], back);
    still = still < end ? still : end;
    if (s->op.kernel->backward_needs_x)
        live(&b->value[s->in], still);
    if (s->op.kernel->backward_needs_y && masked && !s->op.virtual)
        live(&b->value[s->out], back);
    dy->bytes = bytes_of(b->plan, &s->op);
    live(dy, back);
    live(dy, still);
    if (s->op.need_dx)
        live(&b->grad[home(b->plan, s->dx)], back);
    if (s->add > 0 && b->plan->wants[s->add])
        live(&b->grad[home(b->plan, s->add)], back);
}

/* The input of a part of a network lives from the start, its gradient until the end. */
static void note_entry(book *b)
{
    tsri_plan *plan = b->plan;
    int entry = plan->net->entry;
    int64_t bytes = tsri_plan_entry_bytes(plan);
    b->value[entry].bytes = bytes;
    live(&b->value[entry], 0);
    if (!plan->training)
        return;
    b->grad[home(plan, entry)].bytes = bytes;
    live(&b->grad[home(plan, entry)], 2 * plan->count);
}

static void find_lifetimes(book *b)
{
    tsri_plan *plan = b->plan;
    int64_t K = plan->count;
    int last = plan->step[K - 1].out;
    for (int64_t i = 0; i < b->count; i++)
        b->buffer[i] = (tsri_buffer){.born = INT64_MAX, .dies = -1};
    for (int64_t k = 0; k < K; k++) {
        note_forward(b, k);
        if (plan->training && !plan->step[k].idle)
            note_backward(b, k);
    }
    live(&b->value[last], K); /* the loss reads the output and writes its gradient */
    if (plan->training)
        live(&b->grad[home(plan, last)], K);
    b->value[0].bytes = 0; /* the input is the caller's, or plan->input */
    if (plan->net->entry != 0)
        note_entry(b);
}

static tsri_mem *place_of(const book *b, const tsri_buffer *buffer)
{
    return tsri_mem_at(b->plan->arena, buffer->offset);
}

static void *at(const book *b, const tsri_buffer *buffer)
{
    return tsri_mem_bind(place_of(b, buffer));
}

static void bind(book *b)
{
    tsri_plan *plan = b->plan;
    for (int64_t k = 0; k < plan->count; k++) {
        tsri_planned *s = &plan->step[k];
        s->op.x = s->in == 0 ? tsri_mem_bind(plan->input) : at(b, &b->value[s->in]);
        s->op.add = s->add < 0 ? NULL : at(b, &b->value[s->add]);
        s->op.y = s->op.virtual ? NULL : at(b, &b->value[s->out]);
        s->op.dx = s->op.need_dx ? at(b, &b->grad[home(plan, s->dx)]) : NULL;
        s->op.dadd = s->owns_dadd ? at(b, &b->grad[home(plan, s->add)]) : NULL;
        s->op.dy = at(b, &b->grad[home(plan, s->out)]);
        s->op.saved = at(b, &b->saved[k]);
        s->op.packed = plan->packer ? s->op.packed : at(b, &b->packed[k]);
        s->op.scratch = at(b, b->scratch);
        s->op.late = at(b, b->late);
        s->op.pre = s->norm < 0 ? NULL : at(b, &b->saved[s->norm]);
    }
    if (plan->net->entry != 0) {
        plan->entry = place_of(b, &b->value[plan->net->entry]);
        plan->entry_grad = place_of(b, &b->grad[home(plan, plan->net->entry)]);
    }
    int last = plan->step[plan->count - 1].out;
    plan->output = place_of(b, &b->value[last]);
    plan->output_grad = place_of(b, &b->grad[home(plan, last)]);
}

/* How the device reads what comes in. Linear layers read it as the loader gives it: channels
 * outermost, as PyTorch flattens. */
static tsri_layout input_layout(const tsri_plan *plan)
{
    tsri_shape s = plan->net->input;
    bool images = plan->net->entry == 0 && s.c > 1 && s.h * s.w > 1 &&
                  plan->device.backend->can.channels_last;
    bool sequences = false;
    for (int64_t k = 0; k < plan->count; k++) {
        const tsri_planned *step = &plan->step[k];
        sequences = sequences || (step->in == 0 && step->op.positions > 0);
        images = images && !(step->in == 0 && step->op.kind == TSRI_LINEAR);
    }
    return sequences ? TSRI_POSITIONS_FIRST : images ? TSRI_CHANNELS_LAST : TSRI_AS_GIVEN;
}

/* Can the device read the loader's floats where they are? */
static bool reads_host(const tsri_plan *plan)
{
    const tsri_backend *b = plan->device.backend;
    return b->can.reads_host && b->real_bytes == sizeof(float) && plan->layout == TSRI_AS_GIVEN;
}

/* Every op writes a buffer before it reads it, so what an older plan left does not matter. A plan
 * that outgrew its arena gets a sixteenth more, so that shares of changing sizes soon fit. */
static tsr_status make_arena(tsri_plan *plan)
{
    tsr_status st = TSR_OK;
    bool grows = plan->arena != NULL;
    if (grows && plan->arena_bytes <= plan->arena_room)
        return TSR_OK;
    plan->device.backend->heap->drop(plan->arena);
    plan->arena = NULL;
    plan->arena_room = plan->arena_bytes + (grows ? plan->arena_bytes / 16 : 0);
    TSR_TRY(plan->device.backend->heap->take(&plan->arena, plan->arena_room));
done:
    return st;
}

tsr_status tsri_plan_memory(tsri_plan *plan)
{
    tsr_status st = TSR_OK;
    int64_t values = plan->net->values;
    book b = {.plan = plan, .count = 2 * (values + plan->count) + 2};
    TSR_TRY(tsri_alloc(&b.buffer, b.count, sizeof *b.buffer));
    b.value = b.buffer;
    b.grad = b.value + values;
    b.saved = b.grad + values;
    b.packed = b.saved + plan->count;
    b.scratch = b.packed + plan->count;
    b.late = b.scratch + 1;
    find_lifetimes(&b);
    for (int64_t i = 0; i < b.count; i++)
        plan->unshared_bytes += b.buffer[i].bytes;
    TSR_TRY(tsri_arena_pack(b.buffer, b.count, &plan->arena_bytes));
    plan->layout = input_layout(plan);
    if (plan->net->entry == 0 && !reads_host(plan))
        plan->input_bytes =
            plan->batch * tsri_shape_count(plan->net->input) * plan->device.backend->real_bytes;
    if (!plan->dry) {
        TSR_TRY(make_arena(plan));
        if (plan->input_bytes > 0 && !plan->input)
            TSR_TRY(plan->device.backend->heap->take(&plan->input, plan->input_bytes));
        if (!plan->tally)
            TSR_TRY(plan->device.backend->heap->take(&plan->tally, sizeof(tsri_tally)));
        bind(&b);
    }
done:
    tsri_free(b.buffer);
    return st;
}
