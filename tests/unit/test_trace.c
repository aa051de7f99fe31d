/* test_trace.c - the trace of a run: what it costs when there is none, notes of observers, failing
 * memory. (What the files of rounds hold is replayed by tests/cli/torch_replay.sh, shares.sh and
 * loft.sh.)
 */
#include "run/recalibrate.h"
#include "run/trace.h"
#include "run_testing.h"
#include "scheme/scheme.h"
#include "scratch.h"
#include "theory/run_view.h"
#include "train/describe.h"

static const char *const small = "data: {name: sphere, n: 8, dim: 3, task: regress, test_n: 2}\n"
                                 "model: {name: shallow, width: 6}\n"
                                 "optim: {name: gd, lr: 0.1, momentum: 0}\n"
                                 "rounds: 2\n"
                                 "threads: 1\n";

/* A run whose trace, if any, is the scratch folder. */
static void begin(tsri_run *run, tsr_config **config, bool traced)
{
    tsr_run_options options = tsr_run_options_default();
    *config = make_config(small, "");
    assert_ok(tsri_run_init(run, *config, &options));
    if (traced)
        assert_ok(tsri_strdup(&run->process.trace, scratch_folder));
}

static void end(tsri_run *run, tsr_config *config)
{
    tsri_run_fini(run);
    tsr_config_destroy(config);
}

static tsr_status note(tsri_run *run, const char *name, int64_t *sample, int64_t n)
{
    tsri_tensor t = {.dtype = TSRI_I64, .dims = 1, .shape = {n}, .data = sample};
    tsri_run_view view = tsri_run_view_of(run);
    return tsri_note(&view, &t, "samples.%s", name);
}

static tsr_status write_notes(tsri_run *run)
{
    tsri_run_view view = tsri_run_view_of(run);
    return tsri_notes_write(&view, "certificate");
}

static void notes_are_copied_into_a_file_of_the_round(void **state)
{
    tsri_run run;
    tsr_config *config = NULL;
    tsri_tensors *file = NULL;
    int64_t sample[3] = {5, 1, 7};
    (void)state;
    begin(&run, &config, true);
    run.position.round = 41;
    assert_ok(note(&run, "alpha_x", sample, 3));
    sample[0] = 0; /* noted is noted */
    assert_ok(note(&run, "none", sample, 0));
    assert_ok(write_notes(&run));
    assert_ok(tsri_tensors_read(&file, scratch_path("certificate-000041.safetensors")));
    assert_int_equal(file->count, 2);
    const tsri_tensor *t = tsri_tensors_find(file, "samples.alpha_x");
    assert_non_null(t);
    assert_int_equal(t->shape[0], 3);
    assert_memory_equal(t->data, ((int64_t[]){5, 1, 7}), 3 * sizeof(int64_t));
    assert_int_equal(tsri_tensors_find(file, "samples.none")->shape[0], 0);
    tsri_tensors_destroy(file);

    run.position.round = 42; /* written notes are gone, and nothing makes no file */
    assert_ok(write_notes(&run));
    assert_false(tsri_file_exists(scratch_path("certificate-000042.safetensors")));
    end(&run, config);
}

static void two_notes_of_one_name_are_refused(void **state)
{
    tsri_run run;
    tsr_config *config = NULL;
    int64_t sample[1] = {5};
    (void)state;
    begin(&run, &config, true);
    assert_ok(note(&run, "x", sample, 1));
    assert_ok(note(&run, "x", sample, 1));
    assert_fails(write_notes(&run), TSR_FAILURE, "two tensors are named");
    end(&run, config);
}

static void without_a_trace_nothing_is_kept(void **state)
{
    tsri_run run;
    tsr_config *config = NULL;
    int64_t sample[1] = {5};
    (void)state;
    begin(&run, &config, false);
    int64_t blocks = tsri_alloc_blocks();
    assert_ok(note(&run, "x", sample, 1));
    assert_ok(write_notes(&run));
    assert_int_equal(tsri_alloc_blocks(), blocks);
    end(&run, config);
}

static void every_allocation_of_a_note_may_fail(void **state)
{
    tsri_run run;
    tsr_config *config = NULL;
    int64_t sample[1] = {5};
    tsr_status st = TSR_RESOURCES;
    (void)state;
    for (int64_t n = 0; st != TSR_OK; n++) {
        begin(&run, &config, true);
        (void)tsri_alloc_fail_after(n, false);
        st = note(&run, "x", sample, 1);
        if (st == TSR_OK)
            st = write_notes(&run);
        (void)tsri_alloc_fail_after(-1, false);
        assert_true(st == TSR_OK || st == TSR_RESOURCES);
        end(&run, config);
    }
}

/* ---- Rounds -------------------------------------------------------------------------------- */

static const char *const moving = "data: {name: glyphs, n: 24, test_n: 8, augment: crop-flip}\n"
                                  "model: {name: mlp, hidden: [6, 5], norm: batch}\n"
                                  "scheme: {name: ist, workers: 2, recalibrate: 2}\n"
                                  "rounds: 2\n"
                                  "batch: 8\n"
                                  "threads: 1\n"
                                  "backend: ref\n";

static tsr_status one_round(tsr_config *config, bool traced, int64_t *blocks)
{
    tsr_status st = TSR_OK;
    tsri_run run;
    tsr_run_options options = tsr_run_options_default();
    TSR_TRY(tsri_run_init(&run, config, &options));
    if (traced)
        TSR_TRY(tsri_strdup(&run.process.trace, scratch_folder));
    TSR_TRY(run.settings.scheme->setup(&run));
    *blocks = tsri_alloc_blocks();
    TSR_TRY(run.settings.scheme->round(&run));
    TSR_TRY(tsri_recalibrate_after(&run, 1));
    *blocks = tsri_alloc_blocks() - *blocks;
    assert_true(traced == (run.process.tracer != NULL));
done:
    tsri_run_fini(&run);
    return st;
}

static void a_round_without_a_trace_keeps_nothing(void **state)
{
    tsr_config *config = make_config(moving, "scheme.recalibrate=0");
    int64_t without, with;
    (void)state;
    assert_ok(one_round(config, false, &without));
    assert_ok(one_round(config, true, &with));
    assert_int_equal(with - without, 6); /* the tracer and its five vectors */
    tsr_config_destroy(config);
}

static void every_allocation_of_a_traced_round_may_fail(void **state)
{
    tsr_config *config = make_config(moving, "");
    tsr_status st = TSR_RESOURCES;
    int64_t blocks;
    (void)state;
    for (int64_t n = 0; st != TSR_OK; n++) {
        (void)tsri_alloc_fail_after(n, false);
        st = one_round(config, true, &blocks);
        (void)tsri_alloc_fail_after(-1, false);
        assert_true(st == TSR_OK || st == TSR_RESOURCES);
    }
    assert_true(tsri_file_exists(scratch_path("round-000000.safetensors")));
    assert_true(tsri_file_exists(scratch_path("recalibrate-000001.safetensors")));
    tsr_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notes_are_copied_into_a_file_of_the_round),
        cmocka_unit_test(two_notes_of_one_name_are_refused),
        cmocka_unit_test(without_a_trace_nothing_is_kept),
        cmocka_unit_test(every_allocation_of_a_note_may_fail),
        cmocka_unit_test(every_allocation_of_a_traced_round_may_fail),
        cmocka_unit_test(a_round_without_a_trace_keeps_nothing),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
