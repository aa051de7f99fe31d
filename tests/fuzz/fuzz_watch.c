/* Any bytes as metrics.jsonl: watched, drawn, and given to other tools. It never fails but as a bad
 * file, and nothing that drives a terminal comes out. */
#include "fuzz.h"

#include "watch/flat.h"
#include "watch/view.h"
#include "watch/followed.h"

static tsr_status ignore(void *context, const char *name, double number, const char *text)
{
    (void)number;
    *(size_t *)context += strlen(name) + (text ? strlen(text) : 0);
    return TSR_OK;
}

static void flatten(const char *line, size_t n)
{
    tsri_json_value *root = NULL;
    size_t bytes = 0;
    tsri_flat to = {&bytes, ignore};
    if (tsri_json_parse(&root, line, (int64_t)n, "line") == TSR_OK && tsri_json_is_object(root)) {
        tsr_status st = tsri_flat_line(&to, root, '.');
        MUST(st == TSR_OK || st == TSR_BAD_FILE);
    }
    tsri_json_destroy(root);
}

static void show(const tsri_followed *one)
{
    tsri_followed *run[] = {(tsri_followed *)one};
    tsri_lookout w = {.folder = "f", .run = run, .runs = 1};
    tsri_screen s = {61, 33, false, true, 0, true};
    tsri_text text = {0};
    MUST(tsri_lookout_draw(&text, &w, &s) == TSR_OK);
    for (int64_t i = 0; i < text.length; i++)
        MUST((unsigned char)text.data[i] >= 0x20 || text.data[i] == '\n');
    MUST(tsri_lookout_json(&text, &w) == TSR_OK);
    MUST(tsri_lookout_openmetrics(&text, &w) == TSR_OK);
    tsri_text_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    tsri_followed w = {0};
    tsri_now now = {1, 1};
    if (n > 1 << 14)
        return 0;
    MUST(tsri_followed_begin(&w, "/nowhere", "run") == TSR_OK);
    w.epochs_asked = 10;
    const char *at = (const char *)bytes, *end;
    for (size_t left = n; (end = memchr(at, '\n', left));
         left -= (size_t)(end - at) + 1, at = end + 1) {
        MUST(tsri_followed_line(&w, at, end - at) == TSR_OK);
        flatten(at, (size_t)(end - at));
    }
    tsri_followed_judge(&w, &now);
    MUST(w.points <= TSRI_POINTS && w.ranks <= TSRI_MEMBERS);
    show(&w);
    tsri_followed_fini(&w);
    MUST(tsri_alloc_blocks() == 0);
    return 0;
}
