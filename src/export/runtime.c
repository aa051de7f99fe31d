/* runtime.c - ONNX Runtime by its C interface. See runtime.h. */
#include "export/runtime.h"

#include "base/text.h"
#include "export/graph.h"
#include "export/writer.h"

#include <dlfcn.h>
#include <string.h>

/* Places in its table, which begins with these since version 1 of it; the last came with 4. */
enum {
    VERSION = 4,
    GET_ERROR_MESSAGE = 2,
    CREATE_ENV = 3,
    CREATE_SESSION_FROM_ARRAY = 8,
    RUN = 9,
    CREATE_SESSION_OPTIONS = 10,
    SET_INTRA_OP_NUM_THREADS = 24,
    CREATE_TENSOR_WITH_DATA = 49,
    GET_TENSOR_MUTABLE_DATA = 51,
    GET_TENSOR_SHAPE_ELEMENT_COUNT = 64,
    GET_TENSOR_TYPE_AND_SHAPE = 65,
    CREATE_CPU_MEMORY_INFO = 69,
    RELEASE_ENV = 92,
    RELEASE_STATUS = 93,
    RELEASE_MEMORY_INFO = 94,
    RELEASE_SESSION = 95,
    RELEASE_VALUE = 96,
    RELEASE_TENSOR_TYPE_AND_SHAPE = 99,
    RELEASE_SESSION_OPTIONS = 100,
    ADD_SESSION_CONFIG_ENTRY = 130,
    LOG_ERRORS = 3, /* of its levels: nothing below an error is printed */
    DEVICE_ALLOCATOR = 0,
    MEMORY_DEFAULT = 0,
};

typedef struct base {
    void *const *(*get)(uint32_t version);
    const char *(*version)(void);
} base;

/* What most of its functions give: NULL, or what went wrong. */
typedef void *status;

/* rt->call[at] as a function of that type. */
#define CALL(rt, at, ...) (((status(*)(__VA_ARGS__))function((rt), (at))))

typedef void (*plain_function)(void);

static plain_function function(const tsri_runtime *rt, int at)
{
    plain_function f;
    memcpy(&f, &rt->call[at], sizeof f);
    return f;
}

static void release(const tsri_runtime *rt, int at, void *object)
{
    if (object)
        ((void (*)(void *))function(rt, at))(object);
}

static tsr_status told(const tsri_runtime *rt, status s, const char *what)
{
    tsr_status st = TSR_OK;
    if (!s)
        return TSR_OK;
    const char *message = ((const char *(*)(status))function(rt, GET_ERROR_MESSAGE))(s);
    st = tsri_fail(TSR_FAILURE, "ONNX Runtime %s: %s: %s", rt->version, what, tsri_quote(message));
    release(rt, RELEASE_STATUS, s);
    return st;
}

/* ---- The library ---------------------------------------------------------------------------- */

tsr_status tsri_runtime_open(tsri_runtime *rt, const char *library)
{
    tsr_status st = TSR_OK;
    const base *(*get)(void);
    *rt = (tsri_runtime){0};
    rt->library = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    TSR_CHECK(rt->library, TSR_FAILURE, "ONNX Runtime cannot be loaded: %s", dlerror());
    void *symbol = dlsym(rt->library, "OrtGetApiBase");
    TSR_CHECK(symbol, TSR_FAILURE, "%s is not ONNX Runtime: it has no OrtGetApiBase",
              tsri_quote(library));
    memcpy(&get, &symbol, sizeof get);
    rt->version = get()->version();
    rt->call = get()->get(VERSION);
    TSR_CHECK(rt->call, TSR_FAILURE, "ONNX Runtime %s has no interface of version %d", rt->version,
              VERSION);
    TSR_TRY(told(rt,
                 CALL(rt, CREATE_ENV, int, const char *, void **)(LOG_ERRORS, "tessera", &rt->env),
                 "it cannot be started"));
    TSR_TRY(told(rt,
                 CALL(rt, CREATE_CPU_MEMORY_INFO, int, int, void **)(DEVICE_ALLOCATOR,
                                                                     MEMORY_DEFAULT, &rt->memory),
                 "it cannot describe this machine's memory"));
done:
    return st;
}

void tsri_runtime_close(tsri_runtime *rt)
{
    if (rt->call) {
        release(rt, RELEASE_MEMORY_INFO, rt->memory);
        release(rt, RELEASE_ENV, rt->env);
    }
    if (rt->library)
        (void)dlclose(rt->library);
    *rt = (tsri_runtime){0};
}

/* ---- A network ------------------------------------------------------------------------------ */

