/* cmd_reproduce.c - tessera reproduce: a figure or table of the papers, made again and judged. */
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "cli/training.h"

#include "base/alloc.h"
#include "base/status.h"
#include "base/text.h"
#include "io/file.h"
#include "io/json.h"
#include "report/png.h"
#include "reproduce/gallery.h"

#include <stdio.h>
#include <string.h>

enum { MOST_NAMES = 200 };

static int64_t all_names(const char *name[MOST_NAMES])
{
    int64_t count = 0;
    for (int i = 0; tsri_reproductions[i]; i++)
        for (const tsri_reproduction *r = tsri_reproductions[i]; r->name && count < MOST_NAMES; r++)
            name[count++] = r->name;
    return count;
}

static const char *nth_name(int64_t i)
{
    const char *name[MOST_NAMES];
    int64_t count = all_names(name);
    return i < count ? name[i] : i == count ? "all" : NULL;
}

/* ---- The list -------------------------------------------------------------------------------- */

/* What decides the claims of that study. */
static void put_criteria(tsri_json *w, const char *study)
{
    tsri_json_key(w, "criteria");
    tsri_json_open(w, '[');
    for (const tsri_criteria_row *c = tsri_criteria_table; c->id; c++) {
        if (!tsri_criteria_of(c, study))
            continue;
        tsri_json_open(w, '{');
        tsri_criteria_json(w, c);
        tsri_json_close(w, '}');
    }
    tsri_json_close(w, ']');
}

static tsr_status list_json(const tsri_reproduction *only)
{
    tsri_json w = {0};
    tsri_json_begin(&w);
    tsri_json_key(&w, "reproductions");
    tsri_json_open(&w, '[');
    for (int i = 0; tsri_reproductions[i]; i++)
        for (const tsri_reproduction *r = tsri_reproductions[i]; r->name; r++) {
            if (only && r != only)
                continue;
            tsri_json_open(&w, '{');
            tsri_json_put_text(&w, "name", r->name);
            tsri_json_put_text(&w, "shows", r->help);
            put_criteria(&w, r->name);
            tsri_json_close(&w, '}');
        }
    tsri_json_close(&w, ']');
    tsri_json_close(&w, '}');
    return cli_json_print(&w);
}

static tsr_status list_text(void)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    cli_table_head(&t, 2, "name", "shows");
    for (int i = 0; tsri_reproductions[i]; i++)
        for (const tsri_reproduction *r = tsri_reproductions[i]; r->name; r++) {
            cli_table_text(&t, r->name);
            cli_table_text(&t, r->help);
        }
    TSR_TRY(cli_table_print(&t, stdout));
done:
    cli_table_fini(&t);
    return st;
}

/* What decides each claim of one study. */
static void list_criteria(const tsri_reproduction *row)
{
    char rule[TSRI_RULE_TEXT], line[600];
    (void)printf("%s: %s\n", row->name, row->help);
    for (const tsri_criteria_row *c = tsri_criteria_table; c->id; c++) {
        if (!tsri_criteria_of(c, row->name))
            continue;
        (void)printf("  %s\n    ", c->id);
        cli_wrap(stdout, c->paper, 4, cli_width(stdout));
        (void)snprintf(line, sizeof line, "decided by: %s, %s (%s)%s", c->statistic,
                       tsri_rule_text(rule, c), c->reason,
                       c->ours ? "; ours, not the paper's" : "");
        (void)printf("    ");
        cli_wrap(stdout, line, 4, cli_width(stdout));
    }
}

/* The cells of its --paper. */
static tsr_status list_cells(const tsri_reproduction *row, const tsri_study_options *o)
{
    tsr_status st = TSR_OK;
    tsri_text names = {0};
    TSR_TRY(tsri_study_cells(&names, row, o));
    (void)fputs(names.data, stdout);
done:
    tsri_text_fini(&names);
    return st;
}

/* ---- Making one ------------------------------------------------------------------------------ */

static void say(void *context, double part, const char *text)
{
    (void)context;
    cli_say("%3.0f %%  %s", 100 * part, text);
}

