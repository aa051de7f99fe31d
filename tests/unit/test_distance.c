/* The filter distance against values worked by hand, its rule for pruned lists, masks; and models
 * against each other: a network and itself, its ticket, and networks of another kind. */
#include "scratch.h"
#include "share_testing.h"

#include "run/score_log.h"
#include "scheme/rules.h"
#include "subnet/distance.h"
#include "ticket/compare.h"
#include "ticket/prune.h"

#include <math.h>

/* Sums of a few terms in double: a few roundings of 1e-16. */
#define assert_near(a, b) assert_true(fabs((a) - (b)) <= 1e-14 * (1 + fabs(b)))

static double between(const int64_t *a, int64_t n, const int64_t *b, int64_t l, int64_t all)
{
    int64_t place[64];
    tsri_places_of(place, all, b, l);
    return tsri_filter_distance(a, n, place, l);
}

static void by_hand(void **state)
{
    (void)state;
    const int64_t a[] = {3, 1, 0, 2}, swapped[] = {1, 3, 0, 2}, reversed[] = {2, 0, 1, 3};
    assert_true(between(a, 4, a, 4, 4) == 0);
    /* Ranks 1 and 2 change places: 1/1 |ln 1 - ln 2| + 1/2 |ln 2 - ln 1| = 3/2 ln 2. */
    assert_near(between(a, 4, swapped, 4, 4), 1.5 * log(2));
    /* 1 |0 - ln 4| + 1/2 |ln 2 - ln 3| + 1/3 |ln 3 - ln 2| + 1/4 |ln 4 - 0|. */
    double want = 1.25 * log(4) + 5.0 / 6 * log(1.5);
    assert_near(between(a, 4, reversed, 4, 4), want);
    assert_near(tsri_filter_distance_reversed(4), want);
    assert_true(tsri_filter_distance_reversed(1) == 0);
}

/* What reports call by chance: a filter is as often at one place as at another. */
static void a_ranking_by_chance(void **state)
{
    (void)state;
    for (int64_t n = 16; n <= 512; n *= 2) {
        double sum = 0;
        for (int64_t i = 1; i <= n; i++)
            for (int64_t j = 1; j <= n; j++)
                sum += fabs(log((double)i) - log((double)j)) / (double)(i * n);
        assert_in_range((int64_t)(100 * sum / tsri_filter_distance_reversed(n)), 70, 79);
    }
}

/* What the other list has not counts as the place behind its last. */
static void pruned_lists(void **state)
{
    (void)state;
    const int64_t a[] = {0, 1, 2}, apart[] = {3, 4, 5}, some[] = {1, 5}, whole[] = {1, 0, 2, 4, 3};
    /* Disjoint, l = 3: 1 ln 4 + 1/2 (ln 4 - ln 2) + 1/3 (ln 4 - ln 3). */
    assert_near(between(a, 3, apart, 3, 6), log(4) + 0.5 * log(2) + log(4.0 / 3) / 3);
    /* 0 and 2 are missing from a list of two: place 3; 1 has place 1. */
    assert_near(between(a, 3, some, 2, 6), log(3) + 0.5 * log(2) + 0);
    /* It is not symmetric: of the reference {1, 5} only 5 is missing from the list of three. */
    assert_near(between(some, 2, a, 3, 6), log(2) + 0.5 * log(2));
    /* A ticket as reference: only its own units count. */
    assert_near(between(a, 3, whole, 5, 5), log(2) + 0.5 * log(2));
}

static void masks(void **state)
{
    (void)state;
    const int64_t a[] = {0, 1, 2, 3}, b[] = {3, 1, 2, 0};
    int64_t place[4];
    tsri_places_of(place, 4, b, 4);
    assert_true(tsri_mask_distance(a, 4, place, 4, 4) == 0);
    assert_true(tsri_mask_distance(a, 2, place, 2, 4) == 0.5); /* {0,1} and {3,1} */
    assert_true(tsri_mask_distance(a, 1, place, 1, 4) == 0.5); /* {0} and {3} */
    assert_true(tsri_mask_distance(a, 3, place, 3, 4) == 0.5); /* {0,1,2} and {3,1,2} */
}

/* ---- Models ------------------------------------------------------------------------------- */

