/* score.c - how much a unit counts. */
#include "subnet/score.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "base/text.h"
#include "net/order.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const char *const names[] = {
    [TSRI_SCORE_L2] = "l2",         [TSRI_SCORE_L1] = "l1",     [TSRI_SCORE_BN] = "bn",
    [TSRI_SCORE_FPGM] = "fpgm",     [TSRI_SCORE_SNIP] = "snip", [TSRI_SCORE_GRASP] = "grasp",
    [TSRI_SCORE_RANDOM] = "random",
};
enum { CRITERIA = sizeof names / sizeof *names };

tsr_status tsri_criterion_find(tsri_criterion *out, const char *name)
{
    for (int i = 0; i < CRITERIA; i++)
        if (strcmp(names[i], name) == 0) {
            *out = (tsri_criterion)i;
            return TSR_OK;
        }
    return tsri_fail(TSR_USAGE,
                     "there is no criterion '%s': use l2, l1, bn, fpgm, snip, grasp or random",
                     tsri_quote(name));
}

const char *tsri_criterion_name(tsri_criterion criterion)
{
    return names[criterion];
}

bool tsri_criterion_of_gradients(tsri_criterion criterion)
{
    return criterion == TSRI_SCORE_SNIP || criterion == TSRI_SCORE_GRASP;
}

/* ---- The weights of a unit ---------------------------------------------------------------- */

/* Does parameter p hold rows that make units of the axis? Not the fixed ones: they say nothing of
 * what was learnt. */
static bool writes(const tsri_param *p, int64_t axis)
{
    return p->role == TSRI_TRAINED && p->dims >= 2 && p->axis[0] == axis;
}

bool tsri_score_fits(const tsri_net *net, int64_t axis, tsri_criterion criterion)
{
    bool rows = false, norm = false;
    for (int64_t i = 0; i < net->params; i++)
        rows = rows || writes(&net->param[i], axis);
    for (int64_t i = 0; i < net->layers; i++)
        norm =
            norm || (net->layer[i].kind == TSRI_NORM && net->value[net->layer[i].in].axis == axis);
    return criterion == TSRI_SCORE_RANDOM || (criterion == TSRI_SCORE_BN ? norm : rows);
}

/* F [units, *length], row by row. */
static tsr_status rows_of(float **rows, int64_t *length, const tsri_opened *host, int64_t axis)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = host->net;
    int64_t size = net->axis[axis].size, at = 0;
    *rows = NULL;
    *length = 0;
    for (int64_t i = 0; i < net->params; i++)
        if (writes(&net->param[i], axis))
            *length += net->param[i].count / size;
    TSR_CHECK(*length > 0, TSR_USAGE, "axis %s has no trained weights to rank its units by",
              net->axis[axis].name);
    TSR_TRY(tsri_alloc_raw(rows, size * *length, sizeof **rows));
    for (int64_t i = 0; i < net->params; i++) {
        const tsri_param *p = &net->param[i];
        if (!writes(p, axis))
            continue;
        const float *w = tsri_opened_at(host, host->w, i);
        int64_t each = p->count / size;
        for (int64_t j = 0; j < p->count; j++)
            (*rows)[j / each * *length + at + j % each] = w[tsri_order_place(p, j)];
        at += each;
    }
done:
    return st;
}

static double norm_l1(const float *f, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += fabs((double)f[i]);
    return sum;
}

static double norm_l2(const float *f, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)f[i] * (double)f[i];
    return sqrt(sum);
}

static double sum_of(const float *f, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)f[i];
    return sum;
}

static double distance(const float *f, const float *g, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double d = (double)f[i] - (double)g[i];
        sum += d * d;
    }
    return sqrt(sum);
}

static void all_distances(double *score, const float *rows, int64_t size, int64_t length)
{
    memset(score, 0, (size_t)size * sizeof *score);
    for (int64_t j = 0; j < size; j++)
        for (int64_t k = 0; k < j; k++) {
            double d = distance(rows + j * length, rows + k * length, length);
            score[j] += d;
            score[k] += d;
        }
}

/* ---- The criteria ------------------------------------------------------------------------- */

static tsr_status by_weights(double *score, const tsri_opened *host, int64_t axis,
                             tsri_criterion criterion)
{
    tsr_status st = TSR_OK;
    float *rows = NULL;
    int64_t length, size = host->net->axis[axis].size;
    TSR_TRY(rows_of(&rows, &length, host, axis));
    if (criterion == TSRI_SCORE_FPGM)
        all_distances(score, rows, size, length);
    for (int64_t j = 0; criterion != TSRI_SCORE_FPGM && j < size; j++) {
        const float *f = rows + j * length;
        score[j] = criterion == TSRI_SCORE_L1      ? norm_l1(f, length)
                   : criterion == TSRI_SCORE_SNIP  ? fabs(sum_of(f, length))
                   : criterion == TSRI_SCORE_GRASP ? sum_of(f, length)
                                                   : norm_l2(f, length);
    }
done:
    tsri_free(rows);
    return st;
}

static tsr_status by_norm(double *score, const tsri_opened *host, int64_t axis)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = host->net;
    bool found = false;
    memset(score, 0, (size_t)net->axis[axis].size * sizeof *score);
    for (int64_t i = 0; i < net->layers; i++) {
        const tsri_layer *l = &net->layer[i];
        if (l->kind != TSRI_NORM || net->value[l->in].axis != axis)
            continue;
        const float *gamma = tsri_opened_at(host, host->w, l->weight);
        for (int64_t j = 0; j < net->axis[axis].size; j++)
            score[j] += fabs((double)gamma[j]);
        found = true;
    }
    TSR_CHECK(found, TSR_USAGE, "axis %s has no batch norm to rank its units by: use l2",
              net->axis[axis].name);
done:
    return st;
}

static void by_chance(double *score, const tsri_net *net, int64_t axis, uint64_t seed)
{
    tsri_rng rng = tsri_rng_stream(seed, TSRI_FOR_TICKET, axis, 0, 0);
    for (int64_t j = 0; j < net->axis[axis].size; j++)
        score[j] = tsri_rng_uniform53(&rng);
}

tsr_status tsri_score(double *score, const tsri_store *store, int64_t axis,
                      tsri_criterion criterion, uint64_t seed)
{
    tsr_status st = TSR_OK;
    tsri_opened host = {0};
    assert(store->real_bytes == sizeof(float));
    if (criterion == TSRI_SCORE_RANDOM) {
        by_chance(score, store->net, axis, seed);
        return TSR_OK;
    }
    TSR_TRY(tsri_store_open(&host, store, TSRI_OPEN_WEIGHTS));
    if (criterion == TSRI_SCORE_BN)
        TSR_TRY(by_norm(score, &host, axis));
    else
        TSR_TRY(by_weights(score, &host, axis, criterion));
done:
    tsri_store_close(&host);
    return st;
}

int64_t tsri_units_kept(int64_t n, double ratio)
{
    const double rounding = 1e-9; /* 25 (1 - 0.9) is 2.4999999999999996 */
    int64_t kept = (int64_t)floor((double)n * (1 - ratio) + 0.5 + rounding);
    return kept > 1 ? kept : 1;
}
