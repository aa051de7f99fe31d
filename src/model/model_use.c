/* model_use.c - a model shown data: judged on them, or asked about them.
 *
 * Data are matched with those of the model's training by name (data_schema.h). What cannot be
 * checked (arrays have no names, older model files no schema) is said.
 */
#include "model/model.h"
#include "run/evaluate.h"
#include "run/loss_choice.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/sized.h"
#include "base/text.h"
#include "data/part.h"
#include "data/row_scaling.h"

#include <math.h>
#include <string.h>

void tsri_model_use_fini(tsri_model_use *use)
{
    tsri_store_fini(&use->store);
    tsri_net_destroy(use->net);
    tsr_data_destroy(use->data);
    tsri_pool_destroy(use->device.pool);
}

static bool same_text(const tsr_config *a, const tsr_config *b, const char *key)
{
    const char *one = tsri_config_text(a, key), *other = tsri_config_text(b, key);
    return !one == !other && (!one || strcmp(one, other) == 0);
}

/* Other data than those of the model's training: --data, or --set data.path. */
static tsr_status shows_others(bool *others, const tsr_model *model)
{
    tsr_status st = TSR_OK;
    tsr_config *own = NULL;
    *others = model->shown_others;
    if (*others)
        goto done;
    TSR_TRY(tsri_model_run_file(&own, model->file, model->path));
    *others = !same_text(own, model->config, "data.path") ||
              !same_text(own, model->config, "data.test_path") ||
              !same_text(own, model->config, "data.name");
done:
    tsr_config_destroy(own);
    return st;
}

/* Data that were named by --set are cut as those of the training were. */
static void tell_part(const tsr_model *model, const tsr_data *d, const tsri_model_asked *asked)
{
    if (asked->on_training_set || d->test.n == 0)
        return;
    if (!model->shown_others && !d->own_test)
        TSRI_INFO("%s: only the %lld samples of its test part are taken; --data takes all", d->name,
                  (long long)d->test.n);
    else if (model->shown_others && asked->unlabelled)
        TSRI_INFO("%s: the %lld samples of its test part are predicted; --train-set takes the "
                  "other %lld",
                  d->name, (long long)d->test.n, (long long)d->train.n);
}

/* Says what could not be compared when other data than the model's own was given. */
static void tell_unchecked(const tsr_model *model, const tsr_data *d)
{
    if (!model->schema.kind)
        TSRI_WARN("%s was written by an older version and does not say what its columns and "
                  "classes are called: %s is matched by shape alone",
                  model->path, d->name);
    else if (model->schema.fields == 0 && d->schema.fields > 0)
        TSRI_WARN("%s knows no names of columns: those of %s are taken in their order, unchecked",
                  model->path, d->name);
    else if (!d->schema.kind)
        TSRI_WARN("%s has no names of columns: only its shape was compared with what %s was "
                  "trained on",
                  d->name, model->path);
}

/* The first class that the two call otherwise, or -1. */
static int64_t first_other(const tsr_model *model, const tsr_data *d)
{
    for (int64_t i = 0; model->class_name && d->class_name && i < model->classes && i < d->classes;
         i++)
        if (strcmp(model->class_name[i], d->class_name[i]) != 0)
            return i;
    return -1;
}

/* Does the model have the name of class i in another place? */
static bool moved(const tsr_model *model, const tsr_data *d)
{
    for (int64_t i = 0; i < d->classes; i++)
        for (int64_t k = 0; k < model->classes; k++)
            if (i != k && strcmp(model->class_name[k], d->class_name[i]) == 0)
                return true;
    return false;
}

/* Classes of an older model file, and of sets whose names no reader matches (CIFAR's), are numbers:
 * where both sides have names, what the model calls cat must not answer for dog. Where nobody
 * compares, the labels are left out. Names that the model has nowhere may be other words for the
 * same. */
