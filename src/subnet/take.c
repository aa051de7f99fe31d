/* take.c - the numbers of a share, copied out of the whole: line by line, piece by piece. */
#include "subnet/take.h"

#include "subnet/slices.h"

#include <assert.h>
#include <string.h>

/* to [pieces, grain] = the picked pieces of `from` [size, grain]. */
static void copy_line(float *to, const float *from, const tsri_slices *s, const tsri_share *share)
{
    size_t grain = (size_t)s->grain * sizeof(float);
    if (s->axis < 0 || share->pick[s->axis].whole) {
        memcpy(to, from, (size_t)s->size * grain);
        return;
    }
    const tsri_pick *pick = &share->pick[s->axis];
    if (s->grain == 1)
        for (int64_t i = 0; i < pick->count; i++)
            to[i] = from[pick->index[i]];
    else
        for (int64_t i = 0; i < pick->count; i++)
            memcpy(to + i * s->grain, from + pick->index[i] * s->grain, grain);
}

void tsri_take_param(float *to, const float *from, const tsri_net *net, int64_t p,
                     const tsri_share *share)
{
    tsri_slices s = tsri_slices_of(&net->param[p], net, share->cut);
    int64_t lines = tsri_slices_lines(&s, share), pieces = tsri_slices_pieces(&s, share);
    for (int64_t j = 0; j < lines; j++)
        copy_line(to + j * pieces * s.grain,
                  from + tsri_slices_from(&s, share, j) * s.size * s.grain, &s, share);
}

/* All parameters on which `which` has numbers in both. */
static void take_vector(const tsri_opened *small, const tsri_opened *whole, tsri_vector which,
                        const tsri_share *share)
{
    const tsri_net *net = whole->net;
    void *to = tsri_opened_vector(small, which), *from = tsri_opened_vector(whole, which);
    if (!to || !from)
        return;
    for (int64_t p = 0; p < net->params; p++)
        if (which == TSRI_WEIGHTS || net->param[p].role == TSRI_TRAINED)
            tsri_take_param(tsri_opened_at(small, to, p), tsri_opened_at(whole, from, p), net, p,
                            share);
}

tsr_status tsri_take(tsri_store *small, const tsri_store *whole, const tsri_share *share,
                     bool momentum)
{
    tsr_status st = TSR_OK;
    int which = momentum ? TSRI_OPEN_UNITS : TSRI_OPEN_WEIGHTS;
    tsri_opened to = {0}, from = {0};
    assert(small->real_bytes == sizeof(float) && whole->real_bytes == sizeof(float));
    TSR_TRY(tsri_store_open(&to, small, which));
    TSR_TRY(tsri_store_open(&from, whole, which));
    for (tsri_vector i = 0; i < TSRI_VECTORS; i++)
        take_vector(&to, &from, i, share);
    TSR_TRY(tsri_store_save(&to));
done:
    tsri_store_close(&to);
    tsri_store_close(&from);
    return st;
}
