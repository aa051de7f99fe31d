/* ticket.c - tickets as tessera.h has them: files in, files and plain numbers out. */
#include "ticket/ticket.h"

#include "base/alloc.h"
#include "base/sized.h"
#include "base/stop.h"
#include "ticket/compare.h"
#include "ticket/finetune.h"
#include "ticket/pipeline.h"
#include "ticket/prune.h"
#include "ticket/target.h"

#include <string.h>

static tsr_status measure_named(tsri_measure *out, const char *name)
{
    tsr_status st = TSR_OK;
    bool known = false;
    for (int m = TSRI_BY_FILTERS; m <= TSRI_BY_TIME; m++)
        if (strcmp(name, tsri_measure_name((tsri_measure)m)) == 0) {
            *out = (tsri_measure)m;
            known = true;
        }
    TSR_CHECK(known, TSR_USAGE, "a ticket is measured in filters, params, ops or time, not in %s",
              tsri_quote(name));
done:
    return st;
}

tsr_status tsri_prune_how(tsri_prune *how, const tsr_prune_options *options)
{
    tsr_status st = TSR_OK;
    tsr_prune_options o;
    TSR_TRY(TSRI_SIZED_TAKE(&o, options));
    *how = (tsri_prune){.ratio = o.ratio,
                        .global = o.global,
                        .round_to = o.round_to,
                        .axes = o.axes,
                        .reinit = o.reinit,
                        .seed = o.seed,
                        .recalibrate = o.recalibrate};
    TSR_CHECK(o.criterion && o.round_to >= 0 && o.recalibrate >= 0, TSR_USAGE,
              "a ticket needs a criterion (l2, l1, bn, fpgm, snip, grasp, random), and round_to "
              "and recalibrate "
              "of 0 or more: begin with tsr_prune_options_default()");
    TSR_TRY(tsri_criterion_find(&how->criterion, o.criterion));
    if (o.measure)
        TSR_TRY(measure_named(&how->measure, o.measure));
    how->keep = o.keep;
done:
    return st;
}

tsr_status tsr_prune(const char *ticket, const char *model, const tsr_prune_options *options)
{
    tsr_status st = TSR_OK;
    tsr_model *m = NULL;
    tsri_prune how;
    TSRI_GIVEN(ticket);
    TSR_TRY(tsri_prune_how(&how, options));
    TSR_TRY(tsr_model_read(&m, model));
    TSR_TRY(tsri_ticket_write(NULL, ticket, m, &how));
done:
    tsr_model_destroy(m);
    return st;
}

tsr_status tsr_model_prune(tsr_model **ticket, const tsr_model *model,
                           const tsr_prune_options *options)
{
    tsr_status st = TSR_OK;
    tsr_model *copy = NULL; /* its settings change */
    tsri_prune how;
    tsri_sink sink = {0};
    TSRI_GIVEN(ticket);
    *ticket = NULL;
    TSRI_GIVEN(model);
    TSR_TRY(tsri_prune_how(&how, options));
    TSR_TRY(tsr_model_copy(&copy, model));
    TSR_TRY(tsri_ticket_put(NULL, &sink, copy, &how));
    TSR_TRY(tsr_model_parse(ticket, sink.bytes, sink.n));
done:
    tsri_free(sink.bytes);
    tsr_model_destroy(copy);
    return st;
}

tsr_status tsr_model_scores(double **scores, int64_t *n, const tsr_model *model, const char *axis,
                            const char *criterion)
{
    tsr_status st = TSR_OK;
    tsri_criterion by;
    TSRI_GIVEN(scores);
    *scores = NULL;
    TSRI_GIVEN(n);
    TSRI_GIVEN(model);
    TSRI_GIVEN(axis);
    TSRI_GIVEN(criterion);
    TSR_TRY(tsri_criterion_find(&by, criterion));
    TSR_CHECK(!tsri_criterion_of_gradients(by), TSR_USAGE,
              "%s scores by gradients on training data: tsr_prune and tsr_ticket use it",
              tsri_criterion_name(by));
    int64_t a = tsri_axis_find(model->net, axis);
    TSR_CHECK(a >= 0, TSR_USAGE, "the model has no axis %s: tsr_share_axis lists them",
              tsri_quote(axis));
    TSR_TRY(tsri_alloc(scores, model->net->axis[a].size, sizeof **scores));
    TSR_TRY(tsri_score(*scores, &model->store, a, by, 1));
    *n = model->net->axis[a].size;
done:
    if (st != TSR_OK && scores)
        TSRI_FREE(*scores);
    return st;
}

tsr_status tsr_config_finetune(tsr_config *config, int64_t epochs, double rate)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(config);
    TSR_TRY(tsri_finetune_config(config, epochs, rate));
done:
    return st;
}

tsr_status tsr_model_distance(tsr_layer_distance **out, int64_t *n, const tsr_model *reference,
                              const tsr_model *other)
{
    tsr_status st = TSR_OK;
    tsri_comparison c = {0};
    TSRI_GIVEN(out);
    *out = NULL;
    TSRI_GIVEN(n);
    *n = 0;
    TSRI_GIVEN(reference);
    TSRI_GIVEN(other);
    TSR_TRY(tsri_compare(&c, reference, other, NULL, TSRI_SCORE_L2, NULL, 0));
    TSR_TRY(tsri_alloc(out, c.rows, sizeof **out));
    for (int64_t i = 0; i < c.rows; i++)
        (*out)[i] = (tsr_layer_distance){.layer = c.row[i].axis,
                                         .units = c.row[i].units,
                                         .units_other = c.row[i].units_other,
                                         .distance = c.row[i].distance,
                                         .relative = c.row[i].relative};
    *n = c.rows;
done:
    tsri_comparison_fini(&c);
    return st;
}

tsr_status tsr_tickets(char **json, tsr_config *config, const tsr_run_options *options)
{
    tsr_status st = TSR_OK;
    tsri_tickets tickets = {0};
    tsri_json w = {0};
    tsr_run_options o;
    TSRI_GIVEN(json);
    *json = NULL;
    TSRI_GIVEN(config);
    TSR_TRY(TSRI_SIZED_TAKE(&o, options));
    TSR_CHECK(
        o.folder && !o.data && !o.model, TSR_USAGE,
        "tickets need options.folder, their data is what the config names (not options.data), "
        "and their first weights are options.init (not options.model)");
    TSR_TRY(tsri_tickets_run(&tickets, config, &o, o.stage));
    tsri_json_begin(&w);
    TSR_TRY(tsri_tickets_json(&w, &tickets));
    tsri_json_close(&w, '}');
    TSR_TRY(tsri_json_give(json, &w));
done:
    tsri_json_fini(&w);
    tsri_tickets_fini(&tickets);
    tsri_stop_clear();
    return st;
}
