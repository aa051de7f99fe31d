/* From a run file's data section to the generators: what is passed on, what is refused where. */
#include "synthetic_testing.h"

#include "io/crc32c.h"

typedef tsr_status (*maker)(tsr_data *data, const tsr_config *config);

static tsr_status make_from(tsr_data *data, maker make, const char *text)
{
    tsr_config *config = NULL;
    tsr_status st = tsri_config_parse(&config, text, (int64_t)strlen(text), "run.yaml");
    if (st == TSR_OK)
        st = make(data, config);
    tsr_config_destroy(config);
    return st;
}

/* The numbers of the first samples, written down when the generators were made (glyphs have their
 * own): a change of these bytes changes everybody's data. */
static void golden(void **state)
{
    (void)state;
    static const struct {
        generator make;
        uint32_t x, y;
    } cases[] = {{tsri_sphere, 0x1a2c0b98, 0xbdcf86f1},
                 {tsri_random_labels, 0x19407ba6, 0x2a03b435},
                 {tsri_ackley, 0x7e1cff69, 0x1598a991},
                 {tsri_sequences, 0xc2373324, 0x9b1fe862}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_data data = {0};
        tsri_synthetic options = tsri_synthetic_default();
        options.n = 50;
        options.regress = true;
        assert_ok(cases[i].make(&data, &options));
        uint32_t x = tsri_crc32c(0, data.train.numbers, (size_t)(50 * data.dim) * sizeof(float));
        uint32_t y = tsri_crc32c(0, data.train.target, (size_t)(50 * data.targets) * sizeof(float));
        if (x != cases[i].x || y != cases[i].y)
            fail_msg("case %d: inputs 0x%08x, targets 0x%08x", (int)i, x, y);
        made_fini(&data);
    }
}

/* The section's options arrive: the same bytes as from the core. */
static void options_arrive(void **state)
{
    (void)state;
    tsr_data a = {0}, b = {0};
    tsri_synthetic o = tsri_synthetic_default();
    o.n = 30;
    o.test_n = 9;
    o.seed = 7;
    o.channels = 3;
    assert_ok(make_from(&a, tsri_make_glyphs, "data: {n: 30, test_n: 9, seed: 7, channels: 3}"));
    assert_ok(tsri_glyphs(&b, &o));
    assert_int_equal(a.test.n, 9);
    assert_same(&a, &a.train, &b.train, 30);
    made_fini(&a);
    made_fini(&b);

    o.dim = 6;
    o.phi = 0.25;
    o.regress = true;
    assert_ok(make_from(&a, tsri_make_sphere,
                        "data: {n: 30, test_n: 9, seed: 7, dim: 6, phi: 0.25, task: regress}"));
    assert_ok(tsri_sphere(&b, &o));
    assert_same(&a, &a.train, &b.train, 30);
    made_fini(&a);
    made_fini(&b);

    o.regress = false;
    o.classes = 4;
    assert_ok(make_from(&a, tsri_make_random_labels,
                        "data: {n: 30, test_n: 9, seed: 7, dim: 6, classes: 4}"));
    assert_ok(tsri_random_labels(&b, &o));
    assert_same(&a, &a.train, &b.train, 30);
    made_fini(&a);
    made_fini(&b);

    assert_ok(make_from(&a, tsri_make_ackley, "data: {n: 30, test_n: 9, seed: 7, dim: 6}"));
    assert_ok(tsri_ackley(&b, &o));
    assert_same(&a, &a.train, &b.train, 30);
    made_fini(&a);
    made_fini(&b);

    o.length = 3;
    o.targets = 2;
    assert_ok(
        make_from(&a, tsri_make_sequences,
                  "data: {n: 30, test_n: 9, seed: 7, dim: 6, phi: 0.25, length: 3, targets: 2}"));
    assert_ok(tsri_sequences(&b, &o));
    assert_int_equal(a.targets, 6);
    assert_same(&a, &a.train, &b.train, 30);
    made_fini(&a);
    made_fini(&b);
}

/* The schema's defaults are the core's, and glyphs bring more samples. */
static void defaults_agree(void **state)
{
    (void)state;
    tsr_data a = {0}, b = {0};
    tsri_synthetic o = tsri_synthetic_default();
    assert_ok(make_from(&a, tsri_make_sphere, "data: {name: sphere}"));
    assert_ok(tsri_sphere(&b, &o));
    assert_int_equal(a.train.n, b.train.n);
    assert_int_equal(a.test.n, 200);
    assert_same(&a, &a.train, &b.train, a.train.n);
    made_fini(&a);
    made_fini(&b);
    assert_ok(make_from(&a, tsri_make_sequences, "data: {name: sequences}"));
    assert_ok(tsri_sequences(&b, &o));
    assert_same(&a, &a.train, &b.train, a.train.n);
    made_fini(&a);
    made_fini(&b);
    assert_ok(make_from(&a, tsri_make_glyphs, "data: {name: glyphs}"));
    assert_int_equal(a.train.n, 20000);
    assert_int_equal(a.test.n, 4000);
    made_fini(&a);
}

