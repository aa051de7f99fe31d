/* grelu_watch.c - runs looked at after every epoch. See grelu_watch.h. */
#include "reproduce/grelu_watch.h"

#include "base/alloc.h"
#include "base/stop.h"
#include "io/file.h"
#include "net/plan.h"
#include "reproduce/cells.h"
#include "run/run.h"
#include "scheme/scheme.h"
#include "train/describe.h"
#include "train/sound.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { JUDGED = 512 }; /* samples of the test set whose patterns are compared */

static tsr_status gradient_change(double *change, tsri_watched *p, const tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_opened host;
    double sum = 0;
    TSR_TRY(tsri_store_open(&host, &run->store, TSRI_OPEN_GRADIENT));
    const float *g = host.g;
    for (int64_t i = 0; i < run->net->trained; i++)
        sum += ((double)g[i] - (double)p->before[i]) * ((double)g[i] - (double)p->before[i]);
    memcpy(p->before, g, (size_t)run->net->trained * sizeof *g);
    *change = sqrt(sum);
done:
    tsri_store_close(&host);
    return st;
}

/* The gates that the plan's ReLUs left behind, compared with those of the last time. */
static tsr_status pattern_change(double *change, tsri_watched *p, const tsri_plan *plan,
                                 const tsri_heap *heap)
{
    tsr_status st = TSR_OK;
    int64_t at = 0, flips = 0, all = 0;
    tsri_mapping words = {0};
    for (int64_t k = 0; k < tsri_plan_ops(plan); k++) {
        const tsri_gates *g = tsri_plan_op(plan, k, NULL)->gates;
        if (!g)
            continue;
        TSR_TRY(tsri_map_open(&words, heap, g->mem, g->n * g->words * (int64_t)sizeof(uint64_t)));
        const uint64_t *word = words.host;
        for (int64_t i = 0; i < g->n * g->words; i++, at++) {
            flips += __builtin_popcountll(p->bits[at] ^ word[i]);
            p->bits[at] = word[i];
        }
        tsri_map_close(&words);
        all += g->n * g->units;
    }
    *change = all > 0 ? (double)flips / (double)all : 0;
done:
    tsri_map_close(&words);
    return st;
}

static tsr_status look(tsri_watched *p, tsri_run *run, tsri_plan *judge, const float *x, int64_t t)
{
    tsr_status st = TSR_OK;
    double change;
    if (p->patterns) {
        TSR_TRY(tsri_plan_forward(judge, x));
        TSR_TRY(pattern_change(&change, p, judge, run->device.backend->heap));
    } else {
        TSR_TRY(gradient_change(&change, p, run));
    }
    p->seen[t] = t > 0 ? change : (double)NAN;
done:
    return st;
}

static tsr_status one_epoch(tsri_run *run)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < llround(run->settings.epoch_rounds); i++) {
        tsri_mean before = run->position.recent;
        TSR_TRY(tsri_stop_heed());
        TSR_TRY(run->settings.scheme->round(run));
        TSR_TRY(tsri_check_loss(run, &before));
        run->position.round++;
    }
done:
    return st;
}

/* A run that diverges has nothing more to be looked at; the others go on. */
static tsr_status all_epochs(tsri_watched *p, tsri_run *run, tsri_plan *judge, const float *x)
{
    tsr_status st = TSR_OK;
    for (p->lasted = 0; p->lasted < p->epochs; p->lasted++) {
        TSR_TRY(one_epoch(run));
        TSR_TRY(look(p, run, judge, x, p->lasted));
    }
done:
    for (int64_t t = p->lasted; t < p->epochs; t++)
        p->seen[t] = INFINITY;
    return st == TSR_DIVERGED ? TSR_OK : st;
}

static tsr_status make(tsri_watched *p, tsr_config *config, const tsri_watch_sizes *z)
{
    tsr_status st = TSR_OK;
    tsri_run run = {.process.lock = -1};
    tsri_plan *judge = NULL;
    float *x = NULL;
    tsr_run_options o = tsr_run_options_default();
    TSR_TRY(tsri_run_init(&run, config, &o));
    TSR_TRY(run.settings.scheme->setup(&run));
    if (p->patterns) {
        const tsri_part *part = run.data->test.n > 0 ? &run.data->test : &run.data->train;
        int64_t n = part->n < JUDGED ? part->n : JUDGED;
        TSR_TRY(tsri_alloc(&x, n * run.data->dim, sizeof *x));
        for (int64_t i = 0; i < n; i++)
            tsri_sample(x + i * run.data->dim, run.data, part, i);
        TSR_TRY(tsri_plan_create(&judge, &run.store, run.device, n, false));
        TSR_TRY(
            tsri_alloc(&p->bits, n * ((z->width + 63) / 64) * (z->layers + 1), sizeof *p->bits));
    } else {
        TSR_TRY(tsri_alloc(&p->before, run.net->trained, sizeof *p->before));
    }
    TSR_TRY(all_epochs(p, &run, judge, x));
done:
    TSRI_FREE(p->before);
    TSRI_FREE(p->bits);
    tsri_free(x);
    tsri_plan_destroy(judge);
    tsri_run_fini(&run);
    return st;
}

/* ---- Kept ------------------------------------------------------------------------------------ */

enum { MOST_BYTES = 1 << 28 };

