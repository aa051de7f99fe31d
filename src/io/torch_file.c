/* torch_file.c - PyTorch's .pth and .pt files. See torch_file.h. */
#include "io/torch_file.h"

#include "base/alloc.h"
#include "base/text.h"
#include "io/archive.h"
#include "io/file.h"
#include "io/pickle.h"
#include "io/safetensors_header.h"

#include <stdlib.h>
#include <string.h>

/* A member of the archive: data.pkl, byteorder or a storage. */
typedef struct member {
    char *name; /* without the first folder */
    char *bytes;
    int64_t n;
} member;

typedef struct archive_in_memory {
    const char *path;
    member *member; /* sorted by name once all are there */
    int64_t count, room;
} archive_in_memory;

static void members_fini(archive_in_memory *a)
{
    for (int64_t i = 0; i < a->count; i++) {
        tsri_free(a->member[i].name);
        tsri_free(a->member[i].bytes);
    }
    tsri_free(a->member);
}

/* ---- The archive -------------------------------------------------------------------------- */

static bool wanted(const char *name)
{
    return strcmp(name, "data.pkl") == 0 || strcmp(name, "byteorder") == 0 ||
           strncmp(name, "data/", 5) == 0;
}

static tsr_status keep(void *context, const char *path, const char *bytes, int64_t n)
{
    tsr_status st = TSR_OK;
    archive_in_memory *a = context;
    const char *slash = strchr(path, '/');
    if (!slash || !wanted(slash + 1))
        return TSR_OK;
    TSR_CHECK(a->count < TSRI_TENSORS_MAX, TSR_BAD_FILE, "%s: it has too many members",
              tsri_quote(a->path));
    TSR_TRY(tsri_reserve(&a->member, &a->room, a->count, sizeof *a->member));
    member *m = &a->member[a->count];
    *m = (member){.n = n};
    a->count++;
    TSR_TRY(tsri_strdup(&m->name, slash + 1));
    TSR_TRY(tsri_alloc_raw(&m->bytes, n + 1, 1));
    memcpy(m->bytes, bytes, (size_t)n + 1);
done:
    return st;
}

static int by_member_name(const void *a, const void *b)
{
    return strcmp(((const member *)a)->name, ((const member *)b)->name);
}

static int against_name(const void *name, const void *m)
{
    return strcmp(name, ((const member *)m)->name);
}

static const member *find_member(const archive_in_memory *a, const char *name)
{
    return a->count == 0
               ? NULL
               : bsearch(name, a->member, (size_t)a->count, sizeof *a->member, against_name);
}

/* Members are stored and not compressed: together they are no larger than the file. */
static tsr_status read_members(archive_in_memory *a, int64_t size)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_archive_each(a->path, keep, a, size));
    if (a->count > 0)
        qsort(a->member, (size_t)a->count, sizeof *a->member, by_member_name);
    for (int64_t i = 1; i < a->count; i++)
        TSR_CHECK(strcmp(a->member[i - 1].name, a->member[i].name) != 0, TSR_BAD_FILE,
                  "%s: member %s appears twice", tsri_quote(a->path),
                  tsri_quote(a->member[i].name));
    const member *order = find_member(a, "byteorder");
    TSR_CHECK(!order || (order->n >= 6 && memcmp(order->bytes, "little", 6) == 0), TSR_BAD_FILE,
              "%s: its numbers are not little-endian; save it on an ordinary machine",
              tsri_quote(a->path));
done:
    return st;
}

/* ---- Tensors ------------------------------------------------------------------------------ */

static tsr_status storage_of(const member **out, const archive_in_memory *a,
                             const tsri_pickle_tensor *t)
{
    tsr_status st = TSR_OK;
    tsri_text name = {0};
    TSR_TRY(tsri_text_add(&name, "data/"));
    TSR_TRY(tsri_text_add_bytes(&name, t->storage.bytes, (size_t)t->storage.n));
    *out = find_member(a, name.data);
    TSR_CHECK(*out, TSR_BAD_FILE, "%s: the archive has no member %s, which tensor %s needs",
              tsri_quote(a->path), tsri_quote(name.data),
              tsri_printable(t->name.bytes, (size_t)t->name.n));
    TSR_CHECK((*out)->n / tsri_dtype_bytes(t->dtype) >= t->storage_count, TSR_BAD_FILE,
              "%s: member %s has %lld bytes, too few for %lld numbers of type %s",
              tsri_quote(a->path), tsri_quote(name.data), (long long)(*out)->n,
              (long long)t->storage_count, tsri_dtype_name(t->dtype));
done:
    tsri_text_fini(&name);
    return st;
}

