/* store.c - the numbers of a network, their start, and their way into files and back. */
#include "net/store.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "net/order.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static tsr_status take(tsri_mem **vector, const tsri_store *store, int64_t count)
{
    return store->heap->take(vector, count * store->real_bytes);
}

static tsr_status init(tsri_store *store, const tsri_net *net, const tsri_backend *backend,
                       const tsri_heap *heap, bool training)
{
    tsr_status st = TSR_OK;
    *store = (tsri_store){.net = net,
                          .backend = backend,
                          .heap = heap,
                          .real_bytes = backend->real_bytes,
                          .room = net->total,
                          .room_trained = net->trained};
    TSR_TRY(take(&store->w, store, net->total));
    if (training) {
        TSR_TRY(take(&store->g, store, net->trained));
        TSR_TRY(take(&store->v, store, net->trained));
    }
done:
    if (st != TSR_OK)
        tsri_store_fini(store);
    return st;
}

tsr_status tsri_store_init(tsri_store *store, const tsri_net *net, const tsri_backend *backend,
                           bool training)
{
    return init(store, net, backend, backend->heap, training);
}

tsr_status tsri_store_init_host(tsri_store *store, const tsri_net *net)
{
    return init(store, net, &tsri_backend_ref, &tsri_heap_host, false);
}

tsr_status tsri_store_add_variance(tsri_store *store)
{
    assert(store->v && !store->s);
    return take(&store->s, store, store->room_trained);
}

/* A sixteenth more than is needed, so that shares of changing sizes soon fit. */
static tsr_status grow(tsri_mem **vector, const tsri_store *store, int64_t count)
{
    store->heap->drop(*vector);
    *vector = NULL;
    return take(vector, store, count + count / 16);
}

tsr_status tsri_store_fit(tsri_store *store)
{
    tsr_status st = TSR_OK;
    int64_t total = store->net->total, trained = store->net->trained;
    if (total > store->room) {
        TSR_TRY(grow(&store->w, store, total));
        store->room = total + total / 16;
    }
    if (store->g && trained > store->room_trained) {
        TSR_TRY(grow(&store->g, store, trained));
        TSR_TRY(grow(&store->v, store, trained));
        if (store->s)
            TSR_TRY(grow(&store->s, store, trained));
        store->room_trained = trained + trained / 16;
    }
done:
    return st;
}

tsr_status tsri_store_forget(tsri_store *store)
{
    tsr_status st = TSR_OK;
    int64_t bytes = store->net->trained * store->real_bytes;
    TSR_TRY(store->heap->zero(store->v, bytes));
    if (store->s)
        TSR_TRY(store->heap->zero(store->s, bytes));
done:
    return st;
}

void tsri_store_fini(tsri_store *store)
{
    if (store->heap) {
        store->heap->drop(store->w);
        store->heap->drop(store->g);
        store->heap->drop(store->v);
        store->heap->drop(store->s);
    }
    *store = (tsri_store){0};
}

tsri_mem *tsri_store_at(const tsri_store *store, tsri_mem *vector, int64_t p)
{
    return tsri_mem_at(vector, store->net->param[p].offset * store->real_bytes);
}

tsr_status tsri_store_copy(tsri_store *to, const tsri_store *from)
{
    assert(to->heap == from->heap && to->net->total == from->net->total);
    return to->heap->within(to->w, from->w, to->net->total * to->real_bytes);
}

/* ---- Seen from the host -------------------------------------------------------------------- */

static int64_t bytes_of(const tsri_store *store, tsri_vector which)
{
    return (which == TSRI_WEIGHTS ? store->net->total : store->net->trained) * store->real_bytes;
}

tsr_status tsri_store_open(tsri_opened *host, const tsri_store *store, int which)
{
    tsr_status st = TSR_OK;
    *host = (tsri_opened){.net = store->net, .real_bytes = store->real_bytes};
    for (tsri_vector i = 0; i <= TSRI_GRADIENT; i++)
        if (which & 1 << i)
            TSR_TRY(tsri_map_open(&host->mapping[i], store->heap, tsri_store_vector(store, i),
                                  bytes_of(store, i)));
    host->w = host->mapping[TSRI_WEIGHTS].host;
    host->v = host->mapping[TSRI_MOMENTUM].host;
    host->s = host->mapping[TSRI_VARIANCE].host;
    host->g = host->mapping[TSRI_GRADIENT].host;
done:
    return st;
}

