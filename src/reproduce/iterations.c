/* iterations.c - the iterations that a loss needs to reach epsilon (iterations.h). */
#include "reproduce/iterations.h"

#include "base/alloc.h"
#include "base/estimate.h"

#include <math.h>

enum { GRID = 12, LEAST = 4 }; /* epsilons looked at; of which that many have to be reached */
#define WAY 10                 /* least factor down: over less a power and a logarithm look alike */

tsr_status tsri_iterations_init(tsri_iterations *w, const double *round, const double *loss,
                                int64_t n, bool last_iterate)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc(&w->round, 3 * n, sizeof *w->round));
    w->n = n;
    w->seen = w->round + n;
    w->promised = w->seen + n;
    for (int64_t i = 0; i < n; i++) {
        w->round[i] = round[i];
        w->promised[i] = w->seen[i] = loss[i];
    }
    for (int64_t i = n - 2; last_iterate && i >= 0; i--)
        w->promised[i] = fmax(w->promised[i], w->promised[i + 1]);
    for (int64_t i = 1; !last_iterate && i < n; i++)
        w->promised[i] = fmin(w->promised[i], w->promised[i - 1]);
done:
    return st;
}

void tsri_iterations_fini(tsri_iterations *w)
{
    tsri_free(w->round);
    *w = (tsri_iterations){0};
}

/* K at epsilons that fall evenly in the logarithm; x = log 1/epsilon. Returns how many are
 * reached: none on a way that is too short, or to a loss that is no number. */
static int64_t reached(double x[GRID], double K[GRID], const tsri_iterations *w)
{
    double first = w->seen[0] / 3, last = fmax(w->promised[w->n - 1], first * 1e-4);
    int64_t points = 0;
    if (isnan(w->promised[w->n - 1]) || !(first >= WAY * last))
        return 0;
    for (int64_t k = 0; k < GRID; k++) {
        double epsilon = first * pow(last / first, (double)k / (GRID - 1));
        int64_t i = 0;
        while (i < w->n && w->promised[i] > epsilon * (1 + 1e-12))
            i++;
        if (i == w->n)
            break;
        x[points] = -log(epsilon);
        K[points++] = w->round[i];
    }
    return points;
}

double tsri_iterations_power(const tsri_iterations *w)
{
    double x[GRID], K[GRID], y[GRID];
    int64_t n = reached(x, K, w), from = n / 2;
    for (int64_t i = 0; i < n; i++)
        y[i] = log(K[i]);
    return n < LEAST ? (double)NAN : tsri_slope_of(NULL, x + from, y + from, n - from).value;
}

double tsri_iterations_steepening(const tsri_iterations *w)
{
    double x[GRID], K[GRID];
    int64_t n = reached(x, K, w), half = n / 2;
    if (n < LEAST)
        return (double)NAN;
    return tsri_slope_of(NULL, x + half, K + half, n - half).value /
           tsri_slope_of(NULL, x, K, half).value;
}

bool tsri_iterations_falling(const tsri_iterations *w)
{
    double early = INFINITY, late = INFINITY;
    for (int64_t i = 0; i < w->n; i++) {
        double *least = i < w->n - w->n / 10 ? &early : &late;
        *least = fmin(*least, w->seen[i]);
    }
    return late < early;
}
