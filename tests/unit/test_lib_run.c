/* test_lib_run.c - runs as programs hold them: step by step, watched, stopped, two at once. */
#include "library_testing.h"

#include <math.h>
#include <pthread.h>

typedef struct watch {
    int64_t rounds, lines, messages, shown, evaluations;
    int64_t stop_at, fail_at; /* -1 = never */
    tsr_run *run;
} watch;

static tsr_status on_round(void *context, const tsr_progress *p)
{
    watch *w = context;
    w->rounds++;
    assert_int_equal(p->round, w->rounds);
    if (p->round == w->fail_at)
        return tsr_fail(TSR_FAILURE, "the cat is on the keyboard");
    return p->round == w->stop_at ? TSR_INTERRUPTED : TSR_OK;
}

static void on_metrics(void *context, const char *line)
{
    watch *w = context;
    w->lines++;
    assert_true(line[0] == '{' && strstr(line, "\"round\""));
}

static void on_message(void *context, tsr_log_level level, const char *text)
{
    watch *w = context;
    (void)level;
    w->messages += strstr(text, "heavy ball") != NULL;
}

static void on_progress(void *context, const tsr_progress *p)
{
    watch *w = context;
    w->shown++;
    w->evaluations += p->evaluated;
}

static tsr_run_options watched(watch *w, const tsr_data *data)
{
    tsr_run_options o = tsr_run_options_default();
    *w = (watch){.stop_at = -1, .fail_at = -1};
    o.data = data;
    o.round = on_round;
    o.metrics = on_metrics;
    o.message = on_message;
    o.progress = on_progress;
    o.context = w;
    return o;
}

static void same_numbers(tsr_model *a, tsr_model *b)
{
    tsr_param p = tsr_param_default(), q = tsr_param_default();
    assert_int_equal(tsr_model_params(a), tsr_model_params(b));
    for (int64_t i = 0; i < tsr_model_params(a); i++) {
        int64_t count = 1;
        assert_ok(tsr_model_param(&p, a, i));
        assert_ok(tsr_model_param(&q, b, i));
        for (int d = 0; d < p.values.dims; d++)
            count *= p.values.shape[d];
        assert_memory_equal(p.values.data, q.values.data, (size_t)count * sizeof(float));
    }
}

/* ---- Rounds --------------------------------------------------------------------------------- */

static void round_by_round(void **state)
{
    (void)state;
    static const char *const gd[] = {"optim.name=gd", "optim.momentum=0.5", NULL};
    tsr_data *data = vectors_data();
    tsr_config *config = small_config(gd);
    tsr_run *run = NULL, *other = NULL;
    tsr_model *model = NULL, *at_once = NULL;
    watch w, v;
    tsr_run_options o = watched(&w, data), p = watched(&v, data);
    tsr_result r = tsr_result_default(), again = tsr_result_default();
    tsr_progress now = tsr_progress_default();
    int64_t steps = 0;
    assert_ok(tsr_run_create(&run, config, &o));
    assert_ok(tsr_run_progress(&now, run));
    assert_int_equal(now.round, 0);
    for (bool more = true; more; steps++)
        assert_ok(tsr_run_step(run, &more));
    assert_ok(tsr_run_step(run, NULL)); /* nothing is left to do */
    assert_ok(tsr_run_progress(&now, run));
    assert_int_equal(now.round, now.rounds);
    assert_int_equal(steps, now.rounds);
    assert_int_equal(w.rounds, steps);
    assert_true(w.lines > 0 && w.evaluations == w.lines && w.shown > 0);
    assert_int_equal(w.messages, 1);
    assert_ok(tsr_run_finish(&r, run));
    assert_ok(tsr_run_finish(&again, run));
    assert_memory_equal(&r, &again, sizeof r);
    assert_true(r.accuracy > 0.9 && r.rounds == steps);
    assert_ok(tsr_run_model(&model, run));
    assert_ok(tsr_run_create(&other, config, &p));
    assert_ok(tsr_run_finish(&again, other));
    assert_ok(tsr_run_model(&at_once, other));
    same_numbers(model, at_once);
    tsr_run_destroy(run);
    tsr_run_destroy(other);
    tsr_model_destroy(model);
    tsr_model_destroy(at_once);
    tsr_data_destroy(data);
    tsr_config_destroy(config);
}

