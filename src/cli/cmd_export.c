/* cmd_export.c - tessera export: a model as an ONNX file, and how fast it runs there. */
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/settings.h"
#include "cli/string.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct exported {
    const char *path; /* of the ONNX file */
    const char *beside;
    tsr_onnx_options how;
    tsr_onnx_made made;
    tsr_onnx_speed_options asked;
    tsr_onnx_speed speed;
} exported;

/* ---- Output --------------------------------------------------------------------------------- */

static void print_times(const exported *e, const char *who, const double *ms, bool faster)
{
    (void)printf("%-12s", who);
    if (!e->beside)
        (void)printf("%.3f ms\n", ms[0]);
    else
        (void)printf("%.3f ms -> %.3f ms%s", ms[1], ms[0],
                     faster          ? ", "
                     : ms[0] < ms[1] ? ": within the noise of this machine\n"
                                     : ": not faster\n");
    if (e->beside && faster)
        (void)printf("%.2f times as fast\n", ms[1] / ms[0]);
}

static void print_speed(const exported *e)
{
    char who[64];
    const tsr_onnx_speed *s = &e->speed;
    (void)printf("time        of a batch of %lld on %lld thread%s%s:\n", (long long)e->asked.batch,
                 (long long)e->asked.threads, e->asked.threads == 1 ? "" : "s",
                 e->beside ? ", before -> after" : "");
    print_times(e, "  Tessera", s->ours_ms, s->faster);
    if (!*s->runtime) {
        (void)printf("  there     %s\n", s->missing);
        return;
    }
    (void)snprintf(who, sizeof who, "  there");
    print_times(e, who, s->theirs_ms, s->faster_there);
    (void)printf("equal       to %.1e of the largest output, in ONNX Runtime %s\n",
                 fmax(s->difference[0], e->beside ? s->difference[1] : 0), s->runtime);
}

static void print_text(const exported *e, bool timed)
{
    (void)printf("onnx        %s: %s, %lld nodes, opset %lld\n", e->path,
                 cli_bytes((double)e->made.bytes), (long long)e->made.nodes,
                 (long long)e->made.opset);
    if (e->how.fold)
        (void)printf("norms       %lld folded, %lld left\n", (long long)e->made.norms_folded,
                     (long long)e->made.norms_left);
    (void)printf("input       %s\n", e->how.transform
                                         ? "raw, scaled inside as in training"
                                         : "scaled as in training (--transform takes it raw)");
    if (e->beside && timed)
        (void)printf("file        %s -> %s\n", cli_bytes((double)e->speed.bytes[1]),
                     cli_bytes((double)e->speed.bytes[0]));
    if (timed)
        print_speed(e);
}

static tsr_status print_json(const exported *e, bool timed)
{
    tsr_json *w = tsr_json_create();
    tsr_json_text(w, "file", e->path);
    tsr_json_int(w, "bytes", e->made.bytes);
    tsr_json_int(w, "nodes", e->made.nodes);
    tsr_json_int(w, "opset", e->made.opset);
    tsr_json_int(w, "norms_folded", e->made.norms_folded);
    tsr_json_int(w, "norms_left", e->made.norms_left);
    tsr_json_bool(w, "transform", e->how.transform);
    if (timed) {
        const tsr_onnx_speed *s = &e->speed;
        tsr_json_int(w, "batch", e->asked.batch);
        tsr_json_int(w, "threads", e->asked.threads);
        tsr_json_text(w, "runtime", *s->runtime ? s->runtime : NULL);
        tsr_json_real(w, "ms", s->ours_ms[0]);
        tsr_json_real(w, "ms_onnx", s->theirs_ms[0]);
        tsr_json_real(w, "difference", s->difference[0]);
    }
    if (timed && e->beside) {
        const tsr_onnx_speed *s = &e->speed;
        tsr_json_int(w, "bytes_beside", s->bytes[1]);
        tsr_json_real(w, "ms_beside", s->ours_ms[1]);
        tsr_json_real(w, "ms_onnx_beside", s->theirs_ms[1]);
        tsr_json_real(w, "difference_beside", s->difference[1]);
        tsr_json_bool(w, "faster", s->faster);
        tsr_json_bool(w, "faster_onnx", s->faster_there);
    }
    return cli_json_print(w);
}

