/* A pruned network as a network of its own: it gives the outputs of the whole with the same units
 * masked, and a run file with its widths builds it again. */
#include "share_testing.h"
#include "plan_testing.h"

#include "base/alloc.h"
#include "base/pool.h"
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
        float *w = touch(tsri_store_at(s, s->w, i));
        if (p->role != TSRI_TRAINED || p->dims == 0 || p->axis[0] < 0 || !share->cut[p->axis[0]])
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
    assert_ok(tsri_plan_create(&plan, s, tsri_device_on(backend, pool), batch, false));
    assert_ok(tsri_plan_forward(plan, x));
    memcpy(out, plan_outputs(plan), (size_t)(batch * s->net->outputs) * sizeof(float));
    tsri_plan_destroy(plan);
}

/* First weights, with norms and statistics that are not 1 and 0. */
static void make_sound(tsri_store *s, const tsri_net *net)
{
    assert_ok(tsri_store_init(s, net, &tsri_backend_cpu, false));
    assert_ok(tsri_store_fill(s, 5));
    for (int64_t i = 0; i < net->params; i++) {
        const tsri_param *p = &net->param[i];
        tsri_rng rng = tsri_rng_stream(6, TSRI_FOR_TEST, i, 0, 0);
        float *w = touch(tsri_store_at(s, s->w, i));
        for (int64_t j = 0; p->dims == 1 && p->role != TSRI_FIXED && j < p->count; j++)
            w[j] += tsri_rng_uniform(&rng);
    }
}

/* What many comparisons have shown. */
typedef struct outcome {
    double worst;
    int alive, all; /* comparisons: with outputs other than 0, and in all */
} outcome;

/* The network with these units alone, and the whole with all others at 0: how far their outputs are
 * apart, in parts of the largest. Of few units all can be dead: then both give 0. */
static double apart(outcome *seen, tsri_store *whole, const tsri_share *share,
                    const tsri_backend *backend, tsri_pool *pool)
{
    enum { BATCH = 2, OUTPUTS = 3 };
    const tsri_net *net = whole->net;
    tsri_net *small = NULL;
    tsri_store ticket;
    float *x = NULL, a[BATCH * OUTPUTS], b[BATCH * OUTPUTS];
    int64_t inputs = BATCH * tsri_shape_count(net->input);
    double largest = 0, far = 0;
    assert_ok(tsri_alloc(&x, inputs, sizeof *x));
    fill_random(x, inputs, 1);
    assert_ok(tsri_net_cut(&small, net, share, false));
    assert_ok(tsri_store_init(&ticket, small, &tsri_backend_cpu, false));
    assert_ok(tsri_take(&ticket, whole, share, false));
    outputs_of(b, &ticket, backend, pool, x, BATCH);
    mask(whole, share);
    outputs_of(a, whole, backend, pool, x, BATCH);
    for (int i = 0; i < BATCH * OUTPUTS; i++) {
        largest = fmax(largest, fabs((double)a[i]));
        far = fmax(far, fabs((double)a[i] - (double)b[i]));
    }
    seen->alive += largest > 1e-3;
    seen->all++;
    tsri_free(x);
    tsri_store_fini(&ticket);
    tsri_net_destroy(small);
    return far / fmax(largest, 1e-3);
}

/* The same sums with zeros among them, in another order: some hundred roundings of 6e-8 in a sum,
 * through up to 50 layers. A wrong column changes outputs by their own size. */
static const double rounding = 1e-5;

/* All models of the tests and, of 224 pixels, a VGG of torchvision's. */
static const test_net *net_of(int n)
{
    static const test_net vgg = {"model: {name: vgg16_bn, width: 2}", {3, 224, 224}, true};
    return n < TEST_NETS                 ? &test_nets[n]
           : n < TEST_NETS + STREAM_NETS ? &stream_nets[n - TEST_NETS]
                                         : &vgg;
}
enum { ALL_NETS = TEST_NETS + STREAM_NETS + 1 };

