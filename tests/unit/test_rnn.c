/* Recurrent networks: the formula by hand, gradients of lengths 1 to 12 against central differences
 * in double, cpu against ref at odd sizes, a step that allocates nothing and does not depend on the
 * number of threads, what a share of the hidden axis computes, and wrong run files. */
#include "gradient_testing.h"
#include "plan_testing.h"
#include "share_testing.h"

enum { DIM = 3, OUT = 2, MOST = 12, BATCH = 3 };

typedef struct fixture {
    tsri_net *net;
    tsri_store store;
    tsri_pool *pool;
    tsri_plan *plan;
    float x[BATCH * MOST * DIM], target[BATCH * MOST * OUT];
    int32_t length[BATCH], label[BATCH];
} fixture;

static tsri_net *make(const char *text, int64_t dim, int64_t T, int64_t outputs)
{
    tsr_config *config = NULL;
    tsri_net *net = NULL;
    assert_ok(tsri_config_parse(&config, text, (int64_t)strlen(text), "test"));
    assert_ok(tsri_net_create(&net, config, (tsri_shape){dim, T, 1}, outputs, false));
    tsr_config_destroy(config);
    return net;
}

static void set_up(fixture *f, const char *model, int64_t T, bool every,
                   const tsri_backend *backend, int64_t seed)
{
    f->net = make(model, DIM, T, every ? T * OUT : OUT);
    assert_ok(tsri_store_init(&f->store, f->net, backend, true));
    assert_ok(tsri_store_fill(&f->store, (uint64_t)seed));
    assert_ok(tsri_pool_create(&f->pool, 1));
    assert_ok(tsri_plan_create(&f->plan, &f->store, tsri_device_on(backend, f->pool), BATCH, true));
    fill_random(f->x, BATCH * T * DIM, seed + 1);
    fill_random(f->target, BATCH * T * OUT, seed + 2);
    for (int64_t n = 0; n < BATCH; n++) { /* one as long as can be, others shorter, one of them 1 */
        f->length[n] = (int32_t)(n == 0 ? T : n == 1 ? 1 + seed % T : 1);
        f->label[n] = (int32_t)(n % OUT);
    }
}

static void tear_down(fixture *f)
{
    tsri_plan_destroy(f->plan);
    tsri_pool_destroy(f->pool);
    tsri_store_fini(&f->store);
    tsri_net_destroy(f->net);
}

static double loss_of(fixture *f, const tsri_loss_kind *kind, bool labels)
{
    tsri_loss loss = {
        .kind = kind, .valid = BATCH, .label = labels ? f->label : NULL, .target = f->target};
    tsri_plan_lengths(f->plan, f->length);
    assert_ok(tsri_plan_forward(f->plan, f->x));
    assert_ok(tsri_plan_loss(f->plan, &loss));
    tsri_tally tally = plan_tally(f->plan);
    return tsri_loss_value(&loss, &tally);
}

/* ---- Gradients ---------------------------------------------------------------------------- */

typedef struct example {
    fixture *f;
    const tsri_loss_kind *kind;
    bool labels;
} example;

static double value_of(void *example_)
{
    const example *e = example_;
    return loss_of(e->f, e->kind, e->labels);
}

static void check(const char *model, int64_t T, bool every, const tsri_loss_kind *kind, bool labels,
                  int64_t seed)
{
    char what[200];
    fixture f = {0};
    example e = {&f, kind, labels};
    set_up(&f, model, T, every, &tsri_backend_ref64, seed);
    (void)value_of(&e);
    assert_ok(tsri_plan_backward(f.plan));
    differences d = {.value = value_of, .context = &e};
    (void)snprintf(what, sizeof what, "%s, length %lld", model, (long long)T);
    assert_gradient(&d, what, touch(f.store.w), touch(f.store.g), f.net->trained, 1);
    tear_down(&f);
}

