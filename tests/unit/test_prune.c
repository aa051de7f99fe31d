/* What pruning keeps, against an oracle that knows no ranking and no slices: a unit is kept when
 * fewer than k others beat it, and every number of the ticket is looked up by its dimensions. */
#include "share_testing.h"

#include "scheme/rules.h"
#include "subnet/filters.h"
#include "ticket/prune.h"

#include <math.h>

/* ---- The oracle --------------------------------------------------------------------------- */

/* All rows that make the unit: of a recurrent layer those of W and of A, of a stream those of every
 * layer that adds to it. */
static double oracle_score(const tsri_store *s, int64_t axis, int64_t unit, tsri_criterion how)
{
    const tsri_net *net = s->net;
    int64_t size = net->axis[axis].size;
    double sum = 0, squares[128] = {0};
    for (int64_t i = 0; how == TSRI_SCORE_BN && i < net->layers; i++) /* of all norms on it */
        if (net->layer[i].kind == TSRI_NORM && net->value[net->layer[i].out].axis == axis)
            sum += fabs(number_of(s, net->layer[i].weight, unit, 0));
    if (how == TSRI_SCORE_BN)
        return sum;
    for (int64_t p = 0; p < net->params; p++) {
        if (net->param[p].role != TSRI_TRAINED || net->param[p].dims < 2 ||
            net->param[p].axis[0] != axis)
            continue;
        for (int64_t i = 0; i < net->param[p].count / size; i++) {
            double w = number_of(s, p, unit, i);
            sum += how == TSRI_SCORE_L1 ? fabs(w) : w * w; /* of l2 the square: the same order */
            for (int64_t other = 0; how == TSRI_SCORE_FPGM && other < size; other++)
                squares[other] += pow(w - number_of(s, p, other, i), 2);
        }
    }
    if (how != TSRI_SCORE_FPGM)
        return sum;
    sum = 0;
    for (int64_t other = 0; other < size; other++)
        sum += sqrt(squares[other]);
    return sum;
}

/* A unit stays when fewer than k others are larger. Random numbers have no ties. */
static void check_largest(const tsri_store *s, const tsri_share *share, int64_t axis, int64_t k,
                          tsri_criterion how)
{
    double score[128];
    int64_t size = s->net->axis[axis].size;
    assert_true(size <= 128);
    for (int64_t u = 0; u < size; u++)
        score[u] = oracle_score(s, axis, u, how);
    for (int64_t u = 0; u < size; u++) {
        int64_t larger = 0;
        for (int64_t other = 0; other < size; other++)
            larger += score[other] > score[u];
        assert_true((share->pick[axis].place[u] >= 0) == (larger < k));
    }
}

static void check_kept(const tsri_store *s, const tsri_share *share, int64_t axis,
                       const tsri_prune *how)
{
    int64_t size = s->net->axis[axis].size;
    int64_t k = (int64_t)floor((double)size * (1 - how->ratio) + 0.5);
    k = k < 1 ? 1 : k;
    assert_int_equal(share->pick[axis].count, k);
    check_largest(s, share, axis, k, how->criterion);
}

/* Every number of the ticket is the one of the whole with the same units; none is left over. */
static void check_numbers(const tsri_store *s, const tsri_share *share)
{
    tsri_net *small = NULL;
    tsri_store ticket;
    int64_t found = 0;
    assert_ok(tsri_net_cut(&small, s->net, share, false));
    assert_ok(tsri_store_init(&ticket, small, &tsri_backend_cpu, false));
    assert_ok(tsri_take(&ticket, s, share, false));
    const float *w = touch(s->w), *t = touch(ticket.w);
    for (int64_t p = 0; p < s->net->params; p++)
        for (int64_t i = 0; i < s->net->param[p].count; i++) {
            int64_t to = oracle_place(s->net, small, share, p, i);
            if (to < 0)
                continue;
            found++;
            assert_true(t[to] == w[oracle_whole(s->net, p, i)]);
        }
    assert_int_equal(found, small->total);
    tsri_store_fini(&ticket);
    tsri_net_destroy(small);
}

