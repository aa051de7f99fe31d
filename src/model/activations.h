/* activations.h - what each layer of a model reads, as histograms over some samples. */
#ifndef TSRI_ACTIVATIONS_H
#define TSRI_ACTIVATIONS_H

#include "model/model.h"

enum { TSRI_HISTOGRAM = 40 };

typedef struct tsri_histogram {
    double low, high; /* of all that was counted; bins are of equal width */
    int64_t count[TSRI_HISTOGRAM];
    int64_t n, zeros; /* of them exactly 0: what a ReLU has switched off */
} tsri_histogram;

/* Counts the n numbers that are finite. */
void tsri_histogram_of(tsri_histogram *h, const float *value, int64_t n);

/* The members low, high, zeros (a part), counts, of an object that is open. */
void tsri_histogram_json(tsri_json *w, const tsri_histogram *h);

typedef struct tsri_activation {
    char layer[TSRI_NAME];
    tsri_histogram reads;
} tsri_activation;

typedef struct tsri_activations {
    tsri_activation *layer; /* [layers] those with weights, in the order of the network */
    int64_t layers, capacity, samples;
} tsri_activations;

/* Of the first samples of `use->part`; none for sequences. The caller finishes *a. */
tsr_status tsri_activations_look(tsri_activations *a, tsri_model_use *use);
void tsri_activations_fini(tsri_activations *a);

#endif
