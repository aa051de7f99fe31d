/* test_lib_predictor.c - answers of a model: right, cheap, and from many threads at once. */
#include "library_testing.h"

#include <math.h>
#include <pthread.h>

static tsr_array rows(const float *x, int64_t n)
{
    return tsr_array_of(x, TSR_F32, 2, (int64_t[]){n, INPUTS});
}

static tsr_predictor *predictor_of(const tsr_model *model, tsr_answer answer, int64_t batch)
{
    tsr_predictor *p = NULL;
    tsr_predictor_options o = tsr_predictor_options_default();
    o.answer = answer;
    o.batch = batch;
    assert_ok(tsr_predictor_create(&p, model, &o));
    return p;
}

/* Raw inputs in, the classes of training out; one at a time, a few, or all. */
static void knows_what_it_learnt(void **state)
{
    (void)state;
    tsr_model *model = small_model(NULL);
    tsr_predictor *p = predictor_of(model, TSR_PROBABILITIES, 7);
    float many[SAMPLES * 3], one[3];
    int32_t kind[SAMPLES], single;
    tsr_model_destroy(model); /* its numbers were copied */
    tsr_array all = rows(sample_x, SAMPLES);
    assert_int_equal(tsr_predictor_width(p), 3);
    assert_ok(tsr_predictor_run(many, p, &all, NULL));
    assert_ok(tsr_predictor_classes(kind, p, &all, NULL));
    for (int i = 0; i < SAMPLES; i++) {
        tsr_array x = rows(sample_x + i * INPUTS, 1);
        assert_ok(tsr_predictor_run(one, p, &x, NULL));
        assert_ok(tsr_predictor_classes(&single, p, &x, NULL));
        assert_int_equal(kind[i], sample_y[i]);
        assert_int_equal(single, sample_y[i]);
        double sum = 0;
        for (int k = 0; k < 3; k++) {
            sum += (double)many[i * 3 + k];
            /* another kernel, the same sums in another order */
            assert_true(fabsf(one[k] - many[i * 3 + k]) < 1e-5f);
        }
        assert_true(fabs(sum - 1) < 1e-6);
    }
    tsr_predictor_destroy(p);
}

/* The bits of an answer do not depend on its company. */
static void alike_in_any_company(void **state)
{
    (void)state;
    tsr_model *model = small_model(NULL);
    tsr_predictor *p = predictor_of(model, TSR_OUTPUTS, 16);
    float all[SAMPLES * 3], some[5 * 3];
    tsr_array x = rows(sample_x, SAMPLES), y = rows(sample_x + 20 * INPUTS, 5);
    assert_ok(tsr_predictor_run(all, p, &x, NULL));
    assert_ok(tsr_predictor_run(some, p, &y, NULL));
    assert_memory_equal(all + 20 * 3, some, sizeof some);
    tsr_predictor_destroy(p);
    tsr_model_destroy(model);
}

/* A few images go through a plan of fewer rows; two of them took as long as 32. Their bits are those
 * that they have among many. */
static void few_images_alike(void **state)
{
    (void)state;
    enum { IMAGES = 51, DIM = 3 * 12 * 12 };
    static float x[IMAGES * DIM], all[IMAGES * 3], some[IMAGES * 3];
    tsr_config *config = NULL;
    tsr_model *model = NULL;
    assert_ok(tsr_config_create(&config));
    assert_ok(tsr_config_set(config, "model.name=preresnet18"));
    assert_ok(tsr_config_set(config, "model.width=5"));
    assert_ok(tsr_model_build(&model, config, (int64_t[]){3, 12, 12}, 3, true));
    tsr_predictor *p = predictor_of(model, TSR_OUTPUTS, 0);
    for (int i = 0; i < IMAGES * DIM; i++)
        x[i] = sinf((float)i);
    tsr_array whole = tsr_array_of(x, TSR_F32, 2, (int64_t[]){IMAGES, DIM});
    assert_ok(tsr_predictor_run(all, p, &whole, NULL));
    for (int n = 2; n <= 20; n++) {
        tsr_array few = tsr_array_of(x + n * DIM, TSR_F32, 2, (int64_t[]){n, DIM});
        assert_ok(tsr_predictor_run(some, p, &few, NULL));
        assert_memory_equal(all + n * 3, some, (size_t)n * 3 * sizeof *some);
    }
    tsr_predictor_destroy(p);
    tsr_model_destroy(model);
    tsr_config_destroy(config);
}

