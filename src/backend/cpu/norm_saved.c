/* norm_saved.c - what a norm keeps of its statistics. */
#include "backend/cpu/norm.h"

#include <math.h>

tsri_norm_saved tsri_norm_saved_of(const tsri_op *op)
{
    float *at = op->saved;
    int64_t C = op->in.c;
    return (tsri_norm_saved){at, at + C, at + 2 * C, at + 3 * C};
}

static void keep(const tsri_op *op, int64_t c, double mean, double var)
{
    tsri_norm_saved s = tsri_norm_saved_of(op);
    double w = (double)((const float *)op->w)[c], b = (double)((const float *)op->b)[c];
    double r = 1.0 / sqrt(var + op->eps);
    s.mu[c] = (float)mean;
    s.r[c] = (float)r;
    s.scale[c] = (float)(w * r);
    s.shift[c] = (float)(b - w * r * mean);
}

void tsri_norm_from_batch(tsri_op *op, int64_t c, double mean, double var, double count)
{
    float *running_mean = op->mean, *running_var = op->var;
    double a = op->momentum;
    running_mean[c] = (float)((1 - a) * (double)running_mean[c] + a * mean);
    running_var[c] = (float)((1 - a) * (double)running_var[c] + a * var * count / (count - 1));
    keep(op, c, mean, var);
}

void tsri_norm_from_running(tsri_op *op)
{
    for (int64_t c = 0; c < op->in.c; c++)
        keep(op, c, (double)((const float *)op->mean)[c], (double)((const float *)op->var)[c]);
}

void tsri_norm_no_gradient(tsri_op *op)
{
    float *dw = op->dw, *db = op->db;
    for (int64_t c = 0; c < op->in.c; c++) {
        if (dw)
            dw[c] = 0;
        if (db)
            db[c] = 0;
    }
}
