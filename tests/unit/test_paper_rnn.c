/* Certificates of the recurrent paper: norms by power iteration against ones that
 * are known, states and Gram-Schmidt against definitions written out, and whole certificates of
 * small runs, before and during, with every allocation failing once. */
#include "testing.h"

#include "base/rng.h"
#include "base/stop.h"
#include "scheme/scheme.h"
#include "theory/chain.h"
#include "theory/papers.h"
#include "theory/rnn_parts.h"
#include "train/describe.h"

#include <math.h>

static tsri_pool *pool;

static int make_pool(void **state)
{
    (void)state;
    assert_ok(tsri_pool_create(&pool, 2));
    return 0;
}

static int end_pool(void **state)
{
    (void)state;
    tsri_pool_destroy(pool);
    return 0;
}

static void fill(float *x, int64_t n, int64_t seed)
{
    tsri_rng rng = tsri_rng_stream((uint64_t)seed, TSRI_FOR_TEST, 0, 0, 0);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)tsri_rng_normal(&rng);
}

/* ---- Norms -------------------------------------------------------------------------------- */

/* diag(3, 2, 1, ...) has norm 3; gates, differences and products of it are known too. */
static void norms_are_known(void **state)
{
    (void)state;
    enum { N = 6 };
    float d[N * N] = {0}, none[N] = {0}, off[N] = {0, 1, 1, 1, 1, 1}, zero[N * N] = {0};
    for (int i = 0; i < N; i++)
        d[i * N + i] = i == 0 ? 3 : i == 1 ? 2 : 1;
    tsri_factor f[] = {{d, N, N, NULL}, {d, N, N, NULL}, {d, N, N, NULL}};
    tsri_norm norm;
    assert_ok(tsri_chain_norm(&norm, &(tsri_chain){f, 1}, NULL, 60, 1, pool));
    assert_true(fabs(norm.value - 3) < 1e-12 && norm.high >= 3 && norm.high < 3.3);
    assert_ok(tsri_chain_norm(&norm, &(tsri_chain){f, 3}, NULL, 60, 1, pool));
    assert_true(fabs(norm.value - 27) < 1e-10);
    f[1].gate = off; /* the first unit is off: 2^3 is left */
    assert_ok(tsri_chain_norm(&norm, &(tsri_chain){f, 3}, NULL, 60, 1, pool));
    assert_true(fabs(norm.value - 8) < 1e-10);
    f[1].gate = none;
    assert_ok(tsri_chain_norm(&norm, &(tsri_chain){f, 3}, NULL, 60, 1, pool));
    assert_true(norm.value == 0 && norm.high == 0);
    tsri_factor g[] = {{zero, N, N, NULL}, {NULL, N, N, off}};
    f[1].gate = NULL;
    assert_ok(tsri_chain_norm(&norm, &(tsri_chain){f, 1}, &(tsri_chain){g, 1}, 60, 1, pool));
    assert_true(fabs(norm.value - 3) < 1e-12);
    assert_ok(tsri_chain_norm(&norm, &(tsri_chain){f, 1}, &(tsri_chain){f, 1}, 60, 1, pool));
    assert_true(norm.value == 0);
    assert_ok(tsri_chain_norm(&norm, &(tsri_chain){g + 1, 1}, NULL, 60, 1, pool));
    assert_true(fabs(norm.value - 1) < 1e-12);
}

/* A Gaussian matrix with entries N(0, 1/n), n = 300: its norm is 2 within a few n^(-2/3); value and
 * high stand on both sides of the exact one. */
static void gaussian_norm(void **state)
{
    (void)state;
    enum { N = 300 };
    float *w = NULL;
    tsri_norm norm, exact;
    assert_ok(tsri_alloc(&w, N * N, sizeof *w));
    fill(w, N * N, 5);
    for (int i = 0; i < N * N; i++)
        w[i] /= sqrtf(N);
    tsri_factor f = {w, N, N, NULL};
    assert_ok(tsri_chain_norm(&norm, &(tsri_chain){&f, 1}, NULL, 40, 1, pool));
    assert_ok(tsri_chain_norm(&exact, &(tsri_chain){&f, 1}, NULL, 3000, 1, pool));
    assert_true(fabs(exact.value - 2) < 3 * pow(N, -2.0 / 3) && exact.level == 1 && norm.level < 1);
    assert_true(norm.value <= exact.value * (1 + 1e-12) && norm.high >= exact.value);
    tsri_free(w);
}

