/* read_sequences.c - sequences of different lengths.
 *
 * The layout of UCI's Japanese Vowels: each line is a position (numbers with spaces between), a
 * blank line ends a sequence. The classes of NAME are in size_NAME beside it: how many sequences
 * class 1 has, class 2, ..., in the order of the file. NAME.train goes with NAME.test. A path to
 * .npy arrays [n, length, numbers] is left to read_npy.c.
 *
 * In memory all sequences have the longest length, zero after their end.
 */
#include "data/reader.h"

#include "base/alloc.h"
#include "data/csv.h"
#include "data/part.h"
#include "io/file.h"

#include <assert.h>
#include <string.h>

/* A file, all positions of all sequences one after the other. */
typedef struct text {
    const char *path;
    float *number; /* [positions, channels] */
    int64_t numbers, capacity;
    int64_t channels, positions;
    int64_t *end; /* [n] position after the last of each sequence */
    int64_t n, end_capacity;
} text;

/* ---- Text --------------------------------------------------------------------------------- */

static tsr_status read_line(text *t, const char *at, const char *end, int64_t line)
{
    tsr_status st = TSR_OK;
    int64_t channels = 0;
    while (at < end) {
        size_t n = 0;
        double value = 0.0;
        while (at + n < end && !strchr(" \t\r", at[n])) /* a NUL ends a word too: strchr finds it */
            n++;
        if (n > 0) {
            channels++;
            TSR_CHECK(tsri_cell_kind(&value, at, n, false) == TSRI_CELL_NUMBER, TSR_BAD_FILE,
                      "%s: line %lld, number %lld: \"%s\" is not a finite number; repair it",
                      tsri_quote(t->path), (long long)line, (long long)channels,
                      tsri_printable(at, n));
            TSR_TRY(tsri_reserve(&t->number, &t->capacity, t->numbers, sizeof *t->number));
            t->number[t->numbers++] = (float)value;
        }
        TSR_CHECK(at + n >= end || at[n] != '\0', TSR_BAD_FILE,
                  "%s: line %lld: a NUL byte; this is not a text file", tsri_quote(t->path),
                  (long long)line);
        at += n + 1;
    }
    t->channels = t->channels == 0 ? channels : t->channels;
    TSR_CHECK(channels == t->channels, TSR_BAD_FILE,
              "%s: line %lld: %lld numbers, but the lines before have %lld; repair the line",
              tsri_quote(t->path), (long long)line, (long long)channels, (long long)t->channels);
    t->positions++;
done:
    return st;
}

static tsr_status end_sequence(text *t)
{
    tsr_status st = TSR_OK;
    if (t->positions == (t->n > 0 ? t->end[t->n - 1] : 0))
        goto done; /* several blank lines */
    TSR_TRY(tsri_reserve(&t->end, &t->end_capacity, t->n, sizeof *t->end));
    t->end[t->n++] = t->positions;
done:
    return st;
}

static tsr_status read_text(text *t, const char *path)
{
    tsr_status st = TSR_OK;
    char *bytes = NULL;
    int64_t n = 0, line = 0;
    t->path = path;
    TSR_TRY(tsri_read_whole(&bytes, &n, path));
    for (const char *at = bytes, *stop = bytes + n; at < stop;) {
        const char *end = memchr(at, '\n', (size_t)(stop - at));
        end = end ? end : stop;
        line++;
        if (strspn(at, " \t\r") >= (size_t)(end - at))
            TSR_TRY(end_sequence(t));
        else
            TSR_TRY(read_line(t, at, end, line));
        at = end + 1;
    }
    TSR_TRY(end_sequence(t));
    TSR_CHECK(t->n > 0, TSR_BAD_FILE, "%s: line 1: there is no sequence in this file",
              tsri_quote(path));
done:
    tsri_free(bytes);
    return st;
}

/* ---- Classes ------------------------------------------------------------------------------ */

