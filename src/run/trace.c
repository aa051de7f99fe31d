/* trace.c - what a run did, on disk, for anyone to check (docs/formats.md): trace/data.safetensors
 * once, trace/round-000000.safetensors for each round, and beside them what recalibration and
 * observers did between the rounds.
 *
 * A file of a round has all that a replay needs: where the round began, who had what, every sample
 * as it was shown, the rate, and where each worker and the whole came out. What a scheme knows on
 * its way is kept in the tracer until the round is over.
 */
#include "run/trace.h"

#include "base/alloc.h"
#include "base/text.h"
#include "io/file.h"
#include "net/parcel.h"
#include "run/changes.h"
#include "run/rate.h"
#include "run/recipe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SAMPLES = 10000 };

/* Kept from the beginning of a round to its end. */
struct tsri_tracer {
    int64_t workers, steps, batch; /* what the vectors below are for */
    int64_t total, trained;        /* likewise: a run that converts gets another network */
    float *w, *v, *s;              /* [total], [trained] x 2 when the round began; s of Adam */
    int64_t *sample;               /* [workers][steps][batch] */
    tsri_changes changes;          /* of these samples */
};

static tsr_status tracer_of(struct tsri_tracer **out, tsri_run *run)
{
    tsr_status st = TSR_OK;
    if (!run->process.tracer)
        TSR_TRY(tsri_alloc(&run->process.tracer, 1, sizeof *run->process.tracer));
    *out = run->process.tracer;
done:
    return st;
}

static void drop_vectors(struct tsri_tracer *t)
{
    TSRI_FREE(t->w);
    TSRI_FREE(t->v);
    TSRI_FREE(t->s);
    TSRI_FREE(t->sample);
    tsri_changes_fini(&t->changes);
}

void tsri_trace_fini(tsri_run *run)
{
    if (run->process.tracer)
        drop_vectors(run->process.tracer);
    tsri_parcel_fini(&run->process.notes);
    tsri_free(run->process.tracer);
    tsri_free(run->process.trace);
}

tsr_status tsri_trace_write(const char *folder, const tsri_parcel *parcel, const char *kind,
                            int64_t round)
{
    static const tsri_pair format = {"tessera.format", "trace/1"};
    tsr_status st = TSR_OK;
    char *path = NULL;
    tsri_text name = {0};
    TSR_TRY(tsri_text_add(&name, "%s-%06" PRId64 ".safetensors", kind, round));
    TSR_TRY(tsri_path_join(&path, folder, name.data));
    TSR_TRY(tsri_parcel_write(parcel, path, &format, 1));
done:
    tsri_text_fini(&name);
    tsri_free(path);
    return st;
}

/* ---- Data ---------------------------------------------------------------------------------- */

/* What comes in where a crop moved an image away. */
static tsr_status add_black(tsri_tensor *t, float **black, const tsr_data *d)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc(black, d->channels, sizeof **black));
    for (int64_t c = 0; c < d->channels; c++)
        (*black)[c] = tsri_black(d, &d->train, c);
    *t = (tsri_tensor){
        .name = "black", .dtype = TSRI_F32, .dims = 1, .shape = {d->channels}, .data = *black};
done:
    return st;
}

/* The bytes that RandAugment changes, and how they become what the network sees, where each channel
 * or each pixel has a shift and a scale. */
static int64_t add_pixels(tsri_tensor *t, const tsr_data *d)
{
    const int64_t shape[] = {d->channels, d->height, d->width};
    tsri_row_scaling s = tsri_row_scaling_of(&d->scaling, &d->schema, shape, false, d->patch);
    t[0] = (tsri_tensor){.name = "pixels",
                         .dtype = TSRI_U8,
                         .dims = 2,
                         .shape = {d->train.n, d->dim},
                         .data = d->train.bytes ? d->train.bytes : d->train.pixels};
    if (s.groups == 0)
        return 1;
    t[1] = (tsri_tensor){
        .name = "shift", .dtype = TSRI_F32, .dims = 1, .shape = {s.groups}, .data = s.shift};
    t[2] = (tsri_tensor){
        .name = "scale", .dtype = TSRI_F32, .dims = 1, .shape = {s.groups}, .data = s.scale};
    return 3;
}

