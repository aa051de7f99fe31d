/* The loss of a network that answers 0, against each loss's formula at 0. Of batches of one sample
 * the first loss may be nearly nothing; measured by that alone, one of ten sound runs "diverged". */
#include "run_testing.h"

#include "train/silent.h"

#include <math.h>

static const char *const table = "data: {name: ackley, n: 90, test_n: 5, dim: 3}\n"
                                 "model: {name: mlp, hidden: [4]}\n"
                                 "batch: 5\n";
static const char *const classes = "data: {name: random-labels, n: 90, test_n: 5, dim: 3}\n"
                                   "model: {name: mlp, hidden: [4]}\n"
                                   "batch: 5\n";
static const char *const sequences =
    "data: {name: sequences, n: 20, test_n: 5, dim: 3, length: 4, targets: 2}\n"
    "model: {name: rnn, width: 4}\n"
    "batch: 5\n";

/* What is expected of a run: a formula of its training targets. */
typedef double (*formula)(const tsri_run *run);

static void check(const char *text, const char *settings, formula expected)
{
    tsri_run run;
    double loss = -1;
    tsr_config *config = make_config(text, settings);
    tsr_run_options options = tsr_run_options_default();
    assert_ok(tsri_run_init(&run, config, &options));
    assert_ok(tsri_silent_loss(&loss, &run));
    double want = expected(&run);
    if (!(fabs(loss - want) <= 1e-12 * want)) /* sums of doubles in another order */
        fail_msg("%s: %.17g, not %.17g", settings, loss, want);
    tsri_run_fini(&run);
    tsr_config_destroy(config);
}

/* sum of y^2 over the positions from `first` on, of a sample. */
static double squares(const tsri_run *run, int64_t first)
{
    const tsri_part *p = &run->data->train;
    int64_t each = run->data->targets, k = run->data->sequences ? each / run->data->height : each;
    double sum = 0;
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t o = first * k; o < each; o++)
            sum += (double)p->target[i * each + o] * (double)p->target[i * each + o];
    return sum / (double)p->n;
}

static double mean_square(const tsri_run *run)
{
    return squares(run, 0) / (double)run->data->targets;
}

static double half_of_a_batch(const tsri_run *run)
{
    return 0.5 * 5 * squares(run, 0);
}

static double half_from_the_second(const tsri_run *run)
{
    return 0.5 * 5 * squares(run, 1);
}

static double log_classes(const tsri_run *run)
{
    return log((double)run->data->classes);
}

/* Of labels spread by 0.2: balanced weights are 1 on average over the labels, not over classes. */
static double log_classes_weighted(const tsri_run *run)
{
    double sum = 0;
    for (int64_t k = 0; k < run->data->classes; k++)
        sum += run->settings.class_weight[k];
    return (0.8 + 0.2 * sum / (double)run->data->classes) * log_classes(run);
}

static double log_2(const tsri_run *run)
{
    (void)run;
    return log(2);
}

static double as_many_as_classes(const tsri_run *run)
{
    return (double)run->data->classes;
}

static void of_targets(void **state)
{
    (void)state;
    check(table, "loss=mse", mean_square);
    check(table, "loss=half_squares", half_of_a_batch);
    check(sequences, "loss=half_squares", half_from_the_second);
}

static void of_classes(void **state)
{
    (void)state;
    check(classes, "loss=cross_entropy;data.classes=7", log_classes);
    check(classes, "label_smoothing=0.2;data.classes=3", log_classes);
    check(classes, "label_smoothing=0.2;class_weights=balanced;data.classes=3",
          log_classes_weighted);
    check(classes, "loss=logistic;data.classes=2", log_2);
    check(classes, "loss=squared_hinge;data.classes=4", as_many_as_classes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_targets), cmocka_unit_test(of_classes)};
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
