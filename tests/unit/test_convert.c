/* A gated net made into a ReLU net: equal on the points, to the float plan's own outputs; the last
 * layer's trick; refusals; the paper's sizes. And least squares of least norm on its own. */
#include "testing.h"
#include "plan_testing.h"

#include "base/rng.h"
#include "io/config.h"
#include "net/convert.h"

#include <math.h>

typedef struct fixture {
    tsri_net *net[2];
    tsri_store store[2];
    tsri_pool *pool;
    tsr_data data;
    tsri_gate_table *gates;
} fixture;

static void set_up(fixture *f, int64_t n, int64_t d, int64_t k, int64_t m, int64_t L)
{
    *f = (fixture){0};
    tsri_rng rng = tsri_rng_stream(5, TSRI_FOR_TEST, n, m, L);
    assert_ok(tsri_pool_create(&f->pool, 2));
    for (int i = 0; i < 2; i++) {
        char text[96];
        tsr_config *config = NULL;
        (void)snprintf(text, sizeof text, "model: {name: %s, width: %d, layers: %d}",
                       i ? "relu_twin" : "grelu", (int)m, (int)L);
        assert_ok(tsri_config_parse(&config, text, (int64_t)strlen(text), "test"));
        assert_ok(tsri_net_create(&f->net[i], config, (tsri_shape){d, 1, 1}, k, true));
        assert_ok(tsri_store_init(&f->store[i], f->net[i], &tsri_backend_cpu, false));
        tsr_config_destroy(config);
    }
    assert_ok(tsri_store_fill(&f->store[0], 4));
    f->data = (tsr_data){.channels = d, .height = 1, .width = 1, .dim = d};
    f->data.train.n = n;
    assert_ok(tsri_alloc(&f->data.train.numbers, n * d, sizeof(float)));
    for (int64_t i = 0; i < n * d; i++)
        f->data.train.numbers[i] = (float)tsri_rng_normal(&rng) / (float)sqrt((double)d);
}

static void tear_down(fixture *f)
{
    tsri_gate_table_destroy(f->gates);
    for (int i = 0; i < 2; i++) {
        tsri_store_fini(&f->store[i]);
        tsri_net_destroy(f->net[i]);
    }
    tsri_free(f->data.train.numbers);
    tsri_pool_destroy(f->pool);
}

static tsr_status convert(tsri_conversion *how, fixture *f, bool least_squares)
{
    tsr_status st = TSR_OK;
    tsri_gate_table_destroy(f->gates);
    f->gates = NULL;
    TSR_TRY(tsri_gate_table_create(&f->gates, &f->store[0],
                                   tsri_device_on(&tsri_backend_cpu, f->pool), &f->data,
                                   &f->data.train));
    TSR_TRY(tsri_convert_to_relu(how, &f->store[1], &f->store[0], f->data.train.numbers, f->gates,
                                 1e-4, least_squares, f->pool));
done:
    return st;
}

/* Largest relative difference of the outputs of the two float nets. */
static double apart(fixture *f)
{
    double worst = 0;
    int64_t n = f->data.train.n, k = f->net[0]->outputs;
    tsri_plan *plan[2] = {NULL, NULL};
    const float *y[2];
    for (int i = 0; i < 2; i++) {
        assert_ok(tsri_plan_create(&plan[i], &f->store[i],
                                   tsri_device_on(&tsri_backend_cpu, f->pool), n, false));
        assert_ok(tsri_plan_forward(plan[i], f->data.train.numbers));
        y[i] = plan_outputs(plan[i]);
    }
    for (int64_t i = 0; i < n; i++) {
        double off = 0, size = 0;
        for (int64_t o = 0; o < k; o++) {
            off += pow((double)y[0][i * k + o] - (double)y[1][i * k + o], 2);
            size += pow((double)y[0][i * k + o], 2);
        }
        worst = fmax(worst, sqrt(off / size));
    }
    tsri_plan_destroy(plan[0]);
    tsri_plan_destroy(plan[1]);
    return worst;
}

static void equal_on_the_points(int64_t n, int64_t d, int64_t k, int64_t m, int64_t L)
{
    fixture f;
    tsri_conversion how;
    set_up(&f, n, d, k, m, L);
    assert_ok(convert(&how, &f, false));
    assert_int_equal(how.least_rank, n);
    assert_true(how.worst < 1e-4);
    assert_true(apart(&f) < 1e-4);
    tear_down(&f);
}

static void small_ones(void **state)
{
    (void)state;
    equal_on_the_points(12, 9, 1, 40, 1);
    equal_on_the_points(12, 9, 3, 40, 3);
    equal_on_the_points(1, 4, 2, 16, 2);
}

/* Must 3: n = 100, m = 1000, L = 4. */
static void the_papers_size(void **state)
{
    (void)state;
    equal_on_the_points(100, 200, 1, 1000, 4);
}

static void refusals(void **state)
{
    (void)state;
    fixture f;
    tsri_conversion how;
    set_up(&f, 30, 9, 2, 20, 2);
    assert_fails(convert(&how, &f, false), TSR_USAGE, "at least as many units as points");
    assert_ok(convert(&how, &f, true));
    assert_true(how.worst > 1e-4); /* and it says so */
    tear_down(&f);
    set_up(&f, 10, 9, 2, 40, 2);
    memcpy(f.data.train.numbers, f.data.train.numbers + 9, 9 * sizeof(float)); /* twice the same */
    assert_fails(convert(&how, &f, false), TSR_USAGE, "rank 9 on 10 points");
    assert_int_equal(how.least_rank, 9);
    assert_ok(convert(&how, &f, true)); /* equal points are no contradiction */
    assert_true(how.worst < 1e-4 && apart(&f) < 1e-4);
    tear_down(&f);
}

static void memory_runs_out(void **state)
{
    (void)state;
    fixture f;
    tsri_conversion how;
    tsr_status st = TSR_RESOURCES;
    set_up(&f, 6, 4, 2, 12, 2);
    for (int64_t n = 0; st != TSR_OK; n++) {
        tsri_alloc_fail_after(n, false);
        st = convert(&how, &f, false);
        tsri_alloc_fail_after(-1, false);
        assert_true(st == TSR_OK || st == TSR_RESOURCES);
    }
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_ones),
        cmocka_unit_test(the_papers_size),
        cmocka_unit_test(refusals),
        cmocka_unit_test(memory_runs_out),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
