/* Cross entropy with smoothed labels and weights of classes: by hand, in parts of a batch, and its
 * gradient against central differences in double. */
#include "plan_testing.h"

#include "backend/backend.h"

#include <math.h>

enum { N = 4, K = 3 };

static const double x0[N * K] = {0.3, -1.2, 2.0, 0.5, 0.5, -0.5, -3, 1, 0, 4, 2, 1};
static const int32_t label[N] = {2, 0, 1, 2};
static const double weight[K] = {0.5, 2, 1.25};

static tsri_loss loss_of(const double *x, double *dx, double smoothing, bool weighted)
{
    static double mean;
    mean = (weight[2] + weight[0] + weight[1] + weight[2]) / N;
    return (tsri_loss){.kind = &tsri_loss_cross_entropy,
                       .n = N,
                       .valid = N,
                       .outputs = K,
                       .x = x,
                       .label = label,
                       .smoothing = smoothing,
                       .weight = weighted ? weight : NULL,
                       .weight_mean = weighted ? &mean : NULL,
                       .dx = dx};
}

static double value_of(const double *x, double smoothing, bool weighted)
{
    tsri_loss l = loss_of(x, NULL, smoothing, weighted);
    tsri_tally tally = tally_on(&tsri_backend_ref64, &l);
    return tsri_loss_value(&l, &tally);
}

/* PyTorch's definition, term by term: (1 - e) sum c[y] nll / sum c[y] + e/K sum_k c_k nll_k / sum
 * c[y]. */
static double by_hand(const double *x, double smoothing, bool weighted)
{
    double hit = 0, all = 0, weights = 0;
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int k = 0; k < K; k++)
            sum += exp(x[i * K + k]);
        for (int k = 0; k < K; k++) {
            double nll = log(sum) - x[i * K + k], c = weighted ? weight[k] : 1;
            all += c * nll;
            hit += k == label[i] ? c * nll : 0;
            weights += k == label[i] ? c : 0;
        }
    }
    return (1 - smoothing) * hit / weights + smoothing / K * all / weights;
}

static void values_and_slopes(void **state)
{
    (void)state;
    static const double smoothing[] = {0, 0.1, 0.9};
    for (int s = 0; s < 3; s++)
        for (int weighted = 0; weighted < 2; weighted++) {
            double dx[N * K], x[N * K];
            memcpy(x, x0, sizeof x);
            assert_true(fabs(value_of(x, smoothing[s], weighted) -
                             by_hand(x, smoothing[s], weighted)) < 1e-14);
            tsri_loss l = loss_of(x, dx, smoothing[s], weighted);
            (void)tally_on(&tsri_backend_ref64, &l);
            for (int i = 0; i < N * K; i++) { /* h^2 and 1e-16/h are 1e-10 and less */
                double h = 1e-5;
                x[i] = x0[i] + h;
                double up = value_of(x, smoothing[s], weighted);
                x[i] = x0[i] - h;
                double down = value_of(x, smoothing[s], weighted);
                x[i] = x0[i];
                assert_true(fabs((up - down) / (2 * h) - dx[i]) < 1e-9);
            }
        }
}

/* No smoothing as an ordinary loss: the formula of smoothing gives the same value. */
static void weights_of_one_change_nothing(void **state)
{
    (void)state;
    static const double ones[K] = {1, 1, 1};
    double dx[N * K], plain[N * K];
    tsri_loss l = loss_of(x0, dx, 0, true), p = loss_of(x0, plain, 0, false);
    l.weight = ones;
    l.weight_mean = &ones[0];
    tsri_tally one = tally_on(&tsri_backend_ref64, &l), other = tally_on(&tsri_backend_ref64, &p);
    assert_true(fabs(one.sum - other.sum) < 1e-15 && one.hits == other.hits);
    for (int i = 0; i < N * K; i++)
        assert_true(fabs(dx[i] - plain[i]) < 1e-16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values_and_slopes),
                                       cmocka_unit_test(weights_of_one_change_nothing)};
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