/* folder/size_NAME for folder/NAME */
static tsr_status sizes_path(char **out, const char *path)
{
    tsri_text t = {0};
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    tsr_status st = tsri_text_add(&t, "%.*ssize_%s", (int)(name - path), path, name);
    *out = t.data;
    return st;
}

static tsr_status set_labels(tsr_data *data, tsri_part *part, const char *path)
{
    tsr_status st = TSR_OK;
    char *name = NULL, *bytes = NULL;
    int64_t n = 0, done_so_far = 0, classes = 0;
    TSR_TRY(sizes_path(&name, path));
    TSR_CHECK(tsri_is_file(name), TSR_BAD_FILE,
              "%s: the number of sequences of each class is read from %s; put it there",
              tsri_quote(path), tsri_quote(name));
    TSR_TRY(tsri_read_whole(&bytes, &n, name));
    TSR_TRY(tsri_alloc_raw(&part->label, part->n, sizeof *part->label));
    for (char *rest = bytes, *word; (word = strtok_r(rest, " \t\r\n", &rest)); classes++) {
        double count = -1.0;
        tsri_cell kind = tsri_cell_kind(&count, word, strlen(word), false);
        TSR_CHECK(kind == TSRI_CELL_NUMBER && count >= 0 && count == (double)(int64_t)count &&
                      count <= (double)(part->n - done_so_far) && classes < TSRI_CLASSES_MAX,
                  TSR_BAD_FILE,
                  "%s: number %lld: \"%s\" sequences of a class, with %lld left in %s; the sizes "
                  "must add up to %lld",
                  tsri_quote(name), (long long)(classes + 1), tsri_quote(word),
                  (long long)(part->n - done_so_far), tsri_quote(path), (long long)part->n);
        for (int64_t i = 0; i < (int64_t)count; i++)
            part->label[done_so_far++] = (int32_t)classes;
    }
    TSR_CHECK(done_so_far == part->n, TSR_BAD_FILE,
              "%s: number %lld: the sizes add up to %lld, but %s has %lld sequences",
              tsri_quote(name), (long long)classes, (long long)done_so_far, tsri_quote(path),
              (long long)part->n);
    TSR_CHECK(data->classes == 0 || classes == data->classes, TSR_BAD_FILE,
              "%s: %lld classes, but the training data has %lld; they must agree", tsri_quote(name),
              (long long)classes, (long long)data->classes);
    data->classes = classes;
done:
    tsri_free(name);
    tsri_free(bytes);
    return st;
}

/* ---- Into the data set -------------------------------------------------------------------- */

static int64_t longest(const text *t)
{
    int64_t most = 0;
    for (int64_t i = 0, from = 0; i < t->n; from = t->end[i++])
        most = t->end[i] - from > most ? t->end[i] - from : most;
    return most;
}

static tsr_status set_part(tsr_data *data, tsri_part *part, const text *t)
{
    tsr_status st = TSR_OK;
    assert(t->n > 0);
    part->n = t->n;
    /* One sequence much longer than the rest would cost memory for all. */
    TSR_CHECK(data->dim <= ((int64_t)1 << 32) / t->n || t->n * data->dim / 64 <= t->numbers,
              TSR_BAD_FILE,
              "%s: %lld sequences padded to the longest, %lld positions, are too many numbers; cut "
              "the longest ones",
              tsri_quote(t->path), (long long)t->n, (long long)data->height);
    TSR_TRY(tsri_alloc(&part->numbers, t->n * data->dim, sizeof *part->numbers));
    TSR_TRY(tsri_alloc_raw(&part->length, t->n, sizeof *part->length));
    for (int64_t i = 0, from = 0; i < t->n; from = t->end[i++]) {
        part->length[i] = (int32_t)(t->end[i] - from);
        memcpy(part->numbers + i * data->dim, t->number + from * t->channels,
               (size_t)(part->length[i] * t->channels) * sizeof *t->number);
    }
    TSR_TRY(set_labels(data, part, t->path));
done:
    return st;
}

