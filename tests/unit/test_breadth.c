/* Everything that a run may be, on the backend that is tested (backend_testing.h) beside ref: every
 * family of models with every scheme, live certificates, tangent kernels, certificates, conversion,
 * pruning, shares. bench/device/cuda-tests.sh runs it on a GPU (part `breadth`).
 *
 * Two backends add in other orders, and rounds of training make much of it: a ReLU that is on here
 * is off there. So the tested one may be as far from ref as cpu is, times 20, and 1e-5 of a tensor's
 * largest number where cpu happens to be close.
 */
#include "backend_testing.h"
#include "testing.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RUN    "rounds: 3\nthreads: 2\n"
#define IMAGES RUN "data: {name: glyphs, n: 24, test_n: 8, channels: 3}\nbatch: 4\n"
#define SPHERE RUN "data: {name: sphere, n: 40, dim: 6}\nbatch: 8\n"

static const struct {
    const char *name, *text;
} models[] = {
    {"mlp", RUN "data: {name: glyphs, n: 64, test_n: 16}\nbatch: 16\nmodel: {hidden: [24, 17]}\n"},
    {"mlp with norms", RUN "data: {name: glyphs, n: 64, test_n: 16}\nbatch: 16\n"
                           "model: {hidden: [24, 17], norm: batch}\noptim: {lr: 0.02}\n"},
    {"shallow", RUN "data: {name: sphere, n: 40, dim: 6, task: regress}\nbatch: 8\n"
                    "model: {name: shallow, width: 50, kappa: 0.5}\noptim: {lr: 0.02}\n"},
    {"relu_deep", SPHERE "model: {name: relu_deep, width: 16, layers: 2}\noptim: {lr: 0.01}\n"},
    {"grelu", SPHERE "model: {name: grelu, width: 16, layers: 2}\noptim: {lr: 1.0e-5}\n"},
    {"rnn", RUN "data: {name: sequences, n: 40}\nbatch: 8\n"
                "model: {name: rnn, width: 12}\noptim: {lr: 1.0e-5}\n"},
    {"rnn of two layers", RUN "data: {name: sequences, n: 40}\nbatch: 8\n"
                              "model: {name: rnn, width: 12, layers: 2, train: all}\n"
                              "optim: {lr: 1.0e-5}\n"},
    {"cnn1", IMAGES "model: {name: cnn1, width: 16}\noptim: {lr: 0.1}\n"},
    {"vgg11", IMAGES "model: {name: vgg11, width: 4}\noptim: {lr: 1.0e-4}\n"},
    {"resnet18", IMAGES "model: {name: resnet18, width: 4}\noptim: {lr: 1.0e-4}\n"},
    {"preresnet18", IMAGES "model: {name: preresnet18, width: 4}\noptim: {lr: 1.0e-4}\n"},
};
enum { MODELS = sizeof models / sizeof *models, IMAGES_FROM = 7 /* convolutions take long */ };

static const char *const schemes[] = {
    "scheme.name=dense",
    "scheme.name=dense;optim.name=adamw;optim.clip=0.5;optim.ema=0.9;scheme.micro_batches=2",
    "scheme.name=dropout;scheme.xi=0.6",
    "scheme.name=multisample;scheme.xi=0.6;scheme.workers=2",
    "scheme.name=masked;scheme.xi=0.6;scheme.workers=3;scheme.local_steps=2;scheme.momentum=carry",
    "scheme.name=ist;scheme.workers=2;scheme.local_steps=2",
    "scheme.name=loft;scheme.workers=2;scheme.local_steps=2;scheme.recalibrate=2",
    "scheme.name=local_sgd;scheme.workers=2;scheme.local_steps=2;scheme.data=shard;batch=4",
    "scheme.name=gpipe;scheme.workers=2",
};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

static const char *tested_name(void)
{
    return tested_backend()->name;
}

static tsr_config *config_of(const char *text, const char *with, const char *backend)
{
    tsr_config *config = NULL;
    char copy[512];
    assert_ok(tsr_config_parse(&config, text));
    (void)snprintf(copy, sizeof copy, "%s;backend=%s", with, backend);
    for (char *s = strtok(copy, ";"); s; s = strtok(NULL, ";"))
        assert_ok(tsr_config_set(config, s));
    return config;
}

