/* prune_public.c - a ticket cut from a model file, and what it saves, as a document; and how
 * differently two models rank their filters. */
#include "base/alloc.h"
#include "base/log.h"
#include "base/number.h"
#include "base/sized.h"
#include "io/file.h"
#include "io/json.h"
#include "net/torch_code.h"
#include "ticket/compare.h"
#include "ticket/latency.h"
#include "ticket/layers.h"
#include "ticket/prune.h"
#include "ticket/statistics.h"
#include "ticket/target.h"
#include "ticket/ticket.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- What is saved -------------------------------------------------------------------------- */

/* Before and after. */
typedef struct pair {
    tsr_model *model[2];
    tsri_latency time[2];
    int64_t bytes[2];
    bool timed;
    char *module;    /* path of the PyTorch module */
    const char *why; /* there is none; NULL: there is one */
    tsri_ticket_made made;
    tsri_json scores; /* of the units, by axis */
} pair;

static void pair_fini(pair *p)
{
    tsr_model_destroy(p->model[0]);
    tsr_model_destroy(p->model[1]);
    tsri_free(p->module);
    tsri_json_fini(&p->scores);
}

static int64_t file_bytes(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 ? (int64_t)about.st_size : 0;
}

static void json_pair(tsri_json *w, const char *name, double before, double after, bool whole)
{
    static const char *const ends[] = {"before", "after"};
    for (int i = 0; i < 2; i++) {
        char key[40];
        double value = i ? after : before;
        (void)snprintf(key, sizeof key, "%s_%s", name, ends[i]);
        tsri_json_key(w, key);
        if (whole)
            tsri_json_int(w, (int64_t)value);
        else
            tsri_json_real(w, value);
    }
}

static void json_target(tsri_json *w, const tsri_prune *how)
{
    tsri_json_put_text(w, "measure", tsri_measure_name(how->measure));
    tsri_json_put_text(w, "measured", tsri_measure_words(how->measure));
    tsri_json_put_real(w, "ratio", how->ratio);
    tsri_json_put_int(w, "round_to", how->round_to);
    tsri_json_put_real(w, "keep", how->settled ? how->keep : (double)NAN);
    tsri_json_put_real(w, "reached", how->settled ? how->reached : (double)NAN);
}

/* "faster", "perhaps": within the noise of the machine, "not". */
static const char *gained(tsri_duration before, tsri_duration after)
{
    static const char *const words[] = {
        [TSRI_NOT_FASTER] = "not", [TSRI_PERHAPS_FASTER] = "perhaps", [TSRI_FASTER] = "faster"};
    return words[tsri_faster(before, after)];
}

static void json_times(tsri_json *w, const pair *p)
{
    const tsri_latency *a = &p->time[0], *b = &p->time[1];
    tsri_json_put_int(w, "batch", a->batch);
    json_pair(w, "ms", a->infer.least, b->infer.least, false);
    json_pair(w, "step_ms", a->step.least, b->step.least, false);
    tsri_json_put_bool(w, "faster", tsri_faster(a->infer, b->infer) == TSRI_FASTER);
    tsri_json_put_text(w, "gain", gained(a->infer, b->infer));
    tsri_json_put_text(w, "step_gain", gained(a->step, b->step));
}

static tsr_status json_layers(tsri_json *w, const tsri_net *a, const tsri_net *b)
{
    tsr_status st = TSR_OK;
    tsri_layer_changes layers = {0};
    TSR_TRY(tsri_layers_compare(&layers, a, b));
    tsri_layers_json(w, "layers", &layers);
    tsri_layers_by_stage(&layers);
    tsri_layers_json(w, "stages", &layers);
done:
    tsri_layers_fini(&layers);
    return st;
}

static void json_names(tsri_json *w, const pair *p, const char *path)
{
    tsri_json_put_text(w, "ticket", path);
    tsri_json_key(w, "module");
    if (p->why)
        tsri_json_null(w);
    else
        tsri_json_text(w, p->module);
    if (p->why)
        tsri_json_put_text(w, "no_module", p->why);
}

