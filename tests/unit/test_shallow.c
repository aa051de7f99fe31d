/* The shallow model against its formula written out, in a share and whole; its gradient; the loss
 * of the paper; and the mean over masks of a share's output = the output of the whole. */
#include "gradient_testing.h"
#include "plan_testing.h"
#include "share_testing.h"

#include "model/whole.h"

enum { N = 7, D = 5, M = 40, K = 3 };

static const char single[] = "model: {name: shallow, width: 40, kappa: 0.5}\n"
                             "scheme: {name: masked, xi: 0.4, workers: 3}\n";

static tsri_net *make(const char *text, int64_t outputs)
{
    tsr_config *config = NULL;
    tsri_net *net = NULL;
    assert_ok(tsri_config_parse(&config, text, (int64_t)strlen(text), "test"));
    assert_ok(tsri_whole_create(&net, config, (tsri_shape){D, 1, 1}, outputs, false));
    tsr_config_destroy(config);
    return net;
}

/* sum over r of a_r relu(<w_r, x>) in double, over the units with place >= 0. */
static double by_hand(const float *w, const float *a, const float *x, const int32_t *place)
{
    double f = 0;
    for (int r = 0; r < M; r++) {
        double dot = 0;
        for (int i = 0; i < D; i++)
            dot += (double)w[r * D + i] * (double)x[i];
        f += place[r] >= 0 && dot > 0 ? (double)a[r] * dot : 0;
    }
    return f;
}

static void outputs_of(float *y, tsri_store *store, const float *x, int64_t outputs)
{
    tsri_pool *pool = NULL;
    tsri_plan *plan = NULL;
    assert_ok(tsri_pool_create(&pool, 1));
    assert_ok(tsri_plan_create(&plan, store, tsri_device_on(&tsri_backend_cpu, pool), N, false));
    assert_ok(tsri_plan_forward(plan, x));
    memcpy(y, plan_outputs(plan), (size_t)(N * outputs) * sizeof(float));
    tsri_plan_destroy(plan);
    tsri_pool_destroy(pool);
}

static void formula(int64_t outputs)
{
    tsri_net *net = make(single, outputs), *small = NULL;
    tsri_store store, part;
    tsri_share share;
    float x[N * D], y[N * K];
    fill_random(x, N * D, 3);
    assert_ok(tsri_store_init(&store, net, &tsri_backend_cpu, false));
    assert_ok(tsri_store_fill(&store, 1));
    const tsri_param *pw = &net->param[0], *pa = &net->param[1];
    assert_string_equal(pw->name, "w");
    assert_string_equal(pa->name, "a");
    assert_int_equal(pa->dims, outputs == 1 ? 1 : 2);
    assert_int_equal(net->trained, M * D);
    const float *w = touch(tsri_store_at(&store, store.w, 0)),
                *a = touch(tsri_store_at(&store, store.w, 1));
    for (int64_t i = 0; i < M * outputs; i++)
        assert_true(a[i] == 1 || a[i] == -1);
    assert_ok(tsri_share_init(&share, net));
    outputs_of(y, &store, x, outputs);
    for (int64_t i = 0; i < N * outputs; i++) /* u = xi / sqrt(m) sum; f32 sums of 40: 1e-6 */
        assert_true(fabs((double)y[i] - 0.4 / sqrt(M) *
                                            by_hand(w, a + i % outputs * M, x + i / outputs * D,
                                                    share.pick[1].place)) < 1e-6);
    tsri_draw draw = {.kind = TSRI_DRAW_BERNOULLI, .workers = 3, .xi = 0.4};
    tsri_share_draw(&share, &draw, 1, 1, 2);
    assert_ok(tsri_net_cut(&small, net, &share, true));
    assert_ok(tsri_store_init(&part, small, &tsri_backend_cpu, false));
    assert_ok(tsri_take(&part, &store, &share, false));
    outputs_of(y, &part, x, outputs);
    for (int64_t i = 0; i < N * outputs; i++) /* f_m = 1 / sqrt(m) sum, m the whole width */
        assert_true(fabs((double)y[i] - 1 / sqrt(M) *
                                            by_hand(w, a + i % outputs * M, x + i / outputs * D,
                                                    share.pick[1].place)) < 1e-6);
    tsri_store_fini(&part);
    tsri_net_destroy(small);
    tsri_share_fini(&share);
    tsri_store_fini(&store);
    tsri_net_destroy(net);
}

static void outputs_are_the_formula(void **state)
{
    (void)state;
    formula(1);
    formula(K);
}

