/* study.c - what a reproduction finds while it is made: notes, settings, claims, pictures,
 * tables, runs. */
#include "reproduce/reproduce.h"

#include "base/alloc.h"
#include "data/reader.h"
#include "data/source.h"
#include "io/config.h"
#include "io/file.h"
#include "report/png.h"
#include "reproduce/cells.h"
#include "train/train.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int64_t tsri_study_seeds(const tsri_study *s, int64_t usual)
{
    return s->seeds > 0 ? s->seeds : usual;
}

int64_t tsri_study_seeds_to(const tsri_study *s, int64_t usual, int64_t most)
{
    int64_t seeds = tsri_study_seeds(s, usual);
    return seeds < most ? seeds : most;
}

const char *tsri_study_data_name(const tsri_study *s, const char *usual)
{
    const char *slash = s->data ? strrchr(s->data, '/') : NULL;
    return !s->data ? usual : slash && slash[1] ? slash + 1 : s->data;
}

tsr_status tsri_study_end(const tsri_study *s)
{
    return s->st;
}

/* ---- Sentences ------------------------------------------------------------------------------- */

static tsr_status sentence(char **out, const char *fmt, va_list args)
{
    char text[2000];
    (void)vsnprintf(text, sizeof text, fmt, args);
    return tsri_strdup(out, text);
}

void tsri_study_say(tsri_study *s, double part, const char *fmt, ...)
{
    char text[700];
    va_list args;
    if (!s->options->say || !tsri_study_speaks(s))
        return;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    s->options->say(s->options->context, part, text);
}

void tsri_study_note(tsri_study *s, const char *fmt, ...)
{
    va_list args;
    char *note = NULL;
    if (!tsri_study_shows(s))
        return;
    if (s->st == TSR_OK)
        s->st = tsri_reserve(&s->note, &s->notes_room, s->notes, sizeof *s->note);
    va_start(args, fmt);
    if (s->st == TSR_OK)
        s->st = sentence(&note, fmt, args);
    va_end(args);
    if (s->st == TSR_OK)
        s->note[s->notes++] = note;
}

/* ---- Settings -------------------------------------------------------------------------------- */

bool tsri_paper_setting_departs(const tsri_paper_setting *setting)
{
    return strcmp(setting->paper, setting->here) != 0;
}

static void free_setting(tsri_paper_setting *one)
{
    tsri_free(one->what);
    tsri_free(one->paper);
    tsri_free(one->here);
}

void tsri_study_setting(tsri_study *s, const char *what, const char *paper, const char *fmt, ...)
{
    va_list args;
    tsri_paper_setting one = {0};
    for (int64_t i = 0; i < s->settings; i++)
        if (strcmp(s->setting[i].what, what) == 0)
            return;
    if (s->st == TSR_OK)
        s->st = tsri_reserve(&s->setting, &s->settings_room, s->settings, sizeof *s->setting);
    if (s->st == TSR_OK)
        s->st = tsri_strdup(&one.what, what);
    if (s->st == TSR_OK)
        s->st = tsri_strdup(&one.paper, paper);
    va_start(args, fmt);
    if (s->st == TSR_OK)
        s->st = sentence(&one.here, fmt, args);
    va_end(args);
    if (s->st == TSR_OK)
        s->setting[s->settings++] = one;
    else
        free_setting(&one);
}

void tsri_study_tell_settings(tsri_study *s)
{
    for (int64_t i = 0; i < s->settings; i++)
        tsri_study_say(s, 0, "%s: %s (the paper: %s)", s->setting[i].what, s->setting[i].here,
                       s->setting[i].paper);
}

/* ---- Claims ---------------------------------------------------------------------------------- */

/* The claim of that id, begun when it is new; NULL after a failure. */
static tsri_claim *claim_of(tsri_study *s, const char *id)
{
    const tsri_criteria_row *c = tsri_criteria_find(id);
    if (s->st == TSR_OK && !c)
        s->st = tsri_fail(TSR_FAILURE, "no criterion decides %s: criteria.c lacks it", id);
    for (int64_t i = 0; s->st == TSR_OK && i < s->claims; i++)
        if (s->claim[i].criterion == c)
            return &s->claim[i];
    if (s->st == TSR_OK)
        s->st = tsri_reserve(&s->claim, &s->claims_room, s->claims, sizeof *s->claim);
    if (s->st != TSR_OK)
        return NULL;
    s->claim[s->claims] = (tsri_claim){.criterion = c};
    return &s->claim[s->claims++];
}

