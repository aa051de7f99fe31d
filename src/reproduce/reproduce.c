/* reproduce.c - a reproduction from its row to its folder: prepare, make, summarise. */
#include "reproduce/reproduce.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "io/file.h"
#include "io/json.h"
#include "reproduce/cells.h"

#include <stdio.h>
#include <string.h>

tsri_study_options tsri_study_options_default(void)
{
    return (tsri_study_options){.seed = 1};
}

const tsri_reproduction *tsri_reproduction_find(const char *name)
{
    for (int i = 0; tsri_reproductions[i]; i++)
        for (const tsri_reproduction *r = tsri_reproductions[i]; r->name; r++)
            if (strcmp(r->name, name) == 0)
                return r;
    return NULL;
}

/* ---- The folder ------------------------------------------------------------------------------ */

/* USAGE when FOLDER/summary.json is of another one. */
static tsr_status same_study(const tsri_study *s, const char *path)
{
    tsr_status st = TSR_OK;
    char *bytes = NULL;
    int64_t n = 0;
    tsri_json_value *old = NULL;
    const char *name = "something else";
    TSR_TRY(tsri_file_read(&bytes, &n, path, TSRI_JSON_MOST));
    TSR_TRY(tsri_json_parse(&old, bytes, n, tsri_quote(path)));
    (void)tsri_json_as_text(tsri_json_get(old, "name"), &name);
    TSR_CHECK(strcmp(name, s->row->name) == 0, TSR_USAGE,
              "%s holds %s already: choose another folder for %s with --out", tsri_quote(s->folder),
              tsri_quote(name), s->row->name);
done:
    tsri_json_destroy(old);
    tsri_free(bytes);
    return st;
}

static tsr_status open_folder(tsri_study *s)
{
    tsr_status st = TSR_OK;
    char *summary = NULL, *run = NULL;
    TSR_TRY(tsri_path_join(&summary, s->folder, "summary.json"));
    TSR_TRY(tsri_path_join(&run, s->folder, "run.yaml"));
    TSR_CHECK(!tsri_file_exists(run), TSR_USAGE,
              "%s holds a run: choose another folder for %s with --out", tsri_quote(s->folder),
              s->row->name);
    if (tsri_file_exists(summary))
        TSR_TRY(same_study(s, summary));
    TSR_TRY(tsri_make_folder(s->folder));
done:
    tsri_free(run);
    tsri_free(summary);
    return st;
}

/* ---- The summary ----------------------------------------------------------------------------- */

int64_t tsri_study_count(const tsri_study *s, tsri_finding verdict, bool ours)
{
    int64_t count = 0;
    for (int64_t i = 0; i < s->claims; i++)
        count += s->claim[i].criterion->ours == ours && tsri_claim_verdict(&s->claim[i]) == verdict;
    return count;
}

/* "2 hold, 1 does not hold, 1 is undecided" */
static tsr_status counts(tsri_text *out, const tsri_study *s, bool ours)
{
    static const char *const words[TSRI_FINDINGS][2] = {
        {"is undecided", "are undecided"}, {"holds", "hold"}, {"does not hold", "do not hold"}};
    static const tsri_finding order[TSRI_FINDINGS] = {TSRI_FINDING_HOLDS, TSRI_FINDING_FAILS,
                                                      TSRI_FINDING_UNDECIDED};
    tsr_status st = TSR_OK;
    bool any = false;
    for (int i = 0; i < TSRI_FINDINGS; i++) {
        int64_t n = tsri_study_count(s, order[i], ours);
        if (n == 0)
            continue;
        TSR_TRY(
            tsri_text_add(out, "%s%lld %s", any ? ", " : "", (long long)n, words[order[i]][n > 1]));
        any = true;
    }
done:
    return st;
}

static int64_t all_of(const tsri_study *s, bool ours)
{
    int64_t count = 0;
    for (int i = 0; i < TSRI_FINDINGS; i++)
        count += tsri_study_count(s, (tsri_finding)i, ours);
    return count;
}

