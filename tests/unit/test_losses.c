/* Losses of margins, Huber's, and those of sequences: by hand, at margins of 1e4, on cpu as on ref,
 * and their gradients through relu_deep of depth 1 to 8 against central differences in double. */
#include "gradient_testing.h"

#include "base/rng.h"
#include "plan_testing.h"

enum { BATCH = 5, INPUTS = 4 };

static const tsri_loss_kind *const kinds[] = {&tsri_loss_hinge, &tsri_loss_squared_hinge,
                                              &tsri_loss_exponential, &tsri_loss_logistic};

/* ---- Values ------------------------------------------------------------------------------- */

static double value(const tsri_loss_kind *kind, double z, double *slope)
{
    return tsri_margin_loss(kind, z, slope);
}

static void margins_by_hand(void **state)
{
    (void)state;
    double s;
    assert_true(value(&tsri_loss_hinge, 0.25, &s) == 0.75 && s == -1);
    assert_true(value(&tsri_loss_hinge, 1, &s) == 0 && s == 0);
    assert_true(value(&tsri_loss_squared_hinge, -1, &s) == 4 && s == -4);
    assert_true(value(&tsri_loss_squared_hinge, 2, &s) == 0 && s == 0);
    assert_true(value(&tsri_loss_exponential, 0, &s) == 1 && s == -1);
    assert_true(fabs(value(&tsri_loss_exponential, -2, &s) - exp(2)) < 1e-14 &&
                fabs(s + exp(2)) < 1e-14);
    assert_true(fabs(value(&tsri_loss_logistic, 0, &s) - log(2)) < 1e-15 && s == -0.5);
    for (double z = -30; z <= 30; z += 0.7) { /* 2 ulp of a sum of two terms */
        double want = log(1 + exp(-z));
        assert_true(fabs(value(&tsri_loss_logistic, z, &s) - want) <= 1e-15 * (1 + want));
        assert_true(fabs(s + 1 / (1 + exp(z))) <= 1e-15);
    }
}

/* l(0), so that L_S <= l(0)/n certifies zero error. */
static void far_margins_are_finite_and_right(void **state)
{
    (void)state;
    double s;
    assert_true(value(&tsri_loss_hinge, -1e4, &s) == 10001 && s == -1);
    assert_true(value(&tsri_loss_hinge, 1e4, &s) == 0 && s == 0);
    assert_true(value(&tsri_loss_squared_hinge, -1e4, &s) == 10001.0 * 10001.0 && s == -20002);
    assert_true(value(&tsri_loss_squared_hinge, 1e4, &s) == 0 && s == 0);
    assert_true(value(&tsri_loss_logistic, -1e4, &s) == 1e4 && s == -1);
    assert_true(value(&tsri_loss_logistic, 1e4, &s) == 0 && s == 0);
    assert_true(value(&tsri_loss_exponential, 1e4, &s) == 0 && s == 0);
    /* e^10000 is no double: the tangent at -80 is meant there, convex and above every e^-z before
     */
    assert_true(value(&tsri_loss_exponential, -1e4, &s) == exp(80) * (1 + 1e4 - 80) &&
                s == -exp(80));
    assert_true(value(&tsri_loss_exponential, -80, &s) == exp(80));
    assert_true(isfinite((float)s) && s == -exp(80));
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (double z = -1e4; z <= 1e4; z += 13.7) {
            double step = value(kinds[k], z + 13.7, NULL);
            assert_true(isfinite(value(kinds[k], z, &s)) && isfinite(s) && s <= 0);
            assert_true(step <= value(kinds[k], z, NULL));
        }
}

static int64_t hits; /* of the last loss */

static double loss_on(const tsri_backend *b, tsri_loss *l)
{
    tsri_tally tally = tally_on(b, l);
    hits = tally.hits;
    return tally.sum;
}