static bool has_norm(const tsri_net *net, int64_t axis)
{
    for (int64_t i = 0; i < net->layers; i++)
        if (net->layer[i].kind == TSRI_NORM && net->value[net->layer[i].out].axis == axis)
            return true;
    return false;
}

/* Every model, every stage, uneven ratios, every criterion that it has. */
static void the_largest_are_kept(void **state)
{
    static const double ratios[] = {0.5, 0.37, 0.8};
    int64_t axes = 0;
    (void)state;
    for (int n = 0; n < TEST_NETS; n++)
        for (int r = 0; r < 3; r++)
            for (tsri_criterion c = TSRI_SCORE_L2; c <= TSRI_SCORE_FPGM; c++) {
                tsri_net *net = NULL;
                tsri_store store;
                tsri_share share;
                tsri_prune how = {.ratio = ratios[r], .criterion = c, .axes = "all"};
                make_net(&net, &test_nets[n]);
                make_store(&store, net, n + 10 * r);
                assert_ok(tsri_share_init(&share, net));
                bool normed = true;
                for (int64_t a = 0; a < net->axes; a++)
                    normed = normed && (!tsri_axis_prunable(&net->axis[a]) || has_norm(net, a));
                if (c == TSRI_SCORE_BN && !normed) {
                    assert_fails(tsri_prune_choose(&share, &store, &how), TSR_USAGE,
                                 "has no batch norm");
                } else {
                    assert_ok(tsri_prune_choose(&share, &store, &how));
                    for (int64_t a = 0; a < net->axes; a++)
                        if (tsri_axis_prunable(&net->axis[a])) {
                            check_kept(&store, &share, a, &how);
                            axes++;
                        }
                    check_numbers(&store, &share);
                }
                tsri_share_fini(&share);
                tsri_store_fini(&store);
                tsri_net_destroy(net);
            }
    print_message("%lld axes\n", (long long)axes);
    assert_true(axes > 300);
}

/* One axis at a time, by its name: that axis loses its smallest, all others stay whole. */
static void each_axis_alone(void **state)
{
    int64_t axes = 0;
    (void)state;
    for (int n = 0; n < TEST_NETS + STREAM_NETS; n++) {
        tsri_net *net = NULL;
        tsri_store store;
        make_net(&net, n < TEST_NETS ? &test_nets[n] : &stream_nets[n - TEST_NETS]);
        make_store(&store, net, n);
        for (int64_t a = 0; a < net->axes; a++) {
            tsri_share share;
            tsri_prune how = {.ratio = 0.63, .axes = net->axis[a].name};
            if (!tsri_axis_prunable(&net->axis[a]))
                continue;
            assert_ok(tsri_share_init(&share, net));
            assert_ok(tsri_prune_choose(&share, &store, &how));
            check_kept(&store, &share, a, &how);
            for (int64_t other = 0; other < net->axes; other++)
                assert_true(share.cut[other] == (other == a));
            check_numbers(&store, &share);
            tsri_share_fini(&share);
            axes++;
        }
        tsri_store_fini(&store);
        tsri_net_destroy(net);
    }
    assert_true(axes > 70); /* among them each block of each stage of the residual networks */
}

/* By default what LoFT cuts: not the first stage, not strided blocks; all of a plain net. */
static void the_default_axes(void **state)
{
    (void)state;
    bool cut[64];
    tsri_net *net = NULL;
    make_net(&net, &test_nets[3]); /* preresnet18 */
    assert_ok(tsri_axes_choose(cut, net));
    for (int64_t a = 0; a < net->axes; a++) {
        const char *name = net->axis[a].name;
        bool want = strcmp(name, "layer2.1.inner") == 0 || strcmp(name, "layer3.1.inner") == 0 ||
                    strcmp(name, "layer4.1.inner") == 0;
        assert_true(cut[a] == want);
    }
    tsri_net_destroy(net);
    make_net(&net, &test_nets[1]); /* mlp */
    assert_ok(tsri_axes_choose(cut, net));
    for (int64_t a = 0; a < net->axes; a++)
        assert_true(cut[a] == net->axis[a].cuttable);
    tsri_net_destroy(net);
}

