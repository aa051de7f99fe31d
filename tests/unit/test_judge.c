/* Verdicts: one seed, or an interval that is not there, decides nothing; a straddling interval is
 * undecided; and for every kind of claim a fabricated series that violates it is found.
 *
 * The story: an interval of NaN used to pass as "above" (a function said so of a single
 * measurement), so a study with one seed could hold; and a mean that was on the right side
 * held whatever the interval of two seeds was. */
#include "testing.h"

#include "reproduce/grelu_fig2.h"
#include "reproduce/iterations.h"
#include "reproduce/loft.h"
#include "reproduce/masked.h"
#include "reproduce/rnn.h"

#include <math.h>

/* ---- Rules ----------------------------------------------------------------------------------- */

static tsri_finding judge(tsri_criteria_row rule, const double *value, int64_t seeds)
{
    tsri_claim c = {.criterion = &rule};
    assert_ok(tsri_claim_add(&c, NULL, value, seeds));
    tsri_finding found = tsri_claim_verdict(&c);
    tsri_claim_fini(&c);
    return found;
}

static const tsri_criteria_row above = {.id = "t", .rule = TSRI_RULE_ABOVE, .low = 1};
static const tsri_criteria_row below = {.id = "t", .rule = TSRI_RULE_BELOW, .high = 1};
static const tsri_criteria_row within = {
    .id = "t", .rule = TSRI_RULE_WITHIN, .low = 0.5, .high = 1.5};
static const tsri_criteria_row each = {.id = "t", .rule = TSRI_RULE_EACH_BELOW, .high = 1};
static const tsri_criteria_row each_above = {.id = "t", .rule = TSRI_RULE_EACH_ABOVE, .low = 1};

static void fewer_than_three_seeds(void **state)
{
    (void)state;
    static const double big[] = {100, 100, 100}, small[] = {0.01, 0.01, 0.01};
    for (int64_t seeds = 0; seeds <= 3; seeds++) {
        bool enough = seeds == TSRI_SEEDS_LEAST;
        assert_int_equal(judge(above, big, seeds),
                         enough ? TSRI_FINDING_HOLDS : TSRI_FINDING_UNDECIDED);
        assert_int_equal(judge(above, small, seeds),
                         enough ? TSRI_FINDING_FAILS : TSRI_FINDING_UNDECIDED);
        assert_int_equal(judge(each, small, seeds),
                         enough ? TSRI_FINDING_HOLDS : TSRI_FINDING_UNDECIDED);
        assert_int_equal(judge(each, big, seeds),
                         enough ? TSRI_FINDING_FAILS : TSRI_FINDING_UNDECIDED);
    }
}

static void what_was_not_measured(void **state)
{
    (void)state;
    static const double hole[] = {5, NAN, 5, 5}, gone[] = {5, INFINITY, 5, 5},
                        none[] = {NAN, NAN, NAN}, low[] = {0.1, NAN, 0.1};
    assert_int_equal(judge(above, hole, 4), TSRI_FINDING_UNDECIDED);
    assert_int_equal(judge(above, gone, 4),
                     TSRI_FINDING_UNDECIDED); /* a mean of infinity is no mean */
    assert_int_equal(judge(below, none, 3), TSRI_FINDING_UNDECIDED);
    assert_int_equal(judge(within, none, 3), TSRI_FINDING_UNDECIDED);
    assert_int_equal(judge(each, low, 3), TSRI_FINDING_UNDECIDED);
    assert_int_equal(judge(each, gone, 4), TSRI_FINDING_FAILS);       /* it diverged: not below */
    assert_int_equal(judge(each_above, gone, 4), TSRI_FINDING_HOLDS); /* "none converged" */
    assert_int_equal(judge(each_above, none, 3), TSRI_FINDING_UNDECIDED);
    tsri_claim c = {.criterion = &above};
    assert_int_equal(tsri_claim_verdict(&c), TSRI_FINDING_UNDECIDED); /* nothing was told */
    assert_ok(tsri_claim_add(&c, "a", (double[]){5, 5, 5}, 3));
    assert_int_equal(tsri_claim_verdict(&c), TSRI_FINDING_HOLDS);
    assert_ok(tsri_claim_leave(&c, "b", "not there"));
    assert_int_equal(tsri_claim_verdict(&c), TSRI_FINDING_UNDECIDED);
    tsri_claim_fini(&c);
}