/* Nor on the sample's place. BLAS rounds otherwise at the edges of its blocks, and of large layers
 * behind a ReLU what is off for several samples at once is skipped: this network's answers were
 * others in another order. */
static void alike_at_any_place(void **state)
{
    (void)state;
    enum { MANY = 300, OTHER = 37 };
    static float x[MANY * INPUTS], moved[MANY * INPUTS], one[INPUTS * 3], y[MANY * 3], z[MANY * 3];
    tsr_model *model =
        small_model((const char *const[]){"model.hidden=[160, 160, 9]", "epochs=1", NULL});
    for (int i = 0; i < MANY * INPUTS; i++)
        x[i] = sample_x[i % (SAMPLES * INPUTS)] + 0.001f * (float)i;
    for (int i = 0; i < MANY; i++)
        memcpy(moved + (i + OTHER) % MANY * INPUTS, x + i * INPUTS, INPUTS * sizeof *x);
    for (int threads = 1; threads <= 2; threads++) {
        tsr_predictor_options o = tsr_predictor_options_default();
        tsr_predictor *p = NULL;
        tsr_array a = rows(x, MANY), b = rows(moved, MANY), c = rows(x + INPUTS, 2);
        o.threads = threads;
        assert_ok(tsr_predictor_create(&p, model, &o));
        assert_ok(tsr_predictor_run(y, p, &a, NULL));
        assert_ok(tsr_predictor_run(z, p, &b, NULL));
        for (int i = 0; i < MANY; i++)
            assert_memory_equal(y + 3 * i, z + (i + OTHER) % MANY * 3, 3 * sizeof *y);
        assert_ok(tsr_predictor_run(one, p, &c, NULL));
        assert_memory_equal(one, y + 3, 6 * sizeof *y);
        tsr_predictor_destroy(p);
    }
    tsr_model_destroy(model);
}

/* As the model's own evaluation sees the same data: the loss of both is the same. */
static void agrees_with_evaluation(void **state)
{
    (void)state;
    tsr_model *model = small_model(NULL);
    tsr_data *data = vectors_data();
    tsr_predictor *p = predictor_of(model, TSR_PROBABILITIES, 0);
    tsr_result r = tsr_result_default();
    float many[SAMPLES * 3];
    double loss = 0;
    tsr_array x = rows(sample_x, SAMPLES);
    assert_ok(tsr_model_judge(&r, model, data));
    assert_ok(tsr_predictor_run(many, p, &x, NULL));
    for (int i = 0; i < SAMPLES; i++)
        loss -= log((double)many[i * 3 + sample_y[i]]) / SAMPLES;
    assert_true(fabs(loss - r.loss) < 1e-6 * (1 + r.loss));
    tsr_predictor_destroy(p);
    tsr_data_destroy(data);
    tsr_model_destroy(model);
}

/* Real targets come back in their own units, inputs of any type are in theirs. */
static void units_of_the_data(void **state)
{
    (void)state;
    tsr_data_options d = vectors();
    tsr_config *config = small_config((const char *const[]){"epochs=200", "optim.lr=0.02", NULL});
    tsr_data *data = NULL;
    tsr_run *run = NULL;
    tsr_model *model = NULL;
    tsr_result r = tsr_result_default();
    tsr_run_options o = tsr_run_options_default();
    double wide[SAMPLES * INPUTS], squares = 0;
    float y[SAMPLES], z[SAMPLES];
    d.y = tsr_array_of(sample_t, TSR_F64, 1, (int64_t[]){SAMPLES});
    d.test_x = d.x;
    d.test_y = d.y;
    assert_ok(tsr_data_create(&data, &d));
    o.data = data;
    assert_ok(tsr_run_create(&run, config, &o));
    assert_ok(tsr_run_finish(&r, run));
    assert_ok(tsr_run_model(&model, run));
    tsr_predictor *p = predictor_of(model, TSR_OUTPUTS, 0);
    for (int i = 0; i < SAMPLES * INPUTS; i++)
        wide[i] = (double)sample_x[i];
    tsr_array x = rows(sample_x, SAMPLES),
              w = tsr_array_of(wide, TSR_F64, 2, (int64_t[]){SAMPLES, INPUTS});
    assert_ok(tsr_predictor_run(y, p, &x, NULL));
    assert_ok(tsr_predictor_run(z, p, &w, NULL));
    assert_memory_equal(y, z, sizeof y);
    for (int i = 0; i < SAMPLES; i++)
        squares += ((double)y[i] - sample_t[i]) * ((double)y[i] - sample_t[i]) / SAMPLES;
    assert_true(fabs(sqrt(squares) - r.rmse) < 1e-4 * (1 + r.rmse) && r.rmse < 3);
    int32_t kind[SAMPLES];
    assert_fails(tsr_predictor_classes(kind, p, &x, NULL), TSR_USAGE, "no classes");
    tsr_predictor_destroy(p);
    tsr_predictor_options q = tsr_predictor_options_default();
    q.answer = TSR_PROBABILITIES;
    assert_fails(tsr_predictor_create(&p, model, &q), TSR_USAGE, "real numbers");
    tsr_run_destroy(run);
    tsr_model_destroy(model);
    tsr_data_destroy(data);
    tsr_config_destroy(config);
}

