/* cmd_train.c - tessera train: a run from its run file to model.safetensors.
 *
 * Ctrl-C (or SIGTERM, or a closed terminal) finishes the step, saves and exits with 130; a second
 * one exits at once.
 */
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/result.h"
#include "cli/settings.h"

#include "base/status.h"
#include "base/text.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t asked_before;

static void on_signal(int number)
{
    (void)number;
    if (asked_before)
        _exit(130);
    asked_before = 1;
    tsr_request_stop();
}

static void catch_signals(void)
{
    static const int all[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct sigaction before;
        if (sigaction(all[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN)
            continue; /* nohup, and a shell's background jobs: whoever ignores it means it */
        (void)sigaction(all[i], &action, NULL);
    }
}

/* ---- Progress ----------------------------------------------------------------------------- */

typedef struct pace {
    int64_t round; /* when the process began */
    bool begun;
    double seconds;
} pace;

static void say_evaluation(const tsr_progress *p)
{
    int width = snprintf(NULL, 0, "%.4g", p->epochs); /* one below the other */
    if (isnan(p->test_accuracy))
        cli_say("epoch %*.4g: loss %.4g, test loss %.4g", width, p->epoch, p->loss, p->test_loss);
    else
        cli_say("epoch %*.4g: loss %.4f, test loss %.4f, test accuracy %5.2f %%", width, p->epoch,
                p->loss, p->test_loss, 100 * p->test_accuracy);
}

static void show(void *context, const tsr_progress *p)
{
    pace *from = context;
    if (!from->begun) {
        *from = (pace){p->round, true, p->seconds};
        if (p->resumed)
            cli_say("resumed at round %lld of %lld", (long long)p->round, (long long)p->rounds);
    }
    if (p->evaluated)
        say_evaluation(p);
    bool last = p->evaluated && p->round == p->rounds;
    if (!cli_progress_due() && !last)
        return;
    char position[64], rate[64] = "", loss[32];
    double seconds = p->seconds - from->seconds;
    (void)snprintf(position, sizeof position, "epoch %.1f/%.4g", p->epoch, p->epochs);
    if (p->round > from->round && seconds > 0)
        (void)snprintf(rate, sizeof rate, "%.4g rounds/s",
                       (double)(p->round - from->round) / seconds);
    (void)snprintf(loss, sizeof loss, "loss %.4f", p->loss);
    cli_progress_update((double)p->round / (double)p->rounds, position, rate,
                        isnan(p->loss) ? NULL : loss);
}

static void show_nothing(void *context, const tsr_progress *p)
{
    (void)context;
    (void)p;
}

/* ---- The command -------------------------------------------------------------------------- */

static tsr_status tell_result(const cli_args *args, const tsr_result *r, const char *folder)
{
    tsr_status st = TSR_OK;
    tsri_text model = {0};
    char text[128];
    TSR_TRY(tsri_text_add(&model, "%s/model.safetensors", folder));
    if (args->json) {
        TSR_TRY(cli_result_json(r, model.data));
    } else {
        cli_result_text(text, sizeof text, r);
        (void)printf("%s, after %lld rounds in %.1f s\n", text, (long long)r->rounds, r->seconds);
        (void)printf("model    %s\nmetrics  %s/metrics.jsonl\n", model.data, folder);
    }
done:
    tsri_text_fini(&model);
    return st;
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsr_result result;
    pace from = {0};
    tsr_run_options o = tsr_run_options_default();
    o.folder = cli_text(args, "out");
    o.init = cli_text(args, "init");
    o.resume = cli_has(args, "resume");
    o.force = cli_has(args, "force");
    o.trace = cli_has(args, "trace");
    o.progress = args->quiet ? show_nothing : show;
    o.context = &from;
    TSR_CHECK(o.folder && *o.folder, TSR_USAGE, "where shall the run live? give --out DIR");
    TSR_TRY(tsr_config_read(&config, args->operand[0]));
    TSR_TRY(cli_settings(config, args));
    catch_signals();
    cli_progress_begin("train", args->quiet);
    TSR_TRY(tsr_train(&result, config, &o));
    cli_progress_end();
    TSR_TRY(tell_result(args, &result, o.folder));
done:
    tsr_config_destroy(config);
    return st;
}

static const cli_option options[] = {
    {"out", 'o', "DIR", CLI_FOLDER, .help = "folder of the run (made when it is not there)"},
    CLI_OPTION_SET,
    CLI_OPTION_DATA,
    {"resume", 'r', NULL, CLI_FLAG, .help = "go on from the newest sound checkpoint"},
    {"force", 0, NULL, CLI_FLAG, .help = "resume although the run file or the kernels changed"},
    {"init", 0, "FILE", CLI_FILE, .help = "start from the weights of a model file"},
    {"trace", 0, NULL, CLI_FLAG, .help = "record every round in DIR/trace"},
    {0},
};

const cli_command cli_train = {
    .name = "train",
    .help = "train a network as a run file says",
    .synopsis = "RUN-FILE --out DIR",
    .least = 1,
    .most = 1,
    .operand = CLI_FILE,
    .options = options,
    .details =
        "The folder then holds run.yaml (every key filled in), metrics.jsonl (one line per "
        "evaluation), checkpoints/ and model.safetensors (PyTorch's names and layouts).\n\n"
        "Ctrl-C finishes the step, saves and exits with 130; --resume goes on from there, and the "
        "finished model has the same bits as if nothing had happened.",
    .run = run,
};
