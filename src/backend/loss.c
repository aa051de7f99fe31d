/* loss.c - every loss the program knows, and what losses of margins share. */
#include "backend/backend.h"

#include <string.h>

const tsri_loss_kind *const tsri_loss_kinds[] = {
#define X(name) &tsri_loss_##name,
    TSRI_LOSS_NAMES(X)
#undef X
        NULL};

const tsri_loss_kind *tsri_loss_named(const char *name)
{
    for (int i = 0; tsri_loss_kinds[i]; i++)
        if (strcmp(tsri_loss_kinds[i]->name, name) == 0)
            return tsri_loss_kinds[i];
    return NULL;
}

double tsri_loss_value(const tsri_loss *loss, const tsri_tally *tally)
{
    return loss->kind->sum ? tally->sum : tally->sum / (double)loss->valid;
}

int64_t tsri_largest_output(const tsri_position *p)
{
    int64_t best = 0;
    for (int64_t o = 1; o < p->k; o++)
        if (tsri_output_at(p, o) > tsri_output_at(p, best))
            best = o;
    return best;
}

/* ---- Margins ------------------------------------------------------------------------------- */

double tsri_margin_loss(const tsri_loss_kind *kind, double z, double *slope)
{
    double unused = 0;
    return kind->margin(z, slope ? slope : &unused);
}

double tsri_margin_sign(const tsri_position *p, int64_t o)
{
    if (p->target)
        return (double)p->target[o];
    return (p->k == 1 ? p->label == 1 : p->label == o) ? 1 : -1;
}

double tsri_margin_position(const tsri_position *p)
{
    double sum = 0;
    for (int64_t o = 0; o < p->k; o++) {
        double slope, y = tsri_margin_sign(p, o);
        sum += p->loss->kind->margin(y * tsri_output_at(p, o), &slope);
        tsri_slope_put(p, o, y * slope * p->scale);
    }
    return sum;
}