/* The same outputs on float backends: the signs of labels, one against the rest, targets, hits. */
static void signs_and_hits(void **state)
{
    (void)state;
    const tsri_backend *const both[] = {&tsri_backend_ref, &tsri_backend_cpu};
    for (int b = 0; b < 2; b++) {
        float x[] = {2, -3, 0, -1e4f}, dx[4];
        int32_t label[] = {1, 1, 1, 0};
        tsri_loss l = {.kind = &tsri_loss_hinge,
                       .n = 4,
                       .valid = 4,
                       .outputs = 1,
                       .x = x,
                       .label = label,
                       .dx = dx};
        assert_true(loss_on(both[b], &l) == 0 + 4 + 1 + 0);
        assert_int_equal(hits, 2); /* an output of 0 is on no side */
        assert_true(dx[0] == 0 && dx[1] == -0.25f && dx[2] == -0.25f && dx[3] == 0);
        float sign[] = {1, 1, 1, -1};
        l.label = NULL;
        l.target = sign;
        assert_true(loss_on(both[b], &l) == 5 && hits == 2);
        int32_t class[] = {1, 0};
        l = (tsri_loss){.kind = &tsri_loss_squared_hinge,
                        .n = 2,
                        .valid = 1,
                        .outputs = 2,
                        .x = x,
                        .label = class,
                        .dx = dx};
        assert_true(loss_on(both[b], &l) == 9 + 16); /* margins -2 and -3 */
        assert_true(dx[0] == 6 && dx[1] == -8 && dx[2] == 0 && dx[3] == 0 && hits == 0);
    }
}

static void huber_by_hand(void **state)
{
    (void)state;
    float x[] = {0.5f, 3, -4, 1}, t[] = {0, 0, 0, 1}, dx[4];
    tsri_loss l = {
        .kind = &tsri_loss_huber, .n = 2, .valid = 2, .outputs = 2, .x = x, .target = t, .dx = dx};
    assert_true(loss_on(&tsri_backend_ref, &l) == (0.125 + 2.5 + 3.5 + 0) / 2);
    assert_true(dx[0] == 0.125f && dx[1] == 0.25f && dx[2] == -0.25f && dx[3] == 0);
}

/* Positions from `first` to each sample's end; beyond, the gradient is zero. */
static void sequences_end(void **state)
{
    (void)state;
    float x[12], t[12] = {0}, dx[12];
    int32_t length[] = {3, 2};
    for (int i = 0; i < 12; i++)
        x[i] = (float)i;
    tsri_loss l = {.kind = &tsri_loss_half_squares,
                   .n = 2,
                   .valid = 2,
                   .outputs = 6,
                   .positions = 3,
                   .first = 1,
                   .length = length,
                   .x = x,
                   .target = t,
                   .dx = dx};
    assert_true(loss_on(&tsri_backend_ref, &l) == 0.5 * (4 + 9 + 16 + 25 + 64 + 81));
    for (int i = 0; i < 12; i++)
        assert_true(dx[i] == (i < 2 || i == 6 || i == 7 || i >= 10 ? 0 : x[i]));
    l.kind = &tsri_loss_mse; /* the mean over the sample's own positions */
    assert_true(loss_on(&tsri_backend_ref, &l) == (4 + 9 + 16 + 25) / 4.0 + (64 + 81) / 2.0);
    assert_true(dx[2] == 2 * 2 / 2.0f / 4 && dx[8] == 2 * 8 / 2.0f / 2);
    int32_t label[] = {1, 0};
    l.label = label;
    (void)loss_on(&tsri_backend_ref, &l);
    assert_int_equal(hits, 1); /* x grows: at every position, output 1 is the larger */
}

/* ---- Gradients ---------------------------------------------------------------------------- */

typedef struct fixture {
    tsr_config *config;
    tsri_net *net;
    tsri_store store;
    tsri_pool *pool;
    tsri_plan *plan;
    float x[BATCH * INPUTS], target[BATCH * 3];
    int32_t label[BATCH];
    const tsri_loss_kind *kind;
    bool labels; /* or targets */
} fixture;

