/* take.c - the numbers of a share, copied out of the whole, parameter by parameter. */
#include "subnet/take.h"

#include "subnet/slices.h"

#include <assert.h>

void tsri_take_param(float *to, const float *from, const tsri_net *net, int64_t p,
                     const tsri_share *share)
{
    tsri_slices s = tsri_slices_of(&net->param[p], net, share->cut);
    tsri_slices_take(to, from, &s, share->pick);
}

/* All parameters on which `which` has numbers in both. */
static tsr_status take_vector(tsri_store *small, const tsri_store *whole, tsri_vector which,
                              const tsri_share *share)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = whole->net;
    tsri_mem *to = tsri_store_vector(small, which), *from = tsri_store_vector(whole, which);
    tsri_device device = tsri_device_on(whole->backend, NULL);
    if (!to || !from)
        return TSR_OK;
    for (int64_t p = 0; p < net->params; p++) {
        if (which != TSRI_WEIGHTS && net->param[p].role != TSRI_TRAINED)
            continue;
        tsri_slices s = tsri_slices_of(&net->param[p], net, share->cut);
        TSR_TRY(tsri_device_take(device, tsri_store_at(small, to, p), tsri_store_at(whole, from, p),
                                 &s, share->pick));
    }
done:
    return st;
}

tsr_status tsri_take(tsri_store *small, const tsri_store *whole, const tsri_share *share,
                     bool momentum)
{
    tsr_status st = TSR_OK;
    assert(small->real_bytes == sizeof(float) && small->heap == whole->heap);
    TSR_TRY(take_vector(small, whole, TSRI_WEIGHTS, share));
    for (tsri_vector i = TSRI_MOMENTUM; momentum && i < TSRI_VECTORS; i++)
        TSR_TRY(take_vector(small, whole, i, share));
done:
    return st;
}
