/* device.c - the ways into a backend: each call opens its memory for as long as it lasts. */
#include "backend/device.h"

static void enter(tsri_device device)
{
    if (device.backend->heap->enter)
        device.backend->heap->enter();
}

static tsr_status leave(tsri_device device, tsr_status st)
{
    if (device.backend->heap->leave)
        device.backend->heap->leave();
    return st;
}

tsr_status tsri_device_wait(tsri_device device)
{
    return device.backend->wait ? device.backend->wait(device) : TSR_OK;
}

tsr_status tsri_op_forward(tsri_op *op, tsri_device device)
{
    enter(device);
    return leave(device, op->kernel->forward(op));
}

tsr_status tsri_op_backward(tsri_op *op, tsri_device device)
{
    enter(device);
    return leave(device, op->kernel->backward(op));
}

tsr_status tsri_device_pack(tsri_device device, tsri_op *const *op, int64_t count)
{
    enter(device);
    return leave(device, device.backend->pack(op, count, device));
}

tsr_status tsri_device_input(tsri_device device, tsri_mem *to, const float *x, int64_t n,
                             tsri_shape shape, tsri_layout layout)
{
    enter(device);
    return leave(device, device.backend->input(to, x, n, shape, layout, device));
}

tsr_status tsri_device_draw(tsri_device device, const tsri_drawing *drawing)
{
    enter(device);
    return leave(device, device.backend->draw(drawing, device));
}

tsr_status tsri_device_count(tsri_device device, tsri_mem *counter)
{
    enter(device);
    return leave(device, device.backend->count(counter, device));
}

tsr_status tsri_device_loss(tsri_device device, const tsri_loss *loss)
{
    enter(device);
    return leave(device, device.backend->loss(loss, device));
}

tsr_status tsri_device_update(tsri_device device, const tsri_update *update)
{
    enter(device);
    return leave(device, device.backend->update(update, device));
}

tsr_status tsri_device_adam(tsri_device device, const tsri_adam *adam)
{
    enter(device);
    return leave(device, device.backend->adam(adam, device));
}

tsr_status tsri_device_clip(tsri_device device, tsri_mem *g, int64_t count, double longest)
{
    enter(device);
    return leave(device, device.backend->vectors->clip(g, count, longest, device));
}

tsr_status tsri_device_blend(tsri_device device, tsri_mem *a, const tsri_mem *w, int64_t count,
                             double part)
{
    enter(device);
    return leave(device, device.backend->vectors->blend(a, w, count, part, device));
}

tsr_status tsri_device_gather(tsri_device device, tsri_mem *sum, tsri_mem *g, int64_t count,
                              bool first, bool last, float scale)
{
    enter(device);
    return leave(device,
                 device.backend->vectors->gather(sum, g, count, first, last, scale, device));
}

tsr_status tsri_device_take(tsri_device device, tsri_mem *to, const tsri_mem *from,
                            const tsri_slices *s, const tsri_pick *pick)
{
    enter(device);
    return leave(device, device.backend->slices->take(to, from, s, pick, device));
}

tsr_status tsri_device_put(tsri_device device, tsri_mem *whole, const tsri_slices *s,
                           const tsri_slices_owner *owner, int64_t count)
{
    enter(device);
    return leave(device, device.backend->slices->put(whole, s, owner, count, device));
}
