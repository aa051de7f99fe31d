/* prune.c - a ticket: the share of a network that has the units which count most.
 *
 * Scores make counts, counts make a share, and the share is cut and taken by the same functions
 * that give a worker its part each round. Nothing here knows how a tensor lies in memory.
 */
#include "ticket/prune.h"

#include "base/alloc.h"
#include "base/log.h"
#include "model/whole.h"
#include "net/widths.h"
#include "subnet/cut.h"
#include "subnet/take.h"
#include "ticket/hessian.h"
#include "ticket/origin.h"
#include "ticket/ranking.h"
#include "ticket/salience.h"
#include "ticket/statistics.h"
#include "ticket/target.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* As they ranked the units: with one ranking over all axes in units of each axis' mean. */
static void tell_scores(tsri_json *w, const tsri_ranking *r)
{
    tsri_json_open(w, '{');
    for (int64_t a = 0; a < r->net->axes; a++) {
        if (!r->cut[a])
            continue;
        tsri_json_key(w, r->net->axis[a].name);
        tsri_json_open(w, '[');
        for (int64_t j = 0; j < r->net->axis[a].size; j++)
            tsri_json_real(w, r->score[r->first[a] + j]);
        tsri_json_close(w, ']');
    }
    tsri_json_close(w, '}');
}

tsr_status tsri_prune_choose(tsri_share *share, const tsri_store *store, const tsri_prune *how)
{
    tsr_status st = TSR_OK;
    tsri_ranking r = {0};
    TSR_CHECK(how->ratio >= 0 && how->ratio < 1, TSR_USAGE,
              "the ratio is the part of the units to remove: at least 0 and below 1, not %g",
              how->ratio);
    TSR_TRY(tsri_ranking_init(&r, store, how));
    TSR_TRY(tsri_ranking_keep(share, &r, how));
    if (how->scores) {
        tell_scores(how->scores, &r);
        TSR_TRY(tsri_json_end(how->scores));
    }
done:
    tsri_ranking_fini(&r);
    return st;
}

/* ---- The file ----------------------------------------------------------------------------- */

/* Records how the ticket was cut, and which units of the whole are left. */
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
    tsri_json_put_text(w, "measure", tsri_measure_name(how->measure));
    bool searched = how->measure != TSRI_BY_FILTERS;
    tsri_json_put_real(w, "keep", searched ? how->keep : (double)NAN);
    tsri_json_put_real(w, "reached", searched ? how->reached : (double)NAN);
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
    TSR_TRY(tsri_store_init_host(store, *net));
    TSR_TRY(tsri_store_fill(store, seed));
done:
    return st;
}

/* Networks are timed as the backend keeps them. */
static tsr_status settle(tsri_prune *how, tsr_model *model)
{
    tsr_status st = TSR_OK;
    tsri_net *net = NULL;
    tsri_store store = {0};
    const tsri_backend *backend = NULL;
    if (how->measure != TSRI_BY_TIME || how->settled)
        return tsri_target_settle(how, &model->store, model->config);
    TSR_TRY(tsri_backend_find(&backend, tsri_config_text(model->config, "backend")));
    TSR_TRY(tsri_model_load(&net, &store, model, backend, false));
    TSR_TRY(tsri_target_settle(how, &store, model->config));
done:
    tsri_store_fini(&store);
    tsri_net_destroy(net);
    return st;
}

static const char *scores_by(const tsri_prune *how, const tsri_salience *scoring)
{
    if (how->criterion != TSRI_SCORE_GRASP || how->scored)
        return NULL;
    return scoring->exact ? "exact" : "difference";
}

