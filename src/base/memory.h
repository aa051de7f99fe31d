/* memory.h - how much memory the machine can still give. */
#ifndef TSRI_MEMORY_H
#define TSRI_MEMORY_H

#include <stdint.h>

/* Bytes that can be taken without pushing others out: free memory and swap of the machine, or what
 * is left of the control group's limit (a container) when that is less. INT64_MAX when unknown. */
int64_t tsri_memory_available(void);

/* The most that this process has held, in MiB. */
double tsri_memory_peak_mb(void);

#endif