tsr_status tsri_study_verdict(tsri_text *out, const tsri_study *s)
{
    tsr_status st = TSR_OK;
    int64_t papers = all_of(s, false);
    if (papers == 0)
        TSR_TRY(tsri_text_add(out, "Nothing the paper says was put to the test."));
    else {
        TSR_TRY(tsri_text_add(out, "Of %lld claim%s of the paper ", (long long)papers,
                              papers == 1 ? "" : "s"));
        TSR_TRY(counts(out, s, false));
        TSR_TRY(tsri_text_add(out, " here."));
    }
    if (all_of(s, true) > 0) {
        TSR_TRY(tsri_text_add(out, " Of our own "));
        TSR_TRY(counts(out, s, true));
        TSR_TRY(tsri_text_add(out, "."));
    }
done:
    return st;
}

/* What nothing was told of is not measured, and said so. */
static tsr_status name_the_rest(tsri_study *s)
{
    for (const tsri_criteria_row *c = tsri_criteria_table; c->id; c++) {
        bool told = !tsri_criteria_of(c, s->row->name);
        for (int64_t i = 0; !told && i < s->claims; i++)
            told = s->claim[i].criterion == c;
        if (!told)
            tsri_study_leave(s, c->id, NULL, "not measured");
    }
    return tsri_study_end(s);
}

/* The charts, below what is said of them. */
static tsr_status pictures(tsri_text *out, const tsri_study *s)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < s->files; i++) {
        const char *ending = strrchr(s->file[i], '.');
        if (ending && strcmp(ending, ".svg") == 0)
            TSR_TRY(tsri_text_add(out, "\n![%.*s](%s)\n", (int)(ending - s->file[i]), s->file[i],
                                  s->file[i]));
    }
done:
    return st;
}

/* What differs from the paper's setting, below the pictures. */
static tsr_status settings(tsri_text *out, const tsri_study *s)
{
    tsr_status st = TSR_OK;
    tsri_table t = {0};
    bool any = false;
    tsri_table_head(&t, "differs|in the paper|here");
    for (int64_t i = 0; i < s->settings; i++) {
        const tsri_paper_setting *one = &s->setting[i];
        if (!tsri_paper_setting_departs(one))
            continue;
        tsri_table_text(&t, one->what);
        tsri_table_text(&t, one->paper);
        tsri_table_text(&t, one->here);
        any = true;
    }
    if (any) {
        TSR_TRY(tsri_text_add(out, "\n"));
        TSR_TRY(tsri_table_markdown(out, &t));
    }
done:
    tsri_table_fini(&t);
    return st;
}

static tsr_status claim_lines(tsri_text *out, const tsri_claim *c)
{
    tsr_status st = TSR_OK;
    char rule[TSRI_RULE_TEXT];
    TSR_TRY(tsri_text_add(out, "- **%s:** %s%s *Here:* ", tsri_finding_name[tsri_claim_verdict(c)],
                          c->criterion->ours ? "(Ours.) " : "", c->criterion->paper));
    TSR_TRY(tsri_claim_found(out, c));
    TSR_TRY(tsri_text_add(out, ". *Decided by:* %s, %s (%s).\n", c->criterion->statistic,
                          tsri_rule_text(rule, c->criterion), c->criterion->reason));
done:
    return st;
}

static tsr_status markdown(tsri_text *out, const tsri_study *s)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_text_add(out, "# %s: %s\n\n", s->row->name, s->row->help));
    TSR_TRY(tsri_study_verdict(out, s));
    TSR_TRY(tsri_text_add(out, "%s\n\n",
                          s->quick   ? " (Quick: smaller than the paper's.)"
                          : s->paper ? " (The paper's own setting.)"
                                     : ""));
    for (int64_t i = 0; i < s->claims; i++)
        TSR_TRY(claim_lines(out, &s->claim[i]));
    TSR_TRY(pictures(out, s));
    TSR_TRY(settings(out, s));
    if (s->notes > 0)
        TSR_TRY(tsri_text_add(out, "\nHow it was made:\n\n"));
    for (int64_t i = 0; i < s->notes; i++)
        TSR_TRY(tsri_text_add(out, "- %s\n", s->note[i]));
    if (s->tables.length > 0)
        TSR_TRY(tsri_text_add_bytes(out, s->tables.data, (size_t)s->tables.length));
    TSR_TRY(tsri_text_add(out, "\nFiles:"));
    for (int64_t i = 0; i < s->files; i++)
        TSR_TRY(tsri_text_add(out, "%s `%s`", i ? "," : "", s->file[i]));
    TSR_TRY(tsri_text_add(out, ". Seeds from %llu, %d threads, %.0f s, tessera %s.\n",
                          (unsigned long long)s->seed, tsri_pool_threads(s->pool), s->seconds,
                          tsr_version()));
