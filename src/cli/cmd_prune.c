/* cmd_prune.c - tessera prune: a smaller network from a trained one, and what it saves. */
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/settings.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "base/text.h"
#include "io/file.h"
#include "io/json.h"
#include "net/torch_code.h"
#include "ticket/latency.h"
#include "ticket/layers.h"
#include "ticket/prune.h"
#include "ticket/statistics.h"
#include "ticket/target.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Before and after. */
typedef struct pair {
    tsr_model *model[2];
    tsri_latency time[2];
    int64_t bytes[2];
    bool timed;
    char *module;    /* path of the PyTorch module */
    const char *why; /* there is none; NULL: there is one */
    tsri_ticket_made made;
} pair;

static void pair_fini(pair *p)
{
    tsr_model_destroy(p->model[0]);
    tsr_model_destroy(p->model[1]);
    tsri_free(p->module);
}

static int64_t file_bytes(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 ? (int64_t)about.st_size : 0;
}

/* ---- Output ------------------------------------------------------------------------------- */

/* Each layer, or of deep networks each stage: a table that fits on a screen. */
static tsr_status print_layers(const tsri_net *a, const tsri_net *b, bool all)
{
    enum { SCREEN = 24 };
    tsr_status st = TSR_OK;
    cli_table t = {0};
    tsri_layer_changes c;
    TSR_TRY(tsri_layers_compare(&c, a, b));
    int64_t layers = c.rows;
    if (!all && layers > SCREEN)
        tsri_layers_by_stage(&c);
    cli_table_head(&t, 7, "layer", "before", "after", "params", "now", "MFLOP", "now");
    for (int64_t i = 0; i < c.rows; i++) {
        const tsri_layer_change *r = &c.row[i];
        cli_table_text(&t, r->name);
        cli_table_text(&t, r->before);
        cli_table_text(&t, strcmp(r->before, r->after) == 0 ? "" : r->after);
        for (int k = 0; k < 2; k++)
            cli_table_int(&t, r->params[k]);
        for (int k = 0; k < 2; k++)
            cli_table_real(&t, r->flops[k] / 1e6, 2);
    }
    TSR_TRY(cli_table_print(&t, stdout));
    if (c.rows < layers)
        (void)printf("(stages of %lld layers; --layers shows each)\n", (long long)layers);
done:
    cli_table_fini(&t);
    tsri_layers_fini(&c);
    return st;
}

/* Time is called gained only where it was. */
static void print_time(const char *what, tsri_duration before, tsri_duration after)
{
    (void)printf("%s %.2f ms -> %.2f ms", what, before.least, after.least);
    switch (tsri_faster(before, after)) {
    case TSRI_FASTER:
        (void)printf(", %.2f times as fast\n", before.least / after.least);
        break;
    case TSRI_PERHAPS_FASTER:
        (void)printf(": within the noise of this machine\n");
        break;
    default:
        (void)printf(": not faster\n");
    }
}

static tsr_status print_text(const pair *p, const char *path, bool all)
{
    tsr_status st = TSR_OK;
    const tsri_net *a = p->model[0]->net, *b = p->model[1]->net;
    double flops[] = {tsri_net_flops(a), tsri_net_flops(b)};
    TSR_TRY(print_layers(a, b, all));
    if (p->made.how.settled)
        (void)printf(
            "target      at most %g %% of the %s stay: %.2f %% do, %g %% of the filters of "
            "an axis go (--ratio %g --round-to %lld)\n",
            100 * p->made.how.keep, tsri_measure_words(p->made.how.measure),
            100 * p->made.how.reached, 100 * p->made.how.ratio, p->made.how.ratio,
            (long long)(p->made.how.round_to > 1 ? p->made.how.round_to : 1));
    (void)printf("parameters  %lld -> %lld (%.1f %%)\n", (long long)a->total, (long long)b->total,
                 100 * (double)b->total / (double)a->total);
    (void)printf("FLOPs       %.4g -> %.4g for one sample (%.1f %%)\n", flops[0], flops[1],
                 100 * flops[1] / flops[0]);
    (void)printf("file        %s -> %s\n", tsri_bytes_text((double)p->bytes[0]),
                 tsri_bytes_text((double)p->bytes[1]));
    if (p->timed) {
        print_time("inference  ", p->time[0].infer, p->time[1].infer);
        print_time("step       ", p->time[0].step, p->time[1].step);
    }
    if (p->made.recalibrated > 0)
        (void)printf("statistics  measured again on %lld batches of the training set\n",
                     (long long)p->made.recalibrated);
    else if (b->total < a->total && tsri_statistics_has(b))
        (void)printf(
            "statistics  those of the whole network; --recalibrate %d measures them again\n",
            TSRI_STATISTICS_BATCHES);
    (void)printf("ticket      %s\n", path);
    if (p->why)
        (void)printf("PyTorch     no module: %s\n", p->why);
    else
        (void)printf("PyTorch     %s\n", p->module);
done:
    return st;
}

