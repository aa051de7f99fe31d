/* export.c - a data set as numpy arrays, as read_npy.c reads them back. */
#include "data/info.h"

#include "base/alloc.h"
#include "io/file.h"
#include "io/npy.h"

#include <errno.h>
#include <stdio.h>

static tsr_status write_array(const char *folder, const char *name, const char *suffix,
                              const tsri_tensor *tensor)
{
    tsr_status st = TSR_OK;
    char file[64], *path = NULL;
    (void)snprintf(file, sizeof file, "%s%s.npy", name, suffix);
    TSR_TRY(tsri_path_join(&path, folder, file));
    TSR_TRY(tsri_npy_write(path, tensor));
done:
    tsri_free(path);
    return st;
}

static tsri_tensor inputs(const tsr_data *data, const tsri_part *part)
{
    tsri_tensor x = {.name = "x",
                     .dtype = part->bytes ? TSRI_U8 : TSRI_F32,
                     .data = part->bytes ? (const void *)part->bytes : part->numbers};
    x.shape[x.dims++] = part->n;
    if (data->sequences) {
        x.shape[x.dims++] = data->height;
        x.shape[x.dims++] = data->channels;
        return x;
    }
    bool image = data->height * data->width > 1;
    if (!image || data->channels > 1)
        x.shape[x.dims++] = data->channels;
    if (image) {
        x.shape[x.dims++] = data->height;
        x.shape[x.dims++] = data->width;
    }
    return x;
}

/* y.npy comes last of all: without it the folder is not taken for data. */
static tsr_status export_part(const tsr_data *data, const tsri_part *part, const char *folder,
                              const char *suffix)
{
    tsr_status st = TSR_OK;
    tsri_tensor x = inputs(data, part);
    tsri_tensor y = {.name = "y",
                     .dtype = part->label ? TSRI_I32 : TSRI_F32,
                     .dims = data->targets > 1 ? 2 : 1,
                     .shape = {part->n, data->targets},
                     .data = part->label ? (const void *)part->label : part->target};
    tsri_tensor length = {
        .name = "length", .dtype = TSRI_I32, .dims = 1, .shape = {part->n}, .data = part->length};
    if (part->n == 0)
        goto done;
    TSR_TRY(write_array(folder, "x", suffix, &x));
    if (part->length)
        TSR_TRY(write_array(folder, "length", suffix, &length));
    TSR_TRY(write_array(folder, "y", suffix, &y));
done:
    return st;
}

/* Files of another set that lie there: those with names that this one has are replaced, y.npy is
 * removed before the first; others would be read with it. */
static tsr_status make_room(const tsr_data *data, const char *folder)
{
    tsr_status st = TSR_OK;
    const bool test = data->test.n > 0;
    const struct {
        const char *name;
        bool ours;
    } file[] = {{"length.npy", data->train.length != NULL},
                {"x_test.npy", test},
                {"y_test.npy", test},
                {"length_test.npy", test && data->test.length}};
    char *path = NULL;
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        TSRI_FREE(path);
        TSR_TRY(tsri_path_join(&path, folder, file[i].name));
        TSR_CHECK(file[i].ours || !tsri_file_exists(path), TSR_USAGE,
                  "%s is of another data set and would be read with this one: remove it, or choose "
                  "another folder",
                  tsri_quote(path));
    }
    TSRI_FREE(path);
    TSR_TRY(tsri_path_join(&path, folder, "y.npy"));
    if (tsri_io.unlink(path) != 0 && errno != ENOENT)
        st = tsri_file_failed(errno, "remove", path);
done:
    tsri_free(path);
    return st;
}

tsr_status tsri_data_export(const tsr_data *data, const char *folder)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_make_folder(folder));
    TSR_TRY(make_room(data, folder));
    TSR_TRY(export_part(data, &data->test, folder, "_test"));
    TSR_TRY(export_part(data, &data->train, folder, ""));
done:
    return st;
}
