/* tangent.c - tiles of samples, passes through the network, and the memory for them. */
#include "theory/tangent.h"

#include "base/alloc.h"
#include "base/stop.h"
#include "theory/ntk_shallow.h"
#include "theory/tangent_parts.h"

#include <math.h>
#include <string.h>

enum { BATCH = 128, BATCH_THERE = 1024 };

static const int64_t MEMORY = (int64_t)2 << 30;

typedef struct work {
    const tsri_net *net;
    tsri_device device;
    tsri_blocks blocks;
    tsri_plan *plan;
    int64_t n, tile, batch;
    int64_t outputs, at_once, first; /* to be summed; held together; the first one */
    int64_t memory;
    bool stops;
    tsri_tangent_view view[2];
    float *x;               /* [batch, input] */
    float *dy;              /* [batch, outputs] */
    const int32_t *lengths; /* of all sequences, or NULL: no lengths */
    int32_t *length;        /* [batch] those of the pass */
    tsri_mem *length_there; /* the same, where the device reads it */
    float *scratch;         /* [threads][blocks.scratch] */
    char *buffers;          /* [threads] of tangent_gram.c */
    /* On a device that has the verbs for it. */
    bool there;
    tsri_device_view on[2];
    tsri_mem *kernel; /* [n, n] of doubles */
    /* Of the pass that is running. */
    tsri_tangent_view *filled;
    int64_t from, count, slot;
} work;

/* ---- Choosing ----------------------------------------------------------------------------- */

/* All outputs together when all samples fit that way: <A, A> is then computed once for all. */
static tsr_status choose_tile(work *w)
{
    tsr_status st = TSR_OK;
    const int64_t real = (int64_t)sizeof(float);
    w->at_once = w->outputs;
    double all = (double)w->n * (double)tsri_blocks_floats(&w->blocks, w->outputs) * (double)real;
    if (all > (double)w->memory)
        w->at_once = 1;
    int64_t sample = tsri_blocks_floats(&w->blocks, w->at_once) * real;
    bool fits = sample == 0 || w->n <= w->memory / sample;
    w->tile = fits ? w->n : w->memory / sample / 2;
    TSR_CHECK(w->tile >= 1, TSR_RESOURCES,
              "the gradients of one sample take %s, and the tangent kernel needs two: allow more "
              "memory than %s, or take a smaller network",
              tsri_bytes_text((double)sample), tsri_bytes_text((double)w->memory));
done:
    return st;
}

static tsr_status choose_batch(work *w, tsri_store *store)
{
    tsr_status st = TSR_OK;
    int64_t most = w->there ? BATCH_THERE : BATCH;
    for (w->batch = w->tile < most ? w->tile : most;; w->batch /= 2) {
        TSR_TRY(tsri_plan_create_frozen(&w->plan, store, w->device, w->batch, false));
        if (w->batch == 1 || tsri_plan_bytes(w->plan) <= w->memory / 2)
            break;
        tsri_plan_destroy(w->plan);
        w->plan = NULL;
    }
done:
    return st;
}

/* A part of what the device has, where that is more than the host's share: half for views, so that
 * plan, products and the kernel itself find room. */
static tsr_status choose_memory(work *w, int64_t asked)
{
    tsr_status st = TSR_OK;
    int64_t available, all;
    const tsri_heap *heap = w->device.backend->heap;
    w->memory = asked > 0 ? asked : MEMORY;
    if (asked > 0 || !w->there || !heap->room)
        return TSR_OK;
    TSR_TRY(heap->room(&available, &all));
    w->memory = available / 2;
done:
    return st;
}

static tsr_status open_work(work *w, tsri_store *store, tsri_device device, int64_t n,
                            const tsri_tangent *options)
{
    tsr_status st = TSR_OK;
    *w = (work){.net = store->net,
                .device = device,
                .n = n,
                .outputs = options->output < 0 ? store->net->outputs : 1,
                .lengths = options->length,
                .first = options->output < 0 ? 0 : options->output,
                .there = device.backend->tangents != NULL};
    TSR_TRY(choose_memory(w, options->memory));
    TSR_CHECK(options->output < store->net->outputs, TSR_USAGE,
              "output %lld is not one of the network's %lld", (long long)options->output,
              (long long)store->net->outputs);
    TSR_TRY(tsri_blocks_init(&w->blocks, w->net));
    TSR_TRY(choose_tile(w));
    TSR_TRY(choose_batch(w, store));
done:
    return st;
}

