/* Tickets against an oracle that knows no ranking and no slices: a unit is kept when fewer than k
 * others beat it, and every number of the ticket is looked up by its dimensions. Masked and compact
 * networks give the same outputs; files say what they are. */
#include "share_testing.h"
#include "scratch.h"

#include "base/pool.h"
#include "net/plan.h"
#include "net/widths.h"
#include "subnet/filters.h"
#include "ticket/latency.h"
#include "ticket/origin.h"
#include "ticket/prune.h"

#include <math.h>

/* ---- The oracle --------------------------------------------------------------------------- */

/* Number (unit, rest) of a parameter in the order of files. */
static double number_of(const tsri_store *s, int64_t i, int64_t unit, int64_t rest)
{
    const tsri_param *p = &s->net->param[i];
    const float *w = tsri_store_at(s, s->w, i);
    return (double)w[tsri_order_place(p, unit * (p->count / p->shape[0]) + rest)];
}

static double number(const tsri_store *s, const char *name, int64_t unit, int64_t rest)
{
    int64_t i = tsri_net_param(s->net, name);
    assert_true(i >= 0);
    return number_of(s, i, unit, rest);
}

/* The layer whose output is the axis: a convolution or a linear layer. */
static const tsri_layer *maker(const tsri_net *net, int64_t axis)
{
    for (int64_t i = 0; i < net->layers; i++)
        if ((net->layer[i].kind == TSRI_CONV || net->layer[i].kind == TSRI_LINEAR) &&
            net->value[net->layer[i].out].axis == axis)
            return &net->layer[i];
    fail_msg("axis %s is made by no layer", net->axis[axis].name);
    return NULL;
}

