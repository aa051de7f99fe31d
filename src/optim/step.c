/* step.c - one step of training. Every scheme's step goes through here. */
#include "optim/step.h"

tsr_status tsri_step_init(tsri_step *step, tsri_plan *plan, const tsri_aim *aim,
                          const tsri_optim *rule)
{
    *step = (tsri_step){.plan = plan, .aim = *aim};
    if (!rule)
        return TSR_OK;
    return tsri_optimiser_init(&step->optimiser, rule, tsri_plan_store(plan),
                               tsri_plan_device(plan));
}

void tsri_step_fini(tsri_step *step)
{
    if (!step->plan)
        return;
    const tsri_backend *backend = tsri_plan_device(step->plan).backend;
    tsri_shown *const shown[] = {&step->label, &step->target, &step->length, &step->weight,
                                 &step->mean,  &step->index,  &step->move};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        tsri_shown_fini(shown[i], backend->heap);
    if (step->tape)
        backend->tape->forget(step->tape);
    tsri_optimiser_fini(&step->optimiser);
    *step = (tsri_step){0};
}

/* ---- A batch where the device reads it ----------------------------------------------------- */

/* *at = where the device finds `bytes` of the host's: there, or in memory of its own, which stays
 * where it is from step to step. Behind `bytes` it has `room`, of zeros. NULL stays NULL. */
static tsr_status show(const void **at, const tsri_step *step, tsri_shown *shown, const void *host,
                       int64_t bytes, int64_t room)
{
    tsr_status st = TSR_OK;
    const tsri_backend *backend = tsri_plan_device(step->plan).backend;
    *at = host;
    if (!host || backend->can.reads_host)
        return TSR_OK;
    TSR_TRY(tsri_shown_set(shown, backend->heap, host, bytes, room));
    *at = tsri_mem_bind(shown->mem);
done:
    return st;
}

/* Rows of the plan that the batch fills from `first` on. */
static int64_t rows_of(const tsri_step *step, const tsri_batch *b, int64_t first)
{
    int64_t left = b->n - first, most = tsri_plan_batch(step->plan);
    return left < most ? left : most;
}

/* The batch has memory for all rows of the plan, whatever b->n is. */
tsr_status tsri_step_lengths(tsri_step *step, const tsri_batch *b, int64_t first)
{
    int64_t bytes = tsri_plan_batch(step->plan) * (int64_t)sizeof *b->length;
    const void *length = NULL;
    tsr_status st =
        show(&length, step, &step->length, b->length ? b->length + first : NULL, bytes, bytes);
    tsri_plan_lengths(step->plan, length);
    return st;
}

/* Which samples the device is to draw. */
static tsr_status show_rows(tsri_step *step, const tsri_batch *b, int64_t first)
{
    tsr_status st = TSR_OK;
    int64_t rows = tsri_plan_batch(step->plan);
    int64_t index_bytes = rows * (int64_t)sizeof *b->index;
    int64_t move_bytes = rows * (int64_t)sizeof(tsri_move);
    const void *index = NULL, *move = NULL;
    TSR_TRY(show(&index, step, &step->index, b->index + first, index_bytes, index_bytes));
    TSR_TRY(show(&move, step, &step->move, b->move ? b->move + 3 * first : NULL, move_bytes,
                 move_bytes));
    step->drawing =
        (tsri_drawing){.from = step->resident, .index = step->index.mem, .move = step->move.mem};
    tsri_plan_draws(&step->drawing, step->plan);
done:
    return st;
}

/* Inputs, lengths and gates. */
static tsr_status enter(tsri_step *step, const tsri_batch *b, int64_t first)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = tsri_plan_store(step->plan)->net;
    TSR_TRY(tsri_step_lengths(step, b, first));
    if (step->gates)
        TSR_TRY(tsri_plan_use_gates(step->plan, step->gates, b->index + first));
    if (step->resident)
        TSR_TRY(show_rows(step, b, first));
    else
        TSR_TRY(tsri_plan_enter(step->plan, b->x + first * tsri_shape_count(net->input)));
done:
    return st;
}

/* All ops, on the device alone. */
static tsr_status pass(tsri_step *step)
{
    tsr_status st = TSR_OK;
    if (step->resident)
        TSR_TRY(tsri_device_draw(tsri_plan_device(step->plan), &step->drawing));
    TSR_TRY(tsri_plan_pass(step->plan));
done:
    return st;
}

/* Over all of the batch, of which the loss may be of a part: parts add up to PyTorch's mean. */
static double weight_mean(const tsri_aim *aim, const tsri_batch *b)
{
    double sum = 0;
    for (int64_t i = 0; b->label && i < b->n; i++)
        sum += aim->weight[b->label[i]];
    return sum / (double)b->n;
}

static tsr_status show_weights(tsri_step *step, const tsri_batch *b)
{
    tsr_status st = TSR_OK;
    const void *weight = NULL, *mean = NULL;
    const tsri_net *net = tsri_plan_store(step->plan)->net;
    int64_t bytes = net->outputs * (int64_t)sizeof *step->aim.weight;
    step->weight_mean = weight_mean(&step->aim, b);
    TSR_TRY(show(&weight, step, &step->weight, step->aim.weight, bytes, bytes));
    TSR_TRY(show(&mean, step, &step->mean, &step->weight_mean, sizeof step->weight_mean,
                 sizeof step->weight_mean));
    step->loss.weight = weight;
    step->loss.weight_mean = mean;
done:
    return st;
}

