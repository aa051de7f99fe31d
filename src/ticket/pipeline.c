/* pipeline.c - pretrain, prune at several ratios, fine-tune each, judge.
 *
 * There is no state beside the folders: every run is begun or resumed, finished ones give their
 * result at once, tickets are cut again with the same bits. What a changed run file would break is
 * refused by the runs themselves, whose run.yaml holds the section `ticket:` too.
 */
#include "ticket/pipeline.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/number.h"
#include "comm/comm.h"
#include "io/file.h"
#include "model/evaluation.h"
#include "net/torch_code.h"
#include "run/run.h"
#include "ticket/best.h"
#include "ticket/finetune.h"
#include "ticket/goals.h"
#include "ticket/rewind.h"
#include "ticket/target.h"
#include "train/describe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* What the rows have in common. */
typedef struct line {
    tsri_tickets *tickets;
    tsr_config *config;
    const tsr_run_options *options;
    void (*stage)(void *context, const char *name);
    char *whole;     /* the pretrained model's file */
    tsri_goal *goal; /* [goals] */
    int64_t goals;
} line;

static const char *const kinds[] = {
    [TSRI_TICKET_PRETRAINED] = "pretrained",
    [TSRI_TICKET_WHOLE] = "whole",
    [TSRI_TICKET_DENSE] = "dense",
    [TSRI_TICKET_PRUNED] = "ticket",
    [TSRI_TICKET_RANDOM] = "random",
    [TSRI_TICKET_REINIT] = "reinit",
    [TSRI_TICKET_INIT] = "init",
};

int tsri_ticket_kind_named(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i], name) == 0)
            return (int)i;
    return -1;
}

bool tsri_tickets_folder(const char *name)
{
    for (int kind = TSRI_TICKET_WHOLE; kind <= TSRI_TICKET_INIT; kind++) {
        size_t n = strlen(kinds[kind]);
        if (strncmp(name, kinds[kind], n) == 0 && (!name[n] || name[n] == '-'))
            return true;
    }
    return false;
}

/* "ticket-0.5" loses half of its filters, "ticket-ops-0.5" has half of the operations. */
static tsr_status add_row(tsri_ticket_row **out, tsri_tickets *t, tsri_ticket_kind kind,
                          tsri_goal goal)
{
    tsr_status st = TSR_OK;
    char number[TSRI_NUMBER_TEXT];
    bool filters = goal.measure == TSRI_BY_FILTERS;
    TSR_TRY(tsri_reserve(&t->row, &t->capacity, t->rows, sizeof *t->row));
    tsri_ticket_row *row = *out = &t->row[t->rows++];
    *row = (tsri_ticket_row){.kind = kind,
                             .measure = goal.measure,
                             .ratio = filters ? goal.value : 0,
                             .keep = filters ? (double)NAN : goal.value,
                             .reached = (double)NAN,
                             .before = (double)NAN};
    (void)tsri_shortest(number, goal.value);
    (void)snprintf(row->name, sizeof row->name, goal.value > 0 ? "%s%s%s-%s" : "%s", kinds[kind],
                   filters ? "" : "-", filters ? "" : tsri_measure_name(goal.measure), number);
done:
    return st;
}

/* The folder of a row, or a file in it. */
static tsr_status place(char **out, const line *l, const tsri_ticket_row *row, const char *file)
{
    tsr_status st = TSR_OK;
    char *folder = NULL;
    bool top = row->kind == TSRI_TICKET_PRETRAINED;
    TSR_TRY(top ? tsri_strdup(&folder, l->options->folder)
                : tsri_path_join(&folder, l->options->folder, row->name));
    TSR_TRY(file ? tsri_path_join(out, folder, file) : tsri_strdup(out, folder));
done:
    tsri_free(folder);
    return st;
}

/* ---- One run ------------------------------------------------------------------------------ */

/* The time that a line of metrics reports starts again with every process: what the processes
 * before this one took is the last that each told. */