static void set_up(fixture *f, const char *model, int64_t outputs, int64_t seed)
{
    assert_ok(tsri_config_parse(&f->config, model, (int64_t)strlen(model), "test"));
    assert_ok(tsri_net_create(&f->net, f->config, (tsri_shape){INPUTS, 1, 1}, outputs, false));
    assert_ok(tsri_store_init(&f->store, f->net, &tsri_backend_ref64, true));
    assert_ok(tsri_store_fill(&f->store, (uint64_t)seed));
    assert_ok(tsri_pool_create(&f->pool, 1));
    assert_ok(tsri_plan_create(&f->plan, &f->store, tsri_device_on(&tsri_backend_ref64, f->pool),
                               BATCH, true));
    tsri_rng rng = tsri_rng_stream((uint64_t)seed, TSRI_FOR_TEST, 1, 0, 0);
    for (int i = 0; i < BATCH * INPUTS; i++)
        f->x[i] = (float)tsri_rng_normal(&rng);
    for (int i = 0; i < BATCH * 3; i++)
        f->target[i] = (float)tsri_rng_normal(&rng);
    for (int i = 0; i < BATCH; i++)
        f->label[i] = (int32_t)tsri_rng_below(&rng, outputs == 1 ? 2 : (uint32_t)outputs);
}

static void tear_down(fixture *f)
{
    tsri_plan_destroy(f->plan);
    tsri_pool_destroy(f->pool);
    tsri_store_fini(&f->store);
    tsri_net_destroy(f->net);
    tsr_config_destroy(f->config);
}

static double mean_loss(void *fixture_)
{
    fixture *f = fixture_;
    tsri_loss loss = {
        .kind = f->kind, .valid = BATCH, .label = f->labels ? f->label : NULL, .target = f->target};
    assert_ok(tsri_plan_forward(f->plan, f->x));
    assert_ok(tsri_plan_loss(f->plan, &loss));
    tsri_tally tally = plan_tally(f->plan);
    return tsri_loss_value(&loss, &tally);
}

static void check(const char *model, const tsri_loss_kind *kind, bool labels, int64_t outputs,
                  int64_t seed)
{
    char what[200];
    fixture f = {.kind = kind, .labels = labels};
    set_up(&f, model, outputs, seed);
    (void)mean_loss(&f);
    assert_ok(tsri_plan_backward(f.plan));
    differences d = {.value = mean_loss, .context = &f};
    (void)snprintf(what, sizeof what, "%s, loss %s", model, kind->name);
    assert_gradient(&d, what, touch(f.store.w), touch(f.store.g), f.net->trained, 1);
    tear_down(&f);
}

static void gradients_are_derivatives(void **state)
{
    (void)state;
    for (int depth = 1; depth <= 8; depth++) {
        char model[100];
        (void)snprintf(model, sizeof model, "model: {name: relu_deep, layers: %d, width: 10}",
                       depth);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            check(model, kinds[k], true, 1, depth);
            check(model, kinds[k], true, 3, depth + 10);
        }
        check(model, &tsri_loss_huber, false, 3, depth);
        check(model, &tsri_loss_cross_entropy, true, 3, depth);
    }
    check("model: {name: relu_deep, hidden: [7, 9, 6]}", &tsri_loss_logistic, true, 1, 1);
}

/* Whatever the list has, losses of docs/extending.md included. */
static void every_loss_has_its_derivative(void **state)
{
    (void)state;
    static const char model[] = "model: {name: relu_deep, layers: 2, width: 10}";
    for (int k = 0; tsri_loss_kinds[k]; k++) {
        const tsri_loss_kind *kind = tsri_loss_kinds[k];
        check(model, kind, true, 3, 40);
        if (!kind->classes && !kind->margin)
            check(model, kind, false, 3, 41);
        print_message("%s\n", kind->name);
    }
}

/* ---- The model ---------------------------------------------------------------------------- */

/* Variance 2/m_l of the layer's own width (4 standard errors of it), v half and half, fixed; a wide
 * net keeps norms: |x_l| = 1 within 4 / sqrt(m) each layer. */