static void gradients_are_derivatives(void **state)
{
    (void)state;
    for (int64_t T = 1; T <= MOST; T++) {
        static const char every[] = "model: {name: rnn, width: 7, read: every, first: 1}";
        static const char paper[] = "model: {name: rnn, width: 6, read: every}\nloss: half_squares";
        static const char all[] = "model: {name: rnn, width: 5, read: every, train: all, first: 1}";
        static const char deep[] = "model: {name: rnn, width: 4, layers: 3, train: all}";
        static const char last[] = "model: {name: rnn, width: 6, read: last}";
        if (T > 1)
            check(paper, T, true, &tsri_loss_half_squares, false, T);
        check(every, T, true, &tsri_loss_mse, false, T);
        check(every, T, true, &tsri_loss_huber, false, T + 20);
        check(all, T, true, &tsri_loss_half_squares, false, T);
        check(all, T, true, &tsri_loss_cross_entropy, true, T);
        check(last, T, false, &tsri_loss_cross_entropy, true, T);
        check(last, T, false, &tsri_loss_logistic, true, T);
        check(deep, T, false, &tsri_loss_cross_entropy, true, T);
    }
}

/* ---- The formula -------------------------------------------------------------------------- */

/* y of one sequence at position l, in double, beside the plan's; and who is trained. */
static void outputs_are_the_formula(void **state)
{
    (void)state;
    enum { T = 5, M = 8 };
    fixture f = {0};
    set_up(&f, "model: {name: rnn, width: 8, read: every}", T, true, &tsri_backend_ref64, 3);
    assert_string_equal(f.net->param[0].name, "rnn.weight_ih_l0");
    assert_string_equal(f.net->param[1].name, "rnn.weight_hh_l0");
    assert_string_equal(f.net->param[2].name, "out.weight");
    assert_int_equal(f.net->trained, M * M);
    const double *A = touch(tsri_store_at(&f.store, f.store.w, 0));
    const double *W = touch(tsri_store_at(&f.store, f.store.w, 1));
    const double *B = touch(tsri_store_at(&f.store, f.store.w, 2));
    (void)loss_of(&f, &tsri_loss_half_squares, false);
    const double *y = plan_outputs(f.plan);
    for (int n = 0; n < BATCH; n++) {
        double h[M] = {0};
        for (int l = 0; l < f.length[n]; l++) {
            double g[M];
            for (int k = 0; k < M; k++) {
                g[k] = 0;
                for (int i = 0; i < M; i++)
                    g[k] += W[k * M + i] * h[i];
                for (int i = 0; i < DIM; i++)
                    g[k] += A[k * DIM + i] * (double)f.x[(n * T + l) * DIM + i];
            }
            for (int k = 0; k < M; k++)
                h[k] = g[k] > 0 ? g[k] : 0;
            for (int o = 0; o < OUT; o++) {
                double want = 0;
                for (int k = 0; k < M; k++)
                    want += B[o * M + k] * h[k];
                assert_true(fabs(y[(n * T + l) * OUT + o] - want) < 1e-14);
            }
        }
    }
    tear_down(&f);
}

/* The last state of a shorter sequence is that of the shorter sequence alone. */
static void a_shorter_sequence_ends(void **state)
{
    (void)state;
    fixture f = {0}, g = {0};
    set_up(&f, "model: {name: rnn, width: 9}", 7, false, &tsri_backend_ref64, 4);
    set_up(&g, "model: {name: rnn, width: 9}", 3, false, &tsri_backend_ref64, 4);
    for (int n = 0; n < BATCH; n++) {
        f.length[n] = g.length[n] = 3;
        for (int i = 0; i < 3 * DIM; i++)
            g.x[n * 3 * DIM + i] = f.x[n * 7 * DIM + i];
    }
    (void)loss_of(&f, &tsri_loss_cross_entropy, true);
    (void)loss_of(&g, &tsri_loss_cross_entropy, true);
    assert_memory_equal(plan_outputs(f.plan), plan_outputs(g.plan), BATCH * OUT * sizeof(double));
    assert_ok(tsri_plan_backward(f.plan));
    assert_ok(tsri_plan_backward(g.plan));
    assert_memory_equal(f.store.g, g.store.g, (size_t)f.net->trained * sizeof(double));
    tear_down(&f);
    tear_down(&g);
}

/* ---- cpu ---------------------------------------------------------------------------------- */

