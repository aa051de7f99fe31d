/* test_lib_life.c - every handle made and ended many times over: nothing is left, and the peak does
 * not grow.
 *
 * TESSERA_LIFE says how many times; a few hundred by default, since a leak of one block shows after
 * the first.
 */
#include "library_testing.h"

static void live_once(const tsr_data_options *d, const tsr_config *config)
{
    tsr_data *data = NULL;
    tsr_config *copy = NULL;
    tsr_context *context = NULL;
    tsr_run *run = NULL;
    tsr_model *model = NULL, *small = NULL;
    tsr_share *share = NULL;
    tsr_predictor *predictor = NULL;
    tsr_run_options o = tsr_run_options_default();
    float y[3];
    tsr_array one = tsr_array_of(sample_x, TSR_F32, 2, (int64_t[]){1, INPUTS});
    assert_ok(tsr_context_create(&context));
    assert_ok(tsr_data_create(&data, d));
    assert_ok(tsr_config_copy(&copy, config));
    o.data = data;
    assert_ok(tsr_run_create(&run, copy, &o));
    assert_ok(tsr_run_step(run, NULL));
    assert_ok(tsr_run_model(&model, run));
    assert_ok(tsr_share_create(&share, model));
    assert_ok(tsr_share_give(share, "hidden.0", (int64_t[]){2, 5}, 2));
    assert_ok(tsr_share_take(&small, share, model));
    assert_ok(tsr_share_put(model, &share, &small, 1));
    assert_ok(tsr_predictor_create(&predictor, small, NULL));
    assert_ok(tsr_predictor_run(y, predictor, &one, NULL));
    tsr_predictor_destroy(predictor);
    tsr_share_destroy(share);
    tsr_model_destroy(small);
    tsr_model_destroy(model);
    tsr_run_destroy(run);
    tsr_config_destroy(copy);
    tsr_data_destroy(data);
    tsr_context_destroy(context);
}

static void nothing_stays(void **state)
{
    (void)state;
    static const char *const brief[] = {"data.prefetch=false", NULL};
    const char *asked = getenv("TESSERA_LIFE");
    int64_t times = asked ? atoll(asked) : 300;
    tsr_config *config = small_config(brief);
    tsr_data_options d = vectors();
    live_once(&d, config);
    size_t held = tsr_memory_in_use(), peak = tsr_memory_peak();
    for (int64_t i = 0; i < times; i++)
        live_once(&d, config);
    assert_int_equal(tsr_memory_in_use(), held);
    assert_int_equal(tsr_memory_peak(), peak);
    tsr_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_stays)};
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
