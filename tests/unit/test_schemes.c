/* The schemes by identities, to the bit, on ref and on cpu: one whole share is plain training, p
 * whole shares are local SGD, a share of everything on the same data changes nothing; units that
 * nobody drew keep their bits; every local step counts; threads do not matter. */
#include "run_testing.h"

#include "run/observer.h"
#include "scheme/team.h"
#include "subnet/draw.h"
#include "train/describe.h"

enum { MLP, NORM, SHALLOW, MODELS };

static const char *const models[MODELS] = {
    "data: {name: glyphs, n: 60, test_n: 10}\n"
    "model: {name: mlp, hidden: [24, 17]}\nbatch: 20\nrounds: 100\n"
    "optim: {lr: 0.05, momentum: 0.9}\n",
    "data: {name: glyphs, n: 60, test_n: 10}\n"
    "model: {name: mlp, hidden: [24, 17], norm: batch}\nbatch: 20\nrounds: 100\n"
    "optim: {lr: 0.05, momentum: 0.5, weight_decay: 0.001, nesterov: true}\n",
    "data: {name: sphere, n: 40, dim: 6, task: regress}\n"
    "model: {name: shallow, width: 50, kappa: 0.5}\nbatch: 10\nrounds: 100\n"
    "optim: {lr: 0.02, momentum: 0.9}\n"};

static const char *const backends[] = {"cpu", "ref"};

static const char *with(const char *fmt, const char *backend)
{
    static char text[512];
    (void)snprintf(text, sizeof text, "backend=%s;%s", backend, fmt);
    return text;
}

static void one_whole_share_is_plain_training(void **state)
{
    (void)state;
    for (int b = 0; b < 2; b++)
        for (int m = 0; m < MODELS; m++)
            for (int gd = 0; gd < 2; gd++) {
                const char *o = gd ? "optim.name=gd;" : "optim.name=sgd;";
                char settings[300];
                outcome dense = after(models[m], with(o, backends[b]), 6);
                static const char *const whole[] = {
                    "scheme.name=masked;scheme.xi=1;scheme.local_steps=3;scheme.momentum=carry",
                    "scheme.name=masked;scheme.draw=categorical;scheme.local_steps=2;"
                    "scheme.momentum=carry",
                    "scheme.name=ist;scheme.local_steps=6;scheme.momentum=carry",
                    "scheme.name=local_sgd;scheme.local_steps=3;scheme.momentum=carry",
                    "scheme.name=dropout;scheme.xi=1"};
                static const int64_t rounds[] = {2, 3, 1, 2, 6};
                for (int i = 0; i < 5; i++) {
                    (void)snprintf(settings, sizeof settings, "%s%s", o, whole[i]);
                    outcome share = after(models[m], with(settings, backends[b]), rounds[i]);
                    assert_int_equal(share.steps, 6); /* none is lost */
                    same(&dense, share);
                }
                tsri_free(dense.w);
            }
}

/* Also for p that is no power of two: put sums in double. */
static void everyone_has_everything_on_the_same_data(void **state)
{
    (void)state;
    for (int b = 0; b < 2; b++)
        for (int m = 0; m < MODELS; m++)
            for (int p = 2; p <= 5; p++) {
                char settings[200];
                outcome dense = after(models[m], with("optim.name=gd", backends[b]), 6);
                (void)snprintf(settings, sizeof settings,
                               "optim.name=gd;scheme.name=masked;scheme.xi=1;scheme.workers=%d;"
                               "scheme.local_steps=2;scheme.momentum=carry",
                               p);
                both_same(dense, after(models[m], with(settings, backends[b]), 3));
            }
}

static void whole_shares_are_local_sgd(void **state)
{
    (void)state;
    for (int b = 0; b < 2; b++)
        for (int m = 0; m < MODELS; m++)
            for (int shard = 0; shard < 2; shard++) {
                const char *data = shard ? "scheme.data=shard;batch=10;" : "";
                char a[300], c[300];
                (void)snprintf(a, sizeof a,
                               "%sscheme.name=masked;scheme.xi=1;scheme.workers=3;"
                               "scheme.local_steps=4",
                               data);
                (void)snprintf(c, sizeof c,
                               "%sscheme.name=local_sgd;scheme.workers=3;scheme.local_steps=4",
                               data);
                outcome masked = after(models[m], with(a, backends[b]), 3);
                both_same(masked, after(models[m], with(c, backends[b]), 3));
            }
}

/* dropout = multisample with one share = masked with one share and one step. */
static void the_family_is_one(void **state)
{
    (void)state;
    for (int m = 0; m < MODELS; m++) {
        outcome dropout = after(models[m], "scheme.name=dropout;scheme.xi=0.6", 4);
        outcome multi = after(models[m], "scheme.name=multisample;scheme.xi=0.6", 4);
        outcome masked = after(models[m], "scheme.name=masked;scheme.xi=0.6", 4);
        same(&dropout, multi);
        both_same(dropout, masked);
    }
}