static void json_pair(tsri_json *w, const char *name, double before, double after, bool whole)
{
    static const char *const ends[] = {"before", "after"};
    for (int i = 0; i < 2; i++) {
        char key[40];
        double value = i ? after : before;
        (void)snprintf(key, sizeof key, "%s_%s", name, ends[i]);
        tsri_json_key(w, key);
        if (whole)
            tsri_json_int(w, (int64_t)value);
        else
            tsri_json_real(w, value);
    }
}

static void json_target(tsri_json *w, const tsri_prune *how)
{
    tsri_json_put_text(w, "measure", tsri_measure_name(how->measure));
    tsri_json_put_real(w, "ratio", how->ratio);
    tsri_json_put_int(w, "round_to", how->round_to);
    tsri_json_put_real(w, "keep", how->settled ? how->keep : (double)NAN);
    tsri_json_put_real(w, "reached", how->settled ? how->reached : (double)NAN);
}

static tsr_status print_json(const pair *p, const char *path)
{
    tsr_status st = TSR_OK;
    tsri_layer_changes layers = {0};
    const tsri_net *a = p->model[0]->net, *b = p->model[1]->net;
    tsri_json w = {0};
    tsri_json_begin(&w);
    json_pair(&w, "params", (double)a->total, (double)b->total, true);
    json_pair(&w, "flops", tsri_net_flops(a), tsri_net_flops(b), true);
    json_pair(&w, "bytes", (double)p->bytes[0], (double)p->bytes[1], true);
    if (p->timed) {
        json_pair(&w, "ms", p->time[0].infer.least, p->time[1].infer.least, false);
        json_pair(&w, "step_ms", p->time[0].step.least, p->time[1].step.least, false);
        tsri_json_put_bool(&w, "faster",
                           tsri_faster(p->time[0].infer, p->time[1].infer) == TSRI_FASTER);
    }
    json_target(&w, &p->made.how);
    tsri_json_put_int(&w, "recalibrate", p->made.recalibrated);
    tsri_json_put_text(&w, "ticket", path);
    tsri_json_key(&w, "module");
    if (p->why)
        tsri_json_null(&w);
    else
        tsri_json_text(&w, p->module);
    TSR_TRY(tsri_layers_compare(&layers, a, b));
    tsri_layers_json(&w, &layers);
    tsri_json_close(&w, '}');
    TSR_TRY(cli_json_print(&w));
done:
    tsri_layers_fini(&layers);
    return st;
}

/* ---- The command -------------------------------------------------------------------------- */

static tsr_status read_options(tsri_prune *how, const cli_args *args)
{
    tsr_status st = TSR_OK;
    const char *criterion = cli_text(args, "criterion");
    static const struct {
        const char *option;
        tsri_measure measure;
    } goals[] = {{"ratio", TSRI_BY_FILTERS},
                 {"params", TSRI_BY_PARAMS},
                 {"ops", TSRI_BY_OPS},
                 {"time", TSRI_BY_TIME}};
    int given = 0;
    *how = (tsri_prune){.ratio = cli_real(args, "ratio", 0),
                        .global = cli_has(args, "global"),
                        .round_to = cli_int(args, "round-to", 1),
                        .axes = cli_text(args, "axes"),
                        .reinit = cli_has(args, "reinit"),
                        .seed = (uint64_t)cli_int(args, "seed", 1)};
    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++) {
        if (!cli_has(args, goals[i].option))
            continue;
        given++;
        how->measure = goals[i].measure;
        how->keep = cli_real(args, goals[i].option, 0);
    }
    TSR_CHECK(given == 1, TSR_USAGE,
              "%s give --ratio R, the part of the filters that go, or one of --params, --ops and "
              "--time P, the part that stays at most",
              given ? "a ticket has one size:" : "how much shall go?");
    TSR_TRY(tsri_criterion_find(&how->criterion, criterion ? criterion : "l2"));
