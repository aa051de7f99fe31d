/* npy.c - numpy's array file.
 *
 *     | "\x93NUMPY" major minor | header length (2 bytes in version 1, 4 after) | header | data |
 *
 * The header is a Python literal, {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }. We
 * read exactly that shape of literal, with its three keys in any order; nothing is evaluated.
 */
#include "io/npy.h"

#include "base/alloc.h"
#include "base/text.h"
#include "io/file.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char MAGIC[] = "\x93NUMPY";

enum { HEADER_MOST = 65535, DESCR_ROOM = 16, TEXT_ROOM = 32 };

/* numpy's word for each type; BF16 has none. */
static const struct {
    const char *descr;
    tsri_dtype dtype;
} types[] = {
    {"|b1", TSRI_BOOL}, {"|u1", TSRI_U8},  {"|i1", TSRI_I8},  {"<i2", TSRI_I16},
    {"<u2", TSRI_U16},  {"<f2", TSRI_F16}, {"<i4", TSRI_I32}, {"<u4", TSRI_U32},
    {"<f4", TSRI_F32},  {"<i8", TSRI_I64}, {"<u8", TSRI_U64}, {"<f8", TSRI_F64},
};

enum { TYPES = sizeof types / sizeof *types };

/* ---- The literal ---------------------------------------------------------------------------- */

typedef struct literal {
    const char *start, *at, *end;
    const char *name; /* of the file */
} literal;

static tsr_status bad(const literal *l, const char *fmt, ...) TSR_PRINTF(2, 3);

static tsr_status bad(const literal *l, const char *fmt, ...)
{
    char why[400];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    return tsri_fail(TSR_BAD_FILE, "%s: header byte %lld: %s", tsri_quote(l->name),
                     (long long)(l->at - l->start), why);
}

static char peek(literal *l)
{
    while (l->at < l->end && (*l->at == ' ' || *l->at == '\n' || *l->at == '\t'))
        l->at++;
    return l->at < l->end ? *l->at : '\0';
}

static bool accept(literal *l, char c)
{
    if (peek(l) != c || l->at == l->end)
        return false;
    l->at++;
    return true;
}

static tsr_status expect(literal *l, char c)
{
    return accept(l, c) ? TSR_OK : bad(l, "expected '%c'; not the header that numpy writes", c);
}

/* 'word' or "word", short and without escapes. */
static tsr_status quoted(literal *l, char *out, size_t room)
{
    char quote = peek(l);
    size_t n = 0;
    if (quote != '\'' && quote != '"')
        return bad(l, "expected a quoted word; not the header that numpy writes");
    for (l->at++; l->at < l->end && *l->at != quote; l->at++) {
        if (n + 1 >= room || *l->at == '\\')
            return bad(l, "a word that no key or plain type has");
        out[n++] = *l->at;
    }
    out[n] = '\0';
    return expect(l, quote);
}

static tsr_status truth(literal *l, bool *out)
{
    static const char *const word[] = {"False", "True"};
    (void)peek(l);
    for (int i = 0; i < 2; i++) {
        size_t n = strlen(word[i]);
        if ((size_t)(l->end - l->at) >= n && memcmp(l->at, word[i], n) == 0) {
            l->at += n;
            *out = i == 1;
            return TSR_OK;
        }
    }
    return bad(l, "expected True or False");
}

static tsr_status count(literal *l, int64_t *out)
{
    char c = peek(l);
    if (c < '0' || c > '9')
        return bad(l, "expected a whole number, 0 or more, in the shape");
    for (*out = 0; l->at < l->end && *l->at >= '0' && *l->at <= '9'; l->at++)
        if (__builtin_mul_overflow(*out, 10, out) ||
            __builtin_add_overflow(*out, *l->at - '0', out))
            return bad(l, "a number over 2^63 in the shape");
    (void)accept(l, 'L'); /* Python 2 wrote (2L, 3L) */
    return TSR_OK;
}

static tsr_status shape(literal *l, tsri_tensor *t)
{
    tsr_status st = TSR_OK;
    bool comma = true;
    t->dims = 0;
    TSR_TRY(expect(l, '('));
    while (!accept(l, ')')) {
        if (!comma) {
            st = bad(l, "expected ',' or ')' in the shape");
            goto done;
        }
        if (t->dims == TSRI_DIMS_MAX) {
            st = bad(l, "more than %d dimensions", TSRI_DIMS_MAX);
            goto done;
        }
        TSR_TRY(count(l, &t->shape[t->dims]));
        t->dims++;
        comma = accept(l, ',');
    }
done:
    return st;
}

