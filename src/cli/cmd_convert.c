/* cmd_convert.c - tessera convert: a gated net made into an equal ReLU net, or the other way. */
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/settings.h"
#include "cli/string.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void tell_judged(const char *name, const tsr_doc *j)
{
    double before = tsr_doc_real(j, "accuracy_before");
    if (tsr_doc_int(j, "n") == 0)
        return;
    (void)printf("%-9s %lld points: outputs differ by %.1e on average, %.1e at most; loss %.6g -> "
                 "%.6g",
                 name, (long long)tsr_doc_int(j, "n"), tsr_doc_real(j, "difference_mean"),
                 tsr_doc_real(j, "difference_most"), tsr_doc_real(j, "loss_before"),
                 tsr_doc_real(j, "loss_after"));
    if (!isnan(before))
        (void)printf(", accuracy %.2f -> %.2f %%", 100 * before,
                     100 * tsr_doc_real(j, "accuracy_after"));
    (void)printf("\n");
}

static tsr_status tell(const tsr_doc *c)
{
    if (tsr_doc_get(c, "equal"))
        (void)printf("%s %.1e on every one of %lld training points and %lld layers (worst at layer "
                     "%lld), matrix rank %lld; norm of the weights %.4g -> %.4g\n",
                     tsr_doc_bool(c, "equal") ? "equal to" : "not equal: the nearest net, within",
                     tsr_doc_real(c, "residual"), (long long)tsr_doc_int(c, "points"),
                     (long long)tsr_doc_int(c, "layers"),
                     (long long)tsr_doc_int(c, "residual_layer"), (long long)tsr_doc_int(c, "rank"),
                     tsr_doc_real(c, "norm_before"), tsr_doc_real(c, "norm_after"));
    tell_judged("training", tsr_doc_get(c, "train"));
    tell_judged("test", tsr_doc_get(c, "test"));
    (void)printf("model     %s, in %.1f s\n", tsr_doc_text(c, "model"), tsr_doc_real(c, "seconds"));
    return TSR_OK;
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_model *model = NULL;
    char *json = NULL;
    const char *path = cli_text(args, "out"), *to = cli_text(args, "to");
    TSR_CHECK(to, TSR_USAGE, "convert needs --to relu or --to grelu");
    TSR_CHECK(path, TSR_USAGE, "convert needs --out FILE for the new model");
    TSR_CHECK(strcmp(path, args->operand[0]) != 0, TSR_USAGE,
              "%s is the model itself: give --out another name", tsr_quote(path));
    TSR_TRY(tsr_model_read(&model, args->operand[0]));
    TSR_TRY(cli_settings(tsr_model_config(model), args));
    TSR_TRY(
        tsr_convert(&json, path, model, strcmp(to, "relu") == 0, cli_has(args, "least-squares")));
    TSR_TRY(cli_show(args, json, tell));
done:
    tsr_free(json);
    tsr_model_destroy(model);
    return st;
}

static const cli_option options[] = {
    {"to", 0, "KIND", CLI_CHOICE, .help = "what it becomes", .choices = "relu|grelu"},
    {"out", 'o', "FILE", CLI_FILE, .help = "the new model"},
    {"least-squares", 0, NULL, CLI_FLAG,
     .help = "accept the nearest ReLU network if there is no equal one"},
    CLI_OPTION_SET,
    CLI_OPTION_DATA,
    {0},
};

const cli_command cli_convert = {
    .name = "convert",
    .help = "turn a gated network (grelu) into an equal ReLU network, or back",
    .synopsis = "MODEL",
    .least = 1,
    .most = 1,
    .operand = CLI_FILE,
    .options = options,
    .details =
        "--to relu: the ReLU network of least norm that equals the gated one on every training "
        "point (Noy and others, Theorem 2), checked there on every layer. Off these points the "
        "two differ, and the command says by how much. A layer needs at least as many units as "
        "there are points, and the features must be independent.\n\n"
        "--to grelu: a relu_twin with its activation patterns frozen as gates: the same function.",
    .run = run,
};