/* The mean of 0.9, 1.2, 1.5 is 1.2; its interval, 4.3 errors of 0.173 to either side, has 1 in it.
 */
static void straddling(void **state)
{
    (void)state;
    static const double wide[] = {0.9, 1.2, 1.5}, tight[] = {1.19, 1.2, 1.21};
    assert_int_equal(judge(above, wide, 3), TSRI_FINDING_UNDECIDED);
    assert_int_equal(judge(below, wide, 3), TSRI_FINDING_UNDECIDED);
    assert_int_equal(judge(within, wide, 3), TSRI_FINDING_UNDECIDED);
    assert_int_equal(judge(above, tight, 3), TSRI_FINDING_HOLDS);
    assert_int_equal(judge(below, tight, 3), TSRI_FINDING_FAILS);
    assert_int_equal(judge(within, tight, 3), TSRI_FINDING_HOLDS);
    static const double far[] = {3, 3.01, 3.02}, near[] = {0.1, 0.11, 0.12};
    assert_int_equal(judge(within, far, 3), TSRI_FINDING_FAILS);
    assert_int_equal(judge(within, near, 3), TSRI_FINDING_FAILS);
    assert_int_equal(judge(each, wide, 3), TSRI_FINDING_FAILS); /* two of three are above */
    /* On the bound itself it is not above. */
    assert_int_equal(judge(above, (double[]){1, 1, 1}, 3), TSRI_FINDING_FAILS);
}

/* ln of 1/4, 1 and 4 has the mean 0: the geometric mean is 1, the other one 1.75. */
static void geometric_means(void **state)
{
    (void)state;
    tsri_criteria_row ratio = above;
    ratio.ratio = true;
    tsri_claim c = {.criterion = &ratio};
    assert_ok(tsri_claim_add(&c, NULL, (double[]){0.25, 1, 4}, 3));
    assert_true(fabs(tsri_part_shows(&c, 0).value - 1) < 1e-12);
    tsri_claim_fini(&c);
    /* no logarithm: not measured */
    assert_int_equal(judge(ratio, (double[]){0, 5, 5}, 3), TSRI_FINDING_UNDECIDED);
    assert_int_equal(judge(ratio, (double[]){-5, 5, 5}, 3), TSRI_FINDING_UNDECIDED);
}

static void every_part_counts(void **state)
{
    (void)state;
    static const double good[] = {2, 2.1, 2.2}, bad[] = {0.1, 0.11, 0.12}, open[] = {0, 1, 3};
    tsri_claim c = {.criterion = &above};
    tsri_text found = {0};
    assert_ok(tsri_claim_add(&c, "p = 2", good, 3));
    assert_ok(tsri_claim_add(&c, "p = 4", open, 3));
    assert_int_equal(tsri_claim_verdict(&c), TSRI_FINDING_UNDECIDED);
    assert_ok(tsri_claim_add(&c, "p = 8", bad, 3));
    assert_int_equal(tsri_claim_verdict(&c), TSRI_FINDING_FAILS);
    assert_ok(tsri_claim_found(&found, &c));
    assert_non_null(strstr(found.data, "p = 2: 2.1 (95 %: "));
    assert_non_null(strstr(found.data, "), holds; p = 4: 1.33 (95 %: "));
    assert_non_null(strstr(found.data, ", undecided; p = 8: 0.11"));
    tsri_text_fini(&found);
    tsri_claim_fini(&c);
    /* One line of many that is astray by its own 95 % is not enough: with t(2) = 4.303 the interval
     * of these is 0.35 to 0.85, with the t of twenty looks, P(|T| > 20.0) = 0.05/20, it is -0.55 to
     * 1.75. */
    static const double astray[] = {0.5, 0.6, 0.7};
    assert_ok(tsri_claim_add(&c, "astray", astray, 3));
    c.criterion = &above;
    assert_int_equal(tsri_claim_verdict(&c), TSRI_FINDING_FAILS);
    for (int i = 1; i < 20; i++)
        assert_ok(tsri_claim_add(&c, "good", good, 3));
    assert_int_equal(tsri_claim_verdict(&c), TSRI_FINDING_UNDECIDED);
    tsri_claim_fini(&c);
}

