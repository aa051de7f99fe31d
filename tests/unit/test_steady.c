/* Plans that only predict, of weights that stay as they are: laid out once, by the first plan, for
 * all others. On the backend that is tested (backend_testing.h). */
#include "backend_testing.h"
#include "share_testing.h"

#include "base/alloc.h"
#include "base/pool.h"

#include <math.h>

enum { OUTPUTS = 3 };

typedef struct pair {
    tsri_net *net;
    tsri_store store;
    tsri_pool *pool;
    tsri_plan *first, *second, *plain; /* the second reads what the first has laid out */
    float *x;
} pair;

/* Odd widths lie otherwise than products want them. */
static const struct {
    const char *text;
    tsri_shape input;
} networks[] = {
    {"model: {name: mlp, hidden: [160, 133]}\n", {150, 1, 1}},
    {"model: {name: vgg11, width: 4}\n", {3, 10, 10}},
    {"model: {name: preresnet18, width: 3}\n", {3, 9, 9}},
    {"model: {name: rnn, width: 12}\n", {5, 6, 1}},
};
enum { NETWORKS = sizeof networks / sizeof *networks };

static void make(pair *p, int network, bool bf16)
{
    const tsri_backend *backend = tested_backend();
    tsr_config *config = NULL;
    const char *text = networks[network].text;
    int64_t dim = tsri_shape_count(networks[network].input);
    *p = (pair){0};
    assert_ok(tsri_pool_create(&p->pool, 1));
    assert_ok(tsri_config_parse(&config, text, (int64_t)strlen(text), "test"));
    assert_ok(tsr_config_set(config, bf16 ? "precision=bf16" : "precision=f32"));
    assert_ok(tsri_net_create(&p->net, config, networks[network].input, OUTPUTS * 6,
                              backend->can.filters));
    tsr_config_destroy(config);
    assert_ok(tsri_store_init(&p->store, p->net, backend, false));
    assert_ok(tsri_store_fill(&p->store, 1));
    tsri_device device = tsri_device_on(backend, p->pool);
    assert_ok(tsri_plan_create_steady(&p->first, &p->store, device, 1, NULL));
    assert_ok(tsri_plan_create_steady(&p->second, &p->store, device, 1, p->first));
    assert_ok(tsri_plan_create(&p->plain, &p->store, device, 1, false));
    assert_ok(tsri_alloc(&p->x, dim, sizeof *p->x));
    fill_random(p->x, dim, 3);
}

static void destroy(pair *p)
{
    tsri_free(p->x);
    tsri_plan_destroy(p->plain);
    tsri_plan_destroy(p->second);
    tsri_plan_destroy(p->first);
    tsri_store_fini(&p->store);
    tsri_net_destroy(p->net);
    tsri_pool_destroy(p->pool);
}

static void ask(float y[OUTPUTS * 6], tsri_plan *plan, const float *x)
{
    assert_ok(tsri_plan_forward(plan, x));
    assert_ok(tsri_plan_read_output(y, plan, 1));
}

/* The sums of an ordinary plan may come in another order. */
static void compare(const float *got, const float *want, const float *plain, const char *text)
{
    float largest = 0;
    for (int i = 0; i < OUTPUTS * 6; i++)
        largest = fmaxf(largest, fabsf(plain[i]));
    for (int i = 0; i < OUTPUTS * 6; i++)
        if (!(got[i] <= want[i] && got[i] >= want[i] &&
              fabsf(got[i] - plain[i]) <= 1e-5f * largest))
            fail_msg("%s: output %d is %.9g, the first plan has %.9g, an ordinary one %.9g", text,
                     i, (double)got[i], (double)want[i], (double)plain[i]);
}

static void check(int network, bool bf16)
{
    pair p;
    float want[OUTPUTS * 6], plain[OUTPUTS * 6], got[OUTPUTS * 6];
    make(&p, network, bf16);
    ask(want, p.first, p.x);
    ask(plain, p.plain, p.x);
    ask(got, p.second, p.x);
    compare(got, want, plain, networks[network].text);
    assert_ok(tsri_plan_renew(&p.second));
    ask(got, p.second, p.x);
    compare(got, want, plain, networks[network].text);
    destroy(&p);
}

static void both_give_the_same(void **state)
{
    (void)state;
    for (int k = 0; k < NETWORKS; k++) {
        check(k, false);
        if (tested_bf16(tested_backend()))
            check(k, true);
    }
}

/* Kernels ask `packed_bytes` what they are to read, and memory is taken for it once. */
static void ops_know_what_they_read(void **state)
{
    (void)state;
    for (int k = 0; k < NETWORKS; k++) {
        pair p;
        int64_t shared = 0;
        make(&p, k, false);
        for (int64_t i = 0; i < tsri_plan_ops(p.first); i++) {
            const tsri_op *a = tsri_plan_op(p.first, i, NULL), *b = tsri_plan_op(p.second, i, NULL);
            assert_int_equal(a->packed_bytes, b->packed_bytes);
            assert_true(a->packed_bytes == 0 || a->packed == b->packed);
            shared += a->packed_bytes;
        }
        assert_true(tsri_plan_bytes(p.first) - tsri_plan_bytes(p.second) >= shared);
        if (k == 0 && tested_backend() == &tsri_backend_cpu)
            assert_int_equal(shared, (150 + 133) * 160 * (int64_t)sizeof(float));
        destroy(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_know_what_they_read),
        cmocka_unit_test(both_give_the_same),
    };
    filter_tests();
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