static tsr_status classes_agree(const tsr_model *model, tsr_data *d, bool unlabelled)
{
    tsr_status st = TSR_OK;
    int64_t i = first_other(model, d);
    if (i < 0)
        goto done;
    const char *here = d->class_name[i], *there = model->class_name[i];
    TSR_CHECK(model->schema.kind, TSR_BAD_FILE,
              "%s: class %lld is %s, but %s, which was written by an older version, was "
              "trained with %s in its place: train it again, or give data with the same classes",
              d->name, (long long)i, tsri_quote(here), model->path, tsri_quote(there));
    if (!moved(model, d)) {
        TSRI_WARN("%s: class %lld is %s, %s calls it %s: classes are taken by their numbers",
                  d->name, (long long)i, tsri_quote(here), model->path, tsri_quote(there));
        goto done;
    }
    TSR_CHECK(unlabelled, TSR_BAD_FILE,
              "%s: class %lld is %s, but %s was trained with %s in its place", d->name,
              (long long)i, tsri_quote(here), model->path, tsri_quote(there));
    TSRI_WARN("%s: its classes are not those of %s: they are left out", d->name, model->path);
    TSRI_FREE(d->train.label);
    TSRI_FREE(d->test.label);
done:
    return st;
}

static tsr_status load_data(tsri_model_use *use, const tsr_model *model,
                            const tsri_model_asked *asked)
{
    tsr_status st = TSR_OK;
    bool others = false;
    tsri_like like = tsri_model_like(model, asked->unlabelled);
    if (!asked->data)
        TSR_TRY(tsri_model_has_data(model));
    tsri_wants wants = tsri_model_wants(model->config);
    TSR_TRY(asked->data ? tsri_data_shown(&use->data, asked->data, model->config, &wants, &like)
                        : tsri_data_load_like(&use->data, model->config, &wants, &like));
    const tsr_data *d = use->data;
    TSR_CHECK(
        d->sequences == tsri_model_of(model->config)->sequences, TSR_USAGE, "%s reads %s: %s of %s",
        model->path, d->sequences ? "single samples, not sequences" : "sequences",
        d->sequences ? "leave out the lengths" : "set data.format to sequences, or give those",
        d->name);
    TSR_CHECK(!d->sequences || (d->channels == model->input.c && d->height == model->input.h),
              TSR_USAGE,
              "%s takes sequences of at most %lld positions of %lld numbers, but %s has up to %lld "
              "of %lld",
              model->path, (long long)model->input.h, (long long)model->input.c, d->name,
              (long long)d->height, (long long)d->channels);
    TSR_CHECK(d->channels == model->input.c && d->height == model->input.h &&
                  d->width == model->input.w,
              TSR_USAGE,
              "%s takes samples of %lldx%lldx%lld but %s has %lldx%lldx%lld: give the data it was "
              "trained for",
              model->path, (long long)model->input.c, (long long)model->input.h,
              (long long)model->input.w, d->name, (long long)d->channels, (long long)d->height,
              (long long)d->width);
    TSR_TRY(classes_agree(model, use->data, asked->unlabelled));
    if (!asked->data)
        TSR_TRY(shows_others(&others, model));
    if (others) {
        tell_unchecked(model, d);
        tell_part(model, d, asked);
    }
    use->part = asked->on_training_set || d->test.n == 0 ? &d->train : &d->test;
done:
    return st;
}

tsr_status tsri_model_use_init(tsri_model_use *use, const tsr_model *model,
                               const tsri_model_asked *asked)
{
    tsr_status st = TSR_OK;
    int64_t threads = tsri_config_int(model->config, "threads");
    int count = threads > 0 ? (int)threads : tsri_cores();
    *use = (tsri_model_use){0};
    TSR_TRY(tsri_backend_find(&use->device.backend, tsri_config_text(model->config, "backend")));
    if (use->device.backend->start)
        TSR_TRY(use->device.backend->start(count));
    TSR_TRY(tsri_pool_create(&use->device.pool, count));
    TSR_TRY(tsri_model_load(&use->net, &use->store, model, use->device.backend, false));
    TSR_TRY(load_data(use, model, asked));
done:
    return st;
}