static void what_an_undecided_claim_says(void **state)
{
    (void)state;
    static const double one[] = {3};
    tsri_claim c = {.criterion = &above};
    tsri_text found = {0};
    assert_ok(tsri_claim_add(&c, NULL, one, 1));
    assert_ok(tsri_claim_found(&found, &c));
    assert_string_equal(found.data, "3; 1 seed, 3 are needed");
    tsri_text_fini(&found);
    tsri_claim_fini(&c);
}

/* ---- The table ------------------------------------------------------------------------------- */

/* Every claim belongs to a study, every study has claims, and no row lacks a word. */
static void the_table_is_whole(void **state)
{
    (void)state;
    for (int i = 0; tsri_reproductions[i]; i++)
        for (const tsri_reproduction *r = tsri_reproductions[i]; r->name; r++) {
            int64_t count = 0;
            for (const tsri_criteria_row *c = tsri_criteria_table; c->id; c++)
                count += tsri_criteria_of(c, r->name);
            if (count == 0)
                fail_msg("%s has no claim", r->name);
        }
    for (const tsri_criteria_row *c = tsri_criteria_table; c->id; c++) {
        char study[80], text[TSRI_RULE_TEXT];
        assert_ptr_equal(tsri_criteria_find(c->id), c); /* no id twice */
        (void)snprintf(study, sizeof study, "%s", c->id);
        *strrchr(study, '/') = '\0';
        if (!tsri_reproduction_find(study) || !c->paper || !c->statistic || !c->reason)
            fail_msg("%s: no study %s, or words are missing", c->id, study);
        assert_true(c->rule != TSRI_RULE_WITHIN || c->low < c->high);
        assert_true(!c->ratio || c->low > 0 || c->high > 0);
        assert_true(strlen(tsri_rule_text(text, c)) > 5);
        if (c->ratio != (strstr(text, "geometric mean") != NULL))
            fail_msg("%s: \"%s\" does not say which mean decides", c->id, text);
    }
    assert_null(tsri_criteria_find("masked/fig2a/"));
    assert_false(tsri_criteria_of(tsri_criteria_find("grelu/fig2b/smaller"), "grelu/fig2"));
}

/* ---- Fabricated figures ---------------------------------------------------------------------- */

static tsri_finding verdict_of(const tsri_study *s, const char *id)
{
    for (int64_t i = 0; i < s->claims; i++)
        if (strcmp(s->claim[i].criterion->id, id) == 0)
            return tsri_claim_verdict(&s->claim[i]);
    fail_msg("nothing was judged of %s", id);
    return TSRI_FINDING_UNDECIDED;
}

static void expect(const tsri_study *s, const char *id, tsri_finding verdict)
{
    if (verdict_of(s, id) != verdict)
        fail_msg("%s: %s, not %s", id, tsri_finding_name[verdict_of(s, id)],
                 tsri_finding_name[verdict]);
}

enum { ROUNDS = 20, SEEDS = 3, MOMENTS = TSRI_MASKED_MOMENTS };

/* A round multiplies the error by `draw`, then by each of step[], then by `put`; seeds differ by a
 * per mille. */
typedef struct shape {
    double draw, step[TSRI_MASKED_TAU], put;
} shape;

