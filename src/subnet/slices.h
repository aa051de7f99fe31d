/* slices.h - how a parameter is laid out in memory, seen along the axes that are cut.
 *
 * Whatever its number and order of dimensions ([out, in], [out, in, H, W], [H, W, in, out]), a
 * parameter is a list of lines. Dimensions behind the last one that is cut are merged into the
 * grain, so that a line is `size` pieces of `grain` contiguous numbers each:
 *
 *     [out, in, H, W] cut on out and in:   lines = out,   a line = in pieces of H W numbers
 *     [out, in]       cut on out:          one line of    out pieces of in numbers
 *     [H, W, in, out] cut on in:           lines = H W,   a line = in pieces of out numbers
 *     cut nowhere:                         one line, one piece
 *
 * A share's parameter has the same lines with fewer of them and fewer pieces in each. This is the
 * only place that knows how to find them: take and put both walk it.
 */
#ifndef TSRI_SLICES_H
#define TSRI_SLICES_H

#include "subnet/share.h"

enum { TSRI_SLICE_DIMS = 2 * TSRI_PARAM_DIMS };

typedef struct tsri_slices {
    int outers; /* dimensions in front of the line */
    struct {
        int axis; /* -1 = not cut */
        int64_t size;
    } outer[TSRI_SLICE_DIMS];
    int64_t lines; /* product of their sizes */
    int axis;      /* of the line's pieces; -1 = not cut: one piece */
    int64_t size;  /* pieces in a line */
    int64_t grain; /* numbers in a piece */
} tsri_slices;

/* The form of parameter p when the axes with cut[axis] are cut. */
tsri_slices tsri_slices_of(const tsri_param *p, const tsri_net *net, const bool *cut);

/* How many lines the share's parameter has, and which line of the whole its line j is. */
int64_t tsri_slices_lines(const tsri_slices *s, const tsri_share *share);
int64_t tsri_slices_from(const tsri_slices *s, const tsri_share *share, int64_t j);

/* The line of the share's parameter that holds line k of the whole; -1: the share lacks it. */
int64_t tsri_slices_find(const tsri_slices *s, const tsri_share *share, int64_t k);

/* Pieces in a line of the share's parameter. */
int64_t tsri_slices_pieces(const tsri_slices *s, const tsri_share *share);

#endif