static tsr_status descr(literal *l, tsri_tensor *t)
{
    char word[DESCR_ROOM];
    if (peek(l) == '[')
        return bad(l, "records (a structured dtype) are not supported; save each column by itself");
    tsr_status st = quoted(l, word, sizeof word);
    if (st != TSR_OK)
        return st;
    for (int i = 0; i < TYPES; i++) {
        if (strcmp(word, types[i].descr) == 0) {
            t->dtype = types[i].dtype;
            return TSR_OK;
        }
    }
    if (strchr(word, 'O'))
        return bad(l, "an array of Python objects (a pickle), which we never load; save numbers");
    if (word[0] == '>')
        return bad(l, "big-endian numbers %s; save them with a.astype('<%s')", tsri_quote(word),
                   tsri_quote(word + 1));
    return bad(l, "the dtype %s is not supported; save the array as float32, float64 or integers",
               tsri_quote(word));
}

/* ---- The header ------------------------------------------------------------------------------ */

static tsr_status dictionary(literal *l, tsri_tensor *t, bool *columns)
{
    tsr_status st = TSR_OK;
    static const char *const key[] = {"descr", "fortran_order", "shape"};
    bool seen[3] = {false, false, false}, comma = true;
    char word[TEXT_ROOM];
    TSR_TRY(expect(l, '{'));
    while (!accept(l, '}')) {
        int k = 0;
        TSR_TRY(quoted(l, word, sizeof word));
        while (k < 3 && strcmp(word, key[k]) != 0)
            k++;
        if (k == 3 || seen[k] || !comma) {
            st = bad(l, "%s key %s",
                     k == 3    ? "unknown"
                     : seen[k] ? "duplicate"
                               : "no ',' before",
                     tsri_quote(word));
            goto done;
        }
        seen[k] = true;
        TSR_TRY(expect(l, ':'));
        TSR_TRY(k == 0 ? descr(l, t) : k == 1 ? truth(l, columns) : shape(l, t));
        comma = accept(l, ',');
    }
    for (int k = 0; k < 3; k++) {
        if (!seen[k]) {
            st = bad(l, "the key %s is missing", key[k]);
            goto done;
        }
    }
    (void)peek(l);
    if (l->at != l->end)
        st = bad(l, "nothing may follow the dictionary");
done:
    return st;
}

