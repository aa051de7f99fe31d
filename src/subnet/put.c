/* put.c - shares written back into the whole, parameter by parameter. */
#include "subnet/put.h"

#include "base/alloc.h"
#include "subnet/slices.h"

#include <assert.h>

tsr_status tsri_put_init(tsri_put *put, const tsri_net *net)
{
    *put = (tsri_put){.net = net};
    return tsri_alloc(&put->cut, net->axes, sizeof *put->cut);
}

void tsri_put_fini(tsri_put *put)
{
    tsri_free(put->cut);
    tsri_free(put->part);
    *put = (tsri_put){0};
}

static void find_cuts(tsri_put *put, const tsri_owner *owner, int64_t count)
{
    for (int64_t a = 0; a < put->net->axes; a++) {
        put->cut[a] = false;
        for (int64_t o = 0; o < count; o++)
            put->cut[a] = put->cut[a] || owner[o].share->cut[a];
    }
}

/* Parameter p of one vector, from all owners. */
static tsr_status put_param(const tsri_put *put, tsri_store *whole, const tsri_owner *owner,
                            int64_t count, tsri_vector which, int64_t p, tsri_device device)
{
    tsri_mem *to = tsri_store_vector(whole, which);
    tsri_slices s = tsri_slices_of(&put->net->param[p], put->net, put->cut);
    if (!to)
        return TSR_OK;
    for (int64_t o = 0; o < count; o++) {
        const tsri_store *store = owner[o].store;
        put->part[o] = (tsri_slices_owner){
            owner[o].share->pick, tsri_store_at(store, tsri_store_vector(store, which), p)};
    }
    return tsri_device_put(device, tsri_store_at(whole, to, p), &s, put->part, count);
}

tsr_status tsri_put_run(tsri_put *put, tsri_store *whole, const tsri_owner *owner, int64_t count,
                        bool momentum, tsri_device device)
{
    tsr_status st = TSR_OK;
    assert(whole->real_bytes == sizeof(float) && whole->backend == device.backend);
    if (count == 0)
        return TSR_OK;
    find_cuts(put, owner, count);
    if (count > put->room) {
        TSR_TRY(tsri_realloc(&put->part, count, sizeof *put->part));
        put->room = count;
    }
    for (int64_t p = 0; p < put->net->params; p++) {
        tsri_role role = put->net->param[p].role;
        if (role == TSRI_FIXED)
            continue;
        TSR_TRY(put_param(put, whole, owner, count, TSRI_WEIGHTS, p, device));
        for (tsri_vector i = TSRI_MOMENTUM; momentum && role == TSRI_TRAINED && i < TSRI_VECTORS;
             i++)
            TSR_TRY(put_param(put, whole, owner, count, i, p, device));
    }
done:
    return st;
}
