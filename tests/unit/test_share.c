/* Draws: every worker's share is a pure function; disjoint ones cover every unit exactly once;
 * frequencies are what they should be; what cannot be is refused with a sentence. */
#include "share_testing.h"

#include <math.h>

static void ascending_and_placed(const tsri_share *s)
{
    for (int64_t a = 0; a < s->net->axes; a++) {
        const tsri_pick *p = &s->pick[a];
        if (!p->index) {
            assert_true(p->whole);
            continue;
        }
        int64_t picked = 0;
        for (int64_t i = 0; i < p->count; i++) {
            assert_true(i == 0 || p->index[i] > p->index[i - 1]);
            assert_int_equal(p->place[p->index[i]], i);
        }
        for (int64_t i = 0; i < s->net->axis[a].size; i++)
            picked += p->place[i] >= 0;
        assert_int_equal(picked, p->count);
        assert_int_equal(p->whole, p->count == s->net->axis[a].size);
    }
}

/* Owners of each unit of the axis. */
static void count_owners(int64_t *owners, const tsri_share *share, int64_t workers, int64_t axis)
{
    memset(owners, 0, (size_t)share->net->axis[axis].size * sizeof *owners);
    for (int64_t w = 0; w < workers; w++)
        for (int64_t i = 0; i < share[w].pick[axis].count; i++)
            owners[share[w].pick[axis].index[i]]++;
}

static void disjoint_draws_cover_once(void **state)
{
    (void)state;
    static const double weight[7] = {1, 3, 0.25, 2, 2, 9, 1};
    int64_t owners[4096];
    for (int n = 0; n < TEST_NETS; n++) {
        tsri_net *net = NULL;
        make_net(&net, &test_nets[n]);
        for (int64_t p = 1; p <= 3; p++)
            for (int k = 0; k < 4; k++) {
                tsri_share share[3];
                tsri_draw draw = {.kind = k < 2 ? TSRI_DRAW_CATEGORICAL : TSRI_DRAW_CHUNKS,
                                  .workers = p,
                                  .weight = k % 2 ? weight : NULL};
                assert_ok(tsri_draw_check(&draw, net));
                assert_true(tsri_draw_coverage(&draw) == 1);
                for (int64_t w = 0; w < p; w++) {
                    assert_ok(tsri_share_init(&share[w], net));
                    tsri_share_draw(&share[w], &draw, 7, 100 + n, w);
                    ascending_and_placed(&share[w]);
                }
                for (int64_t a = 0; a < net->axes; a++) {
                    if (!net->axis[a].cuttable)
                        continue;
                    count_owners(owners, share, p, a);
                    for (int64_t i = 0; i < net->axis[a].size; i++)
                        assert_int_equal(owners[i], 1);
                }
                for (int64_t w = 0; w < p; w++)
                    tsri_share_fini(&share[w]);
            }
        tsri_net_destroy(net);
    }
}

static void chunks_are_even_and_keep_remainders(void **state)
{
    (void)state;
    tsri_net *net = NULL;
    make_net(&net, &(test_net){"model: {name: mlp, hidden: [103]}", {5, 1, 1}, false});
    int64_t axis = tsri_axis_find(net, "hidden.0");
    tsri_share share;
    assert_ok(tsri_share_init(&share, net));
    for (int64_t p = 1; p <= 103; p += 6) {
        tsri_draw draw = {.kind = TSRI_DRAW_CHUNKS, .workers = p};
        int64_t sum = 0;
        for (int64_t w = 0; w < p; w++) {
            tsri_share_draw(&share, &draw, 1, 2, w);
            sum += share.pick[axis].count;
            assert_true(share.pick[axis].count == 103 / p || share.pick[axis].count == 103 / p + 1);
        }
        assert_int_equal(sum, 103);
    }
    /* Nine units of ten go to the worker that is ninety times as fast; the other has one. */
    static const double speed[2] = {1, 90};
    tsri_draw draw = {.kind = TSRI_DRAW_CHUNKS, .workers = 2, .weight = speed};
    tsri_share_draw(&share, &draw, 1, 2, 0);
    assert_int_equal(share.pick[axis].count, 2); /* one, and 101 / 91 rounded */
    tsri_share_fini(&share);
    tsri_net_destroy(net);
}

