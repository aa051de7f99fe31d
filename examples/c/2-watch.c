/* 2-watch.c - a run that is watched, stopped when it is good enough, and resumed.
 *
 * Teaches: callbacks, how a program ends a run, and that a run with a folder goes on where it was.
 */
#include <stdio.h>
#include <tessera.h>

typedef struct watch {
    double good_enough;
    int64_t lines;
} watch;

static tsr_status after_round(void *context, const tsr_progress *p)
{
    const watch *w = context;
    return p->test_accuracy > w->good_enough ? TSR_INTERRUPTED : TSR_OK;
}

static void on_metrics(void *context, const char *line)
{
    watch *w = context;
    if (w->lines++ == 0)
        printf("the first line of metrics: %.40s...\n", line);
}

static void on_message(void *context, tsr_log_level level, const char *text)
{
    (void)context;
    printf("%s%s\n", level == TSR_LOG_WARNING ? "warning: " : "", text);
}

int main(int argc, char **argv)
{
    tsr_config *config = NULL;
    tsr_run *run = NULL;
    tsr_status st = TSR_OK;
    tsr_result result = tsr_result_default();
    tsr_progress now = tsr_progress_default();
    tsr_run_options o = tsr_run_options_default();
    watch w = {.good_enough = 0.3};
    o.folder = argc > 1 ? argv[1] : "watched";
    o.round = after_round;
    o.metrics = on_metrics;
    o.message = on_message;
    o.context = &w;
    if ((st = tsr_config_parse(&config, "data: {name: glyphs, n: 1200, test_n: 300}\n"
                                        "model: {hidden: [64]}\n"
                                        "epochs: 6\n")) != TSR_OK ||
        (st = tsr_run_create(&run, config, &o)) != TSR_OK)
        goto done;
    st = tsr_run_finish(&result, run);
    if (st != TSR_INTERRUPTED || tsr_run_progress(&now, run) != TSR_OK)
        goto done;
    printf("good enough after %.1f epochs: %s\n", now.epoch, tsr_last_error());
    tsr_run_destroy(run);
    w.good_enough = 2; /* never */
    o.resume = true;
    if ((st = tsr_run_create(&run, config, &o)) != TSR_OK ||
        (st = tsr_run_finish(&result, run)) != TSR_OK)
        goto done;
    printf("and at the end: accuracy %.2f, %lld lines of metrics\n", result.accuracy,
           (long long)w.lines);
done:
    if (st != TSR_OK)
        fprintf(stderr, "%s\n", tsr_last_error());
    tsr_run_destroy(run);
    tsr_config_destroy(config);
    return st;
}
