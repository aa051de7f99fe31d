/* given.c - a data set from a program's own arrays.
 *
 * It holds what a reader of files would have read: raw samples, to be split and scaled by each run
 * for itself. What the library keeps is in C's order; what it does not copy must be.
 */
#include "data/arrays.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/sized.h"
#include "data/part.h"
#include "data/resolution.h"
#include "data/reader.h"
#include "data/source.h"
#include "data/words.h"

#include <math.h>
#include <string.h>

/* ---- Inputs --------------------------------------------------------------------------------- */

/* The arrays of one part, and what they are called in messages. */
typedef struct given {
    const tsr_array *x, *y, *length;
    const char *x_name, *y_name, *length_name;
} given;

static tsr_status set_shape(tsr_data *data, const tsr_array *x, tsr_form form)
{
    tsr_status st = TSR_OK;
    const int64_t *s = x->shape;
    TSR_CHECK(form >= TSR_FORM_AUTO && form <= TSR_SEQUENCES, TSR_USAGE,
              "form: %d is not a tsr_form", (int)form);
    if (form == TSR_FORM_AUTO)
        form = x->dims <= 2 ? TSR_VECTORS : x->dims == 4 ? TSR_IMAGES : TSR_FORM_AUTO;
    TSR_CHECK(form != TSR_FORM_AUTO, TSR_USAGE,
              "x has %d dimensions: say whether they are images or sequences (form)", x->dims);
    data->sequences = form == TSR_SEQUENCES;
    if (form == TSR_VECTORS && x->dims <= 2)
        st = tsri_data_shape(data, x->dims == 2 ? s[1] : 1, 1, 1, data->name);
    else if (form == TSR_IMAGES && (x->dims == 3 || x->dims == 4))
        st = tsri_data_shape(data, x->dims == 4 ? s[1] : 1, s[x->dims - 2], s[x->dims - 1],
                             data->name);
    else if (form == TSR_SEQUENCES && x->dims == 3)
        st = tsri_data_shape(data, s[2], s[1], 1, data->name);
    else
        st =
            tsri_fail(TSR_USAGE,
                      "x has %d dimensions: vectors are [n, numbers], images [n, height, width] or "
                      "[n, channels, height, width], sequences [n, positions, numbers]",
                      x->dims);
done:
    return st;
}

static tsr_status check_finite(tsr_data *data, const float *x, const given *g, int64_t i,
                               bool missing)
{
    tsr_status st = TSR_OK;
    for (int64_t k = 0; k < data->dim; k++) {
        if (isfinite(x[k]))
            continue;
        TSR_CHECK(isnan(x[k]) && missing, TSR_USAGE,
                  "%s: number %lld of sample %lld is %g: repair or leave out the sample%s",
                  g->x_name, (long long)k, (long long)i, (double)x[k],
                  isnan(x[k]) ? ", or say that NaN means missing" : "");
        data->missing++;
        data->missing_found++;
    }
done:
    return st;
}

/* Warns of numbers that a float cannot tell apart. They may be for a model that learned from
 * others, where more of them differ. */
static tsr_status doubt_resolution(const tsr_data *data, const tsr_array *x, const char *name)
{
    tsr_status st = TSR_OK;
    tsri_resolution *r = NULL;
    double *row = NULL;
    int64_t n = tsri_array_count(x) / x->shape[0];
    if (x->type == TSR_F32 || x->type == TSR_U8)
        goto done;
    TSR_TRY(tsri_alloc(&r, n, sizeof *r));
    TSR_TRY(tsri_alloc(&row, n, sizeof *row));
    for (int64_t i = 0; i < x->shape[0]; i++) {
        tsri_array_row_doubles(row, x, i);
        for (int64_t k = 0; k < n; k++)
            tsri_resolution_see(&r[k], row[k]);
    }
    for (int64_t k = 0; k < n; k++)
        if (tsri_resolution_lost(&r[k])) {
            TSRI_WARN("%s: %s: numbers %lld of the samples, near %.6g, differ by so little that "
                      "single precision cannot tell them apart: subtract a constant from them",
                      tsri_quote(data->name), name, (long long)k, r[k].mean);
            break;
        }
done:
    tsri_free(r);
    tsri_free(row);
    return st;
}