tsr_status tsri_trace_data(tsri_run *run)
{
    tsr_status st = TSR_OK;
    const tsr_data *d = run->data;
    int64_t n = d->train.n, count = 2;
    float *x = NULL, *black = NULL;
    char *path = NULL;
    if (n > MOST_SAMPLES)
        return TSR_OK;
    TSR_TRY(tsri_alloc(&x, n * d->dim, sizeof *x));
    for (int64_t i = 0; i < n; i++)
        tsri_sample(x + i * d->dim, d, &d->train, i);
    tsri_tensor t[7] = {
        {.name = "x", .dtype = TSRI_F32, .dims = 2, .shape = {n, d->dim}, .data = x},
        {.name = "y", .dtype = TSRI_I32, .dims = 1, .shape = {n}, .data = d->train.label}};
    if (!d->train.label)
        t[1] = (tsri_tensor){.name = "y",
                             .dtype = TSRI_F32,
                             .dims = 2,
                             .shape = {n, d->targets},
                             .data = d->train.target};
    if (d->train.length)
        t[count++] = (tsri_tensor){
            .name = "length", .dtype = TSRI_I32, .dims = 1, .shape = {n}, .data = d->train.length};
    tsri_augment how = tsri_augment_from(run->settings.config);
    if (how.crop > 0)
        TSR_TRY(add_black(&t[count++], &black, d));
    if (how.ops > 0)
        count += add_pixels(t + count, d);
    TSR_TRY(tsri_path_join(&path, run->process.trace, "data.safetensors"));
    TSR_TRY(tsri_tensors_write(path, t, count, &(tsri_pair){"tessera.format", "trace/1"}, 1));
done:
    tsri_free(path);
    tsri_free(black);
    tsri_free(x);
    return st;
}

/* ---- A round begins ------------------------------------------------------------------------ */

static bool fits(const struct tsri_tracer *t, const tsri_run *run, int64_t workers, int64_t steps)
{
    return t->w && t->workers == workers && t->steps == steps && t->batch == run->settings.batch &&
           t->total == run->net->total && t->trained == run->net->trained;
}

static tsr_status make_vectors(struct tsri_tracer *t, const tsri_run *run, int64_t workers,
                               int64_t steps)
{
    tsr_status st = TSR_OK;
    int64_t samples = workers * steps * run->settings.batch;
    tsri_loader_options o = tsri_run_loader(&run->settings, 0);
    drop_vectors(t);
    t->workers = workers;
    t->steps = steps;
    t->batch = run->settings.batch;
    t->total = run->net->total;
    t->trained = run->net->trained;
    TSR_TRY(tsri_alloc(&t->v, t->trained, sizeof *t->v));
    if (run->store.s)
        TSR_TRY(tsri_alloc(&t->s, t->trained, sizeof *t->s));
    TSR_TRY(tsri_alloc(&t->sample, samples, sizeof *t->sample));
    TSR_TRY(tsri_changes_init(&t->changes, &o.augment, workers * steps, t->batch));
    TSR_TRY(tsri_alloc(&t->w, t->total, sizeof *t->w)); /* the last: fits() asks for it */
done:
    return st;
}

tsr_status tsri_trace_begin(tsri_run *run, int64_t workers, int64_t steps)
{
    tsr_status st = TSR_OK;
    struct tsri_tracer *t = NULL;
    if (!run->process.trace)
        return TSR_OK;
    TSR_TRY(tracer_of(&t, run));
    if (!fits(t, run, workers, steps))
        TSR_TRY(make_vectors(t, run, workers, steps));
    TSR_TRY(tsri_store_read(t->w, &run->store, TSRI_WEIGHTS));
    TSR_TRY(tsri_store_read(t->v, &run->store, TSRI_MOMENTUM));
    if (t->s)
        TSR_TRY(tsri_store_read(t->s, &run->store, TSRI_VARIANCE));
done:
    return st;
}

/* A rank that works for another has no tracer: its coordinator notes the batches. */
void tsri_trace_batch(tsri_run *run, int64_t worker, int64_t step, const tsri_loader *loader,
                      const tsri_batch *batch, int64_t number)
{
    struct tsri_tracer *t = run->process.tracer;
    if (!t || !t->w)
        return;
    int64_t at = worker * t->steps + step;
    memcpy(t->sample + at * t->batch, batch->index, (size_t)t->batch * sizeof *t->sample);
    tsri_changes_note(&t->changes, at, loader, batch, number);
}

/* ---- It is over ---------------------------------------------------------------------------- */

/* For shares that are whole: 0, 1, 2, ...: as long as the longest axis. */
static tsr_status make_indices(int64_t **out, const tsri_net *net)
{
    int64_t longest = 0;
    for (int64_t a = 0; a < net->axes; a++)
        if (net->axis[a].size > longest)
            longest = net->axis[a].size;
    tsr_status st = tsri_alloc(out, longest, sizeof **out);
    for (int64_t i = 0; st == TSR_OK && i < longest; i++)
        (*out)[i] = i;
    return st;
}

/* What the worker had of every axis that can be cut; share NULL = the whole. */
static tsr_status add_share(tsri_parcel *parcel, const tsri_share *share, const int64_t *indices,
                            int64_t worker)
{
    tsr_status st = TSR_OK;
    for (int64_t a = 0; a < parcel->net->axes; a++) {
        const tsri_axis *axis = &parcel->net->axis[a];
        tsri_tensor t = {.dtype = TSRI_I64, .dims = 1, .shape = {axis->size}, .data = indices};
        if (axis->cuttable && share) {
            t.shape[0] = share->pick[a].count;
            t.data = share->pick[a].index;
        }
        if (axis->cuttable)
            TSR_TRY(tsri_parcel_add(parcel, &t, "share.%" PRId64 ".%s", worker, axis->name));
    }
done:
    return st;
}