/* As many numbers in another order, channels last, were answered as if they were in the model's. */
static void order_of_numbers(void **state)
{
    (void)state;
    static const float x[2 * 3 * 4 * 4];
    static const struct {
        int dims;
        int64_t shape[5];
        const char *refusal;
    } cases[] = {
        {2, {2, 48}, NULL},
        {3, {2, 3, 16}, NULL},
        {3, {2, 12, 4}, NULL},
        {4, {2, 3, 4, 4}, NULL},
        {5, {2, 3, 4, 4, 1}, NULL},
        {5, {2, 3, 4, 2, 2}, NULL},
        {4, {2, 4, 4, 3}, "a sample is 4 x 4 x 3, and the model takes 3 x 4 x 4 (channels"},
        {3, {2, 16, 3}, "a sample is 16 x 3"},
        {3, {2, 2, 24}, "a sample is 2 x 24"}};
    tsr_config *config = small_config(NULL);
    tsr_model *model = NULL;
    float y[2];
    assert_ok(tsr_model_build(&model, config, (int64_t[]){3, 4, 4}, 1, false));
    tsr_predictor *p = predictor_of(model, TSR_OUTPUTS, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_array a = tsr_array_of(x, TSR_F32, cases[i].dims, cases[i].shape);
        if (cases[i].refusal)
            assert_fails(tsr_predictor_run(y, p, &a, NULL), TSR_USAGE, cases[i].refusal);
        else
            assert_ok(tsr_predictor_run(y, p, &a, NULL));
    }
    tsr_predictor_destroy(p);
    tsr_model_destroy(model);
    tsr_config_destroy(config);
}

static void missing_values(void **state)
{
    (void)state;
    tsr_model *model = small_model(NULL);
    tsr_predictor *strict = predictor_of(model, TSR_OUTPUTS, 0), *fills = NULL;
    tsr_predictor_options o = tsr_predictor_options_default();
    float x[INPUTS] = {1, NAN, 2, 3}, y[3];
    tsr_array one = rows(x, 1);
    assert_fails(tsr_predictor_run(y, strict, &one, NULL), TSR_USAGE, "sample 0: number 1 is nan");
    o.missing = true;
    assert_ok(tsr_predictor_create(&fills, model, &o));
    assert_ok(tsr_predictor_run(y, fills, &one, NULL));
    x[1] = INFINITY;
    assert_fails(tsr_predictor_run(y, fills, &one, NULL), TSR_USAGE, "is inf");
    tsr_predictor_destroy(strict);
    tsr_predictor_destroy(fills);
    tsr_model_destroy(model);
}

/* Of hidden units that are beyond all floats the next ones are infinity less infinity, of which a
 * ReLU makes 0: the answer was that of a network that sees nothing. */
