/* missing.c - cells that are NaN, filled before anything is scaled. */
#include "data/prepare.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/text.h"
#include "data/groups.h"

#include <string.h>

static void fill_part(tsri_part *part, const tsr_data *data, const float *fill)
{
    for (int64_t i = 0; i < part->n; i++) {
        float *x = part->numbers + i * data->dim;
        for (int64_t k = 0; k < data->dim; k++)
            if (isnan(x[k]))
                x[k] = fill[k];
    }
}

/* The mean of every column of the training part; 0 where it has no value at all. */
static tsr_status column_means(float *fill, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    tsri_group *g = NULL;
    int64_t empty = 0;
    TSR_TRY(tsri_measure_inputs(&g, (tsri_groups){data->dim, 1}, data));
    for (int64_t k = 0; k < data->dim; k++) {
        fill[k] = g[k].n > 0 ? (float)(g[k].sum / (double)g[k].n) : 0.0f;
        empty += g[k].n == 0;
    }
    if (empty > 0)
        TSRI_WARN("%s: %lld columns have no value at all in the training part; they are zero",
                  tsri_quote(data->name), (long long)empty);
done:
    tsri_free(g);
    return st;
}

tsr_status tsri_fill_missing(tsr_data *data, const char *how, const tsri_scaling *like)
{
    tsr_status st = TSR_OK;
    tsri_scaling *s = &data->scaling;
    bool table = data->train.numbers && !data->sequences && data->height * data->width == 1;
    if (!table && data->missing == 0)
        goto done;
    TSR_TRY(tsri_alloc(&s->fill, data->dim, sizeof *s->fill));
    s->columns = data->dim;
    if (like && like->columns == s->columns)
        memcpy(s->fill, like->fill, (size_t)s->columns * sizeof *s->fill);
    else if (strcmp(how, "zero") != 0)
        TSR_TRY(column_means(s->fill, data));
    if (data->missing > 0) {
        fill_part(&data->train, data, s->fill);
        fill_part(&data->test, data, s->fill);
    }
done:
    return st;
}
