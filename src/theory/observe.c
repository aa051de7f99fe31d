/* observe.c - certificates before a run and during it.
 *
 * A certificate of a round is one line of metrics.jsonl: {"event": "certificate", "round", "paper",
 * "holds", "rows", "notes", "kept"}. It is made from the run as it stands and from the lines before
 * it, so that a resumed run writes what an uninterrupted one would have.
 */
#include "theory/papers.h"

#include "base/alloc.h"
#include "base/log.h"
#include "io/file.h"

#include <stdio.h>

const tsri_paper *const tsri_papers[] = {&tsri_paper_masked_neurons, &tsri_paper_loft,
                                         &tsri_paper_deep_relu, &tsri_paper_rnn, NULL};

const tsri_paper *tsri_paper_of(const tsri_run *run)
{
    for (int i = 0; tsri_papers[i]; i++)
        if (tsri_papers[i]->applies(run))
            return tsri_papers[i];
    return NULL;
}

static tsr_status no_paper(const tsri_run *run)
{
    return tsri_fail(TSR_USAGE,
                     "%s: no theorem speaks of model %s with this loss and data: certificates are "
                     "for shallow and cnn1 with one real target and loss half_squares, for "
                     "relu_deep with two classes and a loss of margins, and for rnn with one "
                     "layer",
                     tsri_config_place(run->config, "model.name"),
                     tsri_config_text(run->config, "model.name"));
}

/* ---- Before ------------------------------------------------------------------------------- */

tsr_status tsri_certify_before(tsri_certificate *c, tsr_config *config)
{
    tsr_status st = TSR_OK;
    tsri_run run = {.lock = -1};
    tsri_past past = {0};
    tsr_run_options options = tsr_run_options_default();
    *c = (tsri_certificate){0};
    TSR_TRY(tsri_run_init(&run, config, &options));
    if (run.scheme->setup)
        TSR_TRY(run.scheme->setup(&run));
    const tsri_paper *paper = tsri_paper_of(&run);
    if (!paper) {
        st = no_paper(&run);
        goto done;
    }
    tsri_certificate_init(c, paper->name);
    TSR_TRY(tsri_past_begin(&past, 0));
    TSR_TRY(paper->certify(c, &run, &past));
    TSR_TRY(tsri_certificate_end(c));
done:
    tsri_past_fini(&past);
    tsri_run_fini(&run);
    return st;
}

/* ---- During ------------------------------------------------------------------------------- */

static int64_t every(const tsri_run *run)
{
    return tsri_config_int(run->config, "certify.every");
}

static tsr_status prepare(tsri_run *run)
{
    return every(run) > 0 && !tsri_paper_of(run) ? no_paper(run) : TSR_OK;
}

/* The past, and what was last told of it. */
typedef struct watch {
    tsri_past past;
    bool told;
    int64_t conditions, holding;
} watch;

/* What the run has said so far: read once from its metrics, which opening has cut to the
 * checkpoint. */
static tsr_status find_past(watch **w, tsri_run *run, const tsri_paper *paper)
{
    tsr_status st = TSR_OK;
    char *path = NULL;
    *w = run->observer_state[0];
    if (*w)
        return TSR_OK;
    TSR_TRY(tsri_alloc(w, 1, sizeof **w));
    run->observer_state[0] = *w;
    TSR_TRY(tsri_path_join(&path, run->options.folder, "metrics.jsonl"));
    TSR_TRY(tsri_past_read(&(*w)->past, path, paper->name));
done:
    tsri_free(path);
    return st;
}

static tsr_status write_line(tsri_run *run, const tsri_certificate *c, const tsri_past *past)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    tsri_json_open(&w, '{');
    tsri_json_key(&w, "event");
    tsri_json_text(&w, "certificate");
    tsri_certificate_json(&w, c);
    tsri_json_key(&w, "kept");
    tsri_past_json(&w, past);
    tsri_json_close(&w, '}');
    TSR_TRY(tsri_json_end(&w));
    if (tsri_metrics_line(run->metrics, w.text.data) != TSR_OK)
        TSRI_WARN("the certificate of round %lld was not written, training goes on: %s",
                  (long long)run->round, tsr_last_error());
    run->metrics_bytes = tsri_metrics_offset(run->metrics);
done:
    tsri_json_fini(&w);
    return st;
}

/* Tells people when something has changed; the rows are in the metrics and the report. */
static void tell(watch *w, const tsri_certificate *c)
{
    int64_t conditions, holding;
    const tsri_row *worst = tsri_certificate_worst(c);
    char words[64], when[48] = "before the run";
    tsri_certificate_count(c, &conditions, &holding);
    if (w->told && w->conditions == conditions && w->holding == holding)
        return;
    w->told = true;
    w->conditions = conditions;
    w->holding = holding;
    if (c->round > 0)
        (void)snprintf(when, sizeof when, "after round %lld", (long long)c->round);
    if (worst)
        TSRI_INFO("certificate %s, %s: %lld of %lld conditions hold; %s (%s) %s", c->paper, when,
                  (long long)holding, (long long)conditions, worst->where, worst->quantity,
                  tsri_row_words(words, sizeof words, worst));
    else
        TSRI_INFO("certificate %s, %s: %lld of %lld conditions hold", c->paper, when,
                  (long long)holding, (long long)conditions);
}

/* Before the first round, after every N-th, and after the last, also of a run that stops early. */
static bool due(const tsri_run *run)
{
    return every(run) > 0 &&
           (run->round % every(run) == 0 || run->round == run->rounds || tsri_iterate_enough(run));
}

static tsr_status look(tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_certificate c = {0};
    watch *w = NULL;
    if (!due(run))
        return TSR_OK;
    const tsri_paper *paper = tsri_paper_of(run);
    if (!paper)
        return TSR_OK;
    tsri_certificate_init(&c, paper->name);
    c.round = run->round;
    TSR_TRY(find_past(&w, run, paper));
    TSR_TRY(tsri_past_begin(&w->past, run->round));
    TSR_TRY(paper->certify(&c, run, &w->past));
    TSR_TRY(tsri_certificate_end(&c));
    TSR_TRY(write_line(run, &c, &w->past));
    tell(w, &c);
done:
    tsri_certificate_fini(&c);
    return st;
}

static void forget(void *state)
{
    watch *w = state;
    if (w)
        tsri_past_fini(&w->past);
    tsri_free(w);
}

static const tsri_observer certifier = {
    .name = "certificates", .prepare = prepare, .look = look, .fini = forget};

const tsri_observer *const tsri_observers[] = {&certifier, NULL};
