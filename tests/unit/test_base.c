/* Status, allocator, pool, text, narrowing: the floor that everything stands on. */
#include "testing.h"

#include "base/late.h"
#include "base/log.h"
#include "base/narrow.h"
#include "base/pool.h"
#include "base/text.h"

#include <pthread.h>
#include <signal.h>

static void errors_are_sentences(void **state)
{
    (void)state;
    assert_int_equal(tsri_fail(TSR_BAD_FILE, "%s: bad", "a.npy"), TSR_BAD_FILE);
    assert_string_equal(tsr_last_error(), "a.npy: bad");
    tsri_fail_prefix("while loading: ");
    assert_string_equal(tsr_last_error(), "while loading: a.npy: bad");
    assert_string_equal(tsr_status_text(TSR_DIVERGED), "the training diverged");
}

static void memory_is_counted(void **state)
{
    (void)state;
    size_t before = tsr_memory_in_use();
    double *d = NULL;
    assert_ok(tsri_alloc(&d, 100, sizeof *d));
    assert_int_equal(tsr_memory_in_use() - before, 800);
    assert_int_equal((uintptr_t)d % 64, 0);
    for (int i = 0; i < 100; i++)
        assert_true(d[i] == 0.0);
    d[99] = 5;
    assert_ok(tsri_realloc(&d, 200, sizeof *d));
    assert_true(d[99] == 5.0 && d[100] == 0.0 && d[199] == 0.0);
    tsri_free(d);
    assert_int_equal(tsr_memory_in_use(), before);
    assert_fails(tsri_alloc(&d, INT64_MAX, 8), TSR_RESOURCES, "more than can exist");
    assert_fails(tsri_alloc(&d, -1, 8), TSR_RESOURCES, "out of memory");
    assert_null(d);
}

static void the_nth_allocation_fails(void **state)
{
    (void)state;
    char *a = NULL, *b = NULL;
    (void)tsri_alloc_fail_after(1, false);
    assert_ok(tsri_strdup(&a, "first"));
    assert_fails(tsri_strdup(&b, "second"), TSR_RESOURCES, "out of memory");
    assert_ok(tsri_strdup(&b, "third"));
    tsri_free(a);
    tsri_free(b);
    (void)tsri_alloc_fail_after(0, true);
    assert_fails(tsri_strdup(&a, "x"), TSR_RESOURCES, "out of memory");
    assert_fails(tsri_strdup(&a, "x"), TSR_RESOURCES, "out of memory");
    assert_int_equal(tsri_alloc_fail_after(-1, false), 2);
}

static void square(void *context, int64_t i, int thread)
{
    (void)thread;
    ((int64_t *)context)[i] += i * i;
}

static void every_index_runs_once(void **state)
{
    (void)state;
    static int64_t seen[1000];
    for (int threads = 1; threads <= 5; threads++) {
        tsri_pool *pool = NULL;
        assert_ok(tsri_pool_create(&pool, threads));
        assert_int_equal(tsri_pool_threads(pool), threads);
        for (int64_t count = 0; count <= 1000; count += 37) {
            memset(seen, 0, sizeof seen);
            tsri_pool_run(pool, square, seen, count);
            for (int64_t i = 0; i < 1000; i++)
                assert_int_equal(seen[i], i < count ? i * i : 0);
        }
        tsri_pool_destroy(pool);
    }
    tsri_pool *none = NULL;
    assert_fails(tsri_pool_create(&none, 0), TSR_USAGE, "threads must be");
}

static void note_mask(void *context, int64_t i, int thread)
{
    sigset_t mask;
    (void)thread;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
    ((bool *)context)[i] = sigismember(&mask, SIGTERM) == 1;
}

/* Signals are the program's: of two at once a helper took one, so that the second, which should end
 * the program at once, came after all had been saved. Helpers are called until one has taken part. */
static void helpers_take_no_signals(void **state)
{
    (void)state;
    enum { MANY = 1000, TRIES = 1000 };
    static bool masked[MANY];
    tsri_pool *pool = NULL;
    int64_t theirs = 0;
    assert_ok(tsri_pool_create(&pool, 4));
    for (int t = 0; t < TRIES && theirs == 0; t++) {
        tsri_pool_run(pool, note_mask, masked, MANY);
        for (int i = 0; i < MANY; i++)
            theirs += masked[i];
    }
    assert_true(theirs > 0);
    sigset_t own;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &own);
    assert_int_equal(sigismember(&own, SIGTERM), 0);
    tsri_pool_destroy(pool);
}

