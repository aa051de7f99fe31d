/* run.h - everything one run holds, from the run file to the finished model.
 *
 *     run.yaml -> data -> [ a round of the scheme ] x rounds -> metrics, checkpoints -> model
 *
 * A scheme (scheme/scheme.h) does one round. What a round may ask of the run is here: the rate, a
 * step, batches, evaluation, lines of metrics, the trace.
 */
#ifndef TSRI_RUN_H
#define TSRI_RUN_H

#include "base/stop.h"
#include "data/loader.h"
#include "net/plan.h"
#include "optim/step.h"
#include "run/position.h"
#include "run/process.h"
#include "run/score_log.h"
#include "run/settings.h"
#include "subnet/share.h"

#include <inttypes.h>

typedef struct tsri_run tsri_run;

/* What runs of one process may have in common: a sweep loads its data once and gives each of many
 * runs one thread. */
typedef struct tsri_ground {
    tsr_data *data; /* loaded already and not the run's, or NULL: the run loads its own */
    int threads;    /* of the run; the backend is started already */
    bool dry;       /* only to see whether the run can be: weights stay zero */
} tsri_ground;

/* An observer looks at a run between its rounds and writes what it saw to the metrics. It changes
 * nothing. What it needs of the past it reads from the metrics, which a resumed run has, too. */
typedef struct tsri_observer {
    const char *name;
    tsr_status (*prepare)(tsri_run *run); /* (optional) before the folder is touched: refusals */
    /* before the first round and after each one; INTERRUPTED (tsri_hear_stop) when a stop ended it:
     * then it is called again for the same round when the run is resumed */
    tsr_status (*look)(tsri_run *run);
    bool (*active)(const tsri_run *run); /* does it look at this run's weights at all? */
    /* (optional, both or none) state that is too large for the metrics goes into the checkpoint;
     * load is called after one was read, even if it holds nothing of this observer */
    tsr_status (*save)(const tsri_run *run, tsri_parcel *parcel);
    tsr_status (*load)(tsri_run *run, const tsri_tensors *file, const char *path);
    void (*fini)(void *state); /* (optional) frees its run->process.observer_state */
} tsri_observer;

/* All of them, NULL at the end. They live in rooms below this one, which make themselves known
 * before main: this room does not know them. */
extern const tsri_observer *tsri_observers[];

/* Makes one known, for constructors alone; gives the number of its run->observer_state. */
int tsri_observer_register(const tsri_observer *observer);

struct tsri_run {
    tsri_settings settings;     /* what the run file says */
    tsri_run_position position; /* how far it has come */
    tsri_process process;       /* what belongs to it in this process */

    /* What the three share: the network with its numbers, and what it is trained on. */
    tsri_device device; /* its pool is also the host's threads */
    tsr_data *data;
    tsri_net *net;
    tsri_store store;
    tsri_mem *average;     /* [net->total] of the weights; NULL = none (train/average.c) */
    tsri_mem *best_w;      /* [net->total] of the best iterate, or NULL: the last is kept */
    tsri_score_log scores; /* the scores of filters so far; empty when nobody looks */
    tsri_opened seen;      /* the weights, while somebody looks at the run (tsri_run_see) */
    void *scheme_state;
    tsri_text forced; /* what --force let pass so far, one event a line (train/forced.c) */
    char *ticket;     /* of the model it began from: which units of the whole that has, or NULL */
};

/* Everything from the run file that needs no folder: data, network, initial weights. */
tsr_status tsri_run_init(tsri_run *run, tsr_config *config, const tsr_run_options *options);
void tsri_run_fini(tsri_run *run);

/* The same on given ground. With data of the ground the config must name them: it is not changed.
 */
tsr_status tsri_run_init_on(tsri_run *run, tsr_config *config, const tsr_run_options *options,
                            const tsri_ground *ground);

/* What follows from the run file without weights: data, network, length. `ground` may be NULL. */
tsr_status tsri_run_describe(tsri_run *run, tsr_config *config, const tsr_run_options *options,
                             const tsri_ground *ground);

/* The backend that the config names, its library checked and ready for *threads, the number that
 * the config says. Once per run, or once for all runs on one ground. */
tsr_status tsri_start_backend(const tsri_backend **backend, int *threads, const tsr_config *config);

/* The data the config names; what was chosen where it names none is written into it. */
tsr_status tsri_run_data(tsr_data **data, tsr_config *config);

