/* gates.h - what the cpu backend knows of a value's gates: their patterns, inspected when the bits
 * changed and kept while they did not. */
#ifndef TSRI_CPU_GATES_H
#define TSRI_CPU_GATES_H

#include "backend/backend.h"
#include "backend/cpu/skip.h"

/* Memory for the patterns of `gates`, once; and the scratch that a product with them needs. */
tsr_status tsri_cpu_gates_setup(int64_t *scratch_bytes, tsri_gates *gates, int threads);

/* The pattern of the bits as they are now, or NULL when so many are on that a dense product is
 * faster (or setup was never called). */
const tsri_pattern *tsri_cpu_gates_pattern(tsri_gates *gates, bool by_units, tsri_pool *pool);

/* gates = x > 0, of entered ones x != 0. The stamp stays when no bit changed. */
void tsri_cpu_gates_take(tsri_gates *gates, const float *x, tsri_pool *pool);

#endif
