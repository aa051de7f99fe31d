/* points.c - labels that are no signs, and points that have two labels. */
#include "data/points.h"

#include "base/number.h"
#include "data/part.h"
#include "data/twins.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Signs -------------------------------------------------------------------------------- */

static tsr_status targets_are_signs(const tsr_data *data, const tsri_part *part, const char *which)
{
    tsr_status st = TSR_OK;
    for (int64_t k = 0; part->target && k < part->n * data->targets; k++)
        TSR_CHECK(part->target[k] == 1.0f || part->target[k] == -1.0f, TSR_BAD_FILE,
                  "%s: the label of %s sample %lld is %g: a loss of margins wants -1 or +1; repair "
                  "it, or use loss: mse",
                  tsri_quote(data->source), which,
                  (long long)tsri_part_row(part, k / data->targets), (double)part->target[k]);
done:
    return st;
}

/* 1 or -1 when the class is called so, else 0. */
static int sign_called(const tsr_data *data, int64_t class)
{
    double v = 0;
    bool number = tsri_number_real(&v, data->class_name[class]) == TSRI_NUMBER_OK;
    return number && fabs(v) == 1 ? (int)v : 0;
}

/* Classes -1 and +1 and a third one: a slip of the pen rather than three classes. */
static tsr_status classes_are_signs(const tsr_data *data, const tsri_part *part, const char *which)
{
    tsr_status st = TSR_OK;
    bool plus = false, minus = false;
    for (int64_t c = 0; data->class_name && c < data->classes; c++) {
        plus = plus || sign_called(data, c) > 0;
        minus = minus || sign_called(data, c) < 0;
    }
    for (int64_t i = 0; plus && minus && part->label && i < part->n; i++)
        TSR_CHECK(sign_called(data, part->label[i]) != 0, TSR_BAD_FILE,
                  "%s: the label of %s sample %lld is %s, the others are -1 and +1: repair it, or "
                  "name the classes by words if there are %lld",
                  tsri_quote(data->source), which, (long long)tsri_part_row(part, i),
                  tsri_quote(data->class_name[part->label[i]]), (long long)data->classes);
done:
    return st;
}

static tsr_status check_signs(const tsr_data *data)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(data->classes != 1, TSR_BAD_FILE,
              "%s: all samples have the same label: there is nothing to tell apart",
              tsri_quote(data->source));
    TSR_TRY(classes_are_signs(data, &data->train, "training"));
    TSR_TRY(classes_are_signs(data, &data->test, "test"));
    TSR_TRY(targets_are_signs(data, &data->train, "training"));
    TSR_TRY(targets_are_signs(data, &data->test, "test"));
done:
    return st;
}

/* ---- Points with two labels --------------------------------------------------------------- */

typedef struct points {
    const tsr_data *data;
    bool unit; /* the network sees rows of norm 1 */
} points;

/* Row i as floats, as the network sees it. */
static void row_of(float *x, const void *context, int64_t i)
{
    const points *p = context;
    const tsri_part *part = &p->data->train;
    int64_t dim = p->data->dim;
    double squares = 0;
    for (int64_t k = 0; k < dim; k++) {
        x[k] = part->numbers ? part->numbers[i * dim + k] : (float)part->bytes[i * dim + k];
        squares += (double)x[k] * (double)x[k];
    }
    for (int64_t k = 0; p->unit && squares > 0 && k < dim; k++)
        x[k] = (float)((double)x[k] / sqrt(squares));
}

static bool same_label(const tsr_data *data, int64_t i, int64_t j)
{
    const tsri_part *part = &data->train;
    if (part->label)
        return part->label[i] == part->label[j];
    return memcmp(part->target + i * data->targets, part->target + j * data->targets,
                  (size_t)data->targets * sizeof *part->target) == 0;
}

static void label_text(char text[64], const tsr_data *data, int64_t i)
{
    const tsri_part *part = &data->train;
    if (!part->label)
        (void)snprintf(text, 64, "%g", (double)part->target[i * data->targets]);
    else if (data->class_name)
        (void)snprintf(text, 64, "%.60s", tsri_quote(data->class_name[part->label[i]]));
    else
        (void)snprintf(text, 64, "%d", (int)part->label[i]);
}

static tsr_status contradiction(void *context, int64_t i, int64_t j, bool *enough)
{
    const tsr_data *data = ((const points *)context)->data;
    char a[64] = "", b[64] = "";
    (void)enough;
    if (same_label(data, i, j))
        return TSR_OK;
    label_text(a, data, i);
    label_text(b, data, j);
    return tsri_fail(TSR_BAD_FILE,
                     "%s: training samples %lld and %lld are the same point but have labels %s and "
                     "%s: no network tells them apart; remove one of them",
                     tsri_quote(data->source), (long long)tsri_part_row(&data->train, i),
                     (long long)tsri_part_row(&data->train, j), a, b);
}

tsr_status tsri_check_points(const tsr_data *data, const tsri_wants *wants, bool unit)
{
    tsr_status st = TSR_OK;
    if (wants->signs)
        TSR_TRY(check_signs(data));
    if (wants->separate)
        TSR_TRY(tsri_row_twins_find(&(tsri_row_twins){.n = data->train.n,
                                                      .dim = data->dim,
                                                      .row = row_of,
                                                      .twin = contradiction,
                                                      .context = &(points){data, unit}}));
done:
    return st;
}

/* ---- Distances ---------------------------------------------------------------------------- */

double tsri_least_distance(const float *x, int64_t n, int64_t dim, int64_t *first, int64_t *second)
{
    double least = INFINITY;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) {
            double squares = 0;
            for (int64_t k = 0; k < dim && squares < least; k++) {
                double d = (double)x[i * dim + k] - (double)x[j * dim + k];
                squares += d * d;
            }
            if (squares < least) {
                least = squares;
                *first = i;
                *second = j;
            }
        }
    return sqrt(least);
}