/* ---- The command ---------------------------------------------------------------------------- */

static tsr_status may_write(const cli_args *args, const char *path)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(path && *path, TSR_USAGE, "give --onnx FILE, the file to write");
    TSR_CHECK(!cli_exists(path) || cli_has(args, "force"), TSR_USAGE,
              "%s already exists: choose another name, or add --force to replace it",
              tsr_quote(path));
done:
    return st;
}

/* An ONNX Runtime that was named must be there; the one that is looked for by default need not. */
static void read_speed_options(tsr_onnx_speed_options *o, const cli_args *args)
{
    const char *library = cli_text(args, "runtime"), *variable = getenv("TESSERA_ONNXRUNTIME");
    *o = tsr_onnx_speed_options_default();
    if (library || (variable && *variable))
        o->library = library ? library : variable;
    o->batch = cli_int(args, "batch", 1);
    o->threads = cli_int(args, "threads", 1);
    o->seconds = cli_real(args, "seconds", 3);
    o->fold = cli_has(args, "fold");
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_model *model = NULL, *beside = NULL;
    exported e = {.path = cli_text(args, "onnx"),
                  .beside = cli_text(args, "beside"),
                  .how = tsr_onnx_options_default(),
                  .made = tsr_onnx_made_default(),
                  .speed = tsr_onnx_speed_default()};
    TSR_TRY(may_write(args, e.path));
    TSR_TRY(tsr_model_read(&model, args->operand[0]));
    if (e.beside)
        TSR_TRY(tsr_model_read(&beside, e.beside));
    e.how.fold = cli_has(args, "fold");
    e.how.transform = cli_has(args, "transform");
    read_speed_options(&e.asked, args);
    e.asked.beside = beside;
    bool timed = e.asked.seconds > 0;
    TSR_CHECK(timed || !e.beside, TSR_USAGE, "--beside compares speeds: leave out --seconds 0");
    TSR_TRY(tsr_export_onnx(&e.made, e.path, model, &e.how));
    if (timed)
        TSR_TRY(tsr_onnx_measure(&e.speed, model, &e.asked));
    TSR_CHECK(!timed || *e.speed.runtime || !cli_text(args, "runtime"), TSR_FAILURE, "%s",
              e.speed.missing);
    if (args->json)
        TSR_TRY(print_json(&e, timed));
    else
        print_text(&e, timed);
done:
    tsr_model_destroy(model);
    tsr_model_destroy(beside);
    return st;
}

static const cli_option options[] = {
    {"onnx", 'o', "FILE", CLI_FILE, .help = "the ONNX file"},
    {"fold", 0, NULL, CLI_FLAG, .help = "make batch norms part of the layers before them"},
    {"transform", 't', NULL, CLI_FLAG,
     .help = "take raw inputs and scale them inside, as in training; give real targets in their "
             "own units"},
    {"beside", 0, "MODEL", CLI_FILE, .help = "of a ticket: the whole network, to be timed with it"},
    {"runtime", 0, "FILE", CLI_FILE,
     .help = "ONNX Runtime's library (default: $TESSERA_ONNXRUNTIME, or libonnxruntime.so.1 where "
             "the system finds it)"},
    {"batch", 'b', "N", CLI_INT, .least = 1, .most = 65536,
     .help = "samples of a batch that is timed (default: 1)"},
    {"threads", 0, "N", CLI_INT, .least = 1, .most = 1024,
     .help = "threads of both when they are timed (default: 1)"},
    {"seconds", 0, "S", CLI_REAL, .least = 0, .most = 600,
     .help = "how long to measure speed; 0 = not at all (default: 3)"},
    {"force", 0, NULL, CLI_FLAG, .help = "replace FILE if it exists"},
    {0},
};

const cli_command cli_export = {
    .name = "export",
    .help = "write a model as an ONNX file",
    .synopsis = "MODEL --onnx FILE",
    .least = 1,
    .most = 1,
    .operand = CLI_FILE,
    .options = options,
    .details =
        "The file holds the network in f32 for batches of any size (opset 15). Its input is called "
        "input, its output output; sequences have a second input, lengths. Names of classes, "
        "columns and targets are in its metadata.\n\n"
        "Where ONNX Runtime is installed the same batch is run there and here, in turns: both "
        "times and the largest difference of the outputs are printed.",
    .run = run,
};