tsr_status tsri_ticket_put(tsri_ticket_made *made, tsri_sink *to, tsr_model *model,
                           const tsri_prune *how)
{
    tsr_status st = TSR_OK;
    tsri_share share = {0};
    tsri_net *small = NULL;
    tsri_store store = {0}, salience = {0};
    tsri_json ticket = {0};
    tsri_prune here = *how;
    tsri_salience scoring = {
        .criterion = how->criterion, .batches = TSRI_SALIENCE_BATCHES, .most = TSRI_HESSIAN_MOST};
    here.config = model->config;
    if (tsri_criterion_of_gradients(how->criterion) && !how->scored) {
        TSR_TRY(tsri_salience_measure(&salience, &scoring, model, how->shown ? how->shown : model));
        here.scored = &salience;
    }
    TSR_TRY(settle(&here, model));
    TSR_TRY(tsri_share_init(&share, model->net));
    TSR_TRY(tsri_prune_choose(&share, &model->store, &here));
    TSR_TRY(tsri_net_cut(&small, model->net, &share, false));
    if (how->reinit || small->total == model->net->total || !tsri_statistics_has(small))
        here.recalibrate = 0;
    TSR_TRY(describe(&ticket, model, &share, &here));
    if (here.ratio > 0 && small->total == model->net->total)
        TSRI_WARN("nothing is pruned: %g of so few units, in steps of %lld, leaves every layer as "
                  "wide as it is",
                  here.ratio, (long long)(here.round_to > 1 ? here.round_to : 1));
    TSR_TRY(tsri_store_init_host(&store, small));
    TSR_TRY(tsri_take(&store, &model->store, &share, false));
    TSR_TRY(set_widths(model->config, small));
    TSR_TRY(tsri_statistics_measure(&store, model->config, how->shown ? how->shown : model,
                                    here.recalibrate));
    if (how->reinit)
        TSR_TRY(begin_anew(&small, &store, model, how->seed));
    tsri_model_parts parts = {.net = small,
                              .w = tsri_store_own(&store),
                              .config = model->config,
                              .scaling = tsri_tensors_meta(model->file, TSRI_META_SCALING),
                              .classes = tsri_tensors_meta(model->file, TSRI_META_CLASSES),
                              .schema = tsri_tensors_meta(model->file, TSRI_META_SCHEMA),
                              .ticket = ticket.text.data,
                              .imported = tsri_tensors_meta(model->file, TSRI_META_IMPORT)};
    TSR_TRY(tsri_model_put(to, &parts));
    if (made)
        *made = (tsri_ticket_made){
            .recalibrated = here.recalibrate, .how = here, .scores_by = scores_by(how, &scoring)};
done:
    tsri_json_fini(&ticket);
    tsri_store_fini(&store);
    tsri_store_fini(&salience);
    tsri_net_destroy(small);
    tsri_share_fini(&share);
    return st;
}

tsr_status tsri_ticket_write(tsri_ticket_made *made, const char *path, tsr_model *model,
                             const tsri_prune *how)
{
    return tsri_ticket_put(made, &(tsri_sink){.path = path}, model, how);
}

/* ---- Any share ------------------------------------------------------------------------------ */

/* Which units of the whole it has, for those who compare it with the whole. */
static tsr_status describe_share(tsri_json *w, const tsr_model *model, const tsri_share *share)
{
    tsr_status st = TSR_OK;
    tsri_origin origin = {0};
    TSR_TRY(tsri_origin_read(&origin, model->net, tsri_tensors_meta(model->file, TSRI_META_TICKET),
                             model->path));
    tsri_json_open(w, '{');
    tsri_json_put_text(w, "criterion", "share");
    tsri_origin_write(w, &origin, share);
    tsri_json_close(w, '}');
    TSR_TRY(tsri_json_end(w));
done:
    tsri_origin_fini(&origin);
    return st;
}

tsr_status tsri_share_model(tsr_model **out, const tsr_model *model, const tsri_share *share)
{
    tsr_status st = TSR_OK;
    tsri_net *small = NULL;
    tsri_store store = {0};
    tsr_config *config = NULL;
    tsri_json ticket = {0};
    *out = NULL;
    TSR_TRY(tsri_net_cut(&small, model->net, share, false));
    TSR_TRY(tsri_store_init_host(&store, small));
    TSR_TRY(tsri_take(&store, &model->store, share, false));
    TSR_TRY(tsri_config_copy(&config, model->config));
    TSR_TRY(set_widths(config, small));
    TSR_TRY(describe_share(&ticket, model, share));
    tsri_model_parts parts = tsri_model_parts_of(model);
    parts.net = small;
    parts.w = tsri_store_own(&store);
    parts.config = config;
    parts.ticket = ticket.text.data;
    TSR_TRY(tsri_model_of_parts(out, &parts));
done:
    tsri_json_fini(&ticket);
    tsr_config_destroy(config);
    tsri_store_fini(&store);
    tsri_net_destroy(small);
    return st;
}
