/* gpipe_line.c - the stages of a pipeline in other ranks: forms the line, sends to it and receives.
 * gpipe_crew.c decides what follows. */
#include "scheme/gpipe_line.h"

#include "base/alloc.h"
#include "net/depth.h"

#include <string.h>

/* ---- Making and unmaking ------------------------------------------------------------------ */

static void disband(tsri_line *l)
{
    while (l->posts > 0) {
        tsri_post *p = &l->post[--l->posts];
        tsri_comm_release(l->crew->comm, &p->numbers);
        tsri_net_destroy(p->part);
        *p = (tsri_post){0};
    }
}

void tsri_line_destroy(tsri_line *l)
{
    if (!l)
        return;
    if (l->post)
        disband(l);
    tsri_free(l->post);
    tsri_free(l->loss);
    tsri_free(l->answered);
    tsri_free(l);
}

tsr_status tsri_line_create(tsri_line **out, tsri_pipe *p)
{
    tsr_status st = TSR_OK;
    tsri_line *l = NULL;
    TSR_TRY(tsri_alloc(&l, 1, sizeof *l));
    *l = (tsri_line){.pipe = p, .crew = p->run->process.crew, .kept = p->run->position.round};
    TSR_TRY(tsri_alloc(&l->post, p->run->settings.workers, sizeof *l->post));
    TSR_TRY(tsri_alloc(&l->loss, (TSRI_LINE_AHEAD + 1) * p->micro.count, sizeof *l->loss));
    TSR_TRY(tsri_alloc(&l->answered, l->crew->comm->size, sizeof *l->answered));
    *out = l;
    l = NULL;
done:
    tsri_line_destroy(l);
    return st;
}

/* ---- Saying ------------------------------------------------------------------------------- */

tsr_status tsri_line_say(tsri_line *l, int rank, tsri_frame_kind kind, int64_t round, int64_t what)
{
    tsr_status st = TSR_OK;
    tsri_frame f = {0};
    TSR_TRY(tsri_comm_frame(l->crew->comm, &f, 0));
    tsri_frame_seal(&f, kind, round, tsri_mark(l->forming, what), 0);
    TSR_TRY(tsri_comm_send(l->crew->comm, rank, &f));
done:
    return st;
}

tsr_status tsri_line_go(tsri_line *l, int64_t until, bool collect)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < l->posts; i++)
        TSR_TRY(tsri_line_say(l, l->post[i].rank, TSRI_GO, until, collect));
    l->granted = until;
done:
    return st;
}

static tsr_status give_orders(tsri_line *l, int64_t i)
{
    tsr_status st = TSR_OK;
    tsri_frame f = {0};
    tsri_post *p = &l->post[i];
    tsri_orders orders = {.from = p->from,
                          .to = p->to,
                          .before = i > 0 ? l->post[i - 1].rank : -1,
                          .behind = i + 1 < l->posts ? l->post[i + 1].rank : -1};
    int64_t bytes = (int64_t)sizeof orders +
                    tsri_part_bytes(tsri_optim_vectors(&l->pipe->run->settings.optim), p->part);
    TSR_TRY(tsri_comm_frame(l->crew->comm, &f, bytes));
    memcpy(f.bytes, &orders, sizeof orders);
    TSR_TRY(tsri_part_pack(f.bytes + sizeof orders, &l->pipe->run->store, p->part));
    tsri_frame_seal(&f, TSRI_ORDERS, l->kept, tsri_mark(l->forming, i), bytes);
    l->pipe->run->process.bytes_collected +=
        tsri_part_bytes(tsri_optim_vectors(&l->pipe->run->settings.optim), p->part);
    TSR_TRY(tsri_comm_send(l->crew->comm, p->rank, &f));
done:
    tsri_comm_release(l->crew->comm, &f);
    return st;
}

/* ---- Forming ------------------------------------------------------------------------------ */

