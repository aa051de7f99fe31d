/* metrics_lines.c - what a run says in metrics.jsonl: a line per evaluation, and lines of what
 * happened. */
#include "run/metrics_lines.h"

#include "base/clock.h"
#include "base/log.h"
#include "run/rate.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

tsr_status tsri_event_line(tsri_run *run, const char *line)
{
    tsr_status st = TSR_OK;
    const tsr_run_options *o = &run->settings.options;
    if (o->metrics)
        o->metrics(o->context, line);
    if (!run->process.metrics) /* of a run without a folder */
        return TSR_OK;
    st = tsri_metrics_line(run->process.metrics, line);
    run->position.metrics_bytes = tsri_metrics_offset(run->process.metrics);
    return st;
}

void tsri_event_open(tsri_json *w, const char *event)
{
    w->text.length = 0;
    w->comma = false;
    tsri_json_open(w, '{');
    tsri_json_put_text(w, "event", event);
}

tsr_status tsri_event_write(tsri_run *run, tsri_json *w)
{
    tsr_status st = TSR_OK;
    tsri_json_close(w, '}');
    TSR_TRY(tsri_json_end(w));
    TSR_TRY(tsri_event_line(run, w->text.data));
done:
    return st;
}

tsr_status tsri_metrics_tell(tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    tsri_json_open(&w, '{');
    tsri_json_put_int(&w, "round", run->position.round);
    tsri_json_put_real(&w, "epoch", (double)run->position.round / run->settings.epoch_rounds);
    if (tsri_convert_kind(&run->settings, &run->position))
        tsri_json_put_text(&w, "net", tsri_convert_kind(&run->settings, &run->position));
    tsri_json_put_real(&w, "loss",
                       run->position.recent.count
                           ? run->position.recent.sum / (double)run->position.recent.count
                           : (double)NAN);
    tsri_json_put_real(&w, "rate",
                       tsri_run_rate(&run->settings, &run->position, run->position.round - 1));
    tsri_json_put_real(&w, "test_loss", run->position.test_loss);
    if (run->data->classes > 0 || run->settings.loss->margin)
        tsri_json_put_real(&w, "test_accuracy", run->position.test_accuracy);
    if (!isnan(run->position.test_rmse))
        tsri_json_put_real(&w, "test_rmse", run->position.test_rmse);
    if (run->settings.judges_training) {
        tsri_json_put_real(&w, "train_loss", run->position.train_loss);
        tsri_json_put_real(&w, "train_accuracy", run->position.train_accuracy);
    }
    if (run->best_w || run->settings.patience) {
        tsri_json_put_int(&w, "best_round", run->position.best_iterate);
        tsri_json_put_real(&w, "best_loss", run->position.best_loss);
    }
    if (run->scores.cut)
        tsri_json_put_real(&w, run->scores.masks ? "mask_distance" : "filter_distance",
                           run->position.ranking_change);
    tsri_json_put_int(&w, "bytes_total", run->position.bytes_total);
    if (run->process.pace.samples > 0) {
        tsri_json_put_real(&w, "samples_per_second", round(run->process.pace.samples));
        tsri_json_put_real(&w, "step_ms", round(run->process.pace.step * 1e7) / 1e4);
        tsri_json_put_int(&w, "device_memory", run->process.pace.memory);
    }
    tsri_json_put_real(&w, "seconds", round((tsri_clock() - run->process.started) * 1e3) / 1e3);
    TSR_TRY(tsri_event_write(run, &w));
done:
    tsri_json_fini(&w);
    return st;
}

