/* read_cifar.c - CIFAR-10 and CIFAR-100 in the binary layout of their authors.
 *
 *     CIFAR-10   | label | 1024 red | 1024 green | 1024 blue |        data_batch_1..5, test_batch
 *     CIFAR-100  | coarse label | fine label | 3072 pixels |           train.bin, test.bin
 *
 * (Krizhevsky, "Learning multiple layers of features from tiny images", 2009.) A folder with the
 * official names, or one file. For CIFAR-100 the fine labels are the classes.
 */
#include "data/reader.h"

#include "base/alloc.h"
#include "data/part.h"

#include <string.h>

enum { PIXELS = 3 * 32 * 32 };

typedef struct layout {
    const char *name;
    int64_t labels;  /* bytes before the pixels; the last one is the class */
    int64_t classes; /* labels are below this                              */
    const char *train[6];
    const char *test;
    const char *names; /* file with one class name per line */
} layout;

static const layout cifar10 = {"CIFAR-10",
                               1,
                               10,
                               {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                "data_batch_4.bin", "data_batch_5.bin"},
                               "test_batch.bin",
                               "batches.meta.txt"};
static const layout cifar100 = {"CIFAR-100",   2,          100,
                                {"train.bin"}, "test.bin", "fine_label_names.txt"};

/* Room for n samples in all; what was there is kept. */
static tsr_status grow(tsri_part *part, int64_t n)
{
    tsr_status st = TSR_OK;
    uint8_t *bytes = NULL;
    TSR_TRY(tsri_alloc_raw(&bytes, n * PIXELS, 1));
    if (part->bytes)
        memcpy(bytes, part->bytes, (size_t)(part->n * PIXELS));
    tsri_free(part->bytes);
    part->bytes = bytes;
    TSR_TRY(tsri_realloc(&part->label, n, sizeof *part->label));
done:
    return st;
}

/* Adds a file's images. `files` that are about as large will follow, this one included: room for
 * all of them is made with the first, *room samples. */
static tsr_status append(tsri_part *part, int64_t *room, int64_t files, const layout *l,
                         const char *path)
{
    tsr_status st = TSR_OK;
    char *bytes = NULL;
    int64_t n = 0, record = l->labels + PIXELS, rows;
    TSR_TRY(tsri_read_whole(&bytes, &n, path));
    rows = n / record;
    TSR_CHECK(rows > 0 && n % record == 0, TSR_BAD_FILE,
              "%s: byte %lld: the file ends inside an image (%lld bytes are not a multiple of "
              "%lld); fetch it again, or check data.format (%s)",
              tsri_quote(path), (long long)n, (long long)n, (long long)record, l->name);
    if (part->n + rows > *room) {
        TSR_TRY(grow(part, part->n + rows * files));
        *room = part->n + rows * files;
    }
    for (int64_t i = 0; i < rows; i++) {
        const unsigned char *r = (const unsigned char *)bytes + i * record;
        TSR_CHECK(r[l->labels - 1] < l->classes, TSR_BAD_FILE,
                  "%s: byte %lld: label %d of image %lld; %s has labels 0 to %lld; fetch it again",
                  tsri_quote(path), (long long)(i * record + l->labels - 1), r[l->labels - 1],
                  (long long)(i + 1), l->name, (long long)(l->classes - 1));
        part->label[part->n + i] = r[l->labels - 1];
        memcpy(part->bytes + (part->n + i) * PIXELS, r + l->labels, PIXELS);
    }
    part->n += rows;
done:
    tsri_free(bytes);
    return st;
}

/* Adds the files of a folder, in order. */
static tsr_status append_from(tsri_part *part, const layout *l, const char *folder,
                              const char *const *names, int64_t files, bool needed)
{
    tsr_status st = TSR_OK;
    char *path = NULL;
    int64_t room = 0;
    for (int64_t i = 0; i < files; i++) {
        TSR_TRY(tsri_find_in(&path, folder, names[i]));
        TSR_CHECK(path || !needed, TSR_BAD_FILE,
                  "%s: %s is not in this folder; get all the files of %s again", tsri_quote(folder),
                  names[i], l->name);
        if (path)
            TSR_TRY(append(part, &room, files - i, l, path));
        TSRI_FREE(path);
    }
done:
    tsri_free(path);
    return st;
}

/* The names are a convenience: a missing or odd file leaves them out. */
static tsr_status read_names(tsr_data *data, const layout *l, const char *folder)
{
    tsr_status st = TSR_OK;
    char *path = NULL, *text = NULL, **name = NULL;
    int64_t n = 0, count = 0;
    TSR_TRY(tsri_find_in(&path, folder, l->names));
    if (!path)
        goto done;
    TSR_TRY(tsri_read_whole(&text, &n, path));
    TSR_TRY(tsri_alloc(&name, l->classes, sizeof *name));
    char *rest = text, *word;
    while (count < l->classes && (word = strtok_r(rest, "\r\n", &rest)))
        name[count++] = word;
    if (count == l->classes)
        TSR_TRY(tsri_data_name_classes(data, (const char *const *)name));
done:
    tsri_free(name);
    tsri_free(text);
    tsri_free(path);
    return st;
}

static tsr_status read_layout(tsr_data *data, const tsri_read *want, const layout *l)
{
    tsr_status st = TSR_OK;
    const char *test = want->test_path;
    int64_t files = 0, room = 0, test_room = 0;
    while (l->train[files])
        files++;
    data->classes = l->classes;
    TSR_TRY(tsri_data_shape(data, 3, 32, 32, want->path));
    if (tsri_is_folder(want->path)) {
        TSR_TRY(append_from(&data->train, l, want->path, l->train, files, true));
        if (!test)
            TSR_TRY(append_from(&data->test, l, want->path, &l->test, 1, false));
        TSR_TRY(read_names(data, l, want->path));
    } else {
        TSR_TRY(append(&data->train, &room, 1, l, want->path));
    }
    if (test && tsri_is_folder(test))
        TSR_TRY(append_from(&data->test, l, test, &l->test, 1, true));
    else if (test)
        TSR_TRY(append(&data->test, &test_room, 1, l, test));
done:
    return st;
}

static tsr_status recognise(bool *is, const char *path, const layout *l)
{
    tsr_status st = TSR_OK;
    char *found = NULL;
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    if (tsri_is_folder(path))
        st = tsri_find_in(&found, path, l->train[0]);
    *is = found || strcmp(name, l->test) == 0;
    for (int i = 0; l->train[i]; i++)
        *is = *is || strcmp(name, l->train[i]) == 0;
    tsri_free(found);
    return st;
}

tsr_status tsri_is_cifar10(bool *is, const char *path)
{
    return recognise(is, path, &cifar10);
}

tsr_status tsri_is_cifar100(bool *is, const char *path)
{
    return recognise(is, path, &cifar100);
}

tsr_status tsri_read_cifar10(tsr_data *data, const tsri_read *want)
{
    return read_layout(data, want, &cifar10);
}

tsr_status tsri_read_cifar100(tsr_data *data, const tsri_read *want)
{
    return read_layout(data, want, &cifar100);
}
