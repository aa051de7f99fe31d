/* gpipe_stage.c - gpipe with its stages in other processes, as one of the stages sees it.
 *
 * Its orders name its layers, its neighbours and its numbers. Then it works round after round, as far
 * as the coordinator lets it: activations of every micro-batch come from the rank before it and go to
 * the rank after it, gradients go back, and it updates its own weights. Frames come in any order and
 * wait until they are needed; a call of the coordinator interrupts whatever it is doing.
 */
#include "scheme/schemes.h"

#include "base/alloc.h"
#include "optim/optimiser.h"
#include "optim/step.h"
#include "run/rate.h"
#include "scheme/gpipe_parts.h"

#include <string.h>

static const double LOOK = 0.25; /* seconds between looks for a dead coordinator */

typedef struct hand {
    tsri_run *run;
    tsri_pipe *pipe;
    tsri_comm *comm;
    int64_t forming; /* of its orders; -1 = it has none */
    int64_t latest;  /* forming that it has heard of: what is older is dropped */
    int64_t mark;    /* its forming and place, as its frames say them */
    tsri_orders orders;
    tsri_frame next;          /* orders that came and are not obeyed yet */
    int64_t go, go_forming;   /* work up to this round; said in that forming */
    bool wanted;              /* and then its numbers */
    int64_t done;             /* rounds */
    tsri_traffic traffic;     /* of this round */
    tsri_frame *there, *back; /* [M] activations and gradients that have arrived */
    bool turned;              /* what it was doing is no longer wanted */
    bool over;
} hand;

/* ---- Hearing ------------------------------------------------------------------------------ */

/* A micro-batch that came: it waits until it is its turn. Those of older formings go. */
static void file(hand *h, tsri_frame *slot, tsri_frame *f)
{
    int64_t m = tsri_mark_what(f->head->share), forming = tsri_mark_forming(f->head->share);
    if (m >= h->pipe->micro.count || forming < h->latest ||
        (slot[m].head && tsri_mark_forming(slot[m].head->share) > forming))
        return;
    tsri_comm_release(h->comm, &slot[m]);
    slot[m] = *f;
    *f = (tsri_frame){0};
}

static void take_orders(hand *h, tsri_frame *f)
{
    if (tsri_mark_forming(f->head->share) < h->latest)
        return;
    h->latest = tsri_mark_forming(f->head->share);
    tsri_comm_release(h->comm, &h->next);
    h->next = *f;
    h->turned = true;
    *f = (tsri_frame){0};
}

/* It may overtake the orders it belongs to. */
static void take_go(hand *h, const tsri_frame *f)
{
    int64_t forming = tsri_mark_forming(f->head->share);
    if (forming < h->go_forming || (forming == h->go_forming && f->head->round < h->go))
        return;
    h->go_forming = forming;
    h->go = f->head->round;
    h->wanted = tsri_mark_what(f->head->share) != 0;
}

static tsr_status answer(hand *h, const tsri_frame *call)
{
    tsr_status st = TSR_OK;
    tsri_frame f = {0};
    if (tsri_mark_forming(call->head->share) < h->latest)
        return TSR_OK;
    h->latest = tsri_mark_forming(call->head->share);
    h->turned = true;
    h->forming = -1; /* until orders come */
    TSR_TRY(tsri_comm_frame(h->comm, &f, 0));
    tsri_frame_seal(&f, TSRI_HERE, -1, call->head->share, 0);
    TSR_TRY(tsri_comm_send(h->comm, 0, &f));
done:
    return st;
}

/* A coordinator that is gone may have said before that the run is over: that is looked for
 * first. */
static tsr_status listen_once(hand *h, double seconds)
{
    tsr_status st = TSR_OK;
    tsri_frame f = {0};
    bool gone = tsri_crew_orphaned(h->run->process.crew);
    TSR_TRY(tsri_comm_receive(h->comm, &f, gone ? LOOK : seconds));
    TSR_CHECK(f.head || !gone, TSR_FAILURE,
              "the coordinator is gone: its last checkpoint is whole, add --resume to go on");
    if (!f.head)
        return TSR_OK;
    switch (f.head->kind) {
    case TSRI_FORWARD:
        file(h, h->there, &f);
        break;
    case TSRI_BACKWARD:
        file(h, h->back, &f);
        break;
    case TSRI_ORDERS:
        take_orders(h, &f);
        break;
    case TSRI_GO:
        take_go(h, &f);
        break;
    case TSRI_CALL:
        TSR_TRY(answer(h, &f));
        break;
    case TSRI_END:
        h->over = h->turned = true;
        break;
    default:
        break;
    }
done:
    tsri_comm_release(h->comm, &f);
    return st;
}

/* Waits for micro-batch m of this round. h->turned = it is no longer wanted. */
static tsr_status await(hand *h, const tsri_frame *slot, int64_t m, int64_t bytes)
{
    tsr_status st = TSR_OK;
    for (;;) {
        const tsri_head *head = slot[m].head;
        if (h->turned)
            return TSR_OK;
        if (head && tsri_mark_forming(head->share) == h->forming && head->round == h->done &&
            head->bytes == bytes) {
            h->traffic.received += bytes;
            return TSR_OK;
        }
        TSR_TRY(listen_once(h, LOOK));
    }
done:
    return st;
}