/* A model file with random weights; no training. */
static tsr_model *model_of(const char *name, const char *text, int64_t seed)
{
    tsr_config *config = NULL;
    tsri_net *net = NULL;
    tsri_store store;
    tsr_model *m = NULL;
    assert_ok(tsri_config_parse(&config, text, (int64_t)strlen(text), "test"));
    assert_ok(tsri_net_create(&net, config, (tsri_shape){3, 8, 8}, 3, false));
    assert_ok(tsri_store_init(&store, net, &tsri_backend_cpu, false));
    fill_random(touch(store.w), net->total, seed);
    for (int64_t i = 0; i < net->params; i++) /* variances and counts are not negative */
        for (int64_t j = 0; net->param[i].role != TSRI_TRAINED && j < net->param[i].count; j++)
            ((float *)store.w)[net->param[i].offset + j] = 1;
    tsri_json scaling = {0};
    tsri_scaling_write(&scaling, &(tsri_scaling){.target_scale = 1});
    assert_ok(tsri_json_end(&scaling));
    tsri_model_parts parts = {
        .net = net, .w = touch(store.w), .config = config, .scaling = scaling.text.data};
    assert_ok(tsri_model_save(scratch_path(name), &parts));
    tsri_json_fini(&scaling);
    assert_ok(tsr_model_read(&m, scratch_path(name)));
    tsri_store_fini(&store);
    tsri_net_destroy(net);
    tsr_config_destroy(config);
    return m;
}

static void models(void **state)
{
    (void)state;
    static const char small[] = "model: {name: preresnet18, width: 4}";
    const double ratio[] = {0.5, 0.75};
    tsr_model *a = model_of("a", small, 1), *b = model_of("b", small, 2), *t = NULL;
    tsr_model *wide = model_of("wide", "model: {name: preresnet18, width: 5}", 1);
    tsr_model *other = model_of("other", "model: {name: resnet18, width: 4}", 1);
    tsri_comparison c;
    assert_ok(tsri_compare(&c, a, a, NULL, TSRI_SCORE_BN, ratio, 2));
    assert_int_equal(c.rows, 3);
    assert_string_equal(c.row[0].axis, "layer2.1.inner");
    for (int64_t i = 0; i < c.rows; i++)
        assert_true(c.row[i].distance == 0 && c.row[i].mask[0] == 0 && c.row[i].mask[1] == 0);
    tsri_comparison_fini(&c);
    assert_ok(tsri_compare(&c, a, b, "all", TSRI_SCORE_BN, ratio, 2));
    assert_int_equal(c.rows, 12); /* eight blocks and four streams */
    for (int64_t i = 0; i < c.rows; i++)
        assert_true(c.row[i].distance > 0 && c.row[i].relative < 1.2);
    tsri_comparison_fini(&c);

    /* A ticket by l2 has the first ranks in their order: only what is missing counts. */
    tsr_model *source = NULL;
    assert_ok(tsr_model_read(&source, scratch_path("a")));
    assert_ok(tsri_ticket_write(NULL, scratch_path("t"), source, &(tsri_prune){.ratio = 0.5}));
    tsr_model_destroy(source);
    assert_ok(tsr_model_read(&t, scratch_path("t")));
    assert_ok(tsri_compare(&c, t, a, NULL, TSRI_SCORE_L2, ratio, 2));
    for (int64_t i = 0; i < c.rows; i++)
        assert_true(c.row[i].distance == 0 && c.row[i].mask[0] == 0);
    tsri_comparison_fini(&c);
    assert_ok(tsri_compare(&c, a, t, NULL, TSRI_SCORE_L2, ratio, 2));
    for (int64_t i = 0; i < c.rows; i++) {
        double want = 0;
        int64_t l = c.row[i].units_other;
        for (int64_t j = l + 1; j <= c.row[i].units; j++)
            want += fabs(log((double)j) - log((double)(l + 1))) / (double)j;
        assert_near(c.row[i].distance, want);
        assert_true(c.row[i].mask[0] == 0 && c.row[i].mask[1] == 0);
    }
    tsri_comparison_fini(&c);
    assert_fails(tsri_compare(&c, a, wide, NULL, TSRI_SCORE_L2, ratio, 2), TSR_USAGE,
                 "not of one model");
    assert_fails(tsri_compare(&c, a, other, NULL, TSRI_SCORE_L2, ratio, 2), TSR_USAGE,
                 "not of one model");
    for (int64_t n = 0;; n++) { /* every allocation fails once */
        int64_t held = tsri_alloc_blocks();
        tsri_alloc_fail_after(n, false);
        tsr_status st = tsri_compare(&c, a, t, NULL, TSRI_SCORE_BN, ratio, 2);
        tsri_alloc_fail_after(-1, false);
        if (st == TSR_OK)
            break;
        assert_int_equal(st, TSR_RESOURCES);
        assert_int_equal(tsri_alloc_blocks(), held);
    }
    tsri_comparison_fini(&c);
    for (int64_t n = 0;; n++) { /* and of what tessera.h has of it */
        tsr_layer_distance *far = NULL;
        int64_t held = tsri_alloc_blocks(), rows = -1;
        tsri_alloc_fail_after(n, false);
        tsr_status st = tsr_model_distance(&far, &rows, a, t);
        tsri_alloc_fail_after(-1, false);
        assert_true(st == TSR_OK ? rows == 3 && far : !far && rows == 0);
        tsr_free(far);
        assert_int_equal(tsri_alloc_blocks(), held);
        if (st == TSR_OK)
            break;
        assert_int_equal(st, TSR_RESOURCES);
    }
    tsr_model_destroy(a);
    tsr_model_destroy(b);
    tsr_model_destroy(t);
    tsr_model_destroy(wide);
    tsr_model_destroy(other);
}

