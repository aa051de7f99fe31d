/* read_csv.c - a table becomes inputs and targets.
 *
 * - A column of words becomes one input per word, one-hot.
 * - Missing cells (csv.h) are NaN until normalize.c fills them.
 * - The target is the last column unless data.target says otherwise, by name or number from 1;
 *   "15-18" gives several real targets. It is a class when it is made of words, or of at most 20
 *   different whole numbers; data.task overrides.
 */
#include "data/reader.h"

#include "base/alloc.h"
#include "base/log.h"
#include "data/csv.h"
#include "data/csv_table.h"
#include "data/part.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WHOLE_CLASSES_MAX = 20 }; /* different whole numbers that are still taken for classes */

/* ---- Inputs ------------------------------------------------------------------------------- */

static int64_t width_of(const tsri_column *k)
{
    return k->kind != TSRI_WORDS ? 1 : k->like ? k->like->words : k->list.count;
}

/* Word w of a column, in the order of the list that its cells refer to. */
static const char *word_of(const tsri_column *k, int64_t w)
{
    return k->like ? k->like->word[w] : k->list.word[w];
}

static tsr_status name_inputs(tsr_data *data, const tsri_tables *t)
{
    tsr_status st = TSR_OK;
    int64_t first = 0;
    TSR_TRY(tsri_alloc(&data->column, data->dim, sizeof *data->column));
    for (int64_t i = 0; i < t->inputs; i++) {
        const tsri_column *c = &t->column[t->input[i]];
        bool words = c->kind == TSRI_WORDS;
        for (int64_t w = 0; w < width_of(c); w++) {
            tsri_text name = {0};
            st = c->name ? tsri_text_add(&name, "%s", c->name)
                         : tsri_text_add(&name, "column %lld", (long long)(t->input[i] + 1));
            if (st == TSR_OK && words)
                st = tsri_text_add(&name, "=%s", word_of(c, w));
            data->column[first + (words ? c->position[w] : 0)] = name.data;
            if (st != TSR_OK)
                goto done;
        }
        first += width_of(c);
    }
done:
    return st;
}

/* A missing word leaves all its inputs missing: filled by the mean they become the frequencies. */
static void put_cell(float *x, const tsri_column *k, double value)
{
    bool words = k->kind == TSRI_WORDS;
    for (int64_t w = 0; w < width_of(k); w++)
        x[w] = isnan(value) ? NAN : words ? 0.0f : (float)value;
    if (words && !isnan(value))
        x[k->position[(int64_t)value]] = 1.0f;
}

static tsr_status set_inputs(tsri_part *part, const tsr_data *data, const tsri_tables *t,
                             const tsri_csv_table *p)
{
    tsr_status st = TSR_OK;
    part->n = p->rows;
    TSR_TRY(tsri_alloc_raw(&part->numbers, p->rows * data->dim, sizeof *part->numbers));
    float *x = part->numbers;
    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t k = 0; k < t->inputs; k++) {
            const tsri_column *c = &t->column[t->input[k]];
            put_cell(x, c, p->cell[i * t->columns + t->input[k]]);
            x += width_of(c);
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
        for (int64_t k = 0; k < t->targets; k++)
            *y++ = (float)p->cell[i * t->columns + t->target[k]];
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
        (*out)[i] = !*whole ? 0 : c->kind == TSRI_WORDS ? c->position[(int64_t)v] : (int64_t)v;
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
        TSR_TRY(tsri_strdup(&data->class_name[c->position[w]], c->list.word[w]));
done:
    return st;
}

/* ---- Targets as a model has them ------------------------------------------------------------ */

static const char *some_classes(const tsri_like *like)
{
    static _Thread_local char text[200];
    size_t at = 0;
    for (int64_t i = 0; like->class_name && i < like->classes && at + 40 < sizeof text; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%.30s", i > 0 ? ", " : "",
                               tsri_quote(like->class_name[i]));
    if (!like->class_name)
        (void)snprintf(text, sizeof text, "0 to %lld", (long long)like->classes - 1);
    return text;
}

/* The model's class that a word means. Classes that are numbers have no one way to be written: 1,
 * 1.0 and +1 are the same where only one class has that value. */
static int64_t class_of_word(const tsri_like *like, const char *word)
{
    int64_t class = tsri_like_class(like, word, strlen(word)), found = 0;
    double value, other;
    if (class >= 0 || tsri_cell_kind(&value, word, strlen(word), false) != TSRI_CELL_NUMBER)
        return class;
    for (int64_t i = 0; i < like->classes; i++) {
        const char *name = like->class_name ? like->class_name[i] : NULL;
        bool number =
            !name || tsri_cell_kind(&other, name, strlen(name), false) == TSRI_CELL_NUMBER;
        if (!number || (name ? other : (double)i) != value)
            continue;
        class = i;
        found++;
    }
    return found == 1 ? class : -1;
}

