/* parcel.c - a network's numbers on their way into a file. */
#include "net/parcel.h"

#include "base/alloc.h"
#include "net/order.h"

#include <stdio.h>
#include <string.h>

struct tsri_parcel_entry {
    tsri_tensor tensor;
    char name[2 * TSRI_NAME];
    int64_t counted; /* a count, as files have it */
    void *copy;      /* of the data, where memory has another layout or may not be kept */
};

void tsri_parcel_init(tsri_parcel *parcel, const tsri_net *net)
{
    *parcel = (tsri_parcel){.net = net};
}

void tsri_parcel_fini(tsri_parcel *parcel)
{
    for (int64_t i = 0; i < parcel->count; i++)
        tsri_free(parcel->entry[i].copy);
    tsri_free(parcel->entry);
    *parcel = (tsri_parcel){0};
}

static tsr_status next_entry(tsri_parcel *parcel, tsri_parcel_entry **out)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_reserve(&parcel->entry, &parcel->room, parcel->count, sizeof *parcel->entry));
    *out = &parcel->entry[parcel->count++];
    **out = (tsri_parcel_entry){0};
done:
    return st;
}

static tsr_status add_param(tsri_parcel *parcel, const tsri_param *p, const float *data,
                            const char *prefix)
{
    tsr_status st = TSR_OK;
    tsri_parcel_entry *e = NULL;
    TSR_TRY(next_entry(parcel, &e));
    (void)snprintf(e->name, sizeof e->name, "%s%s", prefix, p->name);
    e->tensor = (tsri_tensor){.dtype = TSRI_F32, .dims = p->dims, .data = data};
    memcpy(e->tensor.shape, p->shape, (size_t)p->dims * sizeof *p->shape);
    if (p->role == TSRI_COUNT) {
        e->counted = (int64_t)data[0];
        e->tensor.dtype = TSRI_I64;
        e->tensor.data = NULL; /* the entry may still move; set when written */
    } else if (p->filters != TSRI_OIHW) {
        TSR_TRY(tsri_alloc_raw(&e->copy, p->count, sizeof *data));
        tsri_order_to_file(e->copy, data, p);
        e->tensor.data = e->copy;
    }
done:
    return st;
}

tsr_status tsri_parcel_add_model(tsri_parcel *parcel, const float *w, const char *prefix)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < parcel->net->params; i++)
        TSR_TRY(
            add_param(parcel, &parcel->net->param[i], w + parcel->net->param[i].offset, prefix));
done:
    return st;
}

tsr_status tsri_parcel_add_trained(tsri_parcel *parcel, const float *v, const char *prefix)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < parcel->net->params; i++)
        if (parcel->net->param[i].role == TSRI_TRAINED)
            TSR_TRY(add_param(parcel, &parcel->net->param[i], v + parcel->net->param[i].offset,
                              prefix));
done:
    return st;
}

static tsr_status add_named(tsri_parcel *parcel, tsri_parcel_entry **out, const tsri_tensor *like,
                            const char *fmt, va_list args)
{
    tsr_status st = TSR_OK;
    TSR_TRY(next_entry(parcel, out));
    (*out)->tensor = *like;
    (void)vsnprintf((*out)->name, sizeof(*out)->name, fmt, args);
done:
    return st;
}

tsr_status tsri_parcel_add(tsri_parcel *parcel, const tsri_tensor *like, const char *fmt, ...)
{
    tsri_parcel_entry *e = NULL;
    va_list args;
    va_start(args, fmt);
    tsr_status st = add_named(parcel, &e, like, fmt, args);
    va_end(args);
    return st;
}

tsr_status tsri_parcel_add_copy(tsri_parcel *parcel, const tsri_tensor *like, const char *fmt,
                                va_list args)
{
    tsr_status st = TSR_OK;
    tsri_parcel_entry *e = NULL;
    int64_t bytes = tsri_tensor_bytes(like);
    TSR_TRY(add_named(parcel, &e, like, fmt, args));
    TSR_TRY(tsri_alloc_raw(&e->copy, bytes, 1));
    if (bytes > 0)
        memcpy(e->copy, like->data, (size_t)bytes);
    e->tensor.data = e->copy;
done:
    return st;
}

tsr_status tsri_parcel_put(const tsri_parcel *parcel, tsri_sink *to, const tsri_pair *metadata,
                           int64_t metadata_count)
{
    tsr_status st = TSR_OK;
    tsri_tensor *list = NULL;
    TSR_TRY(tsri_alloc(&list, parcel->count, sizeof *list));
    for (int64_t i = 0; i < parcel->count; i++) {
        const tsri_parcel_entry *e = &parcel->entry[i];
        list[i] = e->tensor;
        list[i].name = e->name;
        if (!list[i].data)
            list[i].data = &e->counted;
    }
    TSR_TRY(tsri_tensors_put(to, list, parcel->count, metadata, metadata_count));
done:
    tsri_free(list);
    return st;
}

tsr_status tsri_parcel_write(const tsri_parcel *parcel, const char *path, const tsri_pair *metadata,
                             int64_t metadata_count)
{
    return tsri_parcel_put(parcel, &(tsri_sink){.path = path}, metadata, metadata_count);
}
