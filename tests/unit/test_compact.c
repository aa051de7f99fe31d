/* A pruned network as a network of its own: it gives the outputs of the whole with the same units
 * masked, and a run file with its widths builds it again. */
#include "share_testing.h"

#include "base/pool.h"
#include "net/plan.h"
#include "net/widths.h"
#include "ticket/prune.h"

#include <math.h>

/* ---- Masked and compact ------------------------------------------------------------------- */

/* The rows that make a unit which goes, its bias and its norm's weight and bias become 0; whoever
 * reads it keeps its numbers, and reads zeros. */
static void mask(tsri_store *s, const tsri_share *share)
{
    const tsri_net *net = s->net;
    for (int64_t i = 0; i < net->params; i++) {
        const tsri_param *p = &net->param[i];
        float *w = tsri_store_at(s, s->w, i);
        if (p->role != TSRI_TRAINED || p->rank == 0 || p->axis[0] < 0 || !share->cut[p->axis[0]])
            continue;
        int64_t each = p->count / p->shape[0];
        for (int64_t j = 0; j < p->count; j++)
            if (share->pick[p->axis[0]].place[j / each] < 0)
                w[tsri_order_place(p, j)] = 0;
    }
}

static void outputs_of(float *out, tsri_store *s, const tsri_backend *backend, tsri_pool *pool,
                       const float *x, int64_t batch)
{
    tsri_plan *plan = NULL;
    assert_ok(tsri_plan_create(&plan, s, backend, pool, batch, false));
    assert_ok(tsri_plan_forward(plan, x));
    memcpy(out, tsri_plan_output(plan), (size_t)(batch * s->net->outputs) * sizeof(float));
    tsri_plan_destroy(plan);
}

/* First weights, with norms and statistics that are not 1 and 0. */
static void make_sound(tsri_store *s, const tsri_net *net)
{
    assert_ok(tsri_store_init(s, net, sizeof(float), false));
    tsri_store_fill(s, 5);
    for (int64_t i = 0; i < net->params; i++) {
        const tsri_param *p = &net->param[i];
        tsri_rng rng = tsri_rng_stream(6, TSRI_FOR_TEST, i, 0, 0);
        float *w = tsri_store_at(s, s->w, i);
        for (int64_t j = 0; p->rank == 1 && p->role != TSRI_FIXED && j < p->count; j++)
            w[j] += tsri_rng_uniform(&rng);
    }
}

static void masked_and_compact_agree(void **state)
{
    enum { BATCH = 3, OUTPUTS = 3 };
    tsri_pool *pool = NULL;
    double worst = 0;
    (void)state;
    assert_ok(tsri_pool_create(&pool, 1));
    for (int n = 0; n < TEST_NETS; n++) {
        const tsri_backend *backend =
            test_nets[n].filters_last ? &tsri_backend_cpu : &tsri_backend_ref;
        tsri_net *net = NULL, *small = NULL;
        tsri_store whole, ticket;
        tsri_share share;
        float x[BATCH * 3 * 32 * 32], a[BATCH * OUTPUTS], b[BATCH * OUTPUTS];
        tsri_prune how = {.ratio = 0.6, .axes = "all"};
        make_net(&net, &test_nets[n]);
        make_sound(&whole, net);
        fill_random(x, BATCH * tsri_shape_count(net->input), n);
        assert_ok(tsri_share_init(&share, net));
        assert_ok(tsri_prune_choose(&share, &whole, &how));
        assert_ok(tsri_net_cut(&small, net, &share, false));
        assert_ok(tsri_store_init(&ticket, small, sizeof(float), false));
        tsri_take(&ticket, &whole, &share, false);
        outputs_of(b, &ticket, backend, pool, x, BATCH);
        mask(&whole, &share);
        outputs_of(a, &whole, backend, pool, x, BATCH);
        double largest = 0, far = 0;
        for (int i = 0; i < BATCH * OUTPUTS; i++) {
            largest = fmax(largest, fabs((double)a[i]));
            far = fmax(far, fabs((double)a[i] - (double)b[i]));
        }
        assert_true(largest > 1e-3);
        worst = fmax(worst, far / largest);
        tsri_share_fini(&share);
        tsri_store_fini(&whole);
        tsri_store_fini(&ticket);
        tsri_net_destroy(net);
        tsri_net_destroy(small);
    }
    print_message("outputs differ by %.1e at most\n", worst);
    /* The same sums with zeros among them, in another order: some hundred roundings of 6e-8 in a
     * sum, through up to 18 layers. A wrong column changes outputs by their own size. */
    assert_true(worst < 1e-5);
    tsri_pool_destroy(pool);
}