tsr_status tsri_store_save(const tsri_opened *host)
{
    tsr_status st = TSR_OK;
    for (tsri_vector i = 0; i <= TSRI_GRADIENT; i++)
        TSR_TRY(tsri_map_save(&host->mapping[i]));
done:
    return st;
}

void tsri_store_close(tsri_opened *host)
{
    for (tsri_vector i = 0; i <= TSRI_GRADIENT; i++)
        tsri_map_close(&host->mapping[i]);
    *host = (tsri_opened){0};
}

tsr_status tsri_store_read(void *to, const tsri_store *store, tsri_vector which)
{
    return store->heap->out(to, tsri_store_vector(store, which), bytes_of(store, which));
}

tsr_status tsri_store_write(tsri_store *store, tsri_vector which, const void *from)
{
    return store->heap->in(tsri_store_vector(store, which), from, bytes_of(store, which));
}

/* ---- The start ----------------------------------------------------------------------------- */

static void set_number(tsri_opened *host, int64_t index, double value)
{
    if (host->real_bytes == 8)
        ((double *)host->w)[index] = value;
    else
        ((float *)host->w)[index] = (float)value;
}

static double initial(const tsri_param *p, tsri_rng *rng)
{
    switch (p->init) {
    case TSRI_INIT_ZERO:
        return 0;
    case TSRI_INIT_ONE:
        return 1;
    case TSRI_INIT_NORMAL:
        return p->sigma * tsri_rng_normal(rng);
    case TSRI_INIT_SIGN:
        return tsri_rng_u32(rng) & 1 ? p->sigma : -p->sigma;
    case TSRI_INIT_HALVES:
        break;
    }
    return 0;
}

/* Every row a fresh order of halves: signs are drawn one after the other, plus with the chance of
 * the pluses among those that are left. */
static void fill_halves(tsri_opened *host, const tsri_param *p, tsri_rng *rng)
{
    int64_t row = p->shape[p->dims - 1], plus = 0;
    for (int64_t j = 0; j < p->count; j++) {
        int64_t left = row - j % row;
        plus = j % row == 0 ? (row + 1) / 2 : plus;
        bool is_plus = (int64_t)tsri_rng_below(rng, (uint32_t)left) < plus;
        plus -= is_plus;
        set_number(host, p->offset + j, is_plus ? p->sigma : -p->sigma);
    }
}

tsr_status tsri_store_fill(tsri_store *store, uint64_t seed)
{
    tsr_status st = TSR_OK;
    tsri_opened host;
    TSR_TRY(tsri_store_open(&host, store, TSRI_OPEN_WEIGHTS));
    for (int64_t i = 0; i < store->net->params; i++) {
        const tsri_param *p = &store->net->param[i];
        tsri_rng rng = tsri_rng_stream(seed, TSRI_FOR_INIT, p->stream, 0, 0);
        if (p->init == TSRI_INIT_HALVES)
            fill_halves(&host, p, &rng);
        for (int64_t j = 0; p->init != TSRI_INIT_HALVES && j < p->count; j++)
            set_number(&host, p->offset + tsri_order_place(p, j), initial(p, &rng));
    }
    TSR_TRY(tsri_store_save(&host));
done:
    tsri_store_close(&host);
    return st;
}

static bool find_nonfinite(const tsri_opened *host, int64_t *p, int64_t *index)
{
    for (*p = 0; *p < host->net->params; ++*p) {
        const float *w = tsri_opened_at(host, host->w, *p);
        for (*index = 0; *index < host->net->param[*p].count; ++*index)
            if (!isfinite(w[*index]))
                return true;
    }
    return false;
}

tsr_status tsri_store_nonfinite(bool *found, const tsri_store *store, int64_t *p, int64_t *index)
{
    tsr_status st = TSR_OK;
    tsri_opened host;
    assert(store->real_bytes == sizeof(float));
    TSR_TRY(tsri_store_open(&host, store, TSRI_OPEN_WEIGHTS));
    *found = find_nonfinite(&host, p, index);
done:
    tsri_store_close(&host);
    return st;
}

