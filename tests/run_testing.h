/* run_testing.h - runs without a folder, for identities between schemes: a run file with settings,
 * some rounds of it, and what they made of the weights. */
#ifndef TSRI_RUN_TESTING_H
#define TSRI_RUN_TESTING_H

#include "testing.h"

#include "run/run.h"
#include "scheme/scheme.h"
#include "train/describe.h"

/* The run file with `settings`, assignments between semicolons. The caller destroys it. */
static inline tsr_config *make_config(const char *text, const char *settings)
{
    tsr_config *config = NULL;
    char copy[512];
    assert_true(strlen(settings) < sizeof copy);
    assert_ok(tsri_config_parse(&config, text, (int64_t)strlen(text), "test"));
    (void)snprintf(copy, sizeof copy, "%s", settings);
    for (char *s = strtok(copy, ";"); s; s = strtok(NULL, ";"))
        assert_ok(tsr_config_set(config, s));
    return config;
}

/* What some rounds made. */
typedef struct outcome {
    float *w;             /* [total + trained] the store's vector, the momentum behind it */
    int64_t total, count; /* without and with the momentum */
    int64_t bytes, steps; /* on the wire; of which losses were counted */
    double loss;          /* their sum */
} outcome;

static inline tsr_status try_rounds(outcome *o, tsr_config *config, int64_t rounds)
{
    tsr_status st = TSR_OK;
    tsri_run run;
    tsr_run_options options = tsr_run_options_default();
    *o = (outcome){0};
    TSR_TRY(tsri_run_init(&run, config, &options));
    TSR_TRY(run.settings.scheme->setup(&run));
    for (; run.position.round < rounds; run.position.round++)
        TSR_TRY(run.settings.scheme->round(&run));
    *o = (outcome){.total = run.net->total,
                   .count = run.net->total + run.net->trained,
                   .bytes = run.position.bytes_total,
                   .steps = run.position.recent.count,
                   .loss = run.position.recent.sum};
    TSR_TRY(tsri_alloc(&o->w, o->count, sizeof *o->w));
    assert_ok(tsri_store_read(o->w, &run.store, TSRI_WEIGHTS));
    assert_ok(tsri_store_read(o->w + run.net->total, &run.store, TSRI_MOMENTUM));
done:
    tsri_run_fini(&run);
    return st;
}

/* The caller frees w. */
static inline outcome after(const char *text, const char *settings, int64_t rounds)
{
    outcome o;
    tsr_config *config = make_config(text, settings);
    assert_ok(try_rounds(&o, config, rounds));
    tsr_config_destroy(config);
    return o;
}

/* The same weights and momentum, to the bit. Frees b. */
static inline void same(const outcome *a, outcome b)
{
    assert_int_equal(a->count, b.count);
    assert_memory_equal(a->w, b.w, (size_t)a->count * sizeof(float));
    tsri_free(b.w);
}

/* The same of two runs that nobody needs any longer. */
static inline void both_same(outcome a, outcome b)
{
    same(&a, b);
    tsri_free(a.w);
}

/* The run cannot be: USAGE with these words. */
static inline void refuse(const char *text, const char *settings, const char *words)
{
    outcome o;
    tsr_config *config = make_config(text, settings);
    assert_fails(try_rounds(&o, config, 1), TSR_USAGE, words);
    tsr_config_destroy(config);
}

/* Fails each allocation of `rounds` rounds once: RESOURCES every time, and nothing is left. */
static inline void walk_allocations(const char *text, const char *settings, int64_t rounds)
{
    tsr_config *config = make_config(text, settings);
    tsr_status st = TSR_RESOURCES;
    for (int64_t n = 0; st != TSR_OK; n++) {
        outcome o;
        (void)tsri_alloc_fail_after(n, false);
        st = try_rounds(&o, config, rounds);
        (void)tsri_alloc_fail_after(-1, false);
        assert_true(st == TSR_OK || st == TSR_RESOURCES);
        tsri_free(o.w);
    }
    tsr_config_destroy(config);
}

#endif