/* The resolved run file, with every default written out, asks for the same number of glyphs. */
static void resolved_file_means_the_same(void **state)
{
    (void)state;
    tsr_config *config = NULL;
    tsri_text text = {0};
    tsr_data data = {0};
    assert_ok(tsr_config_create(&config));
    assert_ok(tsri_config_write(&text, config, NULL));
    assert_non_null(strstr(text.data, "test_n"));
    assert_ok(make_from(&data, tsri_make_glyphs, text.data));
    assert_int_equal(data.train.n, 20000);
    made_fini(&data);
    tsri_text_fini(&text);
    tsr_config_destroy(config);
}

/* ---- Through the sources table, as a run does it ------------------------------------------- */

static tsr_data *load(const char *text)
{
    tsr_config *config = NULL;
    tsr_data *data = NULL;
    assert_ok(tsri_config_parse(&config, text, (int64_t)strlen(text), "run.yaml"));
    assert_ok(tsri_data_load(&data, config, &(tsri_wants){0}));
    tsr_config_destroy(config);
    return data;
}

/* By default nothing that a paper's assumption rests on is scaled away: the network sees the very
 * points that were made. */
static void loaded_as_made(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        generator make;
    } cases[] = {{"data: {name: sphere, n: 60}", tsri_sphere},
                 {"data: {name: random-labels, n: 60}", tsri_random_labels},
                 {"data: {name: sequences, n: 60}", tsri_sequences}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_data made = {0}, *data = load(cases[i].text);
        tsri_synthetic options = tsri_synthetic_default();
        options.n = 60;
        assert_ok(cases[i].make(&made, &options));
        assert_int_equal(data->train.n, 60);
        assert_int_equal(data->test.n, 12);
        assert_same(data, &data->train, &made.train, 60);
        assert_same(data, &data->test, &made.test, 12);
        made_fini(&made);
        tsr_data_destroy(data);
    }
}

/* The targets of ackley are standardised, and the way back is kept. */
static void loaded_ackley(void **state)
{
    (void)state;
    tsr_data made = {0}, *data = load("data: {name: ackley, n: 100, dim: 200}");
    tsri_synthetic options = tsri_synthetic_default();
    options.n = 100;
    options.dim = 200;
    assert_ok(tsri_ackley(&made, &options));
    assert_memory_equal(data->train.numbers, made.train.numbers, 100 * 200 * sizeof(float));
    double squares = 0.0;
    for (int64_t i = 0; i < 100; i++) {
        double y = (double)data->train.target[i], y0 = (double)made.train.target[i];
        double back = y / (double)data->scaling.target_scale + (double)data->scaling.target_shift;
        assert_true(back - y0 < 1e-5 * (1.0 + (y0 < 0 ? -y0 : y0))); /* float, there and back */
        assert_true(y0 - back < 1e-5 * (1.0 + (y0 < 0 ? -y0 : y0)));
        squares += y * y;
    }
    assert_true(squares > 99.9 && squares < 100.1);
    made_fini(&made);
    tsr_data_destroy(data);
}

static void loaded_glyphs(void **state)
{
    (void)state;
    tsr_data *data = load("data: {name: glyphs, n: 200, channels: 3, limit: 150}");
    tsr_data *again = load("data: {name: glyphs, n: 200, channels: 3, limit: 150}");
    tsr_data *other = load("data: {name: glyphs, n: 200, channels: 3, limit: 150, seed: 2}");
    assert_int_equal(data->train.n, 150);
    assert_int_equal(data->test.n, 40);
    assert_non_null(data->train.bytes);
    assert_true(data->scaling.scale[0] > 0.0f && data->scaling.scale[2] > 0.0f);
    assert_string_equal(data->class_name[4], "spiral");
    assert_int_equal(data->hash, again->hash);
    assert_int_not_equal(data->hash, other->hash);
    tsr_data_destroy(data);
    tsr_data_destroy(again);
    tsr_data_destroy(other);
}

static void refusals_say_where(void **state)
{
    (void)state;
    static const struct {
        maker make;
        const char *text, *words;
    } cases[] = {
        {tsri_make_glyphs, "data:\n  name: glyphs\n  task: regress\n",
         "run.yaml:3:9: glyphs have classes; leave data.task out or say classify"},
        {tsri_make_glyphs, "data:\n  name: glyphs\n  channels: 2\n",
         "run.yaml:2:9: glyphs: data.channels"},
        {tsri_make_ackley, "data:\n  task: classify\n", "run.yaml:2:9: ackley has real targets"},
        {tsri_make_sequences, "data:\n  task: classify\n", "run.yaml:2:9: sequences have real"},
        {tsri_make_sequences, "data:\n  name: sequences\n  phi: 1.5\n",
         "run.yaml:2:9: sequences: data.phi is 1.5"},
        {tsri_make_sphere, "data:\n  name: sphere\n  dim: 3\n  phi: 1.9\n",
         "run.yaml:2:9: sphere: no 1000 points"},
        {tsri_make_random_labels, "data:\n  name: random-labels\n  classes: 1\n", "at least 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_data data = {0};
        assert_fails(make_from(&data, cases[i].make, cases[i].text), TSR_USAGE, cases[i].words);
        made_fini(&data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden),         cmocka_unit_test(options_arrive),
        cmocka_unit_test(defaults_agree), cmocka_unit_test(resolved_file_means_the_same),
        cmocka_unit_test(loaded_as_made), cmocka_unit_test(loaded_ackley),
        cmocka_unit_test(loaded_glyphs),  cmocka_unit_test(refusals_say_where),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
