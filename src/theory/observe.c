/* observe.c - certificates before a run and during it.
 *
 * After every round the paper looks and keeps numbers (past.h), which go with checkpoints; so a
 * resumed run writes what an uninterrupted one would have, and verdicts do not depend on how often
 * certificates are made. A certificate is one line of metrics.jsonl: {"event": "certificate", ...},
 * docs/formats.md.
 */
#include "theory/papers.h"

#include "base/alloc.h"
#include "base/log.h"
#include "io/file.h"
#include "run/metrics_lines.h"
#include "run/observer.h"
#include "scheme/team.h"
#include "train/describe.h"
#include "train/iterate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const tsri_paper *const papers[] = {
#define X(name) &tsri_paper_##name,
    TSRI_PAPER_NAMES(X)
#undef X
        NULL};

const tsri_paper *tsri_paper_of(const tsri_run_view *view)
{
    const char *name = tsri_model_of(view->settings->config)->paper;
    for (int i = 0; name && papers[i]; i++)
        if (strcmp(papers[i]->name, name) == 0)
            return !papers[i]->applies || papers[i]->applies(view) ? papers[i] : NULL;
    return NULL;
}

static tsr_status no_paper(const tsri_run_view *view)
{
    tsr_status st = TSR_OK;
    tsri_text about = {0};
    for (int i = 0; papers[i]; i++)
        TSR_TRY(tsri_text_add(&about, "%s for %s", i > 0 ? "," : "", papers[i]->about));
    st = tsri_fail(TSR_USAGE,
                   "%s: no theorem speaks of model %s with this loss and data: certificates are%s",
                   tsri_config_place(view->settings->config, "model.name"),
                   tsri_model_of(view->settings->config)->name, about.data);
done:
    tsri_text_fini(&about);
    return st;
}

/* ---- How much a look may take --------------------------------------------------------------- */

/* The whole networks that the shares of a round are worth: of a layer that is cut on both sides a
 * share has the square of its part. */
static double wholes(const tsri_run_view *view)
{
    const tsri_draw *draw = tsri_team_draws(view->team);
    int64_t cut = 0;
    double sum = 0;
    for (int64_t a = 0; draw && a < view->net->axes; a++)
        cut += view->net->axis[a].cuttable && (!draw->cut || draw->cut[a]);
    for (int64_t l = 0; draw && l < view->settings->workers; l++) {
        double part = tsri_draw_chance(draw, l);
        sum += cut > 1 ? part * part : part;
    }
    return draw ? sum : 1;
}

double tsri_round_operations(const tsri_run_view *view)
{
    return view->settings->sample_flops * (double)view->settings->batch * wholes(view) *
           (double)view->settings->local_steps;
}

int64_t tsri_look_stride(const tsri_run_view *view, double operations)
{
    double may =
        tsri_config_real(view->settings->config, "certify.budget") * tsri_round_operations(view);
    if (operations <= may)
        return 1;
    return may > 0 && operations / may < 1e9 ? (int64_t)ceil(operations / may) : 1000000000;
}

bool tsri_look_due(const tsri_run_view *view, double operations)
{
    return view->position->round == 0 || view->position->round == view->settings->rounds ||
           view->position->round % tsri_look_stride(view, operations) == 0;
}

double tsri_effort(const tsri_settings *s)
{
    return 1e9 * tsri_config_real(s->config, "certify.effort");
}

void tsri_certify_long(tsri_certificate *c, const char *what, double operations)
{
    tsri_certify_note(c,
                      "%s: a part was looked at; all would take %.2g operations, %.2g s at 1e9 a "
                      "second (certify.effort: %.2g)",
                      what, operations, operations / 1e9, operations / 1e9);
}

/* ---- Before ------------------------------------------------------------------------------- */

/* What the run breaks, what the paper says, all of it judged. */
static tsr_status make(tsri_certificate *c, const tsri_run_view *view, const tsri_paper *paper,
                       const tsri_past *past)
{
    tsr_status st = TSR_OK;
    tsri_certificate_init(c, paper->name);
    c->round = view->position->round;
    tsri_assume_run(c, view);
    TSR_TRY(paper->certify(c, view, past));
    TSR_TRY(tsri_certificate_end(c));
done:
    return st;
}

tsr_status tsri_certify_before(tsri_certificate *c, tsr_config *config)
{
    return tsri_certify_on(c, config, NULL);
}

