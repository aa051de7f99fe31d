/* Gradients of whole networks on ref in double against central differences, for every layer kind
 * and loss; and the plan's own promises: fused = not fused, no allocation while it runs. */
#include "gradient_testing.h"

#include "base/rng.h"
#include "net/arena.h"
#include "plan_testing.h"

enum { BATCH = 6, INPUTS = 5, OUTPUTS = 3 };

typedef struct fixture {
    tsr_config *config;
    tsri_net *net;
    tsri_store store;
    tsri_pool *pool;
    tsri_plan *plan;
    float x[BATCH * INPUTS], target[BATCH * OUTPUTS];
    int32_t label[BATCH];
    const tsri_loss_kind *kind;
    bool labels; /* or targets */
    int64_t valid;
} fixture;

static void set_up(fixture *f, const char *model, const tsri_backend *backend, int64_t seed)
{
    assert_ok(tsri_config_parse(&f->config, model, (int64_t)strlen(model), "test"));
    assert_ok(tsri_net_create(&f->net, f->config, (tsri_shape){INPUTS, 1, 1}, OUTPUTS,
                              backend->can.filters));
    assert_ok(tsri_store_init(&f->store, f->net, backend, true));
    assert_ok(tsri_store_fill(&f->store, (uint64_t)seed));
    assert_ok(tsri_pool_create(&f->pool, 1));
    assert_ok(tsri_plan_create(&f->plan, &f->store, tsri_device_on(backend, f->pool), BATCH, true));
    tsri_rng rng = tsri_rng_stream((uint64_t)seed, TSRI_FOR_TEST, 0, 0, 0);
    for (int i = 0; i < BATCH * INPUTS; i++)
        f->x[i] = (float)tsri_rng_normal(&rng);
    for (int i = 0; i < BATCH * OUTPUTS; i++)
        f->target[i] = (float)tsri_rng_normal(&rng);
    for (int i = 0; i < BATCH; i++)
        f->label[i] = (int32_t)tsri_rng_below(&rng, OUTPUTS);
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
    tsri_loss loss = {.kind = f->kind,
                      .valid = f->valid,
                      .label = f->labels ? f->label : NULL,
                      .target = f->target};
    assert_ok(tsri_plan_forward(f->plan, f->x));
    assert_ok(tsri_plan_loss(f->plan, &loss));
    return plan_tally(f->plan).sum / (double)f->valid;
}

static void check_gradients(const char *model, const tsri_loss_kind *kind, bool labels,
                            int64_t valid, int64_t seed)
{
    fixture f = {.kind = kind, .labels = labels, .valid = valid};
    set_up(&f, model, &tsri_backend_ref64, seed);
    differences d = {.value = mean_loss, .context = &f};
    (void)mean_loss(&f);
    assert_ok(tsri_plan_backward(f.plan));
    assert_gradient(&d, model, touch(f.store.w), touch(f.store.g), f.net->trained, 1);
    tear_down(&f);
}

static void gradients_are_derivatives(void **state)
{
    (void)state;
    static const char *const models[] = {
        "model: {name: mlp, hidden: []}",
        "model: {name: mlp, hidden: [7]}",
        "model: {name: mlp, hidden: [7, 4], bias: false}",
        "model: {name: mlp, hidden: [7, 4, 6]}",
        "model: {name: mlp, hidden: [8], norm: batch}",
        "model: {name: mlp, hidden: [8, 5, 9], norm: batch, bias: false}",
    };
    for (size_t m = 0; m < sizeof models / sizeof *models; m++)
        for (int64_t seed = 1; seed <= 3; seed++) {
            check_gradients(models[m], &tsri_loss_cross_entropy, true, BATCH, seed);
            check_gradients(models[m], &tsri_loss_mse, false, BATCH, seed);
            check_gradients(models[m], &tsri_loss_mse, true, BATCH, seed);
            check_gradients(models[m], &tsri_loss_cross_entropy, true, BATCH - 2, seed);
        }
}

