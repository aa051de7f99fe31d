/* slices.h - how a parameter is laid out in memory, seen along the axes that are cut.
 *
 * Whatever its number and order of dimensions ([out, in], [out, in, H, W], [H, W, in, out]), a
 * parameter is a list of lines. Dimensions after the last one that is cut are merged into the
 * grain, so that a line is `size` pieces of `grain` contiguous numbers each:
 *
 *     [out, in, H, W] cut on out and in:   lines = out,   a line = in pieces of H W numbers
 *     [out, in]       cut on out:          one line of    out pieces of in numbers
 *     [H, W, in, out] cut on in:           lines = H W,   a line = in pieces of out numbers
 *     cut nowhere:                         one line, one piece
 *
 * A share's parameter has the same lines with fewer of them and fewer pieces in each. Picks and
 * slices are of the host; numbers are of the device.
 */
#ifndef TSRI_SLICES_H
#define TSRI_SLICES_H

#include "backend/queue.h"

enum { TSRI_SLICE_DIMS = 8 };

/* What is picked on one axis. */
typedef struct tsri_pick {
    bool whole;
    int64_t count;  /* units picked; the axis's size when whole */
    int64_t *index; /* [count] which, ascending; NULL on an axis that cannot be cut */
    int32_t *place; /* [size] position of a unit in `index`, -1: not picked; NULL likewise */
    double xi;      /* the chance that a unit is picked, or the part that is; 1 when whole */
} tsri_pick;

typedef struct tsri_slices {
    int outers; /* dimensions in front of the line */
    struct {
        int axis; /* of the picks; -1 = not cut */
        int64_t size;
    } outer[TSRI_SLICE_DIMS];
    int64_t lines; /* product of their sizes */
    int axis;      /* of the line's pieces; -1 = not cut: one piece */
    int64_t size;  /* pieces in a line */
    int64_t grain; /* numbers in a piece */
} tsri_slices;

/* Lines of the share's parameter, and the line of the whole that its line j is. */
int64_t tsri_slices_lines(const tsri_slices *s, const tsri_pick *pick);
int64_t tsri_slices_from(const tsri_slices *s, const tsri_pick *pick, int64_t j);

/* The line of the share's parameter that holds line k of the whole; -1: the share lacks it. */
int64_t tsri_slices_find(const tsri_slices *s, const tsri_pick *pick, int64_t k);

/* Pieces in a line of the share's parameter. */
int64_t tsri_slices_pieces(const tsri_slices *s, const tsri_pick *pick);

/* A share's numbers of a parameter. */
typedef struct tsri_slices_owner {
    const tsri_pick *pick; /* by axis */
    const tsri_mem *numbers;
} tsri_slices_owner;

/* What moves a parameter's numbers between the whole and shares, of floats. */
typedef struct tsri_slices_ops {
    /* to = the picked numbers of `from` */
    tsr_status (*take)(tsri_mem *to, const tsri_mem *from, const tsri_slices *s,
                       const tsri_pick *pick, tsri_device device);
    /* A number of the whole that one owner has is copied, one that several have becomes their mean,
     * summed in double in their order and multiplied by 1/N, one that nobody has stays. */
    tsr_status (*put)(tsri_mem *whole, const tsri_slices *s, const tsri_slices_owner *owner,
                      int64_t count, tsri_device device);
} tsri_slices_ops;

/* On this machine's processors. */
extern const tsri_slices_ops tsri_slices_here;

/* The same of the host's own numbers. */
void tsri_slices_take(float *to, const float *from, const tsri_slices *s, const tsri_pick *pick);

#endif
