/* slices.c - the form of a parameter when some of its axes are cut. */
#include "subnet/slices.h"

_Static_assert(TSRI_SLICE_DIMS == 2 * TSRI_PARAM_DIMS, "a dimension of axis x inner is two");

typedef struct dim {
    int axis; /* -1 = not cut */
    int64_t size;
} dim;

/* The dimensions in the order of memory; one of axis x inner numbers is two. */
static int dims_of(dim out[TSRI_SLICE_DIMS], const tsri_param *p, const tsri_net *net,
                   const bool *cut)
{
    static const int order[][TSRI_PARAM_DIMS] = {
        [TSRI_OIHW] = {0, 1, 2, 3}, [TSRI_HWIO] = {2, 3, 1, 0}, [TSRI_OHWI] = {0, 2, 3, 1}};
    int count = 0;
    for (int i = 0; i < p->dims; i++) {
        int d = order[p->filters][i], axis = p->axis[d];
        if (axis < 0 || !cut[axis]) {
            out[count++] = (dim){-1, p->shape[d]};
            continue;
        }
        out[count++] = (dim){axis, net->axis[axis].size};
        out[count++] = (dim){-1, p->inner[d]};
    }
    return count;
}

tsri_slices tsri_slices_of(const tsri_param *p, const tsri_net *net, const bool *cut)
{
    dim d[TSRI_SLICE_DIMS];
    int count = dims_of(d, p, net, cut);
    tsri_slices s = {.lines = 1, .axis = -1, .size = 1, .grain = 1};
    while (count > 0 && d[count - 1].axis < 0)
        s.grain *= d[--count].size;
    if (count > 0) {
        s.axis = d[--count].axis;
        s.size = d[count].size;
    }
    for (int i = 0; i < count; i++) {
        if (d[i].size == 1 && d[i].axis < 0)
            continue;
        s.outer[s.outers].axis = d[i].axis;
        s.outer[s.outers++].size = d[i].size;
        s.lines *= d[i].size;
    }
    return s;
}
