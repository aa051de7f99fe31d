/* Any bytes as JSON in, and as a string out: what we write, jansson must read back. */
#include "fuzz.h"

#include "io/json.h"

static void walk(const tsri_json_value *v)
{
    for (int64_t i = 0; i < tsri_json_length(v); i++)
        walk(tsri_json_at(v, i));
}

static void write_and_read(const char *text)
{
    tsri_json w = {0};
    tsri_json_value *root = NULL;
    tsri_json_open(&w, '[');
    tsri_json_text(&w, text);
    double d = 0, back = 0;
    memcpy(&d, text, strlen(text) < sizeof d ? strlen(text) : sizeof d);
    tsri_json_real(&w, d);
    tsri_json_close(&w, ']');
    MUST(tsri_json_end(&w) == TSR_OK);
    if (w.text.length <= TSRI_JSON_MOST) {
        MUST(tsri_json_parse(&root, w.text.data, w.text.length, "fuzz") == TSR_OK);
        if (tsri_json_as_real(tsri_json_at(root, 1), &back))
            MUST(memcmp(&d, &back, sizeof d) == 0);
        tsri_json_destroy(root);
    }
    tsri_json_fini(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    tsri_json_value *root = NULL;
    char *text = NULL;
    if (tsri_json_parse(&root, (const char *)bytes, (int64_t)n, "fuzz") == TSR_OK)
        walk(root);
    tsri_json_destroy(root);
    MUST(tsri_strndup(&text, (const char *)bytes, n) == TSR_OK);
    write_and_read(text);
    tsri_free(text);
    MUST(tsri_alloc_blocks() == 0);
    return 0;
}
