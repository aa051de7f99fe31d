/* data_report.c - a data set described: tables for a person, one object with --json. */
#include "cli/data_report.h"

#include "cli/print.h"

#include "io/json.h"

#include <stdio.h>

/* Bytes are shown as 0 .. 1, as everyone quotes them. */
static double unit_of(const tsr_data *data)
{
    return data->train.bytes ? 1.0 / 255.0 : 1.0;
}

/* ---- Text ---------------------------------------------------------------------------------- */

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

enum { MOST = 24 }; /* rows of a table */

static void say_rest(int64_t count)
{
    if (count > MOST)
        (void)printf("and %lld more (--json shows all)\n", (long long)(count - MOST));
}

static tsr_status print_channels(const tsr_data *data, const tsri_data_info *info)
{
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
    say_rest(data->channels);
done:
    cli_table_fini(&t);
    return st;
}

static tsr_status print_classes(const tsr_data *data, const tsri_data_info *info)
{
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
    say_rest(data->classes);
done:
    cli_table_fini(&t);
    return st;
}

tsr_status cli_data_text(const tsr_data *data, const tsri_data_info *info, double seconds)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    tsri_text columns = {0};
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
    TSR_TRY(tsri_data_schema_text(&columns, &data->schema));
    if (columns.data) {
        cli_table_text(&t, "columns");
        cli_table_text(&t, columns.data);
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
    tsri_text_fini(&columns);
    cli_table_fini(&t);
    return st;
}

/* ---- JSON ---------------------------------------------------------------------------------- */

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

tsr_status cli_data_json(const tsr_data *data, const tsri_data_info *info, double seconds)
{
    tsri_json w = {0};
    tsri_json_begin(&w);
    tsri_json_put_text(&w, "name", data->name);
    tsri_json_put_text(&w, "source", data->source);
    json_facts(&w, data, info);
    tsri_json_key(&w, "schema");
    tsri_data_schema_write(&w, &data->schema);
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