/* class[w] = the model's class of word w of the target's column. */
static tsr_status classes_of_words(int64_t **class, const tsri_tables *t, const tsri_column *c,
                                   const tsri_like *like)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc(class, c->list.count, sizeof **class));
    for (int64_t w = 0; w < c->list.count; w++) {
        const char *word = c->list.word[w];
        (*class)[w] = class_of_word(like, word);
        if ((*class)[w] < 0 && like->unlabelled) {
            TSRI_WARN(
                "%s: the target \"%s\" is not one of the model's classes (%s): targets are left "
                "out",
                tsri_quote(t->part[0].path), tsri_quote(word), some_classes(like));
            TSRI_FREE(*class);
            goto done;
        }
        TSR_CHECK((*class)[w] >= 0, TSR_BAD_FILE,
                  "%s: the target \"%s\" is not one of the model's classes (%s)",
                  tsri_quote(t->part[0].path), tsri_quote(word), some_classes(like));
    }
done:
    return st;
}

static tsr_status label_like(tsri_part *part, const tsri_tables *t, int64_t k,
                             const tsri_csv_table *p, const int64_t *class)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc_raw(&part->label, p->rows, sizeof *part->label));
    for (int64_t i = 0; i < p->rows; i++)
        part->label[i] = (int32_t) class[(int64_t)p->cell[i * t->columns + k]];
done:
    return st;
}

/* A word's number in a list is not what a model of real targets answers with. *real = false where
 * targets are not needed. */
static tsr_status check_real(bool *real, const tsri_tables *t)
{
    tsr_status st = TSR_OK;
    *real = true;
    for (int64_t k = 0; k < t->columns && *real; k++) {
        const tsri_column *c = &t->column[k];
        const tsri_cell_place *at = c->text.line > 0 ? &c->text : &c->date;
        *real = !c->target || c->kind == TSRI_NUMBERS;
        TSR_CHECK(*real || t->want->like->unlabelled, TSR_BAD_FILE,
                  "%s: %s: the target \"%s\" is not a number, but the model's targets are",
                  tsri_quote(at->path), tsri_column_place(t, k, at->line, at->column), at->text);
        if (!*real)
            TSRI_WARN("%s: %s: the target \"%s\" is not a number, but the model's targets are: "
                      "targets are left out",
                      tsri_quote(at->path), tsri_column_place(t, k, at->line, at->column),
                      at->text);
    }
done:
    return st;
}

static tsr_status targets_like(tsr_data *data, const tsri_tables *t)
{
    tsr_status st = TSR_OK;
    const tsri_like *like = t->want->like;
    int64_t *class = NULL, k = 0;
    bool real = false;
    TSR_TRY(tsri_take_classes(data));
    if (t->targets == 0)
        goto done;
    while (!t->column[k].target)
        k++;
    if (like->classes > 0)
        TSR_TRY(classes_of_words(&class, t, &t->column[k], like));
    else
        TSR_TRY(check_real(&real, t));
    data->targets = like->classes > 0 ? 0 : t->targets;
    for (int i = 0; i < t->parts && (class || real); i++) {
        tsri_part *part = i == 0 ? &data->train : &data->test;
        TSR_TRY(class ? label_like(part, t, k, &t->part[i], class)
                      : real_targets(part, t, &t->part[i]));
    }
done:
    tsri_free(class);
    return st;
}

/* ---- Targets of a table of its own ----------------------------------------------------------- */

