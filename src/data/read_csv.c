/* read_csv.c - a table becomes inputs and targets.
 *
 * - A column of words becomes one input per word, one-hot.
 * - Missing: an empty cell or ?. It is NaN until normalize.c fills it.
 * - The target is the last column unless data.target says otherwise, by name or number from 1;
 *   "15-18" gives several real targets. It is a class when it is made of words, or of at most 20
 *   different whole numbers; data.task overrides.
 */
#include "data/reader.h"

#include "base/alloc.h"
#include "data/csv_table.h"
#include "data/part.h"

#include <math.h>
#include <string.h>

enum { WHOLE_CLASSES_MAX = 20 }; /* different whole numbers that are still taken for classes */

/* ---- Inputs ------------------------------------------------------------------------------- */

static int64_t width_of(const tsri_column *k)
{
    return k->target || k->ignored ? 0 : k->words ? k->list.count : 1;
}

static tsr_status name_inputs(tsr_data *data, const tsri_tables *t)
{
    tsr_status st = TSR_OK;
    int64_t first = 0;
    TSR_TRY(tsri_alloc(&data->column, data->dim, sizeof *data->column));
    for (int64_t k = 0; k < t->columns; first += width_of(&t->column[k]), k++)
        for (int64_t w = 0; w < width_of(&t->column[k]); w++) {
            const tsri_column *c = &t->column[k];
            tsri_text name = {0};
            st = c->name ? tsri_text_add(&name, "%s", c->name)
                         : tsri_text_add(&name, "column %lld", (long long)(k + 1));
            if (st == TSR_OK && c->words)
                st = tsri_text_add(&name, "=%s", c->list.word[w]);
            data->column[first + (c->words ? c->rank[w] : 0)] = name.data;
            if (st != TSR_OK)
                goto done;
        }
done:
    return st;
}

/* A missing word leaves all its inputs missing: filled by the mean they become the frequencies. */
static void put_cell(float *x, const tsri_column *k, double value)
{
    for (int64_t w = 0; w < width_of(k); w++)
        x[w] = isnan(value) ? NAN : k->words ? 0.0f : (float)value;
    if (width_of(k) > 0 && k->words && !isnan(value))
        x[k->rank[(int64_t)value]] = 1.0f;
}

static tsr_status set_inputs(tsri_part *part, const tsr_data *data, const tsri_tables *t,
                             const tsri_csv_table *p)
{
    tsr_status st = TSR_OK;
    part->n = p->rows;
    TSR_TRY(tsri_alloc_raw(&part->numbers, p->rows * data->dim, sizeof *part->numbers));
    float *x = part->numbers;
    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t k = 0; k < t->columns; k++) {
            put_cell(x, &t->column[k], p->cell[i * t->columns + k]);
            x += width_of(&t->column[k]);
        }
done:
    return st;
}

/* ---- Targets ------------------------------------------------------------------------------ */

static tsr_status real_targets(tsri_part *part, const tsri_tables *t, const tsri_csv_table *p)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc_raw(&part->target, p->rows * t->targets, sizeof *part->target));
    float *y = part->target;
    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t k = 0; k < t->columns; k++)
            if (t->column[k].target)
                *y++ = (float)p->cell[i * t->columns + k];
done:
    return st;
}

/* The target column of a table as whole numbers: a word's place among the sorted words. *whole
 * says whether all were. */
static tsr_status whole_targets(int64_t **out, bool *whole, const tsri_tables *t, int64_t k,
                                const tsri_csv_table *p)
{
    tsr_status st = TSR_OK;
    const tsri_column *c = &t->column[k];
    TSR_TRY(tsri_alloc_raw(out, p->rows, sizeof **out));
    for (int64_t i = 0; i < p->rows; i++) {
        double v = p->cell[i * t->columns + k];
        *whole = *whole && v == floor(v) && fabs(v) < 0x1p53;
        (*out)[i] = !*whole ? 0 : c->words ? c->rank[(int64_t)v] : (int64_t)v;
    }
done:
    return st;
}

