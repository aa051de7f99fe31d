/* tessera.h - the public interface of libtessera.
 *
 * Tessera trains one wide network as many small ones, puts them together again and draws the
 * winning ticket from the result. Everything a program needs is in this one header.
 *
 * Every fallible function returns a tsr_status; when it is not TSR_OK, tsr_last_error() gives the
 * sentence that says what went wrong, where, and what to do. The library never prints, never exits
 * and never aborts, and it leaves signals and the environment to the program: one that may run
 * under a limit on file sizes (ulimit -f) ignores SIGXFSZ, so that a write beyond it fails instead
 * of killing the process.
 */
#ifndef TESSERA_H
#define TESSERA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TSR_API            __attribute__((visibility("default")))
#define TSR_PRINTF(fmt, a) __attribute__((format(printf, fmt, a)))
#else
#define TSR_API
#define TSR_PRINTF(fmt, a)
#endif

#define TSR_VERSION_MAJOR  0
#define TSR_VERSION_MINOR  2
#define TSR_VERSION_PATCH  0
#define TSR_VERSION_STRING "0.2.0"

/* ---- Status ------------------------------------------------------------------------------- */

/* One line per status: name, exit code of the program, meaning. */
#define TSR_STATUS_LIST(X)                                                                         \
    X(OK, 0, "ok")                                                                                 \
    X(FAILURE, 1, "failure")                                                                       \
    X(USAGE, 2, "wrong usage or run file")                                                         \
    X(BAD_FILE, 3, "bad input file")                                                               \
    X(RESOURCES, 4, "out of memory, disk or another resource")                                     \
    X(DIVERGED, 5, "the training diverged")                                                        \
    X(INTERRUPTED, 130, "interrupted after saving")

typedef enum tsr_status {
#define X(name, code, text) TSR_##name = code,
    TSR_STATUS_LIST(X)
#undef X
} tsr_status;

/* The last error's sentence on this thread; "" when there was none. Valid until the next call
 * that fails on this thread. */
TSR_API const char *tsr_last_error(void);

/* What a status means in a few words. Never NULL. */
TSR_API const char *tsr_status_text(tsr_status status);

/* The version of the library that is running, "major.minor.patch". */
TSR_API const char *tsr_version(void);

/* ---- Contexts ----------------------------------------------------------------------------- */

/* Stop requests, messages and memory belong to a context. A program with one run at a time needs to
 * know nothing of that: every thread begins with a context that is always there. A program that
 * trains several networks at once gives each a context of its own, and they do not disturb each
 * other:
 *
 *     tsr_context *mine = NULL;
 *     if (tsr_context_create(&mine) == TSR_OK) {       on the thread of the run
 *         tsr_context_use(mine);
 *         st = tsr_train(&result, config, &options);   tsr_context_stop(mine) from any other
 *         tsr_context_use(NULL);
 *         tsr_context_destroy(mine);
 *     }
 *
 * Threads that the library starts belong to the context of the thread that called it. Where a
 * function takes a context, NULL is the one that is always there. */
typedef struct tsr_context tsr_context;

/* RESOURCES without memory. */
TSR_API tsr_status tsr_context_create(tsr_context **out);

/* No run is in it any more. What was made in it (configs, models) may live on, and is freed as
 * ever; NULL is fine. A thread that uses it, other than this one, must use another first. */
TSR_API void tsr_context_destroy(tsr_context *context);

/* From now on this thread's calls belong to it. Returns the one before, to go back to. */
TSR_API tsr_context *tsr_context_use(tsr_context *context);

/* Asks the run that is in the context to save and stop after the step it is in; it then ends with
 * INTERRUPTED. From any thread, and safe in a signal handler. */
TSR_API void tsr_context_stop(tsr_context *context);

/* ---- Memory ------------------------------------------------------------------------------- */

/* Where the memory of a context comes from. Both functions must be safe to call from several
 * threads; alloc must return memory aligned to 64 bytes, or NULL. A block is freed by the functions
 * that were set when it was taken. Set it while no run is in the context; NULL restores malloc. */
typedef struct tsr_allocator {
    void *(*alloc)(void *context, size_t bytes);
    void (*free)(void *context, void *memory);
    void *context;
} tsr_allocator;

