/* reproduce.c - a reproduction from its row to its folder: prepare, make, summarise. */
#include "reproduce/reproduce.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "io/file.h"
#include "io/json.h"

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

static int64_t kept(const tsri_study *s)
{
    int64_t count = 0;
    for (int64_t i = 0; i < s->claims; i++)
        count += s->claim[i].holds;
    return count;
}

tsr_status tsri_study_verdict(tsri_text *out, const tsri_study *s)
{
    int64_t held = kept(s);
    if (s->claims == 0)
        return tsri_text_add(out, "Nothing the paper says was put to the test.");
    if (s->claims == 1)
        return tsri_text_add(out, held ? "What the paper says holds here."
                                       : "What the paper says does not hold here.");
    if (held == 2 && s->claims == 2)
        return tsri_text_add(out, "Both things that the paper says hold here.");
    if (held == s->claims)
        return tsri_text_add(out, "All %lld things that the paper says hold here.",
                             (long long)held);
    return tsri_text_add(out, "Of %lld things that the paper says %lld hold%s here.",
                         (long long)s->claims, (long long)held, held == 1 ? "s" : "");
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

static tsr_status markdown(tsri_text *out, const tsri_study *s)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_text_add(out, "# %s: %s\n\n", s->row->name, s->row->help));
    TSR_TRY(tsri_study_verdict(out, s));
    TSR_TRY(tsri_text_add(out, "%s\n\n", s->quick ? " (Quick: smaller than the paper's.)" : ""));
    for (int64_t i = 0; i < s->claims; i++)
        TSR_TRY(tsri_text_add(out, "- **%s** %s *Here:* %s.\n",
                              s->claim[i].holds ? "holds:" : "does not hold:", s->claim[i].paper,
                              s->claim[i].found));
    TSR_TRY(pictures(out, s));
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

static tsr_status json(tsri_text *out, const tsri_study *s)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    tsri_json_begin(&w);
    tsri_json_put_text(&w, "name", s->row->name);
    tsri_json_put_text(&w, "shows", s->row->help);
    tsri_json_put_bool(&w, "quick", s->quick);
    tsri_json_put_int(&w, "seed", (int64_t)s->seed);
    tsri_json_put_real(&w, "seconds", s->seconds);
    tsri_json_put_bool(&w, "holds", s->claims > 0 && kept(s) == s->claims);
    tsri_json_key(&w, "claims");
    tsri_json_open(&w, '[');
    for (int64_t i = 0; i < s->claims; i++) {
        tsri_json_open(&w, '{');
        tsri_json_put_text(&w, "paper", s->claim[i].paper);
        tsri_json_put_text(&w, "found", s->claim[i].found);
        tsri_json_put_bool(&w, "holds", s->claim[i].holds);
        tsri_json_close(&w, '}');
    }
    tsri_json_close(&w, ']');
    texts(&w, "notes", s->note, s->notes);
    texts(&w, "files", s->file, s->files);
    tsri_json_put_text(&w, "folder", s->folder);
    tsri_json_close(&w, '}');
    TSR_TRY(tsri_json_end(&w));
    TSR_TRY(tsri_text_add_bytes(out, w.text.data, (size_t)w.text.length));
    TSR_TRY(tsri_text_add(out, "\n"));
done:
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

tsr_status tsri_reproduce(tsri_study *s, const tsri_reproduction *row,
                          const tsri_study_options *options)
{
    tsr_status st = TSR_OK;
    *s = (tsri_study){.row = row,
                      .folder = options->folder,
                      .data = options->data,
                      .quick = options->quick,
                      .seeds = options->seeds,
                      .seed = options->seed,
                      .options = options,
                      .began = tsri_clock()};
    TSR_TRY(open_folder(s));
    TSR_TRY(tsri_pool_create(&s->pool, options->threads > 0 ? options->threads : tsri_cores()));
    TSR_TRY(row->make(s));
    TSR_TRY(tsri_study_end(s));
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
    for (int64_t i = 0; i < s->claims; i++) {
        tsri_free(s->claim[i].paper);
        tsri_free(s->claim[i].found);
    }
    tsri_free(s->note);
    tsri_free(s->file);
    tsri_free(s->claim);
    tsri_text_fini(&s->tables);
    tsri_pool_destroy(s->pool);
    *s = (tsri_study){0};
}
