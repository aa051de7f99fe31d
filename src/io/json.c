/* json.c - JSON in, by jansson, whose only home this is.
 *
 * jansson takes its memory from malloc: its allocator is one setting for the whole process, which a
 * library must leave to its host. An element of two bytes becomes a value of some hundred, so the
 * input is limited (TSRI_JSON_MOST) to bound what a hostile document can take.
 */
#include "io/json.h"

#include <jansson.h>

/* A tsri_json_value is a json_t by another name, so that no other file sees jansson. */
static json_t *in(const tsri_json_value *v)
{
    union {
        const tsri_json_value *from;
        json_t *to;
    } cast = {v}; /* jansson's own getters want no const */
    return cast.to;
}

static tsri_json_value *out_of(json_t *v)
{
    return (tsri_json_value *)v;
}

enum { RULES = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY };

/* No token reaches across a quotation mark, but for one behind a backslash. */
static int64_t longest_token(const char *bytes, int64_t n)
{
    int64_t longest = 0, since = 0;
    for (int64_t i = 0; i <= n; i++) {
        if (i < n && (bytes[i] != '"' || (i > 0 && bytes[i - 1] == '\\')))
            continue;
        longest = i - since > longest ? i - since : longest;
        since = i + 1;
    }
    return longest;
}

/* jansson gathers the letters of a token in a buffer that grows, and does not look whether it did:
 * without memory a letter is lost, or a number ends in a failed assertion. So it is given
 *
 *     ["as many spaces as the longest token may have", the document]
 *
 * and its buffer has grown when the document begins. NULL: the document is bad, or memory lacks. */
static json_t *load(const char *bytes, int64_t n)
{
    json_error_t error;
    json_t *both = NULL, *root = NULL;
    tsri_text wrapped = {0};
    int64_t longest = longest_token(bytes, n);
    tsr_status st = TSR_OK; /* what failed is found out by the caller */
    TSR_TRY(tsri_text_add(&wrapped, "[\"%*s\",", (int)longest, ""));
    TSR_TRY(tsri_text_add_bytes(&wrapped, bytes, (size_t)n));
    TSR_TRY(tsri_text_add(&wrapped, "]"));
    both = json_loadb(wrapped.data, (size_t)wrapped.length, RULES, &error);
    if (json_array_size(both) == 2 &&
        json_string_length(json_array_get(both, 0)) == (size_t)longest)
        root = json_incref(json_array_get(both, 1));
done:
    json_decref(both);
    tsri_text_fini(&wrapped);
    return root;
}

tsr_status tsri_json_parse_own(tsri_json_value **out, const char *bytes, int64_t n,
                               const char *name)
{
    json_error_t error = {0};
    *out = NULL;
    if ((*out = out_of(load(bytes, n))))
        return TSR_OK;
    /* Once more, as it is, for what is wrong where. */
    json_t *root = json_loadb(bytes, (size_t)n, RULES, &error);
    bool memory = root || !*error.text || json_error_code(&error) == json_error_out_of_memory;
    json_decref(root);
    if (memory)
        return tsri_fail(TSR_RESOURCES, "%s: out of memory while reading JSON", tsri_quote(name));
    return tsri_fail(TSR_BAD_FILE, "%s:%d:%d: not the JSON we expect: %s", tsri_quote(name),
                     error.line, error.column, tsri_quote(error.text));
}

tsr_status tsri_json_parse(tsri_json_value **out, const char *bytes, int64_t n, const char *name)
{
    *out = NULL;
    if (n > TSRI_JSON_MOST)
        return tsri_fail(TSR_BAD_FILE, "%s: a JSON text of %s; %s is the most that is accepted",
                         tsri_quote(name), tsri_bytes_text((double)n),
                         tsri_bytes_text(TSRI_JSON_MOST));
    return tsri_json_parse_own(out, bytes, n, name);
}

void tsri_json_destroy(tsri_json_value *root)
{
    json_decref(in(root));
}

bool tsri_json_is_object(const tsri_json_value *v)
{
    return json_is_object(in(v));
}

bool tsri_json_is_array(const tsri_json_value *v)
{
    return json_is_array(in(v));
}

bool tsri_json_is_null(const tsri_json_value *v)
{
    return json_is_null(in(v));
}

const tsri_json_value *tsri_json_get(const tsri_json_value *object, const char *key)
{
    return out_of(json_object_get(in(object), key));
}

const tsri_json_value *tsri_json_member(const tsri_json_value *object, int64_t i, const char **key)
{
    void *at = json_object_iter(in(object));
    while (at && i-- > 0)
        at = json_object_iter_next(in(object), at);
    *key = at ? json_object_iter_key(at) : NULL;
    return at ? out_of(json_object_iter_value(at)) : NULL;
}

int64_t tsri_json_members(const tsri_json_value *object)
{
    return (int64_t)json_object_size(in(object));
}

int64_t tsri_json_length(const tsri_json_value *array)
{
    return (int64_t)json_array_size(in(array));
}

const tsri_json_value *tsri_json_at(const tsri_json_value *array, int64_t i)
{
    return i < 0 ? NULL : out_of(json_array_get(in(array), (size_t)i));
}

bool tsri_json_as_text(const tsri_json_value *v, const char **out)
{
    if (!json_is_string(in(v)))
        return false;
    *out = json_string_value(in(v));
    return true;
}

bool tsri_json_as_int(const tsri_json_value *v, int64_t *out)
{
    if (!json_is_integer(in(v)))
        return false;
    *out = json_integer_value(in(v));
    return true;
}

bool tsri_json_as_real(const tsri_json_value *v, double *out)
{
    if (!json_is_number(in(v)))
        return false;
    *out = json_number_value(in(v));
    return true;
}

bool tsri_json_as_bool(const tsri_json_value *v, bool *out)
{
    if (!json_is_boolean(in(v)))
        return false;
    *out = json_is_true(in(v));
    return true;
}

tsr_status tsri_json_each(const tsri_json_value *object,
                          tsr_status (*visit)(void *context, const char *key,
                                              const tsri_json_value *value),
                          void *context)
{
    tsr_status st = TSR_OK;
    const char *key;
    json_t *value;
    json_object_foreach(in(object), key, value) TSR_TRY(visit(context, key, out_of(value)));
done:
    return st;
}