static void rounds_of(double *error, const shape *even, const shape *odd, int64_t seeds)
{
    for (int64_t k = 0; k < seeds; k++) {
        double now = 10 * (1 + 0.001 * (double)k);
        for (int64_t i = 0; i < ROUNDS; i++) {
            const shape *f = i % 2 ? odd : even;
            double *at = error + (k * ROUNDS + i) * MOMENTS;
            at[0] = now *= f->draw * (1 + 0.001 * (double)k);
            for (int t = 0; t < TSRI_MASKED_TAU; t++)
                at[t + 1] = now *= f->step[t];
            at[MOMENTS - 1] = now *= f->put * (1 - 0.001 * (double)k);
        }
    }
}

static void judge_rounds(tsri_study *s, const shape *even, const shape *odd, int64_t seeds)
{
    static double error[SEEDS * ROUNDS * MOMENTS];
    *s = (tsri_study){0};
    rounds_of(error, even, odd, seeds);
    tsri_masked_judge_rounds(s, NULL, error, ROUNDS, seeds);
    assert_ok(tsri_study_end(s));
}

static void rounds_that_violate(void **state)
{
    (void)state;
    tsri_study s;
    const shape right = {1.4, {0.97, 0.97, 0.97, 0.97, 0.97}, 0.8};
    judge_rounds(&s, &right, &right, SEEDS);
    for (int64_t i = 0; i < s.claims; i++)
        expect(&s, s.claim[i].criterion->id, TSRI_FINDING_HOLDS);
    assert_int_equal(s.claims, 8);
    tsri_study_fini(&s);
    judge_rounds(&s, &right, &right, 1); /* one seed */
    for (int64_t i = 0; i < s.claims; i++)
        expect(&s, s.claim[i].criterion->id, TSRI_FINDING_UNDECIDED);
    tsri_study_fini(&s);
    /* The net change of local steps is the same fall, but one of them goes up. */
    const shape rough = {1.4, {0.8, 0.8, 1.5, 0.97, 0.97}, 0.8};
    judge_rounds(&s, &rough, &rough, SEEDS);
    expect(&s, "masked/fig2a/local", TSRI_FINDING_HOLDS);
    expect(&s, "masked/fig2a/local-steps", TSRI_FINDING_FAILS);
    expect(&s, "masked/fig2a/local-climb", TSRI_FINDING_FAILS);
    tsri_study_fini(&s);
    /* In every other round putting together raises the error: the mean still falls. */
    const shape astray = {1.4, {0.97, 0.97, 0.97, 0.97, 0.97}, 1.05};
    judge_rounds(&s, &right, &astray, SEEDS);
    expect(&s, "masked/fig2a/aggregation", TSRI_FINDING_HOLDS);
    expect(&s, "masked/fig2a/aggregation-rounds", TSRI_FINDING_FAILS);
    tsri_study_fini(&s);
    /* Nothing is as it should be; and a drop that is no larger than a local step is not sudden. */
    const shape wrong = {0.9, {1.1, 1.1, 1.1, 1.1, 1.1}, 1.2},
                slow = {1.4, {0.9, 0.9, 0.9, 0.9, 0.9}, 0.95};
    judge_rounds(&s, &wrong, &wrong, SEEDS);
    expect(&s, "masked/fig2a/resampling", TSRI_FINDING_FAILS);
    expect(&s, "masked/fig2a/resampling-rounds", TSRI_FINDING_FAILS);
    expect(&s, "masked/fig2a/local", TSRI_FINDING_FAILS);
    expect(&s, "masked/fig2a/aggregation", TSRI_FINDING_FAILS);
    tsri_study_fini(&s);
    judge_rounds(&s, &slow, &slow, SEEDS);
    expect(&s, "masked/fig2a/sudden", TSRI_FINDING_FAILS);
    tsri_study_fini(&s);
}

