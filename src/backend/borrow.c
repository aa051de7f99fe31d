/* borrow.c - an op that a backend has no kernel for, computed by another with copies.
 *
 * The lender is a backend of this machine's processors with the same type and layout. Before a call
 * what its kernel reads is copied out of the device's memory, after it what it has written is
 * copied back. Slow, and said once; so a new backend is of use before it is complete.
 */
#include "backend/borrow.h"

#include "backend/device.h"
#include "base/alloc.h"
#include "base/log.h"

#include <stdatomic.h>

/* What may go over; the lender's scratch and what it saves stay here. */
typedef enum piece { X, ADD, Y, DX, DY, DADD, W, B, DW, DB, MEAN, VAR, LENGTH, PIECES } piece;

typedef struct loan {
    tsri_kernel kernel;        /* of the borrower: the lender's, called through this file */
    const tsri_kernel *lender; /* who computes */
    tsri_device device;        /* of the lender */
    const tsri_heap *heap;     /* of the borrower */
    tsri_op op;                /* as the lender sees it */
    int64_t bytes[PIECES];
    void *host[PIECES]; /* NULL = not needed yet */
} loan;

/* ---- How large everything is --------------------------------------------------------------- */

/* Numbers of w. */
static int64_t weights(const tsri_op *op)
{
    switch (op->kind) {
    case TSRI_LINEAR:
        return op->out.c * (op->positions ? op->in.c : tsri_shape_count(op->in));
    case TSRI_CONV:
        return op->out.c * op->in.c * op->size * op->size;
    case TSRI_NORM:
        return op->in.c;
    case TSRI_RECURRENT:
        return op->in.c * op->in.c;
    default:
        return 0;
    }
}

static void measure(loan *l, const tsri_op *op, int64_t real)
{
    int64_t in = op->n * tsri_shape_count(op->in) * real;
    int64_t out = op->n * tsri_shape_count(op->out) * real;
    int64_t channels = op->out.c * real, w = weights(op) * real;
    const int64_t bytes[PIECES] = {[X] = in,
                                   [DX] = in,
                                   [ADD] = out,
                                   [Y] = out,
                                   [DY] = out,
                                   [DADD] = out,
                                   [W] = w,
                                   [DW] = w,
                                   [B] = channels,
                                   [DB] = channels,
                                   [MEAN] = channels,
                                   [VAR] = channels,
                                   [LENGTH] = op->n * (int64_t)sizeof *op->length};
    for (int i = 0; i < PIECES; i++)
        l->bytes[i] = bytes[i];
}

/* ---- There and back ------------------------------------------------------------------------ */

static const void *place_of(const tsri_op *op, piece i)
{
    const void *const at[PIECES] = {
        [X] = op->x,       [ADD] = op->add, [Y] = op->y,          [DX] = op->dx, [DY] = op->dy,
        [DADD] = op->dadd, [W] = op->w,     [B] = op->b,          [DW] = op->dw, [DB] = op->db,
        [MEAN] = op->mean, [VAR] = op->var, [LENGTH] = op->length};
    return at[i];
}

/* Gives the lender's op the pieces that the borrower's has. Taken once: the same op comes again. */
static tsr_status bind(loan *l, const tsri_op *op)
{
    tsr_status st = TSR_OK;
    void *at[PIECES];
    for (piece i = 0; i < PIECES; i++) {
        if (place_of(op, i) && !l->host[i])
            TSR_TRY(tsri_alloc_raw(&l->host[i], l->bytes[i], 1));
        at[i] = place_of(op, i) ? l->host[i] : NULL;
    }
    l->op.x = at[X];
    l->op.add = at[ADD];
    l->op.y = at[Y];
    l->op.dx = at[DX];
    l->op.dy = at[DY];
    l->op.dadd = at[DADD];
    l->op.w = at[W];
    l->op.b = at[B];
    l->op.dw = at[DW];
    l->op.db = at[DB];
    l->op.mean = at[MEAN];
    l->op.var = at[VAR];
    l->op.length = at[LENGTH];
    l->op.training = op->training;
    l->op.momentum = op->momentum;
done:
    return st;
}

static tsr_status fetch(const loan *l, const tsri_op *op, piece i)
{
    const void *from = place_of(op, i);
    return from ? l->heap->out(l->host[i], tsri_mem_bound(from), l->bytes[i]) : TSR_OK;
}

