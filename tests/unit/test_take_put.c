/* Take and put against an oracle that looks up every number by its dimensions; and the identities:
 * take then put changes nothing for every model and draw, one owner is a copy, several are a mean,
 * none keeps its bits, whatever the number of threads. */
#include "share_testing.h"
#include "plan_testing.h"

#include "backend/backend.h"
#include "base/clock.h"
#include "base/pool.h"

#include <math.h>

enum { MOST = 5 };

typedef struct team {
    tsri_net *net;
    tsri_store whole;
    int64_t count;
    tsri_share share[MOST];
    tsri_net *small[MOST];
    tsri_store store[MOST];
    tsri_owner owner[MOST];
} team;

static void set_up(team *t, const test_net *like, const tsri_draw *draw, int64_t round)
{
    *t = (team){.count = draw->workers};
    make_net(&t->net, like);
    make_store(&t->whole, t->net, round);
    for (int64_t w = 0; w < t->count; w++) {
        assert_ok(tsri_share_init(&t->share[w], t->net));
        tsri_share_draw(&t->share[w], draw, 11, round, w);
        assert_ok(tsri_net_cut(&t->small[w], t->net, &t->share[w], false));
        assert_true(tsri_net_fits(t->small[w], &t->share[w]));
        assert_ok(tsri_store_init(&t->store[w], t->small[w], &tsri_backend_cpu, true));
        t->owner[w] = (tsri_owner){&t->share[w], &t->store[w]};
    }
}

static void tear_down(team *t)
{
    for (int64_t w = 0; w < t->count; w++) {
        tsri_store_fini(&t->store[w]);
        tsri_net_destroy(t->small[w]);
        tsri_share_fini(&t->share[w]);
    }
    tsri_store_fini(&t->whole);
    tsri_net_destroy(t->net);
}

static void put_back(team *t, bool momentum, int threads)
{
    tsri_pool *pool = NULL;
    tsri_put put;
    assert_ok(tsri_pool_create(&pool, threads));
    assert_ok(tsri_put_init(&put, t->net));
    assert_ok(tsri_put_run(&put, &t->whole, t->owner, t->count, momentum,
                           tsri_device_on(t->whole.backend, pool)));
    tsri_put_fini(&put);
    tsri_pool_destroy(pool);
}

static const double speed_of[3] = {1, 0.5, 3};

static const tsri_draw draws[] = {
    {.kind = TSRI_DRAW_WHOLE, .workers = 3},
    {.kind = TSRI_DRAW_BERNOULLI, .workers = 1, .xi = 0.5},
    {.kind = TSRI_DRAW_BERNOULLI, .workers = 5, .xi = 0.6},
    {.kind = TSRI_DRAW_BERNOULLI, .workers = 3, .xi = 1},
    {.kind = TSRI_DRAW_CATEGORICAL, .workers = 3},
    {.kind = TSRI_DRAW_CHUNKS, .workers = 2},
    {.kind = TSRI_DRAW_CHUNKS, .workers = 3},
    {.kind = TSRI_DRAW_CATEGORICAL, .workers = 3, .weight = speed_of},
    {.kind = TSRI_DRAW_CHUNKS, .workers = 3, .weight = speed_of},
};
enum { DRAWS = sizeof draws / sizeof *draws };

/* Every model x every draw x some rounds. */
static void for_all(void (*check)(team *t))
{
    for (int n = 0; n < TEST_NETS; n++)
        for (int d = 0; d < DRAWS; d++)
            for (int64_t round = 0; round < (n < 3 ? 4 : 1); round++) {
                team t;
                set_up(&t, &test_nets[n], &draws[d], round);
                check(&t);
                tear_down(&t);
            }
}

static void check_take(team *t)
{
    const float *w = touch(t->whole.w), *v = touch(t->whole.v);
    for (int64_t l = 0; l < t->count; l++) {
        assert_ok(tsri_take(&t->store[l], &t->whole, &t->share[l], true));
        const float *sw = touch(t->store[l].w), *sv = touch(t->store[l].v);
        int64_t found = 0;
        for (int64_t p = 0; p < t->net->params; p++)
            for (int64_t i = 0; i < t->net->param[p].count; i++) {
                int64_t from = oracle_whole(t->net, p, i);
                int64_t to = oracle_place(t->net, t->small[l], &t->share[l], p, i);
                if (to < 0)
                    continue;
                found++;
                assert_true(sw[to] == w[from]);
                if (t->net->param[p].role == TSRI_TRAINED)
                    assert_true(sv[to] == v[from]);
            }
        assert_int_equal(found, t->small[l]->total); /* nothing in the share came from nowhere */
    }
}