static void lost_on_the_way(void **state)
{
    (void)state;
    enum { UNITS = 8 };
    tsr_model *model = small_model((const char *const[]){"model.hidden=[8, 8]", NULL});
    double first[UNITS * INPUTS], second[UNITS * UNITS];
    float x[2 * INPUTS] = {1, 2, 3, 4, 1e38f, 2, 3, 4}, y[2 * 3];
    int32_t kind[] = {0, 1};
    for (int i = 0; i < UNITS * INPUTS; i++)
        first[i] = 100;
    for (int i = 0; i < UNITS * UNITS; i++)
        second[i] = i % 2 ? 1 : -1;
    tsr_array a = tsr_array_of(first, TSR_F64, 2, (int64_t[]){UNITS, INPUTS}),
              b = tsr_array_of(second, TSR_F64, 2, (int64_t[]){UNITS, UNITS}), one = rows(x, 1),
              far = rows(x + INPUTS, 1), both = rows(x, 2);
    assert_ok(tsr_model_set(model, "layers.0.weight", &a));
    assert_ok(tsr_model_set(model, "layers.2.weight", &b));
    tsr_predictor *p = predictor_of(model, TSR_OUTPUTS, 0);
    assert_ok(tsr_predictor_run(y, p, &one, NULL));
    assert_fails(tsr_predictor_run(y, p, &far, NULL), TSR_USAGE, "sample 0: number 0 is");
    assert_fails(tsr_predictor_run(y, p, &both, NULL), TSR_USAGE, "sample 1: number 0 is");
    tsr_data_options d = vectors();
    tsr_data *data = NULL;
    tsr_result r = tsr_result_default();
    d.x = both;
    d.y = tsr_array_of(kind, TSR_I32, 1, (int64_t[]){2});
    d.classes = 3;
    assert_ok(tsr_data_create(&data, &d));
    assert_fails(tsr_model_judge(&r, model, data), TSR_BAD_FILE, "row 2: input 1 is");
    tsr_data_destroy(data);
    tsr_predictor_destroy(p);
    tsr_model_destroy(model);
}

static void refusals(void **state)
{
    (void)state;
    tsr_model *model = small_model(NULL);
    tsr_predictor *p = predictor_of(model, TSR_OUTPUTS, 0), *none = NULL;
    tsr_predictor_options o = tsr_predictor_options_default();
    float y[SAMPLES * 3];
    tsr_array x = rows(sample_x, 2), length = rows(sample_x, 2);
    assert_fails(tsr_predictor_run(y, p, NULL, NULL), TSR_USAGE, "no array");
    assert_fails(tsr_predictor_run(NULL, p, &x, NULL), TSR_USAGE, "NULL");
    assert_fails(tsr_predictor_run(y, NULL, &x, NULL), TSR_USAGE, "NULL");
    assert_fails(tsr_predictor_run(y, p, &x, &length), TSR_USAGE, "only sequences");
    x.shape[1] = 3;
    assert_fails(tsr_predictor_run(y, p, &x, NULL), TSR_USAGE, "3 numbers, and the model takes 4");
    x = rows(sample_x, 2);
    x.type = (tsr_type)77;
    assert_fails(tsr_predictor_run(y, p, &x, NULL), TSR_USAGE, "77");
    o.threads = -1;
    assert_fails(tsr_predictor_create(&none, model, &o), TSR_USAGE, "from 1 to");
    o.threads = 0;
    o.answer = (tsr_answer)7;
    assert_fails(tsr_predictor_create(&none, model, &o), TSR_USAGE, "no answer 7");
    assert_fails(tsr_predictor_create(&none, NULL, NULL), TSR_USAGE, "NULL");
    assert_null(none);
    assert_int_equal(tsr_predictor_width(NULL), 0);
    tsr_predictor_destroy(NULL);
    tsr_predictor_destroy(p);
    tsr_model_destroy(model);
}

/* Whole numbers are numbers: a table of counts is asked about as it was trained on. */
static void any_type(void **state)
{
    (void)state;
    tsr_model *model = small_model(NULL);
    tsr_predictor *p = predictor_of(model, TSR_OUTPUTS, 0);
    static const int64_t wide[2 * INPUTS] = {3, -1, 0, 2, 5, 5, -7, 1};
    float x[2 * INPUTS], want[6], y[6];
    for (int i = 0; i < 2 * INPUTS; i++)
        x[i] = (float)wide[i];
    tsr_array reals = rows(x, 2), whole = tsr_array_of(wide, TSR_I64, 2, (int64_t[]){2, INPUTS});
    assert_ok(tsr_predictor_run(want, p, &reals, NULL));
    assert_ok(tsr_predictor_run(y, p, &whole, NULL));
    assert_memory_equal(y, want, sizeof y);
    tsr_predictor_destroy(p);
    tsr_model_destroy(model);
}

/* ---- Cheap ---------------------------------------------------------------------------------- */

static void calls_allocate_nothing(void **state)
{
    (void)state;
    tsr_model *model = small_model(NULL);
    tsr_predictor *p = predictor_of(model, TSR_OUTPUTS, 0);
    float y[SAMPLES * 3];
    tsr_array one = rows(sample_x, 1), all = rows(sample_x, SAMPLES);
    assert_ok(tsr_predictor_run(y, p, &all, NULL));
    (void)tsri_alloc_fail_after(-1, false);
    for (int i = 0; i < 100; i++) {
        assert_ok(tsr_predictor_run(y, p, &one, NULL));
        assert_ok(tsr_predictor_run(y, p, &all, NULL));
    }
    assert_int_equal(tsri_alloc_fail_after(-1, false), 0);
    tsr_predictor_destroy(p);
    tsr_model_destroy(model);
}

