/* depth.h - a network cut by depth: parts that run one after the other, joined by one tensor.
 *
 *     layers   0 ....... | ............. | .......... K-1
 *               part 0   |    part 1     |   part 2
 *                      value           value              one value crosses each cut
 *
 * A cut lies where exactly one value is made before it and read after it, made by the layer right
 * before it: between the blocks of a residual network, never inside one. It never parts layers that
 * the plan fuses (plan_steps.c), so the parts compute the whole's numbers, to the bit.
 */
#ifndef TSRI_DEPTH_H
#define TSRI_DEPTH_H

#include "net/net.h"

/* The layers from .. to-1 as a network. Axes, values and parameters are the whole's, with the same
 * numbers and places: a store of the whole serves it, of which it touches what its layers have. The
 * caller destroys *out. */
tsr_status tsri_net_part(tsri_net **out, const tsri_net *net, int64_t from, int64_t to);

/* May the network be cut before layer i? */
bool tsri_depth_cuttable(const tsri_net *net, int64_t i);

/* Parts at most that it can be cut into. */
int64_t tsri_depth_most(const tsri_net *net);

/* begin[0..parts]: where each part begins, the last entry being the number of layers, such that the
 * most costly part costs as little as can be; of equal cuts those through which least crosses.
 * cost[layers] >= 0. USAGE when there are not that many places. */
tsr_status tsri_depth_balance(int64_t *begin, const tsri_net *net, const double *cost,
                              int64_t parts);

/* Numbers of a sample that cross the cut before layer i. */
int64_t tsri_depth_crossing(const tsri_net *net, int64_t i);

/* The numbers from *low to *high-1 of the store's trained ones are the part's. */
void tsri_depth_trained(const tsri_net *part, int64_t *low, int64_t *high);

#endif
