/* scratch.h - a folder of its own for a test that writes files.
 *
 *     cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
 *     scratch_path("a.npy") is a path in it
 */
#ifndef TSRI_SCRATCH_H
#define TSRI_SCRATCH_H

#include "testing.h"

#include "io/file.h"

#include <ftw.h>
#include <unistd.h>

static char scratch_folder[64];

/* Power does not fail here: waiting for the disk would be most of some tests. */
static inline int scratch_no_sync(int fd)
{
    (void)fd;
    return 0;
}

static inline int scratch_setup(void **state)
{
    (void)state;
    tsri_io.fsync = scratch_no_sync;
    (void)snprintf(scratch_folder, sizeof scratch_folder, "/tmp/tessera-test-XXXXXX");
    return mkdtemp(scratch_folder) ? 0 : -1;
}

static inline int scratch_remove_one(const char *path, const struct stat *about, int type,
                                     struct FTW *where)
{
    (void)about, (void)type, (void)where;
    return remove(path);
}

static inline int scratch_teardown(void **state)
{
    (void)state;
    return nftw(scratch_folder, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A path in the folder; the text lives until eight more were asked for. */
static inline const char *scratch_path(const char *name)
{
    static char ring[8][512];
    static int turn;
    assert_true(*scratch_folder); /* else it would be the root of the disk: scratch_setup */
    turn = (turn + 1) % 8;
    (void)snprintf(ring[turn], sizeof ring[turn], "%s/%s", scratch_folder, name);
    return ring[turn];
}

/* Puts bytes into a file of the folder, not through the library. */
static inline const char *scratch_put(const char *name, const void *bytes, size_t n)
{
    const char *path = scratch_path(name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
    return path;
}

/* How many names the folder holds. */
static inline int64_t scratch_count(void)
{
    char **names = NULL;
    int64_t count = 0;
    assert_ok(tsri_list_folder(&names, &count, scratch_folder));
    tsri_names_free(names, count);
    return count;
}

#endif
