/* foreign.h - a device whose memory is not the host's, made of the reference's kernels.
 *
 * What a run must not assume is not there: the host cannot map its memory (every look is a copy),
 * its kernels read no batch of the host's, batches are drawn on it, a step is recorded once and
 * replayed. With `lacks` it has no kernel of that kind and borrows one. Its name is "ref", so that
 * any run file that names the reference runs on it once it is offered; the bits must be the
 * reference's.
 */
#ifndef TSRI_FOREIGN_H
#define TSRI_FOREIGN_H

#include "backend/device.h"
#include "base/alloc.h"
#include "testing.h"

enum { FOREIGN_KERNELS = 32, FOREIGN_CALLS = 4096 };

/* One call, with what it was called with. */
typedef struct foreign_call {
    tsr_status (*forward)(tsri_op *op);
    tsri_op *op;
    enum { CALL_OP, CALL_LOSS, CALL_UPDATE, CALL_ADAM, CALL_COUNT, CALL_DRAW, CALL_CLIP } kind;
    union {
        tsri_loss loss;
        tsri_update update;
        tsri_adam adam;
        tsri_mem *counter;
        tsri_drawing drawing;
        struct {
            tsri_mem *g;
            int64_t count;
            double longest;
        } clip;
    } with;
} foreign_call;

typedef struct foreign_tape {
    int64_t count;
    foreign_call call[FOREIGN_CALLS];
} foreign_tape;

static struct {
    tsri_backend backend;
    tsri_kernel kernel[FOREIGN_KERNELS];
    const tsri_kernel *list[FOREIGN_KERNELS + 1];
    _Atomic int64_t recorded, played; /* tapes made, and how often one was played */
    _Atomic int64_t drawn;            /* batches */
    _Atomic int64_t copies;           /* to the host */
} foreign;

static _Thread_local foreign_tape *foreign_recording; /* workers record at the same time */

/* ---- Memory -------------------------------------------------------------------------------- */

static inline tsr_status foreign_take(tsri_mem **mem, int64_t bytes)
{
    char *block = NULL;
    tsr_status st = tsri_alloc(&block, bytes, 1);
    *mem = as_mem(block);
    return st;
}

static inline void foreign_drop(tsri_mem *mem)
{
    tsri_free((void *)mem);
}

static inline tsr_status foreign_in(tsri_mem *to, const void *from, int64_t bytes)
{
    assert_null(foreign_recording); /* a copy from the host would be replayed with old numbers */
    memmove((void *)to, from, (size_t)bytes);
    return TSR_OK;
}

static inline tsr_status foreign_out(void *to, const tsri_mem *from, int64_t bytes)
{
    assert_null(foreign_recording);
    memmove(to, (const void *)from, (size_t)bytes);
    foreign.copies++;
    return TSR_OK;
}

static inline tsr_status foreign_within(tsri_mem *to, const tsri_mem *from, int64_t bytes)
{
    memmove((void *)to, (const void *)from, (size_t)bytes);
    return TSR_OK;
}

static inline tsr_status foreign_zero(tsri_mem *to, int64_t bytes)
{
    memset((void *)to, 0, (size_t)bytes);
    return TSR_OK;
}

static const tsri_heap foreign_heap = {.name = "foreign",
                                       .take = foreign_take,
                                       .drop = foreign_drop,
                                       .in = foreign_in,
                                       .out = foreign_out,
                                       .within = foreign_within,
                                       .zero = foreign_zero};

/* ---- Calls --------------------------------------------------------------------------------- */

static inline tsr_status foreign_do(foreign_call *c, tsri_device device)
{
    const tsri_backend *ref = &tsri_backend_ref;
    switch (c->kind) {
    case CALL_OP:
        return c->forward(c->op);
    case CALL_LOSS:
        return ref->loss(&c->with.loss, device);
    case CALL_UPDATE:
        return ref->update(&c->with.update, device);
    case CALL_ADAM:
        return ref->adam(&c->with.adam, device);
    case CALL_COUNT:
        return ref->count(c->with.counter, device);
    case CALL_DRAW:
        foreign.drawn++;
        return tsri_draw_here(&c->with.drawing, device);
    case CALL_CLIP:
        return ref->vectors->clip(c->with.clip.g, c->with.clip.count, c->with.clip.longest, device);
    }
    return TSR_FAILURE;
}

/* Done, or written down. */
static inline tsr_status foreign_called(foreign_call c, tsri_device device)
{
    if (!foreign_recording)
        return foreign_do(&c, device);
    assert_true(foreign_recording->count < FOREIGN_CALLS);
    foreign_recording->call[foreign_recording->count++] = c;
    return TSR_OK;
}

