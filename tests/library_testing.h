/* library_testing.h - small data sets and runs, made with tessera.h alone: for the tests of what
 * programs see. */
#ifndef TSRI_LIBRARY_TESTING_H
#define TSRI_LIBRARY_TESTING_H

#include "scratch.h"

enum { SAMPLES = 60, INPUTS = 4 };

/* Three classes, each around a corner of its own: a line could tell them apart. */
static float sample_x[SAMPLES * INPUTS];
static int32_t sample_y[SAMPLES];
static double sample_t[SAMPLES];

static inline void make_samples(void)
{
    uint32_t state = 1;
    for (int i = 0; i < SAMPLES; i++) {
        sample_y[i] = i % 3;
        sample_t[i] = 0;
        for (int k = 0; k < INPUTS; k++) {
            state = state * 1664525u + 1013904223u;
            sample_x[i * INPUTS + k] =
                (float)(state >> 8) / (float)(1 << 24) + (k == i % 3 ? 10.0f : 5.0f);
            sample_t[i] += (k + 1) * (double)sample_x[i * INPUTS + k];
        }
    }
}

static inline tsr_data_options vectors(void)
{
    tsr_data_options o = tsr_data_options_default();
    make_samples();
    o.x = tsr_array_of(sample_x, TSR_F32, 2, (int64_t[]){SAMPLES, INPUTS});
    o.y = tsr_array_of(sample_y, TSR_I32, 1, (int64_t[]){SAMPLES});
    return o;
}

static inline tsr_data *vectors_data(void)
{
    tsr_data *data = NULL;
    tsr_data_options o = vectors();
    assert_ok(tsr_data_create(&data, &o));
    return data;
}

/* "key=value" lines, up to NULL, behind those of a small run. */
static inline tsr_config *small_config(const char *const *more)
{
    static const char *const lines[] = {"model.hidden=[8]", "epochs=20", "batch=16",
                                        "optim.lr=0.1",     "threads=1", NULL};
    tsr_config *config = NULL;
    assert_ok(tsr_config_create(&config));
    for (int i = 0; lines[i]; i++)
        assert_ok(tsr_config_set(config, lines[i]));
    for (int i = 0; more && more[i]; i++)
        assert_ok(tsr_config_set(config, more[i]));
    return config;
}

static inline tsr_model *small_model(const char *const *more)
{
    tsr_data *data = vectors_data();
    tsr_config *config = small_config(more);
    tsr_run_options o = tsr_run_options_default();
    tsr_run *run = NULL;
    tsr_model *model = NULL;
    tsr_result r = tsr_result_default();
    o.data = data;
    assert_ok(tsr_run_create(&run, config, &o));
    tsr_data_destroy(data); /* the run has its own */
    tsr_config_destroy(config);
    assert_ok(tsr_run_finish(&r, run));
    assert_ok(tsr_run_model(&model, run));
    tsr_run_destroy(run);
    return model;
}

#endif
