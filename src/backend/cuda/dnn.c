/* dnn.c - which engine of cuDNN runs a convolution, and running it (dnn.h). */
#include "backend/cuda/dnn_parts.h"

#ifdef TSRI_CUDA_HAS_DNN

#include <stdlib.h>
#include <string.h>

enum { MOST_ENGINES = 32 }; /* that are looked at */

/* Engines of a list that may ask for so much are taken. */
static const int64_t most_workspace = (int64_t)1 << 30;

/* ---- Running ------------------------------------------------------------------------------- */

cudnnStatus_t tsri_dnn_execute(const tsri_cuda_dnn *d, const void *x, const void *w, const void *y,
                               void *workspace, cudaStream_t stream)
{
    const int64_t name[] = {'x', 'w', 'y'};
    const void *at[] = {x, w, y};
    tsri_dnn_maker m = {0};
    tsri_dnn_descriptor pack = tsri_dnn_make(&m, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    tsri_dnn_set(&m, pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, name);
    tsri_dnn_set(&m, pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, at);
    tsri_dnn_set(&m, pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    tsri_dnn_finish(&m, pack);
    tsri_dnn_note(&m, tsri_dnn.cudnnSetStream(tsri_dnn.handle, stream));
    if (m.status == CUDNN_STATUS_SUCCESS)
        tsri_dnn_note(&m, tsri_dnn.cudnnBackendExecute(tsri_dnn.handle, d->plan, pack));
    tsri_dnn_forget(&m);
    return m.status;
}

tsr_status tsri_cuda_dnn_run(const tsri_cuda_dnn *d, const void *x, const void *w, const void *y,
                             void *workspace, cudaStream_t stream)
{
    pthread_mutex_lock(&tsri_dnn.lock); /* a handle is for one thread at a time */
    cudnnStatus_t status = tsri_dnn_execute(d, x, w, y, workspace, stream);
    pthread_mutex_unlock(&tsri_dnn.lock);
    return status == CUDNN_STATUS_SUCCESS
               ? TSR_OK
               : tsri_fail(TSR_FAILURE, "cuDNN failed at a convolution (engine %lld): %s",
                           (long long)d->engine, tsri_dnn.cudnnGetErrorString(status));
}

/* ---- Engines ------------------------------------------------------------------------------- */

/* cuDNN's list for a graph, best first: `engine` [MOST_ENGINES] are made, *count are of use. */
static void list_engines(tsri_dnn_maker *m, tsri_dnn_descriptor *engine, int64_t *count,
                         tsri_dnn_descriptor graph, cudnnBackendHeurMode_t mode)
{
    tsri_dnn_descriptor rules = tsri_dnn_make(m, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    tsri_dnn_set(m, rules, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                 &graph);
    tsri_dnn_set(m, rules, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    tsri_dnn_finish(m, rules);
    *count = 0;
    for (int i = 0; i < MOST_ENGINES; i++)
        tsri_dnn_note(m, tsri_dnn.cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                                                               &engine[i]));
    if (m->status == CUDNN_STATUS_SUCCESS)
        tsri_dnn_note(m, tsri_dnn.cudnnBackendGetAttribute(rules, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                                           CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                                           MOST_ENGINES, count, engine));
    *count = m->status == CUDNN_STATUS_SUCCESS ? *count : 0;
}

/* The same bits every time, of the numbers as they are? */
static bool is_fit(tsri_dnn_descriptor config, int64_t *number, bool bf16)
{
    tsri_dnn_descriptor engine = NULL;
    cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
    int64_t count = 0, one = 0;
    bool fit =
        tsri_dnn.cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine) ==
            CUDNN_STATUS_SUCCESS &&
        tsri_dnn.cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE,
                                          CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &one,
                                          &engine) == CUDNN_STATUS_SUCCESS &&
        tsri_dnn.cudnnBackendGetAttribute(
            engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
            CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, notes) == CUDNN_STATUS_SUCCESS &&
        tsri_dnn.cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64,
                                          1, &one, number) == CUDNN_STATUS_SUCCESS;
    for (int64_t i = 0; fit && i < count; i++) {
        cudnnBackendNumericalNote_t n = notes[i];
        fit = n == CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP ||
              (bf16 && n == CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
    }
    if (engine)
        (void)tsri_dnn.cudnnBackendDestroyDescriptor(engine);
    return fit;
}

/* Makes it a plan, where cuDNN can and does not ask for too much. */
static bool try_engine(tsri_cuda_dnn *d, tsri_dnn_descriptor config)
{
    int64_t one = 0;
    tsri_dnn_descriptor plan = NULL;
    tsri_dnn_maker m = {0};
    tsri_dnn_note(
        &m, tsri_dnn.cudnnBackendCreateDescriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &plan));
    tsri_dnn_set(&m, plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1,
                 &tsri_dnn.handle);
    tsri_dnn_set(&m, plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                 1, &config);
    tsri_dnn_finish(&m, plan);
    if (m.status == CUDNN_STATUS_SUCCESS)
        tsri_dnn_note(
            &m, tsri_dnn.cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                                  CUDNN_TYPE_INT64, 1, &one, &d->workspace));
    if (m.status == CUDNN_STATUS_SUCCESS && d->workspace <= most_workspace) {
        d->plan = plan;
        return true;
    }
    if (plan)
        (void)tsri_dnn.cudnnBackendDestroyDescriptor(plan);
    return false;
}