/* ---- From files --------------------------------------------------------------------------- */

static float from_half(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, exponent = (h >> 10) & 31u, mantissa = h & 1023u;
    if (exponent == 0) {
        float value = (float)mantissa * 0x1p-24f;
        return sign ? -value : value;
    }
    uint32_t bits = sign | (exponent == 31 ? 255u : exponent + 112u) << 23 | mantissa << 13;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Number i of a tensor of any type we accept for weights. */
static bool number_at(double *out, const tsri_tensor *t, int64_t i)
{
    const unsigned char *at = (const unsigned char *)t->data + i * tsri_dtype_bytes(t->dtype);
    uint16_t half;
    uint32_t bits;
    float f;
    int64_t integer;
    switch (t->dtype) {
    case TSRI_F32:
        memcpy(&f, at, sizeof f);
        *out = (double)f;
        return true;
    case TSRI_F64:
        memcpy(out, at, sizeof *out);
        return true;
    case TSRI_F16:
        memcpy(&half, at, sizeof half);
        *out = (double)from_half(half);
        return true;
    case TSRI_BF16:
        memcpy(&half, at, sizeof half);
        bits = (uint32_t)half << 16;
        memcpy(&f, &bits, sizeof f);
        *out = (double)f;
        return true;
    case TSRI_I64:
        memcpy(&integer, at, sizeof integer);
        *out = (double)integer;
        return true;
    default:
        return false;
    }
}

static tsr_status same_shape(const tsri_tensor *t, const tsri_param *p, const char *path)
{
    bool same = t->dims == p->dims;
    for (int d = 0; same && d < p->dims; d++)
        same = t->shape[d] == p->shape[d];
    if (same)
        return TSR_OK;
    tsri_text want = {0}, have = {0};
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_text_add(&want, "["));
    TSR_TRY(tsri_text_add(&have, "["));
    for (int d = 0; d < p->dims; d++)
        TSR_TRY(tsri_text_add(&want, d ? ", %lld" : "%lld", (long long)p->shape[d]));
    for (int d = 0; d < t->dims; d++)
        TSR_TRY(tsri_text_add(&have, d ? ", %lld" : "%lld", (long long)t->shape[d]));
    st = tsri_fail(TSR_BAD_FILE,
                   "%s: tensor %s has shape %s] but the model needs %s]: is it the file of another "
                   "model or data set?",
                   path, p->name, have.data, want.data);
done:
    tsri_text_fini(&want);
    tsri_text_fini(&have);
    return st;
}

/* Is this number one that the parameter can hold? Weights must be finite as floats (a double may be
 * too large), a variance at least 0, a count of batches a count. */
static const char *wrong_with(double value, const tsri_param *p, tsri_role role)
{
    if (isnan(value))
        return "NaN";
    if (!isfinite((float)value))
        return isinf(value) ? "infinity" : "a number beyond the range of F32";
    if (role == TSRI_COUNT && (value < 0 || value > 0x1p53))
        return "no count of batches";
    if (role == TSRI_BUFFER && value < 0 && strstr(p->name, ".running_var"))
        return "a negative variance";
    return NULL;
}

static tsr_status load_vector(tsri_opened *host, tsri_vector which, int64_t i, const tsri_tensor *t,
                              const char *path)
{
    tsr_status st = TSR_OK;
    const tsri_param *p = &host->net->param[i];
    float *to = tsri_opened_at(host, tsri_opened_vector(host, which), i);
    for (int64_t j = 0; j < p->count; j++) {
        double value;
        TSR_CHECK(number_at(&value, t, j) && (t->dtype != TSRI_I64 || p->role == TSRI_COUNT),
                  TSR_BAD_FILE, "%s: tensor %s has type %s; weights are F32, F64, F16 or BF16",
                  path, p->name, tsri_dtype_name(t->dtype));
        const char *wrong = wrong_with(value, p, which == TSRI_WEIGHTS ? p->role : TSRI_TRAINED);
        if (!wrong && value < 0 && which == TSRI_VARIANCE)
            wrong = "a negative mean of squares";
        TSR_CHECK(!wrong, TSR_BAD_FILE, "%s: tensor %s holds %s at element %lld: take another copy",
                  path, p->name, wrong, (long long)j);
        to[tsri_order_place(p, j)] = (float)value;
    }
done:
    return st;
}