static void json_scores(tsri_json *w, const pair *p)
{
    tsri_json_key(w, "scores_by");
    if (p->made.scores_by)
        tsri_json_text(w, p->made.scores_by);
    else
        tsri_json_null(w);
    tsri_json_key(w, "scores");
    tsri_json_copy(w, p->scores.text.data);
}

static tsr_status pair_json(tsri_json *w, const pair *p, const char *path)
{
    tsr_status st = TSR_OK;
    const tsri_net *a = p->model[0]->net, *b = p->model[1]->net;
    tsri_json_begin(w);
    json_pair(w, "params", (double)a->total, (double)b->total, true);
    json_pair(w, "flops", tsri_net_flops(a), tsri_net_flops(b), true);
    json_pair(w, "bytes", (double)p->bytes[0], (double)p->bytes[1], true);
    if (p->timed)
        json_times(w, p);
    json_target(w, &p->made.how);
    tsri_json_put_int(w, "recalibrate", p->made.recalibrated);
    tsri_json_put_bool(w, "statistics", tsri_statistics_has(b));
    json_names(w, p, path);
    json_scores(w, p);
    TSR_TRY(json_layers(w, a, b));
    tsri_json_close(w, '}');
done:
    return st;
}

/* ---- Cutting -------------------------------------------------------------------------------- */

/* The module must not take the place of another file either. */
static tsr_status choose_module(pair *p, const char *path, bool replace)
{
    tsr_status st = TSR_OK;
    p->why = tsri_torch_lacks(p->model[0]->net);
    TSR_TRY(tsri_module_path(&p->module, path));
    TSR_CHECK(p->why || replace || !tsri_file_exists(p->module), TSR_USAGE,
              "%s, where the PyTorch module goes, already exists: choose another name, or add "
              "--force to replace it",
              tsri_quote(p->module));
done:
    return st;
}

/* Measured again unless the caller says otherwise; a model that was imported, or whose data are
 * elsewhere now, has nothing to measure on. */
static void choose_statistics(tsri_prune *how, const tsr_model *model, int64_t asked)
{
    const char *path = tsri_config_text(model->config, "data.path");
    bool gone = path && !tsri_file_exists(path);
    bool can = tsri_model_names_data(model) && !gone;
    how->recalibrate = asked >= 0 ? asked : can ? TSRI_STATISTICS_BATCHES : 0;
    how->shown = model;
    if (gone && asked < 0)
        TSRI_WARN("%s, the training data, is not here: the statistics stay those of the whole "
                  "network; --data measures them again on others",
                  tsri_quote(path));
}

static tsr_status cut(pair *p, const char *ticket, const char *model, const tsr_ticket_options *o)
{
    tsr_status st = TSR_OK;
    tsr_model *source = NULL;
    tsri_prune how;
    TSR_TRY(tsri_prune_how(&how, o->prune));
    TSR_TRY(tsr_model_read(&source, model)); /* its run file becomes the ticket's */
    TSR_TRY(tsr_model_read(&p->model[0], model));
    if (o->data)
        TSR_TRY(tsr_model_use_data(p->model[0], o->data));
    TSR_CHECK(o->replace || !tsri_file_exists(ticket), TSR_USAGE,
              "%s already exists: choose another name, or add --force to replace it",
              tsri_quote(ticket));
    TSR_TRY(choose_module(p, ticket, o->replace));
    choose_statistics(&how, p->model[0], o->recalibrate);
    how.scores = &p->scores;
    TSR_TRY(tsri_ticket_write(&p->made, ticket, source, &how));
    TSR_TRY(tsr_model_read(&p->model[1], ticket));
    if (!p->why)
        TSR_TRY(tsri_module_write(p->module, p->model[1], ticket));
done:
    tsr_model_destroy(source);
    return st;
}