/* Which bytes of which storage a tensor lies in: no byte may belong to two, or a small file could
 * make many large tensors. */
typedef struct place {
    const member *storage;
    int64_t begin, end;
    int64_t tensor;
} place;

static int by_place(const void *a, const void *b)
{
    const place *p = a, *q = b;
    if (p->storage != q->storage)
        return p->storage < q->storage ? -1 : 1;
    return (p->begin > q->begin) - (p->begin < q->begin);
}

static tsr_status find_places(place *at, const archive_in_memory *a, const tsri_pickle *p)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < p->count; i++) {
        const tsri_pickle_tensor *t = &p->tensor[i];
        int64_t last = t->offset, bytes = tsri_dtype_bytes(t->dtype);
        TSR_TRY(storage_of(&at[i].storage, a, t));
        for (int d = 0; d < t->dims; d++)
            last += (t->shape[d] - 1) * t->stride[d];
        at[i].begin = t->offset * bytes;
        at[i].end = (last + 1) * bytes;
        at[i].tensor = i;
    }
done:
    return st;
}

static tsr_status check_apart(const place *at, const archive_in_memory *a, const tsri_pickle *p)
{
    tsr_status st = TSR_OK;
    place *sorted = NULL;
    TSR_TRY(tsri_alloc(&sorted, p->count, sizeof *sorted));
    memcpy(sorted, at, (size_t)p->count * sizeof *sorted);
    qsort(sorted, (size_t)p->count, sizeof *sorted, by_place);
    for (int64_t i = 1; i < p->count; i++) {
        const place *before = &sorted[i - 1];
        const tsri_pickle_text one = p->tensor[before->tensor].name;
        const tsri_pickle_text other = p->tensor[sorted[i].tensor].name;
        TSR_CHECK(before->storage != sorted[i].storage || before->end <= sorted[i].begin,
                  TSR_BAD_FILE,
                  "%s: tensors %s and %s share memory; save copies (.clone()) of them",
                  tsri_quote(a->path), tsri_printable(one.bytes, (size_t)one.n),
                  tsri_printable(other.bytes, (size_t)other.n));
    }
done:
    tsri_free(sorted);
    return st;
}

/* Element by element, row-major, whatever the strides are. */
static void copy_dense(char *to, const char *storage, const tsri_pickle_tensor *t)
{
    size_t bytes = (size_t)tsri_dtype_bytes(t->dtype);
    int64_t index[TSRI_DIMS_MAX] = {0}, at = t->offset;
    for (;;) {
        memcpy(to, storage + (size_t)at * bytes, bytes);
        to += bytes;
        int d = t->dims - 1;
        for (; d >= 0; d--) {
            at += t->stride[d];
            if (++index[d] < t->shape[d])
                break;
            at -= t->shape[d] * t->stride[d];
            index[d] = 0;
        }
        if (d < 0)
            return;
    }
}

static int64_t aligned(int64_t n)
{
    return (n + 7) / 8 * 8;
}

static tsr_status take_names(tsri_tensors *f, const tsri_pickle *p)
{
    tsr_status st = TSR_OK;
    int64_t size = 0;
    for (int64_t i = 0; i < p->count; i++)
        size += p->tensor[i].name.n + 1;
    TSR_TRY(tsri_alloc(&f->header, size, 1));
    char *at = f->header;
    for (int64_t i = 0; i < p->count; i++) {
        memcpy(at, p->tensor[i].name.bytes, (size_t)p->tensor[i].name.n);
        f->tensor[i].name = at;
        at += p->tensor[i].name.n + 1;
    }
done:
    return st;
}