static void add_line(tsri_ticket_row *row, double *last, const char *text, size_t n)
{
    tsri_json_value *told = NULL;
    double seconds;
    if (tsri_json_parse(&told, text, (int64_t)n, "metrics.jsonl") == TSR_OK &&
        tsri_json_as_real(tsri_json_get(told, "seconds"), &seconds)) {
        row->seconds += seconds >= *last ? seconds - *last : seconds;
        *last = seconds;
        (void)tsri_json_as_real(tsri_json_get(told, "epoch"), &row->epochs);
    }
    tsri_json_destroy(told);
}

static tsr_status note_time(tsri_ticket_row *row, const line *l)
{
    enum { MOST = 1 << 30 };
    tsr_status st = TSR_OK;
    char *path = NULL, *bytes = NULL;
    int64_t n;
    double last = 0;
    TSR_TRY(place(&path, l, row, "metrics.jsonl"));
    TSR_TRY(tsri_file_read(&bytes, &n, path, MOST));
    for (const char *at = bytes; *at; at += strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n'))
        add_line(row, &last, at, strcspn(at, "\n"));
done:
    tsri_free(path);
    tsri_free(bytes);
    return st;
}

/* Where it is right and wrong, for the page; once is enough for one model. */
static tsr_status note_mistakes(const tsri_ticket_row *row, const line *l, tsr_model *m)
{
    tsr_status st = TSR_OK;
    char *path = NULL;
    bool known = false;
    TSR_TRY(place(&path, l, row, TSRI_EVALUATION_FILE));
    TSR_TRY(tsri_evaluation_known(&known, path, m->file));
    if (!known)
        TSR_TRY(tsri_evaluation_write(path, m, false));
done:
    tsri_free(path);
    return st;
}

static tsr_status note_size(tsri_ticket_row *row, const line *l)
{
    tsr_status st = TSR_OK;
    char *path = NULL;
    tsr_model *m = NULL;
    struct stat about;
    TSR_TRY(place(&path, l, row, "model.safetensors"));
    TSR_TRY(tsr_model_read(&m, path));
    row->params = m->net->total;
    row->flops = (int64_t)tsri_net_flops(m->net);
    row->file_bytes = stat(path, &about) == 0 ? (int64_t)about.st_size : 0;
    TSR_TRY(note_mistakes(row, l, m));
done:
    tsri_free(path);
    tsr_model_destroy(m);
    return st;
}

/* A row's run, from its start, from where it stands, or just its result. */
static tsr_status train(tsri_ticket_row *row, const line *l, tsr_config *config, const char *init)
{
    tsr_status st = TSR_OK;
    tsr_run_options o = *l->options;
    tsr_result r = tsr_result_default();
    char *folder = NULL, *begun = NULL;
    TSR_TRY(place(&folder, l, row, NULL));
    TSR_TRY(place(&begun, l, row, "run.yaml"));
    o.folder = folder;
    o.init = init;
    o.resume = o.resume && tsri_file_exists(begun);
    if (l->stage)
        l->stage(o.context, row->name);
    TSR_TRY(tsr_train(&r, config, &o));
    row->accuracy = r.accuracy;
    row->loss = r.loss;
    row->traffic = r.bytes_total;
    TSR_TRY(note_time(row, l));
    TSR_TRY(note_size(row, l));
done:
    tsri_free(folder);
    tsri_free(begun);
    return st;
}

/* ---- The rows ----------------------------------------------------------------------------- */

static tsr_status pretrain(line *l)
{
    tsr_status st = TSR_OK;
    tsri_ticket_row *row = NULL;
    TSR_TRY(add_row(&row, l->tickets, TSRI_TICKET_PRETRAINED, (tsri_goal){0}));
    TSR_TRY(train(row, l, l->config, l->options->init));
    TSR_TRY(place(&l->whole, l, row, "model.safetensors"));
done:
    return st;
}

/* A row of the whole network, trained on from the file `from`, or from the start where that is
 * NULL. `rate` 0: the run file's own. */
static tsr_status uncut(line *l, tsri_ticket_kind kind, int64_t epochs, double rate,
                        const char *from)
{
    tsr_status st = TSR_OK;
    tsri_ticket_row *row = NULL;
    tsr_model *model = NULL; /* for its run file */
    if (epochs == 0)
        return TSR_OK;
    TSR_TRY(tsr_model_read(&model, l->whole));
    TSR_TRY(tsri_finetune_config(model->config, epochs, rate));
    TSR_TRY(add_row(&row, l->tickets, kind, (tsri_goal){0}));
    TSR_TRY(train(row, l, model->config, from));
done:
    tsr_model_destroy(model);
    return st;
}

/* Trained on like the tickets: what they are fairly compared with. */
static tsr_status whole(line *l)
{
    return uncut(l, TSRI_TICKET_WHOLE, tsri_config_int(l->config, "ticket.whole"),
                 tsri_config_real(l->config, "ticket.lr"), l->whole);
}

static tsr_status dense(line *l)
{
    return uncut(l, TSRI_TICKET_DENSE, tsri_config_int(l->config, "ticket.dense"), 0, NULL);
}

static tsr_status how_to_prune(tsri_prune *how, const tsr_config *c, tsri_ticket_kind kind,
                               tsri_goal goal)
{
    tsr_status st = TSR_OK;
    *how = (tsri_prune){
        .ratio = goal.measure == TSRI_BY_FILTERS ? goal.value : 0,
        .measure = goal.measure,
        .keep = goal.value,
        .global = tsri_config_bool(c, "ticket.global"),
        .round_to = tsri_config_int(c, "ticket.round_to"),
        .axes = tsri_config_given(c, "ticket.axes") ? tsri_config_text(c, "ticket.axes") : NULL,
        .reinit = kind == TSRI_TICKET_REINIT,
        .seed = (uint64_t)tsri_config_int(c, "seed"),
        .recalibrate = tsri_config_int(c, "ticket.recalibrate")};
    TSR_TRY(tsri_criterion_find(&how->criterion, tsri_config_text(c, "ticket.criterion")));
    if (kind == TSRI_TICKET_RANDOM)
        how->criterion = TSRI_SCORE_RANDOM;
    if (kind == TSRI_TICKET_INIT) /* magnitude before pretraining */
        how->criterion = TSRI_SCORE_L2;
done:
    return st;
}

/* Training on changes the numbers and not the network: the module is that of both files. */
static tsr_status write_module(const tsr_model *model, const line *l, const tsri_ticket_row *row)
{
    tsr_status st = TSR_OK;
    char *path = NULL;
    const char *why = tsri_torch_lacks(model->net);
    if (why) {
        TSRI_INFO("%s gets no PyTorch module: %s", row->name, why);
        return TSR_OK;
    }
    TSR_TRY(place(&path, l, row, "model.py"));
    TSR_TRY(tsri_module_write(path, model, "model.safetensors"));
done:
    tsri_free(path);
    return st;
}

/* Of a ticket that is there already, the ratio that time chose: it is not measured a second time.
 */
static tsr_status remember(tsri_prune *how, const char *path)
{
    tsr_status st = TSR_OK;
    tsri_tensors *file = NULL;
    tsri_json_value *told = NULL;
    if (how->measure != TSRI_BY_TIME || how->settled || !tsri_file_exists(path))
        return TSR_OK;
    TSR_TRY(tsri_tensors_read(&file, path));
    const char *text = tsri_tensors_meta(file, TSRI_META_TICKET);
    TSR_TRY(tsri_json_parse(&told, text ? text : "{}", text ? (int64_t)strlen(text) : 2, path));
    how->settled = tsri_json_as_real(tsri_json_get(told, "ratio"), &how->ratio) &&
                   tsri_json_as_int(tsri_json_get(told, "round_to"), &how->round_to) &&
                   tsri_json_as_real(tsri_json_get(told, "reached"), &how->reached);
    TSR_CHECK(how->settled, TSR_BAD_FILE, "%s: tessera.ticket does not say how it was pruned",
              path);
done:
    tsri_json_destroy(told);
    tsri_tensors_destroy(file);
    return st;
}

static tsri_rewind rewinding(const line *l, int64_t epoch)
{
    return (tsri_rewind){.whole = l->whole,
                         .folder = l->options->folder,
                         .epoch = epoch,
                         .recalibrate = tsri_config_int(l->config, "ticket.recalibrate")};
}

/* The ticket's file, cut from the model `from`, with the weights that ticket.rewind says. */
static tsr_status cut_from(tsri_ticket_made *made, const line *l, tsri_ticket_kind kind,
                           const char *path, const char *from, tsri_prune how)
{
    tsr_status st = TSR_OK;
    tsr_model *model = NULL, *first = NULL;
    int64_t epoch = tsri_config_int(l->config, "ticket.rewind");
    tsri_rewind start = rewinding(l, 0), back = rewinding(l, epoch);
    TSR_TRY(tsr_model_read(&model, from));
    if (kind == TSRI_TICKET_INIT) {
        TSR_TRY(tsri_rewind_whole(&first, &start));
        how.scored = &first->store;
    }
    TSR_TRY(tsri_ticket_write(made, path, model, &how));
    if (epoch >= 0 && kind != TSRI_TICKET_REINIT)
        TSR_TRY(tsri_ticket_rewind(path, &back));
done:
    tsr_model_destroy(first);
    tsr_model_destroy(model);
    return st;
}

/* The same for a row, and what the row says of it. */
static tsr_status cut_ticket(tsri_ticket_row *row, const line *l, const char *path,
                             const char *from, const tsri_prune *how)
{
    tsr_status st = TSR_OK;
    tsri_ticket_made made;
    tsr_model *model = NULL, *ticket = NULL;
    TSR_TRY(cut_from(&made, l, row->kind, path, from, *how));
    TSR_TRY(tsr_model_read(&model, l->whole));
    TSR_TRY(tsr_model_read(&ticket, path));
    TSR_TRY(tsri_layers_compare(&row->layers, model->net, ticket->net));
    if (row->measure != TSRI_BY_FILTERS)
        row->ratio = made.how.ratio;
    row->round_to = made.how.round_to;
    row->recalibrate = made.recalibrated;
    if (made.how.settled)
        row->reached = made.how.reached;
done:
    tsr_model_destroy(model);
    tsr_model_destroy(ticket);
    return st;
}

static tsr_status tune(tsr_result *r, const line *l, const char *folder, const char *ticket)
{
    tsr_status st = TSR_OK;
    tsr_model *model = NULL;
    tsr_run_options o = *l->options;
    char *begun = NULL;
    TSR_TRY(tsr_model_read(&model, ticket));
    TSR_TRY(tsri_finetune_config(model->config, tsri_config_int(l->config, "ticket.epochs"),
                                 tsri_config_real(l->config, "ticket.lr")));
    TSR_TRY(tsri_path_join(&begun, folder, "run.yaml"));
    o.folder = folder;
    o.init = ticket;
    o.resume = o.resume && tsri_file_exists(begun);
    TSR_TRY(tsr_train(r, model->config, &o));
done:
    tsri_free(begun);
    tsr_model_destroy(model);
    return st;
}

/* All steps but the last: each prunes what the one before left, and trains it in a folder of its
 * own. *from = the model that the last one prunes. The caller frees it. */
static tsr_status in_steps(char **from, const line *l, const tsri_ticket_row *row,
                           const tsri_prune *how, int64_t steps)
{
    tsr_status st = TSR_OK;
    tsr_result r = tsr_result_default();
    tsri_ticket_made made;
    char name[40], *folder = NULL, *ticket = NULL;
    TSR_TRY(tsri_strdup(from, l->whole));
    for (int64_t i = 1; i < steps; i++) {
        TSRI_FREE(folder);
        TSRI_FREE(ticket);
        (void)snprintf(name, sizeof name, "step-%lld", (long long)i);
        TSR_TRY(place(&folder, l, row, name));
        TSR_TRY(tsri_make_own_folder(folder));
        TSR_TRY(tsri_path_join(&ticket, folder, "ticket.safetensors"));
        TSR_TRY(cut_from(&made, l, row->kind, ticket, *from, *how));
        TSR_TRY(tune(&r, l, folder, ticket));
        TSRI_FREE(*from);
        TSR_TRY(tsri_path_join(from, folder, "model.safetensors"));
    }
done:
    tsri_free(folder);
    tsri_free(ticket);
    return st;
}

/* Prunes, judges, fine-tunes. Controls have the ratio that `of`, their ticket, has; NULL = none. */
static tsr_status one_ticket(line *l, tsri_ticket_kind kind, tsri_goal goal, int64_t of)
{
    tsr_status st = TSR_OK;
    const tsr_config *c = l->config;
    tsri_ticket_row *row = NULL;
    tsri_prune how;
    tsr_result r = tsr_result_default();
    tsr_model *model = NULL;
    char *folder = NULL, *path = NULL, *from = NULL;
    int64_t steps = kind == TSRI_TICKET_PRUNED ? tsri_config_int(c, "ticket.steps") : 1;
    TSR_TRY(add_row(&row, l->tickets, kind, goal));
    TSR_TRY(how_to_prune(&how, c, kind, goal));
    if (of >= 0 && goal.measure != TSRI_BY_FILTERS) {
        const tsri_ticket_row *ticket = &l->tickets->row[of];
        how.settled = true;
        how.ratio = ticket->ratio;
        how.round_to = ticket->round_to;
        how.reached = ticket->reached;
    }
    TSR_TRY(place(&folder, l, row, NULL));
    TSR_TRY(place(&path, l, row, "ticket.safetensors"));
    TSR_TRY(tsri_make_own_folder(folder));
    TSR_TRY(remember(&how, path));
    if (steps > 1) /* each step leaves the same part of what the one before left */
        how.ratio = 1 - pow(1 - how.ratio, 1 / (double)steps);
    TSR_TRY(in_steps(&from, l, row, &how, steps));
    TSR_TRY(cut_ticket(row, l, path, from, &how));
    TSR_TRY(tsr_model_read(&model, path));
    TSR_TRY(write_module(model, l, row));
    TSR_TRY(tsr_model_evaluate(&r, model, false));
    row->before = r.accuracy;
    TSR_TRY(tsri_finetune_config(model->config, tsri_config_int(c, "ticket.epochs"),
                                 tsri_config_real(c, "ticket.lr")));
    TSR_TRY(train(row, l, model->config, path));
done:
    tsr_model_destroy(model);
    tsri_free(folder);
    tsri_free(path);
    tsri_free(from);
    return st;
}

static tsr_status tickets_of(line *l, tsri_goal goal)
{
    tsr_status st = TSR_OK;
    const char *controls = tsri_config_text(l->config, "ticket.controls");
    bool all = strcmp(controls, "all") == 0, both = all || strcmp(controls, "both") == 0;
    int64_t own = l->tickets->rows;
    TSR_TRY(one_ticket(l, TSRI_TICKET_PRUNED, goal, -1));
    if (both || strcmp(controls, "random") == 0)
        TSR_TRY(one_ticket(l, TSRI_TICKET_RANDOM, goal, own));
    if (both || strcmp(controls, "reinit") == 0)
        TSR_TRY(one_ticket(l, TSRI_TICKET_REINIT, goal, own));
    if (all || strcmp(controls, "init") == 0)
        TSR_TRY(one_ticket(l, TSRI_TICKET_INIT, goal, own));
done:
    return st;
}

static tsr_status all_tickets(line *l)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < l->goals; i++)
        TSR_TRY(tickets_of(l, l->goal[i]));