tsr_status tsr_ticket(char **json, const char *ticket, const char *model,
                      const tsr_ticket_options *options)
{
    tsr_status st = TSR_OK;
    tsr_ticket_options o;
    pair p = {0};
    tsri_json w = {0};
    TSRI_GIVEN(json);
    *json = NULL;
    TSRI_GIVEN(ticket);
    TSRI_GIVEN(model);
    TSR_TRY(TSRI_SIZED_TAKE(&o, options));
    TSR_TRY(cut(&p, ticket, model, &o));
    p.bytes[0] = file_bytes(model);
    p.bytes[1] = file_bytes(ticket);
    p.timed = o.seconds > 0;
    if (p.timed)
        TSR_TRY(
            tsri_latency_measure(p.time, (const tsr_model *const *)p.model, 2, o.seconds, true));
    TSR_TRY(pair_json(&w, &p, ticket));
    TSR_TRY(tsri_json_give(json, &w));
done:
    tsri_json_fini(&w);
    pair_fini(&p);
    return st;
}

/* ---- Rankings ------------------------------------------------------------------------------- */

static void compared_json(tsri_json *w, const tsri_compared *r, const double *ratio, int64_t ratios)
{
    tsri_json_open(w, '{');
    tsri_json_put_text(w, "layer", r->axis);
    tsri_json_put_int(w, "units", r->units);
    tsri_json_put_int(w, "units_other", r->units_other);
    tsri_json_put_real(w, "filter_distance", r->distance);
    tsri_json_put_real(w, "relative", r->relative);
    tsri_json_key(w, "mask_distance");
    tsri_json_open(w, '{');
    for (int64_t k = 0; k < ratios; k++) {
        char key[TSRI_NUMBER_TEXT];
        (void)tsri_shortest(key, ratio[k]);
        tsri_json_put_real(w, key, r->mask[k]);
    }
    tsri_json_close(w, '}');
    tsri_json_close(w, '}');
}

static void comparison_json(tsri_json *w, const tsri_comparison *c, const double *ratio,
                            const char *reference)
{
    tsri_json_begin(w);
    tsri_json_put_text(w, "reference", reference);
    tsri_json_put_real(w, "mean", c->mean);
    tsri_json_key(w, "layers");
    tsri_json_open(w, '[');
    for (int64_t i = 0; i < c->rows; i++)
        compared_json(w, &c->row[i], ratio, c->ratios);
    tsri_json_close(w, ']');
    tsri_json_close(w, '}');
}

tsr_status tsr_model_rankings(char **json, const tsr_model *reference, const tsr_model *other,
                              const tsr_ranking_options *options)
{
    tsr_status st = TSR_OK;
    tsr_ranking_options o;
    tsri_criterion criterion;
    tsri_comparison c = {0};
    tsri_json w = {0};
    TSRI_GIVEN(json);
    *json = NULL;
    TSRI_GIVEN(reference);
    TSRI_GIVEN(other);
    TSR_TRY(TSRI_SIZED_TAKE(&o, options));
    TSR_CHECK(o.ratios >= 0 && (o.ratios == 0 || o.ratio), TSR_USAGE,
              "masks need ratios: ratio [ratios]");
    for (int64_t i = 0; i < o.ratios; i++)
        TSR_CHECK(o.ratio[i] > 0 && o.ratio[i] < 1, TSR_USAGE,
                  "a ratio is the part of the filters to remove: above 0, below 1; not %g",
                  o.ratio[i]);
    TSR_TRY(tsri_criterion_find(&criterion, o.criterion ? o.criterion : "bn"));
    TSR_CHECK(!tsri_criterion_of_gradients(criterion), TSR_USAGE,
              "%s scores by gradients on training data: masks are compared by bn, l2, l1 or fpgm",
              tsri_criterion_name(criterion));
    TSR_TRY(tsri_compare(&c, reference, other, o.axes, criterion, o.ratio, o.ratios));
    comparison_json(&w, &c, o.ratio, reference->path);
    TSR_TRY(tsri_json_give(json, &w));
done:
    tsri_json_fini(&w);
    tsri_comparison_fini(&c);
    return st;
}