static void close_work(work *w)
{
    tsri_view_fini(&w->view[0]);
    tsri_view_fini(&w->view[1]);
    tsri_device_view_fini(&w->on[0]);
    tsri_device_view_fini(&w->on[1]);
    if (w->kernel)
        w->device.backend->heap->drop(w->kernel);
    tsri_plan_destroy(w->plan);
    tsri_blocks_fini(&w->blocks);
    tsri_free(w->x);
    tsri_free(w->dy);
    tsri_free(w->length);
    if (w->length_there)
        w->device.backend->heap->drop(w->length_there);
    tsri_free(w->scratch);
    tsri_free(w->buffers);
}

static int64_t thread_bytes(const work *w)
{
    return tsri_gram_bytes(&w->blocks) + w->blocks.scratch * (int64_t)sizeof(float);
}

static double flops_of(const work *w)
{
    double pairs = (double)w->n * (double)(w->n + 1) / 2, sum = 0;
    double tiles = ceil((double)w->n / (double)w->tile);
    for (int64_t k = 0; k < w->blocks.count; k++)
        sum += w->blocks.block[k].pair_flops * (double)w->outputs;
    double passes = (double)w->outputs * (double)w->tile * tiles * (tiles + 1) / 2;
    return pairs * sum + passes * 2 * tsri_net_flops(w->net); /* forward, backward to the inputs */
}

tsr_status tsri_tangent_estimate(tsri_tangent_cost *cost, tsri_store *store, tsri_device device,
                                 int64_t n, const tsri_tangent *options)
{
    tsr_status st = TSR_OK;
    work w = {0};
    TSR_TRY(open_work(&w, store, device, n, options));
    int64_t views = w.tile < n ? 2 : 1;
    *cost = (tsri_tangent_cost){.tile = w.tile,
                                .bytes = views * w.tile * tsri_blocks_floats(&w.blocks, w.at_once) *
                                             (int64_t)sizeof(float) +
                                         tsri_pool_threads(device.pool) * thread_bytes(&w) +
                                         tsri_plan_bytes(w.plan),
                                .flops = flops_of(&w),
                                .patches = w.blocks.patches};
done:
    close_work(&w);
    return st;
}

/* ---- Passing through ---------------------------------------------------------------------- */

static tsr_status visit(void *context, const tsri_op *op, const tsri_layer *layer)
{
    work *w = context;
    if (w->there)
        return tsri_device_view_fill(&w->on[w->filled != w->view], op, layer, w->from, w->count,
                                     w->slot);
    tsri_view_fill(w->filled, op, layer, w->device.backend->can.channels_last, w->from, w->count,
                   w->slot, w->scratch, w->device.pool);
    return TSR_OK;
}

/* Gradient e_o after every sample. */
static tsr_status one_hot(const work *w, int64_t output)
{
    memset(w->dy, 0, (size_t)(w->batch * w->net->outputs) * sizeof *w->dy);
    for (int64_t i = 0; i < w->batch; i++)
        w->dy[i * w->net->outputs + output] = 1;
    return tsri_plan_write_gradient(w->plan, w->dy);
}

/* view = samples first .. first+count-1, for outputs group .. group+at_once-1. The samples of a
 * last batch that are not there are zeros, and are not copied. */
static tsr_status fill(work *w, tsri_tangent_view *view, const float *x, int64_t first,
                       int64_t count, int64_t group)
{
    tsr_status st = TSR_OK;
    int64_t each = tsri_shape_count(w->net->input);
    w->filled = view;
    for (w->from = 0; w->from < count; w->from += w->batch) {
        w->count = count - w->from < w->batch ? count - w->from : w->batch;
        memset(w->x, 0, (size_t)(w->batch * each) * sizeof *w->x);
        memcpy(w->x, x + (first + w->from) * each, (size_t)(w->count * each) * sizeof *w->x);
        for (int64_t i = 0; w->lengths && i < w->batch; i++)
            w->length[i] = i < w->count ? w->lengths[first + w->from + i] : 1;
        if (w->length_there)
            TSR_TRY(w->device.backend->heap->in(w->length_there, w->length,
                                                w->batch * (int64_t)sizeof *w->length));
        for (w->slot = 0; w->slot < w->at_once; w->slot++) {
            TSR_TRY(w->stops ? tsri_stop_heed() : TSR_OK);
            TSR_TRY(tsri_plan_forward(w->plan, w->x)); /* backward uses up what it left */
            TSR_TRY(one_hot(w, group + w->slot));
            TSR_TRY(w->there ? tsri_plan_backward_there(w->plan, visit, w)
                             : tsri_plan_backward_each(w->plan, visit, w));
        }
    }
done:
    return st;
}

