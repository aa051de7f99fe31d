/* Gates of low rank: the nearest product and its error, words, memory. */
#include "testing.h"

#include "convert/gates.h"
#include "io/config.h"
#include "linalg/lapack.h"

#include <math.h>

static void net_of(tsri_net **net, tsri_store *store, tsr_config **config)
{
    static const char text[] = "model: {name: grelu, width: 24, layers: 2}";
    assert_ok(tsri_config_parse(config, text, (int64_t)strlen(text), "test"));
    assert_ok(tsri_net_create(net, *config, (tsri_shape){5, 1, 1}, 2, true));
    assert_ok(tsri_store_init(store, *net, &tsri_backend_cpu, false));
    assert_ok(tsri_store_fill(store, 3));
}

static double squares(const float *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sum;
}

/* |Psi - P Q|^2 is what the eigenvalues that are left out add up to: the least there is. */
static void nearest(void **state)
{
    (void)state;
    enum { M = 24, R = 7 };
    tsri_net *net = NULL, *low = NULL;
    tsri_store store, few;
    tsr_config *config = NULL;
    tsri_pool *pool = NULL;
    double gram[M * M], value[M], left = 0, off = 0;
    net_of(&net, &store, &config);
    assert_ok(tsri_pool_create(&pool, 2));
    assert_ok(
        tsri_gates_lowrank(&low, &few, &store, config, R, tsri_device_on(&tsri_backend_cpu, pool)));
    const float *psi = touch(tsri_store_at(&store, store.w, tsri_net_param(net, "psi.2.weight")));
    const float *p = touch(tsri_store_at(&few, few.w, tsri_net_param(low, "psi.2.p.weight")));
    const float *q = touch(tsri_store_at(&few, few.w, tsri_net_param(low, "psi.2.q.weight")));
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++) {
            double sum = (double)psi[i * M + j];
            gram[i * M + j] = 0;
            for (int e = 0; e < M; e++)
                gram[i * M + j] += (double)psi[i * M + e] * (double)psi[j * M + e];
            for (int e = 0; e < R; e++)
                sum -= (double)p[i * R + e] * (double)q[e * M + j];
            off += sum * sum;
        }
    assert_ok(tsri_eigenvalues(value, gram, M));
    for (int i = 0; i < M - R; i++)
        left += value[i];
    assert_true(fabs(off - left) < 1e-6 * squares(psi, M * M));
    assert_memory_equal(tsri_store_at(&few, few.w, tsri_net_param(low, "w.1.weight")),
                        tsri_store_at(&store, store.w, tsri_net_param(net, "w.1.weight")),
                        M * M * sizeof(float));
    tsri_store_fini(&few);
    tsri_net_destroy(low);
    tsr_status st = TSR_RESOURCES;
    for (int64_t n = 0; st != TSR_OK; n++) {
        tsri_alloc_fail_after(n, false);
        st = tsri_gates_lowrank(&low, &few, &store, config, R,
                                tsri_device_on(&tsri_backend_cpu, pool));
        tsri_alloc_fail_after(-1, false);
        assert_true(st == TSR_OK || st == TSR_RESOURCES);
        tsri_store_fini(&few);
        tsri_net_destroy(low);
    }
    assert_fails(
        tsri_gates_lowrank(&low, &few, &store, config, M, tsri_device_on(&tsri_backend_cpu, pool)),
        TSR_USAGE, "width 24");
    tsri_pool_destroy(pool);
    tsri_store_fini(&store);
    tsri_net_destroy(net);
    tsr_config_destroy(config);
}

static void words(void **state)
{
    (void)state;
    int64_t rank = -1;
    assert_ok(tsri_gates_parse(&rank, "exact"));
    assert_int_equal(rank, 0);
    assert_ok(tsri_gates_parse(&rank, "lowrank:12"));
    assert_int_equal(rank, 12);
    static const char *const bad[] = {"",          "lowrank",    "lowrank:", "lowrank:-3",
                                      "lowrank:0", "lowrank:3x", "exactly",  "12"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(tsri_gates_parse(&rank, bad[i]), TSR_USAGE, "exact or lowrank:R");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nearest), cmocka_unit_test(words)};
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
