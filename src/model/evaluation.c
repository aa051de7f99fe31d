/* evaluation.c - evaluation.json: where a model is right and wrong, and how sure it is of it. */
#include "model/evaluation.h"

#include "base/alloc.h"
#include "base/base64.h"
#include "base/sized.h"
#include "io/file.h"
#include "io/json.h"
#include "model/activations.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    BINS = 15,          /* of probability, as Guo et al. 2017 */
    MOST_CLASSES = 200, /* of a matrix; of more only the pairs are written */
    MOST_COUNTED = 4000,
    PAIRS = 8,        /* confused most */
    EXAMPLES = 6,     /* of each */
    SIDE = 64,        /* of a picture, at most */
    MOST_POINTS = 500 /* of real targets */
};

typedef struct table {
    const tsr_model *model;
    const tsri_model_use *use;
    const tsri_predictions *p;
    int64_t classes;
    int64_t *count;      /* [classes, classes]: given, predicted */
    int32_t *predicted;  /* [n] */
    double *probability; /* [n] of the class predicted */
} table;

/* ---- Of which model? ------------------------------------------------------------------------ */

/* The checksum of its file's header, which holds those of all tensors. */
static const char *checksum(const tsri_tensors *file)
{
    const char *crc = tsri_tensors_meta(file, TSRI_META_HEADER_CRC);
    return crc ? crc : "";
}

bool tsri_evaluation_is_of(const tsri_json_value *root, const tsri_tensors *file)
{
    const char *of;
    return tsri_json_as_text(tsri_json_get(root, "model"), &of) && *of &&
           strcmp(of, checksum(file)) == 0;
}

tsr_status tsri_evaluation_known(bool *known, const char *path, const tsri_tensors *file)
{
    tsr_status st = TSR_OK;
    char *bytes = NULL;
    int64_t n = 0;
    tsri_json_value *root = NULL;
    *known = false;
    if (!tsri_file_exists(path))
        return TSR_OK;
    TSR_TRY(tsri_file_read(&bytes, &n, path, TSRI_JSON_MOST));
    if (tsri_json_parse(&root, bytes, n, path) == TSR_OK)
        *known = tsri_evaluation_is_of(root, file);
done:
    tsri_json_destroy(root);
    tsri_free(bytes);
    return st;
}

/* ---- Counting ------------------------------------------------------------------------------- */

static tsr_status count(table *t)
{
    tsr_status st = TSR_OK;
    int64_t n = t->p->n;
    TSR_TRY(tsri_alloc(&t->count, t->classes * t->classes, sizeof *t->count));
    TSR_TRY(tsri_alloc(&t->predicted, n, sizeof *t->predicted));
    TSR_TRY(tsri_alloc(&t->probability, n, sizeof *t->probability));
    for (int64_t i = 0; i < n; i++) {
        int64_t best = tsri_predicted_class(t->p, i);
        t->predicted[i] = (int32_t)best;
        t->probability[i] = tsri_predicted_chance(t->p, i, best);
        t->count[t->p->label[i] * t->classes + best]++;
    }
done:
    return st;
}

static void put_class(tsri_json *w, const table *t, int64_t k)
{
    char number[24];
    (void)snprintf(number, sizeof number, "%lld", (long long)k);
    bool named = t->model->class_name && k < t->model->classes;
    tsri_json_text(w, named ? t->model->class_name[k] : number);
}

static void put_matrix(tsri_json *w, const table *t)
{
    tsri_json_key(w, "confusion");
    if (t->classes > MOST_CLASSES) {
        tsri_json_null(w);
        return;
    }
    tsri_json_open(w, '[');
    for (int64_t i = 0; i < t->classes; i++) {
        tsri_json_open(w, '[');
        for (int64_t k = 0; k < t->classes; k++)
            tsri_json_int(w, t->count[i * t->classes + k]);
        tsri_json_close(w, ']');
    }
    tsri_json_close(w, ']');
}

/* ---- Calibration ---------------------------------------------------------------------------- */

/* The expected calibration error (ECE) is the mean over the samples of |accuracy - confidence| of
 * the bin that a sample lies in. */
static void put_calibration(tsri_json *w, const table *t)
{
    double sum[BINS] = {0}, error = 0;
    int64_t n[BINS] = {0}, right[BINS] = {0};
    for (int64_t i = 0; i < t->p->n; i++) {
        int64_t bin = (int64_t)ceil(t->probability[i] * BINS) - 1;
        bin = bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin;
        n[bin]++;
        sum[bin] += t->probability[i];
        right[bin] += t->predicted[i] == t->p->label[i];
    }
    tsri_json_key(w, "bins");
    tsri_json_open(w, '[');
    for (int i = 0; i < BINS; i++) {
        double samples = (double)n[i];
        error += fabs((double)right[i] - sum[i]) / (double)t->p->n;
        tsri_json_open(w, '{');
        tsri_json_put_real(w, "low", (double)i / BINS);
        tsri_json_put_real(w, "high", (double)(i + 1) / BINS);
        tsri_json_put_int(w, "n", n[i]);
        tsri_json_put_real(w, "confidence", n[i] > 0 ? sum[i] / samples : (double)NAN);
        tsri_json_put_real(w, "accuracy", n[i] > 0 ? (double)right[i] / samples : (double)NAN);
        tsri_json_close(w, '}');
    }
    tsri_json_close(w, ']');
    tsri_json_put_real(w, "ece", error);
}

