/* get_site.c - the folder in which a download becomes a data set. */
#include "data/get_site.h"

#include "base/alloc.h"
#include "base/text.h"
#include "data/reader.h"
#include "io/file.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK "/made-by-tessera-data-get"

/* ---- Names -------------------------------------------------------------------------------- */

static tsr_status joined(char **out, const char *folder, const char *end)
{
    tsri_text t = {0};
    tsr_status st = tsri_text_add(&t, "%s%s", folder, end);
    *out = t.data;
    return st;
}

tsr_status tsri_site_target(char **whole, const char *folder)
{
    tsr_status st = TSR_OK;
    tsri_text t = {0};
    struct stat about;
    char here[PATH_MAX];
    *whole = NULL;
    TSR_CHECK(*folder, TSR_USAGE, "the folder's name is empty; give --to DIR");
    bool there = lstat(folder, &about) == 0;
    TSR_CHECK(!there || tsri_is_folder(folder), TSR_USAGE,
              "%s exists and is not a folder; choose another with --to", tsri_quote(folder));
    if (there && realpath(folder, here)) {
        TSR_TRY(tsri_strdup(whole, here));
        goto done;
    }
    TSR_CHECK(getcwd(here, sizeof here), TSR_FAILURE, "cannot tell the current folder: %s",
              strerror(errno));
    TSR_TRY(
        tsri_text_add(&t, "%s%s%s", *folder == '/' ? "" : here, *folder == '/' ? "" : "/", folder));
    while (t.length > 1 && t.data[t.length - 1] == '/')
        t.data[--t.length] = '\0';
    *whole = t.data;
    t.data = NULL;
done:
    tsri_text_fini(&t);
    return st;
}

/* ---- Removing ----------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *where)
{
    (void)about, (void)type, (void)where;
    (void)remove(path);
    return 0;
}

static void remove_tree(const char *path)
{
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The mark goes last: without it what is left would be taken for somebody else's. */
static void remove_site(const tsri_site *s)
{
    char **names = NULL, *path = NULL;
    int64_t count = 0;
    (void)tsri_list_folder(&names, &count, s->part);
    for (int64_t i = 0; i < count; i++)
        if (strcmp(names[i], &MARK[1]) != 0 && tsri_path_join(&path, s->part, names[i]) == TSR_OK) {
            remove_tree(path);
            TSRI_FREE(path);
        }
    remove_tree(s->part);
    tsri_names_free(names, count);
}

/* ---- Opening and closing ------------------------------------------------------------------ */

/* An empty folder is anybody's; one with the mark is ours. */
static tsr_status check_ours(const tsri_site *s, const char *mark)
{
    tsr_status st = TSR_OK;
    struct stat about;
    char **names = NULL;
    int64_t count = 0;
    if (lstat(s->part, &about) != 0)
        goto done;
    bool ours = S_ISDIR(about.st_mode);
    if (ours) {
        TSR_TRY(tsri_sweep_folder(s->part)); /* the mark itself, half written */
        TSR_TRY(tsri_list_folder(&names, &count, s->part));
        ours = count == 0 || tsri_file_exists(mark);
    }
    TSR_CHECK(ours, TSR_USAGE,
              "%s is in the way: it was not left by an earlier 'tessera data get', so it is not "
              "touched; move it, or choose another folder with --to",
              tsri_quote(s->part));
done:
    tsri_names_free(names, count);
    return st;
}

tsr_status tsri_site_open(tsri_site *s, const char *folder)
{
    tsr_status st = TSR_OK;
    char *mark = NULL;
    *s = (tsri_site){.lock = -1};
    TSR_TRY(joined(&s->part, folder, ".part"));
    TSR_TRY(joined(&s->work, s->part, "/work"));
    TSR_TRY(joined(&s->out, s->part, "/out"));
    TSR_TRY(joined(&s->log, s->part, "/log"));
    TSR_TRY(joined(&mark, s->part, MARK));
    TSR_TRY(check_ours(s, mark));
    TSR_TRY(tsri_make_folder(s->part));
    TSR_TRY(tsri_file_write_text(mark, ""));
    TSR_TRY(tsri_lock_folder(&s->lock, s->part));
    remove_tree(s->work);
    remove_tree(s->out);
    TSR_TRY(tsri_make_folder(s->work));
    TSR_TRY(tsri_make_folder(s->out));
done:
    tsri_free(mark);
    return st;
}

void tsri_site_close(tsri_site *s)
{
    if (s->lock >= 0) {
        remove_site(s);
        tsri_unlock_folder(s->lock);
    }
    tsri_free(s->part);
    tsri_free(s->work);
    tsri_free(s->out);
    tsri_free(s->log);
}

void tsri_site_clear(const char *folder)
{
    tsri_site s = {.lock = -1};
    char *part = NULL;
    if (joined(&part, folder, ".part") == TSR_OK && tsri_is_folder(part)) {
        (void)tsri_site_open(&s, folder);
        tsri_site_close(&s);
    }
    tsri_free(part);
    tsri_fail_clear();
}

/* ---- Size --------------------------------------------------------------------------------- */

/* nftw() has no context of ours: a walk of our own. Names that vanish meanwhile are nothing. */
static int64_t bytes_in(const char *folder)
{
    int64_t sum = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        struct stat about;
        char *path = NULL;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            tsri_path_join(&path, folder, e->d_name) != TSR_OK)
            continue;
        if (lstat(path, &about) == 0)
            sum += S_ISDIR(about.st_mode) ? bytes_in(path) : (int64_t)about.st_size;
        tsri_free(path);
    }
    if (d)
        (void)closedir(d);
    return sum;
}

int64_t tsri_site_bytes(const tsri_site *s)
{
    return bytes_in(s->work);
}
