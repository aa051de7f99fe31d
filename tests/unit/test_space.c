/* Training in the space of the samples: its loops against their formula, the same bits on every
 * instruction set; the same training as on weights; the identities of the schemes, to the bit. */
#include "run_testing.h"

#include "backend/cpu/loops.h"
#include "base/rng.h"
#include "scheme/scheme.h"
#include "scheme/space.h"
#include "scheme/team.h"
#include "sweep/cell.h"
#include "train/describe.h"

#include <math.h>

/* ---- Loops -------------------------------------------------------------------------------- */

enum { UNITS = 9, ASLEEP = 4, CHUNKS = 4, MOST = 208 };

typedef struct numbers {
    float z[UNITS * MOST], alpha[UNITS * MOST], sign[UNITS], c[MOST];
    double total[MOST];
    float gram[MOST * MOST], table[MOST / 4 * 16 * MOST];
} numbers;

static void fill(float *to, int64_t n, int64_t stream)
{
    tsri_rng rng = tsri_rng_stream(1, TSRI_FOR_TEST, 0, stream, 0);
    for (int64_t i = 0; i < n; i++)
        to[i] = (float)tsri_rng_normal(&rng);
}

/* n samples in `columns` columns, then zeros; unit ASLEEP is off for all of them. */
static void make_numbers(numbers *v, int64_t n, int64_t columns)
{
    memset(v, 0, sizeof *v);
    fill(v->z, UNITS * columns, 1);
    fill(v->alpha, UNITS * columns, 2);
    fill(v->c, n, 3);
    for (int64_t i = 0; i < n; i++)
        fill(v->gram + i * columns, n, 10 + i);
    for (int64_t u = 0; u < UNITS; u++) {
        v->sign[u] = u % 3 ? 1.0f : -1.0f;
        for (int64_t j = n; j < columns; j++)
            v->z[u * columns + j] = 0;
    }
    for (int64_t j = 0; j < n; j++)
        v->z[ASLEEP * columns + j] = -fabsf(v->z[ASLEEP * columns + j]);
    v->z[5] = 0; /* off: the derivative at 0 is 0 */
    v->z[6] = -0.0f;
}

/* Chunks of 0, 3, 5 and 1 units: `table`, `step`, then the same outputs once more. */
static void step(const tsri_loops *loops, numbers *v, int64_t n, int64_t columns)
{
    static const int64_t chunk[CHUNKS + 1] = {0, 0, 3, 8, UNITS};
    double total[MOST];
    tsri_samples s = {.chunks = CHUNKS,
                      .groups = (n + 3) / 4,
                      .columns = columns,
                      .chunk = chunk,
                      .z = v->z,
                      .alpha = v->alpha,
                      .sign = v->sign,
                      .c = v->c,
                      .table = v->table,
                      .total = v->total};
    loops->samples_table(v->table, v->c, v->gram, s.groups, columns);
    loops->samples_step(&s);
    memcpy(total, v->total, sizeof total);
    memset(v->total, 0, sizeof total);
    loops->samples_outputs(&s);
    assert_memory_equal(v->total, total, sizeof total);
}

static void loops_are_their_formula(void **state)
{
    (void)state;
    static numbers before, after, other;
    for (int64_t n = 1; n <= 200; n = n < 20 ? n + 1 : n + 36) {
        int64_t columns = (n + 15) / 16 * 16;
        make_numbers(&before, n, columns);
        after = before;
        step(tsri_loops_best(), &after, n, columns);
        double sums[MOST] = {0};
        for (int64_t u = 0; u < UNITS; u++)
            for (int64_t j = 0; j < n; j++) {
                int64_t at = u * columns + j;
                double z = 0, size = 1, a = (double)before.sign[u];
                for (int64_t i = 0; i < n; i++) {
                    double on = before.z[u * columns + i] > 0;
                    z += on * (double)before.c[i] * (double)before.gram[i * columns + j];
                    size += fabs((double)before.c[i] * (double)before.gram[i * columns + j]);
                }
                /* Each of n products and n sums rounds once. */
                assert_true(fabs((double)after.z[at] - ((double)before.z[at] + a * z)) <
                            2 * size * (double)n * 0x1p-24);
                float gate = before.z[at] > 0 ? before.sign[u] * before.c[j] : 0;
                assert_true(after.alpha[at] == before.alpha[at] + gate);
                sums[j] += a * fmax((double)after.z[at], 0);
            }
        for (int64_t j = 0; j < columns; j++)
            assert_true(fabs(after.total[j] - sums[j]) < 1e-4 + 1e-5 * fabs(sums[j]));
        for (int i = 0; tsri_loops_at(i); i++) {
            other = before;
            step(tsri_loops_at(i), &other, n, columns);
            assert_memory_equal(other.z, after.z, sizeof after.z);
            assert_memory_equal(other.alpha, after.alpha, sizeof after.alpha);
            assert_memory_equal(other.total, after.total, sizeof after.total);
        }
    }
}

