/* cmd_prune.c - tessera prune: a smaller network from a trained one, and what it saves. */
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/settings.h"
#include "cli/string.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Output ------------------------------------------------------------------------------- */

/* Each layer, or of deep networks each stage: a table that fits on a screen. */
static tsr_status print_layers(const tsr_doc *d, bool all)
{
    enum { SCREEN = 24 };
    tsr_status st = TSR_OK;
    cli_table t = {0};
    int64_t count = tsr_doc_count(tsr_doc_get(d, "layers"));
    const tsr_doc *rows = tsr_doc_get(d, all || count <= SCREEN ? "layers" : "stages");
    cli_table_head(&t, 7, "layer", "before", "after", "params", "now", "MFLOP", "now");
    for (int64_t i = 0; i < tsr_doc_count(rows); i++) {
        const tsr_doc *r = tsr_doc_at(rows, i);
        const char *before = tsr_doc_text(r, "shape_before"),
                   *after = tsr_doc_text(r, "shape_after");
        cli_table_text(&t, tsr_doc_text(r, "name"));
        cli_table_text(&t, before);
        cli_table_text(&t, strcmp(before, after) == 0 ? "" : after);
        cli_table_int(&t, tsr_doc_int(r, "params_before"));
        cli_table_int(&t, tsr_doc_int(r, "params_after"));
        cli_table_real(&t, tsr_doc_real(r, "flops_before") / 1e6, 2);
        cli_table_real(&t, tsr_doc_real(r, "flops_after") / 1e6, 2);
    }
    TSR_TRY(cli_table_print(&t, stdout));
    if (tsr_doc_count(rows) < count)
        (void)printf("(stages of %lld layers; --layers shows each)\n", (long long)count);
done:
    cli_table_fini(&t);
    return st;
}

/* A ticket is called faster only if it clearly is. */
static void print_time(const char *what, double before, double after, const char *gain)
{
    (void)printf("%s %.2f ms -> %.2f ms", what, before, after);
    if (strcmp(gain, "faster") == 0)
        (void)printf(", %.2f times as fast\n", before / after);
    else
        (void)printf(strcmp(gain, "perhaps") == 0 ? ": within the noise of this machine\n"
                                                  : ": not faster\n");
}

static void print_target(const tsr_doc *d)
{
    double ratio = tsr_doc_real(d, "ratio");
    long long round_to = tsr_doc_int(d, "round_to");
    if (!isnan(tsr_doc_real(d, "keep")))
        (void)printf(
            "target      at most %g %% of the %s stay: %.2f %% do, %g %% of the filters of "
            "an axis go (--ratio %g --round-to %lld)\n",
            100 * tsr_doc_real(d, "keep"), tsr_doc_text(d, "measured"),
            100 * tsr_doc_real(d, "reached"), 100 * ratio, ratio, round_to > 1 ? round_to : 1);
}

static void print_statistics(const tsr_doc *d)
{
    long long batches = tsr_doc_int(d, "recalibrate");
    if (batches > 0)
        (void)printf("statistics  measured again on %lld batches of the training set\n", batches);
    else if (tsr_doc_int(d, "params_after") < tsr_doc_int(d, "params_before") &&
             tsr_doc_bool(d, "statistics"))
        (void)printf(
            "statistics  those of the whole network; --recalibrate 16 measures them again\n");
}

static tsr_status print_text(const tsr_doc *d, bool all)
{
    tsr_status st = TSR_OK;
    long long params[] = {tsr_doc_int(d, "params_before"), tsr_doc_int(d, "params_after")};
    double flops[] = {tsr_doc_real(d, "flops_before"), tsr_doc_real(d, "flops_after")};
    TSR_TRY(print_layers(d, all));
    print_target(d);
    (void)printf("parameters  %lld -> %lld (%.1f %%)\n", params[0], params[1],
                 100 * (double)params[1] / (double)params[0]);
    if (flops[0] < 1e6)
        (void)printf("FLOPs       %.0f -> %.0f for one sample", flops[0], flops[1]);
    else
        (void)printf("FLOPs       %.4g -> %.4g million for one sample", flops[0] / 1e6,
                     flops[1] / 1e6);
    (void)printf(" (%.1f %%)\n", 100 * flops[1] / flops[0]);
    (void)printf("file        %s -> %s\n", cli_bytes((double)tsr_doc_int(d, "bytes_before")),
                 cli_bytes((double)tsr_doc_int(d, "bytes_after")));
    if (tsr_doc_get(d, "gain")) {
        print_time("inference  ", tsr_doc_real(d, "ms_before"), tsr_doc_real(d, "ms_after"),
                   tsr_doc_text(d, "gain"));
        print_time("step       ", tsr_doc_real(d, "step_ms_before"),
                   tsr_doc_real(d, "step_ms_after"), tsr_doc_text(d, "step_gain"));
        (void)printf("            of a batch of %lld\n", (long long)tsr_doc_int(d, "batch"));
    }
    print_statistics(d);
    (void)printf("ticket      %s\n", tsr_doc_text(d, "ticket"));
    if (tsr_doc_text(d, "module"))
        (void)printf("PyTorch     %s\n", tsr_doc_text(d, "module"));
    else
        (void)printf("PyTorch     no module: %s\n", tsr_doc_text(d, "no_module"));
done:
    return st;
}

/* ---- The command -------------------------------------------------------------------------- */

