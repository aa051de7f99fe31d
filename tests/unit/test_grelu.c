/* The gated model against its formula written out; its gradient against central differences; cpu,
 * which skips, against ref; gates from a table against gates computed; and what the paper says of
 * it: gates never change, no unit dies, grelu with the gates of a ReLU net is that ReLU net. */
#include "gradient_testing.h"
#include "plan_testing.h"

#include "base/rng.h"
#include "data/dataset.h"
#include "io/config.h"
#include "io/file.h"
#include "net/gate_table.h"
#include "net/grelu.h"

#include <unistd.h>

typedef struct fixture {
    tsr_config *config;
    tsri_net *net;
    tsri_store store;
    tsri_pool *pool;
    tsri_plan *plan;
    int64_t n, d, k;
    float *x, *target;
    float y[128]; /* outputs of the last forward: backward uses their memory */
} fixture;

static void set_up(fixture *f, const char *text, const tsri_backend *backend, int64_t n, int64_t d,
                   int64_t k, int threads)
{
    *f = (fixture){.n = n, .d = d, .k = k};
    tsri_rng rng = tsri_rng_stream(5, TSRI_FOR_TEST, 0, 0, 0);
    assert_ok(tsri_config_parse(&f->config, text, (int64_t)strlen(text), "test"));
    assert_ok(tsri_net_create(&f->net, f->config, (tsri_shape){d, 1, 1}, k, false));
    assert_ok(tsri_store_init(&f->store, f->net, backend, true));
    assert_ok(tsri_store_fill(&f->store, 9));
    assert_ok(tsri_pool_create(&f->pool, threads));
    assert_ok(tsri_plan_create(&f->plan, &f->store, tsri_device_on(backend, f->pool), n, true));
    assert_ok(tsri_alloc(&f->x, n * d, sizeof *f->x));
    assert_ok(tsri_alloc(&f->target, n * k, sizeof *f->target));
    for (int64_t i = 0; i < n * d; i++)
        f->x[i] = (float)tsri_rng_normal(&rng) / (float)sqrt((double)d);
    for (int64_t i = 0; i < n * k; i++)
        f->target[i] = (float)tsri_rng_normal(&rng);
}

static void tear_down(fixture *f)
{
    tsri_free(f->x);
    tsri_free(f->target);
    tsri_plan_destroy(f->plan);
    tsri_pool_destroy(f->pool);
    tsri_store_fini(&f->store);
    tsri_net_destroy(f->net);
    tsr_config_destroy(f->config);
}

static double loss_of(fixture *f, bool backward)
{
    tsri_loss loss = {.kind = &tsri_loss_half_squares, .valid = f->n, .target = f->target};
    assert_ok(tsri_plan_forward(f->plan, f->x));
    assert_ok(tsri_plan_loss(f->plan, &loss));
    memcpy(f->y, plan_outputs(f->plan), (size_t)(f->n * f->k) * sizeof *f->y);
    if (backward)
        assert_ok(tsri_plan_backward(f->plan));
    return plan_tally(f->plan).sum;
}

/* v[rows] = w[rows, cols] u, and the ReLU or the gates where asked for. */
static void times(double *v, const double *w, const double *u, int64_t rows, int64_t cols)
{
    for (int64_t r = 0; r < rows; r++) {
        v[r] = 0;
        for (int64_t c = 0; c < cols; c++)
            v[r] += w[r * cols + c] * u[c];
    }
}

static const double *weights(const fixture *f, const char *name)
{
    return touch(tsri_store_at(&f->store, f->store.w, tsri_net_param(f->net, name)));
}

/* B D_2 W_2 D_1 W_1 [C x]+ for one sample, equation (1). */
static void formula(double *y, const fixture *f, const float *x, int64_t m)
{
    double in[8], h[24], z[24], v[24];
    char name[32];
    for (int64_t i = 0; i < f->d; i++)
        in[i] = (double)x[i];
    times(h, weights(f, "c.weight"), in, m, f->d);
    for (int64_t i = 0; i < m; i++)
        z[i] = h[i] = h[i] > 0 ? h[i] : 0;
    for (int k = 1; k <= 2; k++) {
        (void)snprintf(name, sizeof name, "psi.%d.weight", k);
        times(v, weights(f, name), z, m, m);
        for (int64_t i = 0; i < m; i++)
            z[i] = v[i] > 0 ? v[i] : 0;
        (void)snprintf(name, sizeof name, "w.%d.weight", k);
        times(v, weights(f, name), h, m, m);
        for (int64_t i = 0; i < m; i++)
            h[i] = z[i] > 0 ? v[i] : 0;
    }
    times(y, weights(f, "b.weight"), h, f->k, m);
}