/* A unit that is off everywhere keeps its bits, and without it all others have the same. */
static void sleepers_can_be_left_out(void **state)
{
    (void)state;
    static numbers all, few;
    enum { n = 37, columns = 48, BEHIND = (UNITS - ASLEEP - 1) * columns };
    static const int64_t chunk[CHUNKS + 1] = {0, 0, 3, 7, UNITS - 1};
    float before[columns];
    make_numbers(&all, n, columns);
    few = all;
    memmove(few.z + ASLEEP * columns, few.z + (ASLEEP + 1) * columns, BEHIND * sizeof(float));
    memmove(few.alpha + ASLEEP * columns, few.alpha + (ASLEEP + 1) * columns,
            BEHIND * sizeof(float));
    memmove(few.sign + ASLEEP, few.sign + ASLEEP + 1, (UNITS - ASLEEP - 1) * sizeof(float));
    memcpy(before, all.z + ASLEEP * columns, sizeof before);
    for (int i = 0; tsri_loops_at(i); i++) {
        const tsri_loops *loops = tsri_loops_at(i);
        numbers *v = &few;
        tsri_samples s = {.chunks = CHUNKS,
                          .groups = (n + 3) / 4,
                          .columns = columns,
                          .chunk = chunk,
                          .z = v->z,
                          .alpha = v->alpha,
                          .sign = v->sign,
                          .c = v->c,
                          .table = v->table,
                          .total = v->total};
        uint8_t awake[UNITS] = {1, 0, 1, 1, 1, 1, 1, 1, 1};
        loops->samples_awake(awake, all.z, UNITS, columns);
        for (int u = 0; u < UNITS; u++)
            assert_int_equal(awake[u], u != 1 && u != ASLEEP);
        memset(v->total, 0, sizeof v->total);
        loops->samples_table(v->table, v->c, v->gram, s.groups, columns);
        loops->samples_step(&s);
        memset(all.total, 0, sizeof all.total);
        step(loops, &all, n, columns);
        assert_memory_equal(before, all.z + ASLEEP * columns, sizeof before);
        assert_memory_equal(v->total, all.total, sizeof v->total);
        assert_memory_equal(v->z, all.z, ASLEEP * columns * sizeof(float));
        assert_memory_equal(v->z + ASLEEP * columns, all.z + (ASLEEP + 1) * columns,
                            BEHIND * sizeof(float));
        assert_memory_equal(v->alpha + ASLEEP * columns, all.alpha + (ASLEEP + 1) * columns,
                            BEHIND * sizeof(float));
    }
}

/* ---- Runs --------------------------------------------------------------------------------- */

static const char run_file[] = "data: {name: sphere, n: 37, dim: 12, task: regress, test_n: 10}\n"
                               "model: {name: shallow, width: 150, kappa: 0.5}\n"
                               "optim: {name: gd, lr: 0.05, momentum: 0}\n"
                               "rounds: 6\nthreads: 1\n";

static tsri_outcome outcome_of(const char *settings, bool weights, int threads)
{
    tsri_outcome o;
    tsr_config *config = make_config(run_file, settings);
    tsri_ground ground = {.threads = threads};
    tsri_sweep_options options = {.curves = true, .weights = weights};
    assert_ok(tsri_cell_run(&o, config, &ground, &options));
    tsr_config_destroy(config);
    return o;
}

static const char *const schemes[] = {
    "",
    "scheme.name=dropout;scheme.xi=0.5",
    "scheme.name=multisample;scheme.xi=0.5;scheme.workers=3",
    "scheme.name=masked;scheme.xi=0.5;scheme.workers=4;scheme.local_steps=3",
    "scheme.name=masked;scheme.draw=categorical;scheme.workers=3;scheme.local_steps=2",
    "scheme.name=ist;scheme.workers=4;scheme.local_steps=2;optim.schedule=cosine",
    "scheme.name=local_sgd;scheme.workers=3;scheme.local_steps=2",
    "scheme.name=masked;scheme.xi=0.5;scheme.workers=4;loss=mse;optim.lr=2",
    "scheme.name=masked;model.width=3;scheme.xi=0.2;scheme.workers=2", /* empty shares */
};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

