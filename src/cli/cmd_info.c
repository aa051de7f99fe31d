/* cmd_info.c - tessera info: what is inside a model file. */
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/string.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct facts {
    const char *name;
    int dims;
    int64_t shape[TSR_DIMS];
    int64_t count;
    double mean, deviation, largest;
} facts;

static facts facts_of(const tsr_model *m, int64_t i)
{
    tsr_param p = tsr_param_default();
    double sum = 0, squares = 0;
    (void)tsr_model_param(&p, m, i); /* there is one */
    const float *data = p.values.data;
    facts f = {.name = p.name, .dims = p.values.dims, .count = 1};
    memcpy(f.shape, p.values.shape, sizeof f.shape);
    for (int d = 0; d < f.dims; d++)
        f.count *= f.shape[d];
    for (int64_t j = 0; j < f.count; j++) {
        double v = (double)data[j];
        sum += v;
        squares += v * v;
        f.largest = fmax(f.largest, fabs(v));
    }
    f.mean = sum / (double)f.count;
    f.deviation = sqrt(fmax(0, squares / (double)f.count - f.mean * f.mean));
    return f;
}

static void shape_text(char *text, size_t room, const facts *f)
{
    int used = snprintf(text, room, "[");
    for (int d = 0; d < f->dims; d++)
        used += snprintf(text + used, room - (size_t)used, d ? ", %lld" : "%lld",
                         (long long)f->shape[d]);
    (void)snprintf(text + used, room - (size_t)used, "]");
}

/* The file may not say. */
static const char *version_of(const tsr_model *m)
{
    const char *version = tsr_model_meta(m, "tessera.version");
    return version ? version : "unknown";
}

/* `model` is what the file's run file says of the network: read, checked and written again, not the
 * text that stands beside it for other tools. */
static tsr_status print_json(const tsr_model *m, const char *model)
{
    tsr_json *w = tsr_json_create();
    tsr_json_text(w, "version", version_of(m));
    tsr_json_text(w, "model", model);
    tsr_json_text(w, "input", tsr_model_meta(m, "tessera.input"));
    tsr_json_open(w, "tensors", '[');
    int64_t total = 0;
    for (int64_t i = 0; i < tsr_model_params(m); i++) {
        facts f = facts_of(m, i);
        total += f.count;
        tsr_json_open(w, NULL, '{');
        tsr_json_text(w, "name", f.name);
        tsr_json_open(w, "shape", '[');
        for (int d = 0; d < f.dims; d++)
            tsr_json_int(w, NULL, f.shape[d]);
        tsr_json_close(w, ']');
        tsr_json_close(w, '}');
    }
    tsr_json_close(w, ']');
    tsr_json_int(w, "params", total);
    return cli_json_print(w);
}

static tsr_status print_text(const tsr_model *m, const char *model)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    int64_t total = 0;
    cli_table_head(&t, 6, "tensor", "shape", "numbers", "mean", "deviation", "largest");
    for (int64_t i = 0; i < tsr_model_params(m); i++) {
        facts f = facts_of(m, i);
        char shape[128];
        shape_text(shape, sizeof shape, &f);
        total += f.count;
        cli_table_text(&t, f.name);
        cli_table_text(&t, shape);
        cli_table_int(&t, f.count);
        cli_table_real(&t, f.mean, 3);
        cli_table_real(&t, f.deviation, 3);
        cli_table_real(&t, f.largest, 3);
    }
    (void)printf("written by tessera %s; input %s, %s outputs, %lld numbers\n\n%s\n",
                 tsr_quote(version_of(m)), tsr_model_meta(m, "tessera.input"),
                 tsr_model_meta(m, "tessera.outputs"), (long long)total, model);
    TSR_TRY(cli_table_print(&t, stdout));
done:
    cli_table_fini(&t);
    return st;
}

/* A section of a run file, cut out of it where it stands. */
static const char *section_of(char *text, const char *name)
{
    size_t n = strlen(name);
    char *from = text;
    while (from && (strncmp(from, name, n) != 0 || from[n] != ':'))
        from = strchr(from, '\n') ? strchr(from, '\n') + 1 : NULL;
    char *end = from ? strchr(from, '\n') : NULL;
    while (end && end[1] == ' ')
        end = strchr(end + 1, '\n');
    if (end)
        end[1] = '\0';
    return from ? from : "";
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_model *model = NULL;
    char *text = NULL;
    TSR_TRY(tsr_model_read(&model, args->operand[0]));
    TSR_TRY(tsr_config_write(&text, tsr_model_config(model)));
    const char *section = section_of(text, "model");
    TSR_TRY(args->json ? print_json(model, section) : print_text(model, section));
done:
    tsr_free(text);
    tsr_model_destroy(model);
    return st;
}

const cli_command cli_info = {
    .name = "info",
    .help = "show what is inside a model file",
    .synopsis = "MODEL",
    .least = 1,
    .most = 1,
    .operand = CLI_FILE,
    .run = run,
};