/* Targets of resident samples are drawn like the samples. */
static tsr_status show_goals(const void **target, tsri_step *step)
{
    tsr_status st = TSR_OK;
    const tsri_resident *r = step->resident;
    int64_t rows = tsri_plan_batch(step->plan);
    if (!step->target.mem)
        TSR_TRY(r->heap->take(&step->target.mem, rows * r->targets * (int64_t)sizeof(float)));
    step->goals = (tsri_resident){.heap = r->heap,
                                  .n = r->n,
                                  .shape = {r->targets, 1, 1},
                                  .dim = r->targets,
                                  .numbers = r->target};
    step->goal = (tsri_drawing){
        .from = &step->goals, .count = rows, .index = step->index.mem, .x = step->target.mem};
    *target = tsri_mem_bind(step->target.mem);
done:
    return st;
}

/* Labels or targets. */
static tsr_status show_labels(tsri_step *step, const tsri_batch *b, int64_t first)
{
    tsr_status st = TSR_OK;
    int64_t rows = rows_of(step, b, first), room = tsri_plan_batch(step->plan);
    int64_t outputs = tsri_plan_store(step->plan)->net->outputs;
    int64_t row = outputs * (int64_t)sizeof *b->target;
    const void *label = NULL, *target = NULL;
    TSR_TRY(show(&label, step, &step->label, b->label ? b->label + first : NULL,
                 rows * (int64_t)sizeof *b->label, room * (int64_t)sizeof *b->label));
    if (b->target && step->resident && step->resident->target)
        TSR_TRY(show_goals(&target, step));
    else
        TSR_TRY(show(&target, step, &step->target, b->target ? b->target + first * outputs : NULL,
                     rows * row, room * row));
    step->loss = (tsri_loss){.kind = step->aim.kind,
                             .valid = rows,
                             .label = label,
                             .target = target,
                             .smoothing = step->aim.smoothing};
    if (step->aim.weight)
        TSR_TRY(show_weights(step, b));
done:
    return st;
}

/* The loss, on the device alone. */
static tsr_status judge(tsri_step *step)
{
    tsr_status st = TSR_OK;
    if (step->goal.from)
        TSR_TRY(tsri_device_draw(tsri_plan_device(step->plan), &step->goal));
    TSR_TRY(tsri_plan_loss(step->plan, &step->loss));
done:
    return st;
}

/* ---- The parts of a step ------------------------------------------------------------------- */

tsr_status tsri_step_forward(tsri_step *step, const tsri_batch *b, int64_t first)
{
    tsr_status st = enter(step, b, first);
    return st == TSR_OK ? pass(step) : st;
}

tsr_status tsri_step_judge(tsri_step *step, const tsri_batch *b, int64_t first)
{
    tsr_status st = show_labels(step, b, first);
    return st == TSR_OK ? judge(step) : st;
}

tsr_status tsri_step_gradient(tsri_step *step, const tsri_batch *b, int64_t first)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_step_forward(step, b, first)); /* f(W; B)     */
    TSR_TRY(tsri_step_judge(step, b, first));   /* L_B(W)      */
    TSR_TRY(tsri_plan_backward(step->plan));    /* grad L_B(W) */
done:
    return st;
}

tsr_status tsri_step_update(tsri_step *step, double rate, int64_t seen)
{
    tsr_status st = tsri_optimiser_set(&step->optimiser, rate, seen);
    return st == TSR_OK ? tsri_optimiser_step(&step->optimiser) : st;
}

tsr_status tsri_step_keep(tsri_mem *to, const tsri_step *step)
{
    return tsri_plan_keep_tally(to, step->plan);
}

tsr_status tsri_step_tally(tsri_tally *tally, const tsri_step *step)
{
    return tsri_plan_tally(tally, step->plan);
}

tsr_status tsri_step_value(double *loss, const tsri_step *step)
{
    tsri_tally tally;
    tsr_status st = tsri_step_tally(&tally, step);
    if (st == TSR_OK)
        *loss = tsri_loss_value(&step->loss, &tally);
    return st;
}

/* ---- All of it ----------------------------------------------------------------------------- */

/* On the device alone: nothing here depends on the batch or the rate but through memory. */
static tsr_status work(tsri_step *step)
{
    tsr_status st = TSR_OK;
    TSR_TRY(pass(step));
    TSR_TRY(judge(step));
    TSR_TRY(tsri_plan_backward(step->plan));
    TSR_TRY(tsri_optimiser_step(&step->optimiser));
done:
    return st;
}

static tsr_status record(tsri_step *step, const tsri_tape_ops *tape, tsri_device device)
{
    tsr_status st = tape->begin(device);
    if (st != TSR_OK)
        return st;
    st = work(step);
    tsr_status ended = tape->end(&step->tape, device);
    return st == TSR_OK ? ended : st;
}

/* A tape is of full batches, and of ops that are not timed one by one. */
static bool can_replay(const tsri_step *step, const tsri_batch *b)
{
    return tsri_plan_device(step->plan).backend->tape && !tsri_plan_timed(step->plan) &&
           b->n >= tsri_plan_batch(step->plan);
}

tsr_status tsri_step_run(tsri_step *step, const tsri_batch *b, double rate, int64_t seen)
{
    tsr_status st = TSR_OK;
    tsri_device device = tsri_plan_device(step->plan);
    const tsri_tape_ops *tape = device.backend->tape;
    TSR_TRY(enter(step, b, 0));
    TSR_TRY(show_labels(step, b, 0));
    TSR_TRY(tsri_optimiser_set(&step->optimiser, rate, seen));
    bool replay = can_replay(step, b);
    if (replay && !step->tape)
        TSR_TRY(record(step, tape, device));
    TSR_TRY(replay ? tape->play(step->tape, device) : work(step));
done:
    return st;
}