static tsr_status copy_inputs(tsr_data *data, tsri_part *part, const given *g,
                              const tsr_data_options *o)
{
    tsr_status st = TSR_OK;
    bool bytes = g->x->type == TSR_U8 && !data->sequences;
    bool borrow = o->borrow && tsri_array_plain(g->x) && (bytes || g->x->type == TSR_F32);
    TSR_CHECK(!o->borrow || borrow, TSR_USAGE,
              "%s: only F32 (or, of images and vectors, U8) in C's order can be borrowed",
              g->x_name);
    part->borrowed_inputs = borrow;
    if (borrow && bytes)
        part->bytes = (uint8_t *)(uintptr_t)g->x->data;
    else if (borrow)
        part->numbers = (float *)(uintptr_t)g->x->data;
    else if (bytes)
        TSR_TRY(tsri_alloc_raw(&part->bytes, part->n * data->dim, 1));
    else
        TSR_TRY(tsri_alloc_raw(&part->numbers, part->n * data->dim, sizeof *part->numbers));
    for (int64_t i = 0; i < part->n; i++) {
        if (!borrow && bytes)
            tsri_array_row_bytes(part->bytes + i * data->dim, g->x, i);
        else if (!borrow)
            tsri_array_row(part->numbers + i * data->dim, g->x, i);
        if (!bytes)
            TSR_TRY(check_finite(data, part->numbers + i * data->dim, g, i, o->missing));
    }
done:
    return st;
}

/* After the end of a sequence stand zeros; a borrowed one must have them. */
static tsr_status clear_tail(tsri_part *part, const tsr_data *data, const given *g, int64_t i)
{
    tsr_status st = TSR_OK;
    float *x = part->numbers + i * data->dim;
    for (int64_t k = part->length[i] * data->channels; k < data->dim; k++) {
        TSR_CHECK(!part->borrowed_inputs || x[k] == 0, TSR_USAGE,
                  "%s: sample %lld is not 0 after its %d positions: a borrowed one must be",
                  g->x_name, (long long)i, (int)part->length[i]);
        if (!part->borrowed_inputs)
            x[k] = 0;
    }
done:
    return st;
}

static tsr_status set_lengths(tsri_part *part, const tsr_data *data, const given *g)
{
    tsr_status st = TSR_OK;
    int64_t n = 0;
    TSR_CHECK(data->sequences || !g->length->data, TSR_USAGE, "%s: only sequences have lengths",
              g->length_name);
    if (!data->sequences)
        goto done;
    TSR_TRY(tsri_alloc_raw(&part->length, part->n, sizeof *part->length));
    if (g->length->data)
        TSR_TRY(tsri_array_check(g->length, g->length_name));
    TSR_CHECK(!g->length->data || (g->length->dims == 1 && tsri_array_count(g->length) == part->n),
              TSR_USAGE, "%s: %lld lengths for %lld sequences", g->length_name,
              (long long)tsri_array_count(g->length), (long long)part->n);
    for (int64_t i = 0; i < part->n; i++) {
        n = data->height;
        TSR_CHECK(!g->length->data ||
                      (tsri_array_whole(&n, g->length, i) && n >= 1 && n <= data->height),
                  TSR_USAGE, "%s: sample %lld: a length is a whole number from 1 to %lld",
                  g->length_name, (long long)i, (long long)data->height);
        part->length[i] = (int32_t)n;
        TSR_TRY(clear_tail(part, data, g, i));
    }
done:
    return st;
}