/* "inner" is every axis inside a block, "all" the streams too; of a plain net both are all. What
 * goes in and what comes out is never cut. Shares of training never cut a stream, even by name. */
static void the_named_axes(void **state)
{
    (void)state;
    bool inner[128], all[128], paper[128], plain[128];
    for (int n = 0; n < TEST_NETS; n++) {
        tsri_net *net = NULL;
        make_net(&net, &test_nets[n]);
        assert_true(net->axes <= 128);
        assert_ok(tsri_axes_named(inner, net, "inner", true));
        assert_ok(tsri_axes_named(all, net, "all", true));
        assert_ok(tsri_axes_named(plain, net, "all", false));
        bool some = strstr(test_nets[n].model, "depth: 10") == NULL; /* or every block strided */
        memset(paper, 0, sizeof paper);
        if (some)
            assert_ok(tsri_ticket_axes(paper, NULL, net, "paper"));
        else
            assert_fails(tsri_ticket_axes(paper, NULL, net, "paper"), TSR_USAGE, "axes: inner");
        for (int64_t a = 0; a < net->axes; a++) {
            const char *name = net->axis[a].name;
            bool stream = strstr(name, "stream") || strcmp(name, "stem") == 0;
            bool end = strcmp(name, "input") == 0 || strcmp(name, "output") == 0;
            assert_true(all[a] == !end && inner[a] == (!end && !stream) && plain[a] == inner[a]);
            assert_true(!paper[a] || inner[a]);
        }
        tsri_net_destroy(net);
    }
    tsri_net *net = NULL;
    make_net(&net, &test_nets[3]);
    assert_ok(tsri_axes_named(all, net, "layer2.1.inner, layer2.stream", true));
    assert_fails(tsri_axes_named(all, net, "layer2.1.inner, layer2.stream", false), TSR_USAGE,
                 "no axis layer2.stream that can be cut: those are layer1.0.inner");
    assert_fails(tsri_axes_named(all, net, "output", true), TSR_USAGE,
                 "no axis output that can be cut: those are layer1.stream, layer1.0.inner");
    tsri_net_destroy(net);
}

static void counts(void **state)
{
    (void)state;
    tsri_prune how = {.ratio = 0.5};
    assert_int_equal(tsri_prune_count(64, &how), 32);
    assert_int_equal(tsri_prune_count(1, &how), 1);
    how.ratio = 0.8;
    assert_int_equal(tsri_prune_count(64, &how), 13);
    assert_int_equal(tsri_prune_count(2, &how), 1); /* never none */
    how.round_to = 8;
    assert_int_equal(tsri_prune_count(64, &how), 16); /* 13 is nearer to 16 than to 8 */
    assert_int_equal(tsri_prune_count(16, &how), 8);
    assert_int_equal(tsri_prune_count(5, &how), 5); /* fewer than a tile */
    how.ratio = 0;
    assert_int_equal(tsri_prune_count(20, &how), 20);
    how = (tsri_prune){.ratio = 0.9}; /* halves up: 25 (1 - 0.9) is 2.4999999999999996 in doubles */
    assert_int_equal(tsri_prune_count(25, &how), 3);
    assert_int_equal(tsri_prune_count(15, &how), 2);
    assert_int_equal(tsri_prune_count(14, &how), 1);
}

/* What units of different axes are ranked by: norms in units of their axis' mean, weights of batch
 * norm as they are. */
static double global_score(const tsri_store *s, int64_t axis, int64_t unit, tsri_criterion how)
{
    double sum = 0, own = 0;
    int64_t size = s->net->axis[axis].size;
    for (int64_t u = 0; u < size; u++) {
        double score = oracle_score(s, axis, u, how);
        score = how == TSRI_SCORE_L2 ? sqrt(score) : score;
        sum += score;
        own = u == unit ? score : own;
    }
    return own / (how == TSRI_SCORE_BN ? 1 : sum / (double)size);
}