done:
    return st;
}

static void texts(tsri_json *w, const char *key, char *const *text, int64_t n)
{
    tsri_json_key(w, key);
    tsri_json_open(w, '[');
    for (int64_t i = 0; i < n; i++)
        tsri_json_text(w, text[i]);
    tsri_json_close(w, ']');
}

static void put_counts(tsri_json *w, const char *key, const tsri_study *s, bool ours)
{
    static const char *const name[TSRI_FINDINGS] = {"undecided", "holds", "does_not_hold"};
    tsri_json_key(w, key);
    tsri_json_open(w, '{');
    for (int i = 0; i < TSRI_FINDINGS; i++)
        tsri_json_put_int(w, name[i], tsri_study_count(s, (tsri_finding)i, ours));
    tsri_json_close(w, '}');
}

static void put_part(tsri_json *w, const tsri_claim *c, int64_t i)
{
    const tsri_evidence *p = &c->part[i];
    tsri_estimate e = tsri_part_shows(c, i);
    tsri_json_open(w, '{');
    if (p->name)
        tsri_json_put_text(w, "part", p->name);
    tsri_json_put_text(w, "verdict", tsri_finding_name[tsri_part_verdict(c, i)]);
    tsri_json_put_real(w, "value", e.value);
    tsri_json_put_real(w, "low", e.low);
    tsri_json_put_real(w, "high", e.high);
    tsri_json_key(w, "seeds");
    tsri_json_open(w, '[');
    for (int64_t k = 0; k < p->seeds; k++)
        tsri_json_real(w, p->value[k]);
    tsri_json_close(w, ']');
    if (p->why)
        tsri_json_put_text(w, "why", p->why);
    tsri_json_close(w, '}');
}

static tsr_status put_claim(tsri_json *w, const tsri_claim *c)
{
    tsr_status st = TSR_OK;
    tsri_text found = {0};
    TSR_TRY(tsri_claim_found(&found, c));
    tsri_json_open(w, '{');
    tsri_criteria_json(w, c->criterion);
    tsri_json_put_text(w, "verdict", tsri_finding_name[tsri_claim_verdict(c)]);
    tsri_json_put_text(w, "found", found.data);
    tsri_json_key(w, "parts");
    tsri_json_open(w, '[');
    for (int64_t i = 0; i < c->parts; i++)
        put_part(w, c, i);
    tsri_json_close(w, ']');
    tsri_json_close(w, '}');
done:
    tsri_text_fini(&found);
    return st;
}

static void put_settings(tsri_json *w, const tsri_study *s)
{
    tsri_json_key(w, "settings");
    tsri_json_open(w, '[');
    for (int64_t i = 0; i < s->settings; i++) {
        const tsri_paper_setting *one = &s->setting[i];
        tsri_json_open(w, '{');
        tsri_json_put_text(w, "what", one->what);
        tsri_json_put_text(w, "paper", one->paper);
        tsri_json_put_text(w, "here", one->here);
        tsri_json_put_bool(w, "departs", tsri_paper_setting_departs(one));
        tsri_json_close(w, '}');
    }
    tsri_json_close(w, ']');
}