static const char *const schemes[] = {
    "scheme.name=dropout;scheme.xi=0.5",
    "scheme.name=multisample;scheme.xi=0.5;scheme.workers=3",
    "scheme.name=masked;scheme.xi=0.5;scheme.workers=4;scheme.local_steps=3",
    "scheme.name=masked;scheme.draw=categorical;scheme.workers=3;scheme.momentum=carry",
    "scheme.name=ist;scheme.workers=4;scheme.local_steps=2;scheme.data=shard;batch=5",
    "scheme.name=ist;scheme.workers=3;scheme.weights=[1, 2, 3];scheme.local_steps=2",
    "scheme.name=local_sgd;scheme.workers=3;scheme.local_steps=2",
};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

static void threads_do_not_matter(void **state)
{
    (void)state;
    for (int m = 0; m < MODELS; m++)
        for (int s = 0; s < SCHEMES; s++) {
            outcome one = {0};
            for (int threads = 1; threads <= 8; threads = threads * 2 + (threads == 1)) {
                char settings[300];
                (void)snprintf(settings, sizeof settings, "threads=%d;data.prefetch=%s;%s", threads,
                               threads == 3 ? "true" : "false", schemes[s]);
                outcome o = after(models[m], settings, 3);
                if (!one.w)
                    one = o;
                else {
                    assert_memory_equal(one.w, o.w, (size_t)one.total * sizeof(float));
                    tsri_free(o.w);
                }
            }
            tsri_free(one.w);
        }
}

/* Rows of w that nobody drew are what they were; all others have moved. */
static void units_without_owner(const char *backend)
{
    const char *scheme = "optim.name=gd;scheme.name=masked;scheme.xi=0.3;scheme.workers=2;"
                         "scheme.local_steps=3;seed=5";
    tsr_config *config = make_config(models[SHALLOW], with(scheme, backend));
    tsr_run_options options = tsr_run_options_default();
    tsri_run run;
    tsri_share share;
    float before[50 * 6];
    int64_t rested = 0;
    assert_ok(tsri_run_init(&run, config, &options));
    assert_ok(run.settings.scheme->setup(&run));
    assert_ok(tsri_share_init(&share, run.net));
    assert_int_equal(run.net->trained, 50 * 6);
    for (; run.position.round < 5; run.position.round++) {
        bool drawn[50] = {false};
        memcpy(before, touch(run.store.w), sizeof before);
        for (int64_t l = 0; l < 2; l++) { /* anyone can compute anyone's share */
            tsri_draw draw = {.kind = TSRI_DRAW_BERNOULLI, .workers = 2, .xi = 0.3};
            tsri_share_draw(&share, &draw, 5, run.position.round, l);
            for (int64_t i = 0; i < share.pick[1].count; i++)
                drawn[share.pick[1].index[i]] = true;
        }
        assert_ok(run.settings.scheme->round(&run));
        for (int64_t r = 0; r < 50; r++) {
            bool kept = memcmp(before + r * 6, (float *)touch(run.store.w) + r * 6, 6 * 4) == 0;
            /* a unit that is off for all samples has no gradient: it may rest although drawn */
            assert_true(kept || drawn[r]);
            rested += kept;
        }
    }
    assert_true(rested > 50 && rested < 200); /* about half: 0.7^2 = 0.49 of 250 */
    tsri_share_fini(&share);
    tsri_run_fini(&run);
    tsr_config_destroy(config);
}

static void units_without_owner_keep_their_bits(void **state)
{
    (void)state;
    for (int b = 0; b < 2; b++)
        units_without_owner(backends[b]);
}

/* IST of a 784-24-17-10 net with 4 workers: what each has is counted by hand. */
static void bytes_are_those_of_the_formula(void **state)
{
    (void)state;
    static const int64_t a[4] = {6, 6, 6, 6}, b[4] = {4, 4, 4, 5};
    int64_t numbers = 0;
    for (int l = 0; l < 4; l++)
        numbers += 784 * a[l] + a[l] + a[l] * b[l] + b[l] + b[l] * 10 + 10;
    const char *ist = "scheme.name=ist;scheme.workers=4;scheme.local_steps=2;";
    outcome o = after(models[MLP], ist, 3);
    assert_int_equal(o.bytes, 3 * 2 * 4 * numbers); /* rounds, directions, bytes of a float */
    tsri_free(o.w);
    char carry[200];
    (void)snprintf(carry, sizeof carry, "%sscheme.momentum=carry", ist);
    o = after(models[MLP], carry, 3);
    assert_int_equal(o.bytes, 2 * 3 * 2 * 4 * numbers); /* the momentum travels too */
    tsri_free(o.w);
    o = after(models[NORM], ist, 1); /* norm: weight, bias, mean, variance of each unit */
    assert_int_equal(o.bytes, 2 * 4 * (numbers + 4 * (24 + 17)));
    tsri_free(o.w);
    o = after(models[MLP], "", 3);
    assert_int_equal(o.bytes, 0);
    tsri_free(o.w);
}

