/* loader_testing.h - images of random bytes to draw batches from. */
#ifndef TSRI_LOADER_TESTING_H
#define TSRI_LOADER_TESTING_H

#include "testing.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "data/loader.h"

typedef struct fixture {
    tsr_data data;
    float shift[3], scale[3];
} fixture;

static inline void setup(fixture *f, int64_t n, int64_t channels, int64_t side)
{
    *f = (fixture){.data = {.name = "test",
                            .channels = channels,
                            .height = side,
                            .width = side,
                            .dim = channels * side * side,
                            .classes = 10},
                   .shift = {100, 110, 120},
                   .scale = {0.02f, 0.03f, 0.04f}};
    f->data.scaling.shift = f->shift;
    f->data.scaling.scale = f->scale;
    tsri_part *part = &f->data.train;
    part->n = n;
    assert_ok(tsri_alloc(&part->bytes, n * f->data.dim, 1));
    assert_ok(tsri_alloc(&part->label, n, sizeof *part->label));
    tsri_rng rng = tsri_rng_stream(1, TSRI_FOR_TEST, 0, 0, 0);
    for (int64_t i = 0; i < n * f->data.dim; i++)
        part->bytes[i] = (uint8_t)tsri_rng_u32(&rng);
    for (int64_t i = 0; i < n; i++)
        part->label[i] = (int32_t)(i % 10);
}

static inline void teardown(fixture *f)
{
    tsri_free(f->data.train.bytes);
    tsri_free(f->data.train.label);
}

static inline tsri_loader *loader_of(const fixture *f, tsri_loader_options options)
{
    tsri_loader *loader = NULL;
    assert_ok(tsri_loader_create(&loader, &f->data, &f->data.train, &options));
    return loader;
}

static inline const tsri_batch *get(tsri_loader *loader, int64_t step)
{
    const tsri_batch *b = NULL;
    assert_ok(tsri_loader_get(loader, &b, step));
    return b;
}

#endif
