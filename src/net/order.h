/* order.h - the orders in which filters lie: TSRI_OIHW in files, in memory as the backend wants
 * them. All else lies the same in both. */
#ifndef TSRI_ORDER_H
#define TSRI_ORDER_H

#include "net/net.h"

/* Where number `i` of the file's order lies in memory. */
int64_t tsri_order_place(const tsri_param *p, int64_t i);

/* A whole parameter from memory to the file's order. */
void tsri_order_to_file(float *to, const float *from, const tsri_param *p);

#endif
