/* The ratio that a target finds is the least that leaves no more than is wanted: counted anew, from
 * the network that it leaves and the one that the next smaller ratio would leave. */
#include "share_testing.h"

#include "ticket/target.h"

#include <math.h>

/* What pruning at this ratio leaves, by the numbers of the network that is cut. */
static double left_at(const tsri_store *store, const tsri_prune *how, double ratio)
{
    tsri_share share;
    tsri_net *small = NULL;
    tsri_prune at = *how;
    double numbers = 0, all = 0;
    at.ratio = ratio;
    assert_ok(tsri_share_init(&share, store->net));
    assert_ok(tsri_prune_choose(&share, store, &at));
    assert_ok(tsri_net_cut(&small, store->net, &share, false));
    for (int64_t p = 0; p < small->params; p++) {
        numbers += (double)small->param[p].count;
        all += (double)store->net->param[p].count;
    }
    double ops = tsri_net_flops(small) / tsri_net_flops(store->net);
    tsri_share_fini(&share);
    tsri_net_destroy(small);
    return how->measure == TSRI_BY_PARAMS ? numbers / all : ops;
}

static void check_least(tsri_store *store, const tsr_config *config, tsri_prune how)
{
    assert_ok(tsri_target_settle(&how, store, config));
    assert_true(how.settled && how.reached <= how.keep);
    assert_true(fabs(left_at(store, &how, how.ratio) - how.reached) < 1e-12);
    assert_true(left_at(store, &how, how.ratio - 1e-4) > how.keep);
    double before = how.ratio;
    assert_ok(tsri_target_settle(&how, store, config)); /* what is settled stays */
    assert_true(how.ratio == before);
}

/* Every model, parameters and operations, one ranking or many, any number of units or tiles. */
static void the_least_ratio(void **state)
{
    static const double keeps[] = {0.75, 0.4};
    int searched = 0, beyond = 0;
    tsr_config *config = NULL;
    (void)state;
    assert_ok(tsr_config_create(&config));
    for (int n = 0; n < TEST_NETS + STREAM_NETS; n++) {
        tsri_net *net = NULL;
        tsri_store store;
        make_net(&net, n < TEST_NETS ? &test_nets[n] : &stream_nets[n - TEST_NETS]);
        make_store(&store, net, n);
        for (int i = 0; i < 16; i++) {
            tsri_prune how = {.measure = i & 1 ? TSRI_BY_OPS : TSRI_BY_PARAMS,
                              .keep = keeps[i >> 1 & 1],
                              .global = i & 4,
                              .round_to = i & 8 ? 3 : 1,
                              .axes = "all"};
            bool reachable = left_at(&store, &how, 0.9999) <= how.keep;
            searched += reachable;
            beyond += !reachable;
            if (reachable)
                check_least(&store, config, how);
            else
                assert_fails(tsri_target_settle(&how, &store, config), TSR_USAGE,
                             "even the smallest ticket has");
        }
        tsri_store_fini(&store);
        tsri_net_destroy(net);
    }
    print_message("%d targets reached, %d out of reach\n", searched, beyond);
    assert_true(searched > 200 && beyond > 0);
    tsr_config_destroy(config);
}

/* Time is measured: of a wide perceptron any machine runs a sliver faster than the whole. */
static void by_time(void **state)
{
    (void)state;
    static const char model[] = "{batch: 32, threads: 1, model: {name: mlp, hidden: [1024, 1024]}}";
    tsr_config *config = NULL;
    tsri_net *net = NULL;
    tsri_store store;
    tsri_prune how = {.measure = TSRI_BY_TIME, .keep = 0.6, .axes = "all"};
    assert_ok(tsri_config_parse(&config, model, (int64_t)strlen(model), "test"));
    assert_ok(tsri_net_create(&net, config, (tsri_shape){64, 1, 1}, 3, true));
    assert_ok(tsri_store_init(&store, net, &tsri_backend_cpu, false));
    assert_ok(tsri_store_fill(&store, 1));
    assert_ok(tsri_target_check(&how, &store, config));
    assert_ok(tsri_target_settle(&how, &store, config));
    assert_true(how.settled && how.ratio > 0 && how.ratio < 1);
    assert_true(how.reached > 0 && how.reached <= how.keep);
    assert_true(how.round_to == 1 || how.round_to == 8);
    how = (tsri_prune){.measure = TSRI_BY_TIME, .keep = 1e-4, .axes = "all"};
    assert_fails(tsri_target_check(&how, &store, config), TSR_USAGE, "of the whole network's time");
    how.keep = 1;
    assert_fails(tsri_target_settle(&how, &store, config), TSR_USAGE, "above 0 and below 1, not 1");
    tsri_store_fini(&store);
    tsri_net_destroy(net);
    tsr_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_ratio),
        cmocka_unit_test(by_time),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