/* Hears of every round whether the test set was looked at after it. */
typedef struct judge {
    int64_t rounds, evaluations;
    double loss, test_loss;
} judge;

static tsr_status on_judged(void *context, const tsr_progress *p)
{
    judge *j = context;
    j->rounds++;
    assert_true(p->loss > 0); /* also right after an evaluation */
    if (!p->evaluated)
        return TSR_OK;
    j->evaluations++;
    j->loss = p->loss;
    j->test_loss = p->test_loss;
    return j->evaluations == 3 ? TSR_INTERRUPTED : TSR_OK;
}

/* A program that stops when the test loss is good enough must hear of evaluations in its round: once
 * `evaluated` was never true there, nor in tsr_run_progress, which had no loss after one. */
static void hears_evaluations(void **state)
{
    (void)state;
    static const char *const often[] = {"eval.every=2", NULL};
    tsr_data *data = vectors_data();
    tsr_config *config = small_config(often);
    tsr_result r = tsr_result_default();
    tsr_progress now = tsr_progress_default();
    tsr_run *run = NULL;
    judge j = {0};
    tsr_run_options o = tsr_run_options_default();
    o.data = data;
    o.round = on_judged;
    o.context = &j;
    assert_ok(tsr_run_create(&run, config, &o));
    assert_fails(tsr_run_finish(&r, run), TSR_INTERRUPTED, "stopped after round");
    assert_int_equal(j.evaluations, 3);
    assert_ok(tsr_run_progress(&now, run));
    assert_int_equal(now.round, j.rounds);
    assert_true(now.epoch > 5.9 && now.epoch < 6.4); /* three times two epochs */
    assert_true(now.evaluated && now.test_loss == j.test_loss && now.loss == j.loss);
    tsr_run_destroy(run);
    tsr_data_destroy(data);
    tsr_config_destroy(config);
}

/* The last line of the run's metrics contains `text`. Once a run by handle had no line of its end: a
 * watcher took it for killed. */
static void ends_with(const char *text)
{
    char *bytes = NULL;
    int64_t n = 0;
    assert_ok(tsri_file_read(&bytes, &n, scratch_path("run/metrics.jsonl"), 1 << 20));
    char *end = strrchr(bytes, '{');
    assert_non_null(end);
    if (!strstr(end, text))
        fail_msg("the last line is %s", end);
    tsri_free(bytes);
}

/* A run in a folder and one without are the same to the bit, and so is one that was stopped and
 * resumed; its model file is what tsr_run_model gives. */