TSR_API void tsr_context_set_allocator(tsr_context *context, const tsr_allocator *allocator);
TSR_API void tsr_set_allocator(const tsr_allocator *allocator); /* of the context always there */

/* Bytes that a context holds now, and the most it has held since the start. */
TSR_API size_t tsr_context_memory_in_use(tsr_context *context);
TSR_API size_t tsr_context_memory_peak(tsr_context *context);
TSR_API size_t tsr_memory_in_use(void);
TSR_API size_t tsr_memory_peak(void);

/* ---- Messages ----------------------------------------------------------------------------- */

typedef enum tsr_log_level {
    TSR_LOG_ERROR,
    TSR_LOG_WARNING,
    TSR_LOG_INFO,
    TSR_LOG_DEBUG
} tsr_log_level;

/* Where messages go. The library is silent until a program asks for them. Called from any thread,
 * of one context one at a time; it must not set the log. */
typedef void (*tsr_log_function)(void *argument, tsr_log_level level, const char *text);

TSR_API void tsr_context_set_log(tsr_context *context, tsr_log_function function, void *argument,
                                 tsr_log_level most);
TSR_API void tsr_set_log(tsr_log_function function, void *argument, tsr_log_level most);

/* ---- Run files ---------------------------------------------------------------------------- */

/* A run file with every key known, checked and filled in; docs/run-file.md lists the keys. */
typedef struct tsr_config tsr_config;

/* Reads a YAML (or JSON) run file. USAGE with file:line:column, what was expected and the nearest
 * key when it is wrong; BAD_FILE when it cannot be read. The caller destroys *out. */
TSR_API tsr_status tsr_config_read(tsr_config **out, const char *path);

/* A config of defaults only. */
TSR_API tsr_status tsr_config_create(tsr_config **out);

/* Changes one value: "optim.lr=0.05", "model.hidden=[256, 256]". USAGE as above. */
TSR_API tsr_status tsr_config_set(tsr_config *config, const char *assignment);

TSR_API void tsr_config_destroy(tsr_config *config);

/* ---- Training ----------------------------------------------------------------------------- */

/* What a run is doing, a few times a second. Numbers not known yet are NaN. */
typedef struct tsr_progress {
    int64_t round, rounds;
    double epoch, epochs;
    double loss;          /* mean of the training loss over the last rounds */
    double rate;          /* learning rate */
    double seconds;       /* since this process began the run */
    double test_loss;     /* of the last evaluation */
    double test_accuracy; /* likewise; NaN for real targets */
    double test_rmse;     /* likewise, in the units of real targets; NaN for classes */
    bool evaluated;       /* an evaluation has just been made */
    bool resumed;         /* the run goes on from a checkpoint */
} tsr_progress;

typedef struct tsr_run_options {
    const char *folder; /* where the run lives; created if missing */
    const char *init;   /* a model file to start from instead of random weights, or NULL */
    bool resume;        /* go on from the newest sound checkpoint of the folder */
    bool force;         /* resume although the run file or the kernels changed */
    bool trace;         /* record every round (docs/formats.md) */
    void (*progress)(void *context, const tsr_progress *progress); /* or NULL */
    void *context;
} tsr_run_options;

TSR_API tsr_run_options tsr_run_options_default(void);

typedef struct tsr_result {
    int64_t n;           /* samples judged */
    double loss;         /* mean over them */
    double accuracy;     /* 0 to 1; NaN for real targets */
    double rmse;         /* root of the mean squared error, in the units of real targets; NaN for
                            classes, and for sequences of different lengths */
    double seconds;      /* of this process */
    int64_t rounds;      /* done in all */
    int64_t bytes_total; /* sent between workers */
    int64_t bytes_collected; /* gpipe across processes: stages' numbers, out at the start and back
                                whenever they are looked at; by this process */
    bool worker; /* this process was one of many and not the one that coordinates: it has
                    nothing to tell */
} tsr_result;

/* Trains as the run file says (a data set that it leaves open is filled in) and leaves run.yaml,
 * metrics.jsonl, checkpoints/ and model.safetensors in the folder; *result is the finished network
 * on the test set. USAGE when another run holds the folder or it holds a run that is not to be
 * resumed; DIVERGED when the loss is no longer finite (the last sound checkpoint is named);
 * INTERRUPTED after tsr_request_stop, all saved. */