/* All rows that make the unit: of a recurrent layer those of W and of A. */
static double oracle_score(const tsri_store *s, int64_t axis, int64_t unit, tsri_criterion how)
{
    const tsri_net *net = s->net;
    int64_t size = net->axis[axis].size;
    double sum = 0, squares[64] = {0};
    if (how == TSRI_SCORE_BN)
        return fabs(number_of(s, maker(net, axis)[1].weight, unit, 0)); /* of the norm behind it */
    for (int64_t p = 0; p < net->params; p++) {
        if (net->param[p].role != TSRI_TRAINED || net->param[p].rank < 2 ||
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
    double score[64];
    int64_t size = s->net->axis[axis].size;
    assert_true(size <= 64);
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
    assert_ok(tsri_store_init(&ticket, small, sizeof(float), false));
    tsri_take(&ticket, s, share, false);
    const float *w = s->w, *t = ticket.w;
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
    const tsri_layer *l = maker(net, axis);
    return l - net->layer + 1 < net->layers && l[1].kind == TSRI_NORM;
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
                    normed = normed && (!net->axis[a].cuttable || has_norm(net, a));
                if (c == TSRI_SCORE_BN && !normed) {
                    assert_fails(tsri_prune_choose(&share, &store, &how), TSR_USAGE,
                                 "has no batch norm");
                } else {
                    assert_ok(tsri_prune_choose(&share, &store, &how));
                    for (int64_t a = 0; a < net->axes; a++)
                        if (net->axis[a].cuttable) {
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

/* By default what LoFT cuts: not the first stage, not strided blocks; all of a plain net. */
static void the_default_axes(void **state)
{
    (void)state;
    bool cut[64];
    tsri_net *net = NULL;
    make_net(&net, &test_nets[3]); /* preresnet18 */
    assert_ok(tsri_axes_choose(cut, net, NULL));
    for (int64_t a = 0; a < net->axes; a++) {
        const char *name = net->axis[a].name;
        bool want = strcmp(name, "layer2.1.inner") == 0 || strcmp(name, "layer3.1.inner") == 0 ||
                    strcmp(name, "layer4.1.inner") == 0;
        assert_true(cut[a] == want);
    }
    assert_fails(tsri_axes_choose(cut, net, "layer2.1.inner, layer2.stream"), TSR_USAGE,
                 "no axis layer2.stream that can be cut: those are layer1.0.inner");
    tsri_net_destroy(net);
    make_net(&net, &test_nets[1]); /* mlp */
    assert_ok(tsri_axes_choose(cut, net, NULL));
    for (int64_t a = 0; a < net->axes; a++)
        assert_true(cut[a] == net->axis[a].cuttable);
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
}

/* One ranking: as many as the ratio says in all, every axis some, each its largest. */
static void globally(void **state)
{
    (void)state;
    for (int n = 0; n < TEST_NETS; n++) {
        tsri_net *net = NULL;
        tsri_store store;
        tsri_share share;
        int64_t units = 0, kept = 0;
        tsri_prune how = {.ratio = 0.4, .global = true, .axes = "all"};
        make_net(&net, &test_nets[n]);
        make_store(&store, net, n);
        assert_ok(tsri_share_init(&share, net));
        assert_ok(tsri_prune_choose(&share, &store, &how));
        for (int64_t a = 0; a < net->axes; a++) {
            if (!net->axis[a].cuttable)
                continue;
            units += net->axis[a].size;
            kept += share.pick[a].count;
            assert_true(share.pick[a].count >= 1);
            check_largest(&store, &share, a, share.pick[a].count, how.criterion);
        }
        assert_int_equal(kept, llround((double)units * 0.6));
        tsri_share_fini(&share);
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
        for (int64_t i = 0; net->axis[x].cuttable && i < a.pick[x].count; i++) {
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

/* ---- Files -------------------------------------------------------------------------------- */

static tsr_status train_small(const char *folder)
{
    tsr_result r;
    tsr_config *c = NULL;
    tsr_run_options o = tsr_run_options_default();
    tsr_status st = tsr_config_create(&c);
    static const char *const set[] = {
        "data.name=glyphs",    "data.n=60",     "data.test_n=10", "model.hidden=[8, 6]",
        "model.norm=batch",    "rounds=1",      "batch=20",       "threads=1",
        "data.prefetch=false", "model.name=mlp"};
    for (size_t i = 0; st == TSR_OK && i < sizeof set / sizeof *set; i++)
        st = tsr_config_set(c, set[i]);
    o.folder = folder;
    if (st == TSR_OK)
        st = tsr_train(&r, c, &o);
    tsr_config_destroy(c);
    return st;
}

static int setup(void **state)
{
    return scratch_setup(state) || train_small(scratch_path("run")) != TSR_OK;
}

static tsr_status write_ticket(const char *from, const char *to, const tsri_prune *how)
{
    tsr_model *m = NULL;
    tsr_status st = tsr_model_read(&m, from);
    if (st == TSR_OK)
        st = tsri_ticket_write(to, m, how);
    tsr_model_destroy(m);
    return st;
}

static void read_origin(tsri_origin *o, tsr_model **m, const char *path)
{
    assert_ok(tsr_model_read(m, path));
    assert_ok(tsri_origin_read(o, (*m)->net, tsr_model_meta(*m, TSRI_META_TICKET), path));
}

/* Pruned twice, the units are still counted in the first network: their rows are its rows. */
static void units_keep_their_numbers(void **state)
{
    (void)state;
    char model[512], one[512], two[512];
    tsr_model *m = NULL, *t = NULL;
    tsri_origin o;
    (void)snprintf(model, sizeof model, "%s", scratch_path("run/model.safetensors"));
    (void)snprintf(one, sizeof one, "%s", scratch_path("one"));
    (void)snprintf(two, sizeof two, "%s", scratch_path("two"));
    assert_ok(write_ticket(model, one, &(tsri_prune){.ratio = 0.25}));
    assert_ok(write_ticket(one, two, &(tsri_prune){.ratio = 0.5, .axes = "hidden.0"}));
    assert_ok(tsr_model_read(&m, model));
    read_origin(&o, &t, two);
    assert_string_equal(tsri_config_text(t->config, "model.widths"), "hidden.0=3, hidden.1=5");
    int64_t axis = tsri_axis_find(t->net, "hidden.0");
    for (int64_t i = 0; i < t->net->axis[axis].size; i++)
        for (int64_t j = 0; j < 784; j++)
            assert_true(number(&t->store, "layers.0.weight", i, j) ==
                        number(&m->store, "layers.0.weight", o.unit[axis][i], j));
    tsri_origin_fini(&o);
    tsr_model_destroy(t);
    tsr_model_destroy(m);
}

/* The shape of the ticket, the weights of a fresh run of that shape. */
static void fresh_weights(void **state)
{
    (void)state;
    tsr_model *t = NULL;
    tsri_store fresh;
    assert_ok(write_ticket(scratch_path("run/model.safetensors"), scratch_path("fresh"),
                           &(tsri_prune){.ratio = 0.5, .reinit = true, .seed = 9}));
    assert_ok(tsr_model_read(&t, scratch_path("fresh")));
    assert_string_equal(tsri_config_text(t->config, "model.widths"), "hidden.0=4, hidden.1=3");
    assert_ok(tsri_store_init(&fresh, t->net, sizeof(float), false));
    tsri_store_fill(&fresh, 9);
    assert_memory_equal(fresh.w, t->store.w, (size_t)t->net->total * sizeof(float));
    tsri_store_fini(&fresh);
    tsr_model_destroy(t);
}

/* What a file says of its units must fit them. */
static void bad_origins(void **state)
{
    static const struct {
        const char *json, *words;
    } bad[] = {
        {"{", "JSON"},
        {"{}", "does not say which units"},
        {"{\"kept\": {\"hidden.0\": [1, 2]}}", "name the 12 units of axis hidden.0"},
        {"{\"kept\": {\"hidden.0\": [0,1,2,3,4,5,6,7,8,9,10,12]}}", "below 12"},
        {"{\"kept\": {\"hidden.0\": [0,2,1,3,4,5,6,7,8,9,10,11]}}", "ascending"},
        {"{\"kept\": {\"hidden.0\": [-1,1,2,3,4,5,6,7,8,9,10,11]}}", "ascending"},
        {"{\"kept\": {\"hidden.0\": 7}}", "ascending"},
    };
    (void)state;
    tsri_net *net = NULL;
    make_net(&net, &test_nets[0]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tsri_origin o;
        tsr_status st = tsri_origin_read(&o, net, bad[i].json, "t");
        assert_int_equal(st, TSR_BAD_FILE);
        if (i > 0)
            assert_non_null(strstr(tsr_last_error(), bad[i].words));
    }
    tsri_net_destroy(net);
}

/* Every allocation fails once: a status, nothing lost, no file; then it works. */
static void memory_fails(void **state)
{
    (void)state;
    int64_t held = tsri_alloc_blocks(), n = 0;
    tsr_status st = TSR_RESOURCES;
    tsri_prune how = {.ratio = 0.5, .global = true, .reinit = true};
    for (; st != TSR_OK; n++) {
        tsri_alloc_fail_after(n, false);
        st = write_ticket(scratch_path("run/model.safetensors"), scratch_path("walk"), &how);
        tsri_alloc_fail_after(-1, false);
        assert_true(st == TSR_OK || st == TSR_RESOURCES);
        assert_true(tsri_file_exists(scratch_path("walk")) == (st == TSR_OK));
        assert_int_equal(tsri_alloc_blocks(), held);
    }
    print_message("%lld allocations\n", (long long)n);
    assert_true(n > 50);
}

/* Two networks, one four times the other's work: times are finite, positive, in that order; the
 * models stay as they are. */
static void times(void **state)
{
    (void)state;
    tsr_model *m[2] = {NULL, NULL};
    tsri_latency t[2];
    assert_ok(tsr_model_read(&m[0], scratch_path("run/model.safetensors")));
    assert_ok(tsr_model_read(&m[1], scratch_path("one")));
    assert_ok(tsri_latency_measure(t, (const tsr_model *const *)m, 2, 0));
    for (int i = 0; i < 2; i++)
        assert_true(isfinite(t[i].infer) && t[i].infer > 0 && isfinite(t[i].step) &&
                    t[i].step > t[i].infer / 2);
    assert_true(tsri_faster(10, 9));
    assert_false(tsri_faster(10, 9.9)); /* noise */
    assert_false(tsri_faster(10, 12));
    tsr_model_destroy(m[0]);
    tsr_model_destroy(m[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_are_kept),
        cmocka_unit_test(the_default_axes),
        cmocka_unit_test(counts),
        cmocka_unit_test(globally),
        cmocka_unit_test(by_chance),
        cmocka_unit_test(masked_and_compact_agree),
        cmocka_unit_test(widths_describe_a_cut),
        cmocka_unit_test(bad_widths),
        cmocka_unit_test(units_keep_their_numbers),
        cmocka_unit_test(fresh_weights),
        cmocka_unit_test(bad_origins),
        cmocka_unit_test(memory_fails),
        cmocka_unit_test(times),
    };
    return nothing_left(cmocka_run_group_tests(tests, setup, scratch_teardown));
}
