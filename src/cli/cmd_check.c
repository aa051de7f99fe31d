/* cmd_check.c - tessera check: everything about a run file that can be known without training. */
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/settings.h"
#include "cli/string.h"

#include <stdio.h>
#include <string.h>

static tsr_status print_json(const tsr_needs *n)
{
    const struct row {
        const char *key;
        int64_t value;
    } row[] = {{"params", n->params},
               {"trained", n->trained},
               {"flops_step", n->flops_step},
               {"train_n", n->train_n},
               {"test_n", n->test_n},
               {"rounds", n->rounds},
               {"epoch_rounds", n->epoch_rounds},
               {"memory_data", n->memory_data},
               {"memory_model", n->memory_model},
               {"memory_plan", n->memory_plan},
               {"memory_worker", n->memory_data + n->memory_model + n->memory_plan}},
      device[] = {{"memory_device", n->memory_device},
                  {"device_free", n->device_free},
                  {"device_all", n->device_all},
                  {"batch_fits", n->batch_fits}};
    tsr_json *w = tsr_json_create();
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        tsr_json_int(w, row[i].key, row[i].value);
    tsr_json_text(w, "backend", n->backend);
    for (size_t i = 0; n->memory_device > 0 && i < sizeof device / sizeof *device; i++)
        tsr_json_int(w, device[i].key, device[i].value);
    return cli_json_print(w);
}

/* A row for each thing that changes training images at random. */
static tsr_status changes_rows(cli_table *t, const tsr_config *config)
{
    static const struct {
        const char *key, *off, *before, *behind;
    } all[] = {{"data.augment", "none", "", " at random"},
               {"data.randaugment", "0", "RandAugment, operations on each image: ", ""},
               {"data.cutout", "0", "cutout, pixels of a side: ", ""}};
    tsr_status st = TSR_OK;
    char *value = NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        TSR_TRY(tsr_config_get(&value, config, all[i].key));
        if (strcmp(value, all[i].off) != 0) {
            cli_table_text(t, "changes");
            cli_table_format(t, "%s%s%s", all[i].before, value, all[i].behind);
        }
        tsr_free(value);
        value = NULL;
    }
done:
    tsr_free(value);
    return st;
}

static tsr_status print_text(const tsr_needs *n, const tsr_config *config, const char *file)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    cli_table_columns(&t, 2, 2);
    cli_table_text(&t, "data");
    cli_table_format(&t, "%lld training and %lld test samples", (long long)n->train_n,
                     (long long)n->test_n);
    TSR_TRY(changes_rows(&t, config));
    cli_table_text(&t, "model");
    cli_table_format(&t, "%lld numbers, %lld of them trained", (long long)n->params,
                     (long long)n->trained);
    cli_table_text(&t, "length");
    cli_table_format(&t, "%lld rounds, %lld in an epoch", (long long)n->rounds,
                     (long long)n->epoch_rounds);
    cli_table_text(&t, "step");
    cli_table_format(&t, "%.4g GFLOP", (double)n->flops_step / 1e9);
    cli_table_text(&t, "memory");
    cli_table_format(&t, "data %s, model %s, plan %s", cli_bytes((double)n->memory_data),
                     cli_bytes((double)n->memory_model), cli_bytes((double)n->memory_plan));
    cli_table_text(&t, "backend");
    cli_table_text(&t, n->backend);
    if (n->memory_device > 0) {
        cli_table_text(&t, "GPU");
        cli_table_format(&t, "wants %s of its memory, %s of %s are free",
                         cli_bytes((double)n->memory_device), cli_bytes((double)n->device_free),
                         cli_bytes((double)n->device_all));
    }
    if (n->batch_fits > 0) {
        cli_table_text(&t, "batch");
        cli_table_format(&t, "up to about %lld would fit", (long long)n->batch_fits);
    }
    (void)printf("%s is sound\n", file);
    TSR_TRY(cli_table_print(&t, stdout));
done:
    cli_table_fini(&t);
    return st;
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsr_needs needs = tsr_needs_default();
    TSR_TRY(tsr_config_read(&config, args->operand[0]));
    TSR_TRY(cli_settings(config, args));
    needs.device_all = (int64_t)(cli_real(args, "memory", 0) * 1e9);
    TSR_TRY(tsr_check(&needs, config));
    TSR_TRY(args->json ? print_json(&needs) : print_text(&needs, config, args->operand[0]));
done:
    tsr_config_destroy(config);
    return st;
}

static const cli_option options[] = {
    CLI_OPTION_SET,
    CLI_OPTION_DATA,
    {"memory", 0, "GB", CLI_REAL, .least = 0.001, .most = 1e6,
     .help = "plan for a GPU with so much memory, which need not be in this machine"},
    {0},
};

const cli_command cli_check = {
    .name = "check",
    .help = "check a run file, its data and the memory it needs, without training",
    .synopsis = "RUN-FILE",
    .least = 1,
    .most = 1,
    .operand = CLI_FILE,
    .options = options,
    .run = run,
};
