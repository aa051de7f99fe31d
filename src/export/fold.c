/* fold.c - batch norms that become part of the layer before them.
 *
 *     norm(W x + b) = s (W x + b - mean) + beta,  s = gamma / sqrt(var + eps)
 *                   = (s W) x + (s (b - mean) + beta)
 *
 * A norm whose input nobody else reads can go so. That of a sum (before the first convolution of a
 * pre-activation block) cannot. Numbers are computed in double and rounded once.
 */
#include "export/writer.h"

#include <math.h>

void tsri_fold_find(tsri_writer *w)
{
    for (int64_t i = 0; i < w->net->layers; i++) {
        const tsri_layer *l = &w->net->layer[i];
        if (l->kind != TSRI_CONV && (l->kind != TSRI_LINEAR || l->each))
            continue;
        w->norm[i] = tsri_only_reader(&w->readers, w->net, l->out, TSRI_NORM);
        if (w->norm[i] >= 0) {
            w->gone[w->norm[i]] = true;
            w->folded++;
        }
    }
}

static const float *numbers(const tsri_writer *w, int param)
{
    return w->w + w->net->param[param].offset;
}

tsr_status tsri_fold_params(tsri_writer *w, const char **weight, const char **bias, int64_t i)
{
    tsr_status st = TSR_OK;
    const tsri_layer *l = &w->net->layer[i], *n = &w->net->layer[w->norm[i]];
    const tsri_param *p = &w->net->param[l->weight];
    const float *before = numbers(w, l->weight), *b = l->bias >= 0 ? numbers(w, l->bias) : NULL;
    const float *gamma = numbers(w, n->weight), *beta = numbers(w, n->bias);
    const float *mean = numbers(w, n->mean), *var = numbers(w, n->var);
    int64_t rows = p->shape[0], row = p->count / rows;
    float *to, *to_bias;
    *weight = p->name;
    TSR_TRY(tsri_graph_text(w->graph, bias, "%s.bias", l->name));
    TSR_TRY(tsri_graph_floats(w->graph, &to, *weight, p->dims, p->shape));
    TSR_TRY(tsri_graph_floats(w->graph, &to_bias, *bias, 1, &rows));
    for (int64_t o = 0; o < rows; o++) {
        double s = (double)gamma[o] / sqrt((double)var[o] + n->eps);
        for (int64_t k = o * row; k < (o + 1) * row; k++)
            to[k] = (float)(s * (double)before[k]);
        to_bias[o] = (float)(s * ((b ? (double)b[o] : 0) - (double)mean[o]) + (double)beta[o]);
    }
done:
    return st;
}