static tsr_status find(const tsri_reproduction **out, const char *name)
{
    tsr_status st = TSR_OK;
    const char *known[MOST_NAMES];
    *out = tsri_reproduction_find(name);
    const char *near = *out ? NULL : tsri_nearest(name, known, all_names(known));
    TSR_CHECK(*out, TSR_USAGE,
              "there is nothing called %s to reproduce%s%s%s; tessera reproduce --list names all",
              tsri_quote(name), near ? ": did you mean " : "", near ? near : "", near ? "?" : "");
done:
    return st;
}

/* "reproduce/masked-fig2a" */
static tsr_status usual_folder(tsri_text *out, const tsri_reproduction *row, bool paper)
{
    tsr_status st = TSR_OK;
    char *name = NULL;
    TSR_TRY(tsri_study_folder_name(&name, row, paper));
    TSR_TRY(tsri_text_add(out, "reproduce/%s", name));
done:
    tsri_free(name);
    return st;
}

static tsr_status tell_claim(const tsri_claim *c)
{
    tsr_status st = TSR_OK;
    tsri_text found = {0}, paper = {0};
    char rule[TSRI_RULE_TEXT];
    TSR_TRY(
        tsri_text_add(&paper, "%s%s", c->criterion->ours ? "(Ours.) " : "", c->criterion->paper));
    TSR_TRY(tsri_claim_found(&found, c));
    TSR_TRY(tsri_text_add(&found, " (asked: %s)", tsri_rule_text(rule, c->criterion)));
    (void)printf("  %-14s ", tsri_finding_name[tsri_claim_verdict(c)]);
    cli_wrap(stdout, paper.data, 17, cli_width(stdout));
    (void)printf("%17shere: ", "");
    cli_wrap(stdout, found.data, 23, cli_width(stdout));
done:
    tsri_text_fini(&found);
    tsri_text_fini(&paper);
    return st;
}

/* What the paper gives and is otherwise here; then what it does not give. */
static tsr_status tell_settings(const tsri_study *s)
{
    tsr_status st = TSR_OK;
    tsri_text line = {0};
    for (int64_t i = 0; i < 2 * s->settings; i++) {
        const tsri_paper_setting *one = &s->setting[i % s->settings];
        bool given = strncmp(one->paper, "not given", strlen("not given")) != 0;
        if (!tsri_paper_setting_departs(one) || given != (i < s->settings))
            continue;
        line.length = 0;
        TSR_TRY(tsri_text_add(&line, "%s: %s (%s%s)", one->what, one->here,
                              given ? "the paper: " : "", one->paper));
        (void)printf("  %-14s ", given ? "differs" : "chosen");
        cli_wrap(stdout, line.data, 17, cli_width(stdout));
    }
done:
    tsri_text_fini(&line);
    return st;
}

static tsr_status tell(const cli_args *args, const tsri_study *s)
{
    tsr_status st = TSR_OK;
    tsri_text path = {0}, verdict = {0};
    char *text = NULL;
    int64_t n = 0;
    TSR_TRY(tsri_text_add(&path, "%s/summary.json", s->folder));
    if (args->json) {
        TSR_TRY(tsri_file_read(&text, &n, path.data, TSRI_JSON_MOST));
        (void)fputs(text, stdout);
        goto done;
    }
    TSR_TRY(tsri_study_verdict(&verdict, s));
    (void)printf("%s: %s\n", s->row->name, verdict.data);
    for (int64_t i = 0; i < s->claims; i++)
        TSR_TRY(tell_claim(&s->claim[i]));
    TSR_TRY(tell_settings(s));
    (void)printf("in %s: summary.md", s->folder);
    for (int64_t i = 0; i < s->files; i++)
        (void)printf(", %s", s->file[i]);
    (void)printf("\n");
    if (!tsri_png_available())
        (void)printf("no PNG: the program was built without librsvg (librsvg2-dev)\n");
done:
    tsri_free(text);
    tsri_text_fini(&path);
    tsri_text_fini(&verdict);
    return st;
}

enum { MOST_SETS = 64 };