typedef struct step {
    float *y, *g;
    double loss;
} step;

static void one_step(step *out, const char *model, const tsri_backend *backend, int threads,
                     int64_t batch, int64_t T, int64_t outputs)
{
    tsri_net *net = make(model, 5, T, outputs);
    tsri_store store;
    tsri_pool *pool = NULL;
    tsri_plan *plan = NULL;
    float *x = NULL, *target = NULL;
    int32_t *length = NULL;
    assert_ok(tsri_store_init(&store, net, &tsri_backend_cpu, true));
    assert_ok(tsri_store_fill(&store, 11));
    assert_ok(tsri_pool_create(&pool, threads));
    assert_ok(tsri_plan_create(&plan, &store, tsri_device_on(backend, pool), batch, true));
    assert_ok(tsri_alloc(&x, batch * T * 5, sizeof *x));
    assert_ok(tsri_alloc(&target, batch * outputs, sizeof *target));
    assert_ok(tsri_alloc(&length, batch, sizeof *length));
    fill_random(x, batch * T * 5, 1);
    fill_random(target, batch * outputs, 2);
    for (int64_t n = 0; n < batch; n++)
        length[n] = (int32_t)(1 + (n * 5 + T - 1) % T);
    tsri_loss loss = {.kind = &tsri_loss_mse, .valid = batch, .target = target};
    assert_ok(tsri_alloc(&out->y, batch * outputs, sizeof *out->y));
    assert_ok(tsri_alloc(&out->g, net->trained, sizeof *out->g));
    (void)tsri_alloc_fail_after(0, true); /* from here on a step takes no memory */
    for (int i = 0; i < 2; i++) {
        tsri_plan_lengths(plan, length);
        assert_ok(tsri_plan_forward(plan, x));
        assert_ok(tsri_plan_loss(plan, &loss));
        assert_ok(tsri_plan_backward(plan));
    }
    assert_int_equal(tsri_alloc_fail_after(-1, false), 0);
    tsri_tally tally = plan_tally(plan);
    out->loss = tsri_loss_value(&loss, &tally);
    memcpy(out->y, plan_outputs(plan), (size_t)(batch * outputs) * sizeof *out->y);
    memcpy(out->g, store.g, (size_t)net->trained * sizeof *out->g);
    tsri_free(x);
    tsri_free(target);
    tsri_free(length);
    tsri_plan_destroy(plan);
    tsri_pool_destroy(pool);
    tsri_store_fini(&store);
    tsri_net_destroy(net);
}

static void free_step(step *s)
{
    tsri_free(s->y);
    tsri_free(s->g);
}

static double largest(const float *x, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs((double)x[i]));
    return most;
}

/* Sums of up to 70 terms in another order, through up to 9 positions: 1e-5 of the largest number,
 * a hundred roundings. */
static void close_to(const float *have, const float *want, int64_t n, const char *what)
{
    double most = largest(want, n);
    for (int64_t i = 0; i < n; i++)
        if (fabs((double)have[i] - (double)want[i]) > 1e-5 * most)
            fail_msg("%s: %lld is %.9g, ref has %.9g", what, (long long)i, (double)have[i],
                     (double)want[i]);
}

static void cpu_is_ref(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        int64_t batch, T, outputs, trained;
    } cases[] = {
        {"model: {name: rnn, width: 70, read: every, train: all, first: 1}", 13, 9, 27, 0},
        {"model: {name: rnn, width: 33, read: last, train: all}", 1, 6, 4, 0},
        {"model: {name: rnn, width: 16, read: every, first: 2}", 7, 4, 8, 0},
        {"model: {name: rnn, width: 1, read: last}", 3, 2, 1, 0},
        {"model: {name: rnn, width: 40, layers: 2, read: every, train: all, first: 1}", 5, 1, 2, 0},
        {"model: {name: rnn, width: 40, layers: 2, read: last, train: all}", 65, 3, 2, 0},
    };
    assert_ok(tsri_backend_cpu.start(2));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        step want, one, two;
        tsri_net *net = make(cases[i].model, 5, cases[i].T, cases[i].outputs);
        int64_t n = cases[i].batch, k = cases[i].outputs, T = cases[i].T, g = net->trained;
        tsri_net_destroy(net);
        one_step(&want, cases[i].model, &tsri_backend_ref, 1, n, T, k);
        one_step(&one, cases[i].model, &tsri_backend_cpu, 1, n, T, k);
        one_step(&two, cases[i].model, &tsri_backend_cpu, 3, n, T, k);
        close_to(one.y, want.y, n * k, cases[i].model);
        close_to(one.g, want.g, g, cases[i].model);
        assert_memory_equal(one.y, two.y, (size_t)(n * k) * sizeof(float));
        assert_memory_equal(one.g, two.g, (size_t)g * sizeof(float));
        free_step(&want);
        free_step(&one);
        free_step(&two);
    }
}

