/* loft.c - LoFT: finding lottery tickets through filter-wise training (Wang, Dun, Liao, Jermaine,
 * Kyrillidis 2022): what is reproduced of it, and the pretraining that its figures share. */
#include "reproduce/loft.h"

#include "base/alloc.h"
#include "io/file.h"
#include "io/json.h"
#include "net/net.h"
#include "reproduce/loft_table.h"
#include "reproduce/loft_theorem1.h"
#include "reproduce/reproductions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Pretraining ---------------------------------------------------------------------------- */

tsri_loft_sizes tsri_loft_sizes_of(const tsri_study *s)
{
    if (s->quick)
        return (tsri_loft_sizes){.width = 8,
                                 .images = 2000,
                                 .test_images = 1000,
                                 .epochs = 12,
                                 .batch = 50,
                                 .workers = 4,
                                 .local_steps = 10,
                                 .rate = 0.05};
    return (tsri_loft_sizes){.width = s->paper ? 64 : 16,
                             .images = 50000,
                             .test_images = 10000,
                             .epochs = 20,
                             .batch = 128,
                             .workers = 4,
                             .local_steps = 25,
                             .rate = 0.1};
}

/* How many images there are to learn from and to be judged by: --data may have fewer. With --paper
 * the data need not be here. */
static tsr_status count_images(int64_t *train, int64_t *test, const tsri_study *s,
                               const tsri_loft_sizes *z)
{
    tsr_status st = TSR_OK;
    *train = z->images;
    *test = z->test_images;
    if (s->paper)
        return TSR_OK;
    char yaml[TSRI_LOFT_YAML];
    tsr_config *config = NULL;
    tsr_data *data = NULL;
    tsri_loft_yaml(yaml, z, "dense");
    TSR_TRY(tsri_study_config(&config, s, yaml, 0));
    tsri_wants wants = tsri_model_wants(config);
    TSR_TRY(tsri_data_load(&data, config, &wants));
    *train = data->train.n;
    *test = data->test.n;
done:
    tsr_data_destroy(data);
    tsr_config_destroy(config);
    return st;
}

/* The paper's of one figure: what it was made on. */
tsr_status tsri_loft_settings(tsri_study *s, const tsri_loft_sizes *z, const tsri_loft_paper *paper)
{
    tsr_status st = TSR_OK;
    int64_t train, test;
    TSR_TRY(count_images(&train, &test, s, z));
    tsri_study_setting(s, "network", paper->network, "PreActResNet-18, width %d", z->width);
    tsri_study_setting(s, "data", paper->data, "%s",
                       z->data ? "CIFAR-100" : tsri_study_data_name(s, "CIFAR-10"));
    tsri_study_setting(s, "training images", paper->images, "%lld", (long long)train);
    tsri_study_setting(s, "test images", paper->test_images, "%lld", (long long)test);
    tsri_study_setting(s, "epochs of pretraining", paper->epochs, "%d", z->epochs);
    tsri_study_setting(s, "batch", "not given", "%d", z->batch);
    tsri_study_setting(s, "rate", "not given", "%g falling as a cosine, momentum 0.9", z->rate);
    if (!paper->loft)
        goto done;
    tsri_study_setting(s, "LoFT's workers", "not given for this figure",
                       "%d, each on all data in every epoch", z->workers);
    tsri_study_setting(s, "local steps", "not given", "%d", z->local_steps);
    tsri_study_note(s, "The baseline is dense training, whose weights GPipe's equal to the bit.");
done:
    return st;
}

void tsri_loft_yaml(char yaml[TSRI_LOFT_YAML], const tsri_loft_sizes *z, const char *scheme)
{
    char shares[80] = "";
    if (scheme[0] == 'l')
        (void)snprintf(shares, sizeof shares, ", workers: %d, local_steps: %d", z->workers,
                       z->local_steps);
    (void)snprintf(yaml, TSRI_LOFT_YAML,
                   "data: {name: %s, limit: %d, test_limit: %d, augment: crop-flip}\n"
                   "model: {name: preresnet18, width: %d}\n"
                   "optim: {lr: %g, momentum: 0.9, weight_decay: 5.0e-4, schedule: cosine}\n"
                   "scheme: {name: %s%s}\n"
                   "epochs: %d\nbatch: %d\n"
                   "distance: {every: 1}\n"
                   "checkpoint: {every: 1, keep: 1000000}\n",
                   z->data ? z->data : "cifar10", z->images, z->test_images, z->width, z->rate,
                   scheme, shares, z->epochs, z->batch);
}