/* The same stream gives the same share; another round, worker, seed or axis gives another. */
static void draws_are_pure(void **state)
{
    (void)state;
    tsri_net *net = NULL;
    make_net(&net, &(test_net){"model: {name: mlp, hidden: [200, 200]}", {5, 1, 1}, false});
    tsri_share a, b;
    assert_ok(tsri_share_init(&a, net));
    assert_ok(tsri_share_init(&b, net));
    tsri_draw draw = {.kind = TSRI_DRAW_BERNOULLI, .workers = 4, .xi = 0.5};
    tsri_share_draw(&a, &draw, 1, 5, 2);
    tsri_share_draw(&b, &draw, 9, 9, 1); /* what was there before does not matter */
    tsri_share_draw(&b, &draw, 1, 5, 2);
    size_t bytes = 200 * sizeof(int32_t);
    assert_memory_equal(a.pick[1].place, b.pick[1].place, bytes);
    assert_memory_equal(a.pick[2].place, b.pick[2].place, bytes);
    assert_memory_not_equal(a.pick[1].place, a.pick[2].place, bytes);
    static const int64_t other[3][3] = {{2, 5, 2}, {1, 6, 2}, {1, 5, 3}};
    for (int i = 0; i < 3; i++) {
        tsri_share_draw(&b, &draw, (uint64_t)other[i][0], other[i][1], other[i][2]);
        assert_memory_not_equal(a.pick[1].place, b.pick[1].place, bytes);
    }
    tsri_share_fini(&a);
    tsri_share_fini(&b);
    tsri_net_destroy(net);
}

/* theta = 1 - (1-xi)^p of the units are drawn by somebody. Mean over 200 rounds of 1000 units; the
 * bound is five standard deviations of it. */
static void coverage_is_theta(void **state)
{
    (void)state;
    enum { UNITS = 1000, ROUNDS = 200, MOST = 4 };
    int64_t owners[UNITS];
    tsri_net *net = NULL;
    make_net(&net, &(test_net){"model: {name: mlp, hidden: [1000]}", {5, 1, 1}, false});
    int64_t axis = tsri_axis_find(net, "hidden.0");
    tsri_share share[MOST];
    for (int w = 0; w < MOST; w++)
        assert_ok(tsri_share_init(&share[w], net));
    for (int p = 1; p <= MOST; p++)
        for (int x = 1; x <= 9; x += 2) {
            double xi = x / 10.0, theta = 1 - pow(1 - xi, p), covered = 0, drawn = 0;
            tsri_draw draw = {.kind = TSRI_DRAW_BERNOULLI, .workers = p, .xi = xi};
            for (int64_t r = 0; r < ROUNDS; r++) {
                for (int w = 0; w < p; w++) {
                    tsri_share_draw(&share[w], &draw, 3, r, w);
                    drawn += (double)share[w].pick[axis].count;
                }
                count_owners(owners, share, p, axis);
                for (int i = 0; i < UNITS; i++)
                    covered += owners[i] > 0;
            }
            double n = (double)UNITS * ROUNDS;
            assert_true(fabs(tsri_draw_coverage(&draw) - theta) < 1e-15);
            assert_true(fabs(covered / n - theta) < 5 * sqrt(theta * (1 - theta) / n));
            assert_true(fabs(drawn / n / p - xi) < 5 * sqrt(xi * (1 - xi) / n / p));
        }
    for (int w = 0; w < MOST; w++)
        tsri_share_fini(&share[w]);
    tsri_net_destroy(net);
}

static void categorical_follows_weights(void **state)
{
    (void)state;
    static const double weight[3] = {1, 2, 5};
    tsri_net *net = NULL;
    make_net(&net, &(test_net){"model: {name: mlp, hidden: [1000]}", {5, 1, 1}, false});
    tsri_share share;
    assert_ok(tsri_share_init(&share, net));
    tsri_draw draw = {.kind = TSRI_DRAW_CATEGORICAL, .workers = 3, .weight = weight};
    for (int w = 0; w < 3; w++) {
        double drawn = 0, p = weight[w] / 8, n = 200 * 1000;
        for (int64_t r = 0; r < 200; r++) {
            tsri_share_draw(&share, &draw, 3, r, w);
            drawn += (double)share.pick[1].count;
        }
        assert_true(fabs(drawn / n - p) < 5 * sqrt(p * (1 - p) / n)); /* five deviations */
        assert_true(fabs(tsri_draw_chance(&draw, w) - p) < 1e-15);
    }
    tsri_share_fini(&share);
    tsri_net_destroy(net);
}

/* Largest first, of equals the first; against picking the best again and again. */
static void ranks_keep_the_largest(void **state)
{
    (void)state;
    static const double score[8] = {0.5, 3, -1, 3, 0, 7, 0.5, 0.25};
    static const int64_t best_first[8] = {5, 1, 3, 0, 6, 7, 4, 2};
    tsri_net *net = NULL;
    make_net(&net, &(test_net){"model: {name: mlp, hidden: [8]}", {5, 1, 1}, false});
    tsri_share share;
    assert_ok(tsri_share_init(&share, net));
    for (int64_t count = 0; count <= 8; count++) {
        assert_ok(tsri_share_best(&share, 1, score, count));
        assert_int_equal(share.pick[1].count, count);
        for (int64_t i = 0; i < 8; i++)
            assert_int_equal(share.pick[1].place[best_first[i]] >= 0, i < count);
        ascending_and_placed(&share);
    }
    assert_true(share.pick[1].whole);
    assert_false(tsri_share_empty(&share));
    assert_ok(tsri_share_best(&share, 1, score, 0));
    assert_true(tsri_share_empty(&share));
    tsri_share_fini(&share);
    tsri_net_destroy(net);
}

