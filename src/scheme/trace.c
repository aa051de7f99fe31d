/* trace.c - what a round did, on disk, for anyone to check: trace/data.safetensors once, and
 * trace/round-000000.safetensors for each round (docs/formats.md).
 */
#include "scheme/run.h"

#include "base/alloc.h"
#include "base/text.h"
#include "io/file.h"
#include "net/parcel.h"

#include <inttypes.h>

enum { MOST_SAMPLES = 10000 };

struct tsri_tracer {
    tsri_parcel notes; /* of observers, until they are written */
};

static tsr_status tracer_of(struct tsri_tracer **out, tsri_run *run)
{
    tsr_status st = TSR_OK;
    if (!run->tracer) {
        TSR_TRY(tsri_alloc(&run->tracer, 1, sizeof *run->tracer));
        tsri_parcel_init(&run->tracer->notes, NULL);
    }
    *out = run->tracer;
done:
    return st;
}

void tsri_trace_fini(tsri_run *run)
{
    if (run->tracer)
        tsri_parcel_fini(&run->tracer->notes);
    tsri_free(run->tracer);
    tsri_free(run->trace);
}

/* <trace>/<kind>-<round>.safetensors */
static tsr_status write_file(const tsri_run *run, const tsri_parcel *parcel, const char *kind,
                             int64_t round)
{
    tsr_status st = TSR_OK;
    char *path = NULL;
    tsri_text name = {0};
    TSR_TRY(tsri_text_add(&name, "%s-%06" PRId64 ".safetensors", kind, round));
    TSR_TRY(tsri_path_join(&path, run->trace, name.data));
    TSR_TRY(tsri_parcel_write(parcel, path, NULL, 0));
done:
    tsri_text_fini(&name);
    tsri_free(path);
    return st;
}

/* ---- Data ---------------------------------------------------------------------------------- */

tsr_status tsri_trace_data(tsri_run *run)
{
    tsr_status st = TSR_OK;
    const tsr_data *d = run->data;
    int64_t n = d->train.n;
    float *x = NULL;
    char *path = NULL;
    if (n > MOST_SAMPLES)
        return TSR_OK;
    TSR_TRY(tsri_alloc(&x, n * d->dim, sizeof *x));
    for (int64_t i = 0; i < n; i++)
        tsri_sample(x + i * d->dim, d, &d->train, i);
    tsri_tensor t[3] = {
        {.name = "x", .dtype = TSRI_F32, .rank = 2, .shape = {n, d->dim}, .data = x},
        {.name = "y", .dtype = TSRI_I32, .rank = 1, .shape = {n}, .data = d->train.label}};
    if (!d->train.label)
        t[1] = (tsri_tensor){.name = "y",
                             .dtype = TSRI_F32,
                             .rank = 2,
                             .shape = {n, d->targets},
                             .data = d->train.target};
    t[2] = (tsri_tensor){
        .name = "length", .dtype = TSRI_I32, .rank = 1, .shape = {n}, .data = d->train.length};
    TSR_TRY(tsri_path_join(&path, run->trace, "data.safetensors"));
    TSR_TRY(tsri_tensors_write(path, t, d->train.length ? 3 : 2, NULL, 0));
done:
    tsri_free(path);
    tsri_free(x);
    return st;
}

/* ---- Rounds -------------------------------------------------------------------------------- */

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
        tsri_tensor t = {.dtype = TSRI_I64, .rank = 1, .shape = {axis->size}, .data = indices};
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

static tsr_status add_batch(tsri_parcel *parcel, const tsri_run *run, const tsri_trace *trace,
                            int64_t worker)
{
    tsri_tensor t = {.dtype = TSRI_I64,
                     .rank = 2,
                     .shape = {trace->steps, run->batch},
                     .data = trace->batch + worker * trace->steps * run->batch};
    if (run->batch == run->data->train.n)
        return TSR_OK;
    return tsri_parcel_add(parcel, &t, "batch.%" PRId64, worker);
}

tsr_status tsri_trace_round(tsri_run *run, const tsri_trace *trace)
{
    tsr_status st = TSR_OK;
    tsri_parcel parcel;
    int64_t *indices = NULL;
    tsri_parcel_init(&parcel, run->net);
    TSR_TRY(make_indices(&indices, run->net));
    TSR_TRY(tsri_parcel_add_model(&parcel, trace->before, "before."));
    TSR_TRY(tsri_parcel_add_model(&parcel, run->store.w, "after."));
    for (int64_t w = 0; w < trace->workers; w++) {
        TSR_TRY(add_share(&parcel, trace->share ? trace->share[w] : NULL, indices, w));
        TSR_TRY(add_batch(&parcel, run, trace, w));
    }
    TSR_TRY(write_file(run, &parcel, "round", run->round));
done:
    tsri_parcel_fini(&parcel);
    tsri_free(indices);
    return st;
}

/* ---- Notes of observers -------------------------------------------------------------------- */

tsr_status tsri_trace_note(tsri_run *run, const tsri_tensor *tensor, const char *fmt, ...)
{
    struct tsri_tracer *tracer = NULL;
    va_list args;
    if (!run->trace)
        return TSR_OK;
    va_start(args, fmt);
    tsr_status st = tracer_of(&tracer, run);
    if (st == TSR_OK)
        st = tsri_parcel_add_copy(&tracer->notes, tensor, fmt, args);
    va_end(args);
    return st;
}

tsr_status tsri_trace_write_notes(tsri_run *run, const char *kind)
{
    if (!run->tracer || run->tracer->notes.count == 0)
        return TSR_OK;
    tsr_status st = write_file(run, &run->tracer->notes, kind, run->round);
    tsri_parcel_fini(&run->tracer->notes);
    return st;
}
