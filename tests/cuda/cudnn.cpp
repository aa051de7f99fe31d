/* cudnn.cpp - cuDNN's graph interface on this machine's processors: one convolution in plain loops.
 *
 * A library of its own, loaded as the real one is (TESSERA_CUDNN names it). Descriptors are bags of
 * attributes. It is strict: what is not finished cannot be used, numbers must be aligned as they
 * were said to be, and the workspace must be there. For each convolution it lists an engine that is
 * not deterministic, which nobody must take (it computes nonsense), and one that is. Workspaces are
 * filled with NaN, as are outputs before they are written. The workspace forward is small and begins
 * with a counter, which a memset sets to 0 before each run, as the real one does it.
 *
 * TESSERA_EMULATED_DNN: "version" (another one), "engines" (none is fit), "narrow" (dw of bf16 has no
 * engine that gives floats).
 */
#include "cudnn.h"
#include "emulated_stream.h"

#include <map>
#include <stdlib.h>
#include <string.h>
#include <string>

struct emulated_dnn {
    cudaStream_t stream;
};

enum { BAD = 1, GOOD = 2, SMALL = 131, LARGE = 1024 };

struct bag {
    cudnnBackendDescriptorType_t type;
    std::map<int, std::vector<char>> attribute;
    bool finished;
    int engine;

    template <class T> const T *get(int name) const
    {
        auto at = attribute.find(name);
        return at == attribute.end() ? NULL : (const T *)at->second.data();
    }
};

static bool asked(const char *what)
{
    const char *text = getenv("TESSERA_EMULATED_DNN");
    return text && strcmp(text, what) == 0;
}

static size_t bytes_of(cudnnBackendAttributeType_t type)
{
    bool four = type == CUDNN_TYPE_DATA_TYPE || type == CUDNN_TYPE_FLOAT ||
                type == CUDNN_TYPE_CONVOLUTION_MODE || type == CUDNN_TYPE_HEUR_MODE ||
                type == CUDNN_TYPE_NUMERICAL_NOTE;
    return four ? 4 : 8;
}

/* ---- Descriptors ---------------------------------------------------------------------------- */

size_t cudnnGetVersion(void)
{
    return asked("version") ? 80907 : 91900;
}

const char *cudnnGetErrorString(cudnnStatus_t status)
{
    return status == CUDNN_STATUS_NOT_SUPPORTED ? "CUDNN_STATUS_NOT_SUPPORTED"
                                                : "CUDNN_STATUS_BAD_PARAM";
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle)
{
    *handle = new emulated_dnn{NULL};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t *descriptor)
{
    *descriptor = new bag{type, {}, false, 0};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor)
{
    delete (bag *)descriptor;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count,
                                       const void *values)
{
    bag *b = (bag *)descriptor;
    const char *from = (const char *)values;
    if (b->finished)
        return CUDNN_STATUS_BAD_PARAM;
    for (int64_t i = 0; type == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < count; i++)
        if (!((bag *const *)values)[i]->finished)
            return CUDNN_STATUS_BAD_PARAM;
    b->attribute[name].assign(from, from + (size_t)count * bytes_of(type));
    return CUDNN_STATUS_SUCCESS;
}

/* ---- What is computed ------------------------------------------------------------------------ */

struct tensor {
    int64_t name, size[4], step[4], aligned;
    bool bf16;
};

static bool read_tensor(tensor *t, const bag *b)
{
    const cudnnDataType_t *type = b->get<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
    const int64_t *name = b->get<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID);
    const int64_t *size = b->get<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
    const int64_t *step = b->get<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
    const int64_t *aligned = b->get<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
    if (!type || !name || !size || !step || !aligned)
        return false;
    *t = tensor{*name, {}, {}, *aligned, *type == CUDNN_DATA_BFLOAT16};
    memcpy(t->size, size, sizeof t->size);
    memcpy(t->step, step, sizeof t->step);
    return true;
}

struct convolution {
    int pass; /* 0 forward, 1 weights, 2 input */
    tensor x, w, y;
    int64_t pad[2], stride[2];
};

