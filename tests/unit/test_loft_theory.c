/* LoFT's certificate measures in tiles and blocks: whatever their size, the numbers are those of
 * the network itself. */
#include "run_testing.h"
#include "scratch.h"

#include "base/rng.h"
#include "io/file.h"
#include "io/npy.h"
#include "run/evaluate.h"
#include "scheme/scheme.h"
#include "theory/loft_data.h"
#include "theory/loft_patches.h"
#include "theory/loft_paths.h"
#include "train/describe.h"

#include <math.h>

enum { IMAGES = 11, SIDE = 4, CHANNELS = 2, FILTERS = 7, PATCH = CHANNELS * 9 };

/* Images in the scratch folder. */
static double apart(const tsri_store *one, const tsri_store *other)
{
    double sum;
    assert_ok(tsri_weights_apart(&sum, one, other));
    return sum;
}

static void write_images(void)
{
    float x[IMAGES * CHANNELS * SIDE * SIDE], y[IMAGES];
    tsri_rng rng = tsri_rng_stream(1, TSRI_FOR_DATA, 0, 0, 0);
    for (int i = 0; i < IMAGES * CHANNELS * SIDE * SIDE; i++)
        x[i] = (float)tsri_rng_normal(&rng);
    for (int i = 0; i < IMAGES; i++)
        y[i] = 2 * tsri_rng_uniform(&rng) - 1;
    tsri_tensor images = {
        .dtype = TSRI_F32, .dims = 4, .shape = {IMAGES, CHANNELS, SIDE, SIDE}, .data = x};
    tsri_tensor targets = {.dtype = TSRI_F32, .dims = 1, .shape = {IMAGES}, .data = y};
    assert_ok(tsri_make_folder(scratch_path("images")));
    assert_ok(tsri_npy_write(scratch_path("images/x.npy"), &images));
    assert_ok(tsri_npy_write(scratch_path("images/y.npy"), &targets));
}

static void begin(tsri_run *run, tsr_config **config)
{
    static const char text[] =
        "data: {format: npy, split: 0, task: regress, target_scale: none}\n"
        "model: {name: cnn1, width: 7}\nloss: half_squares\nrounds: 4\n"
        "optim: {name: gd, lr: 20}\nscheme: {name: masked, workers: 2, xi: 0.5}\n";
    char path[400];
    tsr_run_options options = tsr_run_options_default();
    write_images();
    (void)snprintf(path, sizeof path, "data.path=%s", scratch_path("images"));
    *config = make_config(text, path);
    assert_ok(tsri_run_init(run, *config, &options));
    assert_ok(run->settings.scheme->setup(run));
}

/* Outputs against the network's own; flips and sums against a loop over all patches. */
static void passes_do_not_depend_on_tiles(void **state)
{
    (void)state;
    tsri_run run = {.process.lock = -1};
    tsr_config *config;
    begin(&run, &config);
    tsri_patches all;
    assert_ok(tsri_patches_init(&all, &run.store, run.data, run.device.pool));
    float w[FILTERS * PATCH], v[FILTERS * PATCH], *network = NULL;
    double u[IMAGES], again[IMAGES], square[FILTERS], other[FILTERS];
    assert_true(all.m == FILTERS && all.d == PATCH && all.p == SIDE * SIDE);
    assert_ok(tsri_patches_filters(w, &run.store));
    for (int64_t i = 0; i < all.m * all.d; i++)
        v[i] = w[i] + (i % 3 == 0 ? 0.5F : -0.25F);
    tsri_pass one = {.w = w, .before = v, .start = true, .radius = 0.1, .u = u, .square = square};
    tsri_patches_pass(&all, &one);
    assert_ok(tsri_outputs(&network, &run.store, run.device, run.data, &run.data->train));
    for (int i = 0; i < IMAGES; i++) /* xi = 1/2; floats summed in another order */
        assert_true(fabs(u[i] / 2 - (double)network[i]) < 1e-6);
    assert_true(one.flips > 0 && one.near > 0 && one.energy > 0);
    assert_true(one.most_square * (double)(all.n * all.p) >= one.all_squares);
    all.rows = 2;
    all.group = 3;
    tsri_pass two = {
        .w = w, .before = v, .start = true, .radius = 0.1, .u = again, .square = other};
    tsri_patches_pass(&all, &two);
    assert_memory_equal(u, again, sizeof u);
    assert_memory_equal(square, other, sizeof square);
    assert_true(one.flips == two.flips && one.near == two.near && one.energy == two.energy &&
                one.most_square == two.most_square && one.all_squares == two.all_squares);
    tsri_free(network);
    tsri_patches_fini(&all);
    tsri_run_fini(&run);
    tsr_config_destroy(config);
}

