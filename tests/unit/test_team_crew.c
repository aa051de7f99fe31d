/* test_team_crew.c - whole runs of schemes with shares on ranks that are threads: a worker that
 * returns numbers which are not finite costs its share a round, and the run says so. */
#include "run_ranks.h"
#include "scheme/scheme.h"
#include "train/checkpoint.h"
#include "train/describe.h"

static const char ist[] = "data: {name: glyphs, n: 60, test_n: 4}\n"
                          "model: {name: mlp, hidden: [16, 12], norm: batch}\n"
                          "batch: 12\nrounds: 6\noptim: {lr: 0.05, momentum: 0.9}\n"
                          "eval: {every: 0.8}\ncheckpoint: {every: 0}\nthreads: 1\n"
                          "scheme: {name: ist, workers: 3, local_steps: 2}\n";

static bool all_finite(const outcome *o)
{
    for (int64_t i = 0; i < o->count; i++)
        if (!isfinite(o->w[i]))
            return false;
    return true;
}

static int64_t lines_with(const char *words)
{
    char *bytes = NULL;
    int64_t n, count = 0;
    assert_ok(tsri_file_read(&bytes, &n, scratch_path("metrics.jsonl"), 1 << 20));
    for (const char *at = bytes; (at = strstr(at, words)); at++)
        count++;
    tsri_free(bytes);
    return count;
}

/* The checkpoint of a run that lost shares, read by a fresh one. */
static int64_t lost_in_checkpoint;

static tsr_status save_and_load(tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_run fresh = {.process.lock = -1};
    tsr_config *config = NULL;
    tsr_run_options options = tsr_run_options_default();
    bool found = false;
    options.folder = run->settings.options.folder = scratch_folder;
    TSR_TRY(tsri_make_folder(scratch_path("checkpoints")));
    TSR_TRY(tsri_checkpoint_save(run));
    TSR_TRY(make_config(&config, ist, NULL));
    TSR_TRY(tsri_run_init(&fresh, config, &options));
    TSR_TRY(fresh.settings.scheme->setup(&fresh));
    TSR_TRY(tsri_checkpoint_load(&fresh, &found));
    TSR_CHECK(found && fresh.position.round == run->position.round, TSR_FAILURE,
              "the checkpoint was not read");
    lost_in_checkpoint = fresh.position.lost_shares;
done:
    tsri_run_fini(&fresh);
    tsr_config_destroy(config);
    return st;
}

/* In one process the shares are the threads' (the thread sanitizer watches here, ./run threads):
 * their number changes no bit. */
static void any_number_of_threads(void **state)
{
    (void)state;
    static const char *const scheme[] = {
        "scheme: {name: masked, workers: 3, local_steps: 2, xi: 0.6}\n",
        "scheme: {name: ist, workers: 4, local_steps: 2}\n",
        "scheme: {name: local_sgd, workers: 3, local_steps: 2}\n",
        "scheme: {name: gpipe, workers: 3, micro_batches: 3}\n",
    };
    static const char mlp[] = "data: {name: glyphs, n: 48, test_n: 4}\n"
                              "model: {name: mlp, hidden: [16, 12, 10], norm: batch}\n"
                              "batch: 12\nrounds: 3\noptim: {lr: 0.05, momentum: 0.9}\n";
    static const char loft[] = "data: {name: glyphs, n: 24, test_n: 4, channels: 3}\n"
                               "model: {name: preresnet18, width: 4}\nbatch: 4\nrounds: 1\n"
                               "scheme: {name: loft, workers: 4, local_steps: 2}\n";
    for (int i = 0; i <= 4; i++) {
        char text[2][512];
        for (int many = 0; many < 2; many++)
            (void)snprintf(text[many], sizeof text[many], "%s%sthreads: %d\n", i < 4 ? mlp : loft,
                           i < 4 ? scheme[i] : "", many ? 4 : 1);
        outcome one = run_with(text[0], 1, 0), four = run_with(text[1], 1, 0);
        assert_memory_equal(one.w, four.w, (size_t)one.count * sizeof(float));
        assert_true(one.loss == four.loss);
        tsri_free(one.w);
        tsri_free(four.w);
    }
}

static void any_number_of_ranks(void **state)
{
    (void)state;
    outcome plain = run_with(ist, 1, 0);
    for (int ranks = 2; ranks <= 5; ranks++) {
        outcome o = run_with(ist, ranks, 60);
        assert_int_equal(o.bytes, plain.bytes);
        assert_int_equal(o.lost + o.unsound + o.stale, 0);
        assert_memory_equal(o.w, plain.w, (size_t)plain.count * sizeof(float));
        tsri_free(o.w);
    }
    tsri_free(plain.w);
}

static void nonsense_costs_a_share_its_round(void **state)
{
    (void)state;
    outcome plain = run_with(ist, 1, 0);
    faults[2] = (fault){NONSENSE, 3, 0};
    at_the_end = save_and_load;
    outcome o = run_with(ist, 4, 60);
    at_the_end = NULL;
    assert_int_equal(o.unsound, 1);
    assert_int_equal(o.lost, 0);
    assert_int_equal(lost_in_checkpoint, 1);
    assert_int_equal(lines_with("\"event\":\"lost\",\"round\":4,"), 1); /* counted from 1 */
    assert_int_equal(lines_with("\"rank\":2,\"why\":\"unsound\""), 1);
    assert_true(all_finite(&o));
    assert_memory_not_equal(o.w, plain.w, (size_t)plain.count * sizeof(float));
    tsri_free(o.w);
    tsri_free(plain.w);
}

/* When nobody's numbers are finite the run has diverged. */
static void all_nonsense_is_divergence(void **state)
{
    (void)state;
    outcome o;
    rank r[MOST];
    for (int i = 1; i <= 3; i++)
        faults[i] = (fault){NONSENSE, 2, 0};
    assert_int_equal(try_with(&o, r, ist, 4, 60), TSR_DIVERGED);
    assert_non_null(strstr(tsr_last_error(), "round 3: every worker's numbers"));
    memset(faults, 0, sizeof faults);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_number_of_threads),
                                       cmocka_unit_test(any_number_of_ranks),
                                       cmocka_unit_test(nonsense_costs_a_share_its_round),
                                       cmocka_unit_test(all_nonsense_is_divergence)};
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
