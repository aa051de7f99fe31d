/* Files: read whole, replaced atomically whatever call fails or wherever the process dies; folders
 * made, listed, locked. */
#include "scratch.h"

#include "faults.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static int open_files(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void assert_content(const char *path, const char *text)
{
    char *bytes = NULL;
    int64_t n = 0;
    assert_ok(tsri_file_read(&bytes, &n, path, 1 << 20));
    assert_int_equal(n, strlen(text));
    assert_string_equal(bytes, text);
    tsri_free(bytes);
}

/* ---- Reading -------------------------------------------------------------------------------- */

static void files_are_read_whole(void **state)
{
    (void)state;
    char *bytes = NULL;
    int64_t n = 0;
    assert_content(scratch_put("a", "hello", 5), "hello");
    assert_content(scratch_put("a", "", 0), "");
    assert_ok(tsri_file_read(&bytes, &n, scratch_put("a", "12345", 5), 5));
    tsri_free(bytes);
    assert_fails(tsri_file_read(&bytes, &n, scratch_path("a"), 4), TSR_BAD_FILE, "larger than 4 B");
    assert_null(bytes);
    /* says size 0 and has bytes all the same */
    assert_ok(tsri_file_read(&bytes, &n, "/proc/self/status", 1 << 20));
    assert_true(n > 100 && strstr(bytes, "Name:"));
    tsri_free(bytes);
    assert_fails(tsri_file_read(&bytes, &n, "/proc/self/status", 50), TSR_BAD_FILE, "larger than");
    assert_fails(tsri_file_read(&bytes, &n, scratch_path("none"), 9), TSR_BAD_FILE, "No such file");
    assert_fails(tsri_file_read(&bytes, &n, scratch_folder, 9), TSR_BAD_FILE, "is a folder");
    assert_fails(tsri_file_read(&bytes, &n, "/dev/zero", 9), TSR_BAD_FILE, "device or a pipe");
    assert_int_equal(mkfifo(scratch_path("pipe"), 0600), 0); /* nobody writes: must not wait */
    assert_fails(tsri_file_read(&bytes, &n, scratch_path("pipe"), 9), TSR_BAD_FILE, "or a pipe");
    assert_int_equal(unlink(scratch_path("pipe")), 0);
    assert_int_equal(unlink(scratch_path("a")), 0);
}

/* Reads are cut to one byte and interrupted, every other time. */
static ssize_t slow_read(int fd, void *bytes, size_t n)
{
    static int turn;
    if (turn++ % 2) {
        errno = EINTR;
        return -1;
    }
    return read(fd, bytes, n > 1 ? 1 : n);
}

static ssize_t broken_read(int fd, void *bytes, size_t n)
{
    (void)fd, (void)bytes, (void)n;
    errno = EIO;
    return -1;
}

static void reads_may_be_short(void **state)
{
    (void)state;
    char *bytes = NULL;
    int64_t n = 0;
    tsri_io_table old = tsri_io;
    const char *path = scratch_put("s", "hello", 5);
    tsri_io.read = slow_read;
    assert_content(path, "hello");
    tsri_io.read = broken_read;
    assert_fails(tsri_file_read(&bytes, &n, path, 9), TSR_BAD_FILE, "cannot read");
    tsri_io = old;
    assert_int_equal(unlink(path), 0);
}

/* ---- Writing -------------------------------------------------------------------------------- */

static const tsri_piece NEW[] = {{"new ", 4}, {NULL, 0}, {"content", 7}};

static void files_are_replaced(void **state)
{
    (void)state;
    const char *path = scratch_path("w");
    assert_ok(tsri_file_write(path, NEW, 3));
    assert_content(path, "new content");
    assert_ok(tsri_file_write_text(path, "again"));
    assert_content(path, "again");
    assert_ok(tsri_file_write(path, NULL, 0));
    assert_content(path, "");
    assert_int_equal(scratch_count(), 1);
    assert_fails(tsri_file_write_text(scratch_path("no/w"), "x"), TSR_FAILURE, "No such file");
    assert_fails(tsri_file_write_text(scratch_folder, "x"), TSR_FAILURE, "is a folder");
    assert_fails(tsri_file_write_text("/dev/null", "x"), TSR_FAILURE, "a device");
    char name[260]; /* the longest name there is: the temporary file's must not be longer */
    memset(name, 'n', 255);
    name[255] = '\0';
    assert_ok(tsri_file_write_text(scratch_path(name), "long"));
    assert_int_equal(unlink(scratch_path(name)), 0);
    assert_int_equal(chdir(scratch_folder), 0);
    assert_ok(tsri_file_write_text("here", "x")); /* without a folder in the path */
    assert_int_equal(unlink("here"), 0);
    assert_int_equal(unlink("w"), 0);
}

