/* score_log.c - how the ranking of filters settles as a run goes on. */
#include "run/score_log.h"

#include "base/alloc.h"
#include "base/number.h"
#include "base/pieces.h"
#include "io/file.h"
#include "subnet/distance.h"
#include "subnet/score.h"
#include "subnet/share.h"

#include <math.h>
#include <string.h>

enum { NORMS, GAMMAS, SCORES }; /* the two scores of a sample */

tsr_status tsri_score_log_init(tsri_score_log *r, const tsri_net *net, const bool *cut)
{
    tsr_status st = TSR_OK;
    *r = (tsri_score_log){.net = net};
    TSR_TRY(tsri_alloc(&r->cut, net->axes, sizeof *r->cut));
    for (int64_t a = 0; a < net->axes; a++) {
        r->cut[a] = cut[a] && tsri_score_fits(net, a, TSRI_SCORE_L2);
        r->units += r->cut[a] ? net->axis[a].size : 0;
    }
    TSR_CHECK(r->units > 0, TSR_USAGE, "the model has no axis whose units could be ranked");
done:
    if (st != TSR_OK)
        tsri_score_log_fini(r);
    return st;
}

void tsri_score_log_fini(tsri_score_log *r)
{
    tsri_free(r->cut);
    tsri_free(r->round);
    tsri_free(r->score);
    *r = (tsri_score_log){0};
}

/* ---- Distances ---------------------------------------------------------------------------- */

static const double *scores_of(const tsri_score_log *r, int64_t sample, int which)
{
    return r->score + (sample * SCORES + which) * r->units;
}

/* The order of every axis in one sample, axis after axis. */
static tsr_status order_of(int64_t *order, const tsri_score_log *r, int64_t sample, int which)
{
    tsr_status st = TSR_OK;
    const double *score = scores_of(r, sample, which);
    int64_t at = 0;
    for (int64_t a = 0; a < r->net->axes; a++) {
        if (!r->cut[a])
            continue;
        TSR_TRY(tsri_order_by_score(order + at, score + at, r->net->axis[a].size));
        at += r->net->axis[a].size;
    }
done:
    return st;
}

static double axis_distance(const int64_t *a, const int64_t *b, int64_t *place, int64_t n)
{
    tsri_places_of(place, n, b, n);
    return tsri_filter_distance(a, n, place, n);
}

/* The mean over the layers, each in units of its reversal. */
static double mean_distance(const tsri_score_log *r, const int64_t *a, const int64_t *b,
                            int64_t *place)
{
    double sum = 0;
    int64_t at = 0, axes = 0;
    for (int64_t x = 0; x < r->net->axes; x++) {
        int64_t n = r->net->axis[x].size;
        if (!r->cut[x])
            continue;
        if (n > 1) { /* a single filter has one ranking */
            sum += axis_distance(a + at, b + at, place, n) / tsri_filter_distance_reversed(n);
            axes++;
        }
        at += n;
    }
    return axes > 0 ? sum / (double)axes : 0;
}

/* The part of all units that only one of two masks keeps, each axis losing `ratio` of its own. */
static double masks_distance(const tsri_score_log *r, const int64_t *a, const int64_t *b,
                             int64_t *place)
{
    double sum = 0;
    int64_t at = 0;
    for (int64_t x = 0; x < r->net->axes; x++) {
        int64_t n = r->net->axis[x].size;
        if (!r->cut[x])
            continue;
        int64_t keep = tsri_units_kept(n, r->ratio);
        tsri_places_of(place, n, b + at, n);
        sum += (double)n * tsri_mask_distance(a + at, keep, place, keep, n);
        at += n;
    }
    return sum / (double)r->units;
}

static double change_between(const tsri_score_log *r, const int64_t *a, const int64_t *b,
                             int64_t *place)
{
    return r->masks ? masks_distance(r, a, b, place) : mean_distance(r, a, b, place);
}

/* The largest distance from the newest sample, the reference, to the `window` before it. */
static tsr_status measure_change(double *change, const tsri_score_log *r, int64_t window)
{
    tsr_status st = TSR_OK;
    int64_t *now = NULL, *then = NULL, *place = NULL;
    *change = (double)NAN;
    if (r->count <= window)
        return TSR_OK;
    TSR_TRY(tsri_alloc(&now, r->units, sizeof *now));
    TSR_TRY(tsri_alloc(&then, r->units, sizeof *then));
    TSR_TRY(tsri_alloc(&place, r->units, sizeof *place));
    int which = r->masks ? GAMMAS : NORMS;
    TSR_TRY(order_of(now, r, r->count - 1, which));
    double most = 0;
    for (int64_t i = 1; i <= window; i++) {
        TSR_TRY(order_of(then, r, r->count - 1 - i, which));
        most = fmax(most, change_between(r, now, then, place));
    }
    *change = most;
done:
    tsri_free(now);
    tsri_free(then);
    tsri_free(place);
    return st;
}

