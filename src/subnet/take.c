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

void tsri_take(tsri_store *small, const tsri_store *whole, const tsri_share *share, bool momentum)
{
    const tsri_net *net = whole->net;
    assert(small->real_bytes == sizeof(float) && whole->real_bytes == sizeof(float));
    for (int64_t p = 0; p < net->params; p++) {
        tsri_take_param(tsri_store_at(small, small->w, p), tsri_store_at(whole, whole->w, p), net,
                        p, share);
        if (!momentum || net->param[p].role != TSRI_TRAINED)
            continue;
        tsri_take_param(tsri_store_at(small, small->v, p), tsri_store_at(whole, whole->v, p), net,
                        p, share);
        if (small->s && whole->s)
            tsri_take_param(tsri_store_at(small, small->s, p), tsri_store_at(whole, whole->s, p),
                            net, p, share);
    }
}
