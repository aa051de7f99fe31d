/* metrics.jsonl: lines whole at every moment, cut at a checkpoint's offset, repaired after a crash.
 */
#include "scratch.h"

#include "faults.h"
#include "io/metrics.h"

#include <sys/stat.h>

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
    assert_true(strstr(text, "are lost") || strstr(text, "is kept for later"));
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

/* The disk is full for some lines: one warning, no part of them in the file, and they go out with
 * the next that can be written. Once they were gone for good, and the run ended with exit 0. */
static void lines_wait_for_room(void **state)
{
    (void)state;
    static const int errors[] = {ENOSPC, EIO};
    int warnings = 0;
    tsr_set_log(count_warnings, &warnings, TSR_LOG_WARNING);
    for (int e = 0; e < 2; e++) {
        const char *path = scratch_path("f");
        tsri_metrics *m = NULL;
        assert_ok(tsri_metrics_open(&m, path, 0));
        assert_ok(tsri_metrics_line(m, ONE));
        int64_t two = FIRST_BYTES + (int64_t)strlen(TWO) + 1;
        fault_at = 0;
        for (int line = 0; line < 2; line++) {
            faults_on(errors[e], true);
            assert_ok(tsri_metrics_line(m, TWO));
            assert_int_equal(tsri_metrics_offset(m), two + line * (two - FIRST_BYTES));
            assert_int_equal(tsri_metrics_sync(m), e == 0 ? TSR_RESOURCES : TSR_FAILURE);
            assert_true(faults_off());
            assert_content(path, FIRST "\n");
        }
        assert_false(tsri_metrics_broken(m));
        assert_ok(tsri_metrics_line(m, ONE));
        assert_content(path, FIRST "\n" TWO "\n" TWO "\n" ONE "\n");
        assert_ok(tsri_metrics_sync(m));
        tsri_metrics_close(m);
    }
    tsr_set_log(NULL, NULL, TSR_LOG_ERROR);
    assert_int_equal(warnings, 2);
}

static int no_fsync(int fd)
{
    (void)fd;
    errno = EIO;
    return -1;
}

/* After a failed fsync the kernel may call lost pages clean: one that succeeds proves nothing. */
static void a_failed_fsync_is_for_good(void **state)
{
    (void)state;
    tsri_io_table old = tsri_io;
    tsri_metrics *m = NULL;
    assert_ok(tsri_metrics_open(&m, scratch_path("s"), 0));
    assert_ok(tsri_metrics_line(m, ONE));
    tsri_io.fsync = no_fsync;
    assert_fails(tsri_metrics_sync(m), TSR_FAILURE, "bring to the disk");
    tsri_io = old;
    assert_true(tsri_metrics_broken(m));
    assert_fails(tsri_metrics_sync(m), TSR_FAILURE, "add --resume");
    tsri_metrics_close(m);
}

/* A folder from a stranger: the file that metrics.jsonl points at was emptied. */
static void links_are_refused(void **state)
{
    (void)state;
    tsri_metrics *m = NULL;
    const char *target = scratch_put("target", "precious", 8);
    assert_int_equal(symlink(target, scratch_path("link")), 0);
    assert_fails(tsri_metrics_open(&m, scratch_path("link"), 0), TSR_USAGE, "is a symbolic link");
    assert_content(target, "precious");
    assert_int_equal(unlink(scratch_path("link")), 0);
    assert_int_equal(symlink(scratch_path("absent"), scratch_path("link")), 0);
    assert_fails(tsri_metrics_open(&m, scratch_path("link"), 0), TSR_USAGE, "is a symbolic link");
    assert_int_equal(unlink(scratch_path("link")), 0);
    assert_int_equal(mkfifo(scratch_path("pipe"), 0600), 0);
    assert_fails(tsri_metrics_open(&m, scratch_path("pipe"), 0), TSR_USAGE, "not a regular file");
    assert_int_equal(unlink(scratch_path("pipe")), 0);
    assert_int_equal(unlink(scratch_path("target")), 0);
}

static int synced[8], syncs; /* 1 = the file, 2 = a folder */

static int noted_fsync(int fd)
{
    struct stat about;
    assert_int_equal(fstat(fd, &about), 0);
    assert_true(syncs < 8);
    synced[syncs++] = S_ISDIR(about.st_mode) ? 2 : 1;
    return fsync(fd);
}