static void take_copies_the_slices(void **state)
{
    (void)state;
    for_all(check_take);
}

static void check_nothing_changes(team *t)
{
    tsri_store before;
    make_store(&before, t->net, 99);
    memcpy(before.w, t->whole.w, (size_t)t->net->total * sizeof(float));
    memcpy(before.v, t->whole.v, (size_t)t->net->trained * sizeof(float));
    for (int64_t l = 0; l < t->count; l++)
        assert_ok(tsri_take(&t->store[l], &t->whole, &t->share[l], true));
    put_back(t, true, 2);
    assert_memory_equal(before.w, t->whole.w, (size_t)t->net->total * sizeof(float));
    assert_memory_equal(before.v, t->whole.v, (size_t)t->net->trained * sizeof(float));
    tsri_store_fini(&before);
}

/* To the bit, for three and five owners too: the mean is made in double. */
static void take_then_put_changes_nothing(void **state)
{
    (void)state;
    for_all(check_nothing_changes);
}

/* What the mean over the owners should be; `got` is what put made of `before`. */
static void compare_one(const team *t, int64_t p, int64_t i, const float *before, const float *got,
                        bool momentum)
{
    int64_t at = oracle_whole(t->net, p, i), owners = 0;
    double sum = -0.0; /* the sum of nothing but -0 is -0 */
    float only = 0;
    for (int64_t l = 0; l < t->count; l++) {
        int64_t from = oracle_place(t->net, t->small[l], &t->share[l], p, i);
        if (from < 0)
            continue;
        only = ((const float *)(momentum ? t->store[l].v : t->store[l].w))[from];
        sum += (double)only;
        owners++;
    }
    float want = owners == 0 ? before[at] : owners == 1 ? only : (float)(sum / (double)owners);
    assert_memory_equal(&got[at], &want, sizeof want);
}

static void check_put(team *t)
{
    tsri_store before;
    make_store(&before, t->net, 5);
    memcpy(before.w, t->whole.w, (size_t)t->net->total * sizeof(float));
    memcpy(before.v, t->whole.v, (size_t)t->net->trained * sizeof(float));
    for (int64_t l = 0; l < t->count; l++) {
        fill_random(touch(t->store[l].w), t->small[l]->total, 500 + l);
        fill_random(touch(t->store[l].v), t->small[l]->trained, 600 + l);
        if (t->small[l]->trained > 0) /* the sign of a zero is a bit too */
            ((float *)t->store[l].w)[0] = -0.0f;
    }
    put_back(t, true, 1);
    for (int64_t p = 0; p < t->net->params; p++)
        for (int64_t i = 0; i < t->net->param[p].count; i++) {
            if (t->net->param[p].role == TSRI_FIXED) {
                int64_t at = oracle_whole(t->net, p, i);
                assert_true(((float *)t->whole.w)[at] == ((float *)before.w)[at]);
                continue;
            }
            compare_one(t, p, i, touch(before.w), touch(t->whole.w), false);
            if (t->net->param[p].role == TSRI_TRAINED)
                compare_one(t, p, i, touch(before.v), touch(t->whole.v), true);
        }
    tsri_store_fini(&before);
}

static void put_is_the_mean_over_owners(void **state)
{
    (void)state;
    for_all(check_put);
}

/* Large enough for lines of several blocks and pieces of several parts. */
static void threads_do_not_matter(void **state)
{
    (void)state;
    static const test_net large[] = {
        {"model: {name: mlp, hidden: [6000, 40]}", {9, 1, 1}, false},
        {"model: {name: mlp, hidden: [40, 5000, 30], norm: batch}", {5000, 1, 1}, false}};
    for (int n = 0; n < 2; n++)
        for (int d = 0; d < DRAWS; d++) {
            float *first = NULL;
            team t;
            for (int threads = 1; threads <= 3; threads++) {
                set_up(&t, &large[n], &draws[d], 4);
                for (int64_t l = 0; l < t.count; l++)
                    fill_random(touch(t.store[l].w), t.small[l]->total, 500 + l);
                put_back(&t, false, threads);
                size_t bytes = (size_t)t.net->total * sizeof(float);
                if (!first) {
                    assert_ok(tsri_alloc(&first, t.net->total, sizeof *first));
                    memcpy(first, t.whole.w, bytes);
                }
                assert_memory_equal(first, t.whole.w, bytes);
                tear_down(&t);
            }
            tsri_free(first);
        }
}