/* The model of a run, NULL where it is refused; what it told is added to `told`, if not NULL. */
static void keep_line(void *context, const char *line)
{
    if (strstr(line, "\"certificate\""))
        assert_ok(tsri_text_add(context, "%s\n", line));
}

static tsr_data *given; /* instead of what the run file names, or NULL */

static tsr_model *trained(const char *text, const char *with, const char *backend, tsri_text *told)
{
    tsr_config *config = config_of(text, with, backend);
    tsr_run_options options = tsr_run_options_default();
    tsr_result result = tsr_result_default();
    tsr_run *run = NULL;
    tsr_model *model = NULL;
    options.context = told;
    options.data = given;
    options.metrics = told ? keep_line : NULL;
    tsr_status st = tsr_run_create(&run, config, &options);
    if (st == TSR_OK)
        st = tsr_run_finish(&result, run);
    if (st == TSR_OK)
        assert_ok(tsr_run_model(&model, run));
    else if (st != TSR_USAGE)
        fail_msg("%s, %s: %s", with, backend, tsr_last_error());
    tsr_run_destroy(run);
    tsr_config_destroy(config);
    return model;
}

static double largest(const float *a, const float *b, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) {
        double d = fabs((double)a[i] - (b ? (double)b[i] : 0));
        most = d > most || isnan(d) ? d : most;
    }
    return most;
}

static int64_t count_of(const tsr_array *a)
{
    int64_t n = 1;
    for (int d = 0; d < a->dims; d++)
        n *= a->shape[d];
    return n;
}

/* In parts of each tensor's largest number. */
static double distance(const tsr_model *a, const tsr_model *b)
{
    double most = 0;
    assert_int_equal(tsr_model_params(a), tsr_model_params(b));
    for (int64_t i = 0; i < tsr_model_params(a); i++) {
        tsr_param p = tsr_param_default(), q = tsr_param_default();
        assert_ok(tsr_model_param(&p, a, i));
        assert_ok(tsr_model_param(&q, b, i));
        int64_t n = count_of(&q.values);
        double scale = fmax(largest(q.values.data, NULL, n), 1e-3);
        double d = largest(p.values.data, q.values.data, n) / scale;
        most = d > most || isnan(d) ? d : most;
    }
    return most;
}

static bool near_enough(double tested, double cpu)
{
    return tested <= 20 * cpu + 1e-5; /* NaN is not */
}

/* ---- Every model with every scheme --------------------------------------------------------- */

/* false: the run cannot be, with any backend. */
static bool agrees(int m, const char *with)
{
    tsr_model *ref = trained(models[m].text, with, "ref", NULL);
    tsr_model *cpu = trained(models[m].text, with, "cpu", NULL);
    tsr_model *own = trained(models[m].text, with, tested_name(), NULL);
    assert_true(!ref == !own && !ref == !cpu);
    bool can = ref != NULL;
    if (can) {
        double near = distance(cpu, ref), far = distance(own, ref);
        if (!near_enough(far, near))
            fail_msg("%s, %s: %.2g from ref, cpu is %.2g", models[m].name, with, far, near);
    }
    tsr_model_destroy(ref);
    tsr_model_destroy(cpu);
    tsr_model_destroy(own);
    return can;
}

static void every_model_and_scheme(void **state)
{
    (void)state;
    int done = 0;
    for (int m = 0; m < MODELS; m++)
        for (int s = m < IMAGES_FROM ? 0 : m % 4; s < SCHEMES; s += m < IMAGES_FROM ? 1 : 4)
            done += agrees(m, schemes[s]);
    assert_true(done >= 60); /* the others are refused by all */
}

/* ---- Theory --------------------------------------------------------------------------------- */

/* Walks through two texts that are the same but for numbers, which may differ by `rel` of
 * themselves, and 1e-5. */