static void as_the_formula_says(void **state)
{
    (void)state;
    fixture f;
    set_up(&f, "model: {name: grelu, width: 24, layers: 2}", &tsri_backend_ref64, 6, 7, 3, 1);
    (void)loss_of(&f, false);
    const double *y = plan_outputs(f.plan);
    for (int64_t i = 0; i < f.n; i++) {
        double want[3];
        formula(want, &f, f.x + i * f.d, 24);
        for (int64_t j = 0; j < f.k; j++)
            assert_true(fabs(y[i * f.k + j] - want[j]) < 1e-12);
    }
    tear_down(&f);
}

static double value_of(void *f)
{
    return loss_of(f, false);
}

/* Gates do not depend on W: the net is a polynomial in it, without kinks. */
static void gradient(const char *text)
{
    fixture f;
    set_up(&f, text, &tsri_backend_ref64, 5, 7, 2, 1);
    (void)loss_of(&f, true);
    differences d = {.value = value_of, .context = &f};
    assert_gradient(&d, text, touch(f.store.w), touch(f.store.g), f.net->trained, 7);
    tear_down(&f);
}

static void gradients(void **state)
{
    (void)state;
    gradient("model: {name: grelu, width: 16, layers: 3}");
    gradient("model: {name: grelu, width: 16, layers: 2, gate_rank: 3}");
}

/* Largest difference over the largest number. */
static double differ(const float *a, const float *b, int64_t n)
{
    double most = 0, size = 0;
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
        size = fmax(size, fabs((double)b[i]));
    }
    return most / size;
}

/* Outputs and gradients of cpu with one and three threads, skipping or not, against ref. */
static void cpu_is_ref(void **state)
{
    (void)state;
    static const char *const text[] = {
        "{model: {name: grelu, width: 150, layers: 2}}",
        "{model: {name: grelu, width: 150, layers: 2}, skip: off}",
        "{model: {name: relu_twin, width: 150, layers: 2}, skip: on}",
        "{model: {name: relu_twin, width: 150, layers: 2}}"};
    for (int t = 0; t < 4; t++) {
        fixture a, b, c;
        set_up(&a, text[t], &tsri_backend_ref, 37, 20, 3, 1);
        set_up(&b, text[t], &tsri_backend_cpu, 37, 20, 3, 1);
        set_up(&c, text[t], &tsri_backend_cpu, 37, 20, 3, 3);
        (void)loss_of(&a, true);
        (void)loss_of(&b, true);
        (void)loss_of(&c, true);
        bool skipped = false;
        for (int64_t k = 0; k < tsri_plan_ops(b.plan); k++)
            skipped = skipped || tsri_plan_op(b.plan, k, NULL)->skipped;
        assert_int_equal(skipped, t == 0 || t == 2);
        assert_true(differ(b.y, a.y, 37 * 3) < 1e-5);
        assert_true(differ(touch(b.store.g), touch(a.store.g), a.net->trained) < 1e-5);
        assert_memory_equal(b.store.g, c.store.g, (size_t)a.net->trained * sizeof(float));
        tear_down(&a);
        tear_down(&b);
        tear_down(&c);
    }
}

/* Few samples: rows that are off are left out. */
static void few_samples(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= 9; n += 2) {
        fixture a, b;
        static const char text[] = "model: {name: grelu, width: 133, layers: 2}";
        set_up(&a, text, &tsri_backend_ref, n, 20, 3, 1);
        set_up(&b, text, &tsri_backend_cpu, n, 20, 3, 2);
        (void)loss_of(&a, true);
        (void)loss_of(&b, true);
        assert_true(differ(b.y, a.y, n * 3) < 1e-5);
        assert_true(differ(touch(b.store.g), touch(a.store.g), a.net->trained) < 1e-5);
        tear_down(&a);
        tear_down(&b);
    }
}

/* A gate that is not fused into the product before it, as in bf16, which fuses none: forward and
 * backward, the gradient put or added. */