static void with_and_without_a_folder(void **state)
{
    (void)state;
    tsr_data *data = vectors_data();
    tsr_config *config = small_config(NULL);
    tsr_model *memory = small_model(NULL), *file = NULL, *handed = NULL;
    tsr_result r = tsr_result_default();
    tsr_run *run = NULL;
    watch w;
    tsr_run_options o = watched(&w, data);
    char folder[512];
    (void)snprintf(folder, sizeof folder, "%s", scratch_path("run"));
    o.folder = folder;
    w.stop_at = 3;
    assert_ok(tsr_run_create(&run, config, &o));
    assert_fails(tsr_run_finish(&r, run), TSR_INTERRUPTED, "stopped after round 3");
    assert_fails(tsr_run_step(run, NULL), TSR_INTERRUPTED, "the run has ended");
    ends_with("\"event\":\"ended\",\"round\":3,\"status\":\"interrupted\",\"why\":\"stopped after");
    tsr_run_destroy(run);
    w.stop_at = -1;
    assert_fails(tsr_run_create(&run, config, &o), TSR_USAGE, "holds a run already");
    o.resume = true;
    assert_ok(tsr_run_create(&run, config, &o)); /* and is let go */
    assert_ok(tsr_run_step(run, NULL));
    (void)tsr_model_read(&file, scratch_path("nowhere"));
    tsr_run_destroy(run);
    assert_non_null(strstr(tsr_last_error(), "nowhere")); /* which is still the last error */
    ends_with("\"event\":\"ended\",\"round\":4,\"status\":\"interrupted\",\"why\":\"the program "
              "destroyed it");
    assert_ok(tsr_run_create(&run, config, &o));
    memset(folder, 0, sizeof folder); /* the run has a copy */
    w.rounds = 3;
    assert_ok(tsr_run_finish(&r, run));
    assert_ok(tsr_run_model(&handed, run));
    assert_ok(tsr_model_read(&file, scratch_path("run/model.safetensors")));
    same_numbers(memory, file);
    same_numbers(memory, handed);
    tsr_run_destroy(run);
    tsr_model_destroy(memory);
    tsr_model_destroy(handed);
    tsr_model_destroy(file);
    tsr_data_destroy(data);
    tsr_config_destroy(config);
}

static void begins_with_a_model(void **state)
{
    (void)state;
    tsr_data *data = vectors_data();
    tsr_config *config = small_config(NULL);
    tsr_model *first = small_model(NULL), *now = NULL;
    tsr_run *run = NULL;
    tsr_run_options o = tsr_run_options_default();
    o.data = data;
    o.model = first;
    assert_ok(tsr_run_create(&run, config, &o));
    assert_ok(tsr_run_model(&now, run));
    same_numbers(first, now);
    tsr_run_destroy(run);
    tsr_model_destroy(now);
    o.init = "also.safetensors";
    assert_fails(tsr_run_create(&run, config, &o), TSR_USAGE, "not both");
    tsr_model_destroy(first);
    tsr_data_destroy(data);
    tsr_config_destroy(config);
}

/* Counts in *context the certificates of which a row does not apply because of the model. */
static void count_given(void *context, const char *line)
{
    if (strstr(line, "\"certificate\"") && strstr(line, "the run began with a model's weights"))
        ++*(int64_t *)context;
}

/* The story: only a model's file was known to certificates. Of a model in memory, as Python's
 * train(model) and finetune give it, the theorems of weights as drawn "held". */
static void certificates_of_a_model(void **state)
{
    (void)state;
    tsr_config *config = NULL;
    tsr_model *first = NULL;
    tsr_run *run = NULL;
    tsr_result r = tsr_result_default();
    tsr_run_options o = tsr_run_options_default();
    int64_t given = 0;
    assert_ok(tsr_config_parse(&config, "data: {name: sphere, n: 12, test_n: 4, dim: 6}\n"
                                        "model: {name: relu_deep, layers: 2, width: 16}\n"
                                        "optim: {name: gd, lr: 0.01, momentum: 0}\n"
                                        "rounds: 1\ncertify: {every: 1}\nthreads: 1\n"));
    o.metrics = count_given;
    o.context = &given;
    for (int with = 0; with < 2; with++) {
        o.model = first;
        assert_ok(tsr_run_create(&run, config, &o));
        assert_ok(tsr_run_finish(&r, run));
        assert_int_equal(given, with ? 2 : 0); /* before the round and after it */
        if (!with)
            assert_ok(tsr_run_model(&first, run));
        tsr_run_destroy(run);
    }
    tsr_model_destroy(first);
    tsr_config_destroy(config);
}

/* ---- Ends ----------------------------------------------------------------------------------- */