/* Where TESSERA_CUDNN_TELL is set: what was found for each shape. */
static void tell(const tsri_cuda_dnn *d)
{
    static const char *const pass[] = {"forward", "input", "weight"};
    const tsri_cuda_dnn_shape *s = &d->shape;
    if (secure_getenv("TESSERA_CUDNN_TELL"))
        tsri_cuda_tell(TSR_LOG_WARNING,
                       "cudnn %s %lld x %lld x %lld x %lld to %lld, window %lld / %lld, %s%s: "
                       "place %lld, engine %lld, workspace %lld, %.1f us%s",
                       pass[s->pass], (long long)s->n, (long long)s->h, (long long)s->w,
                       (long long)s->c, (long long)s->k, (long long)s->size, (long long)s->stride,
                       s->bf16 ? "bf16" : "f32", s->wide ? " to f32" : "", (long long)d->place,
                       d->fit ? (long long)d->engine : -1LL, (long long)d->workspace,
                       d->seconds * 1e6, s->crowd ? ", four at once" : "");
}

/* TESSERA_CUDNN_TUNE=1: of the engines that are fit, the one that is fastest now. Which one that is
 * may change from run to run, and with it the bits. */
static bool tunes(void)
{
    const char *text = secure_getenv("TESSERA_CUDNN_TUNE");
    return text && *text == '1';
}

static void take_faster(tsri_cuda_dnn *best, const tsri_cuda_dnn *other)
{
    bool better = !best->fit || other->seconds < best->seconds;
    tsri_dnn_descriptor loser = better ? best->plan : other->plan;
    if (better)
        *best = *other;
    if (loser)
        (void)tsri_dnn.cudnnBackendDestroyDescriptor(loser);
}

/* All that are fit, by the clock. */
static void take_fastest(tsri_cuda_dnn *d, const tsri_dnn_descriptor *config, const int64_t *engine,
                         int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        tsri_cuda_dnn other = {.shape = d->shape, .engine = engine[i], .place = i};
        if (!try_engine(&other, config[i]))
            continue;
        other.fit = true;
        other.seconds = tsri_dnn_seconds(&other, d->shape.crowd ? TSRI_DNN_STREAMS : 1);
        tell(&other);
        take_faster(d, &other);
    }
}

static void take_first(tsri_cuda_dnn *d, const tsri_dnn_descriptor *config, const int64_t *engine,
                       int64_t count, int64_t only)
{
    for (int64_t i = 0; i < count && !d->fit; i++)
        if (only < 0 || engine[i] == only) {
            d->engine = engine[i];
            d->place = i;
            d->fit = try_engine(d, config[i]);
        }
}

/* The engine that is listed most often. */
static int64_t usual(const int64_t *engine, int64_t count)
{
    int64_t best = -1, most = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t times = 0;
        for (int64_t k = 0; k < count; k++)
            times += engine[k] == engine[i];
        best = times > most ? engine[i] : best;
        most = times > most ? times : most;
    }
    return best;
}

/* The one that was fastest on a chip of this kind (engines.c). */
static void take_measured(tsri_cuda_dnn *d, const tsri_dnn_descriptor *config,
                          const int64_t *engine, int64_t count)
{
    tsri_cuda_place known = tsri_cuda_measured(&d->shape, (int64_t)tsri_dnn.cudnnGetVersion());
    if (known.place < 0 || known.place >= count || engine[known.place] != known.engine)
        return;
    d->engine = known.engine;
    d->place = known.place;
    d->fit = try_engine(d, config[known.place]);
}

