/* cmd_convert.c - tessera convert: a gated net made into an equal ReLU net, or the other way. */
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/settings.h"

#include "convert/convert_model.h"
#include "io/file.h"
#include "io/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static tsr_status tell_json(const tsri_converted *c, const char *path)
{
    tsri_json w = {0};
    tsri_json_begin(&w);
    tsri_json_put_text(&w, "to", c->to_relu ? "relu" : "grelu");
    tsri_json_put_text(&w, "model", path);
    if (c->to_relu)
        tsri_conversion_json(&w, &c->how);
    tsri_judged_json(&w, "train", &c->train);
    tsri_judged_json(&w, "test", &c->test);
    tsri_json_put_real(&w, "seconds", c->seconds);
    tsri_json_close(&w, '}');
    return cli_json_print(&w);
}

static void tell_judged(const char *name, const tsri_judged *j)
{
    if (j->n == 0)
        return;
    (void)printf("%-9s %lld points: outputs differ by %.1e on average, %.1e at most; loss %.6g -> "
                 "%.6g",
                 name, (long long)j->n, j->difference, j->most_difference, j->loss[0], j->loss[1]);
    if (!isnan(j->accuracy[0]))
        (void)printf(", accuracy %.2f -> %.2f %%", 100 * j->accuracy[0], 100 * j->accuracy[1]);
    (void)printf("\n");
}

static void tell(const tsri_converted *c, const char *path)
{
    if (c->to_relu)
        (void)printf("%s %.1e on every one of %lld training points and %lld layers (worst at layer "
                     "%lld), matrix rank %lld; norm of the weights %.4g -> %.4g\n",
                     c->how.worst < TSRI_CONVERT_EQUAL ? "equal to"
                                                       : "not equal: the nearest net, within",
                     c->how.worst, (long long)c->how.n, (long long)c->how.layers,
                     (long long)c->how.worst_layer, (long long)c->how.least_rank,
                     c->how.norm_before, c->how.norm_after);
    tell_judged("training", &c->train);
    tell_judged("test", &c->test);
    (void)printf("model     %s, in %.1f s\n", path, c->seconds);
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_model *model = NULL;
    tsri_converted c;
    const char *path = cli_text(args, "out"), *to = cli_text(args, "to");
    TSR_CHECK(to, TSR_USAGE, "convert needs --to relu or --to grelu");
    TSR_CHECK(path, TSR_USAGE, "convert needs --out FILE for the new model");
    TSR_CHECK(strcmp(path, args->operand[0]) != 0, TSR_USAGE,
              "%s is the model itself: give --out another name", tsri_quote(path));
    TSR_TRY(tsr_model_read(&model, args->operand[0]));
    TSR_TRY(cli_settings(tsr_model_config(model), args));
    TSR_TRY(tsri_convert_model(&c, path, model, strcmp(to, "relu") == 0,
                               cli_has(args, "least-squares")));
    if (args->json)
        TSR_TRY(tell_json(&c, path));
    else
        tell(&c, path);
done:
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