static tsr_status take_data(tsri_tensors *f, const tsri_pickle *p, const place *at)
{
    tsr_status st = TSR_OK;
    int64_t size = 0, next = 0;
    for (int64_t i = 0; i < p->count; i++) {
        const tsri_pickle_tensor *t = &p->tensor[i];
        f->tensor[i].dtype = t->dtype;
        f->tensor[i].dims = t->dims;
        memcpy(f->tensor[i].shape, t->shape, sizeof t->shape);
        size += aligned(tsri_tensor_bytes(&f->tensor[i]));
    }
    TSR_TRY(tsri_alloc_raw(&f->data, size, 1));
    for (int64_t i = 0; i < p->count; i++) {
        copy_dense(f->data + next, at[i].storage->bytes, &p->tensor[i]);
        f->tensor[i].data = f->data + next;
        next += aligned(tsri_tensor_bytes(&f->tensor[i]));
    }
done:
    return st;
}

static tsr_status take_tensors(tsri_tensors **out, const archive_in_memory *a, const tsri_pickle *p)
{
    tsr_status st = TSR_OK;
    tsri_tensors *f = NULL;
    place *at = NULL;
    TSR_TRY(tsri_alloc(&at, p->count, sizeof *at));
    TSR_TRY(find_places(at, a, p));
    TSR_TRY(check_apart(at, a, p));
    TSR_TRY(tsri_alloc(&f, 1, sizeof *f));
    TSR_TRY(tsri_alloc(&f->tensor, p->count, sizeof *f->tensor));
    f->count = p->count;
    TSR_TRY(take_names(f, p));
    TSR_TRY(take_data(f, p, at));
    TSR_TRY(tsri_tensors_sort_names(f, a->path));
    *out = f;
    f = NULL;
done:
    tsri_free(at);
    tsri_tensors_destroy(f);
    return st;
}

static tsr_status read_zip(tsri_tensors **out, const char *path, int64_t size)
{
    tsr_status st = TSR_OK;
    archive_in_memory a = {.path = path};
    tsri_pickle p = {0};
    TSR_TRY(read_members(&a, size));
    const member *pickle = find_member(&a, "data.pkl");
    TSR_CHECK(pickle, TSR_BAD_FILE,
              "%s: a zip without data.pkl; torch.save(model.state_dict(), \"weights.pth\") writes "
              "one that can be read",
              tsri_quote(path));
    TSR_TRY(tsri_pickle_read(&p, pickle->bytes, pickle->n, path));
    TSR_TRY(take_tensors(out, &a, &p));
done:
    tsri_pickle_fini(&p);
    members_fini(&a);
    return st;
}

/* ---- Which kind of file ------------------------------------------------------------------- */

static tsr_status first_bytes(unsigned char bytes[4], int64_t *size, const char *path)
{
    tsr_status st = TSR_OK;
    int fd = -1;
    int64_t got = 0;
    memset(bytes, 0, 4);
    TSR_TRY(tsri_file_open(&fd, size, path));
    TSR_TRY(tsri_file_get(&got, fd, bytes, 4, path));
done:
    if (fd >= 0)
        (void)tsri_io.close(fd);
    return st;
}

/* The length of a safetensors header begins like this too, but never has such a fourth byte. */
static bool bare_pickle(const unsigned char first[4])
{
    return first[0] == 0x80 && first[1] >= 2 && first[1] <= 5 && first[3] != 0;
}

tsr_status tsri_weights_read(tsri_tensors **out, const char *path)
{
    tsr_status st = TSR_OK;
    unsigned char first[4];
    int64_t size;
    *out = NULL;
    TSR_TRY(first_bytes(first, &size, path));
    TSR_CHECK(!bare_pickle(first), TSR_BAD_FILE,
              "%s: a bare pickle, as PyTorch wrote them before version 1.6; save it again: "
              "torch.save(torch.load(\"old.pth\", map_location=\"cpu\"), \"new.pth\")",
              tsri_quote(path));
    TSR_TRY(first[0] == 'P' && first[1] == 'K' ? read_zip(out, path, size)
                                               : tsri_tensors_read(out, path));
done:
    return st;
}
