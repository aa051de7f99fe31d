/* openmetrics.c - the runs in OpenMetrics 1.0: what Prometheus reads. */
#include "base/number.h"
#include "base/utf8.h"
#include "watch/view.h"

#include <math.h>
#include <string.h>

/* A value of a label: backslash, quote and line end escaped; what is no text becomes '?'. */
static tsr_status add_label(tsri_text *out, const char *text)
{
    tsr_status st = TSR_OK;
    size_t size;
    for (size_t i = 0, n = strlen(text); i < n; i += size) {
        char c = text[i];
        size = tsri_utf8_length(text + i, n - i);
        if (c == '\\' || c == '"' || c == '\n')
            TSR_TRY(tsri_text_add(out, "\\%c", c == '\n' ? 'n' : c));
        else if (size == 0 || (unsigned char)c < 0x20)
            TSR_TRY(tsri_text_add(out, "?"));
        else
            TSR_TRY(tsri_text_add_bytes(out, text + i, size));
        size = size > 0 ? size : 1;
    }
done:
    return st;
}

typedef struct family {
    const char *name, *unit, *help;
    double (*value)(const tsri_followed *r); /* NaN: none */
} family;

static double round_of(const tsri_followed *r)
{
    return r->is_sweep ? (double)r->sweep.done : r->has_last ? r->last.round : (double)NAN;
}

static double rounds_of(const tsri_followed *r)
{
    return r->rounds > 0 ? r->rounds : (double)NAN;
}

/* Of an evaluation; a sweep has none of its own. */
#define LAST(name, field)                                                                          \
    static double name(const tsri_followed *r)                                                     \
    {                                                                                              \
        return r->has_last && !r->is_sweep ? r->last.field : (double)NAN;                          \
    }
LAST(epoch_of, epoch)
LAST(loss_of, loss)
LAST(test_loss_of, test_loss)
LAST(accuracy_of, accuracy)
LAST(rmse_of, rmse)
LAST(rate_of, rate)
LAST(bytes_of, bytes)
LAST(seconds_of, seconds)

static double left_of(const tsri_followed *r)
{
    return r->left;
}

static double age_of(const tsri_followed *r)
{
    return r->age;
}

static double lost_of(const tsri_followed *r)
{
    return (double)r->lost;
}

static const family families[] = {
    {"tessera_round", "", "Rounds done; of a sweep: runs done.", round_of},
    {"tessera_rounds", "", "Rounds in all.", rounds_of},
    {"tessera_epoch", "", "Passes over the data.", epoch_of},
    {"tessera_loss", "", "Training loss since the evaluation before.", loss_of},
    {"tessera_test_loss", "", "Loss on the test set.", test_loss_of},
    {"tessera_test_accuracy_ratio", "ratio", "Accuracy on the test set.", accuracy_of},
    {"tessera_test_rmse", "", "Root mean square error on the test set.", rmse_of},
    {"tessera_learning_rate", "", "Learning rate of the last round.", rate_of},
    {"tessera_traffic_bytes", "bytes", "Bytes between workers.", bytes_of},
    {"tessera_training_seconds", "seconds", "Time of all processes of the run.", seconds_of},
    {"tessera_left_seconds", "seconds", "Time left, by the pace so far.", left_of},
    {"tessera_silent_seconds", "seconds", "Time since the run told something.", age_of},
    {"tessera_lost_shares", "", "Shares that were lost with their ranks.", lost_of},
};

static tsr_status add_value(tsri_text *out, const family *f, const tsri_followed *r)
{
    tsr_status st = TSR_OK;
    char number[TSRI_NUMBER_TEXT];
    double value = f->value(r);
    if (!isfinite(value))
        return TSR_OK;
    TSR_TRY(tsri_text_add(out, "%s{run=\"", f->name));
    TSR_TRY(add_label(out, r->name));
    TSR_TRY(tsri_text_add(out, "\"} %s\n", tsri_shortest(number, value)));
done:
    return st;
}

static tsr_status add_states(tsri_text *out, const tsri_lookout *w)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_text_add(out, "# TYPE tessera_state stateset\n"
                               "# HELP tessera_state What the run is doing.\n"));
    for (int64_t i = 0; i < w->runs; i++)
        for (int s = 0; s <= TSRI_STATE_FAILED; s++) {
            TSR_TRY(tsri_text_add(out, "tessera_state{run=\""));
            TSR_TRY(add_label(out, w->run[i]->name));
            TSR_TRY(tsri_text_add(out, "\",tessera_state=\"%s\"} %d\n",
                                  tsri_state_name((tsri_run_state)s),
                                  w->run[i]->state == (tsri_run_state)s));
        }
done:
    return st;
}

tsr_status tsri_lookout_openmetrics(tsri_text *out, const tsri_lookout *w)
{
    tsr_status st = TSR_OK;
    for (size_t k = 0; k < sizeof families / sizeof *families; k++) {
        const family *f = &families[k];
        TSR_TRY(tsri_text_add(out, "# TYPE %s gauge\n", f->name));
        if (*f->unit)
            TSR_TRY(tsri_text_add(out, "# UNIT %s %s\n", f->name, f->unit));
        TSR_TRY(tsri_text_add(out, "# HELP %s %s\n", f->name, f->help));
        for (int64_t i = 0; i < w->runs; i++)
            TSR_TRY(add_value(out, f, w->run[i]));
    }
    TSR_TRY(add_states(out, w));
    TSR_TRY(tsri_text_add(out, "# EOF\n"));
done:
    return st;
}
