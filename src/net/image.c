/* image.c - a network's numbers on their way into a file. */
#include "net/image.h"

#include "base/alloc.h"
#include "net/order.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct tsri_image_entry {
    tsri_tensor tensor;
    char name[2 * TSRI_NAME];
    int64_t counted; /* a count, as files have it */
    float *copy;     /* a parameter in the file's layout, where that is not memory's */
};

void tsri_image_init(tsri_image *im, const tsri_net *net)
{
    *im = (tsri_image){.net = net};
}

void tsri_image_fini(tsri_image *im)
{
    for (int64_t i = 0; i < im->count; i++)
        tsri_free(im->entry[i].copy);
    tsri_free(im->entry);
    *im = (tsri_image){0};
}

static tsr_status next_entry(tsri_image *im, tsri_image_entry **out)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_reserve(&im->entry, &im->room, im->count, sizeof *im->entry));
    *out = &im->entry[im->count++];
    **out = (tsri_image_entry){0};
done:
    return st;
}

static tsr_status add_param(tsri_image *im, const tsri_param *p, const float *data,
                            const char *prefix)
{
    tsr_status st = TSR_OK;
    tsri_image_entry *e = NULL;
    TSR_TRY(next_entry(im, &e));
    (void)snprintf(e->name, sizeof e->name, "%s%s", prefix, p->name);
    e->tensor = (tsri_tensor){.dtype = TSRI_F32, .rank = p->rank, .data = data};
    memcpy(e->tensor.shape, p->shape, (size_t)p->rank * sizeof *p->shape);
    if (p->role == TSRI_COUNT) {
        e->counted = (int64_t)data[0];
        e->tensor.dtype = TSRI_I64;
        e->tensor.data = NULL; /* the entry may still move; set when written */
    } else if (p->filters_last) {
        TSR_TRY(tsri_alloc_raw(&e->copy, p->count, sizeof *e->copy));
        tsri_order_to_file(e->copy, data, p);
        e->tensor.data = e->copy;
    }
done:
    return st;
}

tsr_status tsri_image_add_model(tsri_image *im, const float *w, const char *prefix)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < im->net->params; i++)
        TSR_TRY(add_param(im, &im->net->param[i], w + im->net->param[i].offset, prefix));
done:
    return st;
}

tsr_status tsri_image_add_momentum(tsri_image *im, const float *v, const char *prefix)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < im->net->params; i++)
        if (im->net->param[i].role == TSRI_TRAINED)
            TSR_TRY(add_param(im, &im->net->param[i], v + im->net->param[i].offset, prefix));
done:
    return st;
}

tsr_status tsri_image_add(tsri_image *im, const tsri_tensor *like, const char *fmt, ...)
{
    tsr_status st = TSR_OK;
    tsri_image_entry *e = NULL;
    TSR_TRY(next_entry(im, &e));
    e->tensor = *like;
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(e->name, sizeof e->name, fmt, args);
    va_end(args);
done:
    return st;
}

tsr_status tsri_image_write(const tsri_image *im, const char *path, const tsri_pair *metadata,
                            int64_t metadata_count)
{
    tsr_status st = TSR_OK;
    tsri_tensor *list = NULL;
    TSR_TRY(tsri_alloc(&list, im->count, sizeof *list));
    for (int64_t i = 0; i < im->count; i++) {
        const tsri_image_entry *e = &im->entry[i];
        list[i] = e->tensor;
        list[i].name = e->name;
        if (!list[i].data)
            list[i].data = &e->counted;
    }
    TSR_TRY(tsri_tensors_write(path, list, im->count, metadata, metadata_count));
done:
    tsri_free(list);
    return st;
}
