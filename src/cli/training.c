/* training.c - signals, progress and the result of the commands that train. */
#include "cli/training.h"

#include "cli/alive.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/result.h"
#include "cli/string.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_flag asked_before =
    ATOMIC_FLAG_INIT; /* two signals may come to two threads at once */

static void on_signal(int number)
{
    (void)number;
    if (atomic_flag_test_and_set(&asked_before))
        _exit(130);
    tsr_request_stop();
}

void cli_catch(void (*handler)(int number), int flags)
{
    static const int all[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1}; /* the last: mpirun's, Slurm's */
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct sigaction before;
        if (sigaction(all[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN)
            continue; /* nohup, and a shell's background jobs: they ignore it on purpose */
        (void)sigaction(all[i], &action, NULL);
    }
}

void cli_catch_signals(void)
{
    cli_catch(on_signal, 0);
}

/* ---- Progress ----------------------------------------------------------------------------- */

static void say_evaluation(const tsr_progress *p)
{
    int width = snprintf(NULL, 0, "%.4g", p->epochs); /* one below the other */
    if (!isnan(p->test_rmse))
        cli_say("epoch %*.4g: loss %.4g, test loss %.4g, test error %.5g", width, p->epoch, p->loss,
                p->test_loss, p->test_rmse);
    else if (isnan(p->test_accuracy))
        cli_say("epoch %*.4g: loss %.4g, test loss %.4g", width, p->epoch, p->loss, p->test_loss);
    else
        cli_say("epoch %*.4g: loss %.4f, test loss %.4f, test accuracy %5.2f %%", width, p->epoch,
                p->loss, p->test_loss, 100 * p->test_accuracy);
}

/* Nobody counts in hundredths of a round. */
static void pace_text(char *text, size_t size, double rounds, double seconds)
{
    if (rounds >= seconds)
        (void)snprintf(text, size, "%.4g rounds/s", rounds / seconds);
    else
        (void)snprintf(text, size, "%.3g s/round", seconds / rounds);
}

void cli_show_training(void *context, const tsr_progress *p)
{
    cli_pace *from = context;
    if (!from->begun) {
        *from = (cli_pace){p->round, true, p->seconds};
        if (p->chip)
            cli_say("training on %s", p->chip);
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
        pace_text(rate, sizeof rate, (double)(p->round - from->round), seconds);
    if (p->samples_per_second > 0)
        (void)snprintf(rate, sizeof rate, "%.0f samples/s, %s", p->samples_per_second,
                       cli_bytes((double)p->device_memory));
    (void)snprintf(loss, sizeof loss, "loss %.4f", p->loss);
    cli_progress_update((double)p->round / (double)p->rounds, position, rate,
                        isnan(p->loss) ? NULL : loss);
}

void cli_show_nothing(void *context, const tsr_progress *p)
{
    (void)context;
    (void)p;
}

/* ---- The run ------------------------------------------------------------------------------ */

bool cli_write_report(const char *folder)
{
    bool written = tsr_report(folder, NULL) == TSR_OK;
    if (!written)
        cli_say("the report was not written: %s", tsr_last_error());
    return written;
}

static tsr_status tell_result(const cli_args *args, const tsr_result *r, const char *folder,
                              const char *unit, bool reported)
{
    tsr_status st = TSR_OK;
    cli_string model = {0};
    char text[200];
    TSR_TRY(cli_string_add(&model, "%s/model.safetensors", folder));
    if (args->json) {
        TSR_TRY(cli_result_json(r, model.data));
    } else {
        cli_result_text(text, sizeof text, r, unit);
        (void)printf("%s, after %lld rounds in %.1f s\n", text, (long long)r->rounds, r->seconds);
        (void)printf("model    %s\nmetrics  %s/metrics.jsonl\n", model.data, folder);
        if (reported)
            (void)printf("report   %s/report.html\n", folder);
    }
done:
    cli_string_fini(&model);
    return st;
}

tsr_run_options cli_run_options(const cli_args *args, cli_pace *pace)
{
    tsr_run_options o = tsr_run_options_default();
    *pace = (cli_pace){0};
    o.folder = cli_text(args, "out");
    o.resume = cli_has(args, "resume");
    o.force = cli_has(args, "force");
    o.progress = args->quiet ? cli_show_nothing : cli_show_training;
    o.context = pace;
    return o;
}

tsr_status cli_train_one(const cli_args *args, tsr_config *config, const tsr_run_options *options)
{
    tsr_status st = TSR_OK;
    tsr_result result = tsr_result_default();
    char *unit = NULL;
    cli_catch_signals();
    cli_alive_ready();
    cli_progress_begin(args->command->name, args->quiet);
    TSR_TRY(tsr_train(&result, config, options));
    cli_progress_end();
    unit = cli_setting(config, "data.unit");
    if (!result.worker)
        TSR_TRY(
            tell_result(args, &result, options->folder, unit, cli_write_report(options->folder)));
done:
    tsr_free(unit);
    return st;
}