static tsr_status set_inputs(tsr_data *data, tsri_part *part, const given *g,
                             const tsr_data_options *o)
{
    tsr_status st = TSR_OK;
    part->n = g->x->shape[0];
    TSR_CHECK(tsri_array_count(g->x) / part->n == data->dim && g->x->dims == o->x.dims &&
                  (g->x->type == TSR_U8) == (o->x.type == TSR_U8),
              TSR_USAGE, "%s: its samples have another shape, or kind of numbers, than those of x",
              g->x_name);
    TSR_TRY(copy_inputs(data, part, g, o));
    TSR_TRY(doubt_resolution(data, g->x, g->x_name));
    TSR_TRY(set_lengths(part, data, g));
done:
    return st;
}

/* ---- Labels and targets --------------------------------------------------------------------- */

static tsr_status set_targets(tsr_data *data, tsri_part *part, const given *g, bool wish)
{
    tsr_status st = TSR_OK;
    bool borrow = wish && tsri_array_plain(g->y) && g->y->type == TSR_F32;
    TSR_CHECK(tsri_array_count(g->y) / part->n == data->targets, TSR_USAGE,
              "%s: its samples have another number of targets than those of y", g->y_name);
    TSR_CHECK(!wish || borrow, TSR_USAGE, "%s: only F32 in C's order can be borrowed", g->y_name);
    part->borrowed_targets = borrow;
    if (borrow)
        part->target = (float *)(uintptr_t)g->y->data;
    else
        TSR_TRY(tsri_alloc_raw(&part->target, part->n * data->targets, sizeof *part->target));
    for (int64_t i = 0; !borrow && i < part->n; i++)
        tsri_array_row(part->target + i * data->targets, g->y, i);
    for (int64_t i = 0; i < part->n * data->targets; i++)
        TSR_CHECK(isfinite(part->target[i]), TSR_USAGE, "%s: the target of sample %lld is %g",
                  g->y_name, (long long)(i / data->targets), (double)part->target[i]);
    TSR_TRY(doubt_resolution(data, g->y, g->y_name));
done:
    return st;
}

static tsr_status whole_labels(int64_t **out, const given *g, int64_t n)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(tsri_array_count(g->y) == n, TSR_USAGE,
              "%s: %lld labels for %lld samples: classes are one number for each", g->y_name,
              (long long)tsri_array_count(g->y), (long long)n);
    TSR_TRY(tsri_alloc_raw(out, n, sizeof **out));
    for (int64_t i = 0; i < n; i++)
        TSR_CHECK(tsri_array_whole(&(*out)[i], g->y, i), TSR_USAGE,
                  "%s: the label of sample %lld is not a whole number", g->y_name, (long long)i);
done:
    return st;
}

/* Labels that are the classes' numbers, since the program says which classes there are. */
static tsr_status number_labels(tsri_part *part, const int64_t *label, int64_t classes,
                                const char *name)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc_raw(&part->label, part->n, sizeof *part->label));
    for (int64_t i = 0; label && i < part->n; i++) {
        TSR_CHECK(label[i] >= 0 && label[i] < classes, TSR_USAGE,
                  "%s: the label of sample %lld is %lld, and there are %lld classes, from 0", name,
                  (long long)i, (long long)label[i], (long long)classes);
        part->label[i] = (int32_t)label[i];
    }
done:
    return st;
}

/* Two classes of one name could not be told apart later. */
static tsr_status name_classes(tsr_data *data, const char *const *name)
{
    tsr_status st = TSR_OK;
    tsri_words known = {0};
    for (int64_t i = 0; i < data->classes; i++) {
        int64_t place = 0;
        TSR_CHECK(name[i], TSR_USAGE, "class_name: name %lld is missing", (long long)i);
        TSR_TRY(tsri_words_add(&place, &known, name[i], strlen(name[i])));
        TSR_CHECK(place == i, TSR_USAGE, "class_name: \"%s\" is the name of two classes",
                  tsri_quote(name[i]));
    }
    TSR_TRY(tsri_data_name_classes(data, name));
done:
    tsri_words_fini(&known);
    return st;
}

