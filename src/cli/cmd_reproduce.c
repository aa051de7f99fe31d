/* cmd_reproduce.c - tessera reproduce: a figure or table of the papers, made again and judged. */
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "cli/string.h"
#include "cli/training.h"

#include <stdio.h>
#include <string.h>

static const char *nth_name(int64_t i)
{
    const char *name = tsr_study_name(i);
    return name ? name : i > 0 && tsr_study_name(i - 1) ? "all" : NULL;
}

/* ---- The list -------------------------------------------------------------------------------- */

static tsr_status list_text(const tsr_doc *doc)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    const tsr_doc *all = tsr_doc_get(doc, "reproductions");
    cli_table_head(&t, 2, "name", "shows");
    for (int64_t i = 0; i < tsr_doc_count(all); i++) {
        cli_table_text(&t, tsr_doc_text(tsr_doc_at(all, i), "name"));
        cli_table_text(&t, tsr_doc_text(tsr_doc_at(all, i), "shows"));
    }
    TSR_TRY(cli_table_print(&t, stdout));
done:
    cli_table_fini(&t);
    return st;
}

/* What decides each claim of one study. */
static tsr_status list_criteria(const tsr_doc *doc)
{
    char line[600];
    const tsr_doc *row = tsr_doc_at(tsr_doc_get(doc, "reproductions"), 0);
    const tsr_doc *criteria = tsr_doc_get(row, "criteria");
    (void)printf("%s: %s\n", tsr_doc_text(row, "name"), tsr_doc_text(row, "shows"));
    for (int64_t i = 0; i < tsr_doc_count(criteria); i++) {
        const tsr_doc *c = tsr_doc_at(criteria, i);
        (void)printf("  %s\n    ", tsr_doc_text(c, "id"));
        cli_wrap(stdout, tsr_doc_text(c, "paper"), 4, cli_width(stdout));
        (void)snprintf(line, sizeof line, "decided by: %s, %s (%s)%s", tsr_doc_text(c, "statistic"),
                       tsr_doc_text(c, "decided"), tsr_doc_text(c, "reason"),
                       tsr_doc_bool(c, "ours") ? "; ours, not the paper's" : "");
        (void)printf("    ");
        cli_wrap(stdout, line, 4, cli_width(stdout));
    }
    return TSR_OK;
}

/* ---- Making one ------------------------------------------------------------------------------ */

static void say(void *context, double part, const char *text)
{
    (void)context;
    cli_say("%3.0f %%  %s", 100 * part, text);
}

/* "reproduce/masked-fig2a": the name's slash would be a folder. */
static tsr_status usual_folder(cli_string *out, const char *name, bool paper)
{
    tsr_status st = TSR_OK;
    TSR_TRY(cli_string_add(out, "reproduce/"));
    for (; *name; name++)
        TSR_TRY(cli_string_add(out, "%c", *name == '/' ? '-' : *name));
    TSR_TRY(cli_string_add(out, "%s", paper ? "-paper" : ""));
done:
    return st;
}

static tsr_status tell_claim(const tsr_doc *c)
{
    tsr_status st = TSR_OK;
    cli_string found = {0}, paper = {0};
    TSR_TRY(cli_string_add(&paper, "%s%s", tsr_doc_bool(c, "ours") ? "(Ours.) " : "",
                           tsr_doc_text(c, "paper")));
    TSR_TRY(cli_string_add(&found, "%s (asked: %s)", tsr_doc_text(c, "found"),
                           tsr_doc_text(c, "decided")));
    (void)printf("  %-14s ", tsr_doc_text(c, "verdict"));
    cli_wrap(stdout, paper.data, 17, cli_width(stdout));
    (void)printf("%17shere: ", "");
    cli_wrap(stdout, found.data, 23, cli_width(stdout));
done:
    cli_string_fini(&found);
    cli_string_fini(&paper);
    return st;
}

