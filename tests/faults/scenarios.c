/* scenarios.c - the commands that are disturbed: every scheme, a run with certificates, one that
 * converts its net, one that diverges and goes back, tickets, a sweep. Each takes a few
 * milliseconds, so that thousands can be tried; what they write is as in long ones. */
#include "world.h"

#include <string.h>

#define SMALL                                                                                      \
    "data: {name: sphere, n: 24, dim: 5, test_n: 6, prefetch: false}\n"                            \
    "optim: {lr: 0.05, momentum: 0.9}\n"                                                           \
    "epochs: 4\n"                                                                                  \
    "batch: 6\n"                                                                                   \
    "threads: 1\n"                                                                                 \
    "eval: {every: 0.5}\n"                                                                         \
    "checkpoint: {every: 0.5, keep: 2}\n"
#define MLP   SMALL "model: {name: mlp, hidden: [6]}\n"
#define TRAIN "train run.yaml --out disk/run --resume"
#define MODEL "model.safetensors metrics.jsonl"

const scenario scenarios[] = {
    {"dense", MLP, TRAIN, MODEL, true},
    {"dropout", MLP "scheme: {name: dropout, xi: 0.5}\n", TRAIN, MODEL, true},
    {"multisample", MLP "scheme: {name: multisample, xi: 0.5, workers: 2}\n", TRAIN, MODEL, true},
    {"masked", MLP "scheme: {name: masked, workers: 2, local_steps: 1, xi: 0.5}\n", TRAIN, MODEL,
     true},
    {"ist", MLP "scheme: {name: ist, workers: 2, local_steps: 1}\n", TRAIN, MODEL, true},
    {"loft", MLP "scheme: {name: loft, axes: all, workers: 2, local_steps: 1}\n", TRAIN, MODEL,
     true},
    {"local_sgd", MLP "scheme: {name: local_sgd, workers: 2, local_steps: 1}\n", TRAIN, MODEL,
     true},
    {"gpipe", MLP "scheme: {name: gpipe, workers: 2, micro_batches: 2}\n", TRAIN, MODEL, true},
    {"adam", MLP "", TRAIN " --set optim.name=adamw --set optim.ema=0.9", MODEL, true},
    {"certify",
     "data: {name: sphere, n: 8, dim: 4, task: regress, test_n: 4, prefetch: false}\n"
     "model: {name: shallow, width: 8}\n"
     "optim: {name: gd, lr: 0.05}\n"
     "scheme: {name: masked, workers: 2, local_steps: 2, xi: 0.5}\n"
     "rounds: 8\nthreads: 1\ncertify: {every: 4}\neval: {every: 2}\ncheckpoint: {every: 2, keep: "
     "2}\n",
     TRAIN, MODEL, true},
    {"convert",
     "data: {name: sphere, n: 8, dim: 4, test_n: 4, prefetch: false}\n"
     "model: {name: grelu, width: 12}\n"
     "optim: {lr: 0.000001}\n"
     "epochs: 4\nbatch: 4\nthreads: 1\nconvert_at: 2\nconvert_least_squares: true\neval: {every: "
     "1}\ncheckpoint: {every: 1, "
     "keep: 2}\n",
     TRAIN, MODEL, true},
    {"rollback",
     "data: {name: sphere, n: 64, dim: 6, test_n: 20, task: regress, prefetch: false}\n"
     "model: {name: mlp, hidden: [32]}\n"
     "optim: {lr: 12, momentum: 0.5, warmup: 1, ema: 0.5, keep: best}\n"
     "scheme: {name: local_sgd, workers: 3, events: round}\n"
     "loss: mse\nepochs: 12\nbatch: 16\nthreads: 1\neval: {every: 0.5}\ndistance: {every: 1}\n"
     "checkpoint: {every: 2, keep: 1}\non_divergence: rollback\n",
     TRAIN, MODEL " distance.csv", true},
    {"rewound",
     "data: {name: sphere, n: 24, dim: 5, test_n: 6, prefetch: false}\n"
     "model: {name: mlp, hidden: [6], norm: batch}\noptim: {lr: 0.05, ema: 0.5}\n"
     "scheme: {name: ist, workers: 2, local_steps: 1}\n"
     "epochs: 3\nbatch: 6\nthreads: 1\ncheckpoint: {every: 1, keep: 3}\n"
     "ticket: {ratios: [0.5], epochs: 1, seconds: 0.001, rewind: 1, steps: 2, whole: 1}\n",
     "ticket run.yaml --out disk/run --resume",
     MODEL " ticket-0.5/ticket.safetensors ticket-0.5/step-1/model.safetensors ticket-0.5/" MODEL
           " whole/model.safetensors ticket.json",
     false},
    {"ticket", MLP "ticket: {ratios: [0.5], epochs: 1, seconds: 0.001}\n",
     "ticket run.yaml --out disk/run --resume",
     MODEL " ticket-0.5/ticket.safetensors ticket-0.5/" MODEL " ticket.json", false},
    {"sweep", MLP,
     "sweep run.yaml --grid optim.lr=0.01,0.05,1e6 --seeds 2 --curves --weights --out disk/run",
     "sweep.jsonl sweep.csv grid.json run.yaml", false},
};
const int scenario_count = sizeof scenarios / sizeof *scenarios;

const char *only;

const scenario *next_scenario(int i)
{
    static const char *const sample[] = {"dense", "ticket", "sweep"};
    if (only)
        return i == 0 ? find_scenario(only) : NULL;
    if (is_long())
        return i < scenario_count ? &scenarios[i] : NULL;
    return i < (int)(sizeof sample / sizeof *sample) ? find_scenario(sample[i]) : NULL;
}

const scenario *find_scenario(const char *name)
{
    for (int i = 0; i < scenario_count; i++)
        if (strcmp(scenarios[i].name, name) == 0)
            return &scenarios[i];
    must(false, "there is no scenario %s", name);
    return NULL;
}
