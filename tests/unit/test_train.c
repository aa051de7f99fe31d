/* test_train.c - whole runs, with memory or the disk failing at every place.
 *
 * For every n the n-th allocation fails, once or for good: the call ends well or says RESOURCES,
 * holds nothing afterwards, and leaves a folder in which the run can be brought to its end with the
 * bits of an undisturbed one.
 */
#include "scratch.h"

#include "faults.h"
#include "io/digest.h"
#include "run/run.h"

enum { EVERY = 300, STRIDE = 17 }; /* every n below, then each 17th: the rounds repeat themselves */

static tsr_config *config;
static char wanted[TSRI_SHA256_HEX]; /* SHA-256 of the model of the undisturbed run */

static tsr_config *new_config(void)
{
    static const char *const lines[] = {"data.name=glyphs",    "data.n=24",         "data.test_n=8",
                                        "data.prefetch=false", "epochs=2",          "batch=8",
                                        "model.hidden=[4]",    "model.norm=batch",  "optim.lr=0.05",
                                        "backend=ref",         "checkpoint.keep=2", "threads=1"};
    tsr_config *c = NULL;
    assert_ok(tsr_config_create(&c));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_ok(tsr_config_set(c, lines[i]));
    return c;
}

static tsr_status train(const char *folder, bool resume)
{
    tsr_result r = tsr_result_default();
    tsr_run_options o = tsr_run_options_default();
    o.folder = folder;
    o.resume = resume;
    return tsr_train(&r, config, &o);
}

static void hash_model(char hash[TSRI_SHA256_HEX], const char *folder)
{
    char path[600], *bytes = NULL;
    int64_t n;
    (void)snprintf(path, sizeof path, "%s/model.safetensors", folder);
    assert_ok(tsri_file_read(&bytes, &n, path, 1 << 24));
    assert_ok(tsri_sha256(hash, bytes, n));
    tsri_free(bytes);
}