/* ---- Rankings read back --------------------------------------------------------------------- */

void tsri_rankings_fini(tsri_rankings *r)
{
    for (int64_t i = 0; r->name && i < r->layers; i++)
        tsri_free(r->name[i]);
    tsri_free(r->name);
    tsri_free(r->epoch);
    tsri_free(r->distance);
    tsri_free(r->reversed);
    *r = (tsri_rankings){0};
}

double tsri_rankings_at(const tsri_rankings *r, int64_t layer, int64_t from, int64_t to)
{
    return r->distance[(layer * r->epochs + from) * r->epochs + to];
}

static double number_at(const tsri_json_value *list, int64_t i)
{
    double value;
    return tsri_json_as_real(tsri_json_at(list, i), &value) ? value : (double)NAN;
}

static tsr_status take_layer(tsri_rankings *r, int64_t layer, const tsri_json_value *from)
{
    tsr_status st = TSR_OK;
    const char *name = "layer";
    const tsri_json_value *rows = tsri_json_get(from, "distance");
    (void)tsri_json_as_text(tsri_json_get(from, "name"), &name);
    TSR_TRY(tsri_strdup(&r->name[layer], name));
    TSR_CHECK(tsri_json_as_real(tsri_json_get(from, "reversed"), &r->reversed[layer]) &&
                  r->reversed[layer] > 0,
              TSR_BAD_FILE, "layer %s has no distance of its reversal", tsri_quote(name));
    for (int64_t i = 0; i < r->epochs; i++)
        for (int64_t k = 0; k < r->epochs; k++)
            r->distance[(layer * r->epochs + i) * r->epochs + k] =
                number_at(tsri_json_at(rows, i), k);
done:
    return st;
}

static tsr_status take_rankings(tsri_rankings *r, const tsri_json_value *root, const char *path)
{
    tsr_status st = TSR_OK;
    const tsri_json_value *epochs = tsri_json_get(root, "epochs");
    const tsri_json_value *layers = tsri_json_get(root, "layers");
    TSR_CHECK(tsri_json_is_array(epochs) && tsri_json_is_array(layers) &&
                  tsri_json_length(epochs) > 0 && tsri_json_length(layers) > 0,
              TSR_BAD_FILE, "%s holds no distances between epochs", tsri_quote(path));
    r->epochs = tsri_json_length(epochs);
    r->layers = tsri_json_length(layers);
    TSR_TRY(tsri_alloc(&r->epoch, r->epochs, sizeof *r->epoch));
    TSR_TRY(tsri_alloc(&r->reversed, r->layers, sizeof *r->reversed));
    TSR_TRY(tsri_alloc(&r->name, r->layers, sizeof *r->name));
    TSR_TRY(tsri_alloc(&r->distance, r->layers * r->epochs * r->epochs, sizeof *r->distance));
    for (int64_t i = 0; i < r->epochs; i++)
        r->epoch[i] = number_at(epochs, i);
    for (int64_t i = 0; i < r->layers; i++)
        TSR_TRY(take_layer(r, i, tsri_json_at(layers, i)));
done:
    return st;
}

tsr_status tsri_rankings_read(tsri_rankings *r, const char *folder)
{
    tsr_status st = TSR_OK;
    char *path = NULL, *bytes = NULL;
    int64_t n = 0;
    tsri_json_value *root = NULL;
    *r = (tsri_rankings){0};
    TSR_TRY(tsri_path_join(&path, folder, "distance.json"));
    TSR_TRY(tsri_file_read(&bytes, &n, path, TSRI_JSON_MOST));
    TSR_TRY(tsri_json_parse(&root, bytes, n, tsri_quote(path)));
    TSR_TRY(take_rankings(r, root, path));
done:
    if (st != TSR_OK)
        tsri_rankings_fini(r);
    tsri_json_destroy(root);
    tsri_free(bytes);
    tsri_free(path);
    return st;
}

