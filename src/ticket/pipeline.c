/* pipeline.c - pretrain, prune at several ratios, fine-tune each, judge.
 *
 * There is no state beside the folders: every run is begun or resumed, finished ones give their
 * result at once, tickets are cut again with the same bits. What a changed run file would break is
 * refused by the runs themselves, whose run.yaml holds the section `ticket:` too.
 */
#include "ticket/pipeline.h"

#include "base/alloc.h"
#include "comm/comm.h"
#include "io/file.h"
#include "run/run.h"
#include "ticket/finetune.h"
#include "ticket/pipeline_parts.h"
#include "ticket/rewind.h"
#include "ticket/target.h"
#include "train/describe.h"

#include <math.h>
#include <string.h>

/* ---- Before hours of pretraining ---------------------------------------------------------------- */

static tsr_status try_goal(const tsri_pipeline *l, tsri_run *run, tsri_share *share, tsri_goal goal)
{
    tsr_status st = TSR_OK;
    tsri_prune how;
    TSR_TRY(tsri_pipeline_prune(&how, l->config, TSRI_TICKET_PRUNED, goal));
    how.config = l->config;
    TSR_CHECK(goal.measure == TSRI_BY_FILTERS || tsri_config_int(l->config, "ticket.steps") == 1,
              TSR_USAGE, "%s: steps lead to ratios of filters (ticket.ratios), not to %s",
              tsri_config_place(l->config, "ticket.steps"), tsri_measure_name(goal.measure));
    TSR_TRY(tsri_rewind_check(&run->settings, tsri_config_int(l->config, "ticket.rewind")));
    if (tsri_criterion_of_gradients(how.criterion)) /* which units is not asked yet */
        how.criterion = TSRI_SCORE_L2;
    st = tsri_prune_choose(share, &run->store, &how);
    if (st == TSR_USAGE)
        tsri_fail_prefix(
            "%s: ", tsri_config_place(l->config, how.axes ? "ticket.axes" : "ticket.criterion"));
    TSR_TRY(st);
    st = tsri_target_check(&how, &run->store, l->config);
    if (st == TSR_USAGE)
        tsri_fail_prefix("%s: ", tsri_config_place(l->config, tsri_goal_key(goal.measure)));
done:
    return st;
}

/* Can such a network be pruned so? Its first weights will tell. */
static tsr_status try_pruning(const tsri_pipeline *l)
{
    tsr_status st = TSR_OK;
    tsri_run run;
    tsri_share share = {0};
    TSR_TRY(tsri_run_init(&run, l->config, l->options));
    TSR_TRY(tsri_share_init(&share, run.net));
    for (int64_t i = 0; i < l->goals; i++)
        TSR_TRY(try_goal(l, &run, &share, l->goal[i]));
done:
    tsri_share_fini(&share);
    tsri_run_fini(&run);
    return st;
}

/* ---- The rows ----------------------------------------------------------------------------- */

static tsr_status pretrain(tsri_pipeline *l)
{
    tsr_status st = TSR_OK;
    tsri_ticket_row *row = NULL;
    TSR_TRY(tsri_tickets_add(&row, l->tickets, TSRI_TICKET_PRETRAINED, (tsri_goal){0}));
    TSR_TRY(tsri_pipeline_train(row, l, l->config, l->options->init));
    TSR_TRY(tsri_pipeline_place(&l->whole, l, row, "model.safetensors"));
done:
    return st;
}

/* A row of the whole network, trained on from the file `from`, or from the start where that is
 * NULL. `rate` 0: the run file's own. */
static tsr_status uncut(tsri_pipeline *l, tsri_ticket_kind kind, int64_t epochs, double rate,
                        const char *from)
{
    tsr_status st = TSR_OK;
    tsri_ticket_row *row = NULL;
    tsr_model *model = NULL; /* for its run file */
    if (epochs == 0)
        return TSR_OK;
    TSR_TRY(tsr_model_read(&model, l->whole));
    TSR_TRY(tsri_finetune_config(model->config, epochs, rate));
    TSR_TRY(tsri_tickets_add(&row, l->tickets, kind, (tsri_goal){0}));
    TSR_TRY(tsri_pipeline_train(row, l, model->config, from));
done:
    tsr_model_destroy(model);
    return st;
}

/* Trained on like the tickets: what they are fairly compared with. */
static tsr_status whole(tsri_pipeline *l)
{
    return uncut(l, TSRI_TICKET_WHOLE, tsri_config_int(l->config, "ticket.whole"),
                 tsri_config_real(l->config, "ticket.lr"), l->whole);
}

static tsr_status dense(tsri_pipeline *l)
{
    return uncut(l, TSRI_TICKET_DENSE, tsri_config_int(l->config, "ticket.dense"), 0, NULL);
}