tsr_status tsri_certify_on(tsri_certificate *c, tsr_config *config, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    tsri_run run = {.process.lock = -1};
    tsri_run_view view = {0};
    tsri_past past = {0};
    const tsri_paper *paper = NULL;
    tsr_run_options options = tsr_run_options_default();
    options.data = data;
    *c = (tsri_certificate){0};
    TSR_TRY(tsri_run_init(&run, config, &options));
    if (run.settings.scheme->setup)
        TSR_TRY(run.settings.scheme->setup(&run));
    view = tsri_run_view_of(&run);
    paper = tsri_paper_of(&view);
    if (!paper) {
        st = no_paper(&view);
        goto done;
    }
    tsri_past_begin(&past, 0);
    TSR_TRY(tsri_run_view_open(&view));
    if (paper->look)
        TSR_TRY(paper->look(&view, &past));
    TSR_TRY(make(c, &view, paper, &past));
done:
    if (paper && paper->forget)
        paper->forget(past.state);
    tsri_past_fini(&past);
    tsri_run_view_close(&view);
    tsri_run_fini(&run);
    return st;
}

/* ---- During ------------------------------------------------------------------------------- */

#define BEFORE           "certificate.before"
#define BEFORE_CONVERTED "certificate.before_converted"

static int64_t every(const tsri_run *run)
{
    return tsri_config_int(run->settings.config, "certify.every");
}

static tsr_status prepare(tsri_run *run)
{
    tsri_run_view view = tsri_run_view_of(run);
    return every(run) > 0 && !tsri_paper_of(&view) ? no_paper(&view) : TSR_OK;
}

static int slot; /* of run->process.observer_state */

/* The past, and what was last told of it. What papers keep from look to look may point at the
 * view: it stays where it is. */
typedef struct watch {
    tsri_run_view view;
    tsri_past past;
    tsri_memory memory;
    const tsri_paper *paper;
    bool told;
    int64_t count[TSRI_VERDICTS];
} watch;

static tsr_status watch_of(watch **w, tsri_run *run)
{
    tsr_status st = TSR_OK;
    *w = run->process.observer_state[slot];
    if (*w)
        return TSR_OK;
    TSR_TRY(tsri_alloc(w, 1, sizeof **w));
    (*w)->past.memory = &(*w)->memory;
    (*w)->view = tsri_run_view_of(run);
    (*w)->paper = tsri_paper_of(&(*w)->view);
    run->process.observer_state[slot] = *w;
done:
    return st;
}

static tsr_status write_line(tsri_run *run, const tsri_certificate *c, const tsri_past *past)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    tsri_event_open(&w, "certificate");
    tsri_certificate_json(&w, c);
    tsri_json_key(&w, "kept");
    tsri_past_json(&w, past);
    TSR_TRY(tsri_event_write(run, &w));
done:
    tsri_json_fini(&w);
    return st;
}

/* Tells people when a verdict has changed; the rows are in the metrics and the report. */
static void tell(watch *w, const tsri_certificate *c)
{
    int64_t count[TSRI_VERDICTS];
    const tsri_row *worst = tsri_certificate_worst(c);
    char words[200], summary[200], when[48] = "before the run";
    tsri_certificate_count(count, c);
    if (w->told && memcmp(count, w->count, sizeof count) == 0)
        return;
    w->told = true;
    memcpy(w->count, count, sizeof count);
    if (c->round > 0)
        (void)snprintf(when, sizeof when, "after round %lld", (long long)c->round);
    (void)tsri_certificate_summary(summary, sizeof summary, c);
    if (worst)
        TSRI_INFO("certificate %s, %s: %s; %s (%s) %s", c->paper, when, summary, worst->where,
                  worst->quantity, tsri_row_words(words, sizeof words, worst));
    else
        TSRI_INFO("certificate %s, %s: %s", c->paper, when, summary);
}

/* Before the first round, after every N-th, and after the last, also of a run that stops early. */
static bool due(const tsri_run *run)
{
    return every(run) > 0 &&
           (run->position.round % every(run) == 0 || run->position.round == run->settings.rounds ||
            tsri_iterate_enough(&run->settings, &run->position));
}

/* Where the next round begins, for papers that want to know. */
static tsr_status note_weights(tsri_run *run, const tsri_paper *paper)
{
    tsr_status st = TSR_OK;
    watch *w = NULL;
    int64_t count = run->net->trained;
    if (!paper->remembers)
        return TSR_OK;
    TSR_TRY(watch_of(&w, run));
    tsri_memory *m = &w->memory;
    if (m->before_count != count) {
        TSRI_FREE(m->before);
        m->before_count = 0;
        TSR_TRY(tsri_alloc(&m->before, count, sizeof *m->before));
        m->before_count = count;
    }
    TSR_TRY(run->store.heap->out(m->before, run->store.w, count * (int64_t)sizeof *m->before));
    m->before_round = run->position.round;
    m->before_converted = run->position.converted;
done:
    return st;
}

/* ---- In checkpoints ------------------------------------------------------------------------- */

/* A round that must be looked at again goes with the weights before it: a resumed run knows them
 * from nowhere else. */