static tsri_study_options options_of(const cli_args *args, const char *set[MOST_SETS])
{
    tsri_study_options o = tsri_study_options_default();
    while (o.sets < MOST_SETS && (set[o.sets] = cli_nth(args, "set", o.sets)) != NULL)
        o.sets++;
    o.set = set;
    o.paper = cli_has(args, "paper");
    o.cells = cli_text(args, "cells");
    o.data = cli_text(args, "data");
    o.quick = cli_has(args, "quick");
    o.seeds = cli_int(args, "seeds", 0);
    o.seed = (uint64_t)cli_int(args, "seed", 1);
    o.threads = (int)cli_int(args, "threads", 0);
    o.commit = cli_text(args, "commit");
    o.say = args->quiet ? NULL : say;
    return o;
}

static tsr_status make_one(const cli_args *args, const tsri_reproduction *row)
{
    tsr_status st = TSR_OK;
    tsri_study study = {0};
    tsri_text folder = {0};
    const char *set[MOST_SETS];
    tsri_study_options o = options_of(args, set);
    TSR_TRY(usual_folder(&folder, row, o.paper));
    o.folder = cli_text(args, "out") ? cli_text(args, "out") : folder.data;
    TSR_TRY(tsri_reproduce(&study, row, &o));
    TSR_TRY(tell(args, &study));
done:
    tsri_study_fini(&study);
    tsri_text_fini(&folder);
    return st;
}

/* ---- All of them ------------------------------------------------------------------------------ */

static void tell_one(void *context, const tsri_reproduction *row, const tsri_study *study,
                     tsr_status st)
{
    const cli_args *args = context;
    tsri_text verdict = {0};
    if (st != TSR_OK)
        cli_say("%s was not made: %s", row->name, tsr_last_error());
    else if (!study)
        cli_say("%s is done already", row->name);
    else if (!args->json && tsri_study_verdict(&verdict, study) == TSR_OK)
        (void)printf("%s: %s\n", row->name, verdict.data);
    tsri_text_fini(&verdict);
}

/* Where the page and the table of a folder are now. */
static tsr_status tell_index(const cli_args *args, const char *folder, int64_t shown)
{
    tsri_json w = {0};
    tsri_text path = {0};
    tsr_status st = TSR_OK;
    if (!args->json) {
        (void)printf("in %s: index.html and results.md of %lld studies\n", folder,
                     (long long)shown);
        goto done;
    }
    tsri_json_begin(&w);
    tsri_json_put_int(&w, "studies", shown);
    TSR_TRY(tsri_text_add(&path, "%s/index.html", folder));
    tsri_json_put_text(&w, "page", path.data);
    path.length = 0;
    TSR_TRY(tsri_text_add(&path, "%s/results.md", folder));
    tsri_json_put_text(&w, "results", path.data);
    tsri_json_close(&w, '}');
    TSR_TRY(cli_json_print(&w));
done:
    tsri_text_fini(&path);
    return st;
}

static tsr_status show_index(const cli_args *args, const char *folder)
{
    tsr_status st = TSR_OK;
    int64_t shown = 0;
    TSR_TRY(tsri_gallery_write(&shown, folder));
    if (cli_has(args, "gallery"))
        TSR_TRY(tsri_gallery_pictures(folder, cli_text(args, "gallery")));
    TSR_TRY(tell_index(args, folder, shown));
done:
    return st;
}

static tsr_status make_all(const cli_args *args)
{
    tsr_status st = TSR_OK;
    const char *set[MOST_SETS];
    tsri_study_options o = options_of(args, set);
    cli_args told = *args;
    o.folder = cli_text(args, "out") ? cli_text(args, "out") : "reproduce";
    o.context = &told;
    TSR_TRY(tsri_reproduce_all(&o, tell_one));
    TSR_TRY(show_index(args, o.folder));
done:
    return st;
}

static tsr_status list(const cli_args *args, const tsri_reproduction *row)
{
    const char *set[MOST_SETS];
    tsri_study_options o = options_of(args, set);
    if (o.paper)
        return list_cells(row, &o);
    if (args->json)
        return list_json(row);
    if (!row)
        return list_text();
    list_criteria(row);
    return TSR_OK;
}

