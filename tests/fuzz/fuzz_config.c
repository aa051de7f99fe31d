/* Run files: any bytes are refused with a sentence, or read, and then written to text that reads
 * back to the same config. Bytes behind the first zero byte are an assignment for --set. */
#include "base/alloc.h"
#include "io/config.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* Writing, reading and writing again gives the same bytes. */
static void round_trip(const tsr_config *config)
{
    tsri_text a = {0}, b = {0};
    tsr_config *back = NULL;
    must(tsri_config_write(&a, config, NULL) == TSR_OK);
    must(tsri_config_parse(&back, a.data, a.length, "written") == TSR_OK);
    must(tsri_config_write(&b, back, NULL) == TSR_OK);
    must(a.length == b.length && memcmp(a.data, b.data, (size_t)a.length) == 0);
    tsr_config_destroy(back);
    tsri_text_fini(&a);
    tsri_text_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tsr_config *config = NULL;
    char *text = NULL;
    if (tsri_strndup(&text, (const char *)data, size) != TSR_OK)
        return 0;
    const char *end = memchr(text, 0, size + 1);
    tsr_status st = tsri_config_parse(&config, text, end - text, "fuzz");
    if (st == TSR_OK)
        round_trip(config);
    else
        must(st == TSR_USAGE && strncmp(tsr_last_error(), "fuzz", 4) == 0);
    if (st == TSR_OK && (size_t)(end - text) < size && tsr_config_set(config, end + 1) == TSR_OK)
        round_trip(config);
    tsr_config_destroy(config);
    tsri_free(text);
    must(tsri_alloc_blocks() == 0);
    return 0;
}
