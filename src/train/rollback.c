/* rollback.c - back to the last checkpoint that was due, at half the rate (rollback.h). */
#include "train/rollback.h"

#include "base/log.h"
#include "io/json.h"
#include "model/model.h"
#include "run/metrics_lines.h"
#include "run/rate.h"
#include "run/when.h"
#include "train/checkpoint.h"
#include "train/forced.h"
#include "train/sound.h"

#include <math.h>
#include <string.h>

bool tsri_can_roll_back(const tsri_settings *s, const tsri_run_position *p)
{
    return tsri_rolls_back(s) && p->rollbacks < TSRI_ROLLBACKS_MOST;
}

tsr_status tsri_rollback_init(const tsri_settings *s)
{
    tsr_status st = TSR_OK;
    const char *place = tsri_config_place(s->config, "on_divergence");
    TSR_CHECK(!tsri_rolls_back(s) || s->convert_round < 0, TSR_USAGE,
              "%s: a net that convert_at has replaced cannot go back to what it was: use "
              "on_divergence: stop",
              place);
    TSR_CHECK(!tsri_rolls_back(s) || !s->options.trace, TSR_USAGE,
              "%s: --trace records one way through the rounds: leave it out, or use on_divergence: "
              "stop",
              place);
done:
    return st;
}

/* ---- Going back ---------------------------------------------------------------------------- */

int64_t tsri_rollback_target(const tsri_settings *s, int64_t round)
{
    int64_t period = tsri_period(s, tsri_config_real(s->config, "checkpoint.every"));
    return period > 0 ? round - round % period : 0;
}

/* If the file of that round is gone or damaged, an older one is taken, and the rounds in between
 * are done again: the list says from which round on the rate is halved. */
tsr_status tsri_rollback(tsri_run *run, int64_t done)
{
    tsr_status st = TSR_OK;
    tsri_rollback_entry list[TSRI_ROLLBACKS_MOST];
    int64_t count = run->position.rollbacks, to = tsri_rollback_target(&run->settings, done);
    bool found = false, force = run->settings.options.force;
    memcpy(list, run->position.rollback, sizeof list);
    TSRI_INFO("%s", tsr_last_error());
    list[count] = (tsri_rollback_entry){.to = to, .round = done + 1};
    TSR_TRY(tsri_diverged_loss(&list[count++].loss, run));
    run->settings.options.force =
        true; /* a run of two kinds of kernels has been allowed to be one */
    st = tsri_checkpoint_load_until(run, &found, to);
    run->settings.options.force = force;
    TSR_TRY(st);
    TSR_CHECK(found, TSR_DIVERGED,
              "round %lld diverged, and there is no checkpoint to go back to: lower optim.lr, now "
              "%g",
              (long long)done + 1, tsri_config_real(run->settings.config, "optim.lr"));
    memcpy(run->position.rollback, list, sizeof list);
    run->position.rollbacks = count;
    run->process.rollbacks_written = 0;
    while (run->process.rollbacks_written < count &&
           list[run->process.rollbacks_written].to < run->position.round)
        run->process.rollbacks_written++;
    TSR_TRY(tsri_metrics_cut(run->process.metrics, run->position.metrics_bytes));
    TSR_TRY(tsri_forced_tell(run));
    TSRI_WARN(
        "diverged in round %lld: going back to round %lld and on with half the rate, %g (%lld "
        "of %d times)",
        (long long)done + 1, (long long)to, tsri_run_rate(&run->settings, &run->position, to),
        (long long)count, TSRI_ROLLBACKS_MOST);
done:
    return st;
}

/* Of the round it went back to, after that many of the list. */
static double rate_after(const tsri_settings *s, const tsri_run_position *p, int64_t number)
{
    return ldexp(tsri_schedule_rate(&s->schedule, p->rollback[number].to, s->rounds),
                 -(int)(number + 1));
}

tsr_status tsri_rollback_tell(tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    for (; run->process.rollbacks_written < run->position.rollbacks;
         run->process.rollbacks_written++) {
        const tsri_rollback_entry *e = &run->position.rollback[run->process.rollbacks_written];
        if (e->to != run->position.round)
            break;
        tsri_event_open(&w, "rollback");
        tsri_json_put_int(&w, "round", e->round);
        tsri_json_put_int(&w, "to", e->to);
        tsri_json_put_real(&w, "loss", e->loss);
        tsri_json_put_int(&w, "times", run->process.rollbacks_written + 1);
        tsri_json_put_real(
            &w, "rate", rate_after(&run->settings, &run->position, run->process.rollbacks_written));
        TSR_TRY(tsri_event_write(run, &w));
    }
done:
    tsri_json_fini(&w);
    return st;
}

/* ---- In files ------------------------------------------------------------------------------ */

tsr_status tsri_rollback_write(tsri_text *out, const tsri_run_position *p)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    if (p->rollbacks == 0)
        return TSR_OK;
    tsri_json_open(&w, '[');
    for (int64_t i = 0; i < p->rollbacks; i++) {
        tsri_json_open(&w, '{');
        tsri_json_put_int(&w, "round", p->rollback[i].round);
        tsri_json_put_int(&w, "to", p->rollback[i].to);
        tsri_json_put_real(&w, "loss", p->rollback[i].loss);
        tsri_json_close(&w, '}');
    }
    tsri_json_close(&w, ']');
    TSR_TRY(tsri_json_end(&w));
    TSR_TRY(tsri_text_add(out, "%s", w.text.data));
done:
    tsri_json_fini(&w);
    return st;
}

tsr_status tsri_rollback_read(tsri_run_position *p, const char *text, const char *path)
{
    tsr_status st = TSR_OK;
    tsri_json_value *root = NULL;
    p->rollbacks = 0;
    if (!text)
        return TSR_OK;
    TSR_TRY(tsri_json_parse(&root, text, (int64_t)strlen(text), path));
    int64_t count = tsri_json_is_array(root) ? tsri_json_length(root) : -1;
    for (int64_t i = 0; i < count && count <= TSRI_ROLLBACKS_MOST; i++) {
        const tsri_json_value *v = tsri_json_at(root, i);
        tsri_rollback_entry *e = &p->rollback[i];
        e->loss = NAN;
        (void)tsri_json_as_real(tsri_json_get(v, "loss"), &e->loss);
        if (!tsri_json_as_int(tsri_json_get(v, "round"), &e->round) ||
            !tsri_json_as_int(tsri_json_get(v, "to"), &e->to) || e->to < 0 || e->round <= e->to)
            count = -1;
    }
    TSR_CHECK(count >= 0 && count <= TSRI_ROLLBACKS_MOST, TSR_BAD_FILE,
              "%s: " TSRI_META_ROLLBACKS " is not a list of rounds", path);
    p->rollbacks = count;
done:
    tsri_json_destroy(root);
    return st;
}
