/* split.c - which samples are for training, which for testing, and how many. */
#include "data/prepare.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "data/part.h"

#include <math.h>

/* The `layer` of the streams. Part of what a seed means: append only. */
enum { SPLIT = 0, LIMIT_TRAIN = 1, LIMIT_TEST = 2 };

/* chosen[i] = whether sample i is among the first `count` of a permutation of n. */
static tsr_status choose(bool **chosen, uint64_t seed, int64_t layer, int64_t n, int64_t count)
{
    tsr_status st = TSR_OK;
    int64_t *perm = NULL;
    TSR_TRY(tsri_alloc(chosen, n, sizeof **chosen));
    TSR_TRY(tsri_alloc_raw(&perm, n, sizeof *perm));
    tsri_rng rng = tsri_rng_stream(seed, TSRI_FOR_SPLIT, layer, 0, 0);
    tsri_rng_permutation(&rng, perm, n);
    for (int64_t i = 0; i < count; i++)
        (*chosen)[perm[i]] = true;
done:
    tsri_free(perm);
    return st;
}

/* *out = the samples of `in` for which chosen[i] == which, in order. */
static tsr_status keep(tsri_part *out, const tsri_part *in, const tsr_data *data,
                       const bool *chosen, bool which)
{
    tsr_status st = TSR_OK;
    int64_t *index = NULL, n = 0;
    TSR_TRY(tsri_alloc_raw(&index, in->n, sizeof *index));
    for (int64_t i = 0; i < in->n; i++)
        if (chosen[i] == which)
            index[n++] = i;
    TSR_TRY(tsri_part_pick(out, in, data, index, n));
done:
    tsri_free(index);
    return st;
}

static tsr_status split(tsr_data *data, uint64_t seed, double fraction)
{
    tsr_status st = TSR_OK;
    bool *chosen = NULL;
    tsri_part train = {0}, test = {0};
    int64_t n = data->train.n, count = llround((double)n * fraction);
    count = count < 1 ? 1 : count > n - 1 ? n - 1 : count;
    TSR_CHECK(n >= 2, TSR_BAD_FILE,
              "%s: one sample cannot be split into training and test; set data.split to 0",
              tsri_quote(data->name));
    TSR_TRY(choose(&chosen, seed, SPLIT, n, count));
    TSR_TRY(keep(&train, &data->train, data, chosen, false));
    TSR_TRY(keep(&test, &data->train, data, chosen, true));
    tsri_part_fini(&data->train);
    tsri_part_fini(&data->test);
    data->train = train;
    data->test = test;
    train = test = (tsri_part){0};
done:
    tsri_part_fini(&train);
    tsri_part_fini(&test);
    tsri_free(chosen);
    return st;
}

static tsr_status limit(tsri_part *part, const tsr_data *data, uint64_t seed, int64_t layer,
                        int64_t most)
{
    tsr_status st = TSR_OK;
    bool *chosen = NULL;
    tsri_part fewer = {0};
    if (most == 0 || most >= part->n)
        goto done;
    TSR_TRY(choose(&chosen, seed, layer, part->n, most));
    TSR_TRY(keep(&fewer, part, data, chosen, true));
    tsri_part_fini(part);
    *part = fewer;
done:
    tsri_free(chosen);
    return st;
}

tsr_status tsri_split(tsr_data *data, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    uint64_t seed = (uint64_t)tsri_config_int(config, "data.seed");
    double fraction = tsri_config_real(config, "data.split");
    TSR_CHECK(data->train.n < UINT32_MAX && data->test.n < UINT32_MAX, TSR_RESOURCES,
              "%s: more than 2^32 samples", tsri_quote(data->name));
    if (data->test.n == 0 && fraction > 0.0)
        TSR_TRY(split(data, seed, fraction));
    TSR_TRY(limit(&data->train, data, seed, LIMIT_TRAIN, tsri_config_int(config, "data.limit")));
    TSR_TRY(limit(&data->test, data, seed, LIMIT_TEST, tsri_config_int(config, "data.test_limit")));
done:
    return st;
}