/* Every call of a save fails once, in every way. After each the file is the old one or the new
 * one, whole; after a success it is the new one; no temporary file and no descriptor is left. */
static void every_call_fails_once(void **state)
{
    (void)state;
    static const int errors[] = {ENOSPC, EIO, EINTR, EDQUOT, EMFILE, FAULT_SHORT};
    const char *path = scratch_path("f");
    int files = open_files();
    for (size_t e = 0; e < sizeof errors / sizeof *errors; e++) {
        int tried = 0;
        for (fault_at = 0;; fault_at++, tried++) {
            (void)scratch_put("f", "old", 3);
            faults_on(errors[e], false);
            tsr_status st = tsri_file_write(path, NEW, 3);
            if (!faults_off()) {
                assert_int_equal(st, TSR_OK);
                break;
            }
            char *bytes = NULL;
            int64_t n = 0;
            assert_ok(tsri_file_read(&bytes, &n, path, 100));
            bool is_new = strcmp(bytes, "new content") == 0, is_old = strcmp(bytes, "old") == 0;
            tsri_free(bytes);
            if (st == TSR_OK ? !is_new : !is_old && !is_new)
                fail_msg("error %d at call %d: status %d and neither file", errors[e], fault_at,
                         (int)st);
            if (errors[e] == ENOSPC && st != TSR_OK)
                assert_int_equal(st, TSR_RESOURCES);
            if (errors[e] == FAULT_SHORT)
                assert_int_equal(st, TSR_OK);
            assert_int_equal(scratch_count(), 1);
        }
        assert_true(tried >= 7); /* folder, temp, two writes, fsync, close, rename, fsync, close */
    }
    assert_int_equal(open_files(), files);
    assert_int_equal(unlink(path), 0);
}

/* The disk stays broken: the clean-up fails too, but the old file is there. */
static void everything_after_fails(void **state)
{
    (void)state;
    const char *path = scratch_path("p");
    for (fault_at = 0;; fault_at++) {
        (void)scratch_put("p", "old", 3);
        faults_on(EIO, true);
        tsr_status st = tsri_file_write(path, NEW, 3);
        if (!faults_off())
            break;
        char *bytes = NULL;
        int64_t n = 0;
        assert_ok(tsri_file_read(&bytes, &n, path, 100));
        assert_true(strcmp(bytes, "new content") == 0 || (st != TSR_OK && n == 3));
        tsri_free(bytes);
        assert_ok(tsri_sweep_folder(scratch_folder));
        assert_int_equal(scratch_count(), 1);
    }
    assert_int_equal(unlink(path), 0);
}

/* The process dies before each call in turn: the old file or the new one, and the next start
 * sweeps what was left. */
static void killed_at_every_call(void **state)
{
    (void)state;
    const char *path = scratch_path("k");
    int deaths = 0, left = 0, renamed = 0;
    for (fault_at = 0;; fault_at++) {
        (void)scratch_put("k", "old", 3);
        pid_t child = fork();
        if (child == 0) {
            faults_on(FAULT_KILL, false);
            _exit(tsri_file_write(path, NEW, 3) == TSR_OK ? 0 : 1);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WEXITSTATUS(status) == 0)
            break;
        assert_int_equal(WEXITSTATUS(status), 9);
        deaths++;
        left += scratch_count() > 1;
        char *bytes = NULL;
        int64_t n = 0;
        assert_ok(tsri_file_read(&bytes, &n, path, 100));
        assert_true(strcmp(bytes, "old") == 0 || strcmp(bytes, "new content") == 0);
        renamed += n != 3;
        tsri_free(bytes);
        assert_ok(tsri_sweep_folder(scratch_folder));
        assert_int_equal(scratch_count(), 1);
    }
    assert_true(deaths >= 8 && left > 0 && renamed > 0);
    assert_int_equal(unlink(path), 0);
}

/* What a killed process left is cleared away by the next write into the folder; what a living one is
 * writing is not. Once only runs and sweeps cleared away, and a report that somebody wrote into a
 * run's folder when the run was resumed lost its temporary file. */