/* An error that is not a number proves nothing of any event. */
static void rounds_without_numbers(void **state)
{
    (void)state;
    static double error[SEEDS * ROUNDS * MOMENTS];
    const shape right = {1.4, {0.97, 0.97, 0.97, 0.97, 0.97}, 0.8};
    tsri_study s = {0};
    rounds_of(error, &right, &right, SEEDS);
    for (int m = 0; m < MOMENTS; m++)
        error[(ROUNDS + 3) * MOMENTS + m] = NAN;
    tsri_masked_judge_rounds(&s, NULL, error, ROUNDS, SEEDS);
    for (int64_t i = 0; i < s.claims; i++)
        expect(&s, s.claim[i].criterion->id, TSRI_FINDING_UNDECIDED);
    tsri_study_fini(&s);
}

/* GReLU's Figure 2b: gradients that rise steadily are not irregular, however often they rise. */
static void gradients_that_violate(void **state)
{
    (void)state;
    enum { POINTS = 40 };
    tsri_bundle b[TSRI_TWINS];
    tsri_study s = {0};
    for (int net = 0; net < TSRI_TWINS; net++) {
        assert_ok(tsri_bundle_init(&b[net], POINTS, 1, SEEDS));
        for (int64_t k = 0; k < SEEDS; k++)
            for (int64_t i = 0; i < POINTS; i++)
                b[net].one[k * POINTS + i] = net == TSRI_TWIN_RELU
                                                 ? exp(0.1 * (double)i + 0.01 * (double)k)
                                                 : exp(-0.1 * (double)i + 0.02 * (double)k) / 10;
        tsri_bundle_fold(&b[net]);
    }
    tsri_grelu_judge_gradients(&s, b);
    expect(&s, "grelu/fig2b/smaller", TSRI_FINDING_HOLDS);
    expect(&s, "grelu/fig2b/smaller-rounds", TSRI_FINDING_HOLDS);
    expect(&s, "grelu/fig2b/decrease", TSRI_FINDING_HOLDS);
    expect(&s, "grelu/fig2b/increase", TSRI_FINDING_HOLDS);
    expect(&s, "grelu/fig2b/irregular", TSRI_FINDING_FAILS);
    tsri_study_fini(&s);
    /* The third quarter of both goes back: last over first is as before, each way is not. */
    for (int net = 0; net < TSRI_TWINS; net++)
        for (int64_t k = 0; k < SEEDS; k++)
            for (int64_t i = 20; i < 30; i++)
                b[net].one[k * POINTS + i] *= net == TSRI_TWIN_RELU ? exp(-4) : exp(4);
    s = (tsri_study){0};
    tsri_grelu_judge_gradients(&s, b);
    expect(&s, "grelu/fig2b/decrease", TSRI_FINDING_FAILS);
    expect(&s, "grelu/fig2b/increase", TSRI_FINDING_FAILS);
    tsri_study_fini(&s);
    for (int net = 0; net < TSRI_TWINS; net++)
        tsri_bundle_fini(&b[net]);
}

/* A loss that falls as 1/k: K = 1/epsilon. One that falls as e^(-k/50): a logarithm. One that dips
 * early and falls late again: the last iterate is there late, the best one early. */
static void iterations_that_violate(void **state)
{
    (void)state;
    enum { N = 2000 };
    static double round[N], loss[N];
    tsri_iterations last = {0}, best = {0};
    for (int i = 0; i < N; i++) {
        round[i] = i + 1;
        loss[i] = 1 / round[i];
    }
    assert_ok(tsri_iterations_init(&last, round, loss, N, true));
    assert_true(fabs(tsri_iterations_power(&last) - 1) < 0.02);
    assert_true(tsri_iterations_steepening(&last) > 5); /* no logarithm */
    tsri_iterations_fini(&last);
    for (int i = 0; i < N; i++)
        loss[i] = exp(-round[i] / 50);
    assert_ok(tsri_iterations_init(&last, round, loss, N, true));
    assert_true(fabs(tsri_iterations_steepening(&last) - 1) < 0.02);
    tsri_iterations_fini(&last);
    for (int i = 0; i < N; i++)
        loss[i] = i == 10 ? 0 : 1 / round[i];
    assert_ok(tsri_iterations_init(&last, round, loss, N, true));
    assert_ok(tsri_iterations_init(&best, round, loss, N, false));
    assert_true(last.promised[10] == loss[11] && last.promised[N - 1] == loss[N - 1]);
    assert_true(best.promised[10] == 0 && best.promised[N - 1] == 0);
    assert_true(fabs(tsri_iterations_power(&last) - 1) < 0.02);
    assert_true(tsri_iterations_power(&best) < 0.1);
    tsri_iterations_fini(&last);
    tsri_iterations_fini(&best);
    for (int i = 0; i < N; i++) /* it never falls: nothing to tell */
        loss[i] = 1;
    assert_ok(tsri_iterations_init(&last, round, loss, N, true));
    assert_true(isnan(tsri_iterations_power(&last)));
    assert_false(tsri_iterations_falling(&last));
    tsri_iterations_fini(&last);
}

