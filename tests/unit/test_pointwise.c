/* Every kind that is pointwise, those of docs/extending.md included: gradients are derivatives, and
 * every backend computes the same. What is tested follows from the rows (backend/op.h). */
#include "testing.h"
#include "gradient_testing.h"
#include "plan_testing.h"

#include "base/rng.h"

enum { BATCH = 4, INPUTS = 5, OUTPUTS = 3, SIDE = 4, CHANNELS = 3 };

static tsri_kind kind; /* that is tested: builders have no context */

/* ---- Derivatives --------------------------------------------------------------------------- */

static tsr_status between_linear_layers(tsri_net *net)
{
    tsr_status st = TSR_OK;
    int v = 0, axis;
    TSR_TRY(tsri_net_axis(net, &axis, 7, true, "hidden"));
    TSR_TRY(tsri_net_linear(net, &v, v, axis, true, 2, "a"));
    TSR_TRY(tsri_net_pointwise(net, &v, v, kind, "b"));
    TSR_TRY(tsri_net_axis(net, &axis, net->outputs, false, "output"));
    TSR_TRY(tsri_net_linear(net, &v, v, axis, true, 1, "c"));
done:
    return st;
}

typedef struct fixture {
    tsri_plan *plan;
    float x[BATCH * INPUTS], target[BATCH * OUTPUTS];
} fixture;

static double squares(void *context)
{
    fixture *f = context;
    tsri_loss loss = {.kind = &tsri_loss_mse, .valid = BATCH, .target = f->target};
    assert_ok(tsri_plan_forward(f->plan, f->x));
    assert_ok(tsri_plan_loss(f->plan, &loss));
    tsri_tally tally = plan_tally(f->plan);
    return tsri_loss_value(&loss, &tally);
}

static void check_derivative(void)
{
    tsr_config *config = NULL;
    tsri_net *net = NULL;
    tsri_store store;
    tsri_pool *pool = NULL;
    fixture f = {0};
    tsri_rng rng = tsri_rng_stream(3, TSRI_FOR_TEST, 1, 0, 0);
    for (int i = 0; i < BATCH * INPUTS; i++)
        f.x[i] = (float)tsri_rng_normal(&rng);
    for (int i = 0; i < BATCH * OUTPUTS; i++)
        f.target[i] = (float)tsri_rng_normal(&rng);
    assert_ok(tsri_config_parse(&config, "seed: 1\n", 8, "test"));
    assert_ok(tsri_net_build(&net, config, (tsri_shape){INPUTS, 1, 1}, OUTPUTS, false,
                             between_linear_layers));
    assert_ok(tsri_store_init(&store, net, &tsri_backend_ref64, true));
    assert_ok(tsri_store_fill(&store, 5));
    assert_ok(tsri_pool_create(&pool, 1));
    assert_ok(
        tsri_plan_create(&f.plan, &store, tsri_device_on(&tsri_backend_ref64, pool), BATCH, true));
    (void)squares(&f);
    assert_ok(tsri_plan_backward(f.plan));
    differences d = {.value = squares, .context = &f};
    assert_gradient(&d, tsri_kind_name(kind), touch(store.w), touch(store.g), net->trained, 1);
    tsri_plan_destroy(f.plan);
    tsri_pool_destroy(pool);
    tsri_store_fini(&store);
    tsri_net_destroy(net);
    tsr_config_destroy(config);
}

static void gradients_are_derivatives(void **state)
{
    (void)state;
    int found = 0;
    for (kind = 0; kind < TSRI_OP_KINDS; kind++)
        if (tsri_kind_of(kind)->pointwise) {
            check_derivative();
            found++;
        }
    assert_true(found > 0);
    print_message("%d pointwise kinds\n", found);
}

/* ---- Backends ------------------------------------------------------------------------------- */

enum { NUMBERS = BATCH * CHANNELS * SIDE * SIDE };

typedef struct numbers {
    float x[NUMBERS], y[NUMBERS], dx[NUMBERS], dy[NUMBERS];
} numbers;

/* Forward and backward; `again`: dx is added to. */
static void run_on(numbers *n, const tsri_backend *backend, bool again)
{
    tsri_pool *pool = NULL;
    tsri_shape shape = {CHANNELS, SIDE, SIDE};
    assert_ok(tsri_pool_create(&pool, 1));
    tsri_op op = {.kind = kind,
                  .n = BATCH,
                  .in = shape,
                  .out = shape,
                  .training = true,
                  .need_dx = true,
                  .dx_add = again,
                  .x = n->x,
                  .y = n->y,
                  .dx = n->dx,
                  .dy = n->dy,
                  .pool = pool};
    assert_ok(tsri_op_setup(&op, backend));
    assert_int_equal(op.saved_bytes + op.scratch_bytes, 0);
    assert_ok(op.kernel->forward(&op));
    assert_ok(op.kernel->backward(&op));
    tsri_op_teardown(&op);
    tsri_pool_destroy(pool);
}

static void backends_agree_to_the_bit(void **state)
{
    (void)state;
    tsri_rng rng = tsri_rng_stream(4, TSRI_FOR_TEST, 1, 0, 0);
    for (kind = 0; kind < TSRI_OP_KINDS; kind++) {
        for (int again = 0; tsri_kind_of(kind)->pointwise && again < 2; again++) {
            numbers a = {0}, b;
            for (int i = 0; i < NUMBERS; i++) {
                a.x[i] = (float)tsri_rng_normal(&rng);
                a.dy[i] = (float)tsri_rng_normal(&rng);
                a.dx[i] = (float)tsri_rng_normal(&rng);
            }
            b = a;
            run_on(&a, &tsri_backend_ref, again);
            run_on(&b, &tsri_backend_cpu, again);
            assert_memory_equal(a.y, b.y, sizeof a.y);
            assert_memory_equal(a.dx, b.dx, sizeof a.dx);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_derivatives),
        cmocka_unit_test(backends_agree_to_the_bit),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