static bool row_given(const cli_args *args)
{
    return args->count == 1 && strcmp(args->operand[0], "all") != 0;
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    const tsri_reproduction *row = NULL;
    const char *index = cli_text(args, "index");
    bool all = args->count == 1 && !row_given(args);
    TSR_CHECK(!index || args->count == 0, TSR_USAGE,
              "--index makes the page of studies that are there: it takes no name");
    TSR_CHECK(!cli_has(args, "gallery") || index || all, TSR_USAGE,
              "--gallery shows the studies of a folder: give it with --index DIR or all");
    TSR_CHECK(!all || !cli_has(args, "data"), TSR_USAGE,
              "all takes the papers' own data, which differ: --data is for one study");
    TSR_CHECK(!cli_has(args, "paper") || (row_given(args) && !cli_has(args, "quick")), TSR_USAGE,
              "--paper is the size of one study: give its name, and leave --quick out");
    TSR_CHECK(!cli_nth(args, "set", MOST_SETS), TSR_USAGE, "at most %d --set are taken", MOST_SETS);
    if (args->count == 1 && !all)
        TSR_TRY(find(&row, args->operand[0]));
    cli_catch_signals(); /* the run that is being trained saves and stops */
    if (cli_has(args, "list"))
        st = list(args, row);
    else if (index)
        st = show_index(args, index);
    else if (all)
        st = make_all(args);
    else if (row)
        st = make_one(args, row);
    else
        st = tsri_fail(TSR_USAGE, "which one? give its name, or all; tessera reproduce --list "
                                  "names them");
done:
    return st;
}

static const cli_option options[] = {
    {"list", 'l', NULL, CLI_FLAG,
     .help = "name everything that can be reproduced; with NAME: what decides its claims"},
    {"quick", 0, NULL, CLI_FLAG, .help = "small sizes: minutes on two cores"},
    {"paper", 0, NULL, CLI_FLAG,
     .help = "the paper's own setting, told in full before it begins; made in cells"},
    {"cells", 0, "PATTERNS", CLI_TEXT,
     .help = "with --paper: make only these cells, as a shell matches names, between commas"},
    CLI_OPTION_SET,
    {"out", 'o', "DIR", CLI_FOLDER, .help = "where to put it (default: reproduce/NAME)"},
    {"data", 'd', "NAME|PATH", CLI_DATA,
     .help = "other data than the paper's, or where those are: a file or a folder"},
    {"seeds", 0, "N", CLI_INT, .help = "repetitions with different seeds", .least = 1,
     .most = 1000},
    {"seed", 0, "N", CLI_INT, .help = "the first seed", .least = 0, .most = 1e15},
    {"threads", 0, "N", CLI_INT, .help = "threads; all cores when not given", .least = 1,
     .most = 4096},
    {"index", 0, "DIR", CLI_FOLDER,
     .help = "make index.html and results.md of the studies that are in DIR"},
    {"gallery", 0, "PAGE", CLI_FOLDER,
     .help = "with --index or all: also PAGE/README.md, their pictures with the verdicts"},
    {"commit", 0, "TEXT", CLI_TEXT, .help = "which program made it, for the summary and the page"},
    {0},
};

const cli_command cli_reproduce = {
    .name = "reproduce",
    .help = "make a figure or table of the papers again and judge it",
    .synopsis = "NAME|all",
    .least = 0,
    .most = 1,
    .operand = CLI_TEXT,
    .names = nth_name,
    .options = options,
    .details =
        "The folder then holds each picture as SVG, PNG and CSV, and summary.md: what the paper "
        "says, what was measured, and the verdict: holds, does not hold, or undecided (the "
        "interval over the seeds contains the bound, there are fewer than three seeds, or it was "
        "not measured). What decides a claim is fixed beforehand: --list NAME shows it. "
        "Differences from the paper's setting are listed with the figure. A claim that does not "
        "hold is a result, not an error: the exit code is 0.\n\n"
        "Runs that it needs are kept in the folder. Stopped and called again, it goes on where it "
        "was.\n\n"
        "--paper is the paper's own setting, made in cells (--list --paper names them): each is a "
        "file in DIR/cells, which may be made on another machine and copied there.\n\n"
        "all makes every one of them in DIR/paper-figure (DIR: --out, or reproduce), goes on when "
        "one cannot be made, leaves alone what is done, and writes DIR/index.html, a page of all "
        "pictures and verdicts, and DIR/results.md. Studies made elsewhere can be copied into DIR: "
        "--index DIR writes both files again.",
    .run = run,
};