static void same_but_numbers(const char *a, const char *b, double rel)
{
    while (*a && *b) {
        char *after_a, *after_b;
        bool number = strchr("-.0123456789", *a) && strchr("-.0123456789", *b);
        double x = number ? strtod(a, &after_a) : 0, y = number ? strtod(b, &after_b) : 0;
        if (number && after_a > a && after_b > b) {
            if (fabs(x - y) > rel * fabs(y) + 1e-5)
                fail_msg("%g instead of %g: %.60s / %.60s", x, y, a, b);
            a = after_a;
            b = after_b;
            continue;
        }
        if (*a != *b)
            fail_msg("%.60s / %.60s", a, b);
        a++;
        b++;
    }
    assert_true(*a == *b);
}

static const struct {
    const char *name, *text;
} papers[] = {
    {"masked", RUN "data: {name: sphere, n: 30, dim: 6, task: regress}\n"
                   "model: {name: shallow, width: 64, kappa: 0.5}\n"
                   "optim: {name: gd, lr: 0.01}\n"
                   "scheme: {name: masked, workers: 2, local_steps: 2}\n"},
    {"grelu", RUN "data: {name: sphere, n: 20, dim: 6}\n"
                  "model: {name: grelu, width: 40, layers: 2}\noptim: {name: gd, lr: 1.0e-5}\n"},
    {"deep relu",
     RUN "data: {name: sphere, n: 20, dim: 6}\n"
         "model: {name: relu_deep, width: 32, layers: 2}\noptim: {name: gd, lr: 1.0e-3}\n"},
    {"rnn", RUN "data: {name: sequences, n: 12}\nmodel: {name: rnn, width: 24}\n"
                "optim: {name: gd, lr: 1.0e-4}\n"},
    {"loft", RUN "data: {split: 0, target_scale: none}\nloss: half_squares\n"
                 "model: {name: cnn1, width: 8}\noptim: {name: gd, lr: 1, momentum: 0}\n"
                 "scheme: {name: masked, workers: 2, xi: 0.5}\n"},
};
enum { PAPERS = sizeof papers / sizeof *papers };

/* The LoFT paper is about images with real targets. */
static tsr_data *images(void)
{
    enum { N = 12, SIDE = 6 };
    static float x[N * SIDE * SIDE], y[N];
    tsr_data_options o = tsr_data_options_default();
    tsr_data *data = NULL;
    for (int64_t i = 0; i < N * SIDE * SIDE; i++)
        x[i] = (float)cos(0.37 * (double)(i * i));
    for (int64_t i = 0; i < N; i++)
        y[i] = (float)sin((double)i);
    o.x = tsr_array_of(x, TSR_F32, 4, (int64_t[]){N, 1, SIDE, SIDE});
    o.y = tsr_array_of(y, TSR_F32, 1, (int64_t[]){N});
    assert_ok(tsr_data_create(&data, &o));
    return data;
}

/* Before the run, and live. Numbers of a certificate are of whole runs: 1e-3 of themselves. */
static void certificates(void **state)
{
    (void)state;
    for (int i = 0; i < PAPERS; i++) {
        tsri_text told[2] = {{0}, {0}};
        given = strcmp(papers[i].name, "loft") == 0 ? images() : NULL;
        for (int k = 0; k < 2; k++) {
            const char *backend = k ? tested_name() : "ref";
            tsr_config *config = config_of(papers[i].text, "", backend);
            tsr_certificate *c = NULL;
            char *json = NULL;
            assert_ok(tsr_certify(&c, config, given));
            assert_ok(tsr_certificate_json(&json, c));
            assert_ok(tsri_text_add(&told[k], "%s\n", json));
            tsr_free(json);
            tsr_certificate_destroy(c);
            tsr_config_destroy(config);
            tsr_model *m = trained(papers[i].text, "certify.every=1", backend, &told[k]);
            assert_non_null(m);
            tsr_model_destroy(m);
        }
        assert_true(told[0].length > 500);
        same_but_numbers(told[1].data, told[0].data, 1e-3);
        tsri_text_fini(&told[0]);
        tsri_text_fini(&told[1]);
        tsr_data_destroy(given);
        given = NULL;
    }
}

