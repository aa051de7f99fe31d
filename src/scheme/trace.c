/* trace.c - what a round did, on disk, for anyone to check.
 *
 *     trace/data.safetensors            x [n, dim], y as the network sees them (n <= 10,000)
 *     trace/round-000000.safetensors    before.<parameter>, after.<parameter>,
 *                                       share.<worker>.<axis> I64 indices,
 *                                       batch.<worker> I64 [steps, batch] (absent for full batches)
 */
#include "scheme/run.h"

#include "base/alloc.h"
#include "io/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SAMPLES = 10000 };

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
    tsri_tensor t[2] = {
        {.name = "x", .dtype = TSRI_F32, .rank = 2, .shape = {n, d->dim}, .data = x},
        {.name = "y", .dtype = TSRI_I32, .rank = 1, .shape = {n}, .data = d->train.label}};
    if (!d->train.label)
        t[1] = (tsri_tensor){.name = "y",
                             .dtype = TSRI_F32,
                             .rank = 2,
                             .shape = {n, d->targets},
                             .data = d->train.target};
    TSR_TRY(tsri_path_join(&path, run->trace, "data.safetensors"));
    TSR_TRY(tsri_tensors_write(path, t, 2, NULL, 0));
done:
    tsri_free(path);
    tsri_free(x);
    return st;
}

typedef struct list {
    tsri_tensor *tensor;
    char (*names)[2 * TSRI_NAME];
    int64_t *counts, *indices;
    int64_t count;
} list;

static tsr_status make_list(list *l, const tsri_run *run, const tsri_trace *trace)
{
    tsr_status st = TSR_OK;
    int64_t longest = 0, room = 2 * run->net->params + trace->workers * (run->net->axes + 1);
    for (int64_t a = 0; a < run->net->axes; a++)
        if (run->net->axis[a].size > longest)
            longest = run->net->axis[a].size;
    TSR_TRY(tsri_alloc(&l->tensor, room, sizeof *l->tensor));
    TSR_TRY(tsri_alloc(&l->names, room, sizeof *l->names));
    TSR_TRY(tsri_alloc(&l->counts, room, sizeof *l->counts));
    TSR_TRY(tsri_alloc(&l->indices, longest, sizeof *l->indices));
    for (int64_t i = 0; i < longest; i++)
        l->indices[i] = i;
done:
    return st;
}

static void free_list(list *l)
{
    tsri_free(l->tensor);
    tsri_free(l->names);
    tsri_free(l->counts);
    tsri_free(l->indices);
}

static void add_parameters(list *l, const tsri_run *run, void *w, const char *prefix)
{
    tsri_store view = run->store;
    view.w = w;
    l->count += tsri_store_tensors(&view, l->tensor + l->count, l->counts + l->count,
                                   l->names + l->count, prefix);
}

/* The whole of every axis that can be cut. */
static void add_share(list *l, const tsri_run *run, int64_t worker)
{
    for (int64_t a = 0; a < run->net->axes; a++) {
        if (!run->net->axis[a].cuttable)
            continue;
        (void)snprintf(l->names[l->count], sizeof l->names[0], "share.%" PRId64 ".%s", worker,
                       run->net->axis[a].name);
        l->tensor[l->count] = (tsri_tensor){.name = l->names[l->count],
                                            .dtype = TSRI_I64,
                                            .rank = 1,
                                            .shape = {run->net->axis[a].size},
                                            .data = l->indices};
        l->count++;
    }
}

static void add_batch(list *l, const tsri_run *run, const tsri_trace *trace, int64_t worker)
{
    if (!trace->batch || run->batch == run->data->train.n)
        return;
    (void)snprintf(l->names[l->count], sizeof l->names[0], "batch.%" PRId64, worker);
    l->tensor[l->count] = (tsri_tensor){.name = l->names[l->count],
                                        .dtype = TSRI_I64,
                                        .rank = 2,
                                        .shape = {trace->steps, run->batch},
                                        .data = trace->batch + worker * trace->steps * run->batch};
    l->count++;
}

tsr_status tsri_trace_round(tsri_run *run, const tsri_trace *trace)
{
    tsr_status st = TSR_OK;
    list l = {0};
    char name[48], *path = NULL;
    TSR_TRY(make_list(&l, run, trace));
    add_parameters(&l, run, trace->before, "before.");
    add_parameters(&l, run, run->store.w, "after.");
    for (int64_t w = 0; w < trace->workers; w++) {
        add_share(&l, run, w);
        add_batch(&l, run, trace, w);
    }
    (void)snprintf(name, sizeof name, "round-%06" PRId64 ".safetensors", run->round);
    TSR_TRY(tsri_path_join(&path, run->trace, name));
    TSR_TRY(tsri_tensors_write(path, l.tensor, l.count, NULL, 0));
done:
    free_list(&l);
    tsri_free(path);
    return st;
}