/* Whoever goes counts less than whoever stays on any axis, but for the one that must stay. */
static void check_global(const tsri_store *s, const tsri_share *share, tsri_criterion how)
{
    double least_kept = INFINITY, most_gone = -INFINITY;
    for (int64_t a = 0; a < s->net->axes; a++)
        for (int64_t u = 0; tsri_axis_prunable(&s->net->axis[a]) && u < s->net->axis[a].size; u++) {
            double score = global_score(s, a, u, how);
            if (share->pick[a].place[u] < 0)
                most_gone = fmax(most_gone, score);
            else if (share->pick[a].count > 1)
                least_kept = fmin(least_kept, score);
        }
    assert_true(most_gone > 0 && most_gone <= least_kept * (1 + 1e-12)); /* the oracle's rounding */
}

/* One ranking: as many as the ratio says in all, every axis some, each its largest. */
static void globally_by(const tsri_store *store, tsri_criterion criterion)
{
    tsri_share share;
    int64_t units = 0, kept = 0;
    tsri_prune how = {.ratio = 0.4, .criterion = criterion, .global = true, .axes = "all"};
    assert_ok(tsri_share_init(&share, store->net));
    assert_ok(tsri_prune_choose(&share, store, &how));
    for (int64_t a = 0; a < store->net->axes; a++) {
        if (!tsri_axis_prunable(&store->net->axis[a]))
            continue;
        units += store->net->axis[a].size;
        kept += share.pick[a].count;
        assert_true(share.pick[a].count >= 1);
        check_largest(store, &share, a, share.pick[a].count, how.criterion);
    }
    assert_int_equal(kept, llround((double)units * 0.6));
    check_global(store, &share, criterion);
    tsri_share_fini(&share);
}

static void globally(void **state)
{
    (void)state;
    for (int n = 0; n < TEST_NETS; n++) {
        tsri_net *net = NULL;
        tsri_store store;
        bool normed = true;
        make_net(&net, &test_nets[n]);
        make_store(&store, net, n);
        for (int64_t a = 0; a < net->axes; a++)
            normed = normed && (!tsri_axis_prunable(&net->axis[a]) || has_norm(net, a));
        globally_by(&store, TSRI_SCORE_L2);
        globally_by(&store, TSRI_SCORE_L1);
        if (normed)
            globally_by(&store, TSRI_SCORE_BN);
        tsri_store_fini(&store);
        tsri_net_destroy(net);
    }
}

/* Chance is a pure function of the seed. */
static void by_chance(void **state)
{
    (void)state;
    tsri_net *net = NULL;
    tsri_store store;
    tsri_share a, b, c;
    tsri_prune how = {.ratio = 0.5, .criterion = TSRI_SCORE_RANDOM, .axes = "all", .seed = 3};
    make_net(&net, &test_nets[5]);
    make_store(&store, net, 1);
    assert_ok(tsri_share_init(&a, net));
    assert_ok(tsri_share_init(&b, net));
    assert_ok(tsri_share_init(&c, net));
    assert_ok(tsri_prune_choose(&a, &store, &how));
    assert_ok(tsri_prune_choose(&b, &store, &how));
    how.seed = 4;
    assert_ok(tsri_prune_choose(&c, &store, &how));
    bool other = false;
    for (int64_t x = 0; x < net->axes; x++)
        for (int64_t i = 0; tsri_axis_prunable(&net->axis[x]) && i < a.pick[x].count; i++) {
            assert_int_equal(a.pick[x].index[i], b.pick[x].index[i]);
            other = other || a.pick[x].index[i] != c.pick[x].index[i];
        }
    assert_true(other);
    tsri_share_fini(&a);
    tsri_share_fini(&b);
    tsri_share_fini(&c);
    tsri_store_fini(&store);
    tsri_net_destroy(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_are_kept),
        cmocka_unit_test(each_axis_alone),
        cmocka_unit_test(the_default_axes),
        cmocka_unit_test(the_named_axes),
        cmocka_unit_test(counts),
        cmocka_unit_test(globally),
        cmocka_unit_test(by_chance),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