static tsr_status give(const loan *l, const tsri_op *op, piece i)
{
    const void *to = place_of(op, i);
    return to ? l->heap->in(tsri_mem_bound(to), l->host[i], l->bytes[i]) : TSR_OK;
}

/* ---- The kernel ---------------------------------------------------------------------------- */

static tsr_status forward(tsri_op *op)
{
    static const piece read[] = {X, ADD, W, B, MEAN, VAR, LENGTH}, written[] = {Y, MEAN, VAR};
    tsr_status st = TSR_OK;
    loan *l = op->state;
    TSR_TRY(bind(l, op));
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        TSR_TRY(fetch(l, op, read[i]));
    TSR_TRY(tsri_op_forward(&l->op, l->device));
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        TSR_TRY(give(l, op, written[i]));
done:
    return st;
}

/* dx and dadd may be added to, and dy may be the gradient of another value, too. */
static tsr_status backward(tsri_op *op)
{
    static const piece read[] = {DY, W, MEAN, VAR, LENGTH}, written[] = {DY, DX, DADD, DW, DB};
    tsr_status st = TSR_OK;
    loan *l = op->state;
    TSR_TRY(bind(l, op));
    l->op.dx_add = op->dx_add;
    l->op.dadd_add = op->dadd_add;
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        TSR_TRY(fetch(l, op, read[i]));
    if (l->kernel.backward_needs_x)
        TSR_TRY(fetch(l, op, X));
    if (l->kernel.backward_needs_y)
        TSR_TRY(fetch(l, op, Y));
    if (op->dx_add)
        TSR_TRY(fetch(l, op, DX));
    if (op->dadd_add)
        TSR_TRY(fetch(l, op, DADD));
    TSR_TRY(tsri_op_backward(&l->op, l->device));
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        TSR_TRY(give(l, op, written[i]));
done:
    return st;
}

static void teardown(tsri_op *op)
{
    loan *l = op->state;
    if (!l)
        return;
    if (l->lender && l->lender->teardown)
        l->lender->teardown(&l->op);
    for (int i = 0; i < PIECES; i++)
        tsri_free(l->host[i]);
    tsri_free(l->op.saved);
    tsri_free(l->op.scratch);
    tsri_free(l);
    op->state = NULL;
}

/* ---- The loan ------------------------------------------------------------------------------ */

static void say_once(const tsri_backend *borrower, const tsri_backend *lender, tsri_kind kind)
{
    static atomic_uint said;
    unsigned bit = 1U << kind;
    if (!(atomic_fetch_or(&said, bit) & bit))
        TSRI_WARN("backend %s has no kernel for %s: %s computes it, with copies there and back",
                  borrower->name, tsri_kind_name(kind), lender->name);
}

/* The lender's op has memory of its own; gates and virtual norms live on the device. */
static bool can_lend(const tsri_op *op)
{
    return !op->gates && !op->gate && !op->virtual && !op->pre;
}

tsr_status tsri_op_borrow(tsri_op *op, const tsri_backend *borrower)
{
    tsr_status st = TSR_OK;
    const tsri_backend *lender = borrower->lender;
    loan *l = NULL;
    const char *name = tsri_kind_name(op->kind);
    TSR_CHECK(lender && can_lend(op), TSR_USAGE, "backend %s has no kernel for %s", borrower->name,
              name);
    TSR_TRY(tsri_alloc(&l, 1, sizeof *l));
    *l = (loan){.heap = borrower->heap, .op = *op, .device = tsri_device_on(lender, op->pool)};
    l->op.x_gates = NULL;
    l->op.steady = false; /* its weights come anew with each call */
    TSR_TRY(tsri_op_setup(&l->op, lender));
    l->lender = l->op.kernel;
    l->kernel = (tsri_kernel){.name = "borrowed",
                              .kind = op->kind,
                              .backward_needs_x = l->lender->backward_needs_x,
                              .backward_needs_y = l->lender->backward_needs_y,
                              .forward = forward,
                              .backward = backward,
                              .teardown = teardown};
    measure(l, op, borrower->real_bytes);
    TSR_TRY(tsri_alloc(&l->op.saved, l->op.saved_bytes + 1, 1));
    TSR_TRY(tsri_alloc(&l->op.scratch, l->op.scratch_bytes + 1, 1));
    say_once(borrower, lender, op->kind);
    op->kernel = &l->kernel;
    op->state = l;
    l = NULL;
done:
    if (l)
        teardown(&(tsri_op){.state = l});
    return st;
}
