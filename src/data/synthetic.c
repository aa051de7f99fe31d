/* synthetic.c - from the `data:` section to a generator's options. */
#include "data/synthetic.h"

#include <string.h>

/* data.n: 0. Glyphs need more samples than points in space do: enough for a small CNN to pass 97 %.
 * (The resolved run file says 0 again, and so means the same data.) */
enum { GLYPHS_N = 20000, OTHERS_N = 1000 };

static tsri_synthetic read_options(const tsr_config *config, int64_t default_n)
{
    tsri_synthetic options = {
        .n = tsri_config_int(config, "data.n"),
        .test_n = tsri_config_int(config, "data.test_n"),
        .dim = tsri_config_int(config, "data.dim"),
        .classes = tsri_config_int(config, "data.classes"),
        .length = tsri_config_int(config, "data.length"),
        .targets = tsri_config_int(config, "data.targets"),
        .channels = tsri_config_int(config, "data.channels"),
        .phi = tsri_config_real(config, "data.phi"),
        .regress = tsri_config_is(config, "data.task", "regress"),
        .seed = (uint64_t)tsri_config_int(config, "data.seed"),
    };
    if (options.n == 0)
        options.n = default_n;
    return options;
}

/* Refuses a task that the generator does not have: `only` is the one it has. */
static tsr_status check_task(const tsr_config *config, const char *only, const char *why)
{
    tsr_status st = TSR_OK;
    const char *task = tsri_config_text(config, "data.task");
    TSR_CHECK(strcmp(task, "auto") == 0 || strcmp(task, only) == 0, TSR_USAGE,
              "%s: %s; leave data.task out or say %s", tsri_config_place(config, "data.task"), why,
              only);
done:
    return st;
}

/* A generator's refusal is about the section: say where that stands. */
static tsr_status placed(tsr_status st, const tsr_config *config)
{
    if (st == TSR_USAGE)
        tsri_fail_prefix("%s: ", tsri_config_place(config, "data.name"));
    return st;
}

tsr_status tsri_make_glyphs(tsr_data *data, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    TSR_TRY(check_task(config, "classify", "glyphs have classes"));
    tsri_synthetic options = read_options(config, GLYPHS_N);
    TSR_TRY(placed(tsri_glyphs(data, &options), config));
done:
    return st;
}

tsr_status tsri_make_sphere(tsr_data *data, const tsr_config *config)
{
    tsri_synthetic options = read_options(config, OTHERS_N);
    return placed(tsri_sphere(data, &options), config);
}

tsr_status tsri_make_random_labels(tsr_data *data, const tsr_config *config)
{
    tsri_synthetic options = read_options(config, OTHERS_N);
    return placed(tsri_random_labels(data, &options), config);
}

tsr_status tsri_make_ackley(tsr_data *data, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    TSR_TRY(check_task(config, "regress", "ackley has real targets"));
    tsri_synthetic options = read_options(config, OTHERS_N);
    TSR_TRY(placed(tsri_ackley(data, &options), config));
done:
    return st;
}

tsr_status tsri_make_sequences(tsr_data *data, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    TSR_TRY(check_task(config, "regress", "sequences have real targets at every position"));
    tsri_synthetic options = read_options(config, OTHERS_N);
    TSR_TRY(placed(tsri_sequences(data, &options), config));
done:
    return st;
}