void tsri_study_judge(tsri_study *s, const char *id, const char *part, const double *value,
                      int64_t seeds)
{
    tsri_claim *c = tsri_study_shows(s) ? claim_of(s, id) : NULL;
    if (c)
        s->st = tsri_claim_add(c, part, value, seeds);
}

void tsri_study_leave(tsri_study *s, const char *id, const char *part, const char *why)
{
    tsri_claim *c = tsri_study_shows(s) ? claim_of(s, id) : NULL;
    if (c)
        s->st = tsri_claim_leave(c, part, why);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void remember(tsri_study *s, const char *name, const char *ending)
{
    tsri_text file = {0};
    if (s->st == TSR_OK)
        s->st = tsri_reserve(&s->file, &s->files_room, s->files, sizeof *s->file);
    if (s->st == TSR_OK)
        s->st = tsri_text_add(&file, "%s%s", name, ending);
    if (s->st == TSR_OK)
        s->file[s->files++] = file.data;
    else
        tsri_text_fini(&file);
}

/* "Here, and in the paper: width 256 (10,000); ..." */
static tsr_status caption(tsri_text *out, const tsri_study *s)
{
    tsr_status st = TSR_OK;
    bool any = false;
    for (int64_t i = 0; i < s->settings; i++) {
        const tsri_paper_setting *one = &s->setting[i];
        if (!tsri_paper_setting_departs(one))
            continue;
        TSR_TRY(tsri_text_add(out, "%s%s: %s (%s)", any ? "; " : "Here (and in the paper): ",
                              one->what, one->here, one->paper));
        any = true;
    }
    if (any)
        TSR_TRY(tsri_text_add(out, "."));
done:
    return st;
}

static tsr_status chart_files(tsri_study *s, const char *name, tsri_chart *chart)
{
    tsr_status st = TSR_OK;
    char *base = NULL;
    tsri_text below = {0};
    TSR_TRY(caption(&below, s));
    tsri_chart_caption(chart, below.data);
    TSR_TRY(tsri_path_join(&base, s->folder, name));
    TSR_TRY(tsri_chart_write(chart, base));
done:
    tsri_text_fini(&below);
    tsri_free(base);
    return st;
}

void tsri_study_chart(tsri_study *s, const char *name, tsri_chart *chart)
{
    if (!tsri_study_shows(s))
        return;
    if (s->st == TSR_OK)
        s->st = chart_files(s, name, chart);
    remember(s, name, ".svg");
    if (tsri_png_available())
        remember(s, name, ".png");
    remember(s, name, ".csv");
}

static tsr_status table_files(tsri_study *s, const char *name, const char *title,
                              const tsri_table *table)
{
    tsr_status st = TSR_OK;
    tsri_text file = {0}, csv = {0};
    TSR_TRY(tsri_text_add(&file, "%s/%s.csv", s->folder, name));
    TSR_TRY(tsri_table_csv(&csv, table));
    TSR_TRY(tsri_file_write_text(file.data, csv.data ? csv.data : ""));
    TSR_TRY(tsri_text_add(&s->tables, "\n**%s**\n\n", title));
    TSR_TRY(tsri_table_markdown(&s->tables, table));
done:
    tsri_text_fini(&file);
    tsri_text_fini(&csv);
    return st;
}

void tsri_study_table(tsri_study *s, const char *name, const char *title, const tsri_table *table)
{
    if (!tsri_study_shows(s))
        return;
    if (s->st == TSR_OK)
        s->st = table_files(s, name, title, table);
    remember(s, name, ".csv");
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static tsr_status set_number(tsr_config *config, const char *key, long long value)
{
    char text[64];
    (void)snprintf(text, sizeof text, "%s=%lld", key, value);
    return tsr_config_set(config, text);
}

/* --data: other data; or, where it is a folder with the set that the study has, that set from
 * there, with all that is known of it. */
static tsr_status set_data(tsr_config *config, const char *data)
{
    tsr_status st = TSR_OK;
    tsri_text place = {0};
    char *found = NULL;
    const char *name = tsri_config_text(config, "data.name");
    if (name && tsri_is_folder(data))
        TSR_TRY(tsri_source_look(&found, name, data));
    if (!found)
        TSR_TRY(tsri_config_set_data(config, data));
    else {
        TSR_TRY(tsri_text_add(&place, "data.path=%s", data));
        TSR_TRY(tsr_config_set(config, place.data));
    }
done:
    tsri_free(found);
    tsri_text_fini(&place);
    return st;
}

tsr_status tsri_study_config(tsr_config **out, const tsri_study *s, const char *yaml,
                             int64_t repeat)
{
    tsr_status st = TSR_OK;
    *out = NULL;
    TSR_TRY(tsri_config_parse(out, yaml, (int64_t)strlen(yaml), s->row->name));
    TSR_TRY(set_number(*out, "seed", (long long)s->seed + (long long)repeat));
    TSR_TRY(set_number(*out, "threads", tsri_pool_threads(s->pool)));
    if (s->data)
        TSR_TRY(set_data(*out, s->data));
    for (int64_t i = 0; i < s->options->sets; i++)
        TSR_TRY(tsr_config_set(*out, s->options->set[i]));
done:
    return st;
}

tsr_status tsri_study_run(tsr_result *result, tsr_config *config, const char *folder,
                          const char *init)
{
    tsr_status st = TSR_OK;
    char *begun = NULL;
    tsr_run_options o = tsr_run_options_default();
    TSR_TRY(tsri_path_join(&begun, folder, "run.yaml"));
    o.folder = folder;
    o.init = init;
    o.resume = tsri_file_exists(begun);
    TSR_TRY(tsri_train(result, config, &o));
done:
    tsri_free(begun);
    return st;
}

tsr_status tsri_study_train(tsri_study *s, tsr_result *result, tsri_curves *curves,
                            const char *name, const char *yaml, int64_t repeat)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    char *folder = NULL, *metrics = NULL;
    if (s->book)
        return tsri_study_train_cell(s, result, curves, name, yaml, repeat);
    if (curves)
        *curves = (tsri_curves){0};
    TSR_TRY(tsri_study_config(&config, s, yaml, repeat));
    TSR_TRY(tsri_path_join(&folder, s->folder, name));
    TSR_TRY(tsri_path_join(&metrics, folder, "metrics.jsonl"));
    tsr_status ended = tsri_study_run(result, config, folder, NULL);
    if (ended != TSR_DIVERGED)
        TSR_TRY(ended);
    if (curves)
        TSR_TRY(tsri_curves_read(curves, metrics, NULL));
    st = ended;
done:
    tsri_free(metrics);
    tsri_free(folder);
    tsr_config_destroy(config);
    return st;
}

bool tsri_study_lacks(const tsri_study *s, const tsri_curves *curves)
{
    return s->book && curves->n == 0;
}

/* A sweep on its way, and which part of the study it is. */
typedef struct stretch {
    tsri_study *study;
    const char *name;
    double from, to;
} stretch;

static void say_run(void *context, const tsri_sweep *sweep)
{
    const stretch *w = context;
    tsri_study_say(
        w->study, w->from + (w->to - w->from) * (double)sweep->done / (double)sweep->runs,
        "%s: %lld of %lld runs", w->name, (long long)sweep->done, (long long)sweep->runs);
}

tsr_status tsri_study_sweep(tsri_study *s, tsri_sweep *sweep, const char *name, const char *yaml,
                            const tsri_sweep_options *options, double from, double to)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    char *folder = NULL;
    stretch way = {s, name, from, to};
    tsri_sweep_options o = *options;
    *sweep = (tsri_sweep){0};
    TSR_TRY(tsri_study_config(&config, s, yaml, 0));
    if (s->book) {
        TSR_TRY(tsri_study_sweep_cells(s, sweep, name, config, options));
        goto done;
    }
    TSR_TRY(tsri_path_join(&folder, s->folder, name));
    o.folder = folder;
    o.beside = s->beside;
    o.progress = say_run;
    o.context = &way;
    st = tsri_sweep_run(sweep, config, &o);
    sweep->options.folder = NULL; /* neither outlives this call */
    sweep->options.context = NULL;
    sweep->options.progress = NULL;
done:
    tsr_config_destroy(config);
    tsri_free(folder);
    return st;
}
