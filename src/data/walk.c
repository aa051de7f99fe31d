/* walk.c - the files below a folder, in the order of their names. */
#include "data/walk.h"

#include "base/alloc.h"
#include "base/text.h"
#include "io/file.h"

#include <sys/stat.h>

/* A folder on the way from the first one, known by what it is and not by its name. */
typedef struct step {
    dev_t device;
    ino_t inode;
    int depth;
    const struct step *up;
} step;

typedef struct progress {
    const tsri_walk *how;
    int64_t folders;
    bool enough;
} progress;

static bool is_on_the_way(const step *way, const struct stat *about)
{
    for (; way; way = way->up)
        if (way->device == about->st_dev && way->inode == about->st_ino)
            return true;
    return false;
}

/* *enter = whether the folder is one to go into. */
static tsr_status may_enter(bool *enter, progress *p, const step *way, const struct stat *about,
                            const char *path)
{
    tsr_status st = TSR_OK;
    bool strict = p->how->strict, loops = is_on_the_way(way, about);
    *enter = !loops && p->folders < p->how->folders;
    TSR_CHECK(!strict || !loops, TSR_BAD_FILE,
              "%s leads back to a folder that it is in: remove this link", tsri_quote(path));
    TSR_CHECK(!strict || *enter, TSR_BAD_FILE,
              "%s: there are more than %lld folders, links followed: is this the right place?",
              tsri_quote(path), (long long)p->how->folders);
    p->folders += *enter;
done:
    return st;
}

static tsr_status walk(progress *p, const step *way, const char *folder, const char *name);

static tsr_status one_entry(progress *p, const step *way, const char *path, const char *name)
{
    tsr_status st = TSR_OK;
    struct stat about;
    bool enter;
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode) || way->depth == p->how->depth)
        return p->how->visit(p->how->context, path, name, &p->enough);
    TSR_TRY(may_enter(&enter, p, way, &about, path));
    step next = {about.st_dev, about.st_ino, way->depth + 1, way};
    if (enter)
        TSR_TRY(walk(p, &next, path, name));
done:
    return st;
}

static tsr_status walk(progress *p, const step *way, const char *folder, const char *name)
{
    tsr_status st = TSR_OK;
    char **entry = NULL, *path = NULL, *below = NULL;
    int64_t count = 0;
    TSR_TRY(tsri_list_folder(&entry, &count, folder));
    int64_t most = p->how->entries > 0 && p->how->entries < count ? p->how->entries : count;
    for (int64_t i = 0; i < most && !p->enough; i++) {
        if (entry[i][0] == '.')
            continue;
        TSR_TRY(tsri_path_join(&path, folder, entry[i]));
        TSR_TRY(tsri_path_join(&below, name, entry[i]));
        TSR_TRY(one_entry(p, way, path, below));
        TSRI_FREE(path);
        TSRI_FREE(below);
    }
done:
    tsri_names_free(entry, count);
    tsri_free(path);
    tsri_free(below);
    return st;
}

tsr_status tsri_walk_folder(const char *folder, const tsri_walk *how)
{
    struct stat about = {0};
    progress p = {.how = how, .folders = 1};
    (void)stat(folder, &about); /* a folder that is not there is told by the list */
    step first = {.device = about.st_dev, .inode = about.st_ino};
    return walk(&p, &first, folder, "");
}
