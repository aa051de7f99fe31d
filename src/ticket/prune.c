/* prune.c - a ticket: the share of a network that has the units which count most.
 *
 * Scores make counts, counts make a share, and the share is cut and taken by the same functions
 * that give a worker its part each round. Nothing here knows how a tensor lies in memory.
 */
#include "ticket/prune.h"

#include "base/alloc.h"
#include "base/log.h"
#include "net/widths.h"
#include "scheme/rules.h"
#include "scheme/whole.h"
#include "subnet/cut.h"
#include "subnet/take.h"
#include "ticket/origin.h"
#include "ticket/statistics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- How many of each --------------------------------------------------------------------- */

static int64_t rounded(int64_t count, int64_t size, const tsri_prune *how)
{
    int64_t tile = how->round_to > 1 ? how->round_to : 1;
    count = (count + tile / 2) / tile * tile;
    count = count < tile ? tile : count;
    return count < size ? count : size;
}

int64_t tsri_prune_count(int64_t size, const tsri_prune *how)
{
    return rounded((int64_t)llround((double)size * (1 - how->ratio)), size, how);
}

/* The scores of all axes that are pruned, one after the other. */
typedef struct ranking {
    bool *cut;      /* [axes] */
    int64_t *first; /* [axes] of its scores */
    int64_t *count; /* [axes] kept */
    double *score;  /* [total] */
    int64_t total;
} ranking;

static void ranking_fini(ranking *r)
{
    tsri_free(r->cut);
    tsri_free(r->first);
    tsri_free(r->count);
    tsri_free(r->score);
}

static tsr_status ranking_init(ranking *r, const tsri_store *store, const tsri_prune *how)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = store->net;
    *r = (ranking){0};
    TSR_TRY(tsri_alloc(&r->cut, net->axes, sizeof *r->cut));
    TSR_TRY(tsri_alloc(&r->first, net->axes, sizeof *r->first));
    TSR_TRY(tsri_alloc(&r->count, net->axes, sizeof *r->count));
    TSR_TRY(tsri_ticket_axes(r->cut, how->config, net, how->axes));
    for (int64_t a = 0; a < net->axes; a++) {
        r->first[a] = r->total;
        r->total += r->cut[a] ? net->axis[a].size : 0;
    }
    TSR_CHECK(r->total > 0, TSR_USAGE, "the model has no axis that can be cut");
    TSR_TRY(tsri_alloc(&r->score, r->total, sizeof *r->score));
    for (int64_t a = 0; a < net->axes; a++)
        if (r->cut[a])
            TSR_TRY(tsri_score(r->score + r->first[a], store, a, how->criterion, how->seed));
done:
    return st;
}

/* Norms grow with the length of a filter: in units of their mean, layers can be compared. */
static void by_mean(double *score, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += score[i];
    for (int64_t i = 0; sum > 0 && i < n; i++)
        score[i] *= (double)n / sum;
}

static int64_t axis_of(const ranking *r, const tsri_net *net, int64_t unit)
{
    int64_t a = 0;
    while (!r->cut[a] || unit >= r->first[a] + net->axis[a].size)
        a++;
    return a;
}

/* Every axis has its least number; then the best of all, until as many are kept as the ratio says.
 */
static tsr_status count_globally(ranking *r, const tsri_net *net, const tsri_prune *how)
{
    tsr_status st = TSR_OK;
    int64_t *order = NULL, *seen = NULL, kept = 0;
    int64_t want = (int64_t)llround((double)r->total * (1 - how->ratio));
    bool raw = how->criterion == TSRI_SCORE_BN || how->criterion == TSRI_SCORE_RANDOM;
    TSR_TRY(tsri_alloc(&order, r->total, sizeof *order));
    TSR_TRY(tsri_alloc(&seen, net->axes, sizeof *seen));
    for (int64_t a = 0; a < net->axes; a++) {
        if (!r->cut[a])
            continue;
        if (!raw)
            by_mean(r->score + r->first[a], net->axis[a].size);
        kept += r->count[a] = rounded(0, net->axis[a].size, how);
    }
    TSR_TRY(tsri_rank(order, r->score, r->total));
    for (int64_t i = 0; i < r->total; i++) {
        int64_t a = axis_of(r, net, order[i]);
        if (++seen[a] > r->count[a] && kept < want) {
            r->count[a]++;
            kept++;
        }
    }
    for (int64_t a = 0; a < net->axes; a++)
        if (r->cut[a])
            r->count[a] = rounded(r->count[a], net->axis[a].size, how);
done:
    tsri_free(order);
    tsri_free(seen);
    return st;
}