TSR_API tsr_status tsr_train(tsr_result *result, tsr_config *config,
                             const tsr_run_options *options);

/* tsr_context_stop(NULL): for a process with one run. Safe in a signal handler. */
TSR_API void tsr_request_stop(void);

/* Under mpirun a process trains one run, and MPI must end with the process, which the library never
 * ends. What the program has to do with it when all its output is written: */
typedef enum tsr_ending {
    TSR_END_PLAIN,    /* nothing: MPI has not begun, or another rank ends it */
    TSR_END_FINALIZE, /* MPI_Finalize, which may wait for ever should a rank die at that moment */
    TSR_END_ABORT     /* MPI_Abort(MPI_COMM_WORLD, status): a rank is gone, and others would hang */
} tsr_ending;

TSR_API tsr_ending tsr_ranks_ending(void);

/* A call of MPI may never return: a rank is missing before all have met, or one hangs and the run
 * was asked to stop. The library says so in a message, then calls this function, on a thread of its
 * own; it should end the process. Without it tsr_train waits on. */
typedef void (*tsr_hang_function)(void *argument, tsr_status status);

TSR_API void tsr_context_on_hang(tsr_context *context, tsr_hang_function function, void *argument);

/* What a run would need, found without training: everything is checked that can be. */
typedef struct tsr_needs {
    int64_t params, trained;      /* numbers in the model, and those with a gradient */
    int64_t flops_step;           /* of one training step of one worker */
    int64_t train_n, test_n;      /* samples */
    int64_t rounds, epoch_rounds; /* in all, and in one pass over the data */
    int64_t memory_data, memory_model, memory_plan; /* bytes */
    const char *backend;                            /* with its library and kernel class */
} tsr_needs;

TSR_API tsr_status tsr_check(tsr_needs *needs, tsr_config *config);

/* What a run takes, counted without training. */
typedef struct tsr_cost_data { /* samples = 0: the run file's data are loaded and looked at */
    int64_t samples;           /* of the training set */
    int64_t channels, height, width;
    int64_t classes, targets; /* one of the two */
} tsr_cost_data;

typedef struct tsr_cost {
    int64_t params, trained;  /* numbers in the model, and those with a gradient */
    int64_t params_share;     /* numbers in the largest share, or stage */
    int64_t flops_step;       /* of one step of the busiest worker */
    int64_t flops_step_whole; /* the same of the whole network */
    int64_t memory_worker;    /* bytes: numbers, plan and batches of the largest share */
    int64_t workers, local_steps, batch, micro_batches;
    int64_t rounds;
    double epochs;
    int64_t bytes_round; /* between workers, in both directions; where rounds differ, the first */
    int64_t bytes_total; /* in all rounds */
    int64_t bytes_cut;   /* gpipe: of a micro-batch through the widest cut, one way */
    int64_t bytes_collected; /* gpipe across processes, beside bytes_total: as in tsr_result, for a
                                run that is not interrupted */
    bool exact;              /* bytes_total is that of the run, to the byte; else close to it */
    bool local;              /* the scheme takes local steps */
    tsr_cost_data data;
} tsr_cost;

/* USAGE as for training. `data` may be NULL. */
TSR_API tsr_status tsr_cost_count(tsr_cost *cost, tsr_config *config, const tsr_cost_data *data);

/* Machines and wires, for plans. */
typedef struct tsr_machine {
    double flops;     /* per second, of one worker */
    double bandwidth; /* bytes per second of one link */
    double latency;   /* seconds of one message */
    double sending;   /* the part of a round that sending may take, in (0, 1) */
} tsr_machine;

typedef struct tsr_prediction {
    double seconds_step;  /* of the busiest worker */
    double seconds_send;  /* in a round */
    double seconds_round; /* with the run file's local steps */
    double seconds_run;
    int64_t local_steps; /* the fewest with which sending takes no more than its part */
    double seconds_best; /* of the run with those */
} tsr_prediction;