/* What the paper gives and is otherwise here; then what it does not give. */
static tsr_status tell_settings(const tsr_doc *settings)
{
    tsr_status st = TSR_OK;
    cli_string line = {0};
    int64_t count = tsr_doc_count(settings);
    for (int64_t i = 0; i < 2 * count; i++) {
        const tsr_doc *one = tsr_doc_at(settings, i % count);
        const char *paper = tsr_doc_text(one, "paper");
        bool given = strncmp(paper, "not given", strlen("not given")) != 0;
        if (!tsr_doc_bool(one, "departs") || given != (i < count))
            continue;
        line.length = 0;
        TSR_TRY(cli_string_add(&line, "%s: %s (%s%s)", tsr_doc_text(one, "what"),
                               tsr_doc_text(one, "here"), given ? "the paper: " : "", paper));
        (void)printf("  %-14s ", given ? "differs" : "chosen");
        cli_wrap(stdout, line.data, 17, cli_width(stdout));
    }
done:
    cli_string_fini(&line);
    return st;
}

static tsr_status tell(const tsr_doc *s)
{
    tsr_status st = TSR_OK;
    const tsr_doc *claims = tsr_doc_get(s, "claims"), *files = tsr_doc_get(s, "files");
    (void)printf("%s: %s\n", tsr_doc_text(s, "name"), tsr_doc_text(s, "verdict"));
    for (int64_t i = 0; i < tsr_doc_count(claims); i++)
        TSR_TRY(tell_claim(tsr_doc_at(claims, i)));
    TSR_TRY(tell_settings(tsr_doc_get(s, "settings")));
    (void)printf("in %s: summary.md", tsr_doc_text(s, "folder"));
    for (int64_t i = 0; i < tsr_doc_count(files); i++)
        (void)printf(", %s", tsr_doc_text(tsr_doc_at(files, i), NULL));
    (void)printf("\n");
    if (!cli_built_with("png"))
        (void)printf("no PNG: the program was built without librsvg (librsvg2-dev)\n");
done:
    return st;
}

enum { MOST_SETS = 64 };