static void abandoned_files_are_removed(void **state)
{
    (void)state;
    (void)scratch_put(".tessera-1-2.tmp", "half", 4);
    (void)scratch_put(".tessera-x", "not ours", 8);
    int living = open(scratch_put(".tessera-1-3.tmp", "half", 4), O_WRONLY);
    assert_int_equal(flock(living, LOCK_EX), 0);
    assert_ok(tsri_file_write(scratch_path("n"), NEW, 3));
    assert_false(tsri_file_exists(scratch_path(".tessera-1-2.tmp")));
    assert_true(tsri_file_exists(scratch_path(".tessera-1-3.tmp")));
    assert_true(tsri_file_exists(scratch_path(".tessera-x")));
    assert_int_equal(close(living), 0);
    assert_ok(tsri_sweep_folder(scratch_folder));
    assert_false(tsri_file_exists(scratch_path(".tessera-1-3.tmp")));
    assert_int_equal(unlink(scratch_path("n")) | unlink(scratch_path(".tessera-x")), 0);
    assert_int_equal(scratch_count(), 0);
}

/* Processes that write into one folder clear away before each write, also between the moment in
 * which another one's file is made and that in which it is locked: no write is lost by that. */
static void writers_do_not_disturb_each_other(void **state)
{
    (void)state;
    enum { WRITERS = 4, WRITES = 500 };
    pid_t child[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            char name[2] = {(char)('a' + i)};
            int failed = 0;
            for (int k = 0; k < WRITES; k++)
                failed += tsri_file_write(scratch_path(name), NEW, 3) != TSR_OK;
            _exit(failed > 0);
        }
    }
    for (int i = 0; i < WRITERS; i++) {
        int status = 0;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(scratch_count(), WRITERS);
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(unlink(scratch_path((char[]){(char)('a' + i), '\0'})), 0);
}

