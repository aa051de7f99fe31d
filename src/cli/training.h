/* training.h - what the commands that train share: signals, progress, the result.
 *
 * Ctrl-C (or SIGTERM, SIGUSR1, or a closed terminal) finishes the step, saves and exits with 130; a
 * second one exits at once.
 */
#ifndef CLI_TRAINING_H
#define CLI_TRAINING_H

#include "cli/args.h"

/* Where a run stood when it was first seen: the pace is judged from there. */
typedef struct cli_pace {
    int64_t round;
    bool begun;
    double seconds;
} cli_pace;

#define CLI_OPTION_RUN_FOLDER                                                                      \
    {                                                                                              \
        "out", 'o', "DIR", CLI_FOLDER, .help = "folder of the run (created if missing)"            \
    }
#define CLI_OPTION_RESUME                                                                          \
    {                                                                                              \
        "resume", 'r', NULL, CLI_FLAG, .help = "go on from the newest sound checkpoint"            \
    }
#define CLI_OPTION_FORCE                                                                           \
    {                                                                                              \
        "force", 0, NULL, CLI_FLAG, .help = "resume although the run file or the kernels changed"  \
    }

/* All options of train: launch passes them on. */
#define CLI_OPTIONS_TRAIN                                                                          \
    CLI_OPTION_RUN_FOLDER, CLI_OPTION_SET, CLI_OPTION_DATA, CLI_OPTION_RESUME, CLI_OPTION_FORCE,   \
        {"init", 0, "FILE", CLI_FILE, .help = "start from the weights of a model file"},           \
    {                                                                                              \
        "trace", 0, NULL, CLI_FLAG, .help = "record every round in DIR/trace"                      \
    }

/* Folder, --resume, --force and progress from the command line; `pace` is the progress's. */
tsr_run_options cli_run_options(const cli_args *args, cli_pace *pace);

/* One run with signals, a bar and its result on stdout. */
tsr_status cli_train_one(const cli_args *args, tsr_config *config, const tsr_run_options *options);

/* The parts, for a command of several runs. */
void cli_catch_signals(void);

/* Gives the signals that mean "save and stop" to a handler, but for those that are ignored: under
 * nohup the end of the terminal ends nothing. */
void cli_catch(void (*handler)(int number), int flags);

void cli_show_training(void *context, const tsr_progress *progress); /* context: cli_pace */
void cli_show_nothing(void *context, const tsr_progress *progress);

/* Writes FOLDER/report.html; says so when it could not. The page is an extra: without it the run is
 * done all the same. */
bool cli_write_report(const char *folder);

#endif