static tsr_status save_before(const tsri_run *run, const tsri_memory *m, tsri_parcel *parcel)
{
    tsr_status st = TSR_OK;
    if (!run->position.unlooked || !m->before)
        return TSR_OK;
    tsri_tensor weights = {
        .dtype = TSRI_F32, .dims = 1, .shape = {m->before_count}, .data = m->before};
    tsri_tensor since = {
        .dtype = TSRI_I64, .dims = 1, .shape = {1}, .data = (void *)&m->before_converted};
    TSR_TRY(tsri_parcel_add(parcel, &weights, BEFORE));
    TSR_TRY(tsri_parcel_add(parcel, &since, BEFORE_CONVERTED));
done:
    return st;
}

static tsr_status load_before(const tsri_run *run, tsri_memory *m, const tsri_tensors *file,
                              const char *path)
{
    tsr_status st = TSR_OK;
    const tsri_tensor *weights = tsri_tensors_find(file, BEFORE),
                      *since = tsri_tensors_find(file, BEFORE_CONVERTED);
    if (!weights)
        return TSR_OK;
    TSR_CHECK(weights->dtype == TSRI_F32 && weights->dims == 1 && weights->shape[0] > 0 && since &&
                  since->dtype == TSRI_I64 && since->dims == 1 && since->shape[0] == 1,
              TSR_BAD_FILE, "%s: " BEFORE " is not a vector of weights", path);
    TSRI_FREE(m->before);
    m->before_count = 0;
    TSR_TRY(tsri_alloc(&m->before, weights->shape[0], sizeof *m->before));
    m->before_count = weights->shape[0];
    memcpy(m->before, weights->data, (size_t)m->before_count * sizeof *m->before);
    memcpy(&m->before_converted, since->data, sizeof m->before_converted);
    m->before_round = run->position.round - 1;
done:
    return st;
}

static tsr_status save(const tsri_run *run, tsri_parcel *parcel)
{
    tsr_status st = TSR_OK;
    watch *w = run->process.observer_state[slot];
    if (!w)
        return TSR_OK;
    TSR_TRY(tsri_past_save(&w->past, parcel));
    TSR_TRY(save_before(run, &w->memory, parcel));
done:
    return st;
}

static tsr_status load(tsri_run *run, const tsri_tensors *file, const char *path)
{
    tsr_status st = TSR_OK;
    watch *w = NULL;
    if (every(run) == 0)
        return TSR_OK;
    TSR_TRY(watch_of(&w, run));
    const tsri_paper *paper = w->paper;
    if (paper->forget) /* of a run that goes back: what it kept is of rounds that are no more */
        paper->forget(w->past.state);
    w->past.state = NULL;
    TSR_TRY(tsri_past_load(&w->past, file, path));
    if (run->position.unlooked)
        TSR_TRY(load_before(run, &w->memory, file, path));
    else
        TSR_TRY(note_weights(run, paper));
done:
    return st;
}

/* ---- Looking ------------------------------------------------------------------------------ */

static tsr_status certify_now(tsri_run *run, watch *w)
{
    tsr_status st = TSR_OK;
    tsri_certificate c = {0};
    TSR_TRY(make(&c, &w->view, w->paper, &w->past));
    TSR_TRY(tsri_notes_write(&w->view, "certificate"));
    TSR_TRY(write_line(run, &c, &w->past));
    tell(w, &c);
done:
    tsri_certificate_fini(&c);
    return st;
}

/* Weights that are no longer finite are not looked at: a unit whose sum is NaN would count as one
 * that is off. Training ends by itself before they are saved (train/sound.c). */
static tsr_status look(tsri_run *run)
{
    tsr_status st = TSR_OK;
    watch *w = NULL;
    int64_t param, element;
    bool spoilt;
    if (every(run) == 0)
        return TSR_OK;
    TSR_TRY(tsri_store_nonfinite(&spoilt, &run->store, &param, &element));
    if (spoilt)
        return TSR_OK;
    TSR_TRY(watch_of(&w, run));
    w->view = tsri_run_view_of(run);
    TSR_TRY(tsri_run_view_open(&w->view));
    tsri_past_begin(&w->past, run->position.round);
    if (w->paper->look)
        TSR_TRY(w->paper->look(&w->view, &w->past));
    if (due(run))
        TSR_TRY(certify_now(run, w));
    TSR_TRY(note_weights(run, w->paper));
done:
    if (w)
        tsri_run_view_close(&w->view);
    return st;
}

static bool active(const tsri_run *run)
{
    return every(run) > 0;
}

static void forget(void *state)
{
    watch *w = state;
    if (!w)
        return;
    if (w->paper && w->paper->forget)
        w->paper->forget(w->past.state);
    tsri_past_fini(&w->past);
    tsri_free(w->memory.before);
    tsri_free(w);
}

static const tsri_observer certifier = {.name = "certificates",
                                        .prepare = prepare,
                                        .look = look,
                                        .active = active,
                                        .save = save,
                                        .load = load,
                                        .fini = forget};

void tsri_certificates_register(void)
{
    slot = tsri_observer_register(&certifier);
}