/* The loss worked by hand, and finite at outputs where a naive softmax overflows. */
static void losses_by_hand(void **state)
{
    (void)state;
    float x[] = {0, 0, 1000, -1000}, dx[4], target[] = {1, 0, 0, 0};
    int32_t label[] = {1, 1};
    tsri_loss l = {.kind = &tsri_loss_cross_entropy,
                   .n = 2,
                   .valid = 2,
                   .outputs = 2,
                   .x = x,
                   .label = label,
                   .dx = dx};
    tsri_tally tally = tally_on(&tsri_backend_ref, &l);
    assert_true(fabs(tally.sum - (log(2.0) + 2000)) < 1e-9);
    assert_true(dx[0] == 0.25f && dx[1] == -0.25f && dx[2] == 0.5f && dx[3] == -0.5f);
    assert_int_equal(tally.hits, 0);
    l = (tsri_loss){.kind = &tsri_loss_mse,
                    .n = 2,
                    .valid = 1,
                    .outputs = 2,
                    .x = x,
                    .target = target,
                    .dx = dx};
    assert_true(tally_on(&tsri_backend_ref, &l).sum == 0.5);
    assert_true(dx[0] == -1.0f && dx[1] == 0 && dx[2] == 0 && dx[3] == 0);
}

/* After the plan is made, a step takes no memory. */
static void steps_allocate_nothing(void **state)
{
    (void)state;
    fixture f = {.kind = &tsri_loss_cross_entropy, .labels = true, .valid = BATCH};
    assert_ok(tsri_backend_cpu.start(1));
    set_up(&f, "model: {name: mlp, hidden: [300, 200], norm: batch}", &tsri_backend_cpu, 1);
    tsri_optimiser o = {0};
    const tsri_optim rule = {.momentum = 0.9};
    assert_ok(tsri_optimiser_init(&o, &rule, &f.store, tsri_plan_device(f.plan)));
    (void)tsri_alloc_fail_after(0, true);
    for (int i = 0; i < 3; i++) {
        (void)mean_loss(&f);
        assert_ok(tsri_plan_backward(f.plan));
        assert_ok(tsri_optimiser_set(&o, 0.1, i));
        assert_ok(tsri_optimiser_step(&o));
    }
    assert_int_equal(tsri_alloc_fail_after(-1, false), 0);
    assert_true(tsri_plan_bytes(f.plan) < tsri_plan_bytes_unshared(f.plan));
    tsri_optimiser_fini(&o);
    tear_down(&f);
}

/* Random lifetimes: no two buffers that live together overlap. */
static void arena_never_overlaps(void **state)
{
    (void)state;
    for (int64_t t = 0; t < 200; t++) {
        tsri_rng rng = tsri_rng_stream(5, TSRI_FOR_TEST, 0, t, 0);
        tsri_buffer b[40];
        int64_t total, sum = 0;
        for (int i = 0; i < 40; i++) {
            int64_t born = tsri_rng_below(&rng, 30);
            b[i] = (tsri_buffer){.bytes = tsri_rng_below(&rng, 1000),
                                 .born = born,
                                 .dies = born + tsri_rng_below(&rng, 10)};
            sum += b[i].bytes + 64;
        }
        assert_ok(tsri_arena_pack(b, 40, &total));
        assert_true(total <= sum);
        for (int i = 0; i < 40; i++) {
            assert_true(b[i].offset % 64 == 0 && b[i].offset + b[i].bytes <= total);
            for (int j = 0; j < i; j++)
                if (b[i].born <= b[j].dies && b[j].born <= b[i].dies)
                    assert_true(b[i].offset + b[i].bytes <= b[j].offset ||
                                b[j].offset + b[j].bytes <= b[i].offset);
        }
    }
}

static void norm_refuses_single_samples(void **state)
{
    (void)state;
    fixture f = {0};
    set_up(&f, "model: {name: mlp, hidden: [8], norm: batch}", &tsri_backend_ref, 1);
    tsri_plan *plan = NULL;
    assert_fails(
        tsri_plan_create(&plan, &f.store, tsri_device_on(&tsri_backend_ref, f.pool), 1, true),
        TSR_USAGE, "batch: 2 or more");
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_derivatives),   cmocka_unit_test(losses_by_hand),
        cmocka_unit_test(steps_allocate_nothing),      cmocka_unit_test(arena_never_overlaps),
        cmocka_unit_test(norm_refuses_single_samples),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
