/* tangent_device.c - views in a device's memory, filled and multiplied there. */
#include "theory/tangent_parts.h"

#include "base/alloc.h"

tsr_status tsri_device_view_init(tsri_device_view *v, const tsri_blocks *b, tsri_device device,
                                 int64_t room, int64_t outputs)
{
    tsr_status st = TSR_OK;
    const int64_t real = (int64_t)sizeof(float);
    const tsri_heap *heap = device.backend->heap;
    *v = (tsri_device_view){.blocks = b, .device = device, .outputs = outputs};
    TSR_TRY(tsri_alloc(&v->a, b->count, sizeof *v->a));
    TSR_TRY(tsri_alloc(&v->d, b->count, sizeof *v->d));
    for (int64_t k = 0; k < b->count; k++) {
        if (b->block[k].a_count > 0)
            TSR_TRY(heap->take(&v->a[k], room * b->block[k].a_count * real));
        TSR_TRY(heap->take(&v->d[k], room * outputs * b->block[k].d_count * real));
    }
done:
    if (st != TSR_OK)
        tsri_device_view_fini(v);
    return st;
}

void tsri_device_view_fini(tsri_device_view *v)
{
    for (int64_t k = 0; v->blocks && k < v->blocks->count; k++) {
        if (v->a)
            v->device.backend->heap->drop(v->a[k]);
        if (v->d)
            v->device.backend->heap->drop(v->d[k]);
    }
    tsri_free(v->a);
    tsri_free(v->d);
    *v = (tsri_device_view){0};
}

tsr_status tsri_device_view_fill(const tsri_device_view *v, const tsri_op *op,
                                 const tsri_layer *layer, int64_t from, int64_t count, int64_t slot)
{
    tsr_status st = TSR_OK;
    for (int64_t k = 0; k < v->blocks->count; k++) {
        const tsri_block *b = &v->blocks->block[k];
        if (b->layer != layer)
            continue;
        tsri_tangent_fill f = {.block = b,
                               .op = op,
                               .sequence = layer->kind == TSRI_RECURRENT || layer->each,
                               .a = v->a[k],
                               .d = v->d[k],
                               .outputs = v->outputs,
                               .slot = slot,
                               .from = from,
                               .count = count};
        TSR_TRY(v->device.backend->tangents->fill(&f, v->device));
    }
done:
    return st;
}

tsr_status tsri_device_gram(tsri_mem *k, const tsri_gram_job *job, const tsri_device_view *x,
                            const tsri_device_view *y)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < x->blocks->count; i++) {
        tsri_tangent_gram g = {.block = &x->blocks->block[i],
                               .xa = x->a[i],
                               .xd = x->d[i],
                               .ya = y->a[i],
                               .yd = y->d[i],
                               .outputs = x->outputs,
                               .rows = job->rows,
                               .columns = job->columns,
                               .n = job->n,
                               .i0 = job->i0,
                               .j0 = job->j0,
                               .k = k};
        TSR_TRY(x->device.backend->tangents->gram(&g, x->device));
    }
done:
    return st;
}
