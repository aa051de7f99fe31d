/* order.h - the two orders of filters: TSRI_OIHW in files, and in memory what the backend wants.
 * All other parameters lie alike in both. */
#ifndef TSRI_ORDER_H
#define TSRI_ORDER_H

#include "net/net.h"

/* The place in memory of number `i` in the file's order. */
int64_t tsri_order_place(const tsri_param *p, int64_t i);

/* A whole parameter from memory to the file's order. */
void tsri_order_to_file(float *to, const float *from, const tsri_param *p);

#endif
