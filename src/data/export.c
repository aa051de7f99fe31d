/* export.c - a data set as numpy arrays, as read_npy.c reads them back. */
#include "data/info.h"

#include "base/alloc.h"
#include "io/file.h"
#include "io/npy.h"

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
    TSR_TRY(write_array(folder, "y", suffix, &y));
    if (part->length)
        TSR_TRY(write_array(folder, "length", suffix, &length));
done:
    return st;
}

tsr_status tsri_data_export(const tsr_data *data, const char *folder)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_make_folder(folder));
    TSR_TRY(export_part(data, &data->train, folder, ""));
    TSR_TRY(export_part(data, &data->test, folder, "_test"));
done:
    return st;
}
