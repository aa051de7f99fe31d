/* A conversion within a run (convert_run.h): the loss goes on, momentum begins anew, the
 * checkpoint's kind is taken over both ways; and every allocation of it fails once. */
#include "testing.h"

#include "io/config.h"
#include "net/gate_table.h"
#include "run/evaluate.h"
#include "scheme/scheme.h"
#include "train/convert_run.h"
#include "train/describe.h"

#include <math.h>

typedef struct fixture {
    tsr_config *config;
    tsri_run run;
} fixture;

/* After one round of two, as a run that converts there stands. */
static void begin(fixture *f)
{
    static const char text[] =
        "{seed: 5, threads: 1, data: {name: ackley, n: 8, test_n: 3, dim: 4, prefetch: false}, "
        "model: {name: grelu, width: 24, layers: 2}, optim: {name: gd, lr: 1.0e-4, momentum: 0.5}, "
        "rounds: 2, convert_at: 1}";
    tsr_run_options options = tsr_run_options_default();
    *f = (fixture){0};
    assert_ok(tsri_config_parse(&f->config, text, (int64_t)strlen(text), "test"));
    assert_ok(tsri_run_init(&f->run, f->config, &options));
    assert_ok(tsri_convert_prepare(&f->run));
    assert_ok(f->run.settings.scheme->setup(&f->run));
    assert_ok(tsri_convert_when_due(&f->run)); /* not yet */
    assert_int_equal(f->run.position.converted, -1);
    assert_string_equal(tsri_convert_kind(&f->run.settings, &f->run.position), "grelu");
    assert_ok(f->run.settings.scheme->round(&f->run));
    f->run.position.round = 1;
}

static void end(fixture *f)
{
    tsri_run_fini(&f->run);
    tsr_config_destroy(f->config);
}

static double training_loss(tsri_run *run)
{
    tsr_result r = tsr_result_default();
    assert_ok(tsri_evaluate(&r, &run->store, run->device, run->data, &run->data->train,
                            run->settings.loss));
    return r.loss;
}

static void loss_goes_on(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    double before = training_loss(&f.run);
    assert_ok(tsri_convert_when_due(&f.run));
    assert_int_equal(f.run.position.converted, 1);
    assert_string_equal(tsri_convert_kind(&f.run.settings, &f.run.position), "relu_twin");
    assert_false(tsri_net_gated(f.run.net));
    /* Float weights: 1e-6 of the outputs, twice that of their squares. */
    assert_true(fabs(training_loss(&f.run) - before) < 1e-5 * before);
    const float *v = touch(f.run.store.v);
    for (int64_t i = 0; i < f.run.net->trained; i++)
        assert_true(v[i] == 0);
    assert_ok(tsri_convert_when_due(&f.run)); /* once is enough */
    assert_ok(f.run.settings.scheme->round(&f.run));
    assert_true(training_loss(&f.run) < before);
    end(&f);
}

static void kinds_of_checkpoints(void **state)
{
    (void)state;
    fixture f;
    tsr_config *inside = NULL;
    begin(&f);
    assert_ok(tsri_convert_as_saved(&f.run, -1)); /* as it is */
    assert_true(tsri_net_gated(f.run.net));
    assert_ok(tsri_convert_as_saved(&f.run, 1));
    assert_false(tsri_net_gated(f.run.net));
    assert_ok(tsri_convert_run_file(&inside, &f.run));
    assert_string_equal(tsri_config_text(inside, "model.name"), "relu_twin");
    assert_true(tsri_config_real(inside, "convert_at") == 0);
    tsr_config_destroy(inside);
    assert_ok(tsri_convert_as_saved(&f.run, -1)); /* that one was damaged: back */
    assert_true(tsri_net_gated(f.run.net) && f.run.position.converted == -1);
    end(&f);
}

static void memory_runs_out(void **state)
{
    (void)state;
    tsr_status st = TSR_RESOURCES;
    for (int64_t n = 0; st != TSR_OK; n++) {
        fixture f;
        begin(&f);
        tsri_alloc_fail_after(n, false);
        st = tsri_convert_when_due(&f.run);
        tsri_alloc_fail_after(-1, false);
        assert_true(st == TSR_OK || st == TSR_RESOURCES);
        if (f.run.position.converted < 0) { /* what there was is still there */
            assert_true(tsri_net_gated(f.run.net));
            assert_ok(f.run.settings.scheme->round(&f.run));
        }
        end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(loss_goes_on),
                                       cmocka_unit_test(kinds_of_checkpoints),
                                       cmocka_unit_test(memory_runs_out)};
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