/* Micro-batch m of the plan goes on: what came out of it, or the gradient of what came in. */
static tsr_status pass_on(hand *h, int64_t to, tsri_frame_kind kind, int64_t m,
                          const tsri_plan *plan)
{
    tsr_status st = TSR_OK;
    tsri_frame f = {0};
    bool ahead = kind == TSRI_FORWARD;
    int64_t bytes = ahead ? tsri_plan_output_bytes(plan) : tsri_plan_entry_bytes(plan);
    TSR_TRY(tsri_comm_frame(h->comm, &f, bytes));
    TSR_TRY(ahead ? tsri_plan_read_output(f.bytes, plan, h->pipe->micro.size)
                  : tsri_plan_read_entry_gradient(f.bytes, plan));
    tsri_frame_seal(&f, kind, h->done, tsri_mark(h->forming, m), bytes);
    TSR_TRY(tsri_comm_send(h->comm, (int)to, &f));
    h->traffic.sent += bytes;
done:
    tsri_comm_release(h->comm, &f);
    return st;
}

/* ---- A round ------------------------------------------------------------------------------ */

static tsr_status forward(hand *h, int64_t m)
{
    tsr_status st = TSR_OK;
    tsri_pipe *p = h->pipe;
    tsri_plan *plan = p->stage[0].plan[m];
    tsri_step *step = &p->stage[0].step[m];
    int64_t row = m * p->micro.size;
    bool first = h->orders.before < 0;
    if (!first)
        TSR_TRY(await(h, h->there, m, tsri_plan_entry_bytes(plan)));
    if (h->turned)
        return TSR_OK;
    if (p->batch)
        TSR_TRY(tsri_step_lengths(step, p->batch, row));
    TSR_TRY(first ? tsri_step_forward(step, p->batch, row)
                  : tsri_plan_forward(plan, (const float *)(const void *)h->there[m].bytes));
    tsri_comm_release(h->comm, &h->there[m]);
    if (h->orders.behind >= 0) {
        TSR_TRY(pass_on(h, h->orders.behind, TSRI_FORWARD, m, plan));
    } else {
        TSR_TRY(tsri_step_judge(step, p->batch, row));
        TSR_TRY(tsri_step_value(&p->loss[m], step));
    }
done:
    return st;
}

static tsr_status backward(hand *h, int64_t m)
{
    tsr_status st = TSR_OK;
    tsri_pipe *p = h->pipe;
    tsri_pipe_stage *s = &p->stage[0];
    int64_t bytes = tsri_plan_output_bytes(s->plan[m]);
    if (h->orders.behind >= 0)
        TSR_TRY(await(h, h->back, m, bytes));
    if (h->turned)
        return TSR_OK;
    if (h->orders.behind >= 0) {
        TSR_TRY(tsri_plan_write_gradient(s->plan[m], h->back[m].bytes));
        tsri_comm_release(h->comm, &h->back[m]);
    }
    TSR_TRY(tsri_plan_backward(s->plan[m]));
    TSR_TRY(tsri_micro_add(&p->micro, &p->run->store, p->run->device, m, s->low, s->high));
    if (h->orders.before >= 0)
        TSR_TRY(pass_on(h, h->orders.before, TSRI_BACKWARD, m, s->plan[m]));
done:
    return st;
}

/* Where the round's time went, bytes sent, and the losses if they are made here. */
static tsr_status report(hand *h)
{
    tsr_status st = TSR_OK;
    tsri_frame f = {0};
    size_t losses = h->orders.behind < 0 ? (size_t)h->pipe->micro.count * sizeof *h->pipe->loss : 0;
    int64_t bytes = (int64_t)(sizeof h->traffic + losses);
    TSR_TRY(tsri_comm_frame(h->comm, &f, bytes));
    memcpy(f.bytes, &h->traffic, sizeof h->traffic);
    memcpy(f.bytes + sizeof h->traffic, h->pipe->loss, losses);
    tsri_frame_seal(&f, TSRI_DONE, h->done, h->mark, bytes);
    tsri_frame_note(&f, tsri_crew_spent(h->run->process.crew));
    TSR_TRY(tsri_comm_send(h->comm, 0, &f));
done:
    return st;
}

/* Inputs are needed in front, labels at the end, lengths of sequences everywhere. */
static tsr_status load(hand *h)
{
    tsr_status st = TSR_OK;
    tsri_pipe *p = h->pipe;
    p->batch = NULL;
    if (h->orders.before >= 0 && h->orders.behind >= 0 && !h->run->data->sequences)
        return TSR_OK;
    TSR_TRY(tsri_pipe_load(p));
    TSR_TRY(tsri_loader_get(p->loader, &p->batch, h->done));
done:
    return st;
}

