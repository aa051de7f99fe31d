/* test_lib_at_once.c - everything at the same time: two runs, each on a thread of its own with threads
 * below it, while eight threads ask one predictor and another looks at a run and stops it. Under the
 * thread sanitizer (`./run threads`) no two of them touch the same memory; anywhere, each answer has
 * the bits that it has alone. */
#include "library_testing.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { ASKERS = 8, TURNS = 20 };

static const char *const two_workers[] = {"threads=2", "scheme.name=ist", "scheme.workers=2",
                                          "epochs=10", NULL};

/* ---- Runs ----------------------------------------------------------------------------------- */

typedef struct trainer {
    pthread_t thread;
    tsr_run *run;
    tsr_status status;
} trainer;

static tsr_run *small_run(const char *const *more)
{
    tsr_data *data = vectors_data();
    tsr_config *config = small_config(more);
    tsr_run_options o = tsr_run_options_default();
    tsr_run *run = NULL;
    o.data = data;
    assert_ok(tsr_run_create(&run, config, &o));
    tsr_data_destroy(data);
    tsr_config_destroy(config);
    return run;
}

static void *train_it(void *of)
{
    trainer *t = of;
    tsr_result r = tsr_result_default();
    t->status = tsr_run_finish(&r, t->run);
    return NULL;
}

static void same_bits(tsr_run *a, tsr_run *b)
{
    tsr_model *x = NULL, *y = NULL;
    tsr_param p = tsr_param_default(), q = tsr_param_default();
    assert_ok(tsr_run_model(&x, a));
    assert_ok(tsr_run_model(&y, b));
    for (int64_t i = 0; i < tsr_model_params(x); i++) {
        assert_ok(tsr_model_param(&p, x, i));
        assert_ok(tsr_model_param(&q, y, i));
        int64_t count = 1;
        for (int k = 0; k < p.values.dims; k++)
            count *= p.values.shape[k];
        assert_memory_equal(p.values.data, q.values.data, (size_t)count * sizeof(float));
    }
    tsr_model_destroy(x);
    tsr_model_destroy(y);
}

/* ---- Questions ------------------------------------------------------------------------------ */

typedef struct asker {
    pthread_t thread;
    const tsr_predictor *predictor;
    const float *wanted; /* [SAMPLES, 3] */
    int wrong;
} asker;

static void *ask_all(void *of)
{
    asker *a = of;
    float y[SAMPLES * 3];
    int32_t classes[SAMPLES];
    tsr_array all = tsr_array_of(sample_x, TSR_F32, 2, (int64_t[]){SAMPLES, INPUTS});
    for (int turn = 0; turn < TURNS; turn++) {
        a->wrong += tsr_predictor_run(y, a->predictor, &all, NULL) != TSR_OK ||
                    memcmp(y, a->wanted, sizeof y) != 0;
        a->wrong += tsr_predictor_classes(classes, a->predictor, &all, NULL) != TSR_OK;
        all.shape[0] = 7; /* a call that fails has a sentence of its own thread's */
        all.shape[1] = 3;
        a->wrong += tsr_predictor_run(y, a->predictor, &all, NULL) != TSR_USAGE ||
                    !strstr(tsr_last_error(), "3 numbers");
        all.shape[0] = SAMPLES;
        all.shape[1] = INPUTS;
    }
    return NULL;
}

static void two_runs_and_eight_askers(void **state)
{
    (void)state;
    tsr_model *model = small_model(NULL);
    tsr_predictor *predictor = NULL;
    float wanted[SAMPLES * 3];
    asker askers[ASKERS];
    trainer alone = {.run = small_run(two_workers)}, trainers[2];
    tsr_array all = tsr_array_of(sample_x, TSR_F32, 2, (int64_t[]){SAMPLES, INPUTS});
    assert_ok(tsr_predictor_create(&predictor, model, NULL));
    assert_ok(tsr_predictor_run(wanted, predictor, &all, NULL));
    (void)train_it(&alone);
    for (int i = 0; i < 2; i++) {
        trainers[i] = (trainer){.run = small_run(two_workers)};
        assert_int_equal(pthread_create(&trainers[i].thread, NULL, train_it, &trainers[i]), 0);
    }
    for (int i = 0; i < ASKERS; i++) {
        askers[i] = (asker){.predictor = predictor, .wanted = wanted};
        assert_int_equal(pthread_create(&askers[i].thread, NULL, ask_all, &askers[i]), 0);
    }
    for (int i = 0; i < ASKERS; i++) {
        assert_int_equal(pthread_join(askers[i].thread, NULL), 0);
        assert_int_equal(askers[i].wrong, 0);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(trainers[i].thread, NULL), 0);
        assert_int_equal(trainers[i].status, TSR_OK);
        same_bits(trainers[i].run, alone.run);
        tsr_run_destroy(trainers[i].run);
    }
    tsr_run_destroy(alone.run);
    tsr_predictor_destroy(predictor);
    tsr_model_destroy(model);
}

/* A run is stopped from another thread, while a second one in the same process goes on. */
static void one_is_stopped(void **state)
{
    (void)state;
    static const char *const long_run[] = {"threads=2", "epochs=100000", NULL};
    trainer t = {.run = small_run(long_run)}, other = {.run = small_run(two_workers)};
    assert_int_equal(pthread_create(&t.thread, NULL, train_it, &t), 0);
    assert_int_equal(pthread_create(&other.thread, NULL, train_it, &other), 0);
    assert_int_equal(pthread_join(other.thread, NULL), 0);
    tsr_run_stop(t.run);
    assert_int_equal(pthread_join(t.thread, NULL), 0);
    assert_int_equal(t.status, TSR_INTERRUPTED);
    assert_int_equal(other.status, TSR_OK);
    tsr_run_destroy(t.run);
    tsr_run_destroy(other.run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_runs_and_eight_askers),
                                       cmocka_unit_test(one_is_stopped)};
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