static void descent_adds_up_blocks(void **state)
{
    (void)state;
    tsri_run run = {.process.lock = -1};
    tsr_config *config;
    begin(&run, &config);
    tsri_descent whole, parts;
    tsri_run_view view = tsri_run_view_of(&run);
    assert_ok(tsri_descent_init(&whole, &view, &run.store, 0));
    assert_ok(tsri_descent_init(&parts, &view, &run.store, 3)); /* 11 = 3 + 3 + 3 + 2 */
    assert_int_equal(whole.block, IMAGES);
    for (int t = 0; t < 4; t++) {
        assert_ok(tsri_descent_step(&whole));
        assert_ok(tsri_descent_step(&parts));
    }
    assert_true(apart(&whole.store, &run.store) > 1e-6);
    /* the same sums in another order: squares of 1e-7 of the weights */
    assert_true(apart(&whole.store, &parts.store) < 1e-11);
    tsri_descent_fini(&whole);
    tsri_descent_fini(&parts);
    tsri_run_fini(&run);
    tsr_config_destroy(config);
}

/* Draws begin where the run began, have masks of their own, and leave the run as it is. */
static void draws_are_runs_of_their_own(void **state)
{
    (void)state;
    tsri_run run = {.process.lock = -1};
    tsr_config *config;
    begin(&run, &config);
    tsri_draw_path path[2];
    tsri_store first;
    tsri_run_view view = tsri_run_view_of(&run);
    assert_ok(tsri_store_init(&first, run.net, run.device.backend, false));
    assert_ok(tsri_store_copy(&first, &run.store));
    for (int k = 0; k < 2; k++) {
        assert_ok(tsri_draw_path_init(&path[k], &view, &first, k + 1));
        assert_true(apart(&path[k].run.store, &first) == 0);
        for (int t = 0; t < 3; t++)
            assert_ok(tsri_draw_path_round(&path[k]));
    }
    assert_true(apart(&path[0].run.store, &path[1].run.store) > 0);
    assert_true(apart(&run.store, &first) == 0);
    for (int k = 0; k < 2; k++)
        tsri_draw_path_fini(&path[k]);
    tsri_store_fini(&first);
    tsri_run_fini(&run);
    tsr_config_destroy(config);
}

static void equal_images_are_found(void **state)
{
    (void)state;
    tsri_run run = {.process.lock = -1};
    tsr_config *config;
    tsri_loft_data facts;
    begin(&run, &config);
    assert_ok(tsri_loft_look_at_data(&facts, run.data, run.net));
    assert_int_equal(facts.equal, 0);
    assert_true(facts.norm_error < 1e-5);
    float *x = (float *)(uintptr_t)run.data->train.numbers;
    assert_non_null(x);
    memcpy(x + 9 * run.data->dim, x + 2 * run.data->dim, (size_t)run.data->dim * sizeof *x);
    x[4 * run.data->dim] += 1;
    assert_ok(tsri_loft_look_at_data(&facts, run.data, run.net));
    assert_int_equal(facts.equal, 1);
    assert_true(facts.twin == 2 && facts.image == 9 && facts.worst == 4);
    assert_true(facts.norm_error > 0.1);
    tsri_run_fini(&run);
    tsr_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_do_not_depend_on_tiles), cmocka_unit_test(descent_adds_up_blocks),
        cmocka_unit_test(draws_are_runs_of_their_own), cmocka_unit_test(equal_images_are_found)};
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
