/* depth.c - a network cut by depth. */
#include "net/depth.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

/* ---- Where -------------------------------------------------------------------------------- */

static int64_t producer(const tsri_net *net, int value)
{
    for (int64_t i = 0; i < net->layers; i++)
        if (net->layer[i].out == value)
            return i;
    return -1;
}

/* Is the value what a norm and its ReLU give to convolutions? That is not stored (plan_steps.c). */
static bool may_be_virtual(const tsri_net *net, int value)
{
    int64_t relu = producer(net, value);
    if (relu < 0 || net->layer[relu].kind != TSRI_RELU)
        return false;
    int64_t norm = producer(net, net->layer[relu].in);
    return norm >= 0 && net->layer[norm].kind == TSRI_NORM;
}

static bool read_behind(const tsri_net *net, int value, int64_t i)
{
    for (int64_t k = i; k < net->layers; k++)
        if (net->layer[k].in == value || net->layer[k].add == value)
            return true;
    return false;
}

bool tsri_depth_cuttable(const tsri_net *net, int64_t i)
{
    if (i <= 0 || i >= net->layers || read_behind(net, net->entry, i))
        return false;
    tsri_kind kind = net->layer[i].kind; /* would be fused into what stands before the cut */
    if (kind == TSRI_RELU || kind == TSRI_ADD || net->layer[i - 1].kind == TSRI_NORM)
        return false;
    for (int64_t k = 0; k < i - 1; k++)
        if (read_behind(net, net->layer[k].out, i))
            return false;
    return !(kind == TSRI_CONV && may_be_virtual(net, net->layer[i - 1].out));
}

int64_t tsri_depth_most(const tsri_net *net)
{
    int64_t parts = 1;
    for (int64_t i = 1; i < net->layers; i++)
        parts += tsri_depth_cuttable(net, i);
    return parts;
}

int64_t tsri_depth_crossing(const tsri_net *net, int64_t i)
{
    return tsri_shape_count(net->value[net->layer[i - 1].out].shape);
}

/* ---- Balance ------------------------------------------------------------------------------ */

/* The best cut of the layers before place j into some parts: its dearest part, the numbers that
 * cross its cuts, and the place of the last cut. */
typedef struct best {
    double dearest, crossing;
    int64_t from;
} best;

typedef struct search {
    const tsri_net *net;
    int64_t *place; /* [places] 0, the cuts, layers */
    double *sum;    /* [places] cost of all layers before */
    best *best;     /* [parts + 1][places] */
    int64_t places;
} search;

static bool better(const best *a, const best *b)
{
    return a->dearest != b->dearest ? a->dearest < b->dearest : a->crossing < b->crossing;
}

static best extend(const search *s, const best *before, int64_t i, int64_t j)
{
    double last = s->sum[j] - s->sum[i];
    return (best){.dearest = fmax(before->dearest, last),
                  .crossing = before->crossing +
                              (i > 0 ? (double)tsri_depth_crossing(s->net, s->place[i]) : 0),
                  .from = i};
}

/* Row p from row p - 1. */
static void add_part(search *s, int64_t p)
{
    best *row = s->best + p * s->places;
    for (int64_t j = 0; j < s->places; j++) {
        row[j] = (best){.dearest = INFINITY, .from = -1};
        for (int64_t i = 0; i < j; i++) {
            best with = extend(s, &row[i - s->places], i, j);
            if (better(&with, &row[j]))
                row[j] = with;
        }
    }
}

static tsr_status find_places(search *s, const double *cost, int64_t parts)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = s->net;
    double sum = 0;
    TSR_TRY(tsri_alloc(&s->place, net->layers + 1, sizeof *s->place));
    TSR_TRY(tsri_alloc(&s->sum, net->layers + 1, sizeof *s->sum));
    for (int64_t i = 0; i <= net->layers; i++) {
        if (i == 0 || i == net->layers || tsri_depth_cuttable(net, i)) {
            s->place[s->places] = i;
            s->sum[s->places++] = sum;
        }
        sum += i < net->layers ? cost[i] : 0;
    }
    TSR_CHECK(parts < s->places, TSR_USAGE,
              "the model cannot be cut by depth into %lld stages, but into %lld at most",
              (long long)parts, (long long)s->places - 1);
    TSR_TRY(tsri_alloc(&s->best, (parts + 1) * s->places, sizeof *s->best));
done:
    return st;
}

tsr_status tsri_depth_balance(int64_t *begin, const tsri_net *net, const double *cost,
                              int64_t parts)
{
    tsr_status st = TSR_OK;
    search s = {.net = net};
    TSR_TRY(find_places(&s, cost, parts));
    for (int64_t j = 0; j < s.places; j++)
        s.best[j] = (best){.dearest = j == 0 ? 0 : INFINITY, .from = -1};
    for (int64_t p = 1; p <= parts; p++)
        add_part(&s, p);
    for (int64_t p = parts, j = s.places - 1; p >= 0; p--) {
        begin[p] = s.place[j];
        j = s.best[p * s.places + j].from;
    }
done:
    tsri_free(s.place);
    tsri_free(s.sum);
    tsri_free(s.best);
    return st;
}

/* ---- Parts -------------------------------------------------------------------------------- */

/* Is the value what a linear layer and the ReLU fused into it make (plan_steps.c)? */
static bool linear_relu(const tsri_net *net, int value)
{
    int64_t relu = producer(net, value), readers = 0;
    if (relu < 0 || net->layer[relu].kind != TSRI_RELU)
        return false;
    int before = net->layer[relu].in;
    int64_t linear = producer(net, before);
    for (int64_t i = 0; i < net->layers; i++)
        readers += (net->layer[i].in == before) + (net->layer[i].add == before);
    return linear >= 0 && net->layer[linear].kind == TSRI_LINEAR && readers == 1 &&
           tsri_net_op(net, linear, 1).positions <= 1;
}

tsr_status tsri_net_part(tsri_net **out, const tsri_net *net, int64_t from, int64_t to)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_net_copy(out, net));
    (*out)->layers = to - from;
    (*out)->entry = from > 0 ? net->layer[from - 1].out : 0;
    memcpy((*out)->layer, net->layer + from, (size_t)(to - from) * sizeof *net->layer);
    (*out)->entry_relu = from > 0 && linear_relu(net, (*out)->entry);
    (*out)->entry_gate = from > 0 && net->layer[from - 1].kind == TSRI_GATE;
done:
    return st;
}

static void span(const tsri_net *net, int p, int64_t *low, int64_t *high)
{
    if (p < 0 || net->param[p].role != TSRI_TRAINED)
        return;
    const tsri_param *q = &net->param[p];
    *low = *high == 0 ? q->offset : *low;
    *high = q->offset + q->count;
}

/* Parameters lie in the order of the layers, so those of neighbours are neighbours. */
void tsri_depth_trained(const tsri_net *part, int64_t *low, int64_t *high)
{
    *low = *high = 0;
    for (int64_t i = 0; i < part->layers; i++) {
        span(part, part->layer[i].weight, low, high);
        span(part, part->layer[i].bias, low, high);
    }
}