/* ---- Shares ------------------------------------------------------------------------------- */

/* A share has the chosen rows and columns of W; what makes states is scaled by 1/sqrt(xi). */
static void a_share_cuts_rows_and_columns(void **state)
{
    (void)state;
    enum { M = 12 };
    tsri_net *net = make("model: {name: rnn, width: 12, layers: 2}", DIM, 4, OUT), *small = NULL;
    tsri_store store, part;
    tsri_share share;
    static const int64_t pick[] = {1, 4, 5, 11};
    assert_ok(tsri_store_init(&store, net, &tsri_backend_cpu, false));
    assert_ok(tsri_store_fill(&store, 5));
    assert_ok(tsri_share_init(&share, net));
    assert_ok(tsri_share_give(&share, tsri_axis_find(net, "hidden.0"), pick, 4));
    assert_ok(tsri_net_cut(&small, net, &share, true));
    assert_ok(tsri_store_init(&part, small, &tsri_backend_cpu, false));
    assert_ok(tsri_take(&part, &store, &share, false));
    const float *W = touch(tsri_store_at(&store, store.w, 1)),
                *w = touch(tsri_store_at(&part, part.w, 1));
    const float *A = touch(tsri_store_at(&store, store.w, 2)),
                *a = touch(tsri_store_at(&part, part.w, 2));
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++)
            assert_true(w[r * 4 + c] == W[pick[r] * M + pick[c]]);
    for (int r = 0; r < M; r++) /* the second layer reads the first: columns alone */
        for (int c = 0; c < 4; c++)
            assert_true(a[r * 4 + c] == A[r * M + pick[c]]);
    for (int64_t i = 0; i < small->layers; i++)
        if (strcmp(small->layer[i].name, "rnn.weight_hh_l0") == 0 ||
            strcmp(small->layer[i].name, "rnn.weight_ih_l1") == 0)
            assert_true(fabs(small->layer[i].scale - sqrt(3.0)) < 1e-15);
        else if (strcmp(small->layer[i].name, "rnn.weight_hh_l1") == 0)
            assert_true(small->layer[i].scale == 1);
    tsri_store_fini(&part);
    tsri_store_fini(&store);
    tsri_net_destroy(small);
    tsri_share_fini(&share);
    tsri_net_destroy(net);
}

static void wrong_ones_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t T, outputs;
        const char *words;
    } bad[] = {
        {"model: {name: rnn, read: every}", 4, 6, "6 outputs do not go with them"},
        {"model: {name: rnn, read: every, first: 5}", 4, 8, "longest sequence has 4"},
        {"model: {name: rnn, read: every}\nloss: half_squares", 1, 2, "begins at position 2"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tsr_config *config = NULL;
        tsri_net *net = NULL;
        assert_ok(tsri_config_parse(&config, bad[i].text, (int64_t)strlen(bad[i].text), "test"));
        assert_fails(
            tsri_net_create(&net, config, (tsri_shape){3, bad[i].T, 1}, bad[i].outputs, false),
            TSR_USAGE, bad[i].words);
        tsr_config_destroy(config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_derivatives),     cmocka_unit_test(outputs_are_the_formula),
        cmocka_unit_test(a_shorter_sequence_ends),       cmocka_unit_test(cpu_is_ref),
        cmocka_unit_test(a_share_cuts_rows_and_columns), cmocka_unit_test(wrong_ones_are_refused),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