/* {"run": the run file, "lasted", "seen": [...]}, written when the run is done. */
static tsr_status keep(const char *path, const tsri_watched *p, const char *run_file)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    tsri_json_begin(&w);
    tsri_json_put_text(&w, "run", run_file);
    tsri_json_put_int(&w, "lasted", p->lasted);
    tsri_json_key(&w, "seen");
    tsri_json_open(&w, '[');
    for (int64_t t = 0; t < p->lasted; t++)
        tsri_json_real(&w, p->seen[t]);
    tsri_json_close(&w, ']');
    tsri_json_close(&w, '}');
    TSR_TRY(tsri_json_end(&w));
    TSR_TRY(tsri_file_write_text(path, w.text.data));
done:
    tsri_json_fini(&w);
    return st;
}

/* *found: the file is there and of this very run. */
static tsr_status find(bool *found, tsri_watched *p, const char *path, const char *run_file)
{
    tsr_status st = TSR_OK;
    char *bytes = NULL;
    int64_t n = 0;
    tsri_json_value *file = NULL;
    const char *run = "";
    *found = false;
    if (!tsri_file_exists(path))
        return TSR_OK;
    TSR_TRY(tsri_file_read(&bytes, &n, path, MOST_BYTES));
    TSR_TRY(tsri_json_parse(&file, bytes, n, tsri_quote(path)));
    const tsri_json_value *seen = tsri_json_get(file, "seen");
    if (!tsri_json_as_text(tsri_json_get(file, "run"), &run) || strcmp(run, run_file) != 0 ||
        !tsri_json_as_int(tsri_json_get(file, "lasted"), &p->lasted) || p->lasted > p->epochs ||
        !tsri_json_is_array(seen) || tsri_json_length(seen) != p->lasted)
        goto done;
    for (int64_t t = 0; t < p->epochs; t++)
        if (t >= p->lasted)
            p->seen[t] = INFINITY;
        else if (!tsri_json_as_real(tsri_json_at(seen, t), &p->seen[t]))
            p->seen[t] = NAN;
    *found = true;
done:
    tsri_json_destroy(file);
    tsri_free(bytes);
    return st;
}

/* ---- As a cell -------------------------------------------------------------------------------- */

/* What `make` needs of a question. */
typedef struct looked {
    const tsri_watch_sizes *z;
    tsri_watched *p;
} looked;

static tsr_status make_watched(tsri_study_cell *to, tsri_study *s, tsr_config *config,
                               const char *folder, const tsri_cell_ask *ask)
{
    tsr_status st = TSR_OK;
    const looked *w = ask->what;
    (void)s;
    (void)folder;
    TSR_TRY(make(w->p, config, w->z));
    tsri_cell_put(to, "lasted", (double)w->p->lasted);
    tsri_cell_put_series(to, "seen", w->p->seen, w->p->lasted);
done:
    return st;
}

/* All NaN where nobody made the cell yet. */
static tsr_status ask_watched(tsri_watched *p, tsri_study *s, const tsri_watch_sizes *z,
                              const char *yaml, int net, int64_t seed)
{
    tsr_status st = TSR_OK;
    tsri_study_cell c = {0};
    bool there = false;
    char name[TSRI_CELL_NAME];
    looked w = {z, p};
    (void)snprintf(name, sizeof name, "%s-%s-batch-%lld-seed%lld",
                   p->patterns ? "patterns" : "gradients", tsri_twin_model[net],
                   (long long)z->twins.batch, (long long)s->seed + (long long)seed);
    tsri_cell_ask ask = {
        .name = name, .yaml = yaml, .repeat = seed, .make = make_watched, .what = &w};
    TSR_TRY(tsri_study_ask(&c, &there, s, &ask));
    p->lasted = there ? (int64_t)tsri_cell_value(&c, "lasted") : 0;
    tsri_cell_copy(p->seen, p->epochs, &c, "seen");
    for (int64_t t = p->lasted; there && t < p->epochs; t++)
        p->seen[t] = INFINITY;
done:
    tsri_cell_fini(&c);
    return st;
}

tsr_status tsri_watch_seed(tsri_watched *p, tsri_study *s, const tsri_watch_sizes *z, int net,
                           int64_t seed)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsri_text path = {0}, resolved = {0};
    char yaml[600];
    bool found;
    tsri_twins_run_file(yaml, sizeof yaml, &z->twins, net, z->width, z->layers,
                        tsri_twins_rate(&z->twins, z->a, z->width, z->layers));
    size_t used = strlen(yaml);
    (void)snprintf(yaml + used, sizeof yaml - used, "skip: on\n");
    if (s->book)
        return ask_watched(p, s, z, yaml, net, seed);
    TSR_TRY(tsri_study_config(&config, s, yaml, seed));
    TSR_TRY(tsri_config_write(&resolved, config, NULL));
    TSR_TRY(tsri_text_add(&path, "%s/%s-%s-batch-%lld-%lld.json", s->folder,
                          p->patterns ? "patterns" : "gradients", tsri_twin_model[net],
                          (long long)z->twins.batch, (long long)seed + 1));
    TSR_TRY(find(&found, p, path.data, resolved.data));
    if (found)
        goto done;
    TSR_TRY(make(p, config, z));
    TSR_TRY(keep(path.data, p, resolved.data));
done:
    tsri_text_fini(&path);
    tsri_text_fini(&resolved);
    tsr_config_destroy(config);
    return st;
}