/* ---- From eight threads --------------------------------------------------------------------- */

typedef struct asker {
    const tsr_predictor *p;
    const float *wanted; /* [SAMPLES, 3] of single samples */
    pthread_t thread;
    int wrong;
} asker;

static void *ask_all(void *context)
{
    asker *a = context;
    for (int turn = 0; turn < 50; turn++)
        for (int i = 0; i < SAMPLES; i++) {
            float y[3];
            tsr_array x = rows(sample_x + i * INPUTS, 1);
            a->wrong += tsr_predictor_run(y, a->p, &x, NULL) != TSR_OK ||
                        memcmp(y, a->wanted + i * 3, sizeof y) != 0;
        }
    return NULL;
}

static void ask_at_once(const tsr_model *model)
{
    tsr_predictor *p = predictor_of(model, TSR_OUTPUTS, 0);
    float wanted[SAMPLES * 3], many[SAMPLES * 3];
    asker all[8];
    tsr_array every = rows(sample_x, SAMPLES);
    assert_ok(tsr_predictor_run(many, p, &every, NULL));
    for (int i = 0; i < SAMPLES; i++) {
        tsr_array x = rows(sample_x + i * INPUTS, 1);
        assert_ok(tsr_predictor_run(wanted + i * 3, p, &x, NULL));
        for (int k = 0; k < 3; k++) /* the same sums in another order */
            assert_true(fabsf(wanted[i * 3 + k] - many[i * 3 + k]) <
                        1e-5f * (1 + fabsf(many[i * 3 + k])));
    }
    for (int i = 0; i < 8; i++) {
        all[i] = (asker){.p = p, .wanted = wanted};
        assert_int_equal(pthread_create(&all[i].thread, NULL, ask_all, &all[i]), 0);
    }
    for (int i = 0; i < 8; i++) {
        assert_int_equal(pthread_join(all[i].thread, NULL), 0);
        assert_int_equal(all[i].wrong, 0);
    }
    tsr_predictor_destroy(p);
}

static void eight_at_once(void **state)
{
    (void)state;
    tsr_model *model = small_model(NULL);
    ask_at_once(model);
    tsr_model_destroy(model);
}

static const char *const wide[] = {"model.hidden=[160, 136, 130]", "epochs=3", "optim.lr=0.01",
                                   NULL};

/* Wide layers have their weights laid out for single samples once, for all callers. */
static void eight_share_weights(void **state)
{
    (void)state;
    tsr_model *model = small_model(wide);
    ask_at_once(model);
    tsr_model_destroy(model);
}

static void memory_may_fail_for(const char *const *how)
{
    tsr_model *model = small_model(how);
    tsr_status st = TSR_RESOURCES;
    float y[SAMPLES * 3];
    tsr_array all = rows(sample_x, SAMPLES);
    for (int64_t n = 0; st != TSR_OK; n++) {
        tsr_predictor *p = NULL;
        (void)tsri_alloc_fail_after(n, false);
        st = tsr_predictor_create(&p, model, NULL);
        st = st == TSR_OK ? tsr_predictor_run(y, p, &all, NULL) : st;
        (void)tsri_alloc_fail_after(-1, false);
        assert_true(st == TSR_OK || st == TSR_RESOURCES);
        tsr_predictor_destroy(p);
    }
    tsr_model_destroy(model);
}

static void memory_may_fail(void **state)
{
    (void)state;
    memory_may_fail_for(NULL);
    memory_may_fail_for(wide);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_what_it_learnt),
        cmocka_unit_test(alike_in_any_company),
        cmocka_unit_test(few_images_alike),
        cmocka_unit_test(alike_at_any_place),
        cmocka_unit_test(agrees_with_evaluation),
        cmocka_unit_test(units_of_the_data),
        cmocka_unit_test(order_of_numbers),
        cmocka_unit_test(missing_values),
        cmocka_unit_test(lost_on_the_way),
        cmocka_unit_test(refusals),
        cmocka_unit_test(any_type),
        cmocka_unit_test(calls_allocate_nothing),
        cmocka_unit_test(eight_at_once),
        cmocka_unit_test(eight_share_weights),
        cmocka_unit_test(memory_may_fail),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
