/* sound.c - when a run has diverged, and which weights a run may go back to.
 *
 * One rule: a training loss that is not finite, or ten thousand times the first one, does not come
 * down again. If the first one is smaller than the loss of a network that answers 0 (silent.h), the
 * latter counts: with batches of one sample some runs begin with a loss of nearly 0. The losses of a round
 * are measured before its last update, so they say nothing of the weights that the round leaves.
 * Before weights are saved or handed over, a few training samples go forward through them as the
 * next step would begin, and the same rule judges that loss.
 */
#include "train/sound.h"

#include "base/alloc.h"
#include "run/recipe.h"
#include "train/checkpoint.h"
#include "train/silent.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLES = 16 };

static const double too_many_times = 1e4;

/* Has a run with such a loss diverged? */
static tsr_status beyond(bool *out, const tsri_run *run, double loss)
{
    double first = run->position.first_loss, silent;
    *out = !isfinite(loss) || (first > 0 && loss > too_many_times * first);
    if (!*out || !isfinite(loss))
        return TSR_OK;
    tsr_status st = tsri_silent_loss(&silent, run);
    *out = st == TSR_OK && loss > too_many_times * silent;
    return st;
}

/* A loss in a sentence: printf may write "-nan", whose sign says nothing. */
static const char *told(char text[32], double loss)
{
    if (isnan(loss))
        return "not a number";
    (void)snprintf(text, 32, "%g", loss);
    return text;
}

/* The checkpoint that is left, in words; the path lives until the next call. */
static const char *last_sound(const tsri_run *run)
{
    static _Thread_local char text[1200];
    if (run->process.saved_round < 0)
        return "no checkpoint was saved yet";
    (void)snprintf(text, sizeof text, "the last sound checkpoint is %.1000s/" TSRI_CHECKPOINT_NAME,
                   run->settings.options.folder, run->process.saved_round);
    return text;
}

/* ---- After a round -------------------------------------------------------------------------- */

static double last_loss(const tsri_run *run, const tsri_mean *before)
{
    int64_t steps = run->position.recent.count - before->count;
    return steps > 0 ? (run->position.recent.sum - before->sum) / (double)steps : 0;
}

/* The loss that the round began with: what its own steps made of it is not the first. */
static double begin_loss(tsri_run *run)
{
    tsri_mean begun = run->process.begun;
    run->process.begun = (tsri_mean){0};
    return begun.count > 0 ? begun.sum / (double)begun.count : 0;
}

tsr_status tsri_check_loss(tsri_run *run, const tsri_mean *before)
{
    tsr_status st = TSR_OK;
    double loss = run->process.round_loss = last_loss(run, before), begin = begin_loss(run);
    if (run->position.first_loss <= 0 && isfinite(begin))
        run->position.first_loss = begin;
    double lr = tsri_config_real(run->settings.config, "optim.lr");
    bool gone;
    char text[32];
    TSR_CHECK(isfinite(loss) || run->position.first_loss > 0, TSR_DIVERGED,
              "the loss was %s in round %lld, the first: lower optim.lr, now %g, or, where that "
              "does not help, scale the data (data.normalize, data.target_scale); %s",
              told(text, loss), (long long)run->position.round + 1, lr, last_sound(run));
    TSR_TRY(beyond(&gone, run, loss));
    TSR_CHECK(!gone, TSR_DIVERGED,
              "the loss became %s in round %lld (it began at %g): lower optim.lr, now %g, or add "
              "optim.warmup; %s",
              told(text, loss), (long long)run->position.round + 1, run->position.first_loss, lr,
              last_sound(run));
done:
    return st;
}

tsr_status tsri_diverged_loss(double *loss, const tsri_run *run)
{
    bool gone;
    tsr_status st = beyond(&gone, run, run->process.round_loss);
    *loss = st == TSR_OK && gone ? run->process.round_loss : (double)NAN;
    return st;
}

tsr_status tsri_check_judged(const tsri_run *run, double loss)
{
    tsr_status st = TSR_OK;
    char text[32];
    TSR_CHECK(isfinite(loss), TSR_DIVERGED,
              "the whole network's loss is %s after round %lld: lower optim.lr, now %g, or add "
              "optim.warmup; %s",
              told(text, loss), (long long)run->position.round,
              tsri_config_real(run->settings.config, "optim.lr"), last_sound(run));
done:
    return st;
}

