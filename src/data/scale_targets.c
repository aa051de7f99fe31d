/* scale_targets.c - real targets brought to scale (data.target_scale).
 *
 * Several targets have one shift and one scale in common; answers are scaled back by them
 * (scaling.h).
 */
#include "data/prepare.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/text.h"
#include "data/groups.h"
#include "data/part.h"

#include <stdio.h>
#include <string.h>

static tsr_status logarithms(tsri_part *part, const tsr_data *data, const char *which)
{
    tsr_status st = TSR_OK;
    for (int64_t k = 0; k < part->n * data->targets; k++) {
        TSR_CHECK(part->target[k] > 0.0f, TSR_BAD_FILE,
                  "%s: the target of %s sample %lld is %g and has no logarithm; set "
                  "data.target_scale to standardize",
                  tsri_quote(data->name), which, (long long)tsri_part_row(part, k / data->targets),
                  (double)part->target[k]);
        part->target[k] = (float)tsri_log((double)part->target[k]);
    }
done:
    return st;
}

static const char *target_name(char text[32], const tsr_data *data, int64_t j)
{
    const tsri_data_schema *s = &data->schema;
    if (s->targets == data->targets && s->target[j])
        return tsri_quote(s->target[j]);
    (void)snprintf(text, 32, "number %lld", (long long)j + 1);
    return text;
}

/* Warns of a target that varies much less than all targets together: on the common scale its errors
 * are too small for the loss to see. */
static tsr_status doubt_targets(const tsr_data *data, const tsri_group *all)
{
    enum { LESS = 10 };
    tsr_status st = TSR_OK;
    tsri_group *g = NULL;
    char text[32];
    if (data->targets < 2 || data->sequences)
        goto done;
    TSR_TRY(tsri_alloc(&g, data->targets, sizeof *g));
    tsri_measure_targets(g, data->targets, data);
    for (int64_t j = 0; j < data->targets; j++) {
        double part = g[j].squares * (double)data->targets / all->squares;
        if (g[j].squares <= 0 || part * LESS * LESS >= 1)
            continue;
        TSRI_WARN(
            "%s: target %s varies %.3g times less than all targets together, which are scaled "
            "as one: its errors will hardly count; bring the columns to one scale, or train a "
            "model for each",
            tsri_quote(data->name), target_name(text, data, j), sqrt(1 / part));
        break;
    }
done:
    tsri_free(g);
    return st;
}

static tsr_status move_targets(tsri_part *part, const tsr_data *data)
{
    const tsri_scaling *s = &data->scaling;
    for (int64_t k = 0; part->target && k < part->n * data->targets; k++) {
        float y = tsri_scaled(part->target[k], s->target_shift, s->target_scale);
        if (isinf(y))
            return tsri_scaled_too_far(data, part, k / data->targets, "the target",
                                       part->target[k]);
        part->target[k] = y;
    }
    return TSR_OK;
}

/* Shift and scale from the training targets. */
static tsr_status measure(tsr_data *data, bool range)
{
    tsr_status st = TSR_OK;
    tsri_group all;
    const tsri_affine_goal goal = {
        .range = range, .comes_back = true, .what = "the target", .key = "data.target_scale"};
    tsri_measure_targets(&all, 1, data);
    TSR_TRY(doubt_targets(data, &all));
    TSR_TRY(tsri_affine_of(&data->scaling.target_shift, &data->scaling.target_scale, &all, &goal,
                           data));
done:
    return st;
}

tsr_status tsri_scale_targets(tsr_data *data, const char *how, const tsri_scaling *like)
{
    tsr_status st = TSR_OK;
    tsri_scaling *s = &data->scaling;
    s->target_shift = 0.0f;
    s->target_scale = 1.0f;
    s->target_log = strcmp(how, "log") == 0;
    if (!data->train.target || strcmp(how, "none") == 0)
        goto done;
    if (s->target_log) {
        TSR_TRY(logarithms(&data->train, data, "training"));
        TSR_TRY(logarithms(&data->test, data, "test"));
        goto done;
    }
    if (like) {
        s->target_shift = like->target_shift;
        s->target_scale = like->target_scale;
    } else {
        TSR_TRY(measure(data, strcmp(how, "minmax") == 0));
    }
    TSR_TRY(move_targets(&data->train, data));
    TSR_TRY(move_targets(&data->test, data));
done:
    return st;
}