done:
    return st;
}

/* A ticket never takes the place of another file unasked, least of all of its own model. */
static tsr_status may_write(const cli_args *args, const char *path)
{
    tsr_status st = TSR_OK;
    struct stat a, b;
    TSR_CHECK(path && *path, TSR_USAGE, "where shall the ticket go? give --out FILE");
    bool there = stat(path, &b) == 0;
    TSR_CHECK(!there || stat(args->operand[0], &a) != 0 || a.st_dev != b.st_dev ||
                  a.st_ino != b.st_ino,
              TSR_USAGE, "%s is the model itself: give --out another name", tsri_quote(path));
    TSR_CHECK(!there || cli_has(args, "force"), TSR_USAGE,
              "%s already exists: choose another name, or add --force to replace it",
              tsri_quote(path));
done:
    return st;
}

/* The module must not take the place of another file either. */
static tsr_status choose_module(pair *p, const cli_args *args, const char *path)
{
    tsr_status st = TSR_OK;
    p->why = tsri_torch_lacks(p->model[0]->net);
    TSR_TRY(tsri_module_path(&p->module, path));
    TSR_CHECK(p->why || !tsri_file_exists(p->module) || cli_has(args, "force"), TSR_USAGE,
              "%s, where the PyTorch module goes, already exists: choose another name, or add "
              "--force to replace it",
              tsri_quote(p->module));
done:
    return st;
}

/* Measured again unless --recalibrate says otherwise; a model that was imported, or whose data are
 * elsewhere now, has nothing to measure on without --data. */
static void choose_statistics(tsri_prune *how, const tsr_model *model, const cli_args *args)
{
    const char *path = tsri_config_text(model->config, "data.path");
    bool gone = path && !tsri_file_exists(path);
    bool can = tsri_model_names_data(model) && !gone;
    how->recalibrate = cli_int(args, "recalibrate", can ? TSRI_STATISTICS_BATCHES : 0);
    how->shown = model;
    if (gone && !cli_has(args, "recalibrate"))
        TSRI_WARN("%s, the training data, is not here: the statistics stay those of the whole "
                  "network; --data measures them again on others",
                  tsri_quote(path));
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    const char *out = cli_text(args, "out");
    tsr_model *source = NULL;
    tsri_prune how;
    pair p = {0};
    TSR_TRY(read_options(&how, args));
    TSR_TRY(may_write(args, out));
    TSR_TRY(tsr_model_read(&source, args->operand[0])); /* its run file becomes the ticket's */
    TSR_TRY(tsr_model_read(&p.model[0], args->operand[0]));
    TSR_TRY(cli_model_settings(p.model[0], args));
    TSR_TRY(choose_module(&p, args, out));
    choose_statistics(&how, p.model[0], args);
    TSR_TRY(tsri_ticket_write(&p.made, out, source, &how));
    TSR_TRY(tsr_model_read(&p.model[1], out));
    if (!p.why)
        TSR_TRY(tsri_module_write(p.module, p.model[1], out));
    p.bytes[0] = file_bytes(args->operand[0]);
    p.bytes[1] = file_bytes(out);
    double seconds = cli_real(args, "seconds", 3);
    p.timed = seconds > 0;
    if (p.timed)
        TSR_TRY(tsri_latency_measure(p.time, (const tsr_model *const *)p.model, 2, seconds));
    TSR_TRY(args->json ? print_json(&p, out) : print_text(&p, out, cli_has(args, "layers")));
done:
    pair_fini(&p);
    tsr_model_destroy(source);
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
    {"criterion", 'c', "NAME", CLI_CHOICE, .choices = TSRI_CRITERIA,
     .help = "how units are scored; the largest stay (default: l2)"},
    {"global", 'g', NULL, CLI_FLAG, .help = "one ranking over all axes instead of one for each"},
    {"round-to", 0, "N", CLI_INT, .least = 1, .most = 4096,
     .help = "keep multiples of N, which kernels run faster"},
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