/* The story: a run of SGD that was stopped early, from a loss of 1.1 to 0.15, had the power 1.2 and
 * "did not" grow as 1/epsilon; and one that settled at a quarter of its first loss had the power 0,
 * from epsilons between a third and a quarter, and "held". */
static void ways_that_are_short(void **state)
{
    (void)state;
    enum { N = 1000 };
    static double round[N], loss[N];
    tsri_iterations way = {0};
    for (int part = 0; part < 3; part++) {
        for (int i = 0; i < N; i++) {
            round[i] = i + 1;
            loss[i] = part == 0   ? 1 / (1 + round[i] / 200)          /* to 0.17 */
                      : part == 1 ? 0.25 + 0.75 * exp(-round[i] / 10) /* settles */
                                  : exp(-round[i] / 100);             /* to 5e-5 */
        }
        assert_ok(tsri_iterations_init(&way, round, loss, N, true));
        assert_int_equal(isnan(tsri_iterations_power(&way)), part < 2);
        assert_int_equal(isnan(tsri_iterations_steepening(&way)), part < 2);
        tsri_iterations_fini(&way);
    }
    loss[N - 1] = NAN; /* the end of a cell that holds no number */
    assert_ok(tsri_iterations_init(&way, round, loss, N, true));
    assert_true(isnan(tsri_iterations_power(&way)));
    tsri_iterations_fini(&way);
    loss[N - 1] = loss[N - 2] / 2;
    assert_ok(tsri_iterations_init(&way, round, loss, N, true));
    assert_true(tsri_iterations_falling(&way));
    tsri_iterations_fini(&way);
}

/* The story: a loss that exploded had a logarithm on a straight line, and its convergence was
 * "linear". So was that of one that fell and then was no number, and of any two points. */
static void lines_that_do_not_fall(void **state)
{
    (void)state;
    enum { N = 40 };
    double round[N], falls[N], rises[N];
    for (int i = 0; i < N; i++) {
        round[i] = i;
        falls[i] = exp(-0.1 * i);
        rises[i] = exp(0.1 * i);
    }
    tsri_rnn_line line = tsri_rnn_line_of(round, falls, N, 1e-8);
    assert_true(fabs(line.rate - 0.1) < 1e-9 && line.r2 > 0.999);
    line = tsri_rnn_line_of(round, rises, N, 1e-8);
    assert_true(line.rate < 0 && line.r2 == 0);
    assert_true(isnan(tsri_rnn_line_of(round, falls, 2, 1e-8).r2));
    falls[N / 2] = NAN;
    assert_true(isnan(tsri_rnn_line_of(round, falls, N, 1e-8).r2));
    assert_true(tsri_rnn_line_of(round, falls, N, 0.5).r2 > 0.999); /* behind the line's end */
    falls[N / 2] = INFINITY;
    assert_true(isnan(tsri_rnn_line_of(round, falls, N, 1e-8).r2));
}

/* The story: with --paper a seed of which one ticket was made and three were missing had a spread
 * of 0, so that "does not rely on a particular length" held of nothing. */