static void starts_as_the_paper_says(void **state)
{
    (void)state;
    tsr_config *config = NULL;
    tsri_net *net = NULL;
    tsri_store store;
    static const char model[] = "model: {name: relu_deep, hidden: [400, 200, 300]}";
    static const int64_t inputs[] = {30, 400, 200}, width[] = {400, 200, 300};
    assert_ok(tsri_config_parse(&config, model, (int64_t)strlen(model), "test"));
    assert_ok(tsri_net_create(&net, config, (tsri_shape){30, 1, 1}, 1, false));
    assert_ok(tsri_store_init(&store, net, &tsri_backend_cpu, false));
    assert_ok(tsri_store_fill(&store, 7));
    assert_int_equal(net->params, 4);
    assert_int_equal(net->trained, 30 * 400 + 400 * 200 + 200 * 300);
    for (int l = 0; l < 3; l++) {
        const tsri_param *p = &net->param[l];
        const float *w = touch(tsri_store_at(&store, store.w, l));
        double squares = 0, want = 2.0 / (double)width[l];
        assert_true(p->shape[0] == width[l] && p->shape[1] == inputs[l]);
        for (int64_t i = 0; i < p->count; i++)
            squares += (double)w[i] * (double)w[i];
        double have = squares / (double)p->count;
        assert_true(fabs(have / want - 1) < 4 * sqrt(2.0 / (double)p->count));
    }
    assert_string_equal(net->param[0].name, "layers.0.weight");
    assert_string_equal(net->param[2].name, "layers.4.weight");
    assert_string_equal(net->param[3].name, "v");
    assert_int_equal(net->param[3].dims, 1);
    assert_true(net->param[3].role == TSRI_FIXED);
    const float *v = touch(tsri_store_at(&store, store.w, 3));
    float sum = 0;
    for (int i = 0; i < 300; i++) {
        assert_true(v[i] == 1 || v[i] == -1);
        sum += v[i];
    }
    assert_true(sum == 0);
    tsri_store_fini(&store);
    tsri_net_destroy(net);
    tsr_config_destroy(config);
}

/* With several outputs every row has halves of its own. */
static void outputs_differ(void **state)
{
    (void)state;
    fixture f = {0};
    set_up(&f, "model: {name: relu_deep, layers: 1, width: 40}", 3, 1);
    const double *v = touch(tsri_store_at(&f.store, f.store.w, 1));
    for (int a = 0; a < 3; a++) {
        double sum = 0, with_next = 0;
        for (int i = 0; i < 40; i++) {
            sum += v[a * 40 + i];
            with_next += v[a * 40 + i] * v[(a + 1) % 3 * 40 + i];
        }
        assert_true(sum == 0 && fabs(with_next) < 40);
    }
    tear_down(&f);
}

static void wrong_widths_are_refused(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"model: {name: relu_deep, hidden: [4, 7]}", "even number of units, not 7"},
        {"model: {name: relu_deep, hidden: []}", "at least one hidden layer"},
        {"model: {name: relu_deep, layers: 2, width: 5}", "even number of units, not 5"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tsr_config *config = NULL;
        tsri_net *net = NULL;
        assert_ok(tsri_config_parse(&config, bad[i][0], (int64_t)strlen(bad[i][0]), "test"));
        assert_fails(tsri_net_create(&net, config, (tsri_shape){3, 1, 1}, 1, false), TSR_USAGE,
                     bad[i][1]);
        tsr_config_destroy(config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(margins_by_hand),
        cmocka_unit_test(far_margins_are_finite_and_right),
        cmocka_unit_test(signs_and_hits),
        cmocka_unit_test(huber_by_hand),
        cmocka_unit_test(sequences_end),
        cmocka_unit_test(gradients_are_derivatives),
        cmocka_unit_test(every_loss_has_its_derivative),
        cmocka_unit_test(starts_as_the_paper_says),
        cmocka_unit_test(outputs_differ),
        cmocka_unit_test(wrong_widths_are_refused),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
