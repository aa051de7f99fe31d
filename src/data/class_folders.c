/* class_folders.c - which folders of pictures are classes, and which only look like it. */
#include "data/class_folders.h"

#include "base/alloc.h"
#include "base/log.h"
#include "data/reader.h"
#include "io/file.h"

#include <string.h>
#include <strings.h>

bool tsri_names_test(const char *name, size_t n)
{
    static const char *const names[] = {"val", "valid", "validation", "test", "testing"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && strncasecmp(names[i], name, n) == 0)
            return true;
    return false;
}

tsr_status tsri_class_folders_check(const tsri_words *folders, const char *root)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < folders->count; i++) {
        const char *path = folders->word[i];
        for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
            TSR_CHECK(tsri_words_find(folders, path, (size_t)(slash - path)) < 0, TSR_BAD_FILE,
                      "%s: folder %s has pictures and is in a folder that has some, too: is it a "
                      "class of its own? Let each class be one folder of pictures",
                      tsri_quote(root), tsri_quote(path));
    }
done:
    return st;
}

/* Is one of the folders this one, or inside it? */
static bool holds_some(const tsri_words *folders, const char *name)
{
    size_t n = strlen(name);
    for (int64_t i = 0; i < folders->count; i++)
        if (strncmp(folders->word[i], name, n) == 0 &&
            (folders->word[i][n] == '/' || folders->word[i][n] == '\0'))
            return true;
    return false;
}

static tsr_status tell_one(const tsri_words *folders, const char *root, const char *name)
{
    tsr_status st = TSR_OK;
    char *path = NULL;
    TSR_TRY(tsri_path_join(&path, root, name));
    if (!holds_some(folders, name) && tsri_is_folder(path))
        TSRI_INFO("%s: folder %s holds no picture that can be read, and is not a class",
                  tsri_quote(root), tsri_quote(name));
done:
    tsri_free(path);
    return st;
}

/* The folders in root/below. */
static tsr_status tell_empty(const tsri_words *folders, const char *root, const char *below)
{
    tsr_status st = TSR_OK;
    char **entry = NULL, *path = NULL, *name = NULL;
    int64_t count = 0;
    TSR_TRY(tsri_path_join(&path, root, below));
    TSR_TRY(tsri_list_folder(&entry, &count, path));
    for (int64_t i = 0; i < count; i++) {
        TSR_TRY(tsri_path_join(&name, below, entry[i]));
        if (entry[i][0] != '.')
            TSR_TRY(tell_one(folders, root, name));
        TSRI_FREE(name);
    }
done:
    tsri_names_free(entry, count);
    tsri_free(path);
    tsri_free(name);
    return st;
}

tsr_status tsri_class_folders_tell_empty(const tsri_words *folders, const char *root)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tell_empty(folders, root, ""));
    if (holds_some(folders, "train"))
        TSR_TRY(tell_empty(folders, root, "train"));
done:
    return st;
}
