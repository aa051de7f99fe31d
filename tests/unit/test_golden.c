/* Ten training steps against PyTorch's, every parameter and running statistic, on ref and cpu. The
 * numbers in tests/golden/ were made by make_mlp.py there. */
#include "plan_testing.h"

#include "net/plan.h"

#include <math.h>

typedef struct golden {
    const char *file, *model;
    const tsri_loss_kind *loss;
    double rate, momentum, decay;
    bool nesterov;
} golden;

static const golden goldens[] = {
    {"tests/golden/mlp-norm.safetensors", "model: {name: mlp, hidden: [24, 17, 9], norm: batch}",
     &tsri_loss_cross_entropy, 0.05, 0.9, 5e-4, false},
    {"tests/golden/mlp-nesterov.safetensors", "model: {name: mlp, hidden: [20, 11]}",
     &tsri_loss_cross_entropy, 0.05, 0.9, 0, true},
    {"tests/golden/mlp-mse.safetensors",
     "model: {name: mlp, hidden: [13], norm: batch, bias: false}", &tsri_loss_mse, 0.1, 0, 0,
     false},
};

static void train(const golden *g, tsri_store *store, const tsri_tensors *file,
                  const tsri_backend *backend, tsri_pool *pool)
{
    const tsri_tensor *x = tsri_tensors_find(file, "x");
    const tsri_tensor *label = tsri_tensors_find(file, "label");
    const tsri_tensor *target = tsri_tensors_find(file, "target");
    int64_t steps = x->shape[0], batch = x->shape[1], inputs = x->shape[2];
    tsri_plan *plan = NULL;
    assert_ok(tsri_plan_create(&plan, store, tsri_device_on(backend, pool), batch, true));
    for (int64_t s = 0; s < steps; s++) {
        tsri_loss loss = {.kind = g->loss, .valid = batch};
        if (label)
            loss.label = (const int32_t *)label->data + s * batch;
        else
            loss.target = (const float *)target->data + s * batch * store->net->outputs;
        assert_ok(tsri_plan_forward(plan, (const float *)x->data + s * batch * inputs));
        assert_ok(tsri_plan_loss(plan, &loss));
        assert_ok(tsri_plan_backward(plan));
        tsri_optim rule = {.momentum = g->momentum, .decay = g->decay, .nesterov = g->nesterov};
        update_once(&rule, store, tsri_device_on(backend, pool), g->rate);
    }
    tsri_plan_destroy(plan);
}

/* 1e-5 of the tensor's largest number: ten steps of f32 arithmetic in another order. */
static void compare(const golden *g, const tsri_store *store, const tsri_tensors *file,
                    const char *backend)
{
    for (int64_t p = 0; p < store->net->params; p++) {
        const tsri_param *param = &store->net->param[p];
        char name[2 * TSRI_NAME];
        (void)snprintf(name, sizeof name, "final.%s", param->name);
        const tsri_tensor *want = tsri_tensors_find(file, name);
        assert_non_null(want);
        const float *got = touch(tsri_store_at(store, store->w, p));
        if (param->role == TSRI_COUNT) {
            assert_true((double)got[0] == (double)*(const int64_t *)want->data);
            continue;
        }
        const float *w = want->data;
        double largest = 0;
        for (int64_t i = 0; i < param->count; i++)
            largest = fmax(largest, fabs((double)w[i]));
        for (int64_t i = 0; i < param->count; i++)
            if (!(fabs((double)got[i] - (double)w[i]) <= 1e-5 * largest))
                fail_msg("%s on %s: %s[%lld] = %.9g, PyTorch has %.9g", g->file, backend,
                         param->name, (long long)i, (double)got[i], (double)w[i]);
    }
}

static void ten_steps_equal_pytorchs(void **state)
{
    (void)state;
    const tsri_backend *backends[] = {&tsri_backend_ref, &tsri_backend_cpu};
    tsri_pool *pool = NULL;
    assert_ok(tsri_pool_create(&pool, 2));
    assert_ok(tsri_backend_cpu.start(2));
    for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++)
        for (int b = 0; b < 2; b++) {
            const golden *g = &goldens[i];
            tsri_tensors *file = NULL;
            tsr_config *config = NULL;
            tsri_net *net = NULL;
            tsri_store store;
            assert_ok(tsri_tensors_read(&file, g->file));
            assert_ok(tsri_config_parse(&config, g->model, (int64_t)strlen(g->model), "test"));
            assert_ok(
                tsri_net_create(&net, config, (tsri_shape){12, 1, 1}, 5, backends[b]->can.filters));
            assert_ok(tsri_store_init(&store, net, &tsri_backend_cpu, true));
            assert_ok(tsri_store_load(&store, file, "init.", g->file));
            train(g, &store, file, backends[b], pool);
            compare(g, &store, file, backends[b]->name);
            tsri_store_fini(&store);
            tsri_net_destroy(net);
            tsr_config_destroy(config);
            tsri_tensors_destroy(file);
        }
    tsri_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ten_steps_equal_pytorchs)};
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