/* The tensor "<prefix><name>" of parameter p, its shape checked; NULL for one that may be
 * missing. */
static tsr_status find_tensor(const tsri_tensor **out, const tsri_param *p,
                              const tsri_tensors *file, const char *prefix, const char *path)
{
    tsr_status st = TSR_OK;
    char name[2 * TSRI_NAME];
    (void)snprintf(name, sizeof name, "%s%s", prefix, p->name);
    *out = tsri_tensors_find(file, name);
    if (!*out && p->role == TSRI_COUNT)
        return TSR_OK;
    TSR_CHECK(*out, TSR_BAD_FILE, "%s: tensor %s is missing: is it the file of another model?",
              path, name);
    TSR_TRY(same_shape(*out, p, path));
done:
    return st;
}

tsr_status tsri_store_check(const tsri_net *net, const tsri_tensors *file, const char *prefix,
                            const char *path)
{
    tsr_status st = TSR_OK;
    size_t n = strlen(prefix);
    const tsri_tensor *t;
    for (int64_t i = 0; i < net->params; i++)
        TSR_TRY(find_tensor(&t, &net->param[i], file, prefix, path));
    for (int64_t i = 0; i < file->count; i++) {
        const char *name = file->tensor[i].name;
        TSR_CHECK(strncmp(name, prefix, n) != 0 || tsri_net_param(net, name + n) >= 0, TSR_BAD_FILE,
                  "%s: tensor %s is not part of the model: is it the file of another model?", path,
                  tsri_quote(name));
    }
done:
    return st;
}

tsr_status tsri_store_load(tsri_store *store, const tsri_tensors *file, const char *prefix,
                           const char *path)
{
    tsr_status st = TSR_OK;
    tsri_opened host = {0};
    assert(store->real_bytes == sizeof(float));
    TSR_TRY(tsri_store_check(store->net, file, prefix, path));
    TSR_TRY(tsri_store_open(&host, store, TSRI_OPEN_WEIGHTS));
    for (int64_t i = 0; i < store->net->params; i++) {
        const tsri_tensor *t;
        TSR_TRY(find_tensor(&t, &store->net->param[i], file, prefix, path));
        if (t)
            TSR_TRY(load_vector(&host, TSRI_WEIGHTS, i, t, path));
    }
    TSR_TRY(tsri_store_save(&host));
done:
    tsri_store_close(&host);
    return st;
}

tsr_status tsri_store_load_param(tsri_store *store, int64_t p, const tsri_tensor *tensor,
                                 const char *path)
{
    tsr_status st = TSR_OK;
    tsri_opened host = {0};
    TSR_TRY(same_shape(tensor, &store->net->param[p], path));
    TSR_TRY(tsri_store_open(&host, store, TSRI_OPEN_WEIGHTS));
    TSR_TRY(load_vector(&host, TSRI_WEIGHTS, p, tensor, path));
    TSR_TRY(tsri_store_save(&host));
done:
    tsri_store_close(&host);
    return st;
}

tsr_status tsri_store_load_trained(tsri_store *store, tsri_vector which, const tsri_tensors *file,
                                   const char *prefix, const char *path)
{
    tsr_status st = TSR_OK;
    tsri_opened host;
    TSR_TRY(tsri_store_open(&host, store, 1 << which));
    for (int64_t i = 0; i < store->net->params; i++) {
        const tsri_tensor *t;
        if (store->net->param[i].role != TSRI_TRAINED)
            continue;
        TSR_TRY(find_tensor(&t, &store->net->param[i], file, prefix, path));
        TSR_TRY(load_vector(&host, which, i, t, path));
    }
    TSR_TRY(tsri_store_save(&host));
done:
    tsri_store_close(&host);
    return st;
}
