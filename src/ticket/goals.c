/* goals.c - what tickets a run file asks for. */
#include "ticket/goals.h"

#include "base/alloc.h"
#include "ticket/target.h"

static const char *const keys[] = {
    [TSRI_BY_FILTERS] = "ticket.ratios",
    [TSRI_BY_PARAMS] = "ticket.params",
    [TSRI_BY_OPS] = "ticket.ops",
    [TSRI_BY_TIME] = "ticket.time",
};
enum { MEASURES = sizeof keys / sizeof *keys };

const char *tsri_goal_key(tsri_measure measure)
{
    return keys[measure];
}

static int64_t values_of(const double **value, const tsr_config *c, int m)
{
    const double *other;
    int64_t others = 0;
    for (int k = TSRI_BY_PARAMS; k < MEASURES; k++)
        others += tsri_config_reals(c, keys[k], &other);
    if (m == TSRI_BY_FILTERS && others > 0 && !tsri_config_given(c, keys[m]))
        return 0;
    return tsri_config_reals(c, keys[m], value);
}

static tsr_status add_goals(tsri_goal *goals, int64_t *n, const tsr_config *c, int m)
{
    tsr_status st = TSR_OK;
    const double *value = NULL;
    int64_t count = values_of(&value, c, m);
    const char *place = tsri_config_place(c, keys[m]);
    for (int64_t i = 0; i < count; i++) {
        TSR_CHECK(value[i] > 0 && value[i] < 1, TSR_USAGE,
                  "%s: a number of %s is the part of the %s to %s: above 0 and below 1, not %g",
                  place, keys[m], tsri_measure_words((tsri_measure)m),
                  m == TSRI_BY_FILTERS ? "remove" : "keep", value[i]);
        for (int64_t j = 0; j < i; j++)
            TSR_CHECK(value[i] != value[j], TSR_USAGE, "%s: %s has %g twice", place, keys[m],
                      value[i]);
        goals[(*n)++] = (tsri_goal){(tsri_measure)m, value[i]};
    }
done:
    return st;
}

tsr_status tsri_goals_read(tsri_goal **goals, int64_t *n, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    const double *value;
    int64_t all = 0;
    *goals = NULL;
    *n = 0;
    for (int m = 0; m < MEASURES; m++)
        all += values_of(&value, config, m);
    TSR_CHECK(all > 0, TSR_USAGE, "%s: ticket.ratios is empty: give one at least, such as [0.5]",
              tsri_config_place(config, "ticket.ratios"));
    TSR_TRY(tsri_alloc(goals, all, sizeof **goals));
    for (int m = 0; m < MEASURES; m++)
        TSR_TRY(add_goals(*goals, n, config, m));
done:
    return st;
}