/* *out = the NAME.train of a folder that has a size_NAME.train beside it, or NULL. */
static tsr_status train_in(char **out, const char *folder)
{
    tsr_status st = TSR_OK;
    char **name = NULL, *sizes = NULL, *path = NULL;
    int64_t count = 0;
    *out = NULL;
    TSR_TRY(tsri_list_folder(&name, &count, folder));
    for (int64_t i = 0; i < count && !*out; i++) {
        if (!tsri_ends_with(name[i], ".train") || strncmp(name[i], "size_", 5) == 0)
            continue;
        TSR_TRY(tsri_path_join(&path, folder, name[i]));
        TSR_TRY(sizes_path(&sizes, path));
        if (tsri_is_file(path) && tsri_is_file(sizes)) {
            *out = path;
            path = NULL;
        }
        TSRI_FREE(path);
        TSRI_FREE(sizes);
    }
done:
    tsri_names_free(name, count);
    tsri_free(path);
    tsri_free(sizes);
    return st;
}

/* The file to train on and the one to test on, or NULL. */
static tsr_status locate(char **train, char **test, const tsri_read *want)
{
    tsr_status st = TSR_OK;
    if (tsri_is_folder(want->path))
        TSR_TRY(train_in(train, want->path));
    else
        TSR_TRY(tsri_strdup(train, want->path));
    TSR_CHECK(*train, TSR_BAD_FILE,
              "%s: there is no NAME.train with a size_NAME.train in this folder; check data.path",
              tsri_quote(want->path));
    if (want->test_path) {
        TSR_TRY(tsri_strdup(test, want->test_path));
    } else if (tsri_ends_with(*train, ".train")) {
        tsri_text t = {0};
        st = tsri_text_add(&t, "%.*s.test", (int)(strlen(*train) - strlen(".train")), *train);
        *test = t.data;
        if (st == TSR_OK && !tsri_is_file(*test))
            TSRI_FREE(*test);
    }
done:
    return st;
}

static tsr_status read_texts(tsr_data *data, const tsri_read *want)
{
    tsr_status st = TSR_OK;
    char *path[2] = {0};
    text t[2] = {0};
    TSR_TRY(locate(&path[0], &path[1], want));
    for (int i = 0; i < 2 && path[i]; i++)
        TSR_TRY(read_text(&t[i], path[i]));
    TSR_CHECK(!path[1] || t[1].channels == t[0].channels, TSR_BAD_FILE,
              "%s: line 1: %lld numbers, but %s has %lld; they must agree", tsri_quote(path[1]),
              (long long)t[1].channels, tsri_quote(path[0]), (long long)t[0].channels);
    int64_t length = longest(&t[0]), other = path[1] ? longest(&t[1]) : 0;
    length = tsri_positions(data->like, other > length ? other : length, t[0].channels);
    TSR_TRY(tsri_data_shape(data, t[0].channels, length, 1, path[0]));
    data->sequences = true;
    TSR_TRY(set_part(data, &data->train, &t[0]));
    if (path[1])
        TSR_TRY(set_part(data, &data->test, &t[1]));
done:
    for (int i = 0; i < 2; i++) {
        tsri_free(path[i]);
        tsri_free(t[i].number);
        tsri_free(t[i].end);
    }
    return st;
}

tsr_status tsri_read_sequences(tsr_data *data, const tsri_read *want)
{
    tsr_status st = TSR_OK;
    bool npy = false;
    data->sequences = true;
    TSR_TRY(tsri_is_npy(&npy, want->path));
    TSR_TRY(npy ? tsri_read_npy(data, want) : read_texts(data, want));
done:
    return st;
}

tsr_status tsri_is_sequences(bool *is, const char *path)
{
    tsr_status st = TSR_OK;
    char *train = NULL, *sizes = NULL;
    *is = false;
    if (tsri_is_folder(path)) {
        TSR_TRY(train_in(&train, path));
        *is = train;
    } else {
        TSR_TRY(sizes_path(&sizes, path));
        *is = tsri_is_file(path) && tsri_is_file(sizes);
    }
done:
    tsri_free(train);
    tsri_free(sizes);
    return st;
}