static void a_gate_alone(void **state)
{
    (void)state;
    enum { N = 3, M = 70 };
    tsri_rng rng = tsri_rng_stream(6, TSRI_FOR_TEST, 0, 0, 0);
    tsri_pool *pool = NULL;
    float x[N * M], z[N * M], dy[N * M];
    assert_ok(tsri_pool_create(&pool, 2));
    for (int i = 0; i < N * M; i++) {
        x[i] = (float)tsri_rng_normal(&rng);
        z[i] = (float)tsri_rng_normal(&rng);
        dy[i] = (float)tsri_rng_normal(&rng);
    }
    const tsri_backend *const backends[] = {&tsri_backend_ref, &tsri_backend_cpu};
    for (int t = 0; t < 4; t++) {
        uint64_t word[N * 2] = {0};
        float y[N * M], dx[N * M], given[N * M];
        tsri_gates gates = {.n = N, .units = M, .words = 2, .word = word};
        for (int i = 0; i < N * M; i++)
            dx[i] = 10;
        memcpy(given, dy, sizeof given);
        tsri_op op = {.kind = TSRI_GATE,
                      .n = N,
                      .in = {M, 1, 1},
                      .out = {M, 1, 1},
                      .need_dx = true,
                      .dx_add = t >= 2,
                      .x = x,
                      .add = z,
                      .y = y,
                      .dx = dx,
                      .dy = given,
                      .gates = &gates,
                      .pool = pool};
        assert_ok(tsri_op_setup(&op, backends[t % 2]));
        assert_ok(op.kernel->forward(&op));
        assert_ok(op.kernel->backward(&op));
        for (int i = 0; i < N * M; i++) {
            assert_true(y[i] == (z[i] > 0 ? x[i] : 0));
            assert_true(dx[i] == (t >= 2 ? 10 : 0) + (z[i] > 0 ? dy[i] : 0));
        }
        tsri_op_teardown(&op);
    }
    tsri_pool_destroy(pool);
}

static void data_of(tsr_data *data, fixture *f)
{
    *data = (tsr_data){.channels = f->d, .height = 1, .width = 1, .dim = f->d, .targets = f->k};
    data->train = (tsri_part){.n = f->n, .numbers = f->x, .target = f->target};
}

static void table_of(tsri_gate_table **table, fixture *f)
{
    tsr_data data;
    data_of(&data, f);
    assert_ok(tsri_gate_table_create(table, &f->store, f->plan->device, &data, &data.train));
}

/* With gates from the table, in another order of the samples, the same bits come out. */
static void table_is_computed(void **state)
{
    (void)state;
    fixture f;
    tsri_gate_table *table = NULL;
    int64_t index[40];
    float *g = NULL, y[40 * 3];
    set_up(&f, "model: {name: grelu, width: 150, layers: 3}", &tsri_backend_cpu, 40, 20, 3, 2);
    (void)loss_of(&f, true);
    assert_ok(tsri_alloc(&g, f.net->trained, sizeof *g));
    memcpy(g, f.store.g, (size_t)f.net->trained * sizeof *g);
    memcpy(y, f.y, sizeof y);
    table_of(&table, &f);
    assert_int_equal(table->layers, 3);
    for (int64_t i = 0; i < 40; i++)
        index[i] = i;
    assert_ok(tsri_plan_use_gates(f.plan, table, index));
    (void)loss_of(&f, true);
    assert_memory_equal(y, f.y, sizeof y);
    assert_memory_equal(g, f.store.g, (size_t)f.net->trained * sizeof *g);
    index[0] = -1; /* a row that counts for nothing: all gates off */
    assert_ok(tsri_plan_use_gates(f.plan, table, index));
    (void)loss_of(&f, false);
    assert_true(f.y[0] == 0);
    assert_ok(tsri_plan_use_gates(f.plan, NULL, NULL));
    (void)loss_of(&f, false);
    assert_memory_equal(y, f.y, sizeof y);
    tsri_gate_table_destroy(table);
    tsri_free(g);
    tear_down(&f);
}

static int64_t units_on(const tsri_gate_table *t)
{
    int64_t on = 0;
    for (int64_t l = 0; l < t->layers; l++)
        for (int64_t w = 0; w < t->words[l]; w++) {
            uint64_t any = 0;
            for (int64_t i = 0; i < t->n; i++)
                any |= t->word[l][i * t->words[l] + w];
            on += __builtin_popcountll(any);
        }
    return on;
}

/* Must 4: forty steps, large enough to move every weight and to kill units of the twin. */
static void gates_stay(void **state)
{
    (void)state;
    fixture f;
    tsri_gate_table *before = NULL, *after = NULL;
    set_up(&f, "model: {name: grelu, width: 48, layers: 3}", &tsri_backend_cpu, 33, 10, 2, 1);
    table_of(&before, &f);
    double first = loss_of(&f, true), last = first;
    for (int t = 0; t < 40; t++) {
        update_once(&(tsri_optim){0}, &f.store, f.plan->device, 2e-4);
        last = loss_of(&f, true);
    }
    assert_true(last < 0.5 * first);
    table_of(&after, &f);
    for (int64_t l = 0; l < before->layers; l++)
        assert_memory_equal(before->word[l], after->word[l],
                            (size_t)(before->n * before->words[l]) * sizeof(uint64_t));
    assert_int_equal(units_on(before), units_on(after));
    assert_true(units_on(after) > 0);
    tsri_gate_table_destroy(before);
    tsri_gate_table_destroy(after);
    tear_down(&f);
}