static void callbacks_end_it(void **state)
{
    (void)state;
    tsr_data *data = vectors_data();
    tsr_config *config = small_config(NULL);
    tsr_result r = tsr_result_default();
    tsr_run *run = NULL;
    watch w;
    tsr_run_options o = watched(&w, data);
    w.fail_at = 2;
    assert_ok(tsr_run_create(&run, config, &o));
    assert_fails(tsr_run_finish(&r, run), TSR_FAILURE, "the cat is on the keyboard");
    assert_int_equal(w.rounds, 2);
    tsr_run_destroy(run);
    o = watched(&w, data);
    w.stop_at = 2;
    assert_ok(tsr_run_create(&run, config, &o));
    assert_fails(tsr_run_finish(&r, run), TSR_INTERRUPTED, "no folder to be saved in");
    tsr_run_destroy(run);
    o = watched(&w, data);
    assert_ok(tsr_run_create(&run, config, &o));
    tsr_run_stop(run);
    assert_fails(tsr_run_finish(&r, run), TSR_INTERRUPTED, "stopped after round 1");
    tsr_run_destroy(run);
    tsr_request_stop(); /* all that are in the context */
    assert_ok(tsr_run_create(&run, config, &o));
    w.rounds = 0;
    assert_fails(tsr_run_finish(&r, run), TSR_INTERRUPTED, "stopped after round 1");
    tsr_run_destroy(run);
    tsr_context_clear_stop(NULL);
    tsr_data_destroy(data);
    tsr_config_destroy(config);
}

static void refusals(void **state)
{
    (void)state;
    static const char *const back[] = {"on_divergence=rollback", NULL};
    static const char *const huge[] = {"batch=1000", NULL};
    tsr_data *data = vectors_data();
    tsr_config *config = small_config(NULL), *rolls = small_config(back),
               *large = small_config(huge);
    tsr_run *run = NULL;
    tsr_result r = tsr_result_default();
    tsr_run_options o = tsr_run_options_default();
    o.data = data;
    assert_fails(tsr_run_create(NULL, config, &o), TSR_USAGE, "NULL");
    assert_fails(tsr_run_create(&run, NULL, &o), TSR_USAGE, "NULL");
    assert_fails(tsr_run_create(&run, config, NULL), TSR_USAGE, "NULL");
    assert_fails(tsr_run_create(&run, rolls, &o), TSR_USAGE, "needs checkpoints");
    assert_fails(tsr_run_create(&run, large, &o), TSR_USAGE, "only 48 training samples");
    o.resume = true;
    assert_fails(tsr_run_create(&run, config, &o), TSR_USAGE, "cannot be resumed");
    o.resume = false;
    o.trace = true;
    assert_fails(tsr_run_create(&run, config, &o), TSR_USAGE, "trace");
    o.size = 3;
    assert_fails(tsr_run_create(&run, config, &o), TSR_USAGE, "_default()");
    assert_null(run);
    assert_fails(tsr_run_step(NULL, NULL), TSR_USAGE, "NULL");
    assert_fails(tsr_run_finish(&r, NULL), TSR_USAGE, "NULL");
    assert_fails(tsr_run_progress(NULL, NULL), TSR_USAGE, "NULL");
    assert_null(tsr_run_config(NULL));
    tsr_run_stop(NULL);
    tsr_run_destroy(NULL);
    tsr_data_destroy(data);
    tsr_config_destroy(config);
    tsr_config_destroy(rolls);
    tsr_config_destroy(large);
}

