/* ranks.h - where the time of the processes of a run went, and which one the others wait for.
 *
 *     tsri_rank_time rank[3] = {...};                   rank 0 coordinates
 *     TSR_TRY(tsri_ranks_add(rank, 3, line, 1));        a line of metrics, event "times"
 *     int64_t slowest = tsri_ranks_slowest(rank, 3, &waited);
 */
#ifndef TSRI_RANKS_H
#define TSRI_RANKS_H

#include "io/json.h"

enum { TSRI_MEMBERS = 256 }; /* ranks that are looked at; further ones are left out */

/* Seconds, and bytes. */
typedef struct tsri_rank_time {
    double compute, send, wait, received, sent;
} tsri_rank_time;

/* How many ranks the line has, at most TSRI_MEMBERS. */
int64_t tsri_ranks_count(const tsri_json_value *line);

/* Adds a line to rank[n], after what was there has been multiplied by `fades`. */
void tsri_ranks_add(tsri_rank_time *rank, int64_t n, const tsri_json_value *line, double fades);

/* The rank that the workers wait for most: 0 for the coordinator, -1 when they hardly wait at all.
 * *waited: the part of their time, 0 to 1. */
int64_t tsri_ranks_slowest(const tsri_rank_time *rank, int64_t n, double *waited);

#endif