static inline const tsri_kernel *foreign_original(const tsri_op *op)
{
    for (int i = 0; tsri_backend_ref.kernels[i]; i++)
        if (tsri_backend_ref.kernels[i]->kind == op->kind)
            return tsri_backend_ref.kernels[i];
    return NULL;
}

static inline tsr_status foreign_forward(tsri_op *op)
{
    return foreign_called((foreign_call){.forward = foreign_original(op)->forward, .op = op},
                          tsri_device_on(&foreign.backend, op->pool));
}

static inline tsr_status foreign_backward(tsri_op *op)
{
    return foreign_called((foreign_call){.forward = foreign_original(op)->backward, .op = op},
                          tsri_device_on(&foreign.backend, op->pool));
}

static inline tsr_status foreign_loss(const tsri_loss *loss, tsri_device device)
{
    return foreign_called((foreign_call){.kind = CALL_LOSS, .with.loss = *loss}, device);
}

static inline tsr_status foreign_update(const tsri_update *update, tsri_device device)
{
    return foreign_called((foreign_call){.kind = CALL_UPDATE, .with.update = *update}, device);
}

static inline tsr_status foreign_adam(const tsri_adam *adam, tsri_device device)
{
    return foreign_called((foreign_call){.kind = CALL_ADAM, .with.adam = *adam}, device);
}

static inline tsr_status foreign_count(tsri_mem *counter, tsri_device device)
{
    return foreign_called((foreign_call){.kind = CALL_COUNT, .with.counter = counter}, device);
}

static inline tsr_status foreign_draw(const tsri_drawing *drawing, tsri_device device)
{
    return foreign_called((foreign_call){.kind = CALL_DRAW, .with.drawing = *drawing}, device);
}

static inline tsr_status foreign_clip(tsri_mem *g, int64_t count, double longest,
                                      tsri_device device)
{
    return foreign_called((foreign_call){.kind = CALL_CLIP,
                                         .with.clip = {.g = g, .count = count, .longest = longest}},
                          device);
}

/* ---- Tapes --------------------------------------------------------------------------------- */

static inline tsr_status foreign_begin(tsri_device device)
{
    (void)device;
    return tsri_alloc(&foreign_recording, 1, sizeof *foreign_recording);
}

static inline tsr_status foreign_end(void **tape, tsri_device device)
{
    (void)device;
    *tape = foreign_recording;
    foreign_recording = NULL;
    foreign.recorded++;
    return TSR_OK;
}

static inline tsr_status foreign_play(void *tape, tsri_device device)
{
    tsr_status st = TSR_OK;
    foreign_tape *t = tape;
    for (int64_t i = 0; i < t->count; i++)
        TSR_TRY(foreign_do(&t->call[i], device));
    foreign.played++;
done:
    return st;
}

static inline void foreign_forget(void *tape)
{
    tsri_free(tape);
}

static const tsri_tape_ops foreign_tapes = {
    .begin = foreign_begin, .end = foreign_end, .play = foreign_play, .forget = foreign_forget};

/* ---- The device ---------------------------------------------------------------------------- */

/* Offers it; `lacks` < 0: it has every kernel. A tape needs all of them: what is borrowed copies. */
static inline void foreign_offer(int lacks)
{
    static tsri_vector_ops vectors;
    int count = 0;
    vectors = *tsri_backend_ref.vectors;
    vectors.clip = foreign_clip;
    foreign.recorded = foreign.played = foreign.drawn = foreign.copies = 0;
    foreign.backend = tsri_backend_ref;
    for (int i = 0; tsri_backend_ref.kernels[i]; i++) {
        tsri_kernel k = *tsri_backend_ref.kernels[i];
        if ((int)k.kind == lacks)
            continue;
        k.forward = foreign_forward;
        k.backward = foreign_backward;
        foreign.kernel[count] = k;
        foreign.list[count] = &foreign.kernel[count];
        count++;
    }
    foreign.list[count] = NULL;
    foreign.backend.heap = &foreign_heap;
    foreign.backend.can = (tsri_abilities){0};
    foreign.backend.kernels = foreign.list;
    foreign.backend.lender = &tsri_backend_ref;
    foreign.backend.loss = foreign_loss;
    foreign.backend.update = foreign_update;
    foreign.backend.adam = foreign_adam;
    foreign.backend.count = foreign_count;
    foreign.backend.vectors = &vectors;
    foreign.backend.draw = foreign_draw;
    foreign.backend.tape = lacks < 0 ? &foreign_tapes : NULL;
    tsri_backend_offer(&foreign.backend);
}

#endif