/* Opens run->seen for who looks at weights as the host sees them, until unsee. */
tsr_status tsri_run_see(tsri_run *run);
void tsri_run_unsee(tsri_run *run);

/* What the net is now, "grelu" or "relu_twin", in a run that converts (train/convert_run.h); else
 * NULL. */
const char *tsri_convert_kind(const tsri_run *run);

/* The plan of a training step of the whole network. */
tsr_status tsri_run_plan(tsri_plan **out, tsri_run *run);

/* ---- step.c -------------------------------------------------------------------------------- */

/* Reads optim: what a step is. */
void tsri_choose_optimiser(tsri_run *run);

/* What training is judged by. */
tsri_aim tsri_run_aim(const tsri_run *run);

/* The rate of a round: the schedule's, halved as often as the run diverged before it. */
double tsri_run_rate(const tsri_run *run, int64_t round);
int64_t tsri_halvings(const tsri_run *run, int64_t round); /* how often that is */
bool tsri_rolls_back(
    const tsri_run *run); /* does it go back when it diverges (train/rollback.h)? */

/* Steps that a state which goes on from round to round has seen before this one: a function of the
 * position. */
int64_t tsri_run_steps(const tsri_run *run);

/* Numbers of a training run: weights, their average, gradient, the optimiser's state. */
static inline int64_t tsri_run_numbers(const tsri_run *run)
{
    return (run->settings.ema > 0 ? 2 : 1) * run->net->total +
           tsri_optim_vectors(&run->settings.optim) * run->net->trained;
}

/* How worker l reads the training set: its order, its part, augmentation. */
tsri_loader_options tsri_run_loader(const tsri_run *run, int64_t worker);

/* The loss that `loss:` means for data with so many classes (0 = real targets). USAGE when it
 * cannot be. */
tsr_status tsri_choose_loss(const tsri_loss_kind **kind, const tsr_config *config,
                            const tsr_data *data);

/* Reads label_smoothing and class_weights. USAGE when loss or data have no use for them. */
tsr_status tsri_choose_weights(tsri_run *run);

/* Sequences need a model that reads them, and it needs them: USAGE. What `auto` means for its
 * outputs and its loss is written into the config, where the model's file will carry it. */
tsr_status tsri_resolve_sequences(tsr_config *config, const tsr_data *data);

/* The outputs a network has for this loss and data: one of margins has a single one for two
 * classes; one that is read at every position has those of all positions. */
int64_t tsri_outputs_wanted(const tsr_config *config, const tsri_loss_kind *kind,
                            const tsr_data *data);

/* ---- iterate.c ----------------------------------------------------------------------------- */

/* Reads optim.keep and stop. USAGE when the run has nothing to stop at. */
tsr_status tsri_iterate_init(tsri_run *run);

/* Judges the whole training set, if anyone wants to know, and keeps the best iterate so far. */
tsr_status tsri_iterate_judge(tsri_run *run);

/* Notes the scores of the filters now, if anyone wants to know and it is time. After every round. */
tsr_status tsri_iterate_scores(tsri_run *run);

/* Has the run reached what it was to stop at? */
bool tsri_iterate_enough(const tsri_run *run);
void tsri_iterate_say_enough(const tsri_run *run); /* says that and why it ends */

/* The best iterate into the store, where it is to be handed over and is not the last one. */
tsr_status tsri_iterate_take_best(tsri_run *run, bool *taken);

/* ---- average.c ----------------------------------------------------------------------------- */

/* Makes room for the average, where there is one. USAGE when there cannot be. */
tsr_status tsri_average_init(tsri_run *run);

/* Takes the weights after run->position.round rounds into the average. After every round. */
tsr_status tsri_average_round(tsri_run *run);

/* Swaps average and weights, so that the store holds the average. A second call swaps them back.
 * Without an average both do nothing. */
void tsri_average_swap(tsri_run *run);

/* ---- folder.c ------------------------------------------------------------------------------ */

/* Makes or finds the run's folder and holds its lock (run->process.lock). It is refused when it
 * holds a run and --resume is not given, or another run's file. */
tsr_status tsri_open_folder(tsri_run *run);

/* Writes its run.yaml: when all else has been accepted, since a refused --resume --force must leave
 * the old one, and before the first checkpoint, since none is read without it. */
tsr_status tsri_write_run_file(const tsri_run *run);

/* Gives the older run file the places of data that the newer one names: data may have moved.
 * Whether they are the same is for their checksum to say, which the checkpoint has. */
tsr_status tsri_follow_data(tsr_config *old, const tsr_config *now);