/* ---- While a run goes on ------------------------------------------------------------------ */

/* Scores that do not change have distance 0 as soon as there are enough of them; through a file and
 * back they are the same. */
static void samples(void **state)
{
    (void)state;
    tsri_net *net = NULL;
    tsri_store store;
    tsri_score_log r, back;
    tsri_parcel parcel;
    tsri_tensors *file = NULL;
    double change, back_change;
    bool cut[64];
    make_net(&net, &test_nets[4]);
    make_store(&store, net, 1);
    assert_in_range(net->axes, 1, 64);
    assert_ok(tsri_ticket_axes(cut, NULL, net, NULL));
    assert_ok(tsri_score_log_init(&r, net, cut));
    assert_int_equal(r.units, 6 + 12 + 24); /* the inner axes of stages 2 to 4 without stride */
    assert_ok(tsri_score_log_sample(&change, &r, &store, 10, 2));
    assert_ok(tsri_score_log_sample(&change, &r, &store, 20, 2));
    assert_true(isnan(change)); /* two before it are wanted */
    assert_ok(tsri_score_log_sample(&change, &r, &store, 30, 2));
    assert_true(change == 0);
    fill_random(touch(store.w), net->total, 2);
    assert_ok(tsri_score_log_sample(&change, &r, &store, 40, 2));
    assert_true(change > 0.1 && change < 1);
    double before = change;
    tsri_parcel_init(&parcel, net);
    assert_ok(tsri_score_log_save(&r, &parcel));
    assert_ok(tsri_parcel_write(&parcel, scratch_path("ranks"), NULL, 0));
    assert_ok(tsri_tensors_read(&file, scratch_path("ranks")));
    assert_ok(tsri_score_log_init(&back, net, cut));
    assert_ok(tsri_score_log_load(&back, file, "ranks"));
    assert_int_equal(back.count, 4);
    assert_memory_equal(back.round, r.round, 4 * sizeof *r.round);
    assert_memory_equal(back.score, r.score, (size_t)(4 * 2 * r.units) * sizeof *r.score);
    assert_ok(tsri_score_log_sample(&change, &r, &store, 50, 2));
    assert_ok(tsri_score_log_sample(&back_change, &back, &store, 50, 2));
    assert_true(back_change == change && change == before); /* still far from sample 30 */
    fill_random(touch(store.w), net->total, 1);
    assert_ok(
        tsri_score_log_sample(&change, &r, &store, 60, 4)); /* as 20 and 30, but not as 40 and 50 */
    assert_true(change > 0.1);
    /* A ticket keeps at least one unit of each axis, however few the ratio leaves: so do masks. */
    r.masks = true;
    r.ratio = 0.99;
    assert_ok(tsri_score_log_sample(&change, &r, &store, 70, 3));
    assert_true(change > 0 && change <= 3 * 2 / 42.0);
    const double ratio[] = {0.5};
    assert_ok(tsri_score_log_write(&r, 10, ratio, 1, scratch_folder));
    assert_true(tsri_file_exists(scratch_path("distance.csv")));
    tsri_parcel_fini(&parcel);
    tsri_tensors_destroy(file);
    tsri_score_log_fini(&r);
    tsri_score_log_fini(&back);
    tsri_store_fini(&store);
    tsri_net_destroy(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),      cmocka_unit_test(a_ranking_by_chance),
        cmocka_unit_test(pruned_lists), cmocka_unit_test(masks),
        cmocka_unit_test(models),       cmocka_unit_test(samples),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