/* Refuses inputs so large that the answers would be wrong without showing it. */
static tsr_status none_too_far(const tsri_part *part, const tsr_data *d)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; part->numbers && i < part->n; i++) {
        const float *x = part->numbers + i * d->dim;
        int64_t far = tsri_first_too_far(x, d->dim);
        TSR_CHECK(
            far < 0, TSR_BAD_FILE,
            "%s: row %lld: input %lld is %.3g once it is scaled as in training: too far outside "
            "of what the model was trained on",
            d->name, (long long)tsri_part_row(part, i), (long long)far + 1, (double)x[far]);
    }
done:
    return st;
}

static tsr_status judge(tsr_result *result, tsr_model *model, const tsri_model_asked *asked)
{
    tsr_status st = TSR_OK;
    tsri_model_use b;
    TSR_TRY(tsri_model_use_init(&b, model, asked));
    const tsri_loss_kind *loss;
    TSR_TRY(tsri_choose_loss(&loss, model->config, b.data));
    int64_t kinds = tsri_outputs_wanted(model->config, loss, b.data);
    TSR_CHECK(kinds == model->outputs, TSR_USAGE, "%s has %lld outputs but %s has %lld %s",
              model->path, (long long)model->outputs, b.data->name, (long long)kinds,
              b.data->classes > 0 ? "classes" : "targets");
    TSR_TRY(tsri_evaluate(result, &b.store, b.device, b.data, b.part, loss));
    TSR_CHECK(isfinite(result->loss), TSR_BAD_FILE,
              "the loss of %s on %s is not a finite number: a value is too far outside of what the "
              "model was trained on; tessera predict says in which row",
              model->path, b.data->name);
    TSR_TRY(none_too_far(b.part, b.data));
done:
    tsri_model_use_fini(&b);
    return st;
}

tsr_status tsr_model_evaluate(tsr_result *result, tsr_model *model, bool on_training_set)
{
    tsr_status st = TSR_OK;
    tsr_result r = {0};
    TSRI_GIVEN(model);
    TSR_TRY(TSRI_SIZED_GIVE(result, &r));
    TSR_TRY(judge(&r, model, &(tsri_model_asked){.on_training_set = on_training_set}));
    TSR_TRY(TSRI_SIZED_GIVE(result, &r));
done:
    return st;
}

tsr_status tsr_model_judge(tsr_result *result, tsr_model *model, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    tsr_result r = {0};
    TSRI_GIVEN(model);
    TSRI_GIVEN(data);
    TSR_TRY(TSRI_SIZED_GIVE(result, &r));
    TSR_TRY(judge(&r, model, &(tsri_model_asked){.data = data}));
    TSR_TRY(TSRI_SIZED_GIVE(result, &r));
done:
    return st;
}

/* ---- Predictions ---------------------------------------------------------------------------- */

void tsri_predictions_fini(tsri_predictions *p)
{
    for (int64_t i = 0; p->name && i < p->n; i++)
        tsri_free(p->name[i]);
    tsri_free(p->name);
    tsri_free(p->outputs);
    tsri_free(p->label);
    tsri_free(p->target);
    tsri_free(p->row);
    *p = (tsri_predictions){0};
}

/* What the data say, beside what the model will: labels, targets in their own units, and where each
 * sample stands. */
static tsr_status take_truth(tsri_predictions *p, const tsri_part *part, const tsr_data *d)
{
    tsr_status st = TSR_OK;
    if (part->label) {
        TSR_TRY(tsri_alloc(&p->label, p->n, sizeof *p->label));
        memcpy(p->label, part->label, (size_t)p->n * sizeof *p->label);
    }
    if (part->target && d->targets == p->width) {
        TSR_TRY(tsri_alloc(&p->target, p->n * p->width, sizeof *p->target));
        for (int64_t i = 0; i < p->n * p->width; i++)
            p->target[i] = tsri_scaling_original(&d->scaling, part->target[i]);
    }
    TSR_TRY(tsri_alloc_raw(&p->row, p->n, sizeof *p->row));
    for (int64_t i = 0; i < p->n; i++)
        p->row[i] = tsri_part_row(part, i);
    if (part->name)
        TSR_TRY(tsri_alloc(&p->name, p->n, sizeof *p->name));
    for (int64_t i = 0; part->name && i < p->n; i++)
        TSR_TRY(tsri_strdup(&p->name[i], part->name[i]));
done:
    return st;
}