/* ---- forced.c ------------------------------------------------------------------------------ */

/* Notes in run->forced what --force let pass in the checkpoint that was just read: kernels, data or
 * values of the run file that are not those it was made with. `kernels` and `data` are the file's
 * own; `data` may be NULL. */
tsr_status tsri_forced_note(tsri_run *run, const tsri_tensors *file, const char *kernels,
                            const char *data, const char *path);

/* A line of metrics for each thing that was noted. */
tsr_status tsri_forced_tell(tsri_run *run);

/* ---- sound.c ------------------------------------------------------------------------------- */

/* DIVERGED when the losses added to run->position.recent since `before` are not finite, or ten
 * thousand times the first: such a run will not come back. */
tsr_status tsri_check_loss(tsri_run *run, const tsri_mean *before);

/* The loss that made the last round diverge; NaN when it was something else that did. */
double tsri_diverged_loss(const tsri_run *run);

/* DIVERGED when the loss of an evaluation is not finite. */
tsr_status tsri_check_judged(const tsri_run *run, double loss);

enum { TSRI_WHY = 200 };

/* Are the weights of now ones to go back to: finite, and a step would begin with a loss that the
 * rule above lets pass? `why` says why not. Changes nothing. */
tsr_status tsri_is_sound(bool *sound, char why[TSRI_WHY], tsri_run *run);
tsr_status tsri_check_sound(tsri_run *run); /* DIVERGED when not */

/* ---- when.c -------------------------------------------------------------------------------- */

/* Is the round just done the last one, or the one that completes another `key` epochs
 * ("eval.every")? */
bool tsri_due(const tsri_run *run, const char *key);
bool tsri_due_after(const tsri_run *run, double every); /* the same of a number of epochs */

/* Does anyone look at the weights after that round: evaluation, checkpoint, ranking, observers,
 * trace? */
bool tsri_looked_at(const tsri_run *run, int64_t round);
int64_t tsri_looks(const tsri_run *run); /* rounds of the run that are; of very many an estimate */

/* All that training refuses, before a folder is touched, so that the same command works once the
 * mistake is fixed. For tsr_train and tsr_check. */
tsr_status tsri_train_prepare(tsri_run *run);

/* For what takes long between two rounds and leaves the run as it was: INTERRUPTED when a stop was
 * asked for (base/stop.h) and may come now. An observer's look passes it on: the round is saved as
 * one that must be looked at again. */
tsr_status tsri_hear_stop(const tsri_run *run);

/* ---- metrics_lines.c ---------------------------------------------------------------------- */

/* The line of metrics of an evaluation. */
tsr_status tsri_metrics_tell(tsri_run *run);

/* A line of metrics within a round: what has just happened ("draw", "step", "put"), before which
 * local step (-1 = none), the loss, and with "put" the bytes of each worker in each direction. */
tsr_status tsri_event(tsri_run *run, const char *event, int64_t step, double loss,
                      const int64_t *down, const int64_t *up);

/* Any line, a JSON object without a line end. A full disk does not end the run: metrics.h. */
tsr_status tsri_event_line(tsri_run *run, const char *line);

/* The same for a share that was lost. */
void tsri_event_lost(tsri_run *run, int64_t worker, int rank, const char *why);

/* With other processes: a line of metrics that says where each rank's time went since the last such
 * line, in seconds. */
tsr_status tsri_event_times(tsri_run *run);

/* ---- meet.c ------------------------------------------------------------------------------- */

/* All ranks of run->process.crew agree on run file, data, version and kernels, or the coordinator
 * refuses (USAGE, naming what differs). The n bytes of `gift` go from the coordinator to everyone.
 * */
tsr_status tsri_run_meet(tsri_run *run, void *gift, int64_t n);

/* ---- evaluate.c --------------------------------------------------------------------------- */

/* How the whole network is judged, from the sum over n samples: by the mean, or where
 * the loss is a sum by what its row says (kind->judged). */
double tsri_judged_loss(const tsri_loss_kind *kind, double sum, int64_t n);

/* Loss and accuracy of the store's network on a part, in batches of fixed size. The loss is that
 * of tsri_judged_loss. */
tsr_status tsri_evaluate(tsr_result *result, tsri_store *store, tsri_device device,
                         const tsr_data *data, const tsri_part *part, const tsri_loss_kind *kind);