/* The same training as on weights: bytes the same, losses to rounding. A unit whose product is near
 * 0 may be on in one and off in the other, which moves the loss by no more than rounding does. */
static void the_same_training(void **state)
{
    (void)state;
    for (int s = 0; s < SCHEMES; s++) {
        tsri_outcome a = outcome_of(schemes[s], false, 1), b = outcome_of(schemes[s], true, 1);
        assert_int_equal(a.bytes, b.bytes);
        assert_int_equal(a.curve_count, 6);
        assert_true(fabs(a.loss / b.loss - 1) < 1e-4);
        assert_true(fabs(a.train_loss / b.train_loss - 1) < 1e-4);
        for (int k = 0; k < 6; k++)
            assert_true(fabs(a.curve[k] / b.curve[k] - 1) < 1e-4);
        /* the curve comes from z, the loss at the end from the weights: the two agree */
        assert_true(fabs(a.curve[5] / a.train_loss - 1) < 1e-5);
        assert_true(a.curve[5] != b.curve[5] || b.curve[5] == b.curve[4]); /* it was used */
        tsri_free(a.curve);
        tsri_free(b.curve);
    }
}

/* Units that are off for all samples after the run. */
static int64_t asleep_after(const char *settings)
{
    tsri_run run;
    tsr_config *config = make_config(run_file, settings);
    tsr_run_options options = tsr_run_options_default();
    int64_t asleep = 0;
    assert_ok(tsri_run_init(&run, config, &options));
    assert_true(tsri_space_fits(&run));
    run.settings.on_samples = true;
    assert_ok(run.settings.scheme->setup(&run));
    for (; run.position.round < run.settings.rounds; run.position.round++)
        assert_ok(run.settings.scheme->round(&run));
    assert_ok(tsri_space_weights(tsri_team_space(&run)));
    const float *w = touch(tsri_store_at(&run.store, run.store.w, tsri_net_param(run.net, "w")));
    int64_t d = run.data->dim, m = tsri_config_int(config, "model.width");
    float x[16];
    for (int64_t r = 0; r < m; r++) {
        bool on = false;
        for (int64_t i = 0; i < run.data->train.n; i++) {
            double z = 0;
            tsri_sample(x, run.data, &run.data->train, i);
            for (int64_t k = 0; k < d; k++)
                z += (double)w[r * d + k] * (double)x[k];
            on = on || z > 0;
        }
        asleep += !on;
    }
    tsri_run_fini(&run);
    tsr_config_destroy(config);
    return asleep;
}

#define MASKED(xi, p, tau)                                                                         \
    "scheme.name=masked;scheme.xi=" #xi ";scheme.workers=" #p ";scheme.local_steps=" #tau

/* Runs in which none, some, most and all of 150 units fall asleep: the same training as on weights,
 * and the mean loss comes back though the units were left out. Tolerance: losses are squares of
 * differences f - y that both ways round to 1e-7 or so of f, which is about 1. */
static void units_fall_asleep(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        int64_t least, most; /* asleep in the end */
    } regime[] = {
        {MASKED(0.5, 4, 3), 0, 0},
        {MASKED(0.5, 4, 3) ";data.n=4;rounds=4", 10, 30},
        {MASKED(0.5, 4, 3) ";data.n=4;rounds=4;optim.lr=10", 50, 80},
        {MASKED(0.5, 4, 3) ";data.n=2;rounds=4;optim.lr=10;model.kappa=0.1", 50, 130},
        {MASKED(0.3, 2, 5) ";data.n=3;rounds=4;optim.lr=4;model.kappa=2", 10, 130},
        {MASKED(1, 2, 5) ";data.n=4;rounds=4;optim.lr=6", 90, 120},
        {MASKED(1, 2, 5) ";data.n=4;rounds=4;optim.lr=10", 130, 149},
        {MASKED(1, 2, 5) ";data.n=2;rounds=4;optim.lr=10", 150, 150},
    };
    for (size_t i = 0; i < sizeof regime / sizeof *regime; i++) {
        int64_t asleep = asleep_after(regime[i].settings);
        assert_in_range(asleep, regime[i].least, regime[i].most);
        tsri_outcome a = outcome_of(regime[i].settings, false, 1),
                     b = outcome_of(regime[i].settings, true, 1);
        assert_int_equal(a.bytes, b.bytes);
        assert_true(fabs(a.loss - b.loss) < 1e-4 * b.loss + 1e-6);
        assert_true(fabs(a.train_loss - b.train_loss) < 1e-4 * b.train_loss + 1e-6);
        for (int k = 0; k < a.curve_count; k++)
            assert_true(fabs(a.curve[k] - b.curve[k]) < 1e-4 * b.curve[k] + 1e-6);
        tsri_free(a.curve);
        tsri_free(b.curve);
    }
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    for (int s = 0; s < SCHEMES; s++) {
        tsri_outcome a = outcome_of(schemes[s], false, 1), b = outcome_of(schemes[s], false, 3);
        assert_memory_equal(a.curve, b.curve, 6 * sizeof *a.curve);
        assert_true(a.loss == b.loss);
        tsri_free(a.curve);
        tsri_free(b.curve);
    }
}