tsr_status tsri_event(tsri_run *run, const char *event, int64_t step, double loss,
                      const int64_t *down, const int64_t *up)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    tsri_event_open(&w, event);
    tsri_json_put_int(&w, "round",
                      run->position.round + 1); /* the round that is being done, counted from 1 */
    if (step >= 0)
        tsri_json_put_int(&w, "step", step);
    tsri_json_put_real(&w, "loss", loss);
    for (int way = 0; down && way < 2; way++) {
        tsri_json_key(&w, way ? "bytes_up" : "bytes_down");
        tsri_json_open(&w, '[');
        for (int64_t l = 0; l < run->settings.workers; l++)
            tsri_json_int(&w, way ? up[l] : down[l]);
        tsri_json_close(&w, ']');
    }
    TSR_TRY(tsri_event_write(run, &w));
done:
    tsri_json_fini(&w);
    return st;
}

tsr_status tsri_event_backend(tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    const char *why = NULL;
    const tsri_backend *b = tsri_backend_auto(&why);
    tsri_event_open(&w, "backend");
    tsri_json_put_int(&w, "round", run->position.round);
    tsri_json_put_text(&w, "backend", b->name);
    tsri_json_put_text(&w, "why", why);
    TSR_TRY(tsri_event_write(run, &w));
done:
    tsri_json_fini(&w);
    return st;
}

void tsri_event_lost(tsri_run *run, int64_t worker, int rank, const char *why)
{
    char line[128];
    (void)snprintf(line, sizeof line,
                   "{\"event\":\"lost\",\"round\":%lld,\"worker\":%lld,\"rank\":%d,\"why\":\"%s\"}",
                   (long long)run->position.round + 1, (long long)worker, rank, why);
    if (tsri_event_line(run, line) != TSR_OK) /* out of memory: the run's next line says so */
        TSRI_WARN("a lost share of round %lld was not recorded: %s",
                  (long long)run->position.round + 1, tsr_last_error());
}

void tsri_event_ended(tsri_run *run, tsr_status status, const char *why)
{
#define X(name, code, text) [code] = #name,
    static const char *const names[] = {TSR_STATUS_LIST(X)};
#undef X
    char word[16] = "", before[2048];
    tsri_json w = {0};
    (void)snprintf(before, sizeof before, "%s", tsr_last_error());
    for (size_t i = 0; names[status][i] && i + 1 < sizeof word; i++)
        word[i] = (char)tolower((unsigned char)names[status][i]);
    tsri_event_open(&w, "ended");
    tsri_json_put_int(&w, "round", run->position.round);
    tsri_json_put_text(&w, "status", word);
    tsri_json_put_text(&w, "why", why);
    (void)tsri_event_write(run, &w); /* a full disk, or no memory: the program says the same */
    tsri_json_fini(&w);
    (void)tsri_fail(status, "%s", before);
}

static void write_times(tsri_json *w, int rank, const tsri_member *m)
{
    const float part[] = {m->spent.compute, m->spent.send, m->spent.wait};
    static const char *const name[] = {"compute", "send", "wait"};
    tsri_json_open(w, '{');
    tsri_json_put_int(w, "rank", rank);
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        tsri_json_put_real(w, name[i], round((double)part[i] * 1e6) / 1e6);
    if (rank > 0) {
        tsri_json_put_int(w, "received", m->received);
        tsri_json_put_int(w, "sent", m->sent);
    }
    tsri_json_close(w, '}');
}

tsr_status tsri_event_times(tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    tsri_crew *crew = run->process.crew;
    crew->member[0].spent = tsri_crew_spent(crew);
    tsri_event_open(&w, "times");
    tsri_json_put_int(&w, "round", run->position.round);
    tsri_json_put_int(&w, "rounds", run->position.round - run->process.timed_from);
    tsri_json_key(&w, "ranks");
    tsri_json_open(&w, '[');
    for (int r = 0; r < crew->comm->size; r++) {
        tsri_member *m = &crew->member[r];
        write_times(&w, r, m);
        m->spent = (tsri_spent){0};
        m->received = m->sent = 0;
    }
    tsri_json_close(&w, ']');
    run->process.timed_from = run->position.round;
    TSR_TRY(tsri_event_write(run, &w));
done:
    tsri_json_fini(&w);
    return st;
}