/* Cuts the network by `choose` and compares, `times` times. */
static void compare(int n, tsr_status (*choose)(tsri_share *, const tsri_store *, int), int times,
                    outcome *seen)
{
    const test_net *t = net_of(n);
    const tsri_backend *backend = t->filters == TSRI_HWIO ? &tsri_backend_cpu : &tsri_backend_ref;
    if (t->filters == TSRI_OHWI)
        return;
    tsri_pool *pool = NULL;
    assert_ok(tsri_pool_create(&pool, 1));
    for (int i = 0; i < times; i++) {
        tsri_net *net = NULL;
        tsri_store whole;
        tsri_share share;
        make_net(&net, t);
        make_sound(&whole, net);
        assert_ok(tsri_share_init(&share, net));
        assert_ok(choose(&share, &whole, i));
        double far = apart(seen, &whole, &share, backend, pool);
        if (far >= rounding)
            fail_msg("%s, case %d: outputs differ by %.1e", t->model, i, far);
        seen->worst = fmax(seen->worst, far);
        tsri_share_fini(&share);
        tsri_store_fini(&whole);
        tsri_net_destroy(net);
    }
    tsri_pool_destroy(pool);
}

static tsr_status by_axes(tsri_share *share, const tsri_store *store, int i)
{
    static const char *const axes[] = {"inner", "all"};
    tsri_prune how = {.ratio = 0.6, .axes = axes[i]};
    return tsri_prune_choose(share, store, &how);
}

static void masked_and_compact_agree(void **state)
{
    outcome seen = {0};
    (void)state;
    for (int n = 0; n < ALL_NETS; n++)
        compare(n, by_axes, 2, &seen);
    print_message("outputs differ by %.1e at most, %d of %d alive\n", seen.worst, seen.alive,
                  seen.all);
    assert_int_equal(seen.alive, seen.all);
}

/* Some axes lose units by chance, any number of them, any which. */
static tsr_status by_dice(tsri_share *share, const tsri_store *store, int i)
{
    const tsri_net *net = store->net;
    tsri_rng rng = tsri_rng_stream((uint64_t)i, TSRI_FOR_TEST, net->total, 0, 0);
    for (int64_t a = 0; a < net->axes; a++) {
        int64_t size = net->axis[a].size, order[512],
                keep = 1 + (int64_t)tsri_rng_below(&rng, (uint32_t)size);
        assert_true(size <= 512);
        tsri_rng_permutation(&rng, order, size);
        if (tsri_axis_prunable(&net->axis[a]) && tsri_rng_below(&rng, 2))
            assert_ok(tsri_share_give(share, a, order, keep));
    }
    return TSR_OK;
}

static void any_cut_agrees(void **state)
{
    outcome seen = {0};
    (void)state;
    for (int n = 0; n < ALL_NETS - 1; n++)
        compare(n, by_dice, 6, &seen);
    print_message("outputs differ by %.1e at most, %d of %d alive\n", seen.worst, seen.alive,
                  seen.all);
    assert_true(seen.alive > seen.all * 3 / 4);
}

/* ---- Widths ------------------------------------------------------------------------------- */

/* The network that a run file with widths describes is the one that cutting makes. */
static void widths_describe_a_cut(void **state)
{
    (void)state;
    for (int n = 0; n < ALL_NETS; n++) {
        tsri_net *net = NULL, *small = NULL, *built = NULL;
        tsri_store store;
        tsri_share share;
        tsri_text widths = {0}, set = {0};
        tsr_config *config = NULL;
        tsri_prune how = {.ratio = 0.4, .axes = "all"};
        make_net(&net, net_of(n));
        make_store(&store, net, n);
        assert_ok(tsri_share_init(&share, net));
        assert_ok(tsri_prune_choose(&share, &store, &how));
        assert_ok(tsri_net_cut(&small, net, &share, false));
        assert_ok(tsri_widths_write(&widths, small));
        assert_ok(tsri_text_add(&set, "model.widths=%s", widths.data));
        assert_ok(tsri_config_parse(&config, net_of(n)->model, (int64_t)strlen(net_of(n)->model),
                                    "test"));
        assert_ok(tsr_config_set(config, set.data));
        assert_ok(tsri_net_create(&built, config, net->input, net->outputs, net->filters));
        assert_int_equal(built->total, small->total);
        assert_int_equal(built->trained, small->trained);
        for (int64_t p = 0; p < built->params; p++) {
            assert_string_equal(built->param[p].name, small->param[p].name);
            assert_int_equal(built->param[p].offset, small->param[p].offset);
            for (int d = 0; d < built->param[p].dims; d++)
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
        cmocka_unit_test(any_cut_agrees),
        cmocka_unit_test(widths_describe_a_cut),
        cmocka_unit_test(bad_widths),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