/* Sums of floats in any order: 1e-5 of the largest entry. (cpu's Winograd is 1.4e-5 off.) */
static void tangent_kernels(void **state)
{
    (void)state;
    enum { N = 10 };
    for (int m = 0; m < MODELS; m++)
        for (int way = m < IMAGES_FROM ? 0 : 1; way < (m < IMAGES_FROM ? 3 : 2); way++) {
            double k[2][N * N];
            tsr_ntk_options o = tsr_ntk_options_default();
            o.n = N;
            o.kind = TSR_NTK_EXACT;
            o.output = way == 1;
            o.memory = way == 2 ? 40000 : 0; /* tiles */
            tsr_status st[2];
            for (int b = 0; b < 2; b++) {
                tsr_config *config =
                    config_of(models[m].text, "conv=direct", b ? tested_name() : "ref");
                st[b] = tsr_config_ntk(k[b], config, &o);
                tsr_config_destroy(config);
            }
            assert_int_equal(st[0], st[1]);
            double most = 0, off = 0;
            for (int i = 0; st[0] == TSR_OK && i < N * N; i++) {
                most = fmax(most, fabs(k[0][i]));
                double d = fabs(k[1][i] - k[0][i]);
                off = d > off || isnan(d) ? d : off;
            }
            if (!(off <= 1e-5 * most))
                fail_msg("%s: %.2g of %.2g", models[m].name, off, most);
        }
}

/* ---- Models --------------------------------------------------------------------------------- */

static void tickets_and_distances(void **state)
{
    (void)state;
    for (int m = 0; m < MODELS; m += 2) {
        tsr_model *whole[2], *small[2];
        tsr_layer_distance *apart = NULL;
        int64_t layers = 0;
        tsr_prune_options how = tsr_prune_options_default();
        how.recalibrate = m >= IMAGES_FROM ? 2 : 0;
        tsr_result r[2] = {tsr_result_default(), tsr_result_default()};
        for (int b = 0; b < 2; b++) {
            whole[b] = trained(models[m].text, schemes[0], b ? tested_name() : "ref", NULL);
            assert_ok(
                tsr_config_put(tsr_model_config(whole[b]), "backend", b ? tested_name() : "ref"));
            assert_ok(tsr_model_evaluate(&r[b], whole[b], true));
            if (tsr_model_prune(&small[b], whole[b], &how) != TSR_OK)
                small[b] = NULL;
        }
        assert_true(fabs(r[0].loss - r[1].loss) <= 1e-4 * fabs(r[0].loss) + 1e-5);
        assert_true(!small[0] == !small[1]);
        if (small[0]) {
            assert_true(distance(small[1], small[0]) <= 1e-3); /* of the trained wholes */
            assert_ok(tsr_model_distance(&apart, &layers, whole[0], whole[1]));
            for (int64_t l = 0; l < layers; l++)
                assert_true(apart[l].relative < 0.05); /* a swap of neighbours */
            tsr_free(apart);
        }
        for (int b = 0; b < 2; b++) {
            tsr_model_destroy(whole[b]);
            tsr_model_destroy(small[b]);
        }
    }
}

/* Within a run and of a finished model. */
static void conversions(void **state)
{
    (void)state;
    const char *text = RUN "data: {name: sphere, n: 12, dim: 6}\n"
                           "model: {name: grelu, width: 40, layers: 2}\n"
                           "optim: {name: gd, lr: 1.0e-5}\n";
    tsr_model *m[2][2];
    for (int b = 0; b < 2; b++) {
        tsr_conversion c = tsr_conversion_default();
        tsr_model *gated = trained(text, "", b ? tested_name() : "ref", NULL);
        m[b][0] = trained(text, "convert_at=2", b ? tested_name() : "ref", NULL);
        assert_non_null(m[b][0]);
        assert_ok(tsr_model_convert(&m[b][1], &c, gated, true, false));
        assert_true(c.residual < 1e-3);
        tsr_model_destroy(gated);
    }
    for (int k = 0; k < 2; k++) {
        assert_int_equal(tsr_model_params(m[0][k]), tsr_model_params(m[1][k]));
        tsr_model_destroy(m[0][k]);
        tsr_model_destroy(m[1][k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_and_scheme), cmocka_unit_test(certificates),
        cmocka_unit_test(tangent_kernels), cmocka_unit_test(tickets_and_distances),
        cmocka_unit_test(conversions)};
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
