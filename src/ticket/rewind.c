/* rewind.c - a ticket with the weights that its units had earlier. See rewind.h. */
#include "ticket/rewind.h"

#include "base/alloc.h"
#include "io/file.h"
#include "run/when.h"
#include "subnet/cut.h"
#include "subnet/take.h"
#include "ticket/origin.h"
#include "ticket/statistics.h"
#include "train/checkpoint.h"
#include "train/describe.h"

#include <math.h>
#include <stdio.h>

/* The round after which that epoch was over. */
static int64_t last_round(const tsri_settings *s, int64_t epoch)
{
    return llround((double)epoch * s->epoch_rounds);
}

/* How many checkpoints are due after that round and up to the end, its own included; 0: it has none
 * of its own. */
static int64_t saved_since(const tsri_settings *s, int64_t round, double every)
{
    int64_t period = tsri_period(s, every);
    if (period == 0 || round % period != 0)
        return 0;
    return s->rounds / period - round / period + 1 + (s->rounds % period != 0);
}

/* The round has to be among those that are saved, and its file must not be removed. An epoch is not
 * always a whole number of rounds: those after which it is saved every epoch may be others. */
tsr_status tsri_rewind_check(const tsri_settings *s, int64_t epoch)
{
    tsr_status st = TSR_OK;
    int64_t epochs = tsri_config_int(s->config, "epochs"),
            keep = tsri_config_int(s->config, "checkpoint.keep");
    if (epoch <= 0)
        return TSR_OK;
    int64_t round = last_round(s, epoch);
    TSR_CHECK(tsri_config_int(s->config, "rounds") == 0 && epoch < epochs && round > 0 &&
                  round < s->rounds,
              TSR_USAGE, "%s: the run has %lld epochs: rewind to one before its end",
              tsri_config_place(s->config, "ticket.rewind"), (long long)epochs);
    int64_t saved = saved_since(s, round, tsri_config_real(s->config, "checkpoint.every"));
    int64_t every = saved_since(s, round, 1) > 0 ? 1 : epoch;
    TSR_CHECK(saved > 0 && saved <= keep, TSR_USAGE,
              "%s: the weights of epoch %lld are those of a checkpoint, after round %lld of %lld: "
              "set checkpoint.every to %lld and checkpoint.keep to %lld or more",
              tsri_config_place(s->config, "ticket.rewind"), (long long)epoch, (long long)round,
              (long long)s->rounds, (long long)every,
              (long long)saved_since(s, round, (double)every));
done:
    return st;
}

static tsr_status round_of(int64_t *round, const tsr_model *whole, int64_t epoch)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsri_run run = {.process.lock = -1};
    tsr_run_options options = tsr_run_options_default();
    TSR_TRY(tsri_config_copy(&config, whole->config));
    TSR_TRY(tsri_run_describe(&run, config, &options, NULL));
    *round = last_round(&run.settings, epoch);
done:
    tsri_run_fini(&run);
    tsr_config_destroy(config);
    return st;
}

/* The weights after that round, if they are kept. */
static tsr_status load_round(bool *there, tsr_model *model, const tsri_rewind *to, int64_t round)
{
    tsr_status st = TSR_OK;
    tsri_tensors *file = NULL;
    char name[80], *path = NULL;
    (void)snprintf(name, sizeof name, TSRI_CHECKPOINT_NAME, round);
    TSR_TRY(tsri_path_join(&path, to->folder, name));
    *there = round > 0 || tsri_file_exists(path); /* a later one has to be there */
    if (!*there)
        goto done;
    TSR_TRY(tsri_tensors_read(&file, path));
    TSR_TRY(tsri_store_load(&model->store, file, "model.", path));
done:
    tsri_tensors_destroy(file);
    tsri_free(path);
    return st;
}

/* A run that began with a model keeps its checkpoint of round 0. One without it began with weights as
 * drawn, which follow from the seed. */
tsr_status tsri_rewind_whole(tsr_model **out, const tsri_rewind *to)
{
    tsr_status st = TSR_OK;
    int64_t round = 0;
    bool there = false;
    TSR_TRY(tsr_model_read(out, to->whole));
    if (to->epoch > 0)
        TSR_TRY(round_of(&round, *out, to->epoch));
    TSR_TRY(load_round(&there, *out, to, round));
    if (!there)
        TSR_TRY(tsri_store_fill(&(*out)->store, (uint64_t)tsri_config_int((*out)->config, "seed")));
done:
    return st;
}

/* The share of the whole that the ticket is. */
static tsr_status share_of(tsri_share *share, const tsr_model *whole, const tsr_model *ticket)
{
    tsr_status st = TSR_OK;
    tsri_origin origin = {0};
    TSR_TRY(tsri_share_init(share, whole->net));
    TSR_TRY(tsri_origin_read(&origin, ticket->net,
                             tsri_tensors_meta(ticket->file, TSRI_META_TICKET), ticket->path));
    for (int64_t a = 0; a < whole->net->axes; a++)
        if (ticket->net->axis[a].size < whole->net->axis[a].size)
            TSR_TRY(tsri_share_give(share, a, origin.unit[a], ticket->net->axis[a].size));
done:
    tsri_origin_fini(&origin);
    return st;
}

tsr_status tsri_ticket_rewind(const char *path, const tsri_rewind *to)
{
    tsr_status st = TSR_OK;
    tsr_model *whole = NULL, *ticket = NULL;
    tsri_share share = {0};
    tsri_net *small = NULL;
    tsri_store store = {0};
    TSR_TRY(tsri_rewind_whole(&whole, to));
    TSR_TRY(tsr_model_read(&ticket, path));
    TSR_TRY(share_of(&share, whole, ticket));
    TSR_TRY(tsri_net_cut(&small, whole->net, &share, false));
    TSR_TRY(tsri_store_init_host(&store, small));
    TSR_TRY(tsri_take(&store, &whole->store, &share, false));
    TSR_TRY(tsri_statistics_measure(&store, ticket->config, whole, to->recalibrate));
    tsri_model_parts parts = tsri_model_parts_of(ticket);
    parts.net = small;
    parts.w = tsri_store_own(&store);
    TSR_TRY(tsri_model_put(&(tsri_sink){.path = path}, &parts));
done:
    tsri_store_fini(&store);
    tsri_net_destroy(small);
    tsri_share_fini(&share);
    tsr_model_destroy(ticket);
    tsr_model_destroy(whole);
    return st;
}
