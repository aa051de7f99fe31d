/* part.c - the memory of a data set's two parts. */
#include "data/part.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/narrow.h"

#include <string.h>

tsr_status tsri_data_shape(tsr_data *data, int64_t channels, int64_t height, int64_t width,
                           const char *path)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_multiply(&data->dim, channels, height, "numbers of a sample"));
    TSR_TRY(tsri_multiply(&data->dim, data->dim, width, "numbers of a sample"));
    data->channels = channels;
    data->height = height;
    data->width = width;
    TSR_CHECK(data->dim >= 1 && data->dim <= (int64_t)1 << 30, TSR_BAD_FILE,
              "%s: a sample of %lld x %lld x %lld numbers is not one we can use; at least 1 and at "
              "most 2^30 numbers are",
              tsri_quote(path), (long long)channels, (long long)height, (long long)width);
    if ((width == 3 || width == 4) && channels > 4 && height > 4)
        TSRI_WARN("%s: a sample of %lld x %lld x %lld is taken for that many channels, rows and "
                  "columns: if its channels come last, save x.transpose(0, 3, 1, 2)",
                  tsri_quote(path), (long long)channels, (long long)height, (long long)width);
done:
    return st;
}

void tsri_part_fini(tsri_part *part)
{
    if (!part->borrowed_inputs) {
        tsri_free(part->bytes);
        tsri_free(part->numbers);
        tsri_free(part->pixels);
    }
    if (!part->borrowed_targets)
        tsri_free(part->target);
    tsri_free(part->label);
    tsri_free(part->length);
    tsri_free(part->row);
    for (int64_t i = 0; part->name && i < part->n; i++)
        tsri_free(part->name[i]);
    tsri_free(part->name);
    *part = (tsri_part){0};
}

int64_t tsri_part_row(const tsri_part *part, int64_t i)
{
    return part->row ? (int64_t)part->row[i] + 1 : i + 1;
}

/* *out[k] = in[index[k]], rows of `size` bytes; nothing when there is no such column. */
static tsr_status pick(void *out, const void *in, size_t size, const int64_t *index, int64_t n)
{
    char *rows = NULL;
    if (!in)
        return TSR_OK;
    tsr_status st = tsri_alloc_raw(&rows, n, size);
    for (int64_t k = 0; st == TSR_OK && k < n; k++)
        memcpy(rows + (size_t)k * size, (const char *)in + (size_t)index[k] * size, size);
    memcpy(out, &rows, sizeof rows);
    return st;
}

tsr_status tsri_part_pick(tsri_part *out, const tsri_part *in, const tsr_data *data,
                          const int64_t *index, int64_t n)
{
    tsr_status st = TSR_OK;
    size_t dim = (size_t)data->dim;
    *out = (tsri_part){.n = n};
    TSR_TRY(pick(&out->bytes, in->bytes, dim, index, n));
    TSR_TRY(pick(&out->numbers, in->numbers, dim * sizeof(float), index, n));
    TSR_TRY(pick(&out->pixels, in->pixels, dim, index, n));
    TSR_TRY(pick(&out->label, in->label, sizeof *in->label, index, n));
    TSR_TRY(pick(&out->target, in->target, (size_t)data->targets * sizeof(float), index, n));
    TSR_TRY(pick(&out->length, in->length, sizeof *in->length, index, n));
    TSR_TRY(tsri_alloc_raw(&out->row, n, sizeof *out->row));
    for (int64_t k = 0; k < n; k++)
        out->row[k] = (uint32_t)(tsri_part_row(in, index[k]) - 1);
    if (in->name)
        TSR_TRY(tsri_alloc(&out->name, n, sizeof *out->name));
    for (int64_t k = 0; in->name && k < n; k++)
        TSR_TRY(tsri_strdup(&out->name[k], in->name[index[k]]));
done:
    if (st != TSR_OK)
        tsri_part_fini(out);
    return st;
}

tsr_status tsri_part_copy(tsri_part *out, const tsri_part *in, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    int64_t *all = NULL;
    TSR_TRY(tsri_alloc_raw(&all, in->n, sizeof *all));
    for (int64_t i = 0; i < in->n; i++)
        all[i] = i;
    TSR_TRY(tsri_part_pick(out, in, data, all, in->n));
done:
    tsri_free(all);
    return st;
}

tsr_status tsri_part_to_numbers(tsri_part *part, const tsr_data *data, bool keep)
{
    tsr_status st = TSR_OK;
    int64_t total = part->n * data->dim;
    if (!part->bytes)
        goto done;
    TSR_TRY(tsri_alloc_raw(&part->numbers, total, sizeof *part->numbers));
    for (int64_t i = 0; i < total; i++)
        part->numbers[i] = (float)part->bytes[i];
    if (keep)
        part->pixels = part->bytes;
    else
        tsri_free(part->bytes);
    part->bytes = NULL;
done:
    return st;
}

tsr_status tsri_data_name_classes(tsr_data *data, const char *const *name)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc(&data->class_name, data->classes, sizeof *data->class_name));
    for (int64_t i = 0; i < data->classes; i++)
        TSR_TRY(tsri_strdup(&data->class_name[i], name[i]));
done:
    return st;
}