/* On an axis of two units many shares come out empty; the run goes on. */
static void empty_shares_sit_out(void **state)
{
    (void)state;
    static const char narrow[] = "data: {name: sphere, n: 40, dim: 6, task: regress}\n"
                                 "model: {name: mlp, hidden: [2, 3]}\nbatch: 10\nrounds: 100\n";
    outcome o = after(narrow, "scheme.name=masked;scheme.xi=0.2;scheme.workers=3", 20);
    assert_true(o.steps > 0 && o.steps < 60);
    tsri_free(o.w);
}

static void refusals(void **state)
{
    (void)state;
    const char *m = models[MLP];
    refuse(m, "scheme.name=ist;scheme.workers=18", "18 workers cannot share the 17 units");
    refuse(m, "scheme.name=masked;scheme.xi=0", "above 0 and at most 1");
    refuse(m, "scheme.name=ist;scheme.axes=hidden.7",
           "no axis hidden.7 that can be cut: those are hidden.0, hidden.1");
    refuse(m, "scheme.name=ist;scheme.axes=input", "no axis input that can be cut");
    refuse(m, "scheme.name=ist;scheme.draw=bernoulli", "disjoint");
    refuse(m, "scheme.name=dense;scheme.workers=2", "scheme dense has one worker");
    refuse(m, "scheme.name=dropout;scheme.workers=2", "scheme dropout has one worker");
    refuse(m, "scheme.name=multisample;scheme.local_steps=2", "is one step, not 2");
    refuse(m, "scheme.name=ist;scheme.workers=2;scheme.weights=[1, 2, 3]", "3 numbers for 2");
    refuse(m, "scheme.name=ist;scheme.workers=2;scheme.weights=[1, 0]", "weight of worker 1");
    refuse(m, "scheme.name=local_sgd;scheme.workers=4;scheme.data=shard", "only 15 samples");
    refuse(m, "model.hidden=[];scheme.name=ist", "no axis of this model");
}

static void only_chosen_axes_are_cut(void **state)
{
    (void)state;
    outcome o = after(models[MLP],
                      "scheme.name=ist;scheme.workers=2;scheme.axes=hidden.1;"
                      "scheme.momentum=reset",
                      1);
    int64_t rest = 784 * 24 + 24 + 10, cut = 17 * 24 + 17 + 17 * 10;
    assert_int_equal(o.bytes, 2 * 4 * (2 * rest + cut));
    tsri_free(o.w);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int s = 2; s < 5; s += 2) {
        char settings[300];
        (void)snprintf(settings, sizeof settings, "threads=1;data.prefetch=false;%s", schemes[s]);
        walk_allocations(models[SHALLOW], settings, 3);
    }
}

/* Every key that a scheme's row says it reads is one of the schema, and every key of the section
 * has somebody who reads it. */
static void keys_have_readers(void **state)
{
    (void)state;
    char key[80];
    for (int i = 0; tsri_schemes[i]; i++)
        for (const char *at = tsri_schemes[i]->keys; *at; at += strspn(at, " ")) {
            (void)snprintf(key, sizeof key, "scheme.%.*s", (int)strcspn(at, " "), at);
            assert_true(tsri_schema_find(key) >= 0);
            at += strcspn(at, " ");
        }
    for (int64_t k = 0; k < tsri_schema_count; k++) {
        const char *last = tsri_schema[k].key + strlen("scheme.");
        if (strncmp(tsri_schema[k].key, "scheme.", strlen("scheme.")) != 0 ||
            strcmp(last, "name") == 0)
            continue;
        int64_t readers = 0;
        for (int i = 0; tsri_schemes[i]; i++)
            readers += tsri_reads(tsri_schemes[i]->keys, last);
        assert_true(readers > 0);
    }
}

/* Certificates live below the schemes and are named nowhere here: they made themselves known, also
 * in a program that is linked with the archive and asks for nothing of theirs. */
static void observers_are_there(void **state)
{
    (void)state;
    assert_non_null(tsri_observers[0]);
    assert_string_equal(tsri_observers[0]->name, "certificates");
    assert_null(tsri_observers[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_have_readers),
        cmocka_unit_test(observers_are_there),
        cmocka_unit_test(one_whole_share_is_plain_training),
        cmocka_unit_test(everyone_has_everything_on_the_same_data),
        cmocka_unit_test(whole_shares_are_local_sgd),
        cmocka_unit_test(the_family_is_one),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(units_without_owner_keep_their_bits),
        cmocka_unit_test(bytes_are_those_of_the_formula),
        cmocka_unit_test(empty_shares_sit_out),
        cmocka_unit_test(refusals),
        cmocka_unit_test(only_chosen_axes_are_cut),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