/* Threads that wait by spinning would take cores from the network that is measured next. */
static tsr_status set_options(const tsri_runtime *rt, void *options, int64_t threads)
{
    tsr_status st = TSR_OK;
    TSR_TRY(told(rt, CALL(rt, SET_INTRA_OP_NUM_THREADS, void *, int)(options, (int)threads),
                 "the number of threads cannot be set"));
    TSR_TRY(told(rt,
                 CALL(rt, ADD_SESSION_CONFIG_ENTRY, void *, const char *,
                      const char *)(options, "session.intra_op.allow_spinning", "0"),
                 "spinning cannot be switched off"));
done:
    return st;
}

tsr_status tsri_session_open(tsri_session *s, const tsri_runtime *rt, const void *bytes, int64_t n,
                             int64_t threads)
{
    tsr_status st = TSR_OK;
    void *options = NULL;
    *s = (tsri_session){.rt = rt};
    TSR_TRY(
        told(rt, CALL(rt, CREATE_SESSION_OPTIONS, void **)(&options), "it cannot make options"));
    TSR_TRY(set_options(rt, options, threads));
    TSR_TRY(told(rt,
                 CALL(rt, CREATE_SESSION_FROM_ARRAY, void *, const void *, size_t, void *,
                      void **)(rt->env, bytes, (size_t)n, options, &s->session),
                 "it cannot load the network"));
done:
    release(rt, RELEASE_SESSION_OPTIONS, options);
    return st;
}

static void drop_values(tsri_session *s)
{
    release(s->rt, RELEASE_VALUE, s->in[0]);
    release(s->rt, RELEASE_VALUE, s->in[1]);
    release(s->rt, RELEASE_VALUE, s->out);
    s->in[0] = s->in[1] = s->out = NULL;
}

void tsri_session_close(tsri_session *s)
{
    if (!s->rt)
        return;
    drop_values(s);
    release(s->rt, RELEASE_SESSION, s->session);
    *s = (tsri_session){0};
}

/* ---- Running -------------------------------------------------------------------------------- */

static tsr_status make_value(tsri_session *s, void **out, const void *data, size_t bytes,
                             const int64_t *shape, int dims, tsri_element element)
{
    return told(s->rt,
                CALL(s->rt, CREATE_TENSOR_WITH_DATA, const void *, const void *, size_t,
                     const int64_t *, size_t, int,
                     void **)(s->rt->memory, data, bytes, shape, (size_t)dims, (int)element, out),
                "it cannot take the input");
}

tsr_status tsri_session_input(tsri_session *s, const float *x, const int64_t *shape, int dims,
                              const int32_t *lengths)
{
    tsr_status st = TSR_OK;
    size_t count = 1;
    for (int d = 0; d < dims; d++)
        count *= (size_t)shape[d];
    drop_values(s);
    TSR_TRY(make_value(s, &s->in[0], x, count * sizeof *x, shape, dims, TSRI_ELEMENT_FLOAT));
    if (lengths)
        TSR_TRY(make_value(s, &s->in[1], lengths, (size_t)shape[0] * sizeof *lengths, shape, 1,
                           TSRI_ELEMENT_INT32));
done:
    return st;
}

static tsr_status look_at_output(tsri_session *s)
{
    tsr_status st = TSR_OK;
    void *info = NULL, *data = NULL;
    size_t count = 0;
    TSR_TRY(told(s->rt, CALL(s->rt, GET_TENSOR_TYPE_AND_SHAPE, void *, void **)(s->out, &info),
                 "the shape of its output cannot be read"));
    TSR_TRY(told(s->rt, CALL(s->rt, GET_TENSOR_SHAPE_ELEMENT_COUNT, void *, size_t *)(info, &count),
                 "the size of its output cannot be read"));
    TSR_TRY(told(s->rt, CALL(s->rt, GET_TENSOR_MUTABLE_DATA, void *, void **)(s->out, &data),
                 "the numbers of its output cannot be read"));
    s->output = data;
    s->outputs = (int64_t)count;
done:
    release(s->rt, RELEASE_TENSOR_TYPE_AND_SHAPE, info);
    return st;
}

tsr_status tsri_session_run(tsri_session *s)
{
    static const char *const in[] = {"input", TSRI_LENGTHS}, *const out[] = {"output"};
    tsr_status st = TSR_OK;
    release(s->rt, RELEASE_VALUE, s->out);
    s->out = NULL;
    TSR_TRY(told(s->rt,
                 CALL(s->rt, RUN, void *, void *, const char *const *, void *const *, size_t,
                      const char *const *, size_t,
                      void **)(s->session, NULL, in, s->in, s->in[1] ? 2 : 1, out, 1, &s->out),
                 "the network does not run"));
    TSR_TRY(look_at_output(s));
done:
    return st;
}
