/* pipeline_ticket.c - one ticket: pruned, at once or in steps, judged, fine-tuned. */
#include "ticket/pipeline_parts.h"

#include "base/alloc.h"
#include "base/log.h"
#include "io/file.h"
#include "net/torch_code.h"
#include "ticket/finetune.h"
#include "ticket/rewind.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

tsr_status tsri_pipeline_prune(tsri_prune *how, const tsr_config *c, tsri_ticket_kind kind,
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

/* Fine-tuning changes the numbers and not the network: one module serves both files. */
static tsr_status write_module(const tsr_model *model, const tsri_pipeline *l,
                               const tsri_ticket_row *row)
{
    tsr_status st = TSR_OK;
    char *path = NULL;
    const char *why = tsri_torch_lacks(model->net);
    if (why) {
        TSRI_INFO("%s gets no PyTorch module: %s", row->name, why);
        return TSR_OK;
    }
    TSR_TRY(tsri_pipeline_place(&path, l, row, "model.py"));
    TSR_TRY(tsri_module_write(path, model, "model.safetensors"));
done:
    tsri_free(path);
    return st;
}

/* Takes the ratio from a ticket that exists: measured again, times would differ. */
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

static tsri_rewind rewinding(const tsri_pipeline *l, int64_t epoch)
{
    return (tsri_rewind){.whole = l->whole,
                         .folder = l->options->folder,
                         .epoch = epoch,
                         .recalibrate = tsri_config_int(l->config, "ticket.recalibrate")};
}

/* The ticket's file, cut from the model `from`, with the weights that ticket.rewind says. */
static tsr_status cut_from(tsri_ticket_made *made, const tsri_pipeline *l, tsri_ticket_kind kind,
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
static tsr_status cut_ticket(tsri_ticket_row *row, const tsri_pipeline *l, const char *path,
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

static tsr_status tune(tsr_result *r, const tsri_pipeline *l, const char *folder,
                       const char *ticket)
{
    tsr_status st = TSR_OK;
    tsr_model *model = NULL;
    TSR_TRY(tsr_model_read(&model, ticket));
    TSR_TRY(tsri_finetune_config(model->config, tsri_config_int(l->config, "ticket.epochs"),
                                 tsri_config_real(l->config, "ticket.lr")));
    TSR_TRY(tsri_pipeline_run(r, l, folder, model->config, ticket));
done:
    tsr_model_destroy(model);
    return st;
}

/* All steps but the last: each prunes what the one before left, and trains it in a folder of its
 * own. *from = the model that the last one prunes. The caller frees it. */
static tsr_status in_steps(char **from, const tsri_pipeline *l, const tsri_ticket_row *row,
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
        TSR_TRY(tsri_pipeline_place(&folder, l, row, name));
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

tsr_status tsri_pipeline_ticket(tsri_pipeline *l, tsri_ticket_kind kind, tsri_goal goal, int64_t of)
{
    tsr_status st = TSR_OK;
    const tsr_config *c = l->config;
    tsri_ticket_row *row = NULL;
    tsri_prune how;
    tsr_result r = tsr_result_default();
    tsr_model *model = NULL;
    char *folder = NULL, *path = NULL, *from = NULL;
    int64_t steps = kind == TSRI_TICKET_PRUNED ? tsri_config_int(c, "ticket.steps") : 1;
    TSR_TRY(tsri_tickets_add(&row, l->tickets, kind, goal));
    TSR_TRY(tsri_pipeline_prune(&how, c, kind, goal));
    if (of >= 0 && goal.measure != TSRI_BY_FILTERS) {
        const tsri_ticket_row *ticket = &l->tickets->row[of];
        how.settled = true;
        how.ratio = ticket->ratio;
        how.round_to = ticket->round_to;
        how.reached = ticket->reached;
    }
    TSR_TRY(tsri_pipeline_place(&folder, l, row, NULL));
    TSR_TRY(tsri_pipeline_place(&path, l, row, "ticket.safetensors"));
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
    TSR_TRY(tsri_pipeline_train(row, l, model->config, path));
done:
    tsr_model_destroy(model);
    tsri_free(folder);
    tsri_free(path);
    tsri_free(from);
    return st;
}
