/* masked_mixture.c - Lemmas 1 and 2 of the masked-neurons paper, over draws of masks. */
#include "theory/masked_mixture.h"

#include "base/alloc.h"
#include "base/estimate.h"
#include "scheme/team.h"

#include <math.h>

/* Outputs and gradients are floats: of a bias that is a smaller part of them no part can be
 * told. */
static const double VISIBLE = 1e-4;

void tsri_mixture_fini(tsri_mixture *x)
{
    tsri_free(x->mixed);
    tsri_free(x->mixing);
    tsri_free(x->plain);
    tsri_free(x->bias);
    tsri_free(x->outputs);
    tsri_free(x->lift);
    tsri_free(x->along);
    tsri_free(x->all);
    tsri_free(x->part);
}

static tsr_status make_room(tsri_mixture *x)
{
    tsr_status st = TSR_OK;
    int64_t count = x->m * x->d;
    TSR_TRY(tsri_alloc(&x->mixed, count, sizeof *x->mixed));
    TSR_TRY(tsri_alloc(&x->mixing, x->n, sizeof *x->mixing));
    TSR_TRY(tsri_alloc(&x->plain, count, sizeof *x->plain));
    TSR_TRY(tsri_alloc(&x->bias, count, sizeof *x->bias));
    TSR_TRY(tsri_alloc(&x->outputs, x->n, sizeof *x->outputs));
    TSR_TRY(tsri_alloc(&x->lift, x->n, sizeof *x->lift));
    TSR_TRY(tsri_alloc(&x->along, x->draws, sizeof *x->along));
    TSR_TRY(tsri_alloc(&x->all, x->draws, sizeof *x->all));
    TSR_TRY(tsri_alloc(&x->part, x->draws * x->n, sizeof *x->part));
done:
    return st;
}

/* The terms of both lemmas, and their sizes. */
static void take_terms(tsri_mixture *x, const tsri_masked_pass *whole)
{
    double plain = 0, outputs = 0, most = 0, m = (double)x->m;
    for (int64_t i = 0; i < x->m * x->d; i++) {
        x->plain[i] = x->theta / x->xi * (double)whole->gradient[i];
        x->bias[i] = x->theta * (1 - x->xi) / m * (double)whole->lift[i];
        plain += x->plain[i] * x->plain[i];
        x->size += x->bias[i] * x->bias[i];
    }
    x->relative = sqrt(x->size / plain);
    for (int64_t i = 0; i < x->n; i++) {
        most = fmax(most, x->lift[i]); /* still the sum of the squares of relu */
        x->outputs[i] = whole->u[i];
        x->lift[i] *= x->theta * (1 - x->xi) / m;
        outputs += whole->u[i] * whole->u[i];
    }
    /* Of a unit, in the root of the mean of squares, beside that of the outputs. */
    x->f_relative = (1 - x->xi) * sqrt(most) / m / sqrt(outputs / (double)x->n);
}

tsr_status tsri_mixture_init(tsri_mixture *x, tsri_masked_ground *g, tsri_masked_pass *whole,
                             int64_t draws)
{
    tsr_status st = TSR_OK;
    float *gradient = NULL, *lift = NULL;
    *x = (tsri_mixture){.n = g->n, .m = g->m, .d = g->d, .draws = draws, .xi = g->xi};
    x->theta = tsri_team_chances(g->view->team).theta;
    TSR_TRY(make_room(x));
    TSR_TRY(tsri_alloc_raw(&gradient, g->m * g->d, sizeof *gradient));
    TSR_TRY(tsri_alloc_raw(&lift, g->m * g->d, sizeof *lift));
    whole->gradient = gradient;
    whole->lift = lift;
    whole->square = x->lift;
    TSR_TRY(tsri_masked_run_pass(whole, g));
    take_terms(x, whole);
done:
    whole->gradient = whole->lift = NULL;
    whole->square = NULL;
    tsri_free(gradient);
    tsri_free(lift);
    return st;
}

void tsri_mixture_note(tsri_mixture *x, int64_t draw)
{
    double sum = 0, top = 0, bottom = 0;
    for (int64_t i = 0; i < x->m * x->d; i++)
        sum += (x->mixed[i] - x->plain[i]) * x->bias[i];
    x->along[draw] = sum / x->size;
    /* <theta u, D1> is theta u times the outputs without xi. */
    for (int64_t i = 0; i < x->n; i++) {
        double off = x->mixing[i] - x->theta / x->xi * x->outputs[i] * x->outputs[i];
        x->part[draw * x->n + i] = off / x->lift[i];
        top += off;
        bottom += x->lift[i];
    }
    x->all[draw] = top / bottom;
}

/* On how many samples does the interval over the draws not have 1? About one in twenty. */
static double missed(const tsri_mixture *x, double *work)
{
    double count = 0;
    for (int64_t i = 0; i < x->n; i++) {
        for (int64_t c = 0; c < x->draws; c++)
            work[c] = x->part[c * x->n + i];
        tsri_estimate e = tsri_mean_of(work, x->draws);
        count += e.low > 1 || e.high < 1;
    }
    return count;
}

tsr_status tsri_mixture_keep(tsri_past *past, const tsri_mixture *x)
{
    tsr_status st = TSR_OK;
    double *work = NULL;
    TSR_TRY(tsri_alloc(&work, x->draws, sizeof *work));
    TSR_TRY(tsri_past_keep(past, "bias", x->relative));
    if (x->relative >= VISIBLE)
        TSR_TRY(tsri_past_keep_mean(past, "along", x->along, x->draws));
    TSR_TRY(tsri_past_keep(past, "mixing", x->f_relative));
    if (x->f_relative >= VISIBLE) {
        TSR_TRY(tsri_past_keep_mean(past, "mixing_part", x->all, x->draws));
        TSR_TRY(tsri_past_keep(past, "mixing_missed", missed(x, work)));
    }
done:
    tsri_free(work);
    return st;
}
