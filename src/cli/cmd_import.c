/* cmd_import.c - tessera import: another tool's weights as a model file. */
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/string.h"

#include <stdio.h>
#include <string.h>

enum { CHANNELS = 4 }; /* of images, at most */

/* "0.485,0.456,0.406": a number for each channel. */
static tsr_status read_numbers(double *out, int64_t *count, const char *option, const char *text)
{
    tsr_status st = TSR_OK;
    char number[40];
    *count = 0;
    for (const char *at = text;; at++) {
        size_t n = strcspn(at, ",");
        TSR_CHECK(*count < CHANNELS && n < sizeof number, TSR_USAGE,
                  "--%s %s: a number for each channel, with commas between, is expected", option,
                  tsr_quote(text));
        (void)snprintf(number, sizeof number, "%.*s", (int)n, at);
        TSR_CHECK(cli_number_real(&out[*count], number), TSR_USAGE, "--%s: %s is not a number",
                  option, tsr_quote(number));
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

static tsr_status read_scaling(tsr_import_options *how, const cli_args *args)
{
    tsr_status st = TSR_OK;
    const char *mean = cli_text(args, "mean"), *deviation = cli_text(args, "std");
    const char *kind = cli_text(args, "normalize");
    int64_t count = 3;
    TSR_CHECK(!mean == !deviation, TSR_USAGE, "--mean and --std belong together");
    TSR_CHECK(!mean || !kind, TSR_USAGE, "--mean and --std are a normalisation: leave --normalize");
    if (kind && strcmp(kind, "none") == 0)
        goto done;
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

static const char *inputs_text(const cli_args *args)
{
    const char *kind = cli_text(args, "normalize");
    if (cli_text(args, "mean"))
        return "scaled by the means and deviations given";
    return kind && strcmp(kind, "none") == 0 ? "divided by 255"
                                             : "scaled by ImageNet's means and deviations "
                                               "(--normalize, --mean and --std: otherwise)";
}

static tsr_status tell(const cli_args *args, tsr_model *m, const char *out, const char *module)
{
    tsr_status st = TSR_OK;
    tsr_model_info info = tsr_model_info_default();
    char *name = cli_setting(tsr_model_config(m), "model.name");
    int64_t width = (int64_t)cli_setting_real(tsr_model_config(m), "model.width");
    TSR_TRY(tsr_model_look(&info, m));
    if (!args->json) {
        (void)printf("%s of width %lld for images of %lldx%lldx%lld, %lld outputs, %lld numbers\n"
                     "pixels   %s\n"
                     "model    %s\n"
                     "PyTorch  %s\n",
                     name, (long long)width, (long long)info.channels, (long long)info.height,
                     (long long)info.width, (long long)info.outputs, (long long)info.numbers,
                     inputs_text(args), out, module);
        goto done;
    }
    tsr_json *w = tsr_json_create();
    tsr_json_text(w, "name", name);
    tsr_json_int(w, "width", width);
    tsr_json_text(w, "input", tsr_model_meta(m, "tessera.input"));
    tsr_json_int(w, "outputs", info.outputs);
    tsr_json_int(w, "params", info.numbers);
    tsr_json_text(w, "model", out);
    tsr_json_text(w, "module", module);
    TSR_TRY(cli_json_print(w));
done:
    tsr_free(name);
    return st;
}

static tsr_status may_write(const cli_args *args, const char *path)
{
    if (!cli_exists(path) || cli_has(args, "force"))
        return TSR_OK;
    return tsr_fail(TSR_USAGE,
                    "%s already exists: choose another name, or add --force to replace it",
                    tsr_quote(path));
}

/* "a/model.safetensors" -> "a/model.py", any other name gets .py behind it. */
static tsr_status module_path(cli_string *out, const char *path)
{
    size_t n = strlen(path);
    if (cli_ends_in(path, ".safetensors"))
        n -= strlen(".safetensors");
    return cli_string_add(out, "%.*s.py", (int)n, path);
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_model *imported = NULL, *model = NULL;
    const char *out = cli_text(args, "out");
    cli_string module = {0};
    tsr_import_options how = tsr_import_options_default();
    how.model = cli_text(args, "model");
    how.side = cli_int(args, "size", 0);
    how.classes = cli_int(args, "classes", 0);
    how.seed = (uint64_t)cli_int(args, "seed", 1);
    how.names = cli_text(args, "names");
    TSR_CHECK(out && *out, TSR_USAGE, "give --out FILE, the model to write");
    TSR_TRY(module_path(&module, out));
    TSR_TRY(may_write(args, out));
    TSR_TRY(may_write(args, module.data));
    TSR_TRY(read_scaling(&how, args));
    TSR_TRY(tsr_import(&imported, args->operand[0], &how));
    TSR_TRY(tsr_model_write(imported, out));
    TSR_TRY(tsr_model_read(&model, out));
    TSR_TRY(tsr_model_module(model, module.data, out));
    TSR_TRY(tell(args, model, out, module.data));
done:
    cli_string_fini(&module);
    tsr_model_destroy(imported);
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