static const bag *part(const bag *b, int name)
{
    bag *const *at = b->get<bag *>(name);
    return at ? *at : NULL;
}

/* Of a graph of one operation. */
static bool read_convolution(convolution *c, const bag *graph)
{
    static const int names[3][4] = {
        {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC},
        {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC},
        {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC}};
    const bag *op = graph ? part(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS) : NULL;
    if (!op || !graph->get<void *>(CUDNN_ATTR_OPERATIONGRAPH_HANDLE))
        return false;
    c->pass = op->type - CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
    const int *n = names[c->pass];
    const bag *x = part(op, n[0]), *w = part(op, n[1]), *y = part(op, n[2]), *d = part(op, n[3]);
    if (!x || !w || !y || !d || !read_tensor(&c->x, x) || !read_tensor(&c->w, w) ||
        !read_tensor(&c->y, y))
        return false;
    const int64_t *pad = d->get<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
    const int64_t *stride = d->get<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
    if (!pad || !stride || !d->get<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS))
        return false;
    memcpy(c->pad, pad, sizeof c->pad);
    memcpy(c->stride, stride, sizeof c->stride);
    return true;
}

/* Channels of bf16 come in eights, as for the real one's fast engines. */
static bool has_engine(const convolution *c)
{
    bool eights = c->x.size[1] % 8 == 0 && c->y.size[1] % 8 == 0;
    bool mixed = c->w.bf16 != c->x.bf16;
    return !asked("engines") && (!c->x.bf16 || eights) && !(mixed && asked("narrow"));
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor)
{
    bag *b = (bag *)descriptor;
    tensor t;
    convolution c;
    if (b->type == CUDNN_BACKEND_TENSOR_DESCRIPTOR && !read_tensor(&t, b))
        return CUDNN_STATUS_BAD_PARAM;
    if (b->type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR && !read_convolution(&c, b))
        return CUDNN_STATUS_BAD_PARAM;
    if (b->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
        const bag *config = part(b, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
        if (!config || !b->get<void *>(CUDNN_ATTR_EXECUTION_PLAN_HANDLE))
            return CUDNN_STATUS_BAD_PARAM;
        b->engine = config->engine;
        b->attribute = config->attribute; /* what its graph computes */
    }
    b->finished = true;
    return CUDNN_STATUS_SUCCESS;
}

static int64_t workspace_of(const convolution *c)
{
    return c->pass == 0 ? SMALL : LARGE;
}

/* Engines of the rules' graph. A configuration keeps what is computed. */
static int64_t list_engines(const bag *rules, int64_t wanted, bag **config)
{
    const bag *graph = part(rules, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
    convolution c;
    int64_t count = 0;
    if (!read_convolution(&c, graph))
        return 0;
    const char *from = (const char *)&c;
    for (int engine = BAD; engine <= GOOD && count < wanted; engine++) {
        if (engine == GOOD && !has_engine(&c))
            continue;
        config[count]->engine = engine;
        config[count]->finished = true;
        config[count++]->attribute[0].assign(from, from + sizeof c);
    }
    return count;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t, int64_t wanted, int64_t *count,
                                       void *values)
{
    const bag *b = (const bag *)descriptor;
    *count = 1;
    if (!b->finished)
        return CUDNN_STATUS_BAD_PARAM;
    switch ((int)name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:
        *count = list_engines(b, wanted, (bag **)values);
        return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_ENGINECFG_ENGINE:
        (*(bag **)values)->engine = b->engine;
        (*(bag **)values)->finished = true;
        return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
        *(int64_t *)values = b->engine;
        return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
        *(cudnnBackendNumericalNote_t *)values = b->engine == BAD
                                                     ? CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC
                                                     : CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP;
        return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
        *(int64_t *)values = workspace_of(b->get<convolution>(0));
        return CUDNN_STATUS_SUCCESS;
    default:
        return CUDNN_STATUS_BAD_PARAM;
    }
}

/* ---- Computing ------------------------------------------------------------------------------- */

static float float_of(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint16_t half_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static size_t count_of(const tensor *t)
{
    return (size_t)(t->size[0] * t->size[1] * t->size[2] * t->size[3]);
}

static std::vector<float> read_numbers(const tensor *t, const void *at)
{
    std::vector<float> all(count_of(t));
    for (size_t i = 0; i < all.size(); i++)
        all[i] = t->bf16 ? float_of(((const uint16_t *)at)[i]) : ((const float *)at)[i];
    return all;
}

static void write_numbers(const tensor *t, void *at, const std::vector<float> &all)
{
    for (size_t i = 0; i < all.size(); i++)
        if (t->bf16)
            ((uint16_t *)at)[i] = half_of(all[i]);
        else
            ((float *)at)[i] = all[i];
}

/* Adds, for each tap on a pixel, what one of the three is of the other two: channels innermost. */
static void add_taps(const convolution &c, float *x, float *w, float *y)
{
    int64_t C = c.x.size[1], K = c.y.size[1], S = c.w.size[2];
    for (int64_t n = 0; n < c.y.size[0]; n++)
        for (int64_t p = 0; p < c.y.size[2] * c.y.size[3]; p++)
            for (int64_t t = 0; t < S * S; t++) {
                int64_t h = p / c.y.size[3] * c.stride[0] + t / S - c.pad[0];
                int64_t v = p % c.y.size[3] * c.stride[1] + t % S - c.pad[1];
                if (h < 0 || h >= c.x.size[2] || v < 0 || v >= c.x.size[3])
                    continue;
                float *xs = x + (n * c.x.step[0] + h * c.x.step[2] + v * c.x.step[3]);
                float *ys = y + (n * c.y.step[0] + p * K);
                for (int64_t k = 0; k < K; k++) {
                    float *ws = w + k * c.w.step[0] + t * C, sum = 0;
                    for (int64_t i = 0; i < C; i++) {
                        sum += xs[i] * (c.pass == 0 ? ws[i] : 0);
                        xs[i] += c.pass == 2 ? ws[i] * ys[k] : 0;
                        ws[i] += c.pass == 1 ? xs[i] * ys[k] : 0;
                    }
                    ys[k] += c.pass == 0 ? sum : 0;
                }
            }
}

static void compute(const convolution &c, void *x, void *w, void *y, bool good)
{
    std::vector<float> xs = read_numbers(&c.x, x), ws = read_numbers(&c.w, w),
                       ys = read_numbers(&c.y, y);
    std::vector<float> &made = c.pass == 0 ? ys : c.pass == 1 ? ws : xs;
    made.assign(made.size(), 0);
    add_taps(c, xs.data(), ws.data(), ys.data());
    if (!good)
        made.assign(made.size(), 12345);
    write_numbers(c.pass == 0   ? &c.y
                  : c.pass == 1 ? &c.w
                                : &c.x,
                  c.pass == 0   ? y
                  : c.pass == 1 ? w
                                : x,
                  made);
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack)
{
    const bag *p = (const bag *)plan, *v = (const bag *)pack;
    const int64_t *name = v->get<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    void *const *at = v->get<void *>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    void *const *workspace = v->get<void *>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
    convolution c = *p->get<convolution>(0);
    bool good = p->engine == GOOD;
    if (!v->finished || !name || !at || !workspace || !*workspace || !handle->stream)
        return CUDNN_STATUS_BAD_PARAM;
    const tensor *tensors[3] = {&c.x, &c.w, &c.y};
    for (int i = 0; i < 3; i++)
        if (name[i] != tensors[i]->name || (uintptr_t)at[i] % (size_t)tensors[i]->aligned != 0)
            return CUDNN_STATUS_BAD_PARAM;
    void *x = at[0], *w = at[1], *y = at[2], *work = *workspace;
    size_t bytes = (size_t)workspace_of(&c);
    if (bytes == SMALL)
        handle->stream->put(handle->stream, {[=] { memset(work, 0, 4); }, work, 4});
    handle->stream->put(handle->stream, {[=] {
                                             static const char zero[4] = {0};
                                             bool right =
                                                 bytes != SMALL || memcmp(work, zero, 4) == 0;
                                             memset(work, 0xff, bytes);
                                             compute(c, x, w, y, good && right);
                                         },
                                         NULL, 0});
    return CUDNN_STATUS_SUCCESS;
}
