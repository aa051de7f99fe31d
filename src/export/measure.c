/* measure.c - a model here and in ONNX Runtime, side by side: the same random batch, one repetition
 * of each in turn, and the largest difference of what they answer. */
#include "export/onnx.h"
#include "export/runtime.h"
#include "export/writer.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "base/sized.h"
#include "net/plan.h"
#include "ticket/turns.h"
#include "train/describe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One network in both. */
typedef struct rival {
    const tsr_model *model;
    tsri_net *net;
    tsri_store store;
    tsri_plan *plan;
    tsri_device device;
    const float *x;
    tsri_onnx_bytes file;
    tsri_session session;
    bool there; /* the session runs */
} rival;

/* The batch that all of them see. */
typedef struct arena {
    tsri_device device;
    tsri_runtime runtime;
    bool there;
    float *x;
    int32_t *lengths; /* NULL: no sequences */
    int64_t shape[TSRI_GRAPH_DIMS];
    int dims;
} arena;

static tsr_status run_ours(void *of)
{
    tsr_status st = TSR_OK;
    rival *r = of;
    TSR_TRY(tsri_plan_forward(r->plan, r->x));
    TSR_TRY(tsri_device_wait(r->device));
done:
    return st;
}

static tsr_status run_theirs(void *of)
{
    return tsri_session_run(&((rival *)of)->session);
}

static void rival_fini(rival *r)
{
    tsri_session_close(&r->session);
    tsri_onnx_fini(&r->file);
    tsri_plan_destroy(r->plan);
    tsri_store_fini(&r->store);
    tsri_net_destroy(r->net);
}

static tsr_status rival_init(rival *r, const arena *a, const tsr_onnx_speed_options *o)
{
    tsr_status st = TSR_OK;
    tsr_onnx_options how = tsr_onnx_options_default();
    how.fold = o->fold;
    r->device = a->device;
    r->x = a->x;
    TSR_TRY(tsri_model_load(&r->net, &r->store, r->model, a->device.backend, false));
    TSR_TRY(tsri_plan_create_steady(&r->plan, &r->store, a->device, o->batch, NULL));
    TSR_TRY(tsri_onnx_make(&r->file, r->model, &how));
    if (!a->there)
        goto done;
    TSR_TRY(tsri_session_open(&r->session, &a->runtime, r->file.bytes, r->file.n, o->threads));
    TSR_TRY(tsri_session_input(&r->session, a->x, a->shape, a->dims, a->lengths));
    r->there = true;
done:
    return st;
}

/* ---- The batch ------------------------------------------------------------------------------ */

static tsr_status make_batch(arena *a, const tsr_model *m, int64_t batch)
{
    tsr_status st = TSR_OK;
    tsri_shape s = m->input;
    tsri_graph graph = {0};
    tsri_writer w;
    int64_t count = batch * tsri_shape_count(s);
    tsri_rng rng = tsri_rng_stream(1, TSRI_FOR_TICKET, 1, 0, 0);
    TSR_TRY(tsri_writer_init(&w, &graph, m, false)); /* how many dimensions it has */
    a->dims = w.dims[0];
    memcpy(a->shape, (int64_t[]){batch, s.c, s.h, s.w}, sizeof a->shape);
    TSR_TRY(tsri_alloc(&a->x, count, sizeof *a->x));
    for (int64_t i = 0; i < count; i++)
        a->x[i] = (float)tsri_rng_normal(&rng);
    if (!w.sequences)
        goto done;
    memcpy(a->shape, (int64_t[]){batch, s.h, s.c}, 3 * sizeof *a->shape);
    TSR_TRY(tsri_alloc(&a->lengths, batch, sizeof *a->lengths));
    for (int64_t i = 0; i < batch; i++)
        a->lengths[i] = (int32_t)s.h;
done:
    tsri_writer_fini(&w);
    return st;
}

static void arena_fini(arena *a)
{
    tsri_runtime_close(&a->runtime);
    tsri_pool_destroy(a->device.pool);
    tsri_free(a->x);
    tsri_free(a->lengths);
}

static tsr_status arena_init(arena *a, tsr_onnx_speed *speed, const tsr_model *m,
                             const tsr_onnx_speed_options *o)
{
    tsr_status st = TSR_OK;
    int threads;
    TSR_TRY(tsri_start_backend(&a->device.backend, &threads, m->config));
    TSR_TRY(tsri_pool_create(&a->device.pool, (int)o->threads));
    TSR_TRY(make_batch(a, m, o->batch));
    a->there = tsri_runtime_open(&a->runtime, o->library) == TSR_OK;
    if (a->there)
        (void)snprintf(speed->runtime, sizeof speed->runtime, "%s", a->runtime.version);
    else
        (void)snprintf(speed->missing, sizeof speed->missing, "%s", tsr_last_error());
done:
    return st;
}