/* ---- Examples ------------------------------------------------------------------------------- */

static bool has_pictures(const tsr_data *d)
{
    return !d->sequences && d->height > 1 && d->width > 1 && (d->channels == 1 || d->channels == 3);
}

/* byte[channels, height, width] of sample i: as it is in the data, or, where those are numbers,
 * stretched to black and white. */
static tsr_status sample_bytes(uint8_t *byte, const tsri_model_use *use, int64_t i)
{
    tsr_status st = TSR_OK;
    int64_t dim = use->data->dim;
    float low = INFINITY, high = -INFINITY;
    if (use->part->bytes) {
        memcpy(byte, use->part->bytes + i * dim, (size_t)dim);
        return TSR_OK;
    }
    const float *x = use->part->numbers + i * dim;
    for (int64_t k = 0; k < dim; k++) {
        low = fminf(low, x[k]);
        high = fmaxf(high, x[k]);
    }
    for (int64_t k = 0; k < dim; k++)
        byte[k] = high > low ? (uint8_t)lroundf(255 * (x[k] - low) / (high - low)) : 0;
    return st;
}

/* Large pictures lose pixels, not their look: each that stays is the mean of those it stands for. */
static void shrink(uint8_t *small, const uint8_t *byte, const tsr_data *d, int64_t by)
{
    int64_t height = d->height / by, width = d->width / by;
    for (int64_t c = 0; c < d->channels; c++)
        for (int64_t y = 0; y < height; y++)
            for (int64_t x = 0; x < width; x++) {
                int64_t sum = 0;
                for (int64_t k = 0; k < by * by; k++)
                    sum += byte[(c * d->height + y * by + k / by) * d->width + x * by + k % by];
                small[(c * height + y) * width + x] = (uint8_t)(sum / (by * by));
            }
}

static tsr_status put_picture(tsri_json *w, const table *t, int64_t i)
{
    tsr_status st = TSR_OK;
    const tsr_data *d = t->use->data;
    uint8_t *byte = NULL, *small = NULL;
    tsri_text text = {0};
    int64_t longest = d->height > d->width ? d->height : d->width, by = (longest + SIDE - 1) / SIDE;
    TSR_TRY(tsri_alloc(&byte, d->dim, 1));
    TSR_TRY(tsri_alloc(&small, d->dim, 1));
    TSR_TRY(sample_bytes(byte, t->use, i));
    shrink(small, byte, d, by);
    int64_t height = d->height / by, width = d->width / by;
    TSR_TRY(tsri_text_base64(&text, small, (size_t)(d->channels * height * width)));
    tsri_json_key(w, "picture");
    tsri_json_open(w, '{');
    tsri_json_put_int(w, "channels", d->channels);
    tsri_json_put_int(w, "height", height);
    tsri_json_put_int(w, "width", width);
    tsri_json_put_text(w, "pixels", text.data);
    tsri_json_close(w, '}');
done:
    tsri_text_fini(&text);
    tsri_free(byte);
    tsri_free(small);
    return st;
}

/* The samples of a pair from the surest on: the one that comes after `last` (-1: the first). */
static int64_t next_example(const table *t, int64_t given, int64_t predicted, int64_t last)
{
    const double *chance = t->probability;
    double before = last < 0 ? HUGE_VAL : chance[last];
    int64_t best = -1;
    for (int64_t i = 0; i < t->p->n; i++) {
        bool pair = t->p->label[i] == given && t->predicted[i] == predicted;
        bool later = chance[i] < before || (chance[i] == before && i > last);
        if (pair && later && (best < 0 || chance[i] > chance[best]))
            best = i;
    }
    return best;
}

static tsr_status put_examples(tsri_json *w, const table *t, int64_t given, int64_t predicted)
{
    tsr_status st = TSR_OK;
    int64_t i = next_example(t, given, predicted, -1);
    tsri_json_key(w, "examples");
    tsri_json_open(w, '[');
    for (int k = 0; k < EXAMPLES && i >= 0; k++, i = next_example(t, given, predicted, i)) {
        tsri_json_open(w, '{');
        tsri_json_put_int(w, "row", t->p->row[i]);
        if (t->p->name)
            tsri_json_put_text(w, "file", t->p->name[i]);
        tsri_json_put_real(w, "probability", t->probability[i]);
        if (has_pictures(t->use->data))
            TSR_TRY(put_picture(w, t, i));
        tsri_json_close(w, '}');
    }
    tsri_json_close(w, ']');
done:
    return st;
}