/* Power iteration from this start found 1.39 of 1.49 for a matrix of 50 x 2, outside its interval: with
 * two columns it is often that unlucky. Narrow maps are exact, tall ones, wide ones and differences. */
static void narrow_norm(void **state)
{
    (void)state;
    enum { M = 50 };
    float w[2 * M], zero[2 * M] = {0}, turned[2 * M];
    double a = 0, b = 0, c = 0;
    tsri_norm norm;
    fill(w, 2 * M, 5);
    for (int i = 0; i < M; i++) {
        double x = (double)w[2 * i], y = (double)w[2 * i + 1];
        a += x * x, b += x * y, c += y * y;
        turned[i] = w[2 * i], turned[M + i] = w[2 * i + 1];
    }
    double known = sqrt((a + c + sqrt((a - c) * (a - c) + 4 * b * b)) / 2); /* of [a b; b c] */
    tsri_factor tall = {w, M, 2, NULL}, wide = {turned, 2, M, NULL}, none = {zero, M, 2, NULL};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        assert_ok(tsri_chain_norm(&norm, &(tsri_chain){&tall, 1}, NULL, 40, seed, pool));
        assert_true(fabs(norm.value / known - 1) < 1e-13 && norm.level == 1);
        assert_true(norm.high > norm.value && norm.high < norm.value * (1 + 1e-11));
        assert_ok(tsri_chain_norm(&norm, &(tsri_chain){&wide, 1}, NULL, 40, seed, pool));
        assert_true(fabs(norm.value / known - 1) < 1e-13);
        assert_ok(tsri_chain_norm(&norm, &(tsri_chain){&none, 1}, &(tsri_chain){&tall, 1}, 40, seed,
                                  pool));
        assert_true(fabs(norm.value / known - 1) < 1e-13);
    }
    w[3] = NAN;
    assert_ok(tsri_chain_norm(&norm, &(tsri_chain){&tall, 1}, NULL, 40, 1, pool));
    assert_true(isnan(norm.value) && isnan(norm.high));
}

/* The beginnings of a gated chain, all at once or one after the other: the same bits. One of them ends
 * in four rows, and is exact. */
static void norms_together(void **state)
{
    (void)state;
    enum { N = 70, FACTORS = 9, NARROW = 4 };
    static const int64_t count[] = {1, 2, 2, 5, 8, 9};
    enum { MAPS = sizeof count / sizeof *count };
    float w[N * N], on[FACTORS * N];
    tsri_factor f[FACTORS];
    tsri_norm all[MAPS], one;
    fill(w, N * N, 5);
    fill(on, FACTORS * N, 6);
    for (int l = 0; l < FACTORS; l++)
        f[l] = (tsri_factor){w, l == FACTORS - 1 ? NARROW : N, N, on + l * N};
    assert_ok(tsri_chain_norms(all, &(tsri_chain){f, FACTORS}, count, MAPS, 20, 3, pool));
    for (int k = 0; k < MAPS; k++) {
        assert_ok(tsri_chain_norm(&one, &(tsri_chain){f, count[k]}, NULL, 20, 3, pool));
        assert_memory_equal(&all[k], &one, sizeof one);
    }
    assert_true(all[MAPS - 1].level == 1 && all[0].level < 1 && all[0].value > 1);
    tsr_context_stop(NULL);
    assert_int_equal(tsri_chain_norms(all, &(tsri_chain){f, 2}, count, 2, 20, 3, pool),
                     TSR_INTERRUPTED);
    assert_ok(tsri_chain_norm(&one, &(tsri_chain){f, 2}, NULL, 20, 3, pool));
    tsri_stop_clear();
}

/* ---- States of a recurrent network ----------------------------------------------------------- */

enum { SEQ = 3, LEN = 4, M = 40, DX = 5 };

static void set_net(tsri_rnn_net *net, float *W, float *A, float *B, float *x)
{
    fill(W, M * M, 1);
    fill(A, M * DX, 2);
    fill(B, M, 4);
    fill(x, SEQ * LEN * DX, 3);
    for (int i = 0; i < M * M; i++)
        W[i] *= sqrtf(2.0f / M);
    *net = (tsri_rnn_net){.L = LEN, .m = M, .dx = DX, .d = 1};
    assert_ok(tsri_rnn_net_init(net, W, A, B));
}

