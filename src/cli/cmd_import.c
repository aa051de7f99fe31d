/* cmd_import.c - tessera import: another tool's weights as a model file. */
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/print.h"

#include "base/alloc.h"
#include "base/number.h"
#include "base/status.h"
#include "base/text.h"
#include "convert/import.h"
#include "io/file.h"
#include "io/json.h"
#include "model/model.h"

#include <stdio.h>
#include <string.h>

/* "0.485,0.456,0.406": a number for each channel. */
static tsr_status read_numbers(double *out, int64_t *count, const char *option, const char *text)
{
    tsr_status st = TSR_OK;
    char number[TSRI_NUMBER_TEXT];
    *count = 0;
    for (const char *at = text;; at++) {
        size_t n = strcspn(at, ",");
        TSR_CHECK(*count < TSRI_IMPORT_CHANNELS && n < sizeof number, TSR_USAGE,
                  "--%s %s: a number for each channel, with commas between, is expected", option,
                  tsri_quote(text));
        (void)snprintf(number, sizeof number, "%.*s", (int)n, at);
        TSR_CHECK(tsri_number_real(&out[*count], number) == TSRI_NUMBER_OK, TSR_USAGE,
                  "--%s: %s is not a number", option, tsri_quote(number));
        ++*count;
        at += n;
        if (*at == '\0')
            break;
    }
done:
    return st;
}

/* Means and deviations of ImageNet's pictures, as torchvision and timm have them. */
static const double imagenet_mean[] = {0.485, 0.456, 0.406};
static const double imagenet_deviation[] = {0.229, 0.224, 0.225};

static tsr_status read_scaling(tsri_import *how, const cli_args *args)
{
    tsr_status st = TSR_OK;
    const char *mean = cli_text(args, "mean"), *deviation = cli_text(args, "std");
    const char *kind = cli_text(args, "normalize");
    int64_t count = 3;
    TSR_CHECK(!mean == !deviation, TSR_USAGE, "--mean and --std belong together");
    TSR_CHECK(!mean || !kind, TSR_USAGE, "--mean and --std are a normalisation: leave --normalize");
    how->normalize = !kind || strcmp(kind, "none") != 0;
    how->channels = 3;
    memcpy(how->mean, imagenet_mean, sizeof imagenet_mean);
    memcpy(how->deviation, imagenet_deviation, sizeof imagenet_deviation);
    if (mean) {
        TSR_TRY(read_numbers(how->mean, &how->channels, "mean", mean));
        TSR_TRY(read_numbers(how->deviation, &count, "std", deviation));
        TSR_CHECK(count == how->channels, TSR_USAGE, "--mean has %lld numbers, --std %lld",
                  (long long)how->channels, (long long)count);
    }
    for (int64_t c = 0; c < how->channels; c++)
        TSR_CHECK(how->deviation[c] > 0, TSR_USAGE, "--std: a deviation is above 0");
done:
    return st;
}

static tsr_status tell(const cli_args *args, const tsr_model *m, const char *out,
                       const char *module)
{
    const char *name = tsri_config_text(m->config, "model.name");
    tsri_json w = {0};
    if (!args->json) {
        (void)printf("%s of width %lld for images of %lldx%lldx%lld, %lld outputs, %lld numbers\n"
                     "model    %s\n"
                     "PyTorch  %s\n",
                     name, (long long)tsri_config_int(m->config, "model.width"),
                     (long long)m->input.c, (long long)m->input.h, (long long)m->input.w,
                     (long long)m->outputs, (long long)m->net->total, out, module);
        return TSR_OK;
    }
    tsri_json_begin(&w);
    tsri_json_put_text(&w, "name", name);
    tsri_json_put_int(&w, "width", tsri_config_int(m->config, "model.width"));
    tsri_json_put_text(&w, "input", tsr_model_meta(m, "tessera.input"));
    tsri_json_put_int(&w, "outputs", m->outputs);
    tsri_json_put_int(&w, "params", m->net->total);
    tsri_json_put_text(&w, "model", out);
    tsri_json_put_text(&w, "module", module);
    tsri_json_close(&w, '}');
    return cli_json_print(&w);
}

static tsr_status may_write(const cli_args *args, const char *path)
{
    if (!tsri_file_exists(path) || cli_has(args, "force"))
        return TSR_OK;
    return tsri_fail(TSR_USAGE,
                     "%s already exists: choose another name, or add --force to replace it",
                     tsri_quote(path));
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_model *model = NULL;
    const char *out = cli_text(args, "out");
    char *module = NULL;
    tsri_import how = {.model = cli_text(args, "model"),
                       .size = cli_int(args, "size", 0),
                       .classes = cli_int(args, "classes", 0),
                       .seed = (uint64_t)cli_int(args, "seed", 1),
                       .names = cli_text(args, "names")};
    TSR_CHECK(out && *out, TSR_USAGE, "where shall the model go? give --out FILE");
    TSR_TRY(tsri_module_path(&module, out));
    TSR_TRY(may_write(args, out));
    TSR_TRY(may_write(args, module));
    TSR_TRY(read_scaling(&how, args));
    TSR_TRY(tsri_import_file(out, args->operand[0], &how));
    TSR_TRY(tsr_model_read(&model, out));
    TSR_TRY(tsri_module_write(module, model, out));
    TSR_TRY(tell(args, model, out, module));
done:
    tsri_free(module);
    tsr_model_destroy(model);
    return st;
}

static const cli_option options[] = {
    {"out", 'o', "MODEL", CLI_FILE, .help = "the model's file"},
    {"model", 'm', "NAME", CLI_TEXT,
     .help = "the network, instead of recognising it by names and shapes"},
    {"classes", 'c', "N", CLI_INT, .least = 1, .most = 1e6,
     .help = "a new last layer of N outputs, its weights drawn"},
    {"names", 0, "FILE", CLI_FILE, .help = "the classes' names, a line for each output"},
    {"size", 0, "N", CLI_INT, .least = 1, .most = 4096,
     .help = "side of the images (default: 224; of networks for CIFAR 32)"},
    {"normalize", 0, "KIND", CLI_CHOICE, .choices = "imagenet|none",
     .help = "how images were scaled: by ImageNet's means, or only to 0 .. 1 (default: imagenet)"},
    {"mean", 0, "A,B,C", CLI_TEXT, .help = "other means of the channels, of pixels in 0 .. 1"},
    {"std", 0, "A,B,C", CLI_TEXT, .help = "and their deviations"},
    {"seed", 0, "N", CLI_INT, .least = 0, .most = 9007199254740992.0,
     .help = "of the weights that --classes draws (default: 1)"},
    {"force", 0, NULL, CLI_FLAG, .help = "replace MODEL if it exists"},
    {0},
};

const cli_command cli_import = {
    .name = "import",
    .help = "turn a PyTorch checkpoint or a safetensors file into a model",
    .synopsis = "FILE --out MODEL",
    .least = 1,
    .most = 1,
    .operand = CLI_FILE,
    .options = options,
    .details =
        "FILE is what torch.save(model.state_dict(), FILE) wrote (.pth, .pt), also inside "
        "{\"state_dict\": ...} or {\"model\": ...}, or a safetensors file, with torchvision's or "
        "timm's names; module., _orig_mod. and model. before all names go. Nothing in it is "
        "executed. The network is told from names and shapes; weights and statistics stay as they "
        "are, to the bit.\n\n"
        "The result is an ordinary model: eval, predict, prune, finetune and ticket --init take "
        "it. "
        "It has no data of its own: give them --data. Beside it lies a PyTorch module that loads "
        "it, "
        "MODEL with .py in place of .safetensors.",
    .run = run,
};