/* A real limit of the system, met in the middle of a write. */
static void the_real_limit(void **state)
{
    (void)state;
    static char large[100000];
    const tsri_piece piece = {large, sizeof large};
    const char *path = scratch_put("l", "old", 3);
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 4096;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    tsr_status st = tsri_file_write(path, &piece, 1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(st, TSR_RESOURCES);
    assert_non_null(strstr(tsr_last_error(), "ulimit -f"));
    assert_content(path, "old");
    assert_int_equal(scratch_count(), 1);
    assert_int_equal(unlink(path), 0);
}

static void failed_allocations(void **state)
{
    (void)state;
    int failures = 0;
    for (int64_t n = 0, done = 0; !done; n++) {
        char *bytes = NULL, **names = NULL;
        int64_t size = 0, count = 0;
        (void)tsri_alloc_fail_after(n, n % 2);
        tsr_status st = tsri_file_write(scratch_path("a"), NEW, 3);
        if (st == TSR_OK)
            st = tsri_file_read(&bytes, &size, scratch_path("a"), 100);
        if (st == TSR_OK)
            st = tsri_make_folder(scratch_path("d/e"));
        if (st == TSR_OK)
            st = tsri_list_folder(&names, &count, scratch_folder);
        if (st == TSR_OK)
            st = tsri_sweep_folder(scratch_folder);
        (void)tsri_alloc_fail_after(-1, false);
        done = st == TSR_OK;
        failures += !done;
        assert_true(done || st == TSR_RESOURCES);
        tsri_free(bytes);
        tsri_names_free(names, count);
    }
    assert_true(failures > 5);
    assert_int_equal(rmdir(scratch_path("d/e")) | rmdir(scratch_path("d")), 0);
    assert_int_equal(unlink(scratch_path("a")), 0);
}

/* ---- Folders -------------------------------------------------------------------------------- */

static void folders_and_names(void **state)
{
    (void)state;
    char **names = NULL, *path = NULL;
    int64_t count = 0;
    assert_ok(tsri_make_folder(scratch_path("x/y//z/")));
    assert_ok(tsri_make_folder(scratch_path("x/y/z")));
    (void)scratch_put("x/b", "", 0);
    (void)scratch_put("x/B", "", 0);
    (void)scratch_put("x/\xC3\xA9", "", 0);
    (void)scratch_put("x/.tessera-1-2.tmp", "", 0);
    assert_ok(tsri_list_folder(&names, &count, scratch_path("x")));
    assert_int_equal(count, 5);
    assert_string_equal(names[1], "B");
    assert_string_equal(names[2], "b");
    assert_string_equal(names[3], "y");
    tsri_names_free(names, count);
    fault_at = 1; /* open, unlink */
    faults_on(EPERM, false);
    assert_fails(tsri_sweep_folder(scratch_path("x")), TSR_FAILURE, "remove");
    assert_true(faults_off());
    assert_ok(tsri_sweep_folder(scratch_path("x")));
    assert_false(tsri_file_exists(scratch_path("x/.tessera-1-2.tmp")));
    assert_true(tsri_file_exists(scratch_path("x/b")));
    assert_fails(tsri_make_folder(scratch_path("x/b")), TSR_USAGE, "is a file");
    assert_fails(tsri_make_folder(scratch_path("x/b/c")), TSR_USAGE, "x/b is a file");
    assert_fails(tsri_list_folder(&names, &count, scratch_path("no")), TSR_BAD_FILE, "No such");
    assert_ok(tsri_path_join(&path, "a/", "b"));
    assert_string_equal(path, "a/b");
    tsri_free(path);
    assert_ok(tsri_path_join(&path, "", "b"));
    assert_string_equal(path, "b");
    tsri_free(path);
}

/* Another process holds the lock; its death gives it back. */
static int folders_synced;

static int count_folders(int fd)
{
    struct stat about;
    folders_synced += fstat(fd, &about) == 0 && S_ISDIR(about.st_mode);
    return fsync(fd);
}

static int no_fsync(int fd)
{
    (void)fd;
    errno = EIO;
    return -1;
}

/* A power cut must not take a run's folder away: the parent of each new one is synced. */
static void new_folders_are_on_the_disk(void **state)
{
    (void)state;
    tsri_io_table old = tsri_io;
    tsri_io.fsync = count_folders;
    assert_ok(tsri_make_folder(scratch_path("p/q/r/")));
    assert_int_equal(folders_synced, 3);
    assert_ok(tsri_make_folder(scratch_path("p/q/r")));
    assert_int_equal(folders_synced, 3);
    tsri_io.fsync = no_fsync;
    assert_fails(tsri_make_folder(scratch_path("p/s")), TSR_FAILURE, "bring the folder");
    tsri_io = old;
}

static int no_flock(int fd, int operation)
{
    (void)fd, (void)operation;
    errno = ENOLCK;
    return -1;
}

static void a_folder_has_one_run(void **state)
{
    (void)state;
    int ready[2], lock = -1, again = -1;
    char byte, words[64];
    assert_ok(tsri_make_folder(scratch_path("run")));
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        int held = -1;
        byte = tsri_lock_folder(&held, scratch_path("run")) == TSR_OK ? 'y' : 'n';
        if (write(ready[1], &byte, 1) == 1)
            (void)pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    (void)snprintf(words, sizeof words, "process %ld is running", (long)child);
    assert_fails(tsri_lock_folder(&lock, scratch_path("run")), TSR_USAGE, words);
    assert_int_equal(lock, -1);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_ok(tsri_lock_folder(&lock, scratch_path("run")));
    (void)snprintf(words, sizeof words, "process %ld is running", (long)getpid());
    assert_fails(tsri_lock_folder(&again, scratch_path("run")), TSR_USAGE, words);
    /* a lock without a number, as when its holder is about to write it */
    assert_int_equal(truncate(scratch_path("run/run.lock"), 0), 0);
    assert_fails(tsri_lock_folder(&again, scratch_path("run")), TSR_USAGE,
                 "another process is running");
    tsri_unlock_folder(lock);
    assert_ok(tsri_lock_folder(&again, scratch_path("run")));
    tsri_unlock_folder(again);
    tsri_unlock_folder(-1);
    assert_fails(tsri_lock_folder(&lock, scratch_path("absent")), TSR_FAILURE, "run.lock");
    tsri_io_table old = tsri_io;
    tsri_io.flock = no_flock;
    assert_fails(tsri_lock_folder(&lock, scratch_path("run")), TSR_FAILURE, "cannot lock");
    tsri_io = old;
    const char *target = scratch_put("target", "precious", 8); /* a link there once emptied it */
    assert_int_equal(unlink(scratch_path("run/run.lock")), 0);
    assert_int_equal(symlink(target, scratch_path("run/run.lock")), 0);
    assert_fails(tsri_lock_folder(&lock, scratch_path("run")), TSR_USAGE, "is a symbolic link");
    assert_content(target, "precious");
    close(ready[0]);
    close(ready[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read_whole),
        cmocka_unit_test(reads_may_be_short),
        cmocka_unit_test(files_are_replaced),
        cmocka_unit_test(every_call_fails_once),
        cmocka_unit_test(everything_after_fails),
        cmocka_unit_test(killed_at_every_call),
        cmocka_unit_test(abandoned_files_are_removed),
        cmocka_unit_test(writers_do_not_disturb_each_other),
        cmocka_unit_test(the_real_limit),
        cmocka_unit_test(failed_allocations),
        cmocka_unit_test(folders_and_names),
        cmocka_unit_test(a_folder_has_one_run),
        cmocka_unit_test(new_folders_are_on_the_disk),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