/* Any units of the axis, given or by score. */
static void choose(tsri_share *share, int64_t axis, tsri_rng *rng)
{
    int64_t index[512], size = share->net->axis[axis].size;
    int64_t count = tsri_rng_below(rng, (uint32_t)size + 1);
    double score[512];
    assert_true(size <= 512);
    tsri_rng_permutation(rng, index, size);
    for (int64_t i = 0; i < size; i++)
        score[i] = tsri_rng_normal(rng);
    if (tsri_rng_below(rng, 2) == 0)
        assert_ok(tsri_share_give(share, axis, index, count));
    else
        assert_ok(tsri_share_best(share, axis, score, count));
}

/* Random lists and ranks on random axes of every model, several times over. */
static void random_shares_against_the_oracle(void **state)
{
    (void)state;
    static const tsri_draw whole = {.kind = TSRI_DRAW_WHOLE, .workers = 4};
    tsri_rng rng = tsri_rng_stream(21, TSRI_FOR_TEST, 1, 0, 0);
    for (int n = 0; n < TEST_NETS; n++)
        for (int64_t round = 0; round < (n < 3 ? 6 : 2); round++) {
            team t;
            set_up(&t, &test_nets[n], &whole, round);
            for (int64_t l = 0; l < t.count; l++) {
                for (int64_t a = 0; a < t.net->axes; a++)
                    if (t.net->axis[a].cuttable && tsri_rng_below(&rng, 3) > 0)
                        choose(&t.share[l], a, &rng);
                tsri_store_fini(&t.store[l]);
                tsri_net_destroy(t.small[l]);
                assert_ok(tsri_net_cut(&t.small[l], t.net, &t.share[l], false));
                assert_ok(tsri_store_init(&t.store[l], t.small[l], &tsri_backend_cpu, true));
            }
            check_take(&t);
            check_nothing_changes(&t);
            check_put(&t);
            tear_down(&t);
        }
}

/* ---- Shares of changing sizes ------------------------------------------------------------- */

enum { BATCH = 6 };

/* One forward and backward of a share; the numbers come from the whole. */
static void pass(tsri_plan *plan, tsri_store *store, const team *t, const float *x)
{
    static const int32_t label[BATCH * 4] = {0, 1, 2, 0, 1, 2};
    tsri_loss loss = {.kind = &tsri_loss_cross_entropy, .valid = BATCH, .label = label};
    assert_ok(tsri_take(store, &t->whole, &t->share[0], false));
    assert_ok(tsri_plan_forward(plan, x));
    assert_ok(tsri_plan_loss(plan, &loss));
    assert_ok(tsri_plan_backward(plan));
}

/* A network, store and plan that were resized again and again, smaller and larger, compute what
 * fresh ones do, to the bit: nothing reads what an older and larger one left behind. */
static void resized(const test_net *like, tsri_pool *pool)
{
    static const double xi[] = {0.3, 0.9, 0.5, 1, 0.4};
    static const tsri_draw whole = {.kind = TSRI_DRAW_WHOLE, .workers = 1};
    const tsri_backend *backend = &tsri_backend_cpu;
    tsri_net *net = NULL;
    tsri_store store = {0};
    tsri_plan *plan = NULL;
    float x[BATCH * 3 * 32 * 32];
    team t;
    set_up(&t, like, &whole, 1);
    fill_random(x, BATCH * tsri_shape_count(t.net->input), 3);
    for (int64_t round = 0; round < 5; round++) {
        tsri_draw draw = {.kind = TSRI_DRAW_BERNOULLI, .workers = 1, .xi = xi[round]};
        tsri_share_draw(&t.share[0], &draw, 17, round, 0);
        if (tsri_share_empty(&t.share[0]))
            continue;
        if (!net) {
            assert_ok(tsri_net_cut(&net, t.net, &t.share[0], false));
            assert_ok(tsri_store_init(&store, net, &tsri_backend_cpu, true));
            assert_ok(tsri_plan_create(&plan, &store, tsri_device_on(backend, pool), BATCH, true));
        } else {
            tsri_net_resize(net, &t.share[0]);
            assert_ok(tsri_store_fit(&store));
            assert_ok(tsri_plan_renew(&plan));
        }
        pass(plan, &store, &t, x);
        tsri_net *fresh = NULL;
        tsri_store other;
        tsri_plan *its = NULL;
        assert_ok(tsri_net_cut(&fresh, t.net, &t.share[0], false));
        assert_ok(tsri_store_init(&other, fresh, &tsri_backend_cpu, true));
        assert_ok(tsri_plan_create(&its, &other, tsri_device_on(backend, pool), BATCH, true));
        pass(its, &other, &t, x);
        assert_memory_equal(plan_outputs(plan), plan_outputs(its),
                            (size_t)tsri_plan_output_bytes(its));
        assert_memory_equal(store.g, other.g, (size_t)fresh->trained * sizeof(float));
        assert_memory_equal(store.w, other.w, (size_t)fresh->total * sizeof(float));
        tsri_plan_destroy(its);
        tsri_store_fini(&other);
        tsri_net_destroy(fresh);
    }
    assert_non_null(plan);
    tsri_plan_destroy(plan);
    tsri_store_fini(&store);
    tsri_net_destroy(net);
    tear_down(&t);
}

