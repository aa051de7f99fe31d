/* Whole runs on a device whose memory is not the host's (foreign.h), to the bits of the reference:
 * every model, schemes with and without shares, every kind of update and loss. Steps are recorded
 * and replayed; kernels that are missing are borrowed. */
#include "foreign.h"
#include "run_testing.h"

#define RUN    "rounds: 100\nbackend: ref\neval: {every: 0}\n"
#define GLYPHS "data: {name: glyphs, n: 40, test_n: 10}\nbatch: 8\n"

static const char *const models[] = {
    RUN GLYPHS "model: {name: mlp, hidden: [24, 17], norm: batch}\n",
    RUN "data: {name: glyphs, n: 40, test_n: 10, augment: crop-flip, pad: 2}\nbatch: 2\n"
        "model: {name: preresnet18, width: 4}\n",
    RUN "data: {name: glyphs, n: 40, test_n: 10}\nbatch: 2\nmodel: {name: vgg11, width: 4}\n",
    RUN "data: {name: sphere, n: 40, dim: 6, task: regress}\nbatch: 8\n"
        "model: {name: shallow, width: 50, kappa: 0.5}\noptim: {lr: 0.02}\n",
    RUN "data: {name: sphere, n: 40, dim: 6}\nbatch: 8\n"
        "model: {name: grelu, width: 16, layers: 2}\noptim: {lr: 0.001}\n",
    RUN "data: {name: sphere, n: 40, dim: 6}\nbatch: 8\n"
        "model: {name: relu_deep, width: 16, layers: 2}\noptim: {lr: 0.01}\n",
    RUN "data: {name: sequences, n: 40}\nbatch: 8\nmodel: {name: rnn, width: 12}\n"
        "optim: {lr: 0.001}\n",
};
enum { MODELS = sizeof models / sizeof *models };

static const char *const settings[] = {
    "optim.name=sgd",
    "optim.name=sgd;optim.momentum=0.5;optim.nesterov=true;optim.clip=0.5;optim.schedule=cosine",
    "optim.name=adamw;optim.lr=0.003;optim.weight_decay=0.01",
    "optim.name=gd",
    "scheme.micro_batches=2",
    "scheme.name=dropout;scheme.xi=0.6",
    "scheme.name=ist;scheme.workers=2;scheme.local_steps=3",
    "scheme.name=masked;scheme.xi=0.6;scheme.workers=3;scheme.local_steps=2;scheme.momentum=carry",
    "scheme.name=loft;scheme.workers=2;scheme.local_steps=2",
    "scheme.name=local_sgd;scheme.workers=2;scheme.local_steps=2;scheme.data=shard;batch=5",
    "scheme.name=gpipe;scheme.workers=2;batch=8",
};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* Some rounds, or the sentence that refuses them. */
static tsr_status rounds_of(outcome *o, const char *text, const char *with)
{
    tsr_config *config = make_config(text, with);
    tsr_status st = try_rounds(o, config, 3);
    tsr_config_destroy(config);
    return st;
}

/* The same on both; false where the run cannot be. */
static bool equal_on_both(const char *text, const char *with, int lacks)
{
    outcome here, there;
    tsri_backend_offer(NULL);
    tsr_status st = rounds_of(&here, text, with);
    foreign_offer(lacks);
    assert_int_equal(rounds_of(&there, text, with), st);
    tsri_backend_offer(NULL);
    if (st != TSR_OK)
        return false;
    assert_true(here.loss == there.loss && here.steps == there.steps && here.bytes == there.bytes);
    both_same(here, there);
    return true;
}

/* RandAugment and cutout are the host's alone: the device draws no batch, and is sent each. */
static void batches_of_the_host_are_the_references(void **state)
{
    (void)state;
    static const char *const runs[] = {
        RUN
        "data: {name: glyphs, n: 40, test_n: 10, augment: crop-flip, randaugment: 2}\nbatch: 8\n"
        "model: {name: mlp, hidden: [24, 17], norm: batch}\n",
        RUN "data: {name: glyphs, n: 40, test_n: 10, channels: 3, cutout: 9}\nbatch: 4\n"
            "model: {name: vgg11, width: 4}\n",
        RUN "data: {name: glyphs, n: 40, test_n: 10, randaugment: 1}\nbatch: 8\n"
            "model: {name: grelu, width: 16, layers: 2}\noptim: {lr: 0.001}\n",
    };
    static const int which[] = {0, 1, 4, 6, 8, 9};
    int done = 0;
    for (size_t m = 0; m < sizeof runs / sizeof *runs; m++)
        for (size_t s = 0; s < sizeof which / sizeof *which; s++) {
            done += equal_on_both(runs[m], settings[which[s]], -1);
            assert_int_equal(foreign.drawn, 0);
        }
    assert_true(done >= 15); /* of 18; the others are refused on both */
}

static void runs_are_the_references(void **state)
{
    (void)state;
    int done = 0;
    int64_t played = 0;
    for (int m = 0; m < MODELS; m++)
        for (int s = 0; s < SETTINGS; s += m == 1 || m == 2 ? 2 : 1) { /* convolutions take long */
            done += equal_on_both(models[m], settings[s], -1);
            assert_true(foreign.played == 0 || foreign.drawn >= foreign.played);
            played += foreign.played;
        }
    assert_true(done >= 50); /* 59 of 67; the others are refused on both */
    assert_true(played >= 3 * 40);
}

/* Each round replays what the first recorded: rate, batch and weights of classes change. */
static void recorded_once(void **state)
{
    (void)state;
    assert_true(equal_on_both(models[0],
                              "label_smoothing=0.1;class_weights=balanced;"
                              "optim.schedule=cosine;optim.name=adam;optim.lr=0.01",
                              -1));
    assert_int_equal(foreign.recorded, 1);
    assert_int_equal(foreign.played, 3);
    assert_int_equal(foreign.drawn, 3);
}

/* Of each kind a model that has it; shares change its widths from round to round. */
static void missing_kernels_are_borrowed(void **state)
{
    (void)state;
    static const struct {
        tsri_kind kind;
        int model;
    } lacks[] = {{TSRI_LINEAR, 0},     {TSRI_NORM, 0},    {TSRI_CONV, 1},
                 {TSRI_GLOBALPOOL, 1}, {TSRI_MAXPOOL, 2}, {TSRI_RECURRENT, 6}};
    for (size_t k = 0; k < sizeof lacks / sizeof *lacks; k++) {
        const char *text = models[lacks[k].model];
        assert_true(equal_on_both(text, settings[0], -1));
        int64_t copies = foreign.copies;
        assert_true(equal_on_both(text, settings[0], (int)lacks[k].kind));
        if (foreign.copies <= copies)
            fail_msg("%s was not borrowed", tsri_kind_name(lacks[k].kind));
        (void)equal_on_both(text, settings[6], (int)lacks[k].kind);
    }
}

/* A gate cannot be borrowed: told, not computed wrongly. */
static void gates_are_not_borrowed(void **state)
{
    (void)state;
    outcome o;
    foreign_offer(TSRI_GATE);
    tsr_config *config = make_config(models[4], "optim.name=sgd");
    assert_fails(try_rounds(&o, config, 1), TSR_USAGE, "has no kernel for gate");
    tsr_config_destroy(config);
    tsri_backend_offer(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_the_references),
        cmocka_unit_test(batches_of_the_host_are_the_references), cmocka_unit_test(recorded_once),
        cmocka_unit_test(missing_kernels_are_borrowed), cmocka_unit_test(gates_are_not_borrowed)};
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