/* The command that makes it again. */
static tsr_status command(tsri_text *out, const tsri_study *s)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_text_add(out, "tessera reproduce %s%s%s", s->row->name, s->quick ? " --quick" : "",
                          s->paper ? " --paper" : ""));
    for (int64_t i = 0; i < s->options->sets; i++)
        TSR_TRY(tsri_text_add(out, " --set %s", s->options->set[i]));
    if (s->seeds > 0)
        TSR_TRY(tsri_text_add(out, " --seeds %lld", (long long)s->seeds));
    if (s->seed != tsri_study_options_default().seed)
        TSR_TRY(tsri_text_add(out, " --seed %llu", (unsigned long long)s->seed));
    if (s->data)
        TSR_TRY(tsri_text_add(out, " --data %s", tsri_quote(s->data)));
done:
    return st;
}

/* What it was made with: a study with the same is not made twice (tsri_study_done). */
static tsr_status put_origin(tsri_json *w, const tsri_study *s)
{
    tsr_status st = TSR_OK;
    tsri_text again = {0};
    TSR_TRY(command(&again, s));
    tsri_json_put_bool(w, "quick", s->quick);
    tsri_json_put_bool(w, "paper", s->paper);
    tsri_json_put_int(w, "seed", (int64_t)s->seed);
    tsri_json_put_real(w, "seconds", s->seconds);
    tsri_json_put_text(w, "command", again.data);
    tsri_json_put_text(w, "version", tsr_version());
    if (s->options->commit)
        tsri_json_put_text(w, "commit", s->options->commit);
    tsri_json_put_int(w, "threads", tsri_pool_threads(s->pool));
done:
    tsri_text_fini(&again);
    return st;
}

static tsr_status json(tsri_text *out, const tsri_study *s)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    tsri_text verdict = {0};
    tsri_json_begin(&w);
    tsri_json_put_text(&w, "name", s->row->name);
    tsri_json_put_text(&w, "shows", s->row->help);
    TSR_TRY(put_origin(&w, s));
    TSR_TRY(tsri_study_verdict(&verdict, s));
    tsri_json_put_text(&w, "verdict", verdict.data);
    put_counts(&w, "verdicts", s, false);
    put_counts(&w, "ours", s, true);
    tsri_json_key(&w, "claims");
    tsri_json_open(&w, '[');
    for (int64_t i = 0; i < s->claims; i++)
        TSR_TRY(put_claim(&w, &s->claim[i]));
    tsri_json_close(&w, ']');
    put_settings(&w, s);
    texts(&w, "notes", s->note, s->notes);
    texts(&w, "files", s->file, s->files);
    tsri_json_put_text(&w, "folder", s->folder);
    tsri_json_close(&w, '}');
    TSR_TRY(tsri_json_end(&w));
    TSR_TRY(tsri_text_add_bytes(out, w.text.data, (size_t)w.text.length));
    TSR_TRY(tsri_text_add(out, "\n"));
done:
    tsri_text_fini(&verdict);
    tsri_json_fini(&w);
    return st;
}

