/* config_file.c - a run file from disk. */
#include "io/config_value.h"

#include "base/alloc.h"
#include "io/file.h"

tsr_status tsr_config_read(tsr_config **out, const char *path)
{
    tsr_status st = TSR_OK;
    char *text = NULL;
    int64_t n = 0;
    *out = NULL;
    TSR_TRY(tsri_file_read(&text, &n, path, TSRI_RUN_FILE_MAX));
    TSR_TRY(tsri_config_parse(out, text, n, path));
done:
    tsri_free(text);
    return st;
}