static void refusals(void **state)
{
    (void)state;
    tsri_net *net = NULL, *flat = NULL;
    make_net(&net, &(test_net){"model: {name: mlp, hidden: [8, 4]}", {5, 1, 1}, false});
    make_net(&flat, &(test_net){"model: {name: mlp, hidden: []}", {5, 1, 1}, false});
    tsri_share share;
    assert_ok(tsri_share_init(&share, net));
    static const int64_t out[1] = {8}, twice[2] = {3, 3};
    assert_fails(tsri_share_give(&share, 0, out, 1), TSR_USAGE, "axis input of the model cannot");
    assert_fails(tsri_share_give(&share, 17, out, 1), TSR_USAGE, "no axis 17");
    assert_fails(tsri_share_give(&share, 1, out, 1), TSR_USAGE, "index 8 is not on axis hidden.0");
    assert_fails(tsri_share_give(&share, 1, twice, 2), TSR_USAGE, "given twice");
    assert_fails(tsri_share_give(&share, 1, out, 9), TSR_USAGE, "it has 8");
    tsri_draw draw = {.kind = TSRI_DRAW_CHUNKS, .workers = 5};
    assert_fails(tsri_draw_check(&draw, net), TSR_USAGE,
                 "5 workers cannot share the 4 units of axis hidden.1");
    draw.workers = 0;
    assert_fails(tsri_draw_check(&draw, net), TSR_USAGE, "at least one worker");
    draw = (tsri_draw){.kind = TSRI_DRAW_BERNOULLI, .workers = 50, .xi = 0.5};
    assert_ok(tsri_draw_check(&draw, net));
    for (double xi = 0; xi <= 1.5; xi += 1.5) {
        draw.xi = xi;
        assert_fails(tsri_draw_check(&draw, net), TSR_USAGE, "above 0 and at most 1");
    }
    draw.xi = NAN;
    assert_fails(tsri_draw_check(&draw, net), TSR_USAGE, "above 0 and at most 1");
    static const double weight[2] = {1, 0};
    draw = (tsri_draw){.kind = TSRI_DRAW_CHUNKS, .workers = 2, .weight = weight};
    assert_fails(tsri_draw_check(&draw, net), TSR_USAGE, "weight of worker 1");
    draw.weight = NULL;
    assert_fails(tsri_draw_check(&draw, flat), TSR_USAGE, "no axis of this model");
    bool cut[4] = {true};
    draw.cut = cut;
    assert_fails(tsri_draw_check(&draw, net), TSR_USAGE, "axis input of the model cannot be cut");
    assert_int_equal(tsri_axis_find(net, "hidden.1"), 2);
    assert_int_equal(tsri_axis_find(net, "hidden.2"), -1);
    tsri_share_fini(&share);
    tsri_net_destroy(net);
    tsri_net_destroy(flat);
}

/* Only the axes that were asked for. */
static void chosen_axes_are_cut(void **state)
{
    (void)state;
    tsri_net *net = NULL;
    make_net(&net, &(test_net){"model: {name: mlp, hidden: [8, 6, 4]}", {5, 1, 1}, false});
    tsri_share share;
    assert_ok(tsri_share_init(&share, net));
    bool cut[5] = {false, false, true, false, false};
    tsri_draw draw = {.kind = TSRI_DRAW_CHUNKS, .workers = 2, .cut = cut};
    assert_ok(tsri_draw_check(&draw, net));
    tsri_share_draw(&share, &draw, 1, 1, 1);
    assert_true(share.pick[1].whole && share.pick[3].whole);
    assert_int_equal(share.pick[2].count, 3);
    tsri_share_whole(&share);
    assert_true(share.pick[2].whole && !share.cut[2]);
    tsri_share_fini(&share);
    tsri_net_destroy(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(disjoint_draws_cover_once),
        cmocka_unit_test(chunks_are_even_and_keep_remainders),
        cmocka_unit_test(draws_are_pure),
        cmocka_unit_test(coverage_is_theta),
        cmocka_unit_test(categorical_follows_weights),
        cmocka_unit_test(ranks_keep_the_largest),
        cmocka_unit_test(refusals),
        cmocka_unit_test(chosen_axes_are_cut),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