static tsr_status one_round(hand *h)
{
    tsr_status st = TSR_OK;
    tsri_pipe *p = h->pipe;
    tsri_pipe_stage *s = &p->stage[0];
    h->run->position.round = h->done;
    h->traffic = (tsri_traffic){0};
    TSR_TRY(load(h));
    for (int64_t m = 0; m < p->micro.count && !h->turned; m++)
        TSR_TRY(forward(h, m));
    for (int64_t m = 0; m < p->micro.count && !h->turned; m++)
        TSR_TRY(backward(h, m));
    if (h->turned)
        return TSR_OK;
    TSR_TRY(tsri_optimiser_set(
        &p->optimiser, tsri_run_rate(&h->run->settings, &h->run->position, h->run->position.round),
        tsri_run_steps(&h->run->settings, &h->run->position)));
    TSR_TRY(tsri_optimiser_step_part(&p->optimiser, s->low, s->high));
    TSR_TRY(report(h));
    h->done++;
done:
    return st;
}

/* ---- Orders ------------------------------------------------------------------------------- */

static tsr_status obey(hand *h)
{
    tsr_status st = TSR_OK;
    tsri_pipe *p = h->pipe;
    const tsri_frame *f = &h->next;
    tsri_orders o = {0};
    h->turned = false;
    TSR_CHECK(f->head->bytes >= (int64_t)sizeof o, TSR_FAILURE, "orders of %lld bytes are not ours",
              (long long)f->head->bytes);
    memcpy(&o, f->bytes, sizeof o);
    TSR_CHECK(o.from >= 0 && o.from < o.to && o.to <= h->run->net->layers &&
                  o.before < h->comm->size && o.behind < h->comm->size,
              TSR_FAILURE, "layers %lld to %lld are not a stage of this network", (long long)o.from,
              (long long)o.to);
    if (p->stages == 0 || o.from != h->orders.from || o.to != h->orders.to) {
        tsri_pipe_clear(p);
        TSR_TRY(tsri_pipe_add(p, h->run->device.pool, o.from, o.to));
    }
    int64_t due = (int64_t)sizeof o +
                  tsri_part_bytes(tsri_optim_vectors(&h->run->settings.optim), p->stage[0].net);
    TSR_CHECK(f->head->bytes == due, TSR_FAILURE,
              "a stage came with %lld bytes, %lld were due: the ranks disagree",
              (long long)f->head->bytes, (long long)due);
    TSR_TRY(tsri_part_unpack(&h->run->store, p->stage[0].net, f->bytes + sizeof o));
    h->orders = o;
    h->mark = f->head->share;
    h->forming = tsri_mark_forming(f->head->share);
    h->done = f->head->round;
    tsri_comm_release(h->comm, &h->next);
done:
    return st;
}

static tsr_status give_numbers(hand *h)
{
    tsr_status st = TSR_OK;
    tsri_frame f = {0};
    const tsri_net *part = h->pipe->stage[0].net;
    int64_t bytes = tsri_part_bytes(tsri_optim_vectors(&h->run->settings.optim), part);
    h->wanted = false;
    TSR_TRY(tsri_comm_frame(h->comm, &f, bytes));
    TSR_TRY(tsri_part_pack(f.bytes, &h->run->store, part));
    tsri_frame_seal(&f, TSRI_NUMBERS, h->done, h->mark, bytes);
    TSR_TRY(tsri_comm_send(h->comm, 0, &f));
done:
    tsri_comm_release(h->comm, &f);
    return st;
}

static tsr_status serve(hand *h)
{
    tsr_status st = TSR_OK;
    while (!h->over) {
        bool posted = h->forming >= 0 && h->go_forming == h->forming;
        if (h->next.head) {
            TSR_TRY(obey(h));
        } else if (posted && h->done < h->go) {
            TSR_TRY(one_round(h));
            if (!h->over) /* the only stage waits for no frame: without this it would hear no call */
                TSR_TRY(listen_once(h, 0));
        } else if (posted && h->wanted) {
            TSR_TRY(give_numbers(h));
        } else {
            TSR_TRY(listen_once(h, LOOK));
        }
    }
done:
    return st;
}

tsr_status tsri_gpipe_serve(tsri_run *run)
{
    tsr_status st = TSR_OK;
    hand h = {.run = run,
              .pipe = run->scheme_state,
              .comm = run->process.crew->comm,
              .forming = -1,
              .go_forming = -1};
    int64_t count = h.pipe->micro.count;
    TSR_TRY(tsri_alloc(&h.there, count, sizeof *h.there));
    TSR_TRY(tsri_alloc(&h.back, count, sizeof *h.back));
    TSR_TRY(serve(&h));
done:
    for (int64_t m = 0; m < count; m++) {
        if (h.there)
            tsri_comm_release(h.comm, &h.there[m]);
        if (h.back)
            tsri_comm_release(h.comm, &h.back[m]);
    }
    tsri_comm_release(h.comm, &h.next);
    tsri_free(h.there);
    tsri_free(h.back);
    return st;
}