/* The states in plain loops; zero after the end. */
static void states_by_hand(void **state)
{
    (void)state;
    static float W[M * M], A[M * DX], B[M], x[SEQ * LEN * DX];
    int32_t length[SEQ] = {4, 2, 3};
    tsri_rnn_net net;
    tsri_rnn_states s;
    set_net(&net, W, A, B, x);
    assert_ok(tsri_rnn_states_init(&s, &net, x, length, SEQ, pool));
    for (int i = 0; i < SEQ; i++) {
        double h[M] = {0};
        for (int l = 0; l < LEN; l++) {
            double g[M];
            for (int k = 0; k < M; k++) {
                g[k] = 0;
                for (int j = 0; j < M; j++)
                    g[k] += (double)W[k * M + j] * h[j];
                for (int j = 0; j < DX; j++)
                    g[k] += (double)A[k * DX + j] * (double)x[(i * LEN + l) * DX + j];
            }
            for (int k = 0; k < M; k++) {
                h[k] = g[k] > 0 ? g[k] : 0;
                double want = l < length[i] ? h[k] : 0;
                assert_true(fabs(s.h[tsri_rnn_row(&s, l, i) + k] - want) < 1e-12);
            }
        }
    }
    tsri_rnn_states_fini(&s);
    tsri_rnn_net_fini(&net);
}

/* f and |grad f|^2 of three sequences of different lengths: the gradient against differences of f
 * along itself, which the position before the loss, lengths and blocks would all spoil. */
static void gradient_against_differences(void **state)
{
    (void)state;
    static float W[M * M], A[M * DX], B[M], x[SEQ * LEN * DX], y[SEQ * LEN];
    static double gradient[M * M];
    int32_t length[SEQ] = {4, 2, 3};
    tsri_rnn_net net;
    set_net(&net, W, A, B, x);
    fill(y, SEQ * LEN, 5);
    tsri_rnn_case k = {.pool = pool, .now = net, .n = SEQ, .x = x, .length = length, .target = y};
    tsri_rnn_gradient at = {.gradient = gradient}, ahead = {0}, behind = {0};
    assert_ok(tsri_rnn_gradient_of(&at, &k, &net, false));
    assert_true(at.f > 0 && at.squares > 0 && at.most_i <= at.squares * SEQ * SEQ);
    double step = 1e-6 / sqrt(at.squares);
    for (int e = 0; e < M * M; e++)
        net.W[e] += step * gradient[e];
    assert_ok(tsri_rnn_gradient_of(&ahead, &k, &net, false));
    for (int e = 0; e < M * M; e++)
        net.W[e] -= 2 * step * gradient[e];
    assert_ok(tsri_rnn_gradient_of(&behind, &k, &net, false));
    double slope = (ahead.f - behind.f) / (2 * step);
    assert_true(fabs(slope / at.squares - 1) < 1e-6);
    tsri_rnn_net_fini(&net);
}

/* With W = 0 and A, x chosen, states are what A x says: the rest of a state that repeats another is
 * 0, of a new one its new part. */