/* The outputs of every sample, [part->n, outputs]; the caller frees *outputs. */
tsr_status tsri_outputs(float **outputs, tsri_store *store, tsri_device device,
                        const tsr_data *data, const tsri_part *part);

/* The same in batches of another size. */
tsr_status tsri_outputs_in(float **outputs, tsri_store *store, tsri_device device,
                           const tsr_data *data, const tsri_part *part, int64_t batch);

/* ---- recalibrate.c ------------------------------------------------------------------------ */

/* Measures the statistics of the whole network's norms anew, on run->settings.recalibrate batches;
 * 0 does nothing. */
tsr_status tsri_recalibrate(tsri_run *run);

/* The same when the weights are not those after run->position.round rounds: the trace has it as
 * what followed `rounds` rounds. */
tsr_status tsri_recalibrate_after(tsri_run *run, int64_t rounds);

/* ---- checkpoint.c ------------------------------------------------------------------------- */

#define TSRI_CHECKPOINT_NAME "checkpoints/ckpt-%012" PRId64 ".safetensors" /* of a round */

/* Writes checkpoints/ckpt-<round>.safetensors; drops older ones but the newest few and the best.
 * DIVERGED, and nothing is written, when the weights are not sound. */
tsr_status tsri_checkpoint_save(tsri_run *run);

/* Fills the run from the newest sound checkpoint of its folder; those that are damaged or hold
 * weights that have diverged are named in a warning and passed over. *found = false when there is
 * none. */
tsr_status tsri_checkpoint_load(tsri_run *run, bool *found);

/* The same of those of the first rounds, up to `last`; those of later ones are removed. */
tsr_status tsri_checkpoint_load_until(tsri_run *run, bool *found, int64_t last);

/* ---- model_file.c ------------------------------------------------------------------------- */

/* PyTorch's names and layouts; the resolved run file and the normalisation inside as text. */
tsr_status tsri_model_write(const tsri_run *run, const char *path);

/* ---- trace.c ------------------------------------------------------------------------------ */

tsr_status tsri_trace_data(tsri_run *run);

/* One round as it happened, for anyone to check with some lines of numpy. Without --trace each of
 * these does nothing.
 *
 *     TSR_TRY(tsri_trace_begin(run, workers, steps));                keeps weights and momentum
 *     tsri_trace_batch(run, worker, step, loader, batch, number);    of each local step
 *     TSR_TRY(tsri_trace_round(run, worker, momentum));              run->store has the outcome
 */
typedef struct tsri_traced {
    const tsri_share *share; /* NULL = the whole */
    const tsri_store *local; /* its numbers after its last step; NULL = those of the whole */
    bool momentum;           /* local has its momentum, too: it may be in another process */
    const double *loss;      /* [steps] before each of them; NULL = it took no part */
} tsri_traced;

tsr_status tsri_trace_begin(tsri_run *run, int64_t workers, int64_t steps);

/* Local to the worker: those of several may be noted at once. `number` is that of the loader. */
void tsri_trace_batch(tsri_run *run, int64_t worker, int64_t step, const tsri_loader *loader,
                      const tsri_batch *batch, int64_t number);

/* worker[workers]; `momentum`: the whole has one that goes on from round to round. */
tsr_status tsri_trace_round(tsri_run *run, const tsri_traced *worker, bool momentum);

/* trace/<kind>-<round>.safetensors from what is in the parcel. */
tsr_status tsri_trace_write(const tsri_run *run, const tsri_parcel *parcel, const char *kind,
                            int64_t round);

/* For observers: what a verdict was reached from, in a file of its own beside those of the rounds.
 *
 *     tsri_tensor t = {.dtype = TSRI_I64, .dims = 1, .shape = {n}, .data = samples};
 *     TSR_TRY(tsri_trace_note(run, &t, "samples.%s", row));           any number of them
 *     TSR_TRY(tsri_trace_write_notes(run, "certificate"));            trace/certificate-<round>
 *
 * Data and name are copied; `tensor` has no name, and no two notes of a file have the same one
 * (FAILURE when they are written). <round> is run->position.round, six digits: the rounds done. A
 * file of notes appears only when something was noted. Without --trace both do nothing: check
 * run->process.trace before computing what is to be noted. */
tsr_status tsri_trace_note(tsri_run *run, const tsri_tensor *tensor, const char *fmt, ...)
    TSR_PRINTF(3, 4);
tsr_status tsri_trace_write_notes(tsri_run *run, const char *kind);

void tsri_trace_fini(tsri_run *run); /* frees run->process.trace and all that is kept */

#endif
