/* stages.c - where gpipe cuts a network by depth.
 *
 *     scheme.cuts     "layer2.1, layer3.1": after these layers or blocks, as many as there are
 *                     workers less one
 *     scheme.balance  otherwise, so that the dearest stage costs least: `flops` of the layers, or
 *                     `time`, measured on a micro-batch of this machine
 *
 * Measured times differ from run to run and so may the cuts; the weights do not (gpipe.c), but
 * the bytes.
 */
#include "scheme/stages.h"

#include "base/alloc.h"
#include "base/text.h"
#include "net/depth.h"
#include "optim/step.h"

#include <string.h>

/* ---- As named ----------------------------------------------------------------------------- */

/* The layer after the last one that is called `name` or "<name>.<anything>"; 0 = none is. */
static int64_t behind(const tsri_net *net, const char *name, size_t n)
{
    int64_t place = 0;
    for (int64_t i = 0; i < net->layers; i++) {
        const char *layer = net->layer[i].name;
        if (strncmp(layer, name, n) == 0 && (layer[n] == 0 || layer[n] == '.'))
            place = i + 1;
    }
    return place;
}

static tsr_status no_such_place(const tsri_settings *s, const tsri_net *net, const char *name,
                                size_t n)
{
    tsr_status st = TSR_OK;
    tsri_text have = {0}, asked = {0};
    TSR_TRY(tsri_text_add(&asked, "%.*s", (int)(n < 60 ? n : 60), name));
    for (int64_t i = 1; i < net->layers; i++)
        if (tsri_depth_cuttable(net, i))
            TSR_TRY(tsri_text_add(&have, have.length ? ", %s" : "%s", net->layer[i - 1].name));
    st = tsri_fail(TSR_USAGE, "%s: the model cannot be cut after %s: it can after %s",
                   tsri_config_place(s->config, "scheme.cuts"), tsri_quote(asked.data),
                   have.length ? have.data : "no layer");
done:
    tsri_text_fini(&have);
    tsri_text_fini(&asked);
    return st;
}

static tsr_status as_named(int64_t *begin, const tsri_settings *s, const tsri_net *net,
                           const char *at)
{
    tsr_status st = TSR_OK;
    int64_t count = 0;
    begin[0] = 0;
    for (at += strspn(at, ", "); *at; at += strspn(at, ", ")) {
        size_t n = strcspn(at, ", ");
        int64_t place = behind(net, at, n);
        if (!tsri_depth_cuttable(net, place))
            TSR_TRY(no_such_place(s, net, at, n));
        TSR_CHECK(place > begin[count], TSR_USAGE,
                  "%s: scheme.cuts must name layers in the order of the model",
                  tsri_config_place(s->config, "scheme.cuts"));
        if (++count < s->workers)
            begin[count] = place;
        else
            break;
        at += n;
    }
    TSR_CHECK(count == s->workers - 1, TSR_USAGE,
              "%s: %lld workers need %lld cuts: scheme.cuts names %s",
              tsri_config_place(s->config, "scheme.cuts"), (long long)s->workers,
              (long long)s->workers - 1, count < s->workers ? "fewer" : "more");
    begin[s->workers] = net->layers;
done:
    return st;
}

/* ---- Balanced ----------------------------------------------------------------------------- */

static void count_flops(double *cost, const tsri_net *net)
{
    for (int64_t i = 0; i < net->layers; i++) {
        tsri_op op = tsri_net_op(net, i, 1);
        cost[i] = tsri_op_flops(&op);
    }
}

/* Seconds of each op, forward and backward, the least of some runs; what is fused into another
 * costs nothing of its own. The numbers are not the run's: its statistics must not move. */
static tsr_status measure(double *cost, const tsri_settings *s, const tsri_net *net,
                          tsri_device device, int64_t batch)
{
    enum { RUNS = 5 };
    tsr_status st = TSR_OK;
    tsri_store store = {0};
    tsri_plan *plan = NULL;
    tsri_step step = {0};
    tsri_aim aim = {.kind = s->loss};
    tsri_batch b = {.n = batch};
    TSR_TRY(tsri_store_init(&store, net, device.backend, true));
    TSR_TRY(tsri_store_fill(&store, s->seed));
    TSR_TRY(tsri_plan_create(&plan, &store, device, batch, true));
    TSR_TRY(tsri_alloc(&b.x, batch * tsri_shape_count(net->input), sizeof *b.x));
    if (s->loss->classes)
        TSR_TRY(tsri_alloc(&b.label, batch, sizeof *b.label));
    TSR_TRY(tsri_alloc(&b.target, batch * net->outputs, sizeof *b.target));
    TSR_TRY(tsri_step_init(&step, plan, &aim, NULL));
    tsri_plan_time(plan, true);
    for (int r = 0; r < RUNS; r++) {
        TSR_TRY(tsri_step_gradient(&step, &b, 0));
        for (int64_t k = 0; k < tsri_plan_ops(plan); k++) {
            const char *name;
            double there, back;
            (void)tsri_plan_op(plan, k, &name);
            int64_t i = behind(net, name, strlen(name)) - 1;
            tsri_plan_op_seconds(plan, k, &there, &back);
            cost[i] = r == 0 || there + back < cost[i] ? there + back : cost[i];
        }
    }
done:
    tsri_free(b.x);
    tsri_free(b.label);
    tsri_free(b.target);
    tsri_step_fini(&step);
    tsri_plan_destroy(plan);
    tsri_store_fini(&store);
    return st;
}

static tsr_status balanced(int64_t *begin, const tsri_settings *s, const tsri_net *net,
                           tsri_device device, int64_t batch)
{
    tsr_status st = TSR_OK;
    double *cost = NULL;
    bool timed = tsri_config_is(s->config, "scheme.balance", "time");
    TSR_TRY(tsri_alloc(&cost, net->layers, sizeof *cost));
    if (timed)
        TSR_TRY(measure(cost, s, net, device, batch));
    else
        count_flops(cost, net);
    st = tsri_depth_balance(begin, net, cost, s->workers);
    if (st == TSR_USAGE)
        tsri_fail_prefix("%s: ", tsri_config_place(s->config, "scheme.workers"));
done:
    tsri_free(cost);
    return st;
}

tsr_status tsri_stages_choose(int64_t *begin, const tsri_settings *s, const tsri_net *net,
                              tsri_device device, int64_t batch)
{
    tsr_status st = TSR_OK;
    const char *cuts = tsri_config_text(s->config, "scheme.cuts");
    TSR_CHECK(!s->shard, TSR_USAGE,
              "%s: the stages of gpipe work on the same samples: use scheme.data: replicate",
              tsri_config_place(s->config, "scheme.data"));
    TSR_TRY(cuts ? as_named(begin, s, net, cuts) : balanced(begin, s, net, device, batch));
done:
    return st;
}