static void tickets_that_are_missing(void **state)
{
    (void)state;
    enum { DRAWS = 4 };
    tsri_repeats w = {0};
    tsri_study s = {0};
    assert_ok(tsri_repeats_init(&w, DRAWS, SEEDS));
    for (int i = 0; i < DRAWS * SEEDS; i++)
        w.value[i] = i < SEEDS ? 90 + 0.1 * i : (double)NAN; /* those of the first epoch */
    tsri_loft_judge_tickets(&s, &w, &w);
    expect(&s, "loft/fig5/length", TSRI_FINDING_UNDECIDED);
    tsri_study_fini(&s);
    s = (tsri_study){0};
    for (int i = 0; i < DRAWS * SEEDS; i++)
        w.value[i] = 90 + 0.1 * i;
    tsri_loft_judge_tickets(&s, &w, &w);
    expect(&s, "loft/fig5/length", TSRI_FINDING_HOLDS);
    tsri_study_fini(&s);
    tsri_repeats_fini(&w);
}

/* Bounds of the table that a fabricated number violates: a fall as S^-1/2 is a fall, and not one as
 * 1/S; a part of 40 % is not 20 to 25. */
static void numbers_that_violate(void **state)
{
    (void)state;
    static const double slow[] = {-0.5, -0.51, -0.52}, fast[] = {-1, -1.01, -1.02},
                        many[] = {0.4, 0.41, 0.42}, some[] = {0.22, 0.23, 0.24};
    tsri_study s = {0};
    tsri_study_judge(&s, "loft/theorem1/shares", NULL, slow, 3);
    tsri_study_judge(&s, "loft/theorem1/one-over-s", NULL, slow, 3);
    tsri_study_judge(&s, "grelu/fig2c/part", NULL, many, 3);
    expect(&s, "loft/theorem1/shares", TSRI_FINDING_HOLDS);
    expect(&s, "loft/theorem1/one-over-s", TSRI_FINDING_FAILS);
    expect(&s, "grelu/fig2c/part", TSRI_FINDING_FAILS);
    tsri_study_fini(&s);
    s = (tsri_study){0};
    tsri_study_judge(&s, "loft/theorem1/one-over-s", NULL, fast, 3);
    tsri_study_judge(&s, "grelu/fig2c/part", NULL, some, 3);
    expect(&s, "loft/theorem1/one-over-s", TSRI_FINDING_HOLDS);
    expect(&s, "grelu/fig2c/part", TSRI_FINDING_HOLDS);
    tsri_study_fini(&s);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void memory_runs_out(void **state)
{
    (void)state;
    tsr_status st = TSR_RESOURCES;
    for (int64_t n = 0; st != TSR_OK; n++) {
        tsri_claim c = {.criterion = &above};
        tsri_text found = {0};
        (void)tsri_alloc_fail_after(n, false);
        st = tsri_claim_add(&c, "a", (double[]){1, 2, 3}, 3);
        if (st == TSR_OK)
            st = tsri_claim_leave(&c, "b", "not there");
        if (st == TSR_OK)
            st = tsri_claim_found(&found, &c);
        (void)tsri_alloc_fail_after(-1, false);
        assert_true(st == TSR_OK || st == TSR_RESOURCES);
        tsri_text_fini(&found);
        tsri_claim_fini(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fewer_than_three_seeds),
        cmocka_unit_test(what_was_not_measured),
        cmocka_unit_test(straddling),
        cmocka_unit_test(geometric_means),
        cmocka_unit_test(every_part_counts),
        cmocka_unit_test(what_an_undecided_claim_says),
        cmocka_unit_test(the_table_is_whole),
        cmocka_unit_test(rounds_that_violate),
        cmocka_unit_test(rounds_without_numbers),
        cmocka_unit_test(gradients_that_violate),
        cmocka_unit_test(iterations_that_violate),
        cmocka_unit_test(ways_that_are_short),
        cmocka_unit_test(lines_that_do_not_fall),
        cmocka_unit_test(tickets_that_are_missing),
        cmocka_unit_test(numbers_that_violate),
        cmocka_unit_test(memory_runs_out),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