/* Gradient descent takes all samples in their order: what they are needs no list. A batch as large as
 * the set that is shuffled, or drawn with replacement, does: parts of it, and how often a sample is
 * in it, follow from the list alone. */
static tsr_status add_samples(tsri_parcel *parcel, const tsri_run *run, int64_t worker)
{
    tsr_status st = TSR_OK;
    const struct tsri_tracer *t = run->process.tracer;
    const tsri_tensor samples = {.dtype = TSRI_I64,
                                 .dims = 2,
                                 .shape = {t->steps, t->batch},
                                 .data = t->sample + worker * t->steps * t->batch};
    char behind[24];
    (void)snprintf(behind, sizeof behind, ".%" PRId64, worker);
    if (!run->settings.gd || run->settings.batch != run->data->train.n ||
        tsri_run_changes_samples(&run->settings))
        TSR_TRY(tsri_parcel_add(parcel, &samples, "batch%s", behind));
    TSR_TRY(tsri_changes_add(&t->changes, parcel, worker * t->steps, t->steps, "", behind));
done:
    return st;
}

/* A worker's network has the names of the whole and shapes of its own. `local` stays open until the
 * parcel is written. */
static tsr_status add_local(tsri_parcel *parcel, tsri_opened *local, const tsri_traced *worker,
                            int64_t number)
{
    tsr_status st = TSR_OK;
    const tsri_net *whole = parcel->net;
    char prefix[48];
    parcel->net = worker->local->net;
    TSR_TRY(tsri_store_open(local, worker->local, TSRI_OPEN_UNITS));
    (void)snprintf(prefix, sizeof prefix, "local.%" PRId64 ".", number);
    TSR_TRY(tsri_parcel_add_model(parcel, local->w, prefix));
    (void)snprintf(prefix, sizeof prefix, "momentum.%" PRId64 ".", number);
    if (worker->momentum)
        TSR_TRY(tsri_parcel_add_trained(parcel, local->v, prefix));
    (void)snprintf(prefix, sizeof prefix, "variance.%" PRId64 ".", number);
    if (worker->momentum && local->s)
        TSR_TRY(tsri_parcel_add_trained(parcel, local->s, prefix));
done:
    parcel->net = whole;
    return st;
}

static tsr_status add_worker(tsri_parcel *parcel, tsri_opened *local, const tsri_run *run,
                             const tsri_traced *worker, const int64_t *indices, int64_t number)
{
    tsr_status st = TSR_OK;
    tsri_tensor loss = {
        .dtype = TSRI_F64, .dims = 1, .shape = {run->process.tracer->steps}, .data = worker->loss};
    TSR_TRY(add_share(parcel, worker->share, indices, number));
    if (!worker->loss)
        return TSR_OK;
    TSR_TRY(tsri_parcel_add(parcel, &loss, "loss.%" PRId64, number));
    TSR_TRY(add_samples(parcel, run, number));
    if (worker->local)
        TSR_TRY(add_local(parcel, local, worker, number));
done:
    return st;
}

tsr_status tsri_trace_round(tsri_run *run, const tsri_traced *worker, bool momentum)
{
    tsr_status st = TSR_OK;
    const struct tsri_tracer *t = run->process.tracer;
    tsri_parcel parcel;
    tsri_opened after = {0}, *local = NULL; /* [workers] */
    int64_t *indices = NULL;
    if (!run->process.trace)
        return TSR_OK;
    double rate = tsri_run_rate(&run->settings, &run->position, run->position.round);
    tsri_parcel_init(&parcel, run->net);
    TSR_TRY(tsri_alloc(&local, t->workers, sizeof *local));
    TSR_TRY(tsri_store_open(&after, &run->store, TSRI_OPEN_UNITS));
    TSR_TRY(make_indices(&indices, run->net));
    TSR_TRY(tsri_parcel_add(&parcel, &(tsri_tensor){.dtype = TSRI_F64, .data = &rate}, "rate"));
    TSR_TRY(tsri_parcel_add_model(&parcel, t->w, "before."));
    TSR_TRY(tsri_parcel_add_model(&parcel, after.w, "after."));
    if (momentum) {
        TSR_TRY(tsri_parcel_add_trained(&parcel, t->v, "momentum.before."));
        TSR_TRY(tsri_parcel_add_trained(&parcel, after.v, "momentum.after."));
    }
    if (momentum && t->s) {
        TSR_TRY(tsri_parcel_add_trained(&parcel, t->s, "variance.before."));
        TSR_TRY(tsri_parcel_add_trained(&parcel, after.s, "variance.after."));
    }
    for (int64_t w = 0; w < t->workers; w++)
        TSR_TRY(add_worker(&parcel, &local[w], run, &worker[w], indices, w));
    TSR_TRY(tsri_trace_write(run->process.trace, &parcel, "round", run->position.round));
done:
    tsri_parcel_fini(&parcel);
    tsri_store_close(&after);
    for (int64_t w = 0; local && w < t->workers; w++)
        tsri_store_close(&local[w]);
    tsri_free(local);
    tsri_free(indices);
    return st;
}
