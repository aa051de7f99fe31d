/* data_report.c - a data set described in tables for a person. */
#include "cli/data_report.h"

#include "cli/print.h"

#include <math.h>
#include <stdio.h>

static void kind_row(cli_table *t, const tsr_doc *d)
{
    long long channels = tsr_doc_int(d, "channels"), height = tsr_doc_int(d, "height"),
              width = tsr_doc_int(d, "width");
    cli_table_text(t, "a sample");
    if (tsr_doc_bool(d, "sequences"))
        cli_table_format(t, "sequence of up to %lld positions, %lld numbers each", height,
                         channels);
    else if (height * width > 1)
        cli_table_format(t, "image, %lld x %lld, %lld channel%s, of %s", height, width, channels,
                         channels > 1 ? "s" : "",
                         tsr_doc_bool(d, "bytes") ? "bytes" : "real numbers");
    else
        cli_table_format(t, "row of %lld numbers", (long long)tsr_doc_int(d, "dim"));
}

static void answer_row(cli_table *t, const tsr_doc *d)
{
    const tsr_doc *classes = tsr_doc_get(d, "class"), *target = tsr_doc_get(d, "target");
    int64_t least = INT64_MAX, most = 0;
    cli_table_text(t, classes ? "classes" : "targets");
    for (int64_t c = 0; c < tsr_doc_count(classes); c++) {
        int64_t count = tsr_doc_int(tsr_doc_at(classes, c), "train_n");
        least = count < least ? count : least;
        most = count > most ? count : most;
    }
    if (!classes)
        cli_table_format(t, "%lld, from %.6g to %.6g, mean %.6g, deviation %.6g",
                         (long long)tsr_doc_int(d, "targets"), tsr_doc_real(target, "least"),
                         tsr_doc_real(target, "most"), tsr_doc_real(target, "mean"),
                         tsr_doc_real(target, "deviation"));
    else if (least == most)
        cli_table_format(t, "%lld, %lld training samples each", (long long)tsr_doc_count(classes),
                         (long long)most);
    else
        cli_table_format(t, "%lld, %lld to %lld training samples each",
                         (long long)tsr_doc_count(classes), (long long)least, (long long)most);
}

/* The two samples of a pair. */
static long long one_of(const tsr_doc *d, const char *key, int64_t i)
{
    return tsr_doc_int(tsr_doc_at(tsr_doc_get(d, key), i), NULL);
}

static void duplicate_rows(cli_table *t, const tsr_doc *d)
{
    long long duplicates = tsr_doc_int(d, "duplicates"), conflicts = tsr_doc_int(d, "conflicts");
    cli_table_text(t, "duplicates");
    if (duplicates == 0)
        cli_table_text(t, "none");
    else
        cli_table_format(t,
                         "%lld training samples equal an earlier one, %lld of them with another %s",
                         duplicates, conflicts, tsr_doc_get(d, "class") ? "label" : "target");
    if (conflicts > 0) {
        cli_table_text(t, "for example");
        cli_table_format(t, "samples %lld and %lld (from 0)", one_of(d, "conflict", 0),
                         one_of(d, "conflict", 1));
    }
}

static void sound_rows(cli_table *t, const tsr_doc *d)
{
    cli_table_text(t, "missing");
    if (tsr_doc_int(d, "missing") == 0)
        cli_table_text(t, "none");
    else
        cli_table_format(t, "%lld cells; %lld of them in columns that are used, filled",
                         (long long)tsr_doc_int(d, "missing"), (long long)tsr_doc_int(d, "filled"));
    duplicate_rows(t, d);
    cli_table_text(t, "phi");
    if (isnan(tsr_doc_real(d, "phi")))
        cli_table_text(t, "fewer than two rows that are not zero");
    else
        cli_table_format(t,
                         "%.4g: least distance of two of %lld rows of norm 1 (samples %lld and "
                         "%lld)",
                         tsr_doc_real(d, "phi"), (long long)tsr_doc_int(d, "phi_rows"),
                         one_of(d, "phi_pair", 0), one_of(d, "phi_pair", 1));
}

enum { MOST = 24 }; /* rows of a table */

static void say_rest(int64_t count)
{
    if (count > MOST)
        (void)printf("and %lld more (--json shows all)\n", (long long)(count - MOST));
}

static tsr_status print_channels(const tsr_doc *d)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    const tsr_doc *all = tsr_doc_get(d, "channel");
    bool image = tsr_doc_int(d, "height") * tsr_doc_int(d, "width") > 1;
    cli_table_head(&t, 5, image ? "channel" : "column", "mean", "deviation", "least", "most");
    for (int64_t c = 0; c < tsr_doc_count(all) && c < MOST; c++) {
        const tsr_doc *k = tsr_doc_at(all, c);
        if (tsr_doc_text(k, "name"))
            cli_table_text(&t, tsr_doc_text(k, "name"));
        else
            cli_table_format(&t, "%lld", (long long)(c + 1));
        cli_table_real(&t, tsr_doc_real(k, "mean"), 4);
        cli_table_real(&t, tsr_doc_real(k, "deviation"), 4);
        cli_table_real(&t, tsr_doc_real(k, "least"), 4);
        cli_table_real(&t, tsr_doc_real(k, "most"), 4);
    }
    (void)puts("");
    TSR_TRY(cli_table_print(&t, stdout));
    say_rest(tsr_doc_count(all));
done:
    cli_table_fini(&t);
    return st;
}

static tsr_status print_classes(const tsr_doc *d)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    const tsr_doc *all = tsr_doc_get(d, "class");
    if (!all)
        goto done;
    cli_table_head(&t, 4, "class", "training", "test", "name");
    for (int64_t c = 0; c < tsr_doc_count(all) && c < MOST; c++) {
        const tsr_doc *k = tsr_doc_at(all, c);
        cli_table_int(&t, c);
        cli_table_int(&t, tsr_doc_int(k, "train_n"));
        cli_table_int(&t, tsr_doc_int(k, "test_n"));
        cli_table_text(&t, tsr_doc_text(k, "name"));
    }
    (void)puts("");
    TSR_TRY(cli_table_print(&t, stdout));
    say_rest(tsr_doc_count(all));
done:
    cli_table_fini(&t);
    return st;
}

tsr_status cli_data_text(const tsr_doc *d)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    cli_table_columns(&t, 2, 2);
    cli_table_text(&t, "from");
    cli_table_text(&t, tsr_doc_text(d, "source"));
    cli_table_text(&t, "samples");
    cli_table_format(&t, "%lld for training, %lld for testing",
                     (long long)tsr_doc_int(d, "train_n"), (long long)tsr_doc_int(d, "test_n"));
    kind_row(&t, d);
    if (tsr_doc_bool(d, "sequences")) {
        cli_table_text(&t, "lengths");
        cli_table_format(&t, "%lld to %lld in the training part",
                         (long long)tsr_doc_int(d, "shortest"),
                         (long long)tsr_doc_int(d, "longest"));
    }
    if (tsr_doc_text(d, "columns")) {
        cli_table_text(&t, "columns");
        cli_table_text(&t, tsr_doc_text(d, "columns"));
    }
    answer_row(&t, d);
    sound_rows(&t, d);
    cli_table_text(&t, "loaded in");
    cli_table_format(&t, "%.2f s", tsr_doc_real(d, "seconds"));
    (void)printf("%s\n", tsr_doc_text(d, "name"));
    TSR_TRY(cli_table_print(&t, stdout));
    TSR_TRY(print_channels(d));
    TSR_TRY(print_classes(d));
done:
    cli_table_fini(&t);
    return st;
}