static tsr_status put_pair(tsri_json *w, const table *t, int64_t pair)
{
    tsr_status st = TSR_OK;
    int64_t given = pair / t->classes, predicted = pair % t->classes;
    tsri_json_open(w, '{');
    tsri_json_key(w, "given");
    put_class(w, t, given);
    tsri_json_key(w, "predicted");
    put_class(w, t, predicted);
    tsri_json_put_int(w, "n", t->count[pair]);
    TSR_TRY(put_examples(w, t, given, predicted));
    tsri_json_close(w, '}');
done:
    return st;
}

/* Pairs that are confused, most often first. Their counts are used up. */
static tsr_status put_pairs(tsri_json *w, table *t)
{
    tsr_status st = TSR_OK;
    int64_t all = t->classes * t->classes;
    tsri_json_key(w, "confusions");
    tsri_json_open(w, '[');
    for (int k = 0; k < PAIRS; k++) {
        int64_t worst = -1;
        for (int64_t i = 0; i < all; i++)
            if (i / t->classes != i % t->classes && t->count[i] > 0 &&
                (worst < 0 || t->count[i] > t->count[worst]))
                worst = i;
        if (worst < 0)
            break;
        TSR_TRY(put_pair(w, t, worst));
        t->count[worst] = 0;
    }
    tsri_json_close(w, ']');
done:
    return st;
}

/* ---- Classes and targets -------------------------------------------------------------------- */

/* Outputs of each class, labels among them: not those of every position of a sequence. */
static bool can_count(const table *t)
{
    if (t->classes > MOST_COUNTED || t->classes != t->use->data->classes || !t->p->label)
        return false;
    for (int64_t i = 0; i < t->p->n; i++)
        if (t->p->label[i] < 0 || t->p->label[i] >= t->classes)
            return false;
    return true;
}

static tsr_status put_classes(tsri_json *w, table *t)
{
    tsr_status st = TSR_OK;
    t->classes = tsri_prediction_classes(t->p);
    if (!can_count(t))
        return TSR_OK;
    TSR_TRY(count(t));
    tsri_json_key(w, "classes");
    tsri_json_open(w, '[');
    for (int64_t k = 0; k < t->classes; k++)
        put_class(w, t, k);
    tsri_json_close(w, ']');
    put_matrix(w, t);
    put_calibration(w, t);
    TSR_TRY(put_pairs(w, t));
done:
    return st;
}

/* Real targets: some samples, evenly over the part; of several targets the first. */
static void put_targets(tsri_json *w, const table *t)
{
    const tsri_predictions *p = t->p;
    int64_t stride = 1 + (p->n - 1) / MOST_POINTS;
    if (!p->target)
        return;
    tsri_json_put_int(w, "targets", p->width);
    for (int what = 0; what < 2; what++) {
        tsri_json_key(w, what ? "predicted" : "given");
        tsri_json_open(w, '[');
        for (int64_t i = 0; i < p->n; i += stride)
            tsri_json_float(w, (what ? p->outputs : p->target)[i * p->width]);
        tsri_json_close(w, ']');
    }
}

static tsr_status put_layers(tsri_json *w, tsri_model_use *use)
{
    tsr_status st = TSR_OK;
    tsri_activations a = {0};
    TSR_TRY(tsri_activations_look(&a, use));
    tsri_json_put_int(w, "looked_at", a.samples);
    tsri_json_key(w, "layers");
    tsri_json_open(w, '[');
    for (int64_t i = 0; i < a.layers; i++) {
        tsri_json_open(w, '{');
        tsri_json_put_text(w, "name", a.layer[i].layer);
        tsri_histogram_json(w, &a.layer[i].reads);
        tsri_json_close(w, '}');
    }
    tsri_json_close(w, ']');
done:
    tsri_activations_fini(&a);
    return st;
}

tsr_status tsri_evaluation_write(const char *path, tsr_model *model, bool on_training_set)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    tsri_model_use use;
    tsri_predictions p = {0};
    tsri_model_asked asked = {.on_training_set = on_training_set};
    table t = {.model = model, .use = &use, .p = &p};
    TSR_TRY(tsri_model_use_init(&use, model, &asked));
    TSR_TRY(tsri_model_predict_with(&p, model, &use));
    tsri_json_begin(&w);
    tsri_json_put_text(&w, "model", checksum(model->file));
    tsri_json_put_text(&w, "set", use.part == &use.data->test ? "test" : "training");
    tsri_json_put_int(&w, "n", p.n);
    if (p.classes)
        TSR_TRY(put_classes(&w, &t));
    else
        put_targets(&w, &t);
    TSR_TRY(put_layers(&w, &use));
    tsri_json_close(&w, '}');
    TSR_TRY(tsri_json_end(&w));
    TSR_TRY(tsri_file_write_text(path, w.text.data));
done:
    tsri_free(t.count);
    tsri_free(t.predicted);
    tsri_free(t.probability);
    tsri_predictions_fini(&p);
    tsri_model_use_fini(&use);
    tsri_json_fini(&w);
    return st;
}

tsr_status tsr_model_evaluation(const char *path, tsr_model *model, bool on_training_set)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(path);
    TSRI_GIVEN(model);
    TSR_TRY(tsri_evaluation_write(path, model, on_training_set));
done:
    return st;
}
