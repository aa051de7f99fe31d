/* test_gpipe_crew.c - gpipe with its stages on other ranks: the bits of one process with any number
 * of them, and also when ranks die, hang or send damaged frames, at exact moments.
 *
 * Ranks are threads (run_ranks.h). */
#include "run_ranks.h"

#include "scheme/gpipe_parts.h"
#include "scheme/scheme.h"
#include "train/describe.h"

static const char mlp[] = "data: {name: glyphs, n: 60, test_n: 4}\n"
                          "model: {name: mlp, hidden: [9, 7, 5, 6], norm: batch}\n"
                          "batch: 12\nrounds: 12\noptim: {lr: 0.05, momentum: 0.9}\n"
                          "eval: {every: 0.8}\ncheckpoint: {every: 0}\nthreads: 1\n"
                          "scheme: {name: gpipe, workers: 3, micro_batches: 3}\n";

static const char conv[] = "data: {name: glyphs, n: 24, test_n: 4, channels: 3}\n"
                           "model: {name: preresnet18, width: 3}\nbatch: 8\nrounds: 4\n"
                           "eval: {every: 0.7}\ncheckpoint: {every: 0}\nthreads: 1\n"
                           "scheme: {name: gpipe, workers: 4, micro_batches: 2}\n";

static const char rnn[] = "data: {name: sequences, n: 40, length: 6}\n"
                          "model: {name: rnn, width: 16}\nbatch: 10\nrounds: 4\n"
                          "optim: {lr: 0.001}\nthreads: 1\n"
                          "scheme: {name: gpipe, workers: 2, micro_batches: 2}\n";

static void same(const outcome *a, outcome *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->w, b->w, (size_t)a->count * sizeof(float));
    assert_true(a->loss == b->loss);
    tsri_free(b->w);
}

/* ---- Tests -------------------------------------------------------------------------------- */

/* Fewer ranks than stages share them, further ones wait; bytes are those of one process when every
 * stage has its rank, and none when all have the same. */
static void any_number_of_ranks(void **state)
{
    (void)state;
    const char *const text[] = {mlp, conv, rnn};
    const int stages[] = {3, 4, 2};
    for (int t = 0; t < 3; t++) {
        outcome plain = run_with(text[t], 1, 0);
        for (int ranks = 2; ranks <= stages[t] + 2; ranks++) {
            outcome o = run_with(text[t], ranks, 60);
            if (ranks > stages[t])
                assert_int_equal(o.bytes, plain.bytes);
            if (ranks == 2)
                assert_int_equal(o.bytes, 0);
            assert_int_equal(o.lost, 0);
            assert_int_equal(o.stale, 0);
            same(&plain, &o);
        }
        tsri_free(plain.w);
    }
}

/* At every moment: sends 0 .. 39 of the middle stage, then of the first and the last. */
static void deaths_change_no_bit(void **state)
{
    (void)state;
    outcome plain = run_with(mlp, 1, 0);
    for (int who = 1; who <= 3; who++)
        for (int64_t at = 1; at < 40; at += who == 2 ? SPARSE : 7) {
            faults[who] = (fault){DIES, at, 0};
            outcome o = run_with(mlp, 4, 60);
            assert_int_equal(o.lost, 1);
            same(&plain, &o);
        }
    tsri_free(plain.w);
}

static void the_last_one_is_not_needed(void **state)
{
    (void)state;
    outcome plain = run_with(mlp, 1, 0);
    for (int who = 1; who <= 3; who++)
        faults[who] = (fault){DIES, 4 + 2 * who, 0};
    outcome o = run_with(mlp, 4, 60);
    assert_int_equal(o.lost, 3);
    same(&plain, &o);
    tsri_free(plain.w);
}

static void who_hangs_is_passed_over(void **state)
{
    (void)state;
    outcome plain = run_with(mlp, 1, 0);
    faults[2] = (fault){HANGS, 12, 0};
    outcome o = run_with(mlp, 4, 0.3);
    same(&plain, &o);
    tsri_free(plain.w);
}