/* A power cut must not take a new file's name away: file, then folder, once. */
static void a_new_file_is_on_the_disk(void **state)
{
    (void)state;
    tsri_io_table old = tsri_io;
    tsri_metrics *m = NULL;
    tsri_io.fsync = noted_fsync;
    for (int again = 0; again < 2; again++) {
        assert_ok(tsri_metrics_open(&m, scratch_path("new"), 0));
        tsri_metrics_close(m);
        assert_int_equal(syncs, 2);
        assert_true(synced[0] == 1 && synced[1] == 2);
    }
    tsri_io = old;
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
    assert_ok(tsri_metrics_line(m, TWO));
    assert_fails(tsri_metrics_flush(m), TSR_RESOURCES, "free some space");
    tsri_io = old;
    assert_content(path, FIRST "\n");
    assert_ok(tsri_metrics_flush(m));
    assert_content(path, FIRST "\n" TWO "\n");
    tsri_metrics_close(m);
}

static off_t no_end(int fd, off_t offset, int whence)
{
    errno = EIO;
    return whence == SEEK_END ? -1 : lseek(fd, offset, whence);
}

static off_t no_lseek(int fd, off_t offset, int whence)
{
    if (whence == SEEK_END)
        return lseek(fd, offset, whence);
    errno = EIO;
    return -1;
}

static int no_ftruncate(int fd, off_t size)
{
    (void)fd, (void)size;
    errno = EIO;
    return -1;
}

/* Wherever the place in the file cannot be found or cut, it is said and nothing is lost. */
static void a_place_that_cannot_be_found(void **state)
{
    (void)state;
    tsri_io_table old = tsri_io;
    tsri_metrics *m = NULL;
    const char *path = scratch_put("p", ONE "\n" TWO, strlen(ONE "\n" TWO));
    tsri_io.lseek = no_end;
    assert_fails(tsri_metrics_open(&m, path, TSRI_METRICS_END), TSR_FAILURE, "find the end");
    tsri_io.lseek = no_lseek;
    assert_fails(tsri_metrics_open(&m, path, TSRI_METRICS_END), TSR_FAILURE, "cannot go back");
    tsri_io = old;
    tsri_io.ftruncate = no_ftruncate;
    assert_fails(tsri_metrics_open(&m, path, TSRI_METRICS_END), TSR_FAILURE, "cut the file");
    tsri_io = old;
    assert_ok(tsri_metrics_open(&m, path, TSRI_METRICS_END));
    tsri_io.write = half_then_full; /* a line that waits */
    assert_ok(tsri_metrics_line(m, TWO));
    tsri_io = old;
    tsri_io.lseek = no_lseek;
    assert_fails(tsri_metrics_flush(m), TSR_FAILURE, "find the end");
    tsri_io = old;
    assert_ok(tsri_metrics_flush(m));
    assert_content(path, ONE "\n" TWO "\n");
    tsri_metrics_close(m);
}

/* What waits is kept in memory, and not without end. */
static void a_full_disk_for_too_long(void **state)
{
    (void)state;
    enum { LINE = 9 << 20 };
    tsri_metrics *m = NULL;
    char *line = NULL;
    int lines = 0;
    assert_ok(tsri_alloc(&line, LINE, 1));
    memset(line, 'x', LINE - 1);
    assert_ok(tsri_metrics_open(&m, scratch_path("full"), 0));
    fault_at = 0;
    faults_on(ENOSPC, true);
    while (lines < 20 && tsri_metrics_line(m, line) == TSR_OK)
        lines++;
    assert_true(faults_off());
    assert_int_equal(lines, 8);
    assert_non_null(strstr(tsr_last_error(), "lines are waiting: make room"));
    tsri_metrics_close(m);
    tsri_free(line);
}

/* A line that finds no memory leaves those that wait as they were. */
static void a_line_without_memory(void **state)
{
    (void)state;
    static char line[5000];
    tsri_metrics *m = NULL;
    const char *path = scratch_path("w");
    memset(line, 'x', sizeof line - 1);
    assert_ok(tsri_metrics_open(&m, path, 0));
    assert_ok(tsri_metrics_line(m, ONE));
    (void)tsri_alloc_fail_after(0, true);
    assert_int_equal(tsri_metrics_line(m, line), TSR_RESOURCES);
    (void)tsri_alloc_fail_after(-1, false);
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
        cmocka_unit_test(lines_wait_for_room),
        cmocka_unit_test(a_failed_fsync_is_for_good),
        cmocka_unit_test(links_are_refused),
        cmocka_unit_test(a_new_file_is_on_the_disk),
        cmocka_unit_test(half_a_line_is_taken_back),
        cmocka_unit_test(a_place_that_cannot_be_found),
        cmocka_unit_test(a_full_disk_for_too_long),
        cmocka_unit_test(a_line_without_memory),
        cmocka_unit_test(failed_allocations),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