static tsr_status put(const tsri_study *s, const char *name,
                      tsr_status (*write)(tsri_text *, const tsri_study *))
{
    tsr_status st = TSR_OK;
    tsri_text text = {0};
    char *path = NULL;
    TSR_TRY(write(&text, s));
    TSR_TRY(tsri_path_join(&path, s->folder, name));
    TSR_TRY(tsri_file_write_text(path, text.data));
done:
    tsri_free(path);
    tsri_text_fini(&text);
    return st;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static tsri_study study_of(const tsri_reproduction *row, const tsri_study_options *options)
{
    return (tsri_study){.row = row,
                        .folder = options->folder,
                        .data = options->data,
                        .quick = options->quick,
                        .paper = options->paper,
                        .seeds = options->seeds,
                        .seed = options->seed,
                        .options = options,
                        .began = tsri_clock()};
}

static bool says(const tsri_json_value *summary, const char *key, const char *value)
{
    const char *text = "";
    return tsri_json_as_text(tsri_json_get(summary, key), &text) && strcmp(text, value) == 0;
}

tsr_status tsri_study_done(bool *done_already, const tsri_reproduction *row,
                           const tsri_study_options *options)
{
    tsr_status st = TSR_OK;
    tsri_study s = study_of(row, options);
    tsri_text again = {0};
    tsri_json_value *summary = NULL;
    char *path = NULL, *bytes = NULL;
    int64_t n = 0;
    *done_already = false;
    TSR_TRY(tsri_path_join(&path, options->folder, "summary.json"));
    if (!tsri_file_exists(path))
        goto done;
    TSR_TRY(tsri_file_read(&bytes, &n, path, TSRI_JSON_MOST));
    TSR_TRY(tsri_json_parse(&summary, bytes, n, tsri_quote(path)));
    TSR_TRY(command(&again, &s));
    *done_already = says(summary, "command", again.data) && says(summary, "version", tsr_version());
done:
    tsri_json_destroy(summary);
    tsri_text_fini(&again);
    tsri_free(bytes);
    tsri_free(path);
    return st;
}

/* What the work says that was stopped is of a run, a sweep or a kernel, and names options that
 * studies do not have. */
static tsr_status stopped(const tsri_study *s)
{
    return tsri_fail(TSR_INTERRUPTED,
                     "stopped; what is done is in %s: give the same command again to go on",
                     tsri_quote(s->folder));
}

/* With one seed in all runs of a study every repetition would be the first one again: intervals of
 * width 0, from which everything follows. */
static tsr_status refuse_seeds(const tsri_study_options *options)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < options->sets; i++)
        TSR_CHECK(strncmp(options->set[i], "seed=", 5) != 0, TSR_USAGE,
                  "--set %s: every repetition of a study has a seed of its own; --seed says with "
                  "which they begin",
                  options->set[i]);
done:
    return st;
}

/* --set: another setting than the study's own, in every figure and table. */
static void tell_changes(tsri_study *s)
{
    for (int64_t i = 0; i < s->options->sets; i++) {
        char key[80];
        const char *text = s->options->set[i], *equals = strchr(text, '=');
        (void)snprintf(key, sizeof key, "--set %.*s", (int)(equals ? equals - text : 0), text);
        tsri_study_setting(s, key, "as the study says", "%s", equals ? equals + 1 : "");
    }
}

tsr_status tsri_reproduce(tsri_study *s, const tsri_reproduction *row,
                          const tsri_study_options *options)
{
    tsr_status st = TSR_OK;
    *s = study_of(row, options);
    TSR_CHECK(!options->paper || row->paper, TSR_USAGE,
              "%s has no setting of the paper's beyond its usual one: leave --paper out",
              row->name);
    TSR_CHECK(!options->cells || options->paper, TSR_USAGE,
              "--cells picks parts of studies that are made in cells: add --paper; --list --paper "
              "names what has them");
    TSR_TRY(refuse_seeds(options));
    TSR_TRY(open_folder(s));
    TSR_TRY(tsri_pool_create(&s->pool, options->threads > 0 ? options->threads : tsri_cores()));
    tell_changes(s);
    st = options->paper ? tsri_study_in_cells(s, row->paper) : row->make(s);
    TSR_TRY(st == TSR_INTERRUPTED ? stopped(s) : st);
    TSR_TRY(tsri_study_end(s));
    TSR_TRY(name_the_rest(s));
    s->seconds = tsri_clock() - s->began;
    TSR_TRY(put(s, "summary.md", markdown));
    TSR_TRY(put(s, "summary.json", json));
done:
    return st;
}

void tsri_study_fini(tsri_study *s)
{
    for (int64_t i = 0; i < s->notes; i++)
        tsri_free(s->note[i]);
    for (int64_t i = 0; i < s->files; i++)
        tsri_free(s->file[i]);
    for (int64_t i = 0; i < s->claims; i++)
        tsri_claim_fini(&s->claim[i]);
    for (int64_t i = 0; i < s->settings; i++) {
        tsri_free(s->setting[i].what);
        tsri_free(s->setting[i].paper);
        tsri_free(s->setting[i].here);
    }
    tsri_free(s->setting);
    tsri_free(s->note);
    tsri_free(s->file);
    tsri_free(s->claim);
    tsri_text_fini(&s->tables);
    tsri_pool_destroy(s->pool);
    *s = (tsri_study){0};
}
