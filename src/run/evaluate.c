/* evaluate.c - judging a network on a set, in batches of fixed size.
 *
 * The size is fixed because a product of another shape may have other bits; the last batch is
 * filled up with zeros that do not count.
 */
#include "run/evaluate.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "data/loader.h"
#include "optim/step.h"

#include <math.h>

enum { BATCH = 256 };

int64_t tsri_evaluate_batch(const tsri_part *part)
{
    return part->n < BATCH ? part->n : BATCH;
}

typedef struct judge {
    tsri_loader *loader;
    tsri_plan *plan;
    tsri_step step;
    int64_t batch;
} judge;

/* `kind` NULL: only outputs are wanted. */
static tsr_status judge_init(judge *j, tsri_store *store, tsri_device device, const tsr_data *data,
                             const tsri_part *part, int64_t batch, const tsri_loss_kind *kind)
{
    tsr_status st = TSR_OK;
    *j = (judge){.batch = part->n < batch ? part->n : batch};
    TSR_CHECK(part->n > 0, TSR_USAGE, "there is nothing to evaluate on: the set is empty");
    tsri_loader_options o = {.batch = j->batch, .shards = 1};
    TSR_TRY(tsri_loader_create(&j->loader, data, part, &o));
    TSR_TRY(tsri_plan_create(&j->plan, store, device, j->batch, false));
    TSR_TRY(tsri_step_init(&j->step, j->plan, &(tsri_aim){.kind = kind}, NULL));
done:
    return st;
}

static void judge_fini(judge *j)
{
    tsri_loader_destroy(j->loader);
    tsri_step_fini(&j->step);
    tsri_plan_destroy(j->plan);
}

double tsri_judged_loss(const tsri_loss_kind *kind, double sum, int64_t n)
{
    return kind->sum ? kind->judged * sum : sum / (double)n;
}

/* Are errors told in the units of the targets? Not of margins, nor after the end of a sequence. */
static bool has_units(const tsr_data *data, const tsri_part *part, const tsri_net *net,
                      const tsri_loss_kind *kind)
{
    return part->target && !part->length && !kind->margin && data->targets == net->outputs;
}

/* Of a batch: squared differences of outputs and targets as they were before scaling. */
static double squares_in_units(const float *y, const tsri_batch *b, const tsr_data *data)
{
    double sum = 0;
    for (int64_t i = 0; i < b->n * data->targets; i++) {
        double error = (double)tsri_scaling_original(&data->scaling, y[i]) -
                       (double)tsri_scaling_original(&data->scaling, b->target[i]);
        sum += error * error;
    }
    return sum;
}

tsr_status tsri_evaluate(tsr_result *result, tsri_store *store, tsri_device device,
                         const tsr_data *data, const tsri_part *part, const tsri_loss_kind *kind)
{
    tsr_status st = TSR_OK;
    double start = tsri_clock(), sum = 0, squares = 0;
    int64_t hits = 0;
    bool units = has_units(data, part, store->net, kind);
    float *y = NULL;
    judge j;
    TSR_TRY(judge_init(&j, store, device, data, part, tsri_evaluate_batch(part), kind));
    if (units)
        TSR_TRY(tsri_alloc_raw(&y, j.batch * store->net->outputs, sizeof *y));
    for (int64_t i = 0; i < tsri_loader_steps(j.loader); i++) {
        const tsri_batch *b = NULL;
        TSR_TRY(tsri_loader_get(j.loader, &b, i));
        tsri_tally tally;
        TSR_TRY(tsri_step_forward(&j.step, b, 0));
        if (units) { /* before the loss, which may spoil the outputs */
            TSR_TRY(tsri_plan_read_output(y, j.plan, b->n));
            squares += squares_in_units(y, b, data);
        }
        TSR_TRY(tsri_step_judge(&j.step, b, 0));
        TSR_TRY(tsri_step_tally(&tally, &j.step));
        sum += tally.sum;
        hits += tally.hits;
    }
    *result = (tsr_result){
        .n = part->n,
        .loss = tsri_judged_loss(kind, sum, part->n),
        .accuracy = part->label || kind->margin ? (double)hits / (double)part->n : (double)NAN,
        .rmse = units ? sqrt(squares / (double)(part->n * data->targets)) : (double)NAN,
        .seconds = tsri_clock() - start};
done:
    tsri_free(y);
    judge_fini(&j);
    return st;
}

tsr_status tsri_outputs(float **outputs, tsri_store *store, tsri_device device,
                        const tsr_data *data, const tsri_part *part)
{
    return tsri_outputs_in(outputs, store, device, data, part, BATCH);
}

tsr_status tsri_outputs_in(float **outputs, tsri_store *store, tsri_device device,
                           const tsr_data *data, const tsri_part *part, int64_t batch)
{
    tsr_status st = TSR_OK;
    int64_t width = store->net->outputs; /* of all positions, where each has some */
    judge j;
    *outputs = NULL;
    TSR_TRY(judge_init(&j, store, device, data, part, batch, NULL));
    TSR_TRY(tsri_alloc(outputs, part->n * width, sizeof **outputs));
    for (int64_t i = 0; i < tsri_loader_steps(j.loader); i++) {
        const tsri_batch *b = NULL;
        TSR_TRY(tsri_loader_get(j.loader, &b, i));
        TSR_TRY(tsri_step_forward(&j.step, b, 0));
        TSR_TRY(tsri_plan_read_output(*outputs + i * j.batch * width, j.plan, b->n));
    }
done:
    judge_fini(&j);
    if (st != TSR_OK)
        TSRI_FREE(*outputs);
    return st;
}
