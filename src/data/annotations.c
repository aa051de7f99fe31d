/* annotations.c - which class a picture has that is in no class folder: a list of lines. */
#include "data/annotations.h"

#include "base/alloc.h"
#include "base/text.h"

#include <string.h>

static const char ending[] = "_annotations.txt";

bool tsri_is_annotations(const char *path, const char **folder, size_t *length)
{
    const char *file = strrchr(path, '/');
    if (!file)
        return false;
    const char *start = file;
    while (start > path && start[-1] != '/')
        start--;
    *folder = start;
    *length = (size_t)(file - start);
    return strncmp(file + 1, start, *length) == 0 && strcmp(file + 1 + *length, ending) == 0;
}

static tsr_status take_file(int64_t *number, tsri_annotations *a, const char *folder,
                            size_t folder_length, const char *file, size_t length)
{
    tsr_status st = TSR_OK;
    tsri_text key = {0};
    TSR_TRY(tsri_text_add(&key, "%.*s/%.*s", (int)folder_length, folder, (int)length, file));
    TSR_TRY(tsri_reserve(&a->class_of, &a->capacity, a->files.count, sizeof *a->class_of));
    TSR_TRY(tsri_words_add(number, &a->files, key.data, strlen(key.data)));
done:
    tsri_text_fini(&key);
    return st;
}

/* One line "FILE <tab> CLASS [<tab> ...]". */
static tsr_status take_line(tsri_annotations *a, const char *path, int64_t number, const char *line,
                            size_t n)
{
    tsr_status st = TSR_OK;
    const char *folder = NULL, *tab = memchr(line, '\t', n);
    size_t folder_length = 0, file_length = tab ? (size_t)(tab - line) : 0;
    const char *class = tab ? tab + 1 : line;
    size_t length = n - (size_t)(class - line);
    const char *end = memchr(class, '\t', length);
    int64_t file, before = a->files.count, which;
    length = end ? (size_t)(end - class) : length;
    TSR_CHECK(file_length > 0 && file_length < 1000 && length > 0 && length < 1000 &&
                  !memchr(line, '\0', n),
              TSR_BAD_FILE, "%s: line %lld does not read FILE, tab, CLASS: repair it",
              tsri_quote(path), (long long)number);
    (void)tsri_is_annotations(path, &folder, &folder_length);
    TSR_TRY(tsri_words_add(&which, &a->classes, class, length));
    TSR_TRY(take_file(&file, a, folder, folder_length, line, file_length));
    TSR_CHECK(file == before || a->class_of[file] == which, TSR_BAD_FILE,
              "%s: line %lld gives %s a second class: remove one of the two", tsri_quote(path),
              (long long)number, tsri_quote(a->files.word[file]));
    a->class_of[file] = which;
done:
    return st;
}

tsr_status tsri_annotations_add(tsri_annotations *a, const char *path, const char *bytes, int64_t n)
{
    tsr_status st = TSR_OK;
    const char *end = bytes + n;
    int64_t number = 0;
    for (const char *line = bytes, *next; line < end; line = next) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        next = stop ? stop + 1 : end;
        size_t length = (size_t)((stop ? stop : end) - line);
        if (length > 0 && line[length - 1] == '\r')
            length--;
        number++;
        if (length > 0)
            TSR_TRY(take_line(a, path, number, line, length));
    }
done:
    return st;
}

const char *tsri_annotations_class(const tsri_annotations *a, const char *file)
{
    int64_t at = tsri_words_find(&a->files, file, strlen(file));
    return at < 0 ? NULL : a->classes.word[a->class_of[at]];
}

void tsri_annotations_fini(tsri_annotations *a)
{
    tsri_words_fini(&a->files);
    tsri_words_fini(&a->classes);
    tsri_free(a->class_of);
    *a = (tsri_annotations){0};
}