static void clear(const char *folder)
{
    if (tsri_file_exists(folder))
        assert_int_equal(nftw(folder, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static int setup(void **state)
{
    if (scratch_setup(state) != 0)
        return -1;
    config = new_config();
    assert_ok(train(scratch_path("whole"), false));
    hash_model(wanted, scratch_path("whole"));
    return 0;
}

static int teardown(void **state)
{
    tsr_config_destroy(config);
    config = NULL;
    return scratch_teardown(state);
}

/* The run in the folder is brought to its end, and it is the same run. (No folder: nothing to go on
 * with, and the next call begins anew anyway.) */
static void finish_run(const char *folder, const char *what, int64_t n)
{
    char hash[TSRI_SHA256_HEX];
    if (!tsri_file_exists(folder))
        return;
    tsr_status st = train(folder, true);
    if (st != TSR_OK)
        fail_msg("after %s %lld: %s", what, (long long)n, tsr_last_error());
    hash_model(hash, folder);
    if (strcmp(hash, wanted) != 0)
        fail_msg("after %s %lld: another model", what, (long long)n);
}

static int64_t next(int64_t n)
{
    return n < EVERY ? n + 1 : n + STRIDE;
}

static void walk_training(bool persistent, bool resume)
{
    const char *folder = scratch_path("walk");
    char keep[512];
    (void)snprintf(keep, sizeof keep, "%s", folder);
    int64_t blocks = tsri_alloc_blocks(), tried = 0;
    for (int64_t n = 0;; n = next(n), tried++) {
        clear(keep);
        if (resume) {
            tsr_request_stop();
            assert_int_equal(train(keep, false), TSR_INTERRUPTED);
        }
        (void)tsri_alloc_fail_after(n, persistent);
        tsr_status st = train(keep, resume);
        bool met = tsri_alloc_fail_after(-1, false) > n;
        assert_int_equal(tsri_alloc_blocks(), blocks);
        if (st != TSR_OK && st != TSR_RESOURCES)
            fail_msg("allocation %lld: status %d, %s", (long long)n, (int)st, tsr_last_error());
        finish_run(keep, "allocation", n);
        if (!met)
            break;
    }
    print_message("%lld allocations failed %s\n", (long long)tried,
                  persistent ? "for good" : "once");
    assert_true(tried > 100);
}

static void training_survives_one_failure(void **state)
{
    (void)state;
    walk_training(false, false);
}

static void training_survives_no_memory(void **state)
{
    (void)state;
    walk_training(true, false);
}

static void resuming_survives(void **state)
{
    (void)state;
    walk_training(false, true);
}

/* ---- Checking, reading, evaluating -------------------------------------------------------- */

typedef tsr_status (*deed)(void);

static tsr_status do_check(void)
{
    tsr_needs needs = tsr_needs_default();
    return tsr_check(&needs, config);
}

static tsr_status do_read(void)
{
    tsr_model *model = NULL;
    tsr_status st = tsr_model_read(&model, scratch_path("whole/model.safetensors"));
    tsr_model_destroy(model);
    return st;
}

static tsr_status with_model(bool predict)
{
    tsr_model *model = NULL;
    tsr_result r = tsr_result_default();
    float *outputs = NULL;
    int32_t *labels = NULL;
    int64_t n, width;
    tsr_status st = TSR_OK;
    TSR_TRY(tsr_model_read(&model, scratch_path("whole/model.safetensors")));
    if (predict)
        TSR_TRY(tsr_model_predict(&outputs, &labels, &n, &width, model, false));
    else
        TSR_TRY(tsr_model_evaluate(&r, model, true));
done:
    tsr_free(outputs);
    tsr_free(labels);
    tsr_model_destroy(model);
    return st;
}

static tsr_status do_evaluate(void)
{
    return with_model(false);
}

static tsr_status do_predict(void)
{
    return with_model(true);
}

static void deeds_survive(void **state)
{
    static const deed all[] = {do_check, do_read, do_evaluate, do_predict};
    (void)state;
    assert_ok(tsr_config_set(config, "threads=3")); /* the start of threads fails, too */
    int64_t blocks = tsri_alloc_blocks();
    for (size_t d = 0; d < sizeof all / sizeof *all; d++)
        for (int persistent = 0; persistent < 2; persistent++)
            for (int64_t n = 0;; n = next(n)) {
                (void)tsri_alloc_fail_after(n, persistent);
                tsr_status st = all[d]();
                bool met = tsri_alloc_fail_after(-1, false) > n;
                assert_int_equal(tsri_alloc_blocks(), blocks);
                if (!met) {
                    assert_ok(st);
                    break;
                }
                if (st != TSR_RESOURCES)
                    fail_msg("deed %d, allocation %lld: status %d, %s", (int)d, (long long)n,
                             (int)st, tsr_last_error());
            }
    assert_ok(tsr_config_set(config, "threads=1"));
}

/* ---- The disk ----------------------------------------------------------------------------- */

/* Every call that changes a file fails, once or from there on. A checkpoint or a line of metrics
 * that cannot be written does not end the run. */
static void walk_disk(int error, bool persistent)
{
    char folder[512];
    (void)snprintf(folder, sizeof folder, "%s", scratch_path("disk"));
    for (fault_at = 0;; fault_at++) {
        clear(folder);
        faults_on(error, persistent);
        tsr_status st = train(folder, false);
        bool met = faults_off();
        if (st != TSR_OK && st != TSR_RESOURCES && st != TSR_FAILURE)
            fail_msg("call %d: status %d, %s", fault_at, (int)st, tsr_last_error());
        finish_run(folder, "call", fault_at);
        if (!met)
            break;
    }
    print_message("%d calls failed with errno %d%s\n", fault_at, error,
                  persistent ? " for good" : "");
    assert_true(fault_at > 20);
}

static void a_bad_disk(void **state)
{
    (void)state;
    walk_disk(ENOSPC, false);
    walk_disk(ENOSPC, true);
    walk_disk(EIO, false);
    walk_disk(FAULT_SHORT, false);
}

/* ---- Stopping ----------------------------------------------------------------------------- */

/* A stop that was asked for once stopped every later run of the process. */
static void a_stop_is_for_one_run(void **state)
{
    char folder[512];
    (void)state;
    (void)snprintf(folder, sizeof folder, "%s", scratch_path("stop"));
    tsr_request_stop();
    assert_fails(train(folder, false), TSR_INTERRUPTED, "all saved: add --resume to go on");
    finish_run(folder, "a stop", 1);
}

/* A run that cannot be made leaves nothing: the same command works when its mistake is mended. */
static void refused_runs_leave_nothing(void **state)
{
    (void)state;
    tsr_result r = tsr_result_default();
    tsr_run_options o = tsr_run_options_default();
    o.folder = scratch_path("nothing");
    tsr_config *c = new_config();
    assert_ok(tsr_config_set(c, "batch=1"));
    assert_fails(tsr_train(&r, c, &o), TSR_USAGE, "--set batch: batch norm");
    assert_ok(tsr_config_set(c, "batch=25"));
    assert_fails(tsr_train(&r, c, &o), TSR_USAGE, "batch is 25 but there are only 24");
    assert_ok(tsr_config_set(c, "batch=8"));
    assert_ok(tsr_config_set(c, "model.hidden=[10000000, 10000000]"));
    assert_fails(tsr_train(&r, c, &o), TSR_RESOURCES, "make it smaller");
    assert_ok(tsr_config_set(c, "model.hidden=[5]"));
    o.init = scratch_path("whole/model.safetensors");
    assert_fails(tsr_train(&r, c, &o), TSR_BAD_FILE, "has shape [4, 784] but the model needs [5");
    assert_false(tsri_file_exists(o.folder));
    tsr_config_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_survives_one_failure),
        cmocka_unit_test(training_survives_no_memory),
        cmocka_unit_test(resuming_survives),
        cmocka_unit_test(deeds_survive),
        cmocka_unit_test(a_bad_disk),
        cmocka_unit_test(a_stop_is_for_one_run),
        cmocka_unit_test(refused_runs_leave_nothing),
    };
    return nothing_left(cmocka_run_group_tests(tests, setup, teardown));
}