static tsr_status tickets_of(tsri_pipeline *l, tsri_goal goal)
{
    tsr_status st = TSR_OK;
    const char *controls = tsri_config_text(l->config, "ticket.controls");
    bool all = strcmp(controls, "all") == 0, both = all || strcmp(controls, "both") == 0;
    int64_t own = l->tickets->rows;
    TSR_TRY(tsri_pipeline_ticket(l, TSRI_TICKET_PRUNED, goal, -1));
    if (both || strcmp(controls, "random") == 0)
        TSR_TRY(tsri_pipeline_ticket(l, TSRI_TICKET_RANDOM, goal, own));
    if (both || strcmp(controls, "reinit") == 0)
        TSR_TRY(tsri_pipeline_ticket(l, TSRI_TICKET_REINIT, goal, own));
    if (all || strcmp(controls, "init") == 0)
        TSR_TRY(tsri_pipeline_ticket(l, TSRI_TICKET_INIT, goal, own));
done:
    return st;
}

static tsr_status all_tickets(tsri_pipeline *l)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < l->goals; i++)
        TSR_TRY(tickets_of(l, l->goal[i]));
done:
    return st;
}

/* ---- The table ---------------------------------------------------------------------------- */

/* All networks side by side. */
static tsr_status measure(tsri_pipeline *l)
{
    tsr_status st = TSR_OK;
    tsri_tickets *t = l->tickets;
    tsr_model **model = NULL;
    tsri_latency *time = NULL;
    TSR_TRY(tsri_alloc(&model, t->rows, sizeof *model));
    TSR_TRY(tsri_alloc(&time, t->rows, sizeof *time));
    if (l->stage)
        l->stage(l->options->context, "measure");
    for (int64_t i = 0; i < t->rows; i++) {
        char *path = NULL;
        TSR_TRY(tsri_pipeline_place(&path, l, &t->row[i], "model.safetensors"));
        st = tsr_model_read(&model[i], path);
        tsri_free(path);
        TSR_TRY(st);
    }
    TSR_TRY(tsri_latency_measure(time, (const tsr_model *const *)model, t->rows,
                                 tsri_config_real(l->config, "ticket.seconds"), false));
    for (int64_t i = 0; i < t->rows; i++)
        t->row[i].time = time[i];
done:
    for (int64_t i = 0; model && i < t->rows; i++)
        tsr_model_destroy(model[i]);
    tsri_free(model);
    tsri_free(time);
    return st;
}

static tsr_status write_table(const tsri_pipeline *l)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    char *path = NULL;
    tsri_json_begin(&w);
    TSR_TRY(tsri_tickets_json(&w, l->tickets));
    tsri_json_close(&w, '}');
    TSR_TRY(tsri_json_end(&w));
    TSR_TRY(tsri_path_join(&path, l->options->folder, "ticket.json"));
    TSR_TRY(tsri_file_write_text(path, w.text.data));
done:
    tsri_json_fini(&w);
    tsri_free(path);
    return st;
}

/* ---- All of it ---------------------------------------------------------------------------- */

/* Leaves the goal of that ratio alone. */
static tsr_status pick(tsri_pipeline *l, double ratio)
{
    tsr_status st = TSR_OK;
    int64_t i = 0;
    while (i < l->goals && (l->goal[i].measure != TSRI_BY_FILTERS || l->goal[i].value != ratio))
        i++;
    TSR_CHECK(i < l->goals, TSR_USAGE, "%s: no ticket of ratio %g is asked for there",
              tsri_config_place(l->config, "ticket.ratios"), ratio);
    l->goal[0] = l->goal[i];
    l->goals = 1;
done:
    return st;
}

/* `ratio` NaN: all. */
static tsr_status run_tickets(tsri_tickets *tickets, tsr_config *config,
                              const tsr_run_options *options,
                              void (*stage)(void *context, const char *name), double ratio)
{
    tsr_status st = TSR_OK;
    tsri_pipeline l = {.tickets = tickets, .config = config, .options = options, .stage = stage};
    *tickets = (tsri_tickets){0};
    TSR_CHECK(tsri_comm_given_size() == 1, TSR_USAGE,
              "tickets are made in one process: pretrain with mpirun tessera train, then give "
              "tessera ticket with --resume for that folder, without mpirun");
    TSR_TRY(tsri_goals_read(&l.goal, &l.goals, config));
    if (!isnan(ratio))
        TSR_TRY(pick(&l, ratio));
    TSR_TRY(try_pruning(&l));
    TSR_TRY(pretrain(&l));
    TSR_TRY(whole(&l));
    TSR_TRY(dense(&l));
    TSR_TRY(all_tickets(&l));
    TSR_TRY(measure(&l));
    TSR_TRY(write_table(&l));
done:
    tsri_free(l.whole);
    tsri_free(l.goal);
    if (st != TSR_OK)
        tsri_tickets_fini(tickets);
    return st;
}

tsr_status tsri_tickets_run(tsri_tickets *tickets, tsr_config *config,
                            const tsr_run_options *options,
                            void (*stage)(void *context, const char *name))
{
    return run_tickets(tickets, config, options, stage, (double)NAN);
}

tsr_status tsri_tickets_one(tsri_tickets *tickets, tsr_config *config,
                            const tsr_run_options *options,
                            void (*stage)(void *context, const char *name), double ratio)
{
    return run_tickets(tickets, config, options, stage, ratio);
}