static tsr_status set_classes(tsr_data *data, const given *train, const given *test,
                              const tsr_data_options *o)
{
    tsr_status st = TSR_OK;
    int64_t *label = NULL, *test_label = NULL;
    TSR_TRY(whole_labels(&label, train, data->train.n));
    if (test)
        TSR_TRY(whole_labels(&test_label, test, data->test.n));
    if (o->classes == 0) {
        TSR_CHECK(!o->class_name, TSR_USAGE, "class_name: say how many there are (classes)");
        st = tsri_labels_from(data, label, test_label, false, data->name);
        st = st == TSR_BAD_FILE ? TSR_USAGE : st;
        goto done;
    }
    TSR_CHECK(o->classes >= 1 && o->classes <= TSRI_CLASSES_MAX, TSR_USAGE,
              "classes: %lld is not from 1 to %d", (long long)o->classes, TSRI_CLASSES_MAX);
    data->classes = o->classes;
    TSR_TRY(number_labels(&data->train, label, o->classes, train->y_name));
    if (test)
        TSR_TRY(number_labels(&data->test, test_label, o->classes, test->y_name));
    if (o->class_name)
        TSR_TRY(name_classes(data, o->class_name));
done:
    tsri_free(label);
    tsri_free(test_label);
    return st;
}

static tsr_status set_wanted(tsr_data *data, const given *train, const given *test,
                             const tsr_data_options *o)
{
    tsr_status st = TSR_OK;
    bool real = o->y.type == TSR_F32 || o->y.type == TSR_F64 || o->regress;
    TSR_CHECK(!real || (o->classes == 0 && !o->class_name), TSR_USAGE,
              "y holds real numbers, which are not classes: give whole ones (U8, I32, I64)");
    if (!real) {
        st = set_classes(data, train, test, o);
        goto done;
    }
    data->targets = tsri_array_count(train->y) / data->train.n;
    TSR_TRY(set_targets(data, &data->train, train, o->borrow));
    if (test)
        TSR_TRY(set_targets(data, &data->test, test, o->borrow));
done:
    return st;
}

/* ---- Names ---------------------------------------------------------------------------------- */

static tsr_status set_names(tsr_data *data, const tsr_data_options *o)
{
    tsr_status st = TSR_OK;
    tsri_data_schema *s = &data->schema;
    TSR_CHECK(!o->column || (!data->sequences && data->height * data->width == 1), TSR_USAGE,
              "column: only the numbers of vectors have names");
    if (o->column) {
        s->kind = "table";
        TSR_TRY(tsri_alloc(&data->column, data->dim, sizeof *data->column));
        TSR_TRY(tsri_alloc(&s->field, data->dim, sizeof *s->field));
        s->fields = data->dim;
    }
    for (int64_t i = 0; o->column && i < data->dim; i++) {
        TSR_CHECK(o->column[i], TSR_USAGE, "column: name %lld is missing", (long long)i);
        TSR_TRY(tsri_strdup(&data->column[i], o->column[i]));
        TSR_TRY(tsri_strdup(&s->field[i].name, o->column[i]));
    }
    if (o->target) {
        TSR_TRY(tsri_alloc(&s->target, 1, sizeof *s->target));
        s->targets = 1;
        TSR_TRY(tsri_strdup(&s->target[0], o->target));
    }
    s->classes = data->classes;
done:
    return st;
}

/* ---- The data set --------------------------------------------------------------------------- */

static tsr_status check_pair(const given *g)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_array_check(g->x, g->x_name));
    TSR_TRY(tsri_array_check(g->y, g->y_name));
    TSR_CHECK(g->x->dims >= 1 && g->y->dims >= 1, TSR_USAGE,
              "%s and %s are arrays, samples first, not single numbers", g->x_name, g->y_name);
    TSR_CHECK(g->y->shape[0] == g->x->shape[0], TSR_USAGE, "%s has %lld samples and %s %lld",
              g->x_name, (long long)g->x->shape[0], g->y_name, (long long)g->y->shape[0]);
done:
    return st;
}