static int64_t length(const work *w, int64_t from)
{
    return from + w->tile < w->n ? w->tile : w->n - from;
}

/* All pairs of tiles, for one group of outputs. */
static tsr_status all_tiles(work *w, double *k, const float *x, int64_t group)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < w->n; i += w->tile) {
        tsri_gram_job job = {.k = k, .n = w->n, .i0 = i, .x = &w->view[0], .rows = length(w, i)};
        TSR_TRY(fill(w, &w->view[0], x, i, job.rows, group));
        for (int64_t j = i; j < w->n; j += w->tile) {
            job.j0 = j;
            job.y = &w->view[j > i];
            job.columns = length(w, j);
            if (j > i)
                TSR_TRY(fill(w, &w->view[1], x, j, job.columns, group));
            if (w->there)
                TSR_TRY(tsri_device_gram(w->kernel, &job, &w->on[0], &w->on[j > i]));
            else
                tsri_gram_run(&job, w->buffers, w->device.pool);
        }
    }
done:
    return st;
}

/* Views, and on a device the kernel itself. */
static tsr_status take_views(work *w)
{
    tsr_status st = TSR_OK;
    const tsri_heap *heap = w->device.backend->heap;
    for (int i = 0; i < (w->tile < w->n ? 2 : 1); i++)
        TSR_TRY(w->there
                    ? tsri_device_view_init(&w->on[i], &w->blocks, w->device, w->tile, w->at_once)
                    : tsri_view_init(&w->view[i], &w->blocks, w->tile, w->at_once));
    if (w->there)
        TSR_TRY(heap->take(&w->kernel, w->n * w->n * (int64_t)sizeof(double)));
done:
    return st;
}

static tsr_status take_lengths(work *w)
{
    tsr_status st = TSR_OK;
    const tsri_backend *b = w->device.backend;
    TSR_TRY(tsri_alloc(&w->length, w->batch, sizeof *w->length));
    if (!b->can.reads_host)
        TSR_TRY(b->heap->take(&w->length_there, w->batch * (int64_t)sizeof *w->length));
    if (w->length_there)
        tsri_plan_lengths_there(w->plan, w->length_there);
    else
        tsri_plan_lengths(w->plan, w->length);
done:
    return st;
}

tsr_status tsri_tangent_kernel(double *k, tsri_store *store, tsri_device device, const float *x,
                               int64_t n, const tsri_tangent *options)
{
    tsr_status st = TSR_OK;
    work w = {0};
    int threads = tsri_pool_threads(device.pool);
    TSR_TRY(open_work(&w, store, device, n, options));
    w.stops = options->stops;
    TSR_TRY(take_views(&w));
    TSR_TRY(tsri_alloc(&w.x, w.batch * tsri_shape_count(w.net->input), sizeof *w.x));
    TSR_TRY(tsri_alloc(&w.dy, w.batch * w.net->outputs, sizeof *w.dy));
    if (options->length)
        TSR_TRY(take_lengths(&w));
    TSR_TRY(tsri_alloc(&w.scratch, threads * w.blocks.scratch, sizeof *w.scratch));
    TSR_TRY(tsri_alloc_raw(&w.buffers, threads * tsri_gram_bytes(&w.blocks), 1));
    memset(k, 0, (size_t)n * (size_t)n * sizeof *k);
    for (int64_t group = 0; group < w.outputs; group += w.at_once)
        TSR_TRY(all_tiles(&w, k, x, w.first + group));
    if (w.there)
        TSR_TRY(device.backend->heap->out(k, w.kernel, n * n * (int64_t)sizeof *k));
    tsri_mirror(k, n, device.pool);
done:
    close_work(&w);
    return st;
}