static int64_t count_different(const int64_t *v, int64_t n, int64_t most)
{
    int64_t seen[WHOLE_CLASSES_MAX + 1], count = 0;
    for (int64_t i = 0; i < n && count <= most; i++) {
        int64_t j = 0;
        while (j < count && seen[j] != v[i])
            j++;
        if (j == count)
            seen[count++] = v[i];
    }
    return count;
}

static tsr_status name_words(tsr_data *data, const tsri_column *c)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc(&data->class_name, data->classes, sizeof *data->class_name));
    for (int64_t w = 0; w < c->list.count; w++)
        TSR_TRY(tsri_strdup(&data->class_name[c->rank[w]], c->list.word[w]));
done:
    return st;
}

static tsr_status set_targets(tsr_data *data, const tsri_tables *t)
{
    tsr_status st = TSR_OK;
    int64_t *train = NULL, *test = NULL, k = 0;
    bool whole = t->targets == 1, automatic = strcmp(t->want->task, "auto") == 0;
    bool classify = strcmp(t->want->task, "classify") == 0;
    for (int64_t j = 0; j < t->columns; j++)
        k = t->column[j].target && (t->targets == 1 || t->column[j].words) ? j : k;
    const tsri_column *c = &t->column[k];
    TSR_CHECK(!c->target || !c->words || (t->targets == 1 && (automatic || classify)), TSR_BAD_FILE,
              "%s: line %lld, column %lld: the target \"%s\" is no number; repair it, or set "
              "data.task to classify",
              tsri_quote(t->part[0].path), (long long)c->text_line, (long long)(k + 1), c->text);
    if (whole)
        TSR_TRY(whole_targets(&train, &whole, t, k, &t->part[0]));
    if (whole && t->parts > 1)
        TSR_TRY(whole_targets(&test, &whole, t, k, &t->part[1]));
    TSR_CHECK(whole || !classify, TSR_BAD_FILE,
              "%s: column %lld: the target is no single column of whole numbers or words, so its "
              "values are no classes; set data.task to regress",
              tsri_quote(t->part[0].path), (long long)(k + 1));
    if (automatic)
        classify = whole && (c->words || count_different(train, t->part[0].rows,
                                                         WHOLE_CLASSES_MAX) <= WHOLE_CLASSES_MAX);
    if (classify) {
        TSR_TRY(tsri_labels_from(data, train, test, !c->words, t->part[0].path));
        if (c->words)
            TSR_TRY(name_words(data, c));
        goto done;
    }
    data->targets = t->targets;
    TSR_TRY(real_targets(&data->train, t, &t->part[0]));
    if (t->parts > 1)
        TSR_TRY(real_targets(&data->test, t, &t->part[1]));
done:
    tsri_free(train);
    tsri_free(test);
    return st;
}

/* ---- The reader --------------------------------------------------------------------------- */

tsr_status tsri_read_csv(tsr_data *data, const tsri_read *want)
{
    tsr_status st = TSR_OK;
    tsri_tables t = {0};
    int64_t dim = 0;
    TSR_TRY(tsri_tables_read(&t, data, want));
    for (int64_t k = 0; k < t.columns; k++)
        dim += width_of(&t.column[k]);
    TSR_TRY(tsri_data_shape(data, dim, 1, 1, want->path));
    TSR_TRY(name_inputs(data, &t));
    for (int i = 0; i < t.parts; i++)
        TSR_TRY(set_inputs(i == 0 ? &data->train : &data->test, data, &t, &t.part[i]));
    TSR_TRY(set_targets(data, &t));
done:
    tsri_tables_fini(&t);
    return st;
}

tsr_status tsri_is_csv(bool *is, const char *path)
{
    static const char *const endings[] = {".csv",    ".csv.gz", ".csv.xz", ".tsv",
                                          ".tsv.gz", ".tsv.xz", ".data",   ".txt"};
    *is = false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        *is = *is || (tsri_ends_with(path, endings[i]) && tsri_is_file(path));
    return TSR_OK;
}