static void resized_shares_are_fresh_ones(void **state)
{
    (void)state;
    tsri_pool *pool = NULL;
    assert_ok(tsri_backend_cpu.start(1));
    assert_ok(tsri_pool_create(&pool, 1));
    for (int n = 0; n < TEST_NETS; n++)
        if (test_nets[n].filters == TSRI_HWIO || test_nets[n].input.w == 1)
            resized(&test_nets[n], pool);
    tsri_pool_destroy(pool);
}

/* Nobody came: nothing happens. */
static void no_owner_at_all(void **state)
{
    (void)state;
    team t;
    set_up(&t, &test_nets[2], &draws[2], 0);
    int64_t count = t.count;
    float *before = NULL;
    assert_ok(tsri_alloc(&before, t.net->total, sizeof *before));
    memcpy(before, t.whole.w, (size_t)t.net->total * sizeof(float));
    t.count = 0;
    put_back(&t, true, 1);
    t.count = count;
    assert_memory_equal(before, t.whole.w, (size_t)t.net->total * sizeof(float));
    tsri_free(before);
    tear_down(&t);
}

static tsr_status everything(const tsri_net *net)
{
    tsr_status st = TSR_OK;
    tsri_share share = {0};
    tsri_net *small = NULL;
    tsri_store store = {0};
    tsri_put put = {0};
    double score[16] = {0};
    TSR_TRY(tsri_share_init(&share, net));
    TSR_TRY(tsri_share_best(&share, 2, score, 3));
    TSR_TRY(tsri_net_cut(&small, net, &share, false));
    TSR_TRY(tsri_store_init(&store, small, &tsri_backend_cpu, true));
    TSR_TRY(tsri_put_init(&put, net));
done:
    tsri_put_fini(&put);
    tsri_store_fini(&store);
    tsri_net_destroy(small);
    tsri_share_fini(&share);
    return st;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tsri_net *net = NULL;
    make_net(&net, &test_nets[1]);
    tsr_status st = TSR_RESOURCES;
    int64_t n = 0;
    for (; st != TSR_OK; n++) {
        (void)tsri_alloc_fail_after(n, false);
        st = everything(net);
        (void)tsri_alloc_fail_after(-1, false);
        assert_true(st == TSR_OK || st == TSR_RESOURCES);
        assert_true(n < 1000);
    }
    assert_true(n > 10);
    tsri_net_destroy(net);
}

/* Not a test of speed, but the place where it can be seen: TESSERA_SPEED=1 prints it. */
static void speed(void **state)
{
    (void)state;
    static const test_net wide = {"model: {name: mlp, hidden: [2048, 2048]}", {784, 1, 1}, false};
    if (!getenv("TESSERA_SPEED"))
        return;
    for (int d = 0; d < DRAWS; d++) {
        team t;
        double take = 1e9, put = 1e9, bytes = 0;
        set_up(&t, &wide, &draws[d], 0);
        tsri_pool *pool = NULL;
        tsri_put p;
        assert_ok(tsri_pool_create(&pool, 1));
        assert_ok(tsri_put_init(&p, t.net));
        for (int repeat = 0; repeat < 5; repeat++) {
            double start = tsri_clock();
            for (int64_t l = 0; l < t.count; l++)
                assert_ok(tsri_take(&t.store[l], &t.whole, &t.share[l], false));
            take = fmin(take, tsri_clock() - start);
            start = tsri_clock();
            assert_ok(tsri_put_run(&p, &t.whole, t.owner, t.count, false,
                                   tsri_device_on(t.whole.backend, pool)));
            put = fmin(put, tsri_clock() - start);
        }
        for (int64_t l = 0; l < t.count; l++)
            bytes += 4.0 * (double)t.small[l]->total;
        printf("draw %d, %lld shares, %5.1f MB: take %5.2f GB/s, put %5.2f GB/s, one thread\n",
               (int)draws[d].kind, (long long)t.count, bytes / 1e6, bytes / take / 1e9,
               bytes / put / 1e9);
        tsri_put_fini(&p);
        tsri_pool_destroy(pool);
        tear_down(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(take_copies_the_slices),
        cmocka_unit_test(take_then_put_changes_nothing),
        cmocka_unit_test(put_is_the_mean_over_owners),
        cmocka_unit_test(random_shares_against_the_oracle),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(resized_shares_are_fresh_ones),
        cmocka_unit_test(no_owner_at_all),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(speed),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