/* The factor of the whole for every scheme. */
static void xi_belongs_to_the_whole(void **state)
{
    (void)state;
    static const struct {
        const char *scheme;
        double xi;
    } cases[] = {{"{name: dense}", 1},
                 {"{name: dropout, xi: 0.3}", 0.3},
                 {"{name: multisample, xi: 0.3, workers: 4}", 0.3},
                 {"{name: masked, xi: 0.7, workers: 4}", 0.7},
                 {"{name: masked, xi: 0.7, workers: 4, draw: categorical}", 0.25},
                 {"{name: masked, workers: 5, draw: chunks}", 0.2},
                 {"{name: ist, xi: 0.9, workers: 8}", 0.125},
                 {"{name: loft, axes: all, workers: 8}", 0.125},
                 {"{name: local_sgd, workers: 8}", 1},
                 {"{name: ist, workers: 8, scale: none}", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        (void)snprintf(text, sizeof text, "model: {name: shallow, width: 40}\nscheme: %s\n",
                       cases[i].scheme);
        tsri_net *net = make(text, 1);
        assert_true(fabs(net->layer[net->layers - 1].scale - cases[i].xi / sqrt(M)) < 1e-15);
        tsri_net_destroy(net);
    }
}

typedef struct problem {
    tsri_plan *plan;
    const float *x;
    tsri_loss loss;
} problem;

static double value_of(void *problem_)
{
    problem *s = problem_;
    assert_ok(tsri_plan_forward(s->plan, s->x));
    assert_ok(tsri_plan_loss(s->plan, &s->loss));
    tsri_tally tally = plan_tally(s->plan);
    return tsri_loss_value(&s->loss, &tally);
}

/* 1/2 sum of squares, written out, and its gradient. */
static void gradient_of_half_squares(void **state)
{
    (void)state;
    tsri_net *net = make(single, K);
    tsri_store store;
    tsri_pool *pool = NULL;
    tsri_plan *plan = NULL;
    float x[N * D], target[N * K];
    fill_random(x, N * D, 3);
    fill_random(target, N * K, 4);
    assert_ok(tsri_store_init(&store, net, &tsri_backend_ref64, true));
    assert_ok(tsri_store_fill(&store, 1));
    assert_ok(tsri_pool_create(&pool, 1));
    assert_ok(tsri_plan_create(&plan, &store, tsri_device_on(&tsri_backend_ref64, pool), N, true));
    problem s = {plan, x, {.kind = &tsri_loss_half_squares, .valid = N - 1, .target = target}};
    double have = value_of(&s), want = 0;
    const double *y = plan_outputs(plan);
    for (int i = 0; i < (N - 1) * K; i++)
        want += 0.5 * (y[i] - (double)target[i]) * (y[i] - (double)target[i]);
    assert_true(fabs(have - want) < 1e-12);
    assert_ok(tsri_plan_backward(plan));
    differences d = {.value = value_of, .context = &s};
    assert_gradient(&d, "half_squares", touch(store.w), touch(store.g), M * D, 1);
    tsri_plan_destroy(plan);
    tsri_pool_destroy(pool);
    tsri_store_fini(&store);
    tsri_net_destroy(net);
}

/* The mean of f_m over 4000 masks lies within five standard errors of u, for every sample: also for
 * shares of a deep net with one cut axis, whose layer is scaled by 1/xi (inverted dropout). */
static void shares_are_unbiased(const char *text, const tsri_draw *draw)
{
    enum { ROUNDS = 4000 };
    tsri_net *net = make(text, 1), *small = NULL;
    tsri_store store, part;
    tsri_share share;
    float x[N * D], y[N];
    double sum[N] = {0}, squares[N] = {0};
    fill_random(x, N * D, 3);
    assert_ok(tsri_store_init(&store, net, &tsri_backend_cpu, false));
    assert_ok(tsri_store_fill(&store, 1));
    assert_ok(tsri_share_init(&share, net));
    for (int64_t k = 0; k < ROUNDS; k++) {
        tsri_share_draw(&share, draw, 2, k, k % draw->workers);
        if (tsri_share_empty(&share))
            continue; /* its output is 0, as if it had been added */
        assert_ok(tsri_net_cut(&small, net, &share, true));
        assert_ok(tsri_store_init(&part, small, &tsri_backend_cpu, false));
        assert_ok(tsri_take(&part, &store, &share, false));
        outputs_of(y, &part, x, 1);
        for (int i = 0; i < N; i++) {
            sum[i] += (double)y[i];
            squares[i] += (double)y[i] * (double)y[i];
        }
        tsri_store_fini(&part);
        tsri_net_destroy(small);
    }
    outputs_of(y, &store, x, 1);
    for (int i = 0; i < N; i++) {
        double mean = sum[i] / ROUNDS, var = squares[i] / ROUNDS - mean * mean;
        assert_true(fabs(mean - (double)y[i]) < 5 * sqrt(var / ROUNDS));
    }
    tsri_share_fini(&share);
    tsri_store_fini(&store);
    tsri_net_destroy(net);
}

static void the_mean_over_masks_is_the_whole(void **state)
{
    (void)state;
    tsri_draw bernoulli = {.kind = TSRI_DRAW_BERNOULLI, .workers = 3, .xi = 0.4};
    tsri_draw chunks = {.kind = TSRI_DRAW_CHUNKS, .workers = 4};
    tsri_draw categorical = {.kind = TSRI_DRAW_CATEGORICAL, .workers = 4};
    shares_are_unbiased(single, &bernoulli);
    shares_are_unbiased("model: {name: shallow, width: 40}\nscheme: {name: ist, workers: 4}\n",
                        &chunks);
    shares_are_unbiased("model: {name: shallow, width: 40}\nscheme: {name: ist, workers: 4}\n",
                        &categorical);
    shares_are_unbiased("model: {name: mlp, hidden: [40], bias: false}\n", &bernoulli);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_are_the_formula),
        cmocka_unit_test(xi_belongs_to_the_whole),
        cmocka_unit_test(gradient_of_half_squares),
        cmocka_unit_test(the_mean_over_masks_is_the_whole),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