/* Layer by layer under its name; the order of the series is that of the layers. */
#define LAYER "distance "

void tsri_rankings_put(tsri_study_cell *to, const tsri_rankings *r)
{
    char name[TSRI_CELL_KEY];
    tsri_cell_put_series(to, "epochs", r->epoch, r->epochs);
    tsri_cell_put_series(to, "reversed", r->reversed, r->layers);
    for (int64_t i = 0; i < r->layers; i++) {
        (void)snprintf(name, sizeof name, LAYER "%s", r->name[i]);
        tsri_cell_put_series(to, name, r->distance + i * r->epochs * r->epochs,
                             r->epochs * r->epochs);
    }
}

static int64_t length_of(const tsri_study_cell *c, const char *name)
{
    for (int64_t i = 0; i < c->count; i++)
        if (strcmp(c->series[i].name, name) == 0)
            return c->series[i].n;
    return 0;
}

tsr_status tsri_rankings_take(tsri_rankings *r, const tsri_study_cell *from)
{
    tsr_status st = TSR_OK;
    int64_t layer = 0, layers = length_of(from, "reversed"), n = length_of(from, "epochs");
    *r = (tsri_rankings){.epochs = n, .layers = layers};
    TSR_CHECK(n > 0 && layers > 0, TSR_BAD_FILE, "cell %s holds no distances between epochs",
              from->name);
    TSR_TRY(tsri_alloc(&r->epoch, n, sizeof *r->epoch));
    TSR_TRY(tsri_alloc(&r->reversed, layers, sizeof *r->reversed));
    TSR_TRY(tsri_alloc(&r->name, layers, sizeof *r->name));
    TSR_TRY(tsri_alloc(&r->distance, layers * n * n, sizeof *r->distance));
    tsri_cell_copy(r->epoch, n, from, "epochs");
    tsri_cell_copy(r->reversed, layers, from, "reversed");
    for (int64_t i = 0; i < from->count && layer < layers; i++) {
        const char *name = from->series[i].name;
        if (strncmp(name, LAYER, strlen(LAYER)) != 0)
            continue;
        TSR_TRY(tsri_strdup(&r->name[layer], name + strlen(LAYER)));
        tsri_cell_copy(r->distance + layer++ * n * n, n * n, from, name);
    }
    TSR_CHECK(layer == layers, TSR_BAD_FILE, "cell %s lacks distances of a layer", from->name);
done:
    if (st != TSR_OK)
        tsri_rankings_fini(r);
    return st;
}

/* ---- The list ------------------------------------------------------------------------------- */

static tsr_status fig1(tsri_study *s)
{
    tsri_loft_sizes z = tsri_loft_sizes_of(s);
    return tsri_loft_fig1(s, &z);
}

static tsr_status fig4(tsri_study *s)
{
    tsri_loft_sizes z = tsri_loft_sizes_of(s);
    return tsri_loft_fig4(s, &z);
}

/* The paper draws its tickets from CIFAR-100. */
static tsr_status fig5(tsri_study *s)
{
    tsri_loft_sizes z = tsri_loft_sizes_of(s);
    z.data = s->paper ? "cifar100" : NULL;
    return tsri_loft_fig5(s, &z);
}

const tsri_reproduction tsri_reproduce_loft[] = {
    {"loft/table1",
     "traffic of GPipe, local SGD and LoFT; with --paper the accuracy of their tickets",
     .make = tsri_loft_table1, .paper = tsri_loft_table1_paper},
    {"loft/fig1", "filter distance between all pairs of epochs, layer by layer", .make = fig1,
     .paper = fig1},
    {"loft/fig4", "filter distance to the last epoch, LoFT beside the baseline", .make = fig4,
     .paper = fig4},
    {"loft/fig5", "accuracy of tickets drawn at different epochs, LoFT beside the baseline",
     .make = fig5, .paper = fig5},
    {"loft/theorem1", "distance from gradient descent as filters and shares grow",
     .make = tsri_loft_theorem1},
    {0},
};
