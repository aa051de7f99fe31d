/* stop_metric.c - the rows of stop.metric. */
#include "run/stop_metric.h"

#include <assert.h>
#include <string.h>

/* The least distances that count as settled: docs/measurements/tickets.md; of masks You et al. 2019,
 * section 3.3. */
static const tsri_stop_metric rows[] = {
    {.name = "none", .keys = "metric"},
    {.name = "error", .keys = "metric below", .on = TSRI_STOP_ON_TRAINING, .error = true},
    {.name = "loss", .keys = "metric below", .on = TSRI_STOP_ON_TRAINING},
    {.name = "test_error", .keys = "metric patience", .on = TSRI_STOP_ON_TEST, .error = true},
    {.name = "test_loss", .keys = "metric patience", .on = TSRI_STOP_ON_TEST},
    {.name = "filter_distance",
     .keys = "metric below window",
     .on = TSRI_STOP_ON_RANKS,
     .below = 0.05},
    {.name = "mask_distance",
     .keys = "metric below window ratio",
     .on = TSRI_STOP_ON_RANKS,
     .masks = true,
     .below = 0.1},
};

const tsri_stop_metric *tsri_stop_metric_of(const tsr_config *config)
{
    const char *name = tsri_config_text(config, "stop.metric");
    size_t i = 0, count = sizeof rows / sizeof *rows;
    while (i < count && strcmp(rows[i].name, name) != 0)
        i++;
    assert(i < count); /* the schema has the same choices */
    return &rows[i];
}
