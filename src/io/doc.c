/* doc.c - documents, the JSON that jobs give, as programs read and write them. */
#include "base/alloc.h"
#include "base/sized.h"
#include "io/json.h"

#include <math.h>
#include <string.h>

/* A tsr_doc is a value of json.h by its public name. */
static const tsri_json_value *value_of(const tsr_doc *doc)
{
    return (const tsri_json_value *)doc;
}

static const tsr_doc *doc_of(const tsri_json_value *value)
{
    return (const tsr_doc *)value;
}

tsr_status tsr_doc_parse(tsr_doc **out, const char *json)
{
    tsr_status st = TSR_OK;
    tsri_json_value *root = NULL;
    TSRI_GIVEN(out);
    *out = NULL;
    TSRI_GIVEN(json);
    TSR_TRY(tsri_json_parse_own(&root, json, (int64_t)strlen(json), "the document"));
    *out = (tsr_doc *)root;
done:
    return st;
}

void tsr_doc_destroy(tsr_doc *doc)
{
    if (doc)
        tsri_json_destroy((tsri_json_value *)doc);
}

const tsr_doc *tsr_doc_get(const tsr_doc *doc, const char *key)
{
    return doc && key ? doc_of(tsri_json_get(value_of(doc), key)) : NULL;
}

int64_t tsr_doc_count(const tsr_doc *doc)
{
    if (!doc)
        return 0;
    return tsri_json_is_object(value_of(doc)) ? tsri_json_members(value_of(doc))
                                              : tsri_json_length(value_of(doc));
}

const tsr_doc *tsr_doc_at(const tsr_doc *doc, int64_t i)
{
    const char *key;
    if (!doc || i < 0)
        return NULL;
    return doc_of(tsri_json_is_object(value_of(doc)) ? tsri_json_member(value_of(doc), i, &key)
                                                     : tsri_json_at(value_of(doc), i));
}

const char *tsr_doc_key(const tsr_doc *doc, int64_t i)
{
    const char *key = NULL;
    if (doc && i >= 0 && tsri_json_is_object(value_of(doc)))
        (void)tsri_json_member(value_of(doc), i, &key);
    return key;
}

static const tsri_json_value *one(const tsr_doc *doc, const char *key)
{
    return value_of(key ? tsr_doc_get(doc, key) : doc);
}

const char *tsr_doc_text(const tsr_doc *doc, const char *key)
{
    const char *text = NULL;
    return tsri_json_as_text(one(doc, key), &text) ? text : NULL;
}

int64_t tsr_doc_int(const tsr_doc *doc, const char *key)
{
    int64_t value = 0;
    return tsri_json_as_int(one(doc, key), &value) ? value : 0;
}

double tsr_doc_real(const tsr_doc *doc, const char *key)
{
    double value = 0;
    return tsri_json_as_real(one(doc, key), &value) ? value : (double)NAN;
}

bool tsr_doc_bool(const tsr_doc *doc, const char *key)
{
    bool value = false;
    return tsri_json_as_bool(one(doc, key), &value) && value;
}

/* ---- Writing ------------------------------------------------------------------------------- */

struct tsr_json {
    tsri_json w;
};

tsr_json *tsr_json_create(void)
{
    tsr_json *json = NULL;
    if (tsri_alloc(&json, 1, sizeof *json) == TSR_OK)
        tsri_json_begin(&json->w);
    return json;
}

tsr_json *tsr_json_from(const char *document)
{
    size_t n = document ? strlen(document) : 0;
    tsr_json *json = NULL;
    while (n > 0 && document[n - 1] != '}')
        n--;
    if (n < 2 || tsri_alloc(&json, 1, sizeof *json) != TSR_OK)
        return NULL;
    json->w.st = tsri_text_add_bytes(&json->w.text, document, n - 1);
    json->w.comma = n > 2;
    return json;
}

/* Where the next value goes, behind its name; NULL without memory. */
static tsri_json *named(tsr_json *json, const char *key)
{
    if (json && key)
        tsri_json_key(&json->w, key);
    return json ? &json->w : NULL;
}

void tsr_json_open(tsr_json *json, const char *key, char bracket)
{
    tsri_json *w = named(json, key);
    if (w)
        tsri_json_open(w, bracket);
}

void tsr_json_close(tsr_json *json, char bracket)
{
    if (json)
        tsri_json_close(&json->w, bracket);
}

void tsr_json_text(tsr_json *json, const char *key, const char *value)
{
    tsri_json *w = named(json, key);
    if (w && value)
        tsri_json_text(w, value);
    else if (w)
        tsri_json_null(w);
}

void tsr_json_int(tsr_json *json, const char *key, int64_t value)
{
    tsri_json *w = named(json, key);
    if (w)
        tsri_json_int(w, value);
}

void tsr_json_real(tsr_json *json, const char *key, double value)
{
    tsri_json *w = named(json, key);
    if (w)
        tsri_json_real(w, value);
}

void tsr_json_bool(tsr_json *json, const char *key, bool value)
{
    tsri_json *w = named(json, key);
    if (w)
        tsri_json_bool(w, value);
}

void tsr_json_put(tsr_json *json, const char *key, const char *text)
{
    tsri_json *w = named(json, key);
    if (w)
        tsri_json_copy(w, text ? text : "null");
}

tsr_status tsr_json_end(char **out, tsr_json *json)
{
    tsr_status st = TSR_OK;
    if (out)
        *out = NULL;
    TSR_CHECK(json, TSR_RESOURCES, "out of memory: a document could not be written");
    if (out) {
        tsri_json_close(&json->w, '}');
        TSR_TRY(tsri_json_give(out, &json->w));
    }
done:
    if (json)
        tsri_json_fini(&json->w);
    tsri_free(json);
    return st;
}