/* A damaged frame is dropped, the line stands still, and begins again from its last numbers. */
static void damage_changes_no_bit(void **state)
{
    (void)state;
    outcome plain = run_with(mlp, 1, 0);
    for (int64_t at = 8; at < 14; at++) {
        faults[2] = (fault){DAMAGES, at, 0};
        outcome o = run_with(mlp, 4, 0.2);
        same(&plain, &o);
    }
    tsri_free(plain.w);
}

/* A rank that is the whole line waits for nobody: it must hear a call between rounds that it was
 * granted, of which there are enough for seconds. The coordinator's part is played by hand. */
static void calls_are_heard_between_rounds(void **state)
{
    (void)state;
    enum { FORMING = 1, LAST = 19999 };
    tsri_comm *comm[2];
    tsri_run run = {.process.lock = -1};
    tsr_config *config = NULL;
    tsri_crew *crew = NULL;
    tsr_run_options options = tsr_run_options_default();
    assert_ok(tsri_comm_local(comm, 2));
    rank r = {.text = mlp, .setting = "rounds=20000", .comm = comm[1]};
    assert_int_equal(pthread_create(&r.thread, NULL, work, &r), 0);
    assert_ok(tsri_crew_create(&crew, comm[0], 60));
    assert_ok(make_config(&config, mlp, "rounds=20000"));
    assert_ok(tsri_run_init(&run, config, &options));
    run.process.crew = crew;
    assert_ok(run.settings.scheme->setup(&run));
    assert_ok(run.settings.scheme->assemble(&run)); /* sends the orders */
    for (int i = 0; i < 2; i++) {
        tsri_frame f = {0};
        assert_ok(tsri_comm_frame(comm[0], &f, 0));
        tsri_frame_seal(&f, i ? TSRI_CALL : TSRI_GO, i ? -1 : LAST + 1, tsri_mark(FORMING + i, 0),
                        0);
        assert_ok(tsri_comm_send(comm[0], 1, &f));
    }
    for (bool here = false; !here;) {
        tsri_frame f = {0};
        assert_ok(tsri_comm_receive(comm[0], &f, 60));
        assert_non_null(f.head);
        here = f.head->kind == TSRI_HERE;
        assert_true(here || (f.head->kind == TSRI_DONE && f.head->round < LAST));
        tsri_comm_release(comm[0], &f);
    }
    tsri_crew_end(crew);
    assert_int_equal(pthread_join(r.thread, NULL), 0);
    assert_ok(r.st);
    tsri_run_fini(&run);
    tsr_config_destroy(config);
    tsri_crew_destroy(crew);
    tsri_comm_close(comm[0]);
}

/* Whichever allocation fails, and in whichever rank: the run ends, all ranks with it, and nothing
 * is left. A failure that costs no more than a frame is made up for. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char small[] = "data: {name: glyphs, n: 8, test_n: 4}\n"
                                "model: {name: mlp, hidden: [4, 3]}\nbatch: 4\nrounds: 2\n"
                                "checkpoint: {every: 0}\nthreads: 1\n"
                                "scheme: {name: gpipe, workers: 2, micro_batches: 2}\n";
    for (int ranks = 1; ranks <= 3; ranks++) {
        outcome plain = run_with(small, ranks, 60), o;
        rank r[MOST];
        int64_t n = 0;
        for (bool failed = true; failed && n < 20000; n += 1 + SPARSE * n / 64) {
            int64_t blocks = tsri_alloc_blocks();
            (void)tsri_alloc_fail_after(n, false);
            tsr_status st = try_with(&o, r, small, ranks, 60);
            failed = n < tsri_alloc_fail_after(-1, false);
            if (st != TSR_OK)
                assert_true(st == TSR_RESOURCES || st == TSR_BAD_FILE);
            else
                assert_memory_equal(o.w, plain.w, (size_t)plain.count * sizeof(float));
            tsri_free(o.w);
            assert_int_equal(tsri_alloc_blocks(), blocks);
        }
        assert_in_range(n, 50, 19999);
        tsri_free(plain.w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_ranks),
        cmocka_unit_test(deaths_change_no_bit),
        cmocka_unit_test(the_last_one_is_not_needed),
        cmocka_unit_test(who_hangs_is_passed_over),
        cmocka_unit_test(damage_changes_no_bit),
        cmocka_unit_test(calls_are_heard_between_rounds),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