tsr_status tsri_prune_choose(tsri_share *share, const tsri_store *store, const tsri_prune *how)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = store->net;
    ranking r = {0};
    TSR_CHECK(how->ratio >= 0 && how->ratio < 1, TSR_USAGE,
              "the ratio is the part of the units that go: at least 0 and below 1, not %g",
              how->ratio);
    TSR_TRY(ranking_init(&r, store, how));
    if (how->global)
        TSR_TRY(count_globally(&r, net, how));
    for (int64_t a = 0; a < net->axes; a++)
        if (r.cut[a])
            TSR_TRY(tsri_share_rank(share, a, r.score + r.first[a],
                                    how->global ? r.count[a]
                                                : tsri_prune_count(net->axis[a].size, how)));
done:
    ranking_fini(&r);
    return st;
}

/* ---- The file ----------------------------------------------------------------------------- */

/* What was done, and which units of the whole are left. */
static tsr_status describe(tsri_json *w, const tsr_model *model, const tsri_share *share,
                           const tsri_prune *how)
{
    tsr_status st = TSR_OK;
    tsri_origin origin = {0};
    TSR_TRY(tsri_origin_read(&origin, model->net, tsri_tensors_meta(model->file, TSRI_META_TICKET),
                             model->path));
    tsri_json_open(w, '{');
    tsri_json_put_text(w, "criterion", tsri_criterion_name(how->criterion));
    tsri_json_put_real(w, "ratio", how->ratio);
    tsri_json_put_bool(w, "global", how->global);
    tsri_json_put_int(w, "round_to", how->round_to > 1 ? how->round_to : 1);
    tsri_json_put_bool(w, "reinit", how->reinit);
    tsri_json_put_int(w, "recalibrate", how->recalibrate);
    tsri_origin_write(w, &origin, share);
    tsri_json_close(w, '}');
    TSR_TRY(tsri_json_end(w));
done:
    tsri_origin_fini(&origin);
    return st;
}

static tsr_status set_widths(tsr_config *config, const tsri_net *net)
{
    tsr_status st = TSR_OK;
    tsri_text widths = {0}, assignment = {0};
    TSR_TRY(tsri_widths_write(&widths, net));
    if (widths.length == 0)
        goto done;
    TSR_TRY(tsri_text_add(&assignment, "model.widths=%s", widths.data));
    TSR_TRY(tsr_config_set(config, assignment.data));
done:
    tsri_text_fini(&widths);
    tsri_text_fini(&assignment);
    return st;
}

/* The shape as the run file now describes it, with first weights of its own. */
static tsr_status begin_anew(tsri_net **net, tsri_store *store, const tsr_model *model,
                             uint64_t seed)
{
    tsr_status st = TSR_OK;
    tsri_store_fini(store);
    tsri_net_destroy(*net);
    TSR_TRY(tsri_whole_create(net, model->config, model->input, model->outputs, false));
    TSR_TRY(tsri_store_init(store, *net, sizeof(float), false));
    tsri_store_fill(store, seed);
done:
    return st;
}

tsr_status tsri_ticket_write(tsri_ticket_made *made, const char *path, tsr_model *model,
                             const tsri_prune *how)
{
    tsr_status st = TSR_OK;
    tsri_share share = {0};
    tsri_net *small = NULL;
    tsri_store store = {0};
    tsri_json ticket = {0};
    tsri_prune here = *how;
    here.config = model->config;
    TSR_TRY(tsri_share_init(&share, model->net));
    TSR_TRY(tsri_prune_choose(&share, &model->store, &here));
    TSR_TRY(tsri_net_cut(&small, model->net, &share, false));
    if (how->reinit || small->total == model->net->total || !tsri_statistics_has(small))
        here.recalibrate = 0;
    TSR_TRY(describe(&ticket, model, &share, &here));
    if (how->ratio > 0 && small->total == model->net->total)
        TSRI_WARN("nothing is pruned: %g of so few units, in steps of %lld, leaves every layer as "
                  "wide as it is",
                  how->ratio, (long long)(how->round_to > 1 ? how->round_to : 1));
    TSR_TRY(tsri_store_init(&store, small, sizeof(float), false));
    tsri_take(&store, &model->store, &share, false);
    TSR_TRY(set_widths(model->config, small));
    TSR_TRY(tsri_statistics_measure(&store, model->config, how->shown ? how->shown : model,
                                    here.recalibrate));
    if (how->reinit)
        TSR_TRY(begin_anew(&small, &store, model, how->seed));
    tsri_model_parts parts = {.net = small,
                              .w = store.w,
                              .config = model->config,
                              .scaling = tsri_tensors_meta(model->file, TSRI_META_SCALING),
                              .classes = tsri_tensors_meta(model->file, TSRI_META_CLASSES),
                              .schema = tsri_tensors_meta(model->file, TSRI_META_SCHEMA),
                              .ticket = ticket.text.data,
                              .imported = tsri_tensors_meta(model->file, TSRI_META_IMPORT)};
    TSR_TRY(tsri_model_save(path, &parts));
    if (made)
        *made = (tsri_ticket_made){.recalibrated = here.recalibrate};
done:
    tsri_json_fini(&ticket);
    tsri_store_fini(&store);
    tsri_net_destroy(small);
    tsri_share_fini(&share);
    return st;
}