/* *data = where the numbers begin, after checking that there are exactly enough. */
static tsr_status header(tsri_tensor *t, bool *columns, const char **data, const char *bytes,
                         int64_t n, const char *name)
{
    tsr_status st = TSR_OK;
    const unsigned char *b = (const unsigned char *)bytes;
    TSR_CHECK(n >= 10 && memcmp(bytes, MAGIC, 6) == 0, TSR_BAD_FILE,
              "%s: not a .npy file, or cut off in its first bytes", tsri_quote(name));
    TSR_CHECK(b[6] >= 1 && b[6] <= 3 && b[7] == 0, TSR_BAD_FILE,
              "%s: .npy version %d.%d; versions 1.0, 2.0 and 3.0 are known", tsri_quote(name), b[6],
              b[7]);
    int64_t begin = b[6] == 1 ? 10 : 12;
    TSR_CHECK(n >= begin, TSR_BAD_FILE, "%s: cut off in its first bytes", tsri_quote(name));
    int64_t length = b[8] | b[9] << 8;
    if (b[6] > 1)
        length |= (int64_t)b[10] << 16 | (int64_t)b[11] << 24;
    TSR_CHECK(length <= HEADER_MOST && length <= n - begin, TSR_BAD_FILE,
              "%s: says its header has %lld bytes, but %lld follow (and %d is the most accepted)",
              tsri_quote(name), (long long)length, (long long)(n - begin), HEADER_MOST);
    literal l = {bytes + begin, bytes + begin, bytes + begin + length, name};
    TSR_TRY(dictionary(&l, t, columns));
    int64_t need = tsri_dtype_bytes(t->dtype), have = n - begin - length;
    for (int i = 0; i < t->dims; i++)
        TSR_CHECK(!__builtin_mul_overflow(need, t->shape[i], &need), TSR_BAD_FILE,
                  "%s: the shape in the header overflows", tsri_quote(name));
    TSR_CHECK(need == have, TSR_BAD_FILE,
              "%s: the shape needs %lld bytes of data, but %lld are there; the file is %s",
              tsri_quote(name), (long long)need, (long long)have,
              need > have ? "cut off" : "damaged or not one array");
    *data = bytes + begin + length;
done:
    return st;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* out[i,j,k] = in[k,j,i]: walks the output in order and keeps the place in the input. */
static void from_columns(char *out, const char *in, const tsri_tensor *t)
{
    int64_t total = tsri_tensor_count(t), size = tsri_dtype_bytes(t->dtype), from = 0;
    int64_t index[TSRI_DIMS_MAX] = {0}, stride[TSRI_DIMS_MAX];
    for (int64_t i = 0, step = 1; i < t->dims; step *= t->shape[i], i++)
        stride[i] = step;
    for (int64_t o = 0; o < total; o++) {
        memcpy(out + o * size, in + from * size, (size_t)size);
        for (int d = t->dims - 1; d >= 0; d--) {
            from += stride[d];
            if (++index[d] < t->shape[d])
                break;
            from -= stride[d] * t->shape[d];
            index[d] = 0;
        }
    }
}

tsr_status tsri_npy_parse(tsri_tensor *out, void **memory, const char *bytes, int64_t n,
                          const char *name)
{
    tsr_status st = TSR_OK;
    tsri_tensor t = {.name = ""};
    bool columns = false;
    const char *data = NULL;
    char *copy = NULL;
    *memory = NULL;
    TSR_TRY(header(&t, &columns, &data, bytes, n, name));
    assert(data && "a header that was read says where the data begin");
    TSR_TRY(tsri_alloc_raw(&copy, tsri_tensor_bytes(&t), 1));
    if (columns && t.dims > 1)
        from_columns(copy, data, &t);
    else
        memcpy(copy, data, (size_t)tsri_tensor_bytes(&t));
    t.data = copy;
    *out = t;
    *memory = copy;
done:
    return st;
}

tsr_status tsri_npy_read(tsri_tensor *out, void **memory, const char *path)
{
    tsr_status st = TSR_OK;
    char *bytes = NULL;
    int64_t n = 0;
    *memory = NULL;
    TSR_TRY(tsri_file_read(&bytes, &n, path, INT64_MAX - 1));
    TSR_TRY(tsri_npy_parse(out, memory, bytes, n, path));
done:
    tsri_free(bytes);
    return st;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static tsr_status descr_of(const char **out, tsri_dtype dtype)
{
    for (int i = 0; i < TYPES; i++) {
        if (types[i].dtype == dtype) {
            *out = types[i].descr;
            return TSR_OK;
        }
    }
    return tsri_fail(TSR_FAILURE, "numpy has no type %s; convert it first", tsri_dtype_name(dtype));
}

tsr_status tsri_npy_write(const char *path, const tsri_tensor *tensor)
{
    tsr_status st = TSR_OK;
    tsri_text text = {0};
    const char *type = NULL;
    unsigned char front[10];
    TSR_TRY(descr_of(&type, tensor->dtype));
    TSR_TRY(tsri_text_add(&text, "{'descr': '%s', 'fortran_order': False, 'shape': (", type));
    for (int i = 0; i < tensor->dims; i++) /* (), (3,), (3, 4) */
        TSR_TRY(tsri_text_add(&text,
                              i + 1 < tensor->dims ? "%lld, "
                              : i                  ? "%lld"
                                                   : "%lld,",
                              (long long)tensor->shape[i]));
    TSR_TRY(tsri_text_add(&text, "), }"));
    while ((10 + text.length + 1) % 64 != 0) /* the data begins on a multiple of 64 */
        TSR_TRY(tsri_text_add_bytes(&text, " ", 1));
    TSR_TRY(tsri_text_add_bytes(&text, "\n", 1));
    memcpy(front, MAGIC, 6);
    front[6] = 1;
    front[7] = 0;
    front[8] = (unsigned char)(text.length & 255);
    front[9] = (unsigned char)(text.length >> 8);
    const tsri_piece pieces[] = {
        {front, sizeof front}, {text.data, text.length}, {tensor->data, tsri_tensor_bytes(tensor)}};
    TSR_TRY(tsri_file_write(path, pieces, 3));
done:
    tsri_text_fini(&text);
    return st;
}