done:
    return st;
}

/* ---- The table ---------------------------------------------------------------------------- */

/* All networks side by side. */
static tsr_status measure(line *l)
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
        TSR_TRY(place(&path, l, &t->row[i], "model.safetensors"));
        st = tsr_model_read(&model[i], path);
        tsri_free(path);
        TSR_TRY(st);
    }
    TSR_TRY(tsri_latency_measure(time, (const tsr_model *const *)model, t->rows,
                                 tsri_config_real(l->config, "ticket.seconds")));
    for (int64_t i = 0; i < t->rows; i++)
        t->row[i].time = time[i];
done:
    for (int64_t i = 0; model && i < t->rows; i++)
        tsr_model_destroy(model[i]);
    tsri_free(model);
    tsri_free(time);
    return st;
}

/* In the order of the report's columns: what matters most is seen first on a phone. */
tsr_status tsri_tickets_json(tsri_json *w, const tsri_tickets *tickets)
{
    tsri_best best = tsri_tickets_best(tickets);
    tsri_json_key(w, "rows");
    tsri_json_open(w, '[');
    for (int64_t i = 0; i < tickets->rows; i++) {
        const tsri_ticket_row *r = &tickets->row[i];
        tsri_json_open(w, '{');
        tsri_json_put_text(w, "network", r->name);
        tsri_json_put_text(w, "kind", kinds[r->kind]);
        tsri_json_put_real(w, "ratio", r->ratio);
        tsri_json_put_text(w, "measure", tsri_measure_name(r->measure));
        tsri_json_put_real(w, "keep", r->keep);
        tsri_json_put_real(w, "reached", r->reached);
        tsri_json_put_int(w, "recalibrate", r->recalibrate);
        tsri_json_put_real(w, "accuracy_before", r->before);
        tsri_json_put_real(w, "accuracy", r->accuracy);
        tsri_json_put_int(w, "params", r->params);
        tsri_json_put_int(w, "flops", r->flops);
        tsri_json_put_int(w, "file_bytes", r->file_bytes);
        tsri_json_put_real(w, "loss", r->loss);
        tsri_json_put_real(w, "epochs", r->epochs);
        tsri_json_put_real(w, "seconds", round(r->seconds * 1e3) / 1e3);
        tsri_json_put_int(w, "bytes_total", r->traffic);
        tsri_json_put_real(w, "ms", r->time.infer.least);
        tsri_json_put_real(w, "step_ms", r->time.step.least);
        tsri_layers_json(w, "layers", &r->layers);
        tsri_json_close(w, '}');
    }
    tsri_json_close(w, ']');
    return tsri_best_json(w, &best);
}