/* ---- Weights -------------------------------------------------------------------------------- */

/* A loss of n samples as one of a step of run->settings.batch: a sum, or a mean. */
static double as_of_a_step(const tsri_run *run, double loss, int64_t n)
{
    return run->settings.loss->sum ? loss * (double)run->settings.batch / (double)n : loss;
}

static tsr_status step_loss(double *loss, tsri_run *run, int64_t n)
{
    tsr_status st = TSR_OK;
    tsri_loader *loader = NULL;
    tsri_plan *plan = NULL;
    tsri_step step = {0};
    tsri_aim aim = tsri_run_aim(&run->settings);
    const tsri_batch *b = NULL;
    tsri_loader_options o = {.batch = n, .shards = 1};
    TSR_TRY(tsri_loader_create(&loader, run->data, &run->data->train, &o));
    TSR_TRY(tsri_loader_get(loader, &b, 0));
    TSR_TRY(tsri_plan_create(&plan, &run->store, run->device, n, true));
    TSR_TRY(tsri_step_init(&step, plan, &aim, NULL));
    TSR_TRY(tsri_step_forward(&step, b, 0));
    TSR_TRY(tsri_step_judge(&step, b, 0));
    TSR_TRY(tsri_step_value(loss, &step));
    *loss = as_of_a_step(run, *loss, n);
done:
    tsri_step_fini(&step);
    tsri_plan_destroy(plan);
    tsri_loader_destroy(loader);
    return st;
}

/* The loss that a step of the whole network would begin with, in the statistics of its own batch:
 * running ones, which training does not use, may be far off in the first rounds. They are left as
 * they were. */
static tsr_status next_loss(double *loss, tsri_run *run)
{
    tsr_status st = TSR_OK;
    char *kept = NULL;
    const tsri_heap *heap = run->store.heap;
    int64_t real = run->store.real_bytes, bytes = (run->net->total - run->net->trained) * real;
    tsri_mem *fixed = tsri_mem_at(run->store.w, run->net->trained * real);
    int64_t n = run->data->train.n < SAMPLES ? run->data->train.n : SAMPLES;
    TSR_TRY(tsri_alloc_raw(&kept, bytes + 1, 1));
    TSR_TRY(heap->out(kept, fixed, bytes));
    st = step_loss(loss, run, n);
    tsr_status back = heap->in(fixed, kept, bytes);
    st = st == TSR_OK ? back : st;
done:
    tsri_free(kept);
    return st;
}

tsr_status tsri_is_sound(bool *sound, char why[TSRI_WHY], tsri_run *run)
{
    tsr_status st = TSR_OK;
    int64_t p, i;
    double loss = 0;
    bool bad;
    TSR_TRY(tsri_store_nonfinite(&bad, &run->store, &p, &i));
    *sound = !bad;
    if (bad) {
        (void)snprintf(why, TSRI_WHY, "parameter %s is no longer finite at element %lld",
                       run->net->param[p].name, (long long)i);
        return TSR_OK;
    }
    if (run->position.round == 0)
        return TSR_OK; /* weights that were given: nothing has been trained */
    TSR_TRY(next_loss(&loss, run));
    TSR_TRY(beyond(&bad, run, loss));
    *sound = !bad;
    (void)snprintf(why, TSRI_WHY, "the next step would begin with a loss of %g (the first was %g)",
                   loss, run->position.first_loss);
done:
    return st;
}

tsr_status tsri_check_sound(tsri_run *run)
{
    tsr_status st = TSR_OK;
    char why[TSRI_WHY] = "";
    bool sound;
    TSR_TRY(tsri_is_sound(&sound, why, run));
    TSR_CHECK(sound, TSR_DIVERGED,
              "after round %lld %s: lower optim.lr, now %g, or add optim.warmup; %s",
              (long long)run->position.round, why,
              tsri_config_real(run->settings.config, "optim.lr"), last_sound(run));
done:
    return st;
}