static tsr_status fill(tsr_data *data, const tsr_data_options *o)
{
    tsr_status st = TSR_OK;
    given train = {&o->x, &o->y, &o->length, "x", "y", "length"};
    given test = {&o->test_x, &o->test_y, &o->test_length, "test_x", "test_y", "test_length"};
    bool tested = o->test_x.data != NULL;
    TSR_CHECK(tested || (!o->test_y.data && !o->test_length.data), TSR_USAGE,
              "test_x is missing: test_y or test_length is there");
    TSR_TRY(check_pair(&train));
    if (tested)
        TSR_TRY(check_pair(&test));
    TSR_TRY(set_shape(data, &o->x, o->form));
    TSR_TRY(set_inputs(data, &data->train, &train, o));
    if (tested)
        TSR_TRY(set_inputs(data, &data->test, &test, o));
    TSR_TRY(set_wanted(data, &train, tested ? &test : NULL, o));
    TSR_TRY(set_names(data, o));
done:
    return st;
}

tsr_status tsr_data_create(tsr_data **out, const tsr_data_options *options)
{
    tsr_status st = TSR_OK;
    tsr_data *data = NULL;
    tsr_data_options o;
    TSRI_GIVEN(out);
    *out = NULL;
    TSR_TRY(TSRI_SIZED_TAKE(&o, options));
    TSR_TRY(tsri_alloc(&data, 1, sizeof *data));
    TSR_TRY(tsri_strdup(&data->name, o.name ? o.name : TSRI_ARRAYS));
    TSR_TRY(tsri_strdup(&data->source, "a program's memory"));
    TSR_TRY(fill(data, &o));
    *out = data;
    data = NULL;
done:
    tsr_data_destroy(data);
    return st;
}

tsr_status tsr_data_read(tsr_data **out, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    tsr_data *data = NULL;
    TSRI_GIVEN(out);
    *out = NULL;
    TSRI_GIVEN(config);
    TSR_TRY(tsri_data_raw(&data, config, NULL));
    TSR_TRY(tsri_config_copy(&data->asked, config));
    *out = data;
    data = NULL;
done:
    tsr_data_destroy(data);
    return st;
}

/* ---- Looking at it -------------------------------------------------------------------------- */

static tsr_array inputs_of(const tsr_data *d, const tsri_part *p)
{
    int64_t shape[] = {p->n, d->channels, d->height, d->width};
    int64_t turned[] = {p->n, d->height, d->channels};
    int dims = d->sequences ? 3 : d->height * d->width == 1 ? 2 : 4;
    return tsr_array_of(p->bytes ? (const void *)p->bytes : p->numbers, p->bytes ? TSR_U8 : TSR_F32,
                        dims, d->sequences ? turned : shape);
}

static tsr_array wanted_of(const tsr_data *d, const tsri_part *p)
{
    int64_t shape[] = {p->n, d->targets};
    return p->label ? tsr_array_of(p->label, TSR_I32, 1, shape)
                    : tsr_array_of(p->target, TSR_F32, 2, shape);
}

static tsr_array lengths_of(const tsri_part *p)
{
    return tsr_array_of(p->length, TSR_I32, 1, &p->n);
}

tsr_status tsr_data_look(tsr_data_info *info, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(data);
    bool flat = data->height * data->width == 1;
    tsr_data_info mine = {.name = data->name,
                          .source = data->source,
                          .form = data->sequences ? TSR_SEQUENCES
                                  : flat          ? TSR_VECTORS
                                                  : TSR_IMAGES,
                          .n = data->train.n,
                          .test_n = data->test.n,
                          .channels = data->channels,
                          .height = data->height,
                          .width = data->width,
                          .classes = data->classes,
                          .targets = data->targets,
                          .x = inputs_of(data, &data->train),
                          .y = wanted_of(data, &data->train),
                          .length = lengths_of(&data->train),
                          .test_x = inputs_of(data, &data->test),
                          .test_y = wanted_of(data, &data->test),
                          .test_length = lengths_of(&data->test),
                          .class_name = (const char *const *)data->class_name};
    TSR_TRY(TSRI_SIZED_GIVE(info, &mine));
done:
    return st;
}
