/* pickle_names.c - the names that a pickle of tensors may use, and what each makes.
 *
 * In Python they are a class and three functions; here they are shapes of data. No other name is
 * known, and so none can be called.
 */
#include "io/pickle_machine.h"

#include "base/text.h"

#include <string.h>

static const struct {
    const char *module, *name;
    tsri_pickle_name is;
    tsri_dtype dtype; /* of storages */
} known[] = {
    {"collections", "OrderedDict", TSRI_NAME_ORDERED_DICT, TSRI_F32},
    {"torch._utils", "_rebuild_tensor_v2", TSRI_NAME_TENSOR, TSRI_F32},
    {"torch._utils", "_rebuild_parameter", TSRI_NAME_PARAMETER, TSRI_F32},
    {"torch", "FloatStorage", TSRI_NAME_STORAGE, TSRI_F32},
    {"torch", "DoubleStorage", TSRI_NAME_STORAGE, TSRI_F64},
    {"torch", "HalfStorage", TSRI_NAME_STORAGE, TSRI_F16},
    {"torch", "BFloat16Storage", TSRI_NAME_STORAGE, TSRI_BF16},
    {"torch", "LongStorage", TSRI_NAME_STORAGE, TSRI_I64},
    {"torch", "IntStorage", TSRI_NAME_STORAGE, TSRI_I32},
    {"torch", "ShortStorage", TSRI_NAME_STORAGE, TSRI_I16},
    {"torch", "CharStorage", TSRI_NAME_STORAGE, TSRI_I8},
    {"torch", "ByteStorage", TSRI_NAME_STORAGE, TSRI_U8},
    {"torch", "BoolStorage", TSRI_NAME_STORAGE, TSRI_BOOL},
};

static bool same(tsri_pickle_text s, const char *text)
{
    return (size_t)s.n == strlen(text) && memcmp(s.bytes, text, (size_t)s.n) == 0;
}

tsr_status tsri_machine_name(tsri_machine *m, int32_t *index, tsri_pickle_text module,
                             tsri_pickle_text name)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (same(module, known[i].module) && same(name, known[i].name)) {
            tsri_pickle_value v = {.kind = TSRI_PICKLE_NAME,
                                   .named = {.name = known[i].is, .dtype = known[i].dtype}};
            return tsri_machine_new(m, index, v);
        }
    return tsri_machine_fail(m,
                             "it names %.80s.%.80s, which is code, not a tensor, and nothing here "
                             "is executed; save the weights alone: torch.save(model.state_dict(), "
                             "\"weights.pth\")",
                             tsri_printable(module.bytes, (size_t)module.n),
                             tsri_printable(name.bytes, (size_t)name.n));
}

/* The value at place i of a tuple, when it is of that kind. */
static const tsri_pickle_value *argument(const tsri_machine *m, int32_t tuple, int64_t i,
                                         tsri_pickle_kind kind)
{
    int32_t at = tsri_machine_item(m, tuple, i);
    return at >= 0 && m->value[at].kind == kind ? &m->value[at] : NULL;
}

/* ('storage', torch.FloatStorage, '7', 'cpu', 36864) */
tsr_status tsri_machine_storage(tsri_machine *m, int32_t *index, int32_t tuple)
{
    const tsri_pickle_value *word = argument(m, tuple, 0, TSRI_PICKLE_TEXT);
    const tsri_pickle_value *type = argument(m, tuple, 1, TSRI_PICKLE_NAME);
    const tsri_pickle_value *key = argument(m, tuple, 2, TSRI_PICKLE_TEXT);
    const tsri_pickle_value *count = argument(m, tuple, 4, TSRI_PICKLE_INT);
    if (!word || !same(word->text, "storage") || !type || type->named.name != TSRI_NAME_STORAGE ||
        !key || memchr(key->text.bytes, 0, (size_t)key->text.n) || !count)
        return tsri_machine_fail(m, "a persistent id that is not a storage");
    if (count->integer < 0 ||
        count->integer > INT64_MAX / 16) /* so that bytes and extents do not overflow */
        return tsri_machine_fail(m, "a storage of %lld elements", (long long)count->integer);
    tsri_pickle_value v = {.kind = TSRI_PICKLE_STORAGE,
                           .storage = {.key = tsri_machine_item(m, tuple, 2),
                                       .dtype = type->named.dtype,
                                       .count = count->integer}};
    return tsri_machine_new(m, index, v);
}

/* PyTorch 2 adds a dictionary where numbers are not to be read as they are stored: negated, or
 * conjugated. */
static bool read_otherwise(const tsri_machine *m, int32_t arguments)
{
    enum { USUAL = 6 };
    int64_t count = m->value[arguments].items.count;
    const tsri_pickle_value *more = argument(m, arguments, USUAL, TSRI_PICKLE_DICT);
    bool none = argument(m, arguments, USUAL, TSRI_PICKLE_NONE) || (more && more->items.count == 0);
    return count > USUAL + 1 || (count == USUAL + 1 && !none);
}

/* (storage, offset, shape, stride, requires_grad, hooks) */
static tsr_status tensor(tsri_machine *m, int32_t *index, int32_t arguments)
{
    const tsri_pickle_value *offset = argument(m, arguments, 1, TSRI_PICKLE_INT);
    if (!argument(m, arguments, 0, TSRI_PICKLE_STORAGE) || !offset ||
        !argument(m, arguments, 2, TSRI_PICKLE_TUPLE) ||
        !argument(m, arguments, 3, TSRI_PICKLE_TUPLE))
        return tsri_machine_fail(m, "a tensor without storage, offset, shape and strides");
    if (read_otherwise(m, arguments))
        return tsri_machine_fail(m, "a tensor that is not its numbers as they are stored, but "
                                    "negated or the like; save a copy (.clone()) of it");
    tsri_pickle_value v = {.kind = TSRI_PICKLE_TENSOR,
                           .tensor = {.storage = tsri_machine_item(m, arguments, 0),
                                      .shape = tsri_machine_item(m, arguments, 2),
                                      .stride = tsri_machine_item(m, arguments, 3),
                                      .offset = offset->integer}};
    return tsri_machine_new(m, index, v);
}

tsr_status tsri_machine_call(tsri_machine *m, int32_t *index, int32_t name, int32_t arguments)
{
    const tsri_pickle_value *f = &m->value[name], *a = &m->value[arguments];
    if (f->kind != TSRI_PICKLE_NAME || a->kind != TSRI_PICKLE_TUPLE)
        return tsri_machine_fail(m, "a call of what is not a known name");
    switch (f->named.name) {
    case TSRI_NAME_ORDERED_DICT:
        if (a->items.count > 0)
            return tsri_machine_fail(m, "an OrderedDict that is made of something");
        return tsri_machine_new(
            m, index,
            (tsri_pickle_value){.kind = TSRI_PICKLE_DICT, .items = {.first = -1, .last = -1}});
    case TSRI_NAME_TENSOR:
        return tensor(m, index, arguments);
    case TSRI_NAME_PARAMETER:
        if (!argument(m, arguments, 0, TSRI_PICKLE_TENSOR))
            return tsri_machine_fail(m, "a parameter without a tensor");
        *index = tsri_machine_item(m, arguments, 0);
        return TSR_OK;
    case TSRI_NAME_STORAGE:
        break;
    }
    return tsri_machine_fail(m, "a call of a storage's type");
}