/* ---- Answers -------------------------------------------------------------------------------- */

static tsr_status compare(double *difference, rival *r, int64_t batch)
{
    tsr_status st = TSR_OK;
    int64_t count = batch * r->net->outputs;
    float *ours = NULL;
    double most = 0, apart = 0;
    TSR_TRY(tsri_alloc(&ours, count, sizeof *ours));
    TSR_TRY(tsri_plan_read_output(ours, r->plan, batch));
    TSR_CHECK(r->session.outputs == count, TSR_FAILURE,
              "%s: ONNX Runtime gives %lld numbers where the network has %lld", r->model->path,
              (long long)r->session.outputs, (long long)count);
    for (int64_t i = 0; i < count; i++) {
        most = fmax(most, fabs((double)ours[i]));
        apart = fmax(apart, fabs((double)ours[i] - (double)r->session.output[i]));
    }
    *difference = most > 0 ? apart / most : apart;
done:
    tsri_free(ours);
    return st;
}

static tsr_status race(tsr_onnx_speed *speed, rival *rivals, int64_t count, const arena *a,
                       const tsr_onnx_speed_options *o)
{
    tsr_status st = TSR_OK;
    tsri_turn turns[4];
    tsri_duration times[4];
    for (int64_t i = 0; i < count; i++) {
        turns[i] = (tsri_turn){run_ours, &rivals[i]};
        turns[count + i] = (tsri_turn){run_theirs, &rivals[i]};
    }
    TSR_TRY(tsri_take_turns(times, turns, a->there ? 2 * count : count, o->seconds));
    for (int64_t i = 0; i < count; i++) {
        speed->bytes[i] = rivals[i].file.n;
        speed->ours_ms[i] = times[i].least;
        speed->ours_median_ms[i] = times[i].median;
        if (!a->there)
            continue;
        speed->theirs_ms[i] = times[count + i].least;
        speed->theirs_median_ms[i] = times[count + i].median;
        TSR_TRY(compare(&speed->difference[i], &rivals[i], o->batch));
    }
    speed->faster = count == 2 && tsri_faster(times[1], times[0]) == TSRI_FASTER;
    speed->faster_there = count == 2 && a->there && tsri_faster(times[3], times[2]) == TSRI_FASTER;
done:
    return st;
}

static tsr_status make_sense(const tsr_model *model, const tsr_onnx_speed_options *o)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(model);
    TSR_CHECK(o->batch > 0 && o->threads > 0 && o->seconds >= 0 && o->library, TSR_USAGE,
              "batch and threads must be at least 1, seconds at least 0, and a library be named");
    TSR_CHECK(!o->beside || memcmp(&model->input, &o->beside->input, sizeof model->input) == 0,
              TSR_USAGE, "%s and %s take different inputs: they cannot be measured side by side",
              model->path, o->beside->path);
    TSR_TRY(tsri_onnx_can());
done:
    return st;
}

tsr_status tsr_onnx_measure(tsr_onnx_speed *speed, const tsr_model *model,
                            const tsr_onnx_speed_options *options)
{
    tsr_status st = TSR_OK;
    arena a = {0};
    rival rivals[2] = {0};
    tsr_onnx_speed found = tsr_onnx_speed_default();
    tsr_onnx_speed_options o;
    for (int i = 0; i < 2; i++) {
        found.ours_ms[i] = found.theirs_ms[i] = found.difference[i] = (double)NAN;
        found.ours_median_ms[i] = found.theirs_median_ms[i] = (double)NAN;
    }
    TSR_TRY(TSRI_SIZED_TAKE(&o, options));
    TSR_TRY(make_sense(model, &o));
    TSR_TRY(arena_init(&a, &found, model, &o));
    rivals[0].model = model;
    rivals[1].model = o.beside;
    int64_t count = o.beside ? 2 : 1;
    for (int64_t i = 0; i < count; i++)
        TSR_TRY(rival_init(&rivals[i], &a, &o));
    TSR_TRY(race(&found, rivals, count, &a, &o));
    TSR_TRY(TSRI_SIZED_GIVE(speed, &found));
done:
    rival_fini(&rivals[0]);
    rival_fini(&rivals[1]);
    arena_fini(&a);
    return st;
}