static void text_grows_and_quotes(void **state)
{
    (void)state;
    tsri_text t = {0};
    for (int i = 0; i < 1000; i++)
        assert_ok(tsri_text_add(&t, "%d,", i % 10));
    assert_int_equal(t.length, 2000);
    tsri_text_fini(&t);
    assert_string_equal(tsri_quote("a\x1b[31m\n"), "a\\x1b[31m\\x0a");
    /* Letters of all languages are shown; what is no UTF-8, C1 controls and marks that turn text
     * around are not. */
    assert_string_equal(tsri_quote("K\u00f6ln \u2603"), "K\u00f6ln \u2603");
    assert_string_equal(tsri_quote("K\xf6ln"), "K\\xf6ln");
    assert_string_equal(tsri_quote("\xc2\x9b"
                                   "31m\u202e"),
                        "\\xc2\\x9b31m\\xe2\\x80\\xae");
    char longer[2000];
    memset(longer, 'x', sizeof longer);
    assert_true(strlen(tsri_printable(longer, sizeof longer)) < 256);
    const char *words[] = {"momentum", "lr", "nesterov"};
    assert_string_equal(tsri_nearest("momentun", words, 3), "momentum");
    assert_null(tsri_nearest("xyzzyxyzzy", words, 3));
    tsri_near near = tsri_near_to("momentun");
    assert_string_equal(tsri_near_ask(&near, "see below"), "see below");
    tsri_near_try(&near, "moment");
    tsri_near_try(&near, "momentum");
    tsri_near_try(&near, "lr");
    assert_string_equal(tsri_near_ask(&near, ""), "did you mean momentum?");
    assert_string_equal(tsri_bytes_text(1536000), "1.54 MB");
}

/* A table is filled whole or left alone: one that is half full looks like a loaded library. */
static void libraries_are_loaded_late(void **state)
{
    (void)state;
    struct {
        double (*floor)(double);
        void (*other)(void);
    } table = {0};
    const tsri_late_call calls[] = {{"floor", 0}, {"no_such_call", sizeof(void *)}};
    tsri_late late = {.file = "libm.so.6",
                      .name = "libm",
                      .remedy = "install it",
                      .status = TSR_USAGE,
                      .call = calls,
                      .calls = 2};
    void *library;
    assert_fails(tsri_late_open(&library, &table, &late), TSR_USAGE,
                 "the libm.so.6 that was found has no no_such_call: install it");
    assert_null(library);
    assert_null(table.floor);
    late.calls = 1;
    assert_ok(tsri_late_open(&library, &table, &late));
    assert_true(table.floor(1.5) == 1);
    late.file = "libno-such-library.so.1";
    assert_fails(tsri_late_open(&library, &table, &late), TSR_USAGE, "libm cannot be loaded (");
}

static void narrowing_is_checked(void **state)
{
    (void)state;
    int i = 0;
    int64_t p = 0;
    assert_ok(tsri_narrow_int(&i, 2147483647, "rows"));
    assert_fails(tsri_narrow_int(&i, 2147483648, "rows"), TSR_RESOURCES, "rows is 2147483648");
    assert_ok(tsri_multiply(&p, 3, 4, "cells"));
    assert_int_equal(p, 12);
    assert_fails(tsri_multiply(&p, INT64_MAX, 2, "cells"), TSR_RESOURCES, "cells");
}

static void count_messages(void *context, tsr_log_level level, const char *text)
{
    (void)level;
    assert_string_equal(text, "hello 3");
    ++*(int *)context;
}

static void messages_go_where_asked(void **state)
{
    (void)state;
    int seen = 0;
    TSRI_WARN("nobody %d", 1);
    tsr_set_log(count_messages, &seen, TSR_LOG_WARNING);
    TSRI_WARN("hello %d", 3);
    TSRI_INFO("below the level");
    tsr_set_log(NULL, NULL, TSR_LOG_ERROR);
    assert_int_equal(seen, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_sentences),      cmocka_unit_test(memory_is_counted),
        cmocka_unit_test(the_nth_allocation_fails),  cmocka_unit_test(every_index_runs_once),
        cmocka_unit_test(text_grows_and_quotes),     cmocka_unit_test(narrowing_is_checked),
        cmocka_unit_test(libraries_are_loaded_late), cmocka_unit_test(messages_go_where_asked),
        cmocka_unit_test(helpers_take_no_signals),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
