/* compare.c - two models, or a model and its ticket, filter by filter. */
#include "ticket/compare.h"

#include "base/alloc.h"
#include "scheme/rules.h"
#include "subnet/distance.h"
#include "subnet/share.h"
#include "ticket/origin.h"
#include "ticket/prune.h"

#include <string.h>

/* One side: its model, and the lists of the axis that is looked at. */
typedef struct side {
    const tsr_model *model;
    tsri_origin origin;
    double *score;   /* [longest] */
    int64_t *order;  /* [longest] its units by l2, counted in the whole */
    int64_t *masked; /* [longest] by the masks' criterion */
} side;

static void side_fini(side *s)
{
    tsri_origin_fini(&s->origin);
    tsri_free(s->score);
    tsri_free(s->order);
    tsri_free(s->masked);
}

static tsr_status side_init(side *s, const tsr_model *m)
{
    tsr_status st = TSR_OK;
    int64_t longest = 0;
    *s = (side){.model = m};
    TSR_TRY(tsri_origin_read(&s->origin, m->net, tsri_tensors_meta(m->file, TSRI_META_TICKET),
                             m->path));
    for (int64_t a = 0; a < m->net->axes; a++)
        longest = m->net->axis[a].size > longest ? m->net->axis[a].size : longest;
    TSR_TRY(tsri_alloc(&s->score, longest, sizeof *s->score));
    TSR_TRY(tsri_alloc(&s->order, longest, sizeof *s->order));
    TSR_TRY(tsri_alloc(&s->masked, longest, sizeof *s->masked));
done:
    return st;
}

/* The units of an axis, best first, as the whole counts them. */
static tsr_status list(int64_t *out, side *s, int64_t axis, tsri_criterion criterion)
{
    tsr_status st = TSR_OK;
    int64_t n = s->model->net->axis[axis].size;
    TSR_TRY(tsri_score(s->score, &s->model->store, axis, criterion, 0));
    TSR_TRY(tsri_order_by_score(out, s->score, n));
    for (int64_t i = 0; i < n; i++)
        out[i] = s->origin.unit[axis][out[i]];
done:
    return st;
}

/* How many of its units a side would keep at a ratio of the whole; a ticket may have fewer. */
static int64_t kept(const side *s, int64_t axis, double ratio)
{
    const tsri_axis *x = &s->model->net->axis[axis];
    int64_t count = tsri_prune_count(x->full, &(tsri_prune){.ratio = ratio});
    return count < x->size ? count : x->size;
}

static tsr_status compare_axis(tsri_compared *row, side *a, side *b, int64_t axis, int64_t *place,
                               tsri_criterion criterion, const double *ratio, int64_t ratios)
{
    tsr_status st = TSR_OK;
    const tsri_axis *x = &a->model->net->axis[axis], *y = &b->model->net->axis[axis];
    if (!tsri_score_fits(a->model->net, axis, criterion))
        criterion = TSRI_SCORE_L2;
    TSR_TRY(list(a->order, a, axis, TSRI_SCORE_L2));
    TSR_TRY(list(b->order, b, axis, TSRI_SCORE_L2));
    TSR_TRY(list(a->masked, a, axis, criterion));
    TSR_TRY(list(b->masked, b, axis, criterion));
    tsri_places_of(place, x->full, b->order, y->size);
    double reversed = tsri_filter_distance_reversed(x->size);
    row->axis = x->name;
    row->units = x->size;
    row->units_other = y->size;
    row->distance = tsri_filter_distance(a->order, x->size, place, y->size);
    row->relative = reversed > 0 ? row->distance / reversed : 0;
    tsri_places_of(place, x->full, b->masked, y->size);
    for (int64_t k = 0; k < ratios; k++)
        row->mask[k] = tsri_mask_distance(a->masked, kept(a, axis, ratio[k]), place,
                                          kept(b, axis, ratio[k]), x->full);
done:
    return st;
}

/* The same axes, as long in the whole: the same model at the same width. */
static tsr_status same_kind(const tsr_model *a, const tsr_model *b)
{
    tsr_status st = TSR_OK;
    const char *one = tsri_config_text(a->config, "model.name");
    const char *two = tsri_config_text(b->config, "model.name");
    TSR_CHECK(strcmp(one, two) == 0 && a->net->axes == b->net->axes, TSR_USAGE,
              "%s and %s are not of one model: %s with %lld axes, %s with %lld", a->path, b->path,
              one, (long long)a->net->axes, two, (long long)b->net->axes);
    for (int64_t i = 0; i < a->net->axes; i++) {
        const tsri_axis *x = &a->net->axis[i], *y = &b->net->axis[i];
        TSR_CHECK(strcmp(x->name, y->name) == 0 && x->full == y->full, TSR_USAGE,
                  "%s and %s are not of one model: %s has %lld units in one, %s %lld in the other",
                  a->path, b->path, x->name, (long long)x->full, y->name, (long long)y->full);
    }
done:
    return st;
}

static tsr_status make_rows(tsri_comparison *c, const tsr_model *m, const bool *cut)
{
    tsr_status st = TSR_OK;
    for (int64_t a = 0; a < m->net->axes; a++)
        c->rows += cut[a];
    TSR_TRY(tsri_alloc(&c->row, c->rows, sizeof *c->row));
    TSR_TRY(tsri_alloc(&c->masks, c->rows * c->ratios, sizeof *c->masks));
    for (int64_t i = 0; i < c->rows; i++)
        c->row[i].mask = c->masks + i * c->ratios;
done:
    return st;
}

tsr_status tsri_compare(tsri_comparison *out, const tsr_model *reference, const tsr_model *other,
                        const char *axes, tsri_criterion criterion, const double *ratio,
                        int64_t ratios)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = reference->net;
    side a = {0}, b = {0};
    bool *cut = NULL;
    int64_t *place = NULL, longest = 0, at = 0;
    *out = (tsri_comparison){.ratios = ratios};
    TSR_TRY(same_kind(reference, other));
    TSR_TRY(tsri_alloc(&cut, net->axes, sizeof *cut));
    TSR_TRY(tsri_ticket_axes(cut, reference->config, net, axes));
    for (int64_t x = 0; x < net->axes; x++)
        longest = net->axis[x].full > longest ? net->axis[x].full : longest;
    TSR_TRY(tsri_alloc(&place, longest, sizeof *place));
    TSR_TRY(side_init(&a, reference));
    TSR_TRY(side_init(&b, other));
    TSR_TRY(make_rows(out, reference, cut));
    for (int64_t x = 0; x < net->axes; x++) {
        if (!cut[x])
            continue;
        TSR_TRY(compare_axis(&out->row[at], &a, &b, x, place, criterion, ratio, ratios));
        out->mean += out->row[at++].relative / (double)out->rows;
    }
done:
    side_fini(&a);
    side_fini(&b);
    tsri_free(cut);
    tsri_free(place);
    if (st != TSR_OK)
        tsri_comparison_fini(out);
    return st;
}

void tsri_comparison_fini(tsri_comparison *c)
{
    tsri_free(c->row);
    tsri_free(c->masks);
    *c = (tsri_comparison){0};
}