static void fresh_parts(void **state)
{
    (void)state;
    float W[16] = {0}, A[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, B[4] = {0};
    float x[] = {1, 0, 0, 0, 1, 0, 2, 0,  /* e1, then e1 + 2 e3 */
                 0, 1, 0, 0, 0, 5, 0, 3}; /* e2, then 5 e2 + 3 e4 */
    tsri_rnn_net net = {.L = 2, .m = 4, .dx = 4, .d = 1};
    double shortest, separable;
    assert_ok(tsri_rnn_net_init(&net, W, A, B));
    tsri_rnn_case k = {.pool = pool, .then = &net, .n = 2, .x = x};
    assert_ok(tsri_rnn_fresh(&shortest, &separable, &k, 2));
    assert_true(fabs(shortest - 1) < 1e-12 && fabs(separable - 1) < 1e-12);
    x[0] = 10, x[9] = 10;
    assert_ok(tsri_rnn_fresh(&shortest, &separable, &k, 2));
    assert_true(fabs(shortest - 2) < 1e-12 && fabs(separable - 2) < 1e-12);
    x[6] = 0; /* the first sequence has nothing new */
    assert_ok(tsri_rnn_fresh(&shortest, &separable, &k, 2));
    assert_true(shortest < 1e-12);
    tsri_rnn_net_fini(&net);
}

/* A block of ones in a corner, hidden among small numbers: its norm is 1 on the 4 units that make
 * it, and that is what is found with k = 8^(2/3) = 4; the sparsity rounds down. */
static void worst_support_is_found(void **state)
{
    (void)state;
    assert_int_equal(tsri_rnn_sparsity(8), 4);
    assert_int_equal(tsri_rnn_sparsity(27), 9);
    assert_int_equal(tsri_rnn_sparsity(128), 25);
    static float W[64], A[16], B[16];
    float x[4] = {1, 0, 1, 0};
    tsri_run run = {.settings.seed = 3};
    tsri_run_view view = tsri_run_view_of(&run);
    for (int i = 0; i < 8; i++)
        A[2 * i] = 1; /* all units are on at both positions */
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            W[(i + 2) * 8 + j + 2] = 0.25f;
    for (int j = 0; j < 8; j++)
        B[j] = B[8 + j] = j < 4 ? 2 : 1;
    tsri_rnn_net net = {.L = 2, .m = 8, .dx = 2, .d = 2};
    assert_ok(tsri_rnn_net_init(&net, W, A, B));
    tsri_rnn_case k = {.view = &view,
                       .pool = pool,
                       .then = &net,
                       .now = net,
                       .n = 1,
                       .x = x,
                       .s = {.L = 2, .m = 8, .n = 1, .d = 2}};
    tsri_rnn_spans s;
    assert_ok(tsri_rnn_spans_init(&s, &k, 1));
    assert_true(fabs(s.sparse - 1) < 1e-9 && s.sparse <= s.sparse_most * (1 + 1e-12));
    assert_true(fabs(s.entry - 0.25) < 1e-12);
    for (int j = 0; j < 8; j++)
        assert_true(fabs(fabs(s.right[j]) - (j >= 2 && j < 6 ? 0.5 : 0)) < 1e-6);
    /* B W: columns 2..5 are (2 + 2 + 1 + 1)/4 = 1.5 in both rows: |.|_2 = sqrt(8) 1.5 */
    assert_true(fabs(s.back - 1.5 * sqrt(8)) < 1e-9 && fabs(s.column - 1.5 * sqrt(2)) < 1e-12);
    tsri_rnn_spans_fini(&s);
    tsri_rnn_net_fini(&net);
}

/* ---- Whole certificates --------------------------------------------------------------------- */

static const char recurrent[] =
    "data: {name: sequences, n: 5, test_n: 1, dim: 6, length: 5, targets: 2, phi: 0.3}\n"
    "model: {name: rnn, width: 96}\n"
    "optim: {name: gd, lr: 1.0e-4, momentum: 0}\nrounds: 30\nthreads: 1\n";

/* As small as goes, for what is done a hundred times. */
static const char tiny[] =
    "data: {name: sequences, n: 2, test_n: 1, dim: 4, length: 3, targets: 1, phi: 0.3}\n"
    "model: {name: rnn, width: 24}\n"
    "optim: {name: gd, lr: 1.0e-4, momentum: 0}\nrounds: 30\nthreads: 1\n";

static void start(tsri_run *run, tsr_config **config, const char *text)
{
    tsr_run_options o = tsr_run_options_default();
    assert_ok(tsri_config_parse(config, text, (int64_t)strlen(text), "test"));
    assert_ok(tsri_run_init(run, *config, &o));
    assert_ok(run->settings.scheme->setup(run));
}

/* The rows of the run as it stands. */
static void look(tsri_certificate *c, tsri_run *run, tsri_past *past, const tsri_paper *paper)
{
    tsri_run_view view = tsri_run_view_of(run);
    tsri_certificate_init(c, paper->name);
    c->round = run->position.round;
    tsri_past_begin(past, run->position.round);
    assert_ok(tsri_run_view_open(&view));
    if (paper->look)
        assert_ok(paper->look(&view, past));
    assert_ok(paper->certify(c, &view, past));
    assert_ok(tsri_certificate_end(c));
    tsri_run_view_close(&view);
}

static void steps(tsri_run *run, int64_t count)
{
    for (int64_t k = 0; k < count; k++, run->position.round++)
        assert_ok(run->settings.scheme->round(run));
}

static const tsri_row *row(const tsri_certificate *c, const char *where)
{
    for (int64_t i = 0; i < c->count; i++)
        if (strcmp(c->row[i].where, where) == 0)
            return &c->row[i];
    fail_msg("there is no row %s", where);
    return NULL;
}

/* Fails unless the row has that verdict. */
static void judged(const tsri_certificate *c, const char *where, tsri_verdict verdict)
{
    const tsri_row *r = row(c, where);
    char words[200];
    if (r->verdict != verdict)
        fail_msg("%s, %s: %g against %g: %s", where, r->quantity, r->claim.measured,
                 r->claim.required, tsri_row_words(words, sizeof words, r));
}

static void rnn_before_and_during(void **state)
{
    (void)state;
    tsri_run run;
    tsr_config *config = NULL;
    tsri_certificate c;
    tsri_past past = {0};
    start(&run, &config, recurrent);
    tsri_run_view view = tsri_run_view_of(&run);
    assert_true(tsri_paper_rnn.applies(&view) && !tsri_paper_deep_relu.applies(&view));
    look(&c, &run, &past, &tsri_paper_rnn);
    static const char *const first[] = {"section 2.1",           "Assumption 2.1",
                                        "(4.2), Lemma B.6",      "(4.3), Lemma B.9",
                                        "(4.5), Corollary B.16", "(4.6), Corollary B.18",
                                        "(4.6), Corollary B.19"};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        judged(&c, first[i], TSRI_HOLDS);
    judged(&c, "Theorem 1", TSRI_FAILS);
    judged(&c, "(4.5), Corollary B.15", TSRI_FAILS); /* on the worst supports, not on random ones */
    judged(&c, "(6.2), Lemma D.7", TSRI_DOES_NOT_APPLY);
    judged(&c, "(7.1), Claim G.2", TSRI_VACUOUS);
    assert_true(row(&c, "Theorem 3")->claim.measured > 0);
    assert_true(row(&c, "Theorem 3")->verdict == TSRI_NO_VERDICT);
    tsri_certificate_fini(&c);
    steps(&run, 20);
    look(&c, &run, &past, &tsri_paper_rnn);
    static const char *const later[] = {"(5.1), Lemma C.2 (a)", "(5.1), Lemma C.2 (b)",
                                        "(5.1), Lemma C.2 (c)", "(H.1)"};
    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        judged(&c, later[i], TSRI_VACUOUS);
    assert_true(row(&c, "(H.1)")->claim.measured > 0);
    (void)row(&c, "(5.2), Lemma C.7");
    (void)row(&c, "(5.3), Lemma C.9");
    tsri_certificate_fini(&c);
    tsri_paper_rnn.forget(past.state);
    tsri_past_fini(&past);
    tsri_run_fini(&run);
    tsr_config_destroy(config);
}

/* Every allocation of a certificate fails once: RESOURCES, and nothing is left. */
static void failed_allocations(void **state)
{
    (void)state;
    const tsri_paper *paper = &tsri_paper_rnn;
    tsri_run run;
    tsr_config *config = NULL;
    start(&run, &config, tiny);
    for (int later = 0; later < 2; later++) {
        steps(&run, later);
        run.settings.rounds =
            run.position.round; /* the last round is looked at whatever that takes */
        tsri_run_view view = tsri_run_view_of(&run);
        assert_ok(tsri_run_view_open(&view));
        for (int64_t n = 0;; n += n < 12 ? 1 : 13) {
            tsri_certificate c;
            tsri_past past = {0};
            tsri_certificate_init(&c, paper->name);
            tsri_past_begin(&past, run.position.round);
            (void)tsri_alloc_fail_after(n, false);
            tsr_status st = paper->look(&view, &past);
            st = st == TSR_OK ? paper->certify(&c, &view, &past) : st;
            int64_t made = tsri_alloc_fail_after(-1, false);
            st = st == TSR_OK ? tsri_certificate_end(&c) : st;
            tsri_certificate_fini(&c);
            if (paper->forget)
                paper->forget(past.state);
            tsri_past_fini(&past);
            assert_int_equal(st, made > n ? TSR_RESOURCES : TSR_OK);
            if (made <= n)
                break;
        }
        tsri_run_view_close(&view);
    }
    tsri_run_fini(&run);
    tsr_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(norms_are_known),       cmocka_unit_test(gaussian_norm),
        cmocka_unit_test(narrow_norm),           cmocka_unit_test(norms_together),
        cmocka_unit_test(states_by_hand),        cmocka_unit_test(gradient_against_differences),
        cmocka_unit_test(fresh_parts),           cmocka_unit_test(worst_support_is_found),
        cmocka_unit_test(rnn_before_and_during), cmocka_unit_test(failed_allocations),
    };
    return nothing_left(cmocka_run_group_tests(tests, make_pool, end_pool));
}