/* Refuses outputs that are NaN: the largest of them would still be some class. */
static tsr_status all_finite(const tsri_predictions *p, const char *data)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < p->n * p->width; i++) {
        int64_t row = i / p->width;
        if (isfinite(p->outputs[i]))
            continue;
        TSR_CHECK(!p->name, TSR_BAD_FILE, "%s: the model's answer is not a finite number",
                  p->name[row]);
        TSR_CHECK(false, TSR_BAD_FILE,
                  "%s: row %lld: the model's answer is not a finite number: a value there is too "
                  "far outside of what the model was trained on",
                  data, (long long)p->row[row]);
    }
done:
    return st;
}

tsr_status tsri_model_predict_with(tsri_predictions *p, const tsr_model *model, tsri_model_use *use)
{
    tsr_status st = TSR_OK;
    *p = (tsri_predictions){
        .n = use->part->n, .width = model->outputs, .classes = use->data->classes > 0};
    TSR_TRY(take_truth(p, use->part, use->data));
    TSR_TRY(tsri_outputs(&p->outputs, &use->store, use->device, use->data, use->part));
    for (int64_t i = 0; !p->classes && i < p->n * p->width; i++)
        p->outputs[i] = tsri_scaling_original(&model->scaling, p->outputs[i]);
    TSR_TRY(all_finite(p, use->data->name));
    TSR_TRY(none_too_far(use->part, use->data));
done:
    if (st != TSR_OK)
        tsri_predictions_fini(p);
    return st;
}

tsr_status tsri_model_predict(tsri_predictions *p, tsr_model *model, const tsri_model_asked *asked)
{
    tsr_status st = TSR_OK;
    tsri_model_use b;
    *p = (tsri_predictions){0};
    TSR_TRY(tsri_model_use_init(&b, model, asked));
    TSR_TRY(tsri_model_predict_with(p, model, &b));
done:
    tsri_model_use_fini(&b);
    return st;
}

/* One output of a classifier is the margin of class 1 over class 0: as two outputs, 0 and y. */
int64_t tsri_prediction_classes(const tsri_predictions *p)
{
    return p->width == 1 ? 2 : p->width;
}

static double output(const tsri_predictions *p, int64_t i, int64_t k)
{
    if (p->width == 1)
        return k == 0 ? 0 : (double)p->outputs[i];
    return (double)p->outputs[i * p->width + k];
}

int64_t tsri_predicted_class(const tsri_predictions *p, int64_t i)
{
    int64_t best = 0;
    for (int64_t k = 1; k < tsri_prediction_classes(p); k++)
        if (output(p, i, k) > output(p, i, best))
            best = k;
    return best;
}

double tsri_predicted_chance(const tsri_predictions *p, int64_t i, int64_t k)
{
    double sum = 0;
    for (int64_t c = 0; c < tsri_prediction_classes(p); c++)
        sum += exp(output(p, i, c) - output(p, i, k));
    return 1 / sum;
}

tsr_status tsr_model_predict(float **outputs, int32_t **labels, int64_t *n, int64_t *width,
                             tsr_model *model, bool on_training_set)
{
    tsri_predictions p;
    tsri_model_asked asked = {.on_training_set = on_training_set};
    if (!outputs || !labels || !n || !width || !model)
        return tsri_fail(TSR_USAGE, "model, outputs, labels, n and width must not be NULL");
    tsr_status st = tsri_model_predict(&p, model, &asked);
    *outputs = p.outputs;
    *labels = p.label;
    *n = p.n;
    *width = p.width;
    p.outputs = NULL;
    p.label = NULL;
    tsri_predictions_fini(&p);
    return st;
}
