/* pickle.c - the tensors of a state dict, out of the values that its pickle makes. */
#include "io/pickle.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/text.h"
#include "io/pickle_machine.h"

#include <string.h>

/* ---- One tensor --------------------------------------------------------------------------- */

static tsr_status wrong(const tsri_machine *m, tsri_pickle_text name, const char *what)
{
    return tsri_fail(TSR_BAD_FILE, "%s: tensor %s has %s", tsri_quote(m->path),
                     tsri_printable(name.bytes, (size_t)name.n), what);
}

/* Whole numbers of a tuple, none below `least`; false otherwise. */
static bool numbers(int64_t *out, const tsri_machine *m, int32_t tuple, int64_t n, int64_t least)
{
    for (int64_t i = 0; i < n; i++) {
        int32_t at = tsri_machine_item(m, tuple, i);
        if (at < 0 || m->value[at].kind != TSRI_PICKLE_INT || m->value[at].integer < least)
            return false;
        out[i] = m->value[at].integer;
    }
    return true;
}

/* Do different places of the tensor lie at different elements? Sorted by stride, each dimension
 * must step over all of those before it: dense, transposed and channels-last tensors do. */
static bool apart(const tsri_pickle_tensor *t)
{
    int64_t extent = 1, last = 0;
    for (int taken = 0; taken < t->dims; taken++) {
        int64_t next = INT64_MAX, size = 1;
        for (int d = 0; d < t->dims; d++)
            if (t->shape[d] > 1 && t->stride[d] > last && t->stride[d] < next) {
                next = t->stride[d];
                size = t->shape[d];
            }
        if (size == 1)
            return true;
        if (next < extent)
            return false;
        extent = next * (size - 1) + extent;
        last = next;
    }
    return true;
}

/* Two dimensions of one stride, or one of stride 0, cannot be told apart by the sorting above. */
static bool distinct(const tsri_pickle_tensor *t)
{
    for (int d = 0; d < t->dims; d++) {
        if (t->shape[d] > 1 && t->stride[d] == 0)
            return false;
        for (int e = 0; e < d; e++)
            if (t->shape[d] > 1 && t->shape[e] > 1 && t->stride[d] == t->stride[e])
                return false;
    }
    return true;
}

/* Is the last element inside the storage? No sum or product overflows on the way. */
static bool inside(const tsri_pickle_tensor *t)
{
    int64_t last = t->offset;
    for (int d = 0; d < t->dims; d++) {
        int64_t steps = t->shape[d] - 1;
        if (steps > 0 && t->stride[d] > (t->storage_count - last) / steps)
            return false;
        last += steps * t->stride[d];
        if (last >= t->storage_count)
            return false;
    }
    return last < t->storage_count;
}

static tsr_status take(tsri_pickle_tensor *t, const tsri_machine *m, tsri_pickle_text name,
                       const tsri_pickle_value *v)
{
    const tsri_pickle_value *storage = &m->value[v->tensor.storage];
    int64_t dims = m->value[v->tensor.shape].items.count;
    *t = (tsri_pickle_tensor){.name = name,
                              .storage = m->value[storage->storage.key].text,
                              .dtype = storage->storage.dtype,
                              .storage_count = storage->storage.count,
                              .offset = v->tensor.offset};
    if (dims > TSRI_DIMS_MAX || m->value[v->tensor.stride].items.count != dims)
        return wrong(m, name, "too many dimensions, or not a stride for each");
    t->dims = (int)dims;
    if (!numbers(t->shape, m, v->tensor.shape, dims, 1))
        return wrong(m, name, "a shape that is not a row of numbers from 1 on");
    if (!numbers(t->stride, m, v->tensor.stride, dims, 0) || t->offset < 0)
        return wrong(m, name, "a stride or an offset that is not a number from 0 on");
    if (t->offset >= t->storage_count || !inside(t))
        return wrong(m, name, "elements outside its storage");
    if (!distinct(t) || !apart(t))
        return wrong(m, name, "places that share an element");
    if (!tsri_tensor_name_ok(name.bytes, (size_t)name.n))
        return wrong(m, name, "no name that can be one");
    return TSR_OK;
}

/* ---- The dictionary ------------------------------------------------------------------------- */

static bool is_text(const tsri_pickle_value *v, const char *text)
{
    return v->kind == TSRI_PICKLE_TEXT && (size_t)v->text.n == strlen(text) &&
           memcmp(v->text.bytes, text, (size_t)v->text.n) == 0;
}