/* ---- Samples ------------------------------------------------------------------------------ */

static tsr_status make_room(tsri_score_log *r, int64_t count)
{
    tsr_status st = TSR_OK;
    if (count <= r->room)
        return TSR_OK;
    int64_t room = count > 2 * r->room ? count : 2 * r->room;
    TSR_TRY(tsri_realloc(&r->round, room, sizeof *r->round));
    TSR_TRY(tsri_realloc(&r->score, room * SCORES * r->units, sizeof *r->score));
    r->room = room;
done:
    return st;
}

tsr_status tsri_score_log_sample(double *change, tsri_score_log *r, const tsri_store *store,
                                 int64_t round, int64_t window)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = r->net;
    TSR_TRY(make_room(r, r->count + 1));
    double *norm = r->score + (r->count * SCORES + NORMS) * r->units, *gamma = norm + r->units;
    for (int64_t a = 0; a < net->axes; a++) {
        if (!r->cut[a])
            continue;
        bool normed = tsri_score_fits(net, a, TSRI_SCORE_BN);
        TSR_TRY(tsri_score(norm, store, a, TSRI_SCORE_L2, 0));
        TSR_TRY(tsri_score(gamma, store, a, normed ? TSRI_SCORE_BN : TSRI_SCORE_L2, 0));
        norm += net->axis[a].size;
        gamma += net->axis[a].size;
    }
    r->round[r->count++] = round;
    TSR_TRY(measure_change(change, r, window));
done:
    return st;
}

tsr_status tsri_score_log_save(const tsri_score_log *r, tsri_parcel *parcel)
{
    tsr_status st = TSR_OK;
    tsri_tensor round = {.dtype = TSRI_I64, .dims = 1, .shape = {r->count}, .data = r->round};
    tsri_tensor score = {
        .dtype = TSRI_F64, .dims = 3, .shape = {r->count, SCORES, r->units}, .data = r->score};
    if (r->count == 0)
        return TSR_OK;
    TSR_TRY(tsri_parcel_add(parcel, &round, "ranks.round"));
    TSR_TRY(tsri_parcel_add(parcel, &score, "ranks.score"));
done:
    return st;
}