static tsr_study_options options_of(const cli_args *args, const char *set[MOST_SETS])
{
    tsr_study_options o = tsr_study_options_default();
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

static tsr_status make_one(const cli_args *args, const char *name)
{
    tsr_status st = TSR_OK;
    char *json = NULL;
    cli_string folder = {0};
    const char *set[MOST_SETS];
    tsr_study_options o = options_of(args, set);
    TSR_TRY(usual_folder(&folder, name, o.paper));
    o.folder = cli_text(args, "out") ? cli_text(args, "out") : folder.data;
    TSR_TRY(tsr_reproduce(&json, name, &o));
    if (args->json)
        (void)fputs(json, stdout);
    else
        TSR_TRY(cli_show(args, json, tell));
done:
    tsr_free(json);
    cli_string_fini(&folder);
    return st;
}

/* ---- All of them ------------------------------------------------------------------------------ */

static void tell_one(void *context, const char *name, const char *verdict, tsr_status st)
{
    const cli_args *args = context;
    if (st != TSR_OK)
        cli_say("%s was not made: %s", name, tsr_last_error());
    else if (!verdict)
        cli_say("%s is done already", name);
    else if (!args->json)
        (void)printf("%s: %s\n", name, verdict);
}

/* Where the page and the table of a folder are now. */
static tsr_status show_index(const cli_args *args, const char *folder)
{
    tsr_status st = TSR_OK;
    char *json = NULL;
    tsr_doc *doc = NULL;
    TSR_TRY(tsr_study_index(&json, folder));
    if (cli_has(args, "gallery"))
        TSR_TRY(tsr_study_gallery(folder, cli_text(args, "gallery")));
    if (args->json) {
        (void)puts(json);
        goto done;
    }
    TSR_TRY(tsr_doc_parse(&doc, json));
    (void)printf("in %s: index.html and results.md of %lld studies\n", folder,
                 (long long)tsr_doc_int(doc, "studies"));
done:
    tsr_doc_destroy(doc);
    tsr_free(json);
    return st;
}

static tsr_status make_all(const cli_args *args)
{
    tsr_status st = TSR_OK;
    const char *set[MOST_SETS];
    tsr_study_options o = options_of(args, set);
    cli_args told = *args;
    o.folder = cli_text(args, "out") ? cli_text(args, "out") : "reproduce";
    o.made = tell_one;
    o.context = &told;
    TSR_TRY(tsr_reproduce_all(&o));
    TSR_TRY(show_index(args, o.folder));
done:
    return st;
}

static tsr_status list(const cli_args *args, const char *name)
{
    tsr_status st = TSR_OK;
    const char *set[MOST_SETS];
    char *text = NULL;
    tsr_study_options o = options_of(args, set);
    if (o.paper) {
        TSR_TRY(tsr_study_cells(&text, name, &o));
        (void)fputs(text, stdout);
    } else {
        TSR_TRY(tsr_study_list(&text, name));
        TSR_TRY(cli_show(args, text, name ? list_criteria : list_text));
    }
done:
    tsr_free(text);
    return st;
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    const char *index = cli_text(args, "index");
    bool all = args->count == 1 && strcmp(args->operand[0], "all") == 0;
    const char *name = args->count == 1 && !all ? args->operand[0] : NULL;
    TSR_CHECK(!index || args->count == 0, TSR_USAGE,
              "--index makes the page of studies that are there: it takes no name");
    TSR_CHECK(!cli_has(args, "gallery") || index || all, TSR_USAGE,
              "--gallery shows the studies of a folder: give it with --index DIR or all");
    TSR_CHECK(!all || !cli_has(args, "data"), TSR_USAGE,
              "all takes the papers' own data, which differ: --data is for one study");
    TSR_CHECK(!cli_has(args, "paper") ||
                  ((name || (cli_has(args, "list") && !all)) && !cli_has(args, "quick")),
              TSR_USAGE, "--paper is the size of one study: give its name, and leave --quick out");
    TSR_CHECK(!cli_nth(args, "set", MOST_SETS), TSR_USAGE, "at most %d --set are taken", MOST_SETS);
    cli_catch_signals(); /* the run that is being trained saves and stops */
    if (cli_has(args, "list"))
        st = list(args, name);
    else if (index)
        st = show_index(args, index);
    else if (all)
        st = make_all(args);
    else if (name)
        st = make_one(args, name);
    else
        st = tsr_fail(TSR_USAGE, "which one? give its name, or all; tessera reproduce --list "
                                 "names them");
done:
    return st;
}

static const cli_option options[] = {
    {"list", 'l', NULL, CLI_FLAG,
     .help = "list everything that can be reproduced; with NAME: what decides its claims; with "
             "--paper: its cells and what they take"},
    {"quick", 0, NULL, CLI_FLAG, .help = "small sizes: minutes on two cores"},
    {"paper", 0, NULL, CLI_FLAG,
     .help = "the paper's own setting, printed in full before it begins; made in cells"},
    {"cells", 0, "PATTERNS", CLI_TEXT,
     .help = "with --paper: make only these cells, shell patterns between commas; none: only show "
             "what is there"},
    CLI_OPTION_SET,
    {"out", 'o', "DIR", CLI_FOLDER, .help = "where to put it (default: reproduce/NAME)"},
    {"data", 'd', "NAME|PATH", CLI_DATA,
     .help = "other data than the paper's, or where the paper's is: a file or a folder"},
    {"seeds", 0, "N", CLI_INT, .help = "repetitions with different seeds", .least = 1,
     .most = 1000},
    {"seed", 0, "N", CLI_INT, .help = "the first seed", .least = 0, .most = 1e15},
    {"threads", 0, "N", CLI_INT, .help = "threads (default: all cores)", .least = 1, .most = 4096},
    {"index", 0, "DIR", CLI_FOLDER,
     .help = "write index.html and results.md of the studies in DIR"},
    {"gallery", 0, "PAGE", CLI_FOLDER,
     .help = "with --index or all: also write PAGE/README.md, the pictures with their verdicts"},
    {"commit", 0, "TEXT", CLI_TEXT, .help = "the program's commit, for the summary and the page"},
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
        "--paper is the paper's own setting, made in cells: each is a file in DIR/cells, which may "
        "be made on another machine and copied there. --list --paper says how many each study has "
        "and what they take, --list --paper NAME names them, --cells none shows what is there.\n\n"
        "all makes every one of them in DIR/paper-figure (DIR: --out, or reproduce), goes on when "
        "one cannot be made, leaves alone what is done, and writes DIR/index.html, a page of all "
        "pictures and verdicts, and DIR/results.md. Studies made elsewhere can be copied into DIR: "
        "--index DIR writes both files again.",
    .run = run,
};
