/* sine.c - Taylor polynomials on an eighth of a turn.
 *
 * x = k pi/2 + r with |r| <= pi/4; the quarter k mod 4 says which of sin r, cos r and which sign.
 * pi/2 is taken away in three parts whose first two have 33 bits, so that k times them is exact
 * (Cody and Waite). At pi/4 the first term left out is below 3e-17 for both polynomials.
 */
#include "base/sine.h"

#include <assert.h>
#include <stdint.h>

static double sine_near_zero(double r)
{
    double r2 = r * r, sum = -1.0 / 1307674368000.0; /* 15! */
    sum = sum * r2 + 1.0 / 6227020800.0;             /* 13! */
    sum = sum * r2 - 1.0 / 39916800.0;
    sum = sum * r2 + 1.0 / 362880.0;
    sum = sum * r2 - 1.0 / 5040.0;
    sum = sum * r2 + 1.0 / 120.0;
    sum = sum * r2 - 1.0 / 6.0;
    return r + r * r2 * sum;
}

static double cosine_near_zero(double r)
{
    double r2 = r * r, sum = 1.0 / 20922789888000.0; /* 16! */
    sum = sum * r2 - 1.0 / 87178291200.0;            /* 14! */
    sum = sum * r2 + 1.0 / 479001600.0;
    sum = sum * r2 - 1.0 / 3628800.0;
    sum = sum * r2 + 1.0 / 40320.0;
    sum = sum * r2 - 1.0 / 720.0;
    sum = sum * r2 + 1.0 / 24.0;
    sum = sum * r2 - 0.5;
    return 1.0 + r2 * sum;
}

/* sin(x + quarters pi/2) */
static double turned(double x, int64_t quarters)
{
    assert(x >= -1e5 && x <= 1e5);
    double turns = x * 0.63661977236758134308; /* 2/pi */
    int64_t k = (int64_t)(turns < 0 ? turns - 0.5 : turns + 0.5);
    double r =
        ((x - (double)k * 1.57079632673412561417e+00) - (double)k * 6.07710050630396597660e-11) -
        (double)k * 2.02226624879595063154e-21;
    switch ((uint64_t)(k + quarters) % 4) {
    case 0:
        return sine_near_zero(r);
    case 1:
        return cosine_near_zero(r);
    case 2:
        return -sine_near_zero(r);
    default:
        return -cosine_near_zero(r);
    }
}

double tsri_sin(double x)
{
    return turned(x, 0);
}

double tsri_cos(double x)
{
    return turned(x, 1);
}