static void twin_begins_alike(void **state)
{
    (void)state;
    fixture a, b;
    set_up(&a, "model: {name: grelu, width: 20, layers: 2, gate_rank: 4}", &tsri_backend_cpu, 3, 5,
           2, 1);
    set_up(&b, "model: {name: relu_twin, width: 20, layers: 2}", &tsri_backend_cpu, 3, 5, 2, 1);
    for (int64_t p = 0; p < b.net->params; p++) {
        int64_t q = tsri_net_param(a.net, b.net->param[p].name);
        assert_true(q >= 0);
        assert_memory_equal(tsri_store_at(&a.store, a.store.w, q),
                            tsri_store_at(&b.store, b.store.w, p),
                            (size_t)b.net->param[p].count * sizeof(float));
    }
    assert_int_equal(tsri_grelu_layers(a.net), 2);
    tear_down(&a);
    tear_down(&b);
}

static void write_store(const fixture *f, const char *path)
{
    tsri_tensor t[8] = {{0}};
    for (int64_t p = 0; p < f->net->params; p++) {
        t[p] = (tsri_tensor){.name = f->net->param[p].name,
                             .dtype = TSRI_F32,
                             .dims = 2,
                             .shape = {f->net->param[p].shape[0], f->net->param[p].shape[1]},
                             .data = tsri_store_at(&f->store, f->store.w, p)};
    }
    assert_ok(tsri_tensors_write(path, t, f->net->params, NULL, 0));
}

/* Psi = W: the same function, to the rounding of sums in another order. */
static void gates_of_a_relu_net(void **state)
{
    (void)state;
    fixture a, b;
    char path[] = "/tmp/test_grelu.XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    set_up(&a, "model: {name: grelu, width: 140, layers: 2}", &tsri_backend_cpu, 35, 5, 2, 1);
    set_up(&b, "model: {name: relu_twin, width: 140, layers: 2}", &tsri_backend_cpu, 35, 5, 2, 1);
    assert_ok(tsri_store_fill(&b.store, 77)); /* other weights than a has */
    write_store(&b, path);
    assert_ok(tsri_grelu_from_relu(&a.store, path));
    (void)loss_of(&a, false);
    (void)loss_of(&b, false);
    assert_true(differ(a.y, b.y, 35 * 2) < 1e-5);
    tear_down(&b);
    set_up(&b, "model: {name: relu_twin, width: 10, layers: 2}", &tsri_backend_cpu, 35, 5, 2, 1);
    write_store(&b, path);
    assert_fails(tsri_grelu_from_relu(&a.store, path), TSR_BAD_FILE, "same width");
    assert_fails(tsri_grelu_from_relu(&b.store, path), TSR_USAGE, "model: grelu");
    write_store(&a, path); /* it has all the names, too */
    assert_fails(tsri_grelu_from_relu(&a.store, path), TSR_BAD_FILE, "holds a gated net");
    unlink(path);
    tear_down(&a);
    tear_down(&b);
}

static void refusals(void **state)
{
    (void)state;
    tsr_config *config = NULL;
    tsri_net *net = NULL;
    static const char text[] = "model: {name: grelu, width: 10, gate_rank: 10}";
    assert_ok(tsri_config_parse(&config, text, (int64_t)strlen(text), "test"));
    assert_fails(tsri_net_create(&net, config, (tsri_shape){3, 1, 1}, 1, false), TSR_USAGE,
                 "less than the width");
    tsr_config_destroy(config);
}

/* Every allocation of plan and table fails once. */
static void memory_runs_out(void **state)
{
    (void)state;
    fixture f;
    tsr_data data;
    set_up(&f, "model: {name: grelu, width: 130, layers: 1}", &tsri_backend_cpu, 33, 3, 1, 1);
    data_of(&data, &f);
    tsr_status st = TSR_RESOURCES;
    for (int64_t n = 0; st != TSR_OK; n++) {
        tsri_gate_table *table = NULL;
        tsri_plan *plan = NULL;
        tsri_alloc_fail_after(n, false);
        st = tsri_gate_table_create(&table, &f.store, tsri_device_on(&tsri_backend_cpu, f.pool),
                                    &data, &data.train);
        if (st == TSR_OK)
            st = tsri_plan_create(&plan, &f.store, tsri_device_on(&tsri_backend_cpu, f.pool), 33,
                                  true);
        tsri_alloc_fail_after(-1, false);
        assert_true(st == TSR_OK || st == TSR_RESOURCES);
        tsri_gate_table_destroy(table);
        tsri_plan_destroy(plan);
    }
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_formula_says), cmocka_unit_test(gradients),
        cmocka_unit_test(cpu_is_ref),          cmocka_unit_test(table_is_computed),
        cmocka_unit_test(gates_stay),          cmocka_unit_test(twin_begins_alike),
        cmocka_unit_test(gates_of_a_relu_net), cmocka_unit_test(refusals),
        cmocka_unit_test(memory_runs_out),     cmocka_unit_test(few_samples),
        cmocka_unit_test(a_gate_alone),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
