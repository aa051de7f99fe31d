/* Any bytes as the small languages of the command line: a grid of a sweep, the rank of gates. */
#include "fuzz.h"

#include "convert/gates.h"
#include "io/config.h"
#include "sweep/grid.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    tsr_config *config = NULL;
    tsri_grid grid = {0};
    char *text = NULL;
    int64_t rank = 0;
    if (n > 4096)
        return 0;
    MUST(tsr_config_create(&config) == TSR_OK &&
         tsri_strndup(&text, (const char *)bytes, n) == TSR_OK);
    tsr_status st = tsri_grid_read(&grid, text, config);
    MUST(st == TSR_OK || st == TSR_USAGE || st == TSR_RESOURCES);
    for (int64_t i = 0; st == TSR_OK && i < grid.count; i += 1 + grid.count / 8)
        (void)tsri_grid_set(&grid, i, config);
    tsri_grid_fini(&grid);
    st = tsri_gates_parse(&rank, text);
    MUST(st == TSR_OK || st == TSR_USAGE);
    tsr_config_destroy(config);
    tsri_free(text);
    MUST(tsri_alloc_blocks() == 0);
    return 0;
}
