/* gallery_pictures.c - the pictures of all studies with their verdicts, as one page in Markdown
 * that a code host shows. The pictures stay where the studies are; the page links to them. */
#include "reproduce/gallery.h"

#include "base/alloc.h"
#include "io/file.h"
#include "report/report_parts.h"
#include "reproduce/judge.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct wall {
    tsri_text text;   /* the studies, one after the other */
    const char *link; /* from the page's folder to that of the studies */
    int64_t shown, all;
    int64_t verdicts[TSRI_FINDINGS];
} wall;

/* ---- Where the studies are, seen from the page ------------------------------------------------ */

static tsr_status whole_path(char out[PATH_MAX], const char *path)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(realpath(path, out), TSR_USAGE, "there is no folder %s", tsri_quote(path));
done:
    return st;
}

/* From docs/gallery to docs/results it is ../results. */
static tsr_status way(tsri_text *out, const char *from, const char *to)
{
    tsr_status st = TSR_OK;
    char a[PATH_MAX], b[PATH_MAX];
    size_t common = 0;
    TSR_TRY(whole_path(a, from));
    TSR_TRY(whole_path(b, to));
    for (size_t i = 0;; i++) {
        bool end_a = a[i] == '\0' || a[i] == '/', end_b = b[i] == '\0' || b[i] == '/';
        if (end_a && end_b)
            common = i;
        if (a[i] != b[i] || a[i] == '\0')
            break;
    }
    for (const char *p = a + common; *p; p++)
        if (*p == '/' && p[1])
            TSR_TRY(tsri_text_add(out, "../"));
    TSR_TRY(tsri_text_add(out, "%s", b[common] == '/' ? b + common + 1 : b + common));
done:
    return st;
}

/* ---- A study ---------------------------------------------------------------------------------- */

static tsr_status hang_pictures(wall *w, const char *name, const tsri_json_value *files)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < tsri_json_length(files); i++) {
        const char *file = "", *ending;
        (void)tsri_json_as_text(tsri_json_at(files, i), &file);
        ending = strrchr(file, '.');
        if (ending && strcmp(ending, ".svg") == 0 && !strpbrk(file, "/()[]\n"))
            TSR_TRY(tsri_text_add(&w->text, "![%s of %s](%s/%s/%s)\n\n", file, name, w->link, name,
                                  file));
    }
done:
    return st;
}

static void count(wall *w, const char *verdict)
{
    for (int k = 0; k < TSRI_FINDINGS; k++)
        w->verdicts[k] += strcmp(verdict, tsri_finding_name[k]) == 0;
}

static tsr_status hang_verdicts(wall *w, const tsri_json_value *claims)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_text_add(&w->text, "| verdict | the paper |\n|---|---|\n"));
    for (int64_t i = 0; i < tsri_json_length(claims); i++) {
        const tsri_json_value *c = tsri_json_at(claims, i);
        bool ours = false;
        (void)tsri_json_as_bool(tsri_json_get(c, "ours"), &ours);
        TSR_TRY(tsri_text_add(&w->text, "| **%s**%s |", tsri_text_at(c, "verdict"),
                              ours ? " (ours)" : ""));
        TSR_TRY(tsri_markdown_cell(&w->text, tsri_text_at(c, "paper")));
        TSR_TRY(tsri_text_add(&w->text, "\n"));
        count(w, tsri_text_at(c, "verdict"));
    }
done:
    return st;
}

/* A study in the paper's own setting is optional: it is not reported as missing. */
static tsr_status hang(wall *w, const tsri_reproduction *row, const char *folder, bool paper)
{
    tsr_status st = TSR_OK;
    char *name = NULL, *path = NULL;
    tsri_json_value *summary = NULL;
    TSR_TRY(tsri_study_folder_name(&name, row, paper));
    TSR_TRY(tsri_path_join(&path, folder, name));
    TSR_TRY(tsri_page_json(&summary, &(tsri_page){.folder = path}, "summary.json"));
    w->all += !paper || summary;
    if (!summary)
        goto done;
    w->shown++;
    TSR_TRY(tsri_text_add(&w->text, "\n## %s%s\n%c%s.\n\n", row->name, paper ? " --paper" : "",
                          toupper((unsigned char)row->help[0]), row->help + 1));
    TSR_TRY(hang_pictures(w, name, tsri_json_get(summary, "files")));
    TSR_TRY(hang_verdicts(w, tsri_json_get(summary, "claims")));
done:
    tsri_json_destroy(summary);
    tsri_free(path);
    tsri_free(name);
    return st;
}

/* ---- The page --------------------------------------------------------------------------------- */

static tsr_status head(tsri_text *out, const wall *w)
{
    return tsri_text_add(
        out,
        "# Gallery\n\nThe papers' figures and tables, made again, each with the verdict on what "
        "the "
        "paper says of it.\n%lld of %lld studies are here: %lld claims hold, %lld do not, %lld are "
        "undecided.\n\nWritten by `tessera reproduce --index STUDIES --gallery FOLDER`. The "
        "numbers behind each verdict:\n[results](%s/results.md). How claims are judged, and what "
        "\"quick\" studies leave out:\n`tessera reproduce --list NAME`.\n",
        (long long)w->shown, (long long)w->all, (long long)w->verdicts[TSRI_FINDING_HOLDS],
        (long long)w->verdicts[TSRI_FINDING_FAILS], (long long)w->verdicts[TSRI_FINDING_UNDECIDED],
        w->link);
}

tsr_status tsri_gallery_pictures(const char *folder, const char *page)
{
    tsr_status st = TSR_OK;
    tsri_text link = {0}, whole = {0};
    wall w = {0};
    char *path = NULL;
    TSR_TRY(tsri_make_folder(page));
    TSR_TRY(way(&link, page, folder));
    w.link = link.data;
    for (int i = 0; tsri_reproductions[i]; i++)
        for (const tsri_reproduction *r = tsri_reproductions[i]; r->name; r++)
            for (int paper = 0; paper < (r->paper ? 2 : 1); paper++)
                TSR_TRY(hang(&w, r, folder, paper == 1));
    TSR_TRY(head(&whole, &w));
    TSR_TRY(tsri_text_add(&whole, "%s", w.text.data ? w.text.data : ""));
    TSR_TRY(tsri_path_join(&path, page, "README.md"));
    TSR_TRY(tsri_file_write_text(path, whole.data));
done:
    tsri_free(path);
    tsri_text_fini(&whole);
    tsri_text_fini(&w.text);
    tsri_text_fini(&link);
    return st;
}
