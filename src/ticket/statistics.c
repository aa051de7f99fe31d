/* statistics.c - batch norm's running statistics of a ticket, measured on the ticket itself. */
#include "ticket/statistics.h"

#include "base/alloc.h"
#include "net/order.h"
#include "run/recalibrate.h"
#include "run/run.h"
#include "ticket/finetune.h"
#include "train/describe.h"

#include <string.h>

bool tsri_statistics_has(const tsri_net *net)
{
    for (int64_t p = 0; p < net->params; p++)
        if (net->param[p].role == TSRI_BUFFER)
            return true;
    return false;
}

/* All numbers, from one order in memory to another. */
static void copy_numbers(const tsri_opened *to, const tsri_opened *from)
{
    for (int64_t i = 0; i < from->net->params; i++) {
        const tsri_param *p = &from->net->param[i], *q = &to->net->param[i];
        const float *w = tsri_opened_at(from, from->w, i);
        float *v = tsri_opened_at(to, to->w, i);
        for (int64_t j = 0; j < p->count; j++)
            v[tsri_order_place(q, j)] = w[tsri_order_place(p, j)];
    }
}

/* Statistics are vectors: their order is the same everywhere. */
static void copy_statistics(const tsri_opened *to, const tsri_opened *from)
{
    for (int64_t i = 0; i < from->net->params; i++)
        if (from->net->param[i].role == TSRI_BUFFER)
            memcpy(tsri_opened_at(to, to->w, i), tsri_opened_at(from, from->w, i),
                   (size_t)from->net->param[i].count * sizeof(float));
}

static tsr_status copy(tsri_store *to, const tsri_store *from,
                       void (*what)(const tsri_opened *to, const tsri_opened *from))
{
    tsr_status st = TSR_OK;
    tsri_opened here = {0}, there = {0};
    TSR_TRY(tsri_store_open(&here, from, TSRI_OPEN_WEIGHTS));
    TSR_TRY(tsri_store_open(&there, to, TSRI_OPEN_WEIGHTS));
    what(&there, &here);
    TSR_TRY(tsri_store_save(&there));
done:
    tsri_store_close(&here);
    tsri_store_close(&there);
    return st;
}

tsr_status tsri_ticket_run_file(tsr_config **out, const tsr_config *config, const tsr_model *shown)
{
    tsr_status st = TSR_OK;
    tsri_text widths = {0};
    const char *given = tsri_config_text(config, "model.widths");
    TSR_TRY(tsri_config_copy(out, shown->config));
    TSR_TRY(tsri_text_add(&widths, "model.widths=%s", given ? given : ""));
    if (given)
        TSR_TRY(tsr_config_set(*out, widths.data));
    TSR_TRY(tsri_finetune_config(*out, 0, 0));
done:
    tsri_text_fini(&widths);
    return st;
}

tsr_status tsri_ticket_copy_numbers(tsri_store *to, const tsri_store *from)
{
    return copy(to, from, copy_numbers);
}

tsr_status tsri_statistics_measure(tsri_store *ticket, const tsr_config *config,
                                   const tsr_model *shown, int64_t batches)
{
    tsr_status st = TSR_OK;
    tsr_config *own = NULL;
    tsr_run_options options = tsr_run_options_default();
    tsri_ground ground = {.dry = true};
    tsri_run run = {.process.lock = -1};
    tsri_like like = tsri_model_like(shown, false);
    const tsri_backend *backend;
    if (batches == 0 || !tsri_statistics_has(ticket->net))
        return TSR_OK;
    TSR_TRY(tsri_model_has_data(shown));
    TSR_TRY(tsri_ticket_run_file(&own, config, shown));
    TSR_TRY(tsri_start_backend(&backend, &ground.threads, own));
    tsri_wants wants = tsri_model_wants(own);
    TSR_TRY(tsri_data_load_like(&ground.data, own, &wants, &like));
    TSR_TRY(tsri_run_init_on(&run, own, &options, &ground));
    TSR_TRY(tsri_ticket_copy_numbers(&run.store, ticket));
    run.settings.recalibrate = batches;
    TSR_TRY(tsri_recalibrate(&run));
    TSR_TRY(copy(ticket, &run.store, copy_statistics));
done:
    tsri_run_fini(&run);
    tsr_data_destroy(ground.data);
    tsr_config_destroy(own);
    return st;
}