TSR_API void tsr_cost_predict(tsr_prediction *prediction, const tsr_cost *cost,
                              const tsr_machine *machine);

/* ---- Models ------------------------------------------------------------------------------- */

/* A trained network from its file, ready to be used. */
typedef struct tsr_model tsr_model;

/* Reads a model.safetensors. BAD_FILE with path, place and reason. The caller destroys *out. */
TSR_API tsr_status tsr_model_read(tsr_model **out, const char *path);
TSR_API void tsr_model_destroy(tsr_model *model);

/* The run file that made it: to read, or to change (data.*, threads, backend) before evaluating. */
TSR_API tsr_config *tsr_model_config(tsr_model *model);

/* Judges the model on the test set (or the training set) that its config names; inputs are scaled
 * as in its training, whatever the data. */
TSR_API tsr_status tsr_model_evaluate(tsr_result *result, tsr_model *model, bool on_training_set);

/* The model's outputs for each sample of that set: *outputs = floats [*n, *width], *labels = the
 * true classes or NULL. Free both with tsr_free. */
TSR_API tsr_status tsr_model_predict(float **outputs, int32_t **labels, int64_t *n, int64_t *width,
                                     tsr_model *model, bool on_training_set);

/* Sizes, and the parameters one by one. `shape` has room for 8. */
TSR_API int64_t tsr_model_params(const tsr_model *model);
TSR_API const char *tsr_model_param(const tsr_model *model, int64_t i, int *dims, int64_t *shape,
                                    const float **data);
TSR_API const char *tsr_model_meta(const tsr_model *model, const char *key); /* or NULL */

TSR_API void tsr_free(void *memory);

/* ---- Tickets ------------------------------------------------------------------------------ */

/* How a ticket is cut from a network (docs/tickets.md). */
typedef struct tsr_prune_options {
    double ratio;          /* part of the units that go: at least 0, below 1 */
    const char *criterion; /* the smallest go by: l2, l1, bn, fpgm; or random */
    bool global;           /* one ranking over all layers instead of one ratio for each */
    int64_t round_to;      /* what a layer keeps is a multiple of this */
    const char *axes;      /* which layers lose units: names between commas; "paper", those that the
                              model's own run cut, of a dense one those that LoFT would; "inner", the
                              inside of every block; "all", also the streams between blocks; NULL = as
                              the model's run file says */
    bool reinit;           /* the ticket's shape with fresh weights: a control */
    uint64_t seed;         /* of chance and of fresh weights */
    int64_t recalibrate;   /* batches of the model's training set that measure the statistics of the
                              ticket's batch norms again; 0 = they stay those of the whole network */
} tsr_prune_options;

/* Half of the units, by their l2 norm; nothing is measured, so no data is needed. */
TSR_API tsr_prune_options tsr_prune_options_default(void);

/* Writes the ticket of the model file `model` as the model file `ticket`, which is really smaller
 * and is read, evaluated and trained like any other. A file of that name is replaced, whole or not
 * at all. USAGE when an option is out of range or does not fit the model; BAD_FILE as for reading.
 */
TSR_API tsr_status tsr_prune(const char *ticket, const char *model,
                             const tsr_prune_options *options);

/* Turns the run file of a model into that of fine-tuning: dense, one worker; this many epochs and
 * this learning rate, 0 = as they are. Then tsr_train with the model's path as options.init. */
TSR_API tsr_status tsr_config_finetune(tsr_config *config, int64_t epochs, double rate);

/* How differently two models rank the units of a layer by their l2 norm. */
typedef struct tsr_layer_distance {
    const char *layer;          /* its axis; lives as long as the reference */
    int64_t units, units_other; /* of the reference, and of the other */
    double distance;            /* LoFT's filter distance; 0 = the same ranking. Not symmetric */
    double relative;            /* in parts of that of the reversed ranking */
} tsr_layer_distance;

/* *out = [*n], a layer each, of those that tickets lose units in; free it with tsr_free. One may be
 * a ticket of the other, or of the same network. USAGE when they are not of one model. */
TSR_API tsr_status tsr_model_distance(tsr_layer_distance **out, int64_t *n,
                                      const tsr_model *reference, const tsr_model *other);

#ifdef __cplusplus
}
#endif

#endif