/* Says which other dictionary of tensors stands beside the one that is taken: averages of the
 * weights above all. */
static void tell_others(const tsri_machine *m, int32_t root, int32_t taken, const char *name)
{
    for (int32_t c = m->value[root].items.first; c >= 0; c = m->cell[m->cell[c].next].next) {
        const tsri_pickle_value *key = &m->value[m->cell[c].value];
        int32_t value = m->cell[m->cell[c].next].value;
        const tsri_pickle_value *v = &m->value[value];
        bool filled = v->kind == TSRI_PICKLE_DICT && v->items.first >= 0;
        if (value == taken || key->kind != TSRI_PICKLE_TEXT || !filled ||
            m->value[m->cell[m->cell[v->items.first].next].value].kind != TSRI_PICKLE_TENSOR)
            continue;
        TSRI_WARN("%s: the weights are those of %s; %s, which holds tensors, too, is left out",
                  tsri_quote(m->path), name, tsri_printable(key->text.bytes, (size_t)key->text.n));
    }
}

/* The dictionary that stands in another one under a name that training scripts use; else itself. */
static int32_t state_dict(const tsri_machine *m, int32_t root)
{
    static const char *const names[] = {"state_dict", "model_state_dict", "model"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int32_t c = m->value[root].items.first; c >= 0; c = m->cell[m->cell[c].next].next) {
            int32_t value = m->cell[m->cell[c].next].value;
            if (is_text(&m->value[m->cell[c].value], names[i]) &&
                m->value[value].kind == TSRI_PICKLE_DICT) {
                tell_others(m, root, value, names[i]);
                return value;
            }
        }
    return root;
}

static tsr_status collect(tsri_pickle *out, const tsri_machine *m, int32_t dict)
{
    tsr_status st = TSR_OK;
    int64_t count = m->value[dict].items.count / 2;
    TSR_CHECK(count > 0, TSR_BAD_FILE, "%s: there are no tensors in it", tsri_quote(m->path));
    TSR_CHECK(count <= TSRI_TENSORS_MAX, TSR_BAD_FILE, "%s: %lld tensors are too many",
              tsri_quote(m->path), (long long)count);
    TSR_TRY(tsri_alloc(&out->tensor, count, sizeof *out->tensor));
    for (int32_t c = m->value[dict].items.first; c >= 0; c = m->cell[m->cell[c].next].next) {
        const tsri_pickle_value *key = &m->value[m->cell[c].value];
        const tsri_pickle_value *value = &m->value[m->cell[m->cell[c].next].value];
        TSR_CHECK(key->kind == TSRI_PICKLE_TEXT, TSR_BAD_FILE,
                  "%s: a key of the state dict is not text", tsri_quote(m->path));
        TSR_CHECK(value->kind == TSRI_PICKLE_TENSOR, TSR_BAD_FILE,
                  "%s: %s is not a tensor; save the weights alone: torch.save(model.state_dict(), "
                  "\"weights.pth\")",
                  tsri_quote(m->path), tsri_printable(key->text.bytes, (size_t)key->text.n));
        TSR_TRY(take(&out->tensor[out->count], m, key->text, value));
        out->count++;
    }
done:
    return st;
}

tsr_status tsri_pickle_read(tsri_pickle *out, const char *bytes, int64_t n, const char *path)
{
    tsr_status st = TSR_OK;
    const unsigned char *begin = (const unsigned char *)bytes;
    tsri_machine m = {.path = path, .begin = begin, .at = begin, .end = begin + n};
    int32_t root = -1;
    *out = (tsri_pickle){0};
    TSR_CHECK(n <= TSRI_PICKLE_BYTES, TSR_BAD_FILE, "%s: a pickle of %s; %s are enough for tensors",
              tsri_quote(path), tsri_bytes_text((double)n), tsri_bytes_text(TSRI_PICKLE_BYTES));
    TSR_TRY(tsri_machine_run(&m, &root));
    TSR_CHECK(m.value[root].kind == TSRI_PICKLE_DICT, TSR_BAD_FILE,
              "%s: it holds no dictionary of tensors; save the weights alone: "
              "torch.save(model.state_dict(), \"weights.pth\")",
              tsri_quote(path));
    TSR_TRY(collect(out, &m, state_dict(&m, root)));
done:
    tsri_machine_fini(&m);
    if (st != TSR_OK)
        tsri_pickle_fini(out);
    return st;
}

void tsri_pickle_fini(tsri_pickle *p)
{
    tsri_free(p->tensor);
    *p = (tsri_pickle){0};
}
