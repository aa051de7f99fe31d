/* target.c - the search for the ratio that leaves a network of a given size. */
#include "ticket/target.h"

#include "subnet/cut.h"
#include "subnet/take.h"
#include "ticket/latency.h"
#include "ticket/ranking.h"

#include <assert.h>
#include <math.h>

enum {
    PARTS = 10000, /* a ratio is that many ten-thousandths */
    COARSE = 156,  /* steps of time: what differs less is lost in the noise */
    VECTOR = 8     /* kernels like multiples of it */
};

static const struct {
    const char *name, *words;
} measures[] = {
    [TSRI_BY_FILTERS] = {"filters", "filters"},
    [TSRI_BY_PARAMS] = {"params", "parameters"},
    [TSRI_BY_OPS] = {"ops", "operations"},
    [TSRI_BY_TIME] = {"time", "time"},
};

const char *tsri_measure_name(tsri_measure measure)
{
    return measures[measure].name;
}

const char *tsri_measure_words(tsri_measure measure)
{
    return measures[measure].words;
}

/* ---- What a ratio leaves -------------------------------------------------------------------- */

typedef struct search {
    tsri_prune how; /* its ratio is the one that is tried */
    tsri_store *whole;
    tsri_ranking ranking;
    tsri_share share;
    tsri_net *small; /* what the share leaves */
    tsri_stage stage;
} search;

static tsr_status search_init(search *s, const tsri_prune *how, tsri_store *whole,
                              const tsr_config *config)
{
    tsr_status st = TSR_OK;
    *s = (search){.how = *how, .whole = whole};
    TSR_CHECK(how->keep > 0 && how->keep < 1, TSR_USAGE,
              "the part of the %s to keep is above 0 and below 1, not %g",
              tsri_measure_words(how->measure), how->keep);
    s->how.config = config;
    TSR_TRY(tsri_ranking_init(&s->ranking, whole, &s->how));
    TSR_TRY(tsri_share_init(&s->share, whole->net));
    TSR_TRY(tsri_net_cut(&s->small, whole->net, &s->share, false));
    if (how->measure == TSRI_BY_TIME)
        TSR_TRY(tsri_stage_init(&s->stage, config));
done:
    return st;
}

static void search_fini(search *s)
{
    tsri_stage_fini(&s->stage);
    tsri_net_destroy(s->small);
    tsri_share_fini(&s->share);
    tsri_ranking_fini(&s->ranking);
}

/* The part of the whole's time: both in turns, so that other work meets both. */
static tsr_status time_left(double *part, search *s)
{
    const double seconds = 0.2;
    tsr_status st = TSR_OK;
    tsri_store store = {0};
    tsri_latency time[2];
    TSR_TRY(tsri_store_init(&store, s->small, s->stage.device.backend, false));
    TSR_TRY(tsri_take(&store, s->whole, &s->share, false));
    TSR_TRY(tsri_stage_time(time, (tsri_store *const[]){s->whole, &store}, 2, &s->stage, seconds));
    *part = time[1].infer.least / time[0].infer.least;
done:
    tsri_store_fini(&store);
    return st;
}

static double ops_left(const search *s)
{
    return tsri_net_flops(s->small) / tsri_net_flops(s->whole->net);
}

/* What is left when k ten-thousandths of the filters go. */
static tsr_status left(double *part, search *s, int64_t k)
{
    tsr_status st = TSR_OK;
    assert(s->small); /* search_init */
    s->how.ratio = (double)k / PARTS;
    TSR_TRY(tsri_ranking_keep(&s->share, &s->ranking, &s->how));
    tsri_net_resize(s->small, &s->share);
    if (s->how.measure == TSRI_BY_TIME)
        TSR_TRY(time_left(part, s));
    else if (s->how.measure == TSRI_BY_OPS)
        *part = ops_left(s);
    else
        *part = (double)s->small->total / (double)s->whole->net->total;
done:
    return st;
}

/* ---- The search ----------------------------------------------------------------------------- */

/* Is that within the target? It is all that the largest ratio leaves: one unit, or one tile, of
 * every axis. */
static tsr_status check_reached(const tsri_prune *how, double part)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(part <= how->keep, TSR_USAGE,
              "even the smallest ticket has %.1f %% of the whole network's %s, more than the %g %% "
              "asked for: cut more axes (axes: all), or ask for more",
              100 * part, tsri_measure_words(how->measure), 100 * how->keep);
done:
    return st;
}

/* The least ratio that leaves no more than is wanted: a larger one never leaves more. Where none
 * does, *reached is what the largest leaves. */
static tsr_status bisect(search *s, double *ratio, double *reached)
{
    tsr_status st = TSR_OK;
    int64_t step = s->how.measure == TSRI_BY_TIME ? COARSE : 1;
    int64_t much = 0, fits = (PARTS - 1) / step;
    double part;
    TSR_TRY(left(reached, s, fits * step));
    while (fits - much > 1) {
        int64_t k = (much + fits) / 2;
        TSR_TRY(left(&part, s, k * step));
        if (part <= s->how.keep) {
            fits = k;
            *reached = part;
        } else {
            much = k;
        }
    }
    *ratio = (double)(fits * step) / PARTS;
done:
    return st;
}

/* Widths that are multiples of VECTOR can be faster than smaller ones: of the two networks the one
 * with more operations within the same time is taken. */
static tsr_status bisect_rounded(search *s, tsri_prune *how)
{
    tsr_status st = TSR_OK;
    static const int64_t tiles[] = {VECTOR, 1};
    double most = -1;
    how->reached = (double)INFINITY;
    for (int i = 0; i < 2; i++) {
        double ratio, reached;
        s->how.round_to = tiles[i];
        TSR_TRY(bisect(s, &ratio, &reached));
        s->how.ratio = ratio;
        TSR_TRY(tsri_ranking_keep(&s->share, &s->ranking, &s->how));
        tsri_net_resize(s->small, &s->share);
        if (most < 0 &&
            reached < how->reached) /* if neither will do, the message names the nearer */
            how->reached = reached;
        if (reached > how->keep || ops_left(s) <= most)
            continue;
        most = ops_left(s);
        how->ratio = ratio;
        how->round_to = tiles[i];
        how->reached = reached;
    }
done:
    return st;
}

tsr_status tsri_target_settle(tsri_prune *how, tsri_store *whole, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    search s = {0};
    if (how->measure == TSRI_BY_FILTERS || how->settled)
        return TSR_OK;
    TSR_TRY(search_init(&s, how, whole, config));
    if (how->measure == TSRI_BY_TIME && how->round_to <= 1)
        TSR_TRY(bisect_rounded(&s, how));
    else
        TSR_TRY(bisect(&s, &how->ratio, &how->reached));
    TSR_TRY(check_reached(how, how->reached));
    how->settled = true;
done:
    search_fini(&s);
    return st;
}

tsr_status tsri_target_check(const tsri_prune *how, tsri_store *whole, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    search s = {0};
    double part;
    if (how->measure == TSRI_BY_FILTERS || how->settled)
        return TSR_OK;
    TSR_TRY(search_init(&s, how, whole, config));
    TSR_TRY(left(&part, &s, PARTS - 1));
    TSR_TRY(check_reached(how, part));
done:
    search_fini(&s);
    return st;
}