/* ---- Widths ------------------------------------------------------------------------------- */

/* The network that a run file with widths describes is the one that cutting makes. */
static void widths_describe_a_cut(void **state)
{
    (void)state;
    for (int n = 0; n < TEST_NETS; n++) {
        tsri_net *net = NULL, *small = NULL, *built = NULL;
        tsri_store store;
        tsri_share share;
        tsri_text widths = {0}, set = {0};
        tsr_config *config = NULL;
        tsri_prune how = {.ratio = 0.4, .axes = "all"};
        make_net(&net, &test_nets[n]);
        make_store(&store, net, n);
        assert_ok(tsri_share_init(&share, net));
        assert_ok(tsri_prune_choose(&share, &store, &how));
        assert_ok(tsri_net_cut(&small, net, &share, false));
        assert_ok(tsri_widths_write(&widths, small));
        assert_ok(tsri_text_add(&set, "model.widths=%s", widths.data));
        assert_ok(tsri_config_parse(&config, test_nets[n].model,
                                    (int64_t)strlen(test_nets[n].model), "test"));
        assert_ok(tsr_config_set(config, set.data));
        assert_ok(tsri_net_create(&built, config, net->input, net->outputs, net->filters_last));
        assert_int_equal(built->total, small->total);
        assert_int_equal(built->trained, small->trained);
        for (int64_t p = 0; p < built->params; p++) {
            assert_string_equal(built->param[p].name, small->param[p].name);
            assert_int_equal(built->param[p].offset, small->param[p].offset);
            for (int d = 0; d < built->param[p].rank; d++)
                assert_int_equal(built->param[p].shape[d], small->param[p].shape[d]);
        }
        for (int64_t a = 0; a < built->axes; a++) {
            assert_int_equal(built->axis[a].size, small->axis[a].size);
            assert_int_equal(built->axis[a].full, net->axis[a].size);
        }
        for (int64_t i = 0; i < built->layers; i++)
            assert_true(built->layer[i].scale == small->layer[i].scale);
        tsri_text_fini(&widths);
        tsri_text_fini(&set);
        tsr_config_destroy(config);
        tsri_share_fini(&share);
        tsri_store_fini(&store);
        tsri_net_destroy(net);
        tsri_net_destroy(small);
        tsri_net_destroy(built);
    }
}

static void bad_widths(void **state)
{
    static const struct {
        const char *widths, *words;
    } bad[] = {
        {"hidden.0=0", "axis hidden.0 is a whole number from 1 to 12, not '0'"},
        {"hidden.0=13", "from 1 to 12, not '13'"},
        {"hidden.0", "from 1 to 12, not ''"},
        {"hidden.0=2.5", "not '2.5'"},
        {"hidden.0=3 hidden.0=4", "hidden.0 is given twice"},
        {"hidden.1=3", "the model has no axis 'hidden.1'"},
        {"output=3", "axis output of the model cannot be cut"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tsr_config *config = NULL;
        tsri_net *net = NULL;
        char set[80];
        (void)snprintf(set, sizeof set, "model.widths=%s", bad[i].widths);
        assert_ok(tsr_config_create(&config));
        assert_ok(tsr_config_set(config, "model.hidden=[12]"));
        assert_ok(tsr_config_set(config, set));
        assert_fails(tsri_net_create(&net, config, (tsri_shape){5, 1, 1}, 3, false), TSR_USAGE,
                     bad[i].words);
        assert_non_null(strstr(tsr_last_error(), "model.widths"));
        tsr_config_destroy(config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masked_and_compact_agree),
        cmocka_unit_test(widths_describe_a_cut),
        cmocka_unit_test(bad_widths),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