static tsr_status set_targets(tsr_data *data, const tsri_tables *t)
{
    tsr_status st = TSR_OK;
    int64_t *train = NULL, *test = NULL, k = 0;
    bool whole = t->targets == 1, automatic = strcmp(t->want->task, "auto") == 0;
    bool classify = strcmp(t->want->task, "classify") == 0;
    for (int64_t j = 0; j < t->columns; j++)
        k = t->column[j].target && (t->targets == 1 || t->column[j].kind == TSRI_WORDS) ? j : k;
    const tsri_column *c = &t->column[k];
    TSR_CHECK(
        !c->target || !(c->kind == TSRI_WORDS) || (t->targets == 1 && (automatic || classify)),
        TSR_BAD_FILE,
        "%s: line %lld, column %lld: the target \"%s\" is not a number; repair it, or set "
        "data.task to classify",
        tsri_quote(c->text.path), (long long)c->text.line, (long long)c->text.column, c->text.text);
    if (whole)
        TSR_TRY(whole_targets(&train, &whole, t, k, &t->part[0]));
    if (whole && t->parts > 1)
        TSR_TRY(whole_targets(&test, &whole, t, k, &t->part[1]));
    TSR_CHECK(!c->target || c->kind == TSRI_WORDS || c->huge.line == 0 ||
                  strcmp(t->want->task, "regress") == 0,
              TSR_BAD_FILE,
              "%s: %s: the target \"%s\" has too many digits to be told from its neighbours: name "
              "the column in data.words if these are names, or set data.task to regress",
              tsri_quote(c->huge.path), tsri_column_place(t, k, c->huge.line, c->huge.column),
              c->huge.text);
    TSR_CHECK(
        whole || !classify, TSR_BAD_FILE,
        "%s: column %lld: the target is not a single column of whole numbers or words, so its "
        "values are not classes; set data.task to regress",
        tsri_quote(t->part[0].path), (long long)(k + 1));
    if (automatic)
        classify = whole && ((c->kind == TSRI_WORDS) ||
                             count_different(train, t->part[0].rows, WHOLE_CLASSES_MAX) <=
                                 WHOLE_CLASSES_MAX);
    if (classify) {
        TSR_TRY(tsri_labels_from(data, train, test, !(c->kind == TSRI_WORDS), t->part[0].path));
        if ((c->kind == TSRI_WORDS))
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

/* ---- Schema --------------------------------------------------------------------------------- */

static tsr_status copy_name(char **out, const char *name)
{
    return name ? tsri_strdup(out, name) : TSR_OK;
}

static tsr_status field_of(tsri_field *f, const tsri_column *c)
{
    tsr_status st = TSR_OK;
    TSR_TRY(copy_name(&f->name, c->name));
    f->dates = c->kind == TSRI_DATES;
    if (c->kind != TSRI_WORDS)
        goto done;
    TSR_TRY(tsri_alloc(&f->word, width_of(c), sizeof *f->word));
    f->words = width_of(c);
    for (int64_t w = 0; w < f->words; w++)
        TSR_TRY(tsri_strdup(&f->word[c->position[w]], word_of(c, w)));
done:
    return st;
}

static tsr_status names_of_targets(tsri_data_schema *s, const tsri_tables *t)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc(&s->target, t->targets, sizeof *s->target));
    for (int64_t k = 0; k < t->targets; k++)
        TSR_TRY(copy_name(&s->target[s->targets++], t->column[t->target[k]].name));
done:
    return st;
}

static tsr_status names_of_ignored(tsri_data_schema *s, const tsri_tables *t)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc(&s->ignored, t->columns, sizeof *s->ignored));
    for (int64_t k = 0; k < t->columns; k++)
        if (t->column[k].ignored && t->column[k].name)
            TSR_TRY(copy_name(&s->ignored[s->ignoreds++], t->column[k].name));
done:
    return st;
}

static tsr_status set_schema(tsri_data_schema *s, const tsri_tables *t)
{
    tsr_status st = TSR_OK;
    s->kind = "table";
    TSR_TRY(tsri_alloc(&s->field, t->inputs, sizeof *s->field));
    s->fields = t->inputs;
    for (int64_t i = 0; i < t->inputs; i++)
        TSR_TRY(field_of(&s->field[i], &t->column[t->input[i]]));
    TSR_TRY(names_of_targets(s, t));
    TSR_TRY(names_of_ignored(s, t));
done:
    return st;
}

/* ---- The reader --------------------------------------------------------------------------- */

tsr_status tsri_read_csv(tsr_data *data, const tsri_read *want)
{
    tsr_status st = TSR_OK;
    tsri_tables t = {0};
    int64_t dim = 0;
    TSR_TRY(tsri_tables_read(&t, data, want));
    for (int64_t i = 0; i < t.inputs; i++)
        dim += width_of(&t.column[t.input[i]]);
    TSR_TRY(tsri_data_shape(data, dim, 1, 1, want->path));
    TSR_TRY(name_inputs(data, &t));
    for (int i = 0; i < t.parts; i++)
        TSR_TRY(set_inputs(i == 0 ? &data->train : &data->test, data, &t, &t.part[i]));
    TSR_TRY(want->like ? targets_like(data, &t) : set_targets(data, &t));
    TSR_TRY(set_schema(&data->schema, &t));
done:
    tsri_tables_fini(&t);
    return st;
}

tsr_status tsri_is_csv(bool *is, const char *path)
{
    static const char *const endings[] = {".csv",    ".csv.gz", ".csv.xz", ".tsv",
                                          ".tsv.gz", ".tsv.xz", ".data",   ".txt"};
    *is = tsri_is_stdin(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        *is = *is || (tsri_ends_with(path, endings[i]) && tsri_is_file(path));
    return TSR_OK;
}