tsr_status tsri_line_form(tsri_line *l)
{
    tsr_status st = TSR_OK;
    tsri_run *run = l->pipe->run;
    int64_t here = 0, taken = 0;
    for (int r = 1; r < l->crew->comm->size; r++)
        here += l->crew->member[r].here && !l->crew->member[r].gone;
    int64_t posts = here < run->settings.workers ? here : run->settings.workers;
    disband(l);
    for (int r = 1; taken < posts; r++) {
        if (!l->crew->member[r].here || l->crew->member[r].gone)
            continue;
        tsri_post *p = &l->post[l->posts++];
        *p = (tsri_post){.rank = r,
                         .from = l->pipe->begin[run->settings.workers * taken / posts],
                         .to = l->pipe->begin[run->settings.workers * (taken + 1) / posts],
                         .done = l->kept};
        TSR_TRY(tsri_net_part(&p->part, run->net, p->from, p->to));
        taken++;
    }
    l->forming++;
    l->granted = l->kept;
    for (int64_t i = 0; i < l->posts; i++)
        TSR_TRY(give_orders(l, i));
    l->since = tsri_crew_clock(l->crew);
    l->fresh = true;
    l->back = false;
done:
    return st;
}

/* ---- Hearing ------------------------------------------------------------------------------ */

void tsri_line_moved(tsri_line *l)
{
    l->since = tsri_crew_clock(l->crew);
    l->fresh = false;
}

/* A stage has done its round; the last one brings losses. */
static void note_done(tsri_line *l, int64_t i, const tsri_frame *f)
{
    tsri_post *p = &l->post[i];
    tsri_traffic t;
    int64_t count = l->pipe->micro.count;
    int64_t due = (int64_t)sizeof t + (i == l->posts - 1 ? count * (int64_t)sizeof(double) : 0);
    if (f->head->round != p->done || f->head->bytes != due) {
        l->crew->stale++;
        return;
    }
    memcpy(&t, f->bytes, sizeof t);
    l->pipe->run->position.bytes_total += t.sent;
    l->crew->member[p->rank].sent += t.sent;
    l->crew->member[p->rank].received += t.received;
    p->done++;
    if (i < l->posts - 1)
        return;
    memcpy(l->loss + f->head->round % (TSRI_LINE_AHEAD + 1) * count, f->bytes + sizeof t,
           (size_t)count * sizeof *l->loss);
    if (!l->fresh)
        tsri_crew_took(l->crew, tsri_crew_clock(l->crew) - l->since);
    tsri_line_moved(l);
}

static void keep_numbers(tsri_line *l, int64_t i, tsri_frame *f)
{
    tsri_post *p = &l->post[i];
    if (f->head->round != p->done ||
        f->head->bytes !=
            tsri_part_bytes(tsri_optim_vectors(&l->pipe->run->settings.optim), p->part)) {
        l->crew->stale++;
        return;
    }
    tsri_comm_release(l->crew->comm, &p->numbers);
    p->numbers = *f;
    *f = (tsri_frame){0};
    l->pipe->run->process.bytes_collected += p->numbers.head->bytes;
    tsri_line_moved(l);
}

static tsr_status take(tsri_line *l, tsri_frame *f)
{
    int64_t i = tsri_mark_what(f->head->share);
    bool ours = tsri_mark_forming(f->head->share) == l->forming;
    bool posted = ours && i < l->posts && l->post[i].rank == f->from;
    l->back |= tsri_crew_heard(l->crew, f);
    if (f->head->kind == TSRI_FAILED)
        return tsri_crew_failure(f);
    if (f->head->kind == TSRI_HERE && ours)
        l->answered[f->from] = true;
    else if (f->head->kind == TSRI_DONE && posted)
        note_done(l, i, f);
    else if (f->head->kind == TSRI_NUMBERS && posted)
        keep_numbers(l, i, f);
    else
        l->crew->stale++;
    return TSR_OK;
}

tsr_status tsri_line_hear(tsri_line *l, double seconds)
{
    tsr_status st = TSR_OK;
    tsri_frame f = {0};
    TSR_TRY(tsri_comm_receive(l->crew->comm, &f, seconds));
    if (f.head)
        TSR_TRY(take(l, &f));
done:
    tsri_comm_release(l->crew->comm, &f);
    return st;
}