/* Twelve steps, however they are cut into rounds and whoever takes them; also when units fall
 * asleep on the way (two in three of them) and are left out from the next round on. */
static void whole_shares_are_plain_descent(void **state)
{
    (void)state;
    static const char *const whole[] = {
        MASKED(1, 1, 3) ";rounds=4",
        MASKED(1, 2, 2) ";rounds=6",
        MASKED(1, 5, 4) ";rounds=3",
        "scheme.name=masked;scheme.draw=categorical;scheme.local_steps=6;rounds=2",
        "scheme.name=ist;scheme.local_steps=2;rounds=6",
        "scheme.name=local_sgd;scheme.workers=3;scheme.local_steps=12;rounds=1",
        "scheme.name=dropout;scheme.xi=1;rounds=12"};
    static const char *const base[] = {"", ";data.n=4;optim.lr=6"};
    assert_in_range(asleep_after(MASKED(1, 1, 3) ";rounds=4;data.n=4;optim.lr=6"), 75, 149);
    for (int b = 0; b < 2; b++) {
        char settings[256];
        (void)snprintf(settings, sizeof settings, "rounds=12%s", base[b]);
        tsri_outcome dense = outcome_of(settings, false, 1);
        for (int i = 0; i < 7; i++) {
            (void)snprintf(settings, sizeof settings, "%s%s", whole[i], base[b]);
            tsri_outcome o = outcome_of(settings, false, 1);
            assert_true(o.loss == dense.loss && o.train_loss == dense.train_loss);
            assert_true(o.curve[o.curve_count - 1] == dense.curve[11]);
            tsri_free(o.curve);
        }
        tsri_free(dense.curve);
    }
}

static void only_where_it_fits(void **state)
{
    (void)state;
    static const char *const not_these[] = {"optim.momentum=0.5",
                                            "optim.weight_decay=0.1",
                                            "optim.name=sgd;batch=37",
                                            "backend=ref",
                                            "data.n=60",
                                            "model.name=mlp;model.width=64;model.kappa=1",
                                            "scheme.name=ist;scheme.workers=2;scheme.data=shard",
                                            "stop.metric=loss"};
    for (int i = 0; i < 8; i++) {
        tsr_config *config = make_config(run_file, not_these[i]);
        tsr_run_options options = tsr_run_options_default();
        tsri_run run;
        assert_ok(tsri_run_init(&run, config, &options));
        assert_false(tsri_space_fits(&run));
        tsri_run_fini(&run);
        tsr_config_destroy(config);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tsr_config *config = make_config(run_file, "rounds=1;scheme.name=masked;scheme.workers=2");
    tsri_ground ground = {.threads = 1};
    tsri_sweep_options options = {.curves = true};
    tsr_status st = TSR_RESOURCES;
    for (int64_t n = 0; st != TSR_OK; n++) {
        tsri_outcome o;
        (void)tsri_alloc_fail_after(n, false);
        st = tsri_cell_run(&o, config, &ground, &options);
        (void)tsri_alloc_fail_after(-1, false);
        assert_true(st == TSR_OK || st == TSR_RESOURCES);
        tsri_free(o.curve);
    }
    tsr_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_are_their_formula),
        cmocka_unit_test(the_same_training),
        cmocka_unit_test(sleepers_can_be_left_out),
        cmocka_unit_test(units_fall_asleep),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(whole_shares_are_plain_descent),
        cmocka_unit_test(only_where_it_fits),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