/* What the config says of data that a program gave: where they are not. */
static void config_names_the_data(void **state)
{
    (void)state;
    static const char *const glyphs[] = {"data.name=glyphs", "data.n=40", "data.test_n=8", NULL};
    tsr_config *config = small_config(NULL), *made = small_config(glyphs);
    tsr_data *data = vectors_data(), *read = NULL;
    tsr_run_options o = tsr_run_options_default();
    tsr_run *run = NULL;
    char *text = NULL;
    o.data = data;
    assert_ok(tsr_run_create(&run, made, &o)); /* the handle's data, not glyphs */
    assert_ok(tsr_config_get(&text, tsr_run_config(run), "data.name"));
    assert_string_equal(text, "arrays");
    tsr_free(text);
    tsr_run_destroy(run);
    assert_ok(tsr_data_read(&read, made));
    o.data = read;
    assert_ok(tsr_run_create(&run, config, &o));
    assert_ok(tsr_config_get(&text, tsr_run_config(run), "data.name"));
    assert_string_equal(text, "glyphs");
    tsr_free(text);
    assert_ok(tsr_config_get(&text, tsr_run_config(run), "data.n"));
    assert_string_equal(text, "40");
    tsr_free(text);
    tsr_run_destroy(run);
    tsr_data_destroy(data);
    tsr_data_destroy(read);
    tsr_config_destroy(config);
    tsr_config_destroy(made);
}

/* ---- Many ----------------------------------------------------------------------------------- */

static void *train_alone(void *context)
{
    tsr_run *run = context;
    tsr_result r = tsr_result_default();
    return tsr_run_finish(&r, run) == TSR_OK ? NULL : run;
}

static void two_at_once(void **state)
{
    (void)state;
    static const char *const pair[] = {"threads=2", "model.norm=batch", NULL};
    tsr_data *data = vectors_data();
    tsr_config *config = small_config(pair);
    tsr_model *alone = small_model(pair), *model = NULL;
    tsr_run *run[3] = {0};
    pthread_t thread[3];
    tsr_run_options o = tsr_run_options_default();
    o.data = data;
    for (int i = 0; i < 3; i++)
        assert_ok(tsr_run_create(&run[i], config, &o));
    tsr_run_stop(run[2]);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, train_alone, run[i]), 0);
    for (int i = 0; i < 3; i++) {
        void *failed;
        assert_int_equal(pthread_join(thread[i], &failed), 0);
        assert_true(!failed == (i < 2));
    }
    for (int i = 0; i < 2; i++) {
        assert_ok(tsr_run_model(&model, run[i]));
        same_numbers(alone, model);
        tsr_model_destroy(model);
    }
    for (int i = 0; i < 3; i++)
        tsr_run_destroy(run[i]);
    tsr_model_destroy(alone);
    tsr_data_destroy(data);
    tsr_config_destroy(config);
}

static tsr_status all_calls(const tsr_data *data, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    tsr_run *run = NULL;
    tsr_model *model = NULL;
    tsr_result r = tsr_result_default();
    tsr_run_options o = tsr_run_options_default();
    o.data = data;
    if ((st = tsr_run_create(&run, config, &o)) == TSR_OK &&
        (st = tsr_run_step(run, NULL)) == TSR_OK && (st = tsr_run_finish(&r, run)) == TSR_OK)
        st = tsr_run_model(&model, run);
    tsr_run_destroy(run);
    tsr_model_destroy(model);
    return st;
}

static void memory_may_fail(void **state)
{
    (void)state;
    static const char *const brief[] = {"epochs=1", "data.prefetch=false", NULL};
    tsr_data *data = vectors_data();
    tsr_config *config = small_config(brief);
    (void)tsri_alloc_fail_after(-1, false);
    assert_ok(all_calls(data, config));
    int64_t calls = tsri_alloc_fail_after(-1, false);
    for (int64_t n = 0; n < calls; n += 1 + n / 64) {
        (void)tsri_alloc_fail_after(n, false);
        assert_int_equal(all_calls(data, config), TSR_RESOURCES);
        (void)tsri_alloc_fail_after(-1, false);
    }
    tsr_data_destroy(data);
    tsr_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_by_round),        cmocka_unit_test(with_and_without_a_folder),
        cmocka_unit_test(begins_with_a_model),   cmocka_unit_test(certificates_of_a_model),
        cmocka_unit_test(callbacks_end_it),      cmocka_unit_test(refusals),
        cmocka_unit_test(config_names_the_data), cmocka_unit_test(hears_evaluations),
        cmocka_unit_test(two_at_once),           cmocka_unit_test(memory_may_fail),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
