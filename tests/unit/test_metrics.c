/* metrics.jsonl: lines whole at every moment, cut at a checkpoint's offset, repaired after a crash.
 */
#include "scratch.h"

#include "faults.h"
#include "io/metrics.h"

#define ONE "{\"a\":1}"
#define TWO "{\"b\":22}"

/* ONE as the first line of a file has it: with the version of all lines. */
#define FIRST "{\"format\":1,\"a\":1}"
enum { FIRST_BYTES = sizeof FIRST }; /* with the line end */

static void assert_content(const char *path, const char *text)
{
    char *bytes = NULL;
    int64_t n = 0;
    assert_ok(tsri_file_read(&bytes, &n, path, 1 << 20));
    assert_string_equal(bytes, text);
    tsri_free(bytes);
}

static void lines_are_there_at_once(void **state)
{
    (void)state;
    const char *path = scratch_path("m");
    tsri_metrics *m = NULL;
    assert_ok(tsri_metrics_open(&m, path, 0));
    assert_int_equal(tsri_metrics_offset(m), 0);
    assert_ok(tsri_metrics_line(m, ONE));
    assert_content(path, FIRST "\n");
    assert_int_equal(tsri_metrics_offset(m), FIRST_BYTES);
    assert_ok(tsri_metrics_line(m, TWO));
    assert_content(path, FIRST "\n" TWO "\n");
    assert_fails(tsri_metrics_line(m, "a\nb"), TSR_FAILURE, "line end inside");
    assert_ok(tsri_metrics_sync(m));
    tsri_metrics_close(m);
    assert_ok(tsri_metrics_open(&m, path,
                                FIRST_BYTES)); /* the checkpoint was made after the first line */
    assert_content(path, FIRST "\n");
    assert_ok(tsri_metrics_line(m, TWO));
    assert_content(path, FIRST "\n" TWO "\n");
    tsri_metrics_close(m);
    assert_ok(tsri_metrics_open(&m, path, 0));
    assert_content(path, "");
    tsri_metrics_close(m);
    assert_fails(tsri_metrics_open(&m, scratch_path("no/m"), 0), TSR_FAILURE, "No such file");
}

static void count_warnings(void *context, tsr_log_level level, const char *text)
{
    (void)level;
    assert_non_null(strstr(text, "are lost"));
    ++*(int *)context;
}

/* Torn at every length, opened at every offset: what is left is whole lines, as many as fit. */
static void torn_lines_are_repaired(void **state)
{
    (void)state;
    static const char text[] = ONE "\n" TWO "\n";
    int warnings = 0;
    tsr_set_log(count_warnings, &warnings, TSR_LOG_WARNING);
    for (int64_t size = 0; size <= 17; size++) {
        for (int64_t offset = -1; offset <= 20; offset++) {
            const char *path = scratch_put("t", text, (size_t)size);
            tsri_metrics *m = NULL;
            int before = warnings;
            assert_ok(tsri_metrics_open(&m, path, offset));
            int64_t end = offset < 0 || offset > size ? size : offset;
            int64_t whole = end >= 17 ? 17 : end >= 8 ? 8 : 0;
            assert_int_equal(tsri_metrics_offset(m), whole);
            assert_int_equal(warnings - before, offset > size);
            assert_ok(tsri_metrics_line(m, "{}"));
            tsri_metrics_close(m);
            char expected[32] = {0};
            memcpy(expected, text, (size_t)whole);
            (void)strcpy(expected + whole, whole > 0 ? "{}\n" : "{\"format\":1}\n");
            assert_content(path, expected);
        }
    }
    tsr_set_log(NULL, NULL, TSR_LOG_ERROR);
    assert_true(warnings > 0);
}

/* A torn line longer than the block that is read backwards. */
static void long_lines(void **state)
{
    (void)state;
    static char line[20001];
    const char *path = scratch_path("l");
    tsri_metrics *m = NULL;
    memset(line, 'x', 20000);
    assert_ok(tsri_metrics_open(&m, path, 0));
    assert_ok(tsri_metrics_line(m, ONE));
    assert_ok(tsri_metrics_line(m, line));
    tsri_metrics_close(m);
    assert_int_equal(truncate(path, FIRST_BYTES + 15000), 0);
    assert_ok(tsri_metrics_open(&m, path, TSRI_METRICS_END));
    assert_int_equal(tsri_metrics_offset(m), FIRST_BYTES);
    tsri_metrics_close(m);
    assert_content(path, FIRST "\n");
}

/* The disk is full for one line: a status, no part of the line, and the next line goes through. */
static void a_failed_line_leaves_nothing(void **state)
{
    (void)state;
    static const int errors[] = {ENOSPC, EIO};
    for (int e = 0; e < 2; e++) {
        const char *path = scratch_path("f");
        tsri_metrics *m = NULL;
        assert_ok(tsri_metrics_open(&m, path, 0));
        assert_ok(tsri_metrics_line(m, ONE));
        fault_at = 0;
        faults_on(errors[e], false);
        tsr_status st = tsri_metrics_line(m, TWO);
        assert_true(faults_off());
        assert_int_equal(st, e == 0 ? TSR_RESOURCES : TSR_FAILURE);
        assert_int_equal(tsri_metrics_offset(m), FIRST_BYTES);
        assert_content(path, FIRST "\n");
        assert_ok(tsri_metrics_line(m, TWO));
        assert_content(path, FIRST "\n" TWO "\n");
        tsri_metrics_close(m);
    }
}

static ssize_t half_then_full(int fd, const void *bytes, size_t n)
{
    static int turn;
    if (turn++ % 2 == 0)
        return write(fd, bytes, n / 2);
    errno = ENOSPC;
    return -1;
}

static void half_a_line_is_taken_back(void **state)
{
    (void)state;
    tsri_io_table old = tsri_io;
    tsri_metrics *m = NULL;
    const char *path = scratch_path("h");
    assert_ok(tsri_metrics_open(&m, path, 0));
    assert_ok(tsri_metrics_line(m, ONE));
    tsri_io.write = half_then_full;
    assert_fails(tsri_metrics_line(m, TWO), TSR_RESOURCES, "free some space");
    tsri_io = old;
    assert_content(path, FIRST "\n");
    assert_ok(tsri_metrics_line(m, TWO));
    assert_content(path, FIRST "\n" TWO "\n");
    tsri_metrics_close(m);
}

static void failed_allocations(void **state)
{
    (void)state;
    int failures = 0;
    for (int64_t n = 0, done = 0; !done; n++) {
        tsri_metrics *m = NULL;
        (void)tsri_alloc_fail_after(n, n % 2);
        tsr_status st = tsri_metrics_open(&m, scratch_path("a"), 0);
        if (st == TSR_OK)
            st = tsri_metrics_line(m, ONE);
        (void)tsri_alloc_fail_after(-1, false);
        done = st == TSR_OK;
        failures += !done;
        assert_true(done || st == TSR_RESOURCES);
        tsri_metrics_close(m);
    }
    assert_int_equal(failures, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_there_at_once),
        cmocka_unit_test(torn_lines_are_repaired),
        cmocka_unit_test(long_lines),
        cmocka_unit_test(a_failed_line_leaves_nothing),
        cmocka_unit_test(half_a_line_is_taken_back),
        cmocka_unit_test(failed_allocations),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