/* An engine that wants as much memory as x has brings x into another order first; the usual one
 * then is faster (1x1 convolutions of stride 2 on an H200: 13 us, not 60). */
static void take_by_rule(tsri_cuda_dnn *d, const tsri_dnn_descriptor *config, const int64_t *engine,
                         int64_t count)
{
    const tsri_cuda_dnn_shape *s = &d->shape;
    tsri_cuda_dnn other = {.shape = *s};
    take_measured(d, config, engine, count);
    if (d->fit)
        return;
    take_first(d, config, engine, count, -1);
    if (!d->fit || d->workspace < s->n * s->h * s->w * s->c)
        return;
    take_first(&other, config, engine, count, usual(engine, count));
    if (other.fit && other.workspace < d->workspace) {
        (void)tsri_dnn.cudnnBackendDestroyDescriptor(d->plan);
        *d = other;
    }
}

static void choose(tsri_cuda_dnn *d, tsri_dnn_descriptor graph, cudnnBackendHeurMode_t mode)
{
    tsri_dnn_descriptor config[MOST_ENGINES] = {0}, fit[MOST_ENGINES];
    int64_t engine[MOST_ENGINES], count = 0, fits = 0;
    tsri_dnn_maker m = {0};
    list_engines(&m, config, &count, graph, mode);
    for (int64_t i = 0; i < count; i++)
        if (is_fit(config[i], &engine[fits], d->shape.bf16))
            fit[fits++] = config[i];
    (tunes() ? take_fastest : take_by_rule)(d, fit, engine, fits);
    for (int i = 0; i < MOST_ENGINES; i++)
        if (config[i])
            (void)tsri_dnn.cudnnBackendDestroyDescriptor(config[i]);
    tsri_dnn_forget(&m);
}

static tsri_cuda_dnn *describe(const tsri_cuda_dnn_shape *shape)
{
    tsri_cuda_dnn *d = calloc(1, sizeof *d); /* for the process: no run owns it */
    tsri_dnn_maker m = {0};
    if (!d)
        return NULL;
    d->shape = *shape;
    tsri_dnn_descriptor graph = tsri_dnn_graph(&m, shape);
    if (m.status == CUDNN_STATUS_SUCCESS)
        choose(d, graph, CUDNN_HEUR_MODE_A);
    if (m.status == CUDNN_STATUS_SUCCESS && !d->fit)
        choose(d, graph, CUDNN_HEUR_MODE_FALLBACK);
    if (!d->fit)
        tsri_dnn_forget(&m); /* what a plan was made of stays with it */
    tell(d);
    return d;
}

const tsri_cuda_dnn *tsri_cuda_dnn_find(const tsri_cuda_dnn_shape *shape)
{
    if (tsri_cuda_dnn_lacks())
        return NULL;
    pthread_mutex_lock(&tsri_dnn.lock);
    tsri_cuda_dnn *d = tsri_dnn.found;
    while (d && memcmp(&d->shape, shape, sizeof *shape) != 0)
        d = d->next;
    if (!d && (d = describe(shape)) != NULL) {
        d->next = tsri_dnn.found;
        tsri_dnn.found = d;
    }
    pthread_mutex_unlock(&tsri_dnn.lock);
    return d && d->fit ? d : NULL;
}

int64_t tsri_cuda_dnn_bytes(const tsri_cuda_dnn *d)
{
    return d ? d->workspace : 0;
}

#else

const char *tsri_cuda_dnn_lacks(void)
{
    return "this module was built without cuDNN's headers";
}

int64_t tsri_cuda_dnn_version(void)
{
    return 0;
}

const tsri_cuda_dnn *tsri_cuda_dnn_find(const tsri_cuda_dnn_shape *shape)
{
    (void)shape;
    return NULL;
}

int64_t tsri_cuda_dnn_bytes(const tsri_cuda_dnn *d)
{
    (void)d;
    return 0;
}

tsr_status tsri_cuda_dnn_run(const tsri_cuda_dnn *d, const void *x, const void *w, const void *y,
                             void *workspace, cudaStream_t stream)
{
    (void)d, (void)x, (void)w, (void)y, (void)workspace, (void)stream;
    return tsri_fail(TSR_FAILURE, "%s", tsri_cuda_dnn_lacks());
}

#endif
