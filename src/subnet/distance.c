/* distance.c - how far two rankings of the same units are from each other. Logarithms are those of
 * base/rng.h, the same bits on every machine: a run may stop by them. */
#include "subnet/distance.h"

#include "base/rng.h"

#include <math.h>
#include <string.h>

static double apart(int64_t i, int64_t j)
{
    return fabs(tsri_log((double)i) - tsri_log((double)j)) / (double)i;
}

double tsri_filter_distance(const int64_t *a, int64_t n, const int64_t *place_b, int64_t l)
{
    double sum = 0;
    for (int64_t i = 1; i <= n; i++) {
        int64_t sigma = place_b[a[i - 1]];
        sum += apart(i, sigma > 0 ? sigma : l + 1);
    }
    return sum;
}

double tsri_filter_distance_reversed(int64_t n)
{
    double sum = 0;
    for (int64_t i = 1; i <= n; i++)
        sum += apart(i, n + 1 - i);
    return sum;
}

void tsri_places_of(int64_t *place, int64_t all, const int64_t *list, int64_t n)
{
    memset(place, 0, (size_t)all * sizeof *place);
    for (int64_t i = 0; i < n; i++)
        place[list[i]] = i + 1;
}

double tsri_mask_distance(const int64_t *a, int64_t keep_a, const int64_t *place_b, int64_t keep_b,
                          int64_t all)
{
    int64_t common = 0;
    for (int64_t i = 0; i < keep_a; i++)
        common += place_b[a[i]] > 0 && place_b[a[i]] <= keep_b;
    return (double)(keep_a + keep_b - 2 * common) / (double)all;
}