static tsr_status read_options(tsr_prune_options *how, const cli_args *args)
{
    tsr_status st = TSR_OK;
    static const char *const goals[] = {"ratio", "params", "ops", "time"};
    int given = 0;
    *how = tsr_prune_options_default();
    how->ratio = cli_real(args, "ratio", 0);
    how->global = cli_has(args, "global");
    how->round_to = cli_int(args, "round-to", 1);
    how->axes = cli_text(args, "axes");
    how->reinit = cli_has(args, "reinit");
    how->seed = (uint64_t)cli_int(args, "seed", 1);
    if (cli_text(args, "criterion"))
        how->criterion = cli_text(args, "criterion");
    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++) {
        if (!cli_has(args, goals[i]))
            continue;
        given++;
        how->measure = i > 0 ? goals[i] : NULL;
        how->keep = cli_real(args, goals[i], 0);
    }
    TSR_CHECK(given == 1, TSR_USAGE,
              "%sgive --ratio R, the part of the filters to remove, or one of --params, --ops and "
              "--time P, the most that may stay%s",
              given ? "a ticket has one size: " : "", given ? ", and not both" : "");
done:
    return st;
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    const char *out = cli_text(args, "out");
    tsr_prune_options how;
    tsr_ticket_options o = tsr_ticket_options_default();
    char *json = NULL;
    tsr_doc *doc = NULL;
    TSR_TRY(read_options(&how, args));
    TSR_CHECK(out && *out, TSR_USAGE, "give --out FILE, the ticket to write");
    TSR_TRY(cli_spare(out, args->operand[0], "the model"));
    o.prune = &how;
    o.data = cli_text(args, "data");
    o.recalibrate = cli_int(args, "recalibrate", -1);
    o.seconds = cli_real(args, "seconds", 3);
    o.replace = cli_has(args, "force");
    TSR_TRY(tsr_ticket(&json, out, args->operand[0], &o));
    if (args->json) {
        (void)puts(json);
        goto done;
    }
    TSR_TRY(tsr_doc_parse(&doc, json));
    TSR_TRY(print_text(doc, cli_has(args, "layers")));
done:
    tsr_doc_destroy(doc);
    tsr_free(json);
    return st;
}

static const cli_option options[] = {
    {"ratio", 'r', "R", CLI_REAL, .least = 0, .most = 0.9999,
     .help = "part of the filters (units of each axis) to remove, 0.8 = 20 % stay"},
    {"params", 0, "P", CLI_REAL, .least = 0.0001, .most = 0.9999,
     .help = "instead: leave at most this part of the parameters, 0.3 = 30 % stay"},
    {"ops", 0, "P", CLI_REAL, .least = 0.0001, .most = 0.9999,
     .help = "instead: leave at most this part of the operations"},
    {"time", 0, "P", CLI_REAL, .least = 0.0001, .most = 0.9999,
     .help = "instead: leave at most this part of a batch's time, measured on this machine"},
    {"out", 'o', "FILE", CLI_FILE, .help = "the ticket's file"},
    {"criterion", 'c', "NAME", CLI_CHOICE, .choices = "l2|l1|bn|fpgm|snip|grasp|random",
     .help = "how units are scored; the largest stay (default: l2); snip and grasp need training "
             "data"},
    {"global", 'g', NULL, CLI_FLAG, .help = "one ranking over all axes instead of one for each"},
    {"round-to", 0, "N", CLI_INT, .least = 1, .most = 4096,
     .help = "keep a multiple of N units, which kernels compute faster"},
    {"axes", 'a', "NAMES", CLI_TEXT,
     .help = "paper, inner, all, or names of axes, \"layer2.1.inner, layer2.stream\""},
    {"recalibrate", 0, "N", CLI_INT, .least = 0, .most = 1e6,
     .help = "batches of the training set that measure batch norm's statistics again; 0 = keep "
             "those of the whole (default: 16; 0 for an imported model without --data)"},
    CLI_OPTION_DATA,
    {"reinit", 0, NULL, CLI_FLAG, .help = "the shape alone, with fresh weights (a control)"},
    {"seed", 0, "N", CLI_INT, .least = 0, .most = 9007199254740992.0,
     .help = "of --criterion random and --reinit (default: 1)"},
    {"seconds", 0, "S", CLI_REAL, .least = 0, .most = 600,
     .help = "how long to measure speed; 0 = not at all (default: 3)"},
    {"layers", 0, NULL, CLI_FLAG,
     .help = "show every layer before and after, also of deep networks (else their stages)"},
    {"force", 0, NULL, CLI_FLAG, .help = "replace FILE if it exists"},
    {0},
};

const cli_command cli_prune = {
    .name = "prune",
    .help = "make a trained network really smaller",
    .synopsis = "MODEL --ratio R|--params P|--ops P|--time P --out FILE",
    .least = 1,
    .most = 1,
    .operand = CLI_FILE,
    .options = options,
    .details =
        "By default (--axes paper) the filters between the two convolutions of a residual block "
        "are removed, those with the smallest norms first; the first stage and blocks with a "
        "stride stay whole (LoFT). In models without such pairs every axis that can be cut is "
        "pruned. --axes inner takes the inside of every block, --axes all also the streams "
        "between blocks: that makes networks that are really faster.\n\n"
        "--ratio is the part of the filters to remove. --params, --ops and --time are the largest "
        "part of the whole network's that may stay: the smallest ratio that leaves no more is "
        "searched for and printed, so that --ratio makes the ticket again. Time is measured "
        "beside the whole; widths are multiples of 8 where more operations fit that way.\n\n"
        "The ticket is an ordinary model file: eval, predict, finetune, distance and prune take "
        "it. A PyTorch module of those widths that loads it is written beside it, FILE with .py "
        "in place of .safetensors. Times are measured side by side on this machine, and called "
        "faster only if they clearly fell.",
    .run = run,
};