static tsr_status write_table(const line *l)
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

static tsr_status try_goal(const line *l, tsri_run *run, tsri_share *share, tsri_goal goal)
{
    tsr_status st = TSR_OK;
    tsri_prune how;
    TSR_TRY(how_to_prune(&how, l->config, TSRI_TICKET_PRUNED, goal));
    how.config = l->config;
    TSR_CHECK(goal.measure == TSRI_BY_FILTERS || tsri_config_int(l->config, "ticket.steps") == 1,
              TSR_USAGE, "%s: steps lead to ratios of filters (ticket.ratios), not to %s",
              tsri_config_place(l->config, "ticket.steps"), tsri_measure_name(goal.measure));
    TSR_TRY(tsri_rewind_check(l->config, tsri_config_int(l->config, "ticket.rewind")));
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

/* Before hours of pretraining: can such a network be pruned so? Its first weights will tell. */
static tsr_status try_pruning(const line *l)
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

/* Leaves the goal of that ratio alone. */
static tsr_status pick(line *l, double ratio)
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
    line l = {.tickets = tickets, .config = config, .options = options, .stage = stage};
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

void tsri_tickets_fini(tsri_tickets *tickets)
{
    for (int64_t i = 0; i < tickets->rows; i++)
        tsri_layers_fini(&tickets->row[i].layers);
    tsri_free(tickets->row);
    *tickets = (tsri_tickets){0};
}
