/* vectors.h - what is done with whole vectors of parameters beside an optimiser's step; device.h
 * says what each is. */
#ifndef TSRI_VECTORS_H
#define TSRI_VECTORS_H

#include "backend/queue.h"

typedef struct tsri_vector_ops {
    tsr_status (*clip)(tsri_mem *g, int64_t count, double longest, tsri_device device);
    tsr_status (*blend)(tsri_mem *a, const tsri_mem *w, int64_t count, double part,
                        tsri_device device);
    tsr_status (*gather)(tsri_mem *sum, tsri_mem *g, int64_t count, bool first, bool last,
                         float scale, tsri_device device);
} tsri_vector_ops;

/* On this machine's processors, of floats. */
extern const tsri_vector_ops tsri_vectors_here;

#endif
