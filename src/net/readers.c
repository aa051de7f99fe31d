/* readers.c - who makes and who reads each value of a network. See readers.h. */
#include "net/readers.h"

#include "base/alloc.h"

void tsri_readers_fini(tsri_readers *r)
{
    tsri_free(r->count);
    tsri_free(r->last);
    tsri_free(r->producer);
    *r = (tsri_readers){0};
}

static void note(tsri_readers *r, int value, int64_t layer)
{
    r->count[value]++;
    r->last[value] = layer;
}

tsr_status tsri_readers_init(tsri_readers *r, const tsri_net *net)
{
    tsr_status st = TSR_OK;
    *r = (tsri_readers){0};
    TSR_TRY(tsri_alloc(&r->count, net->values, sizeof *r->count));
    TSR_TRY(tsri_alloc(&r->last, net->values, sizeof *r->last));
    TSR_TRY(tsri_alloc(&r->producer, net->values, sizeof *r->producer));
    for (int64_t v = 0; v < net->values; v++)
        r->last[v] = r->producer[v] = -1;
    for (int64_t i = 0; i < net->layers; i++) {
        const tsri_layer *l = &net->layer[i];
        note(r, l->in, i);
        if (l->add >= 0)
            note(r, l->add, i);
        r->producer[l->out] = i;
    }
done:
    return st;
}

int64_t tsri_only_reader(const tsri_readers *r, const tsri_net *net, int value, tsri_kind kind)
{
    int64_t i = r->count[value] == 1 ? r->last[value] : -1;
    return i >= 0 && net->layer[i].kind == kind ? i : -1;
}
