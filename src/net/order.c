/* order.c - the orders in which filters lie. */
#include "net/order.h"

int64_t tsri_order_place(const tsri_param *p, int64_t i)
{
    if (p->filters == TSRI_OIHW)
        return i;
    int64_t in = p->shape[1], taps = p->shape[2] * p->shape[3];
    int64_t tap = i % taps, channel = i / taps % in, filter = i / taps / in;
    return p->filters == TSRI_OHWI ? (filter * taps + tap) * in + channel
                                   : (tap * in + channel) * p->shape[0] + filter;
}

void tsri_order_to_file(float *to, const float *from, const tsri_param *p)
{
    for (int64_t i = 0; i < p->count; i++)
        to[i] = from[tsri_order_place(p, i)];
}