static bool all_finite(const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

tsr_status tsri_score_log_load(tsri_score_log *r, const tsri_tensors *file, const char *path)
{
    tsr_status st = TSR_OK;
    const tsri_tensor *round = tsri_tensors_find(file, "ranks.round");
    const tsri_tensor *score = tsri_tensors_find(file, "ranks.score");
    r->count = 0;
    if (!round && !score)
        return TSR_OK;
    TSR_CHECK(round && score && round->dtype == TSRI_I64 && round->dims == 1 &&
                  score->dtype == TSRI_F64 && score->dims == 3 &&
                  score->shape[0] == round->shape[0] && score->shape[1] == SCORES &&
                  score->shape[2] == r->units,
              TSR_BAD_FILE, "%s: the scores of filters do not fit the model", path);
    TSR_TRY(make_room(r, round->shape[0]));
    size_t numbers = (size_t)(round->shape[0] * SCORES * r->units);
    memcpy(r->round, round->data, (size_t)round->shape[0] * sizeof *r->round);
    memcpy(r->score, score->data, numbers * sizeof *r->score);
    TSR_CHECK(all_finite(r->score, (int64_t)numbers), TSR_BAD_FILE,
              "%s: a score of a filter is not finite", path);
    r->count = round->shape[0];
done:
    return st;
}

/* ---- All pairs ---------------------------------------------------------------------------- */

/* What is written, and the orders of every sample it is made from. */
typedef struct pairs {
    const tsri_score_log *r;
    double epoch_rounds;
    const double *ratio;
    int64_t ratios;
    int64_t *order[SCORES]; /* [count][units] */
    int64_t *place;
    tsri_json json;
    tsri_text csv;
} pairs;

static void pairs_fini(pairs *p)
{
    tsri_free(p->order[NORMS]);
    tsri_free(p->order[GAMMAS]);
    tsri_free(p->place);
    tsri_json_fini(&p->json);
    tsri_text_fini(&p->csv);
}

static tsr_status pairs_init(pairs *p)
{
    tsr_status st = TSR_OK;
    const tsri_score_log *r = p->r;
    TSR_TRY(tsri_alloc(&p->place, r->units, sizeof *p->place));
    for (int which = NORMS; which < SCORES; which++) {
        TSR_TRY(tsri_alloc(&p->order[which], r->count * r->units, sizeof **p->order));
        for (int64_t i = 0; i < r->count; i++)
            TSR_TRY(order_of(p->order[which] + i * r->units, r, i, which));
    }
done:
    return st;
}

static double epoch_of(const pairs *p, int64_t sample)
{
    return (double)p->r->round[sample] / p->epoch_rounds;
}

/* Pictures need no more than a hundred samples: the JSON has every k-th of many, the CSV all. */
static bool shown(const pairs *p, int64_t sample)
{
    enum { MOST = 100 };
    int64_t every = tsri_ceil_div(p->r->count, MOST);
    return (p->r->count - 1 - sample) % every == 0; /* the last one always */
}

static tsr_status csv_head(pairs *p)
{
    tsr_status st = TSR_OK;
    char number[TSRI_NUMBER_TEXT];
    TSR_TRY(tsri_text_add(&p->csv, "layer,reference_epoch,epoch,filter_distance"));
    for (int64_t k = 0; k < p->ratios; k++) {
        (void)tsri_shortest(number, p->ratio[k]);
        TSR_TRY(tsri_text_add(&p->csv, ",mask_%s", number));
    }
    TSR_TRY(tsri_text_add(&p->csv, "\n"));
done:
    return st;
}

/* Samples i, the reference, and j on the axis whose units begin at `at`. */
static tsr_status one_pair(pairs *p, const tsri_axis *axis, int64_t at, int64_t i, int64_t j)
{
    tsr_status st = TSR_OK;
    int64_t n = axis->size, units = p->r->units;
    const int64_t *norms = p->order[NORMS] + at, *gammas = p->order[GAMMAS] + at;
    double f = axis_distance(norms + i * units, norms + j * units, p->place, n);
    if (shown(p, i) && shown(p, j))
        tsri_json_float(&p->json, (float)f);
    TSR_TRY(
        tsri_text_add(&p->csv, "%s,%.6g,%.6g,%.6g", axis->name, epoch_of(p, i), epoch_of(p, j), f));
    tsri_places_of(p->place, n, gammas + j * units, n);
    for (int64_t k = 0; k < p->ratios; k++) {
        int64_t keep = tsri_units_kept(n, p->ratio[k]);
        TSR_TRY(tsri_text_add(&p->csv, ",%.6g",
                              tsri_mask_distance(gammas + i * units, keep, p->place, keep, n)));
    }
    TSR_TRY(tsri_text_add(&p->csv, "\n"));
done:
    return st;
}

static tsr_status one_layer(pairs *p, const tsri_axis *axis, int64_t at)
{
    tsr_status st = TSR_OK;
    tsri_json *w = &p->json;
    tsri_json_open(w, '{');
    tsri_json_put_text(w, "name", axis->name);
    tsri_json_put_real(w, "reversed", tsri_filter_distance_reversed(axis->size));
    tsri_json_key(w, "distance");
    tsri_json_open(w, '[');
    for (int64_t i = 0; i < p->r->count; i++) {
        if (shown(p, i))
            tsri_json_open(w, '[');
        for (int64_t j = 0; j < p->r->count; j++)
            TSR_TRY(one_pair(p, axis, at, i, j));
        if (shown(p, i))
            tsri_json_close(w, ']');
    }
    tsri_json_close(w, ']');
    tsri_json_close(w, '}');
done:
    return st;
}

static tsr_status all_layers(pairs *p)
{
    tsr_status st = TSR_OK;
    tsri_json *w = &p->json;
    const tsri_net *net = p->r->net;
    int64_t at = 0;
    tsri_json_begin(w);
    tsri_json_key(w, "epochs");
    tsri_json_open(w, '[');
    for (int64_t i = 0; i < p->r->count; i++)
        if (shown(p, i))
            tsri_json_float(w, (float)epoch_of(p, i));
    tsri_json_close(w, ']');
    tsri_json_key(w, "layers"); /* in each, row i of "distance" has sample i as reference */
    tsri_json_open(w, '[');
    for (int64_t a = 0; a < net->axes; a++) {
        if (!p->r->cut[a])
            continue;
        TSR_TRY(one_layer(p, &net->axis[a], at));
        at += net->axis[a].size;
    }
    tsri_json_close(w, ']');
    tsri_json_close(w, '}');
    TSR_TRY(tsri_json_end(w));
done:
    return st;
}

static tsr_status write_file(const char *folder, const char *name, const char *text)
{
    tsr_status st = TSR_OK;
    char *path = NULL;
    TSR_TRY(tsri_path_join(&path, folder, name));
    TSR_TRY(tsri_file_write_text(path, text));
done:
    tsri_free(path);
    return st;
}

tsr_status tsri_score_log_write(const tsri_score_log *r, double epoch_rounds, const double *ratio,
                                int64_t ratios, const char *folder)
{
    tsr_status st = TSR_OK;
    pairs p = {.r = r, .epoch_rounds = epoch_rounds, .ratio = ratio, .ratios = ratios};
    if (r->count == 0)
        return TSR_OK;
    TSR_TRY(pairs_init(&p));
    TSR_TRY(csv_head(&p));
    TSR_TRY(all_layers(&p));
    TSR_TRY(write_file(folder, "distance.json", p.json.text.data));
    TSR_TRY(write_file(folder, "distance.csv", p.csv.data));
done:
    pairs_fini(&p);
    return st;
}
