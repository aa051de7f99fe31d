/* wire.c - the numbers of a share as they travel between ranks. */
#include "subnet/wire.h"

#include "backend/bf16.h"
#include "base/alloc.h"
#include "base/pieces.h"
#include "subnet/take.h"

#include <math.h>
#include <string.h>

/* ---- What travels ------------------------------------------------------------------------- */

/* The pieces of a store that travel, one after the other: weights and statistics, then momentum,
 * then variance. */
typedef struct piece {
    int64_t p; /* the parameter */
    tsri_vector vector;
} piece;

static bool travels(const tsri_net *net, const tsri_wire *wire, piece at)
{
    tsri_role role = net->param[at.p].role;
    if (at.vector == TSRI_WEIGHTS)
        return role == TSRI_TRAINED || role == TSRI_BUFFER;
    return wire->momentum && role == TSRI_TRAINED && (at.vector == TSRI_MOMENTUM || wire->variance);
}

/* Moves on to the next piece that travels; false after the last one. Begins at {-1, WEIGHTS}. */
static bool next_piece(piece *at, const tsri_net *net, const tsri_wire *wire)
{
    do {
        if (++at->p == net->params) {
            if (at->vector == TSRI_VARIANCE)
                return false;
            *at = (piece){-1, at->vector + 1};
        }
    } while (at->p < 0 || !travels(net, wire, *at));
    return true;
}

static float *numbers(const tsri_opened *store, piece at)
{
    return tsri_opened_at(store, tsri_opened_vector(store, at.vector), at.p);
}

/* The vectors that travel. */
static int opens(const tsri_wire *wire)
{
    return wire->momentum ? TSRI_OPEN_UNITS : TSRI_OPEN_WEIGHTS;
}

static int64_t number_bytes(const tsri_wire *wire)
{
    return wire->bf16 ? (int64_t)sizeof(tsri_bf16) : (int64_t)sizeof(float);
}

/* Numbers of a share on the way, in one direction. */
static int64_t numbers_of(const tsri_net *net, const tsri_wire *wire)
{
    int64_t count = 0;
    for (piece at = {-1, TSRI_WEIGHTS}; next_piece(&at, net, wire);)
        count += net->param[at.p].count;
    return count;
}

int64_t tsri_wire_bytes(const tsri_net *net, const tsri_wire *wire)
{
    return numbers_of(net, wire) * number_bytes(wire);
}

/* ---- As bytes ------------------------------------------------------------------------------ */

static void put_numbers(uint8_t *to, const float *from, int64_t count, bool bf16)
{
    if (!bf16)
        memcpy(to, from, (size_t)count * sizeof *from);
    else
        for (int64_t i = 0; i < count; i++)
            ((tsri_bf16 *)(void *)to)[i] = tsri_bf16_of(from[i]);
}

static void get_numbers(float *to, const uint8_t *from, int64_t count, bool bf16)
{
    if (!bf16)
        memcpy(to, from, (size_t)count * sizeof *to);
    else
        for (int64_t i = 0; i < count; i++)
            to[i] = tsri_bf16_float(((const tsri_bf16 *)(const void *)from)[i]);
}

/* ---- Moving ------------------------------------------------------------------------------- */

tsr_status tsri_wire_take(void *bytes, const tsri_wire *wire, const tsri_net *small,
                          const tsri_store *whole, const tsri_share *share)
{
    tsr_status st = TSR_OK;
    uint8_t *to = bytes;
    tsri_opened from = {0};
    float *room = NULL; /* floats that are rounded on the way */
    int64_t most = 0;
    for (int64_t p = 0; p < small->params; p++)
        most = tsri_max(most, small->param[p].count);
    if (wire->bf16)
        TSR_TRY(tsri_alloc_raw(&room, most, sizeof *room));
    TSR_TRY(tsri_store_open(&from, whole, opens(wire)));
    for (piece at = {-1, TSRI_WEIGHTS}; next_piece(&at, small, wire);) {
        int64_t count = small->param[at.p].count;
        tsri_take_param(wire->bf16 ? room : (float *)(void *)to, numbers(&from, at), whole->net,
                        at.p, share);
        if (wire->bf16)
            put_numbers(to, room, count, true);
        to += count * number_bytes(wire);
    }
done:
    tsri_store_close(&from);
    tsri_free(room);
    return st;
}

tsr_status tsri_wire_fixed(tsri_store *small, const tsri_store *whole, const tsri_share *share)
{
    tsr_status st = TSR_OK;
    tsri_opened to = {0}, from = {0};
    TSR_TRY(tsri_store_open(&to, small, TSRI_OPEN_WEIGHTS));
    TSR_TRY(tsri_store_open(&from, whole, TSRI_OPEN_WEIGHTS));
    for (int64_t p = 0; p < whole->net->params; p++)
        if (whole->net->param[p].role == TSRI_FIXED)
            tsri_take_param(tsri_opened_at(&to, to.w, p), tsri_opened_at(&from, from.w, p),
                            whole->net, p, share);
    TSR_TRY(tsri_store_save(&to));
done:
    tsri_store_close(&to);
    tsri_store_close(&from);
    return st;
}

tsr_status tsri_wire_pack(void *bytes, const tsri_wire *wire, const tsri_store *small)
{
    tsr_status st = TSR_OK;
    uint8_t *to = bytes;
    tsri_opened from;
    TSR_TRY(tsri_store_open(&from, small, opens(wire)));
    for (piece at = {-1, TSRI_WEIGHTS}; next_piece(&at, small->net, wire);) {
        int64_t count = small->net->param[at.p].count;
        put_numbers(to, numbers(&from, at), count, wire->bf16);
        to += count * number_bytes(wire);
    }
done:
    tsri_store_close(&from);
    return st;
}

tsr_status tsri_wire_unpack(tsri_store *small, const tsri_wire *wire, const void *bytes)
{
    tsr_status st = TSR_OK;
    const uint8_t *from = bytes;
    tsri_opened to;
    TSR_TRY(tsri_store_open(&to, small, opens(wire)));
    for (piece at = {-1, TSRI_WEIGHTS}; next_piece(&at, small->net, wire);) {
        int64_t count = small->net->param[at.p].count;
        get_numbers(numbers(&to, at), from, count, wire->bf16);
        from += count * number_bytes(wire);
    }
    TSR_TRY(tsri_store_save(&to));
done:
    tsri_store_close(&to);
    return st;
}

bool tsri_wire_finite(const void *bytes, const tsri_wire *wire, const tsri_net *small)
{
    int64_t count = numbers_of(small, wire);
    for (int64_t i = 0; i < count; i++) {
        float x =
            wire->bf16 ? tsri_bf16_float(((const tsri_bf16 *)bytes)[i]) : ((const float *)bytes)[i];
        if (!isfinite(x))
            return false;
    }
    return true;
}

tsr_status tsri_wire_round(tsri_store *small, const tsri_wire *wire)
{
    tsr_status st = TSR_OK;
    tsri_opened host = {0};
    if (!wire->bf16)
        return TSR_OK;
    TSR_TRY(tsri_store_open(&host, small, opens(wire)));
    for (piece at = {-1, TSRI_WEIGHTS}; next_piece(&at, small->net, wire);) {
        float *x = numbers(&host, at);
        for (int64_t i = 0; i < small->net->param[at.p].count; i++)
            x[i] = tsri_bf16_round(x[i]);
    }
    TSR_TRY(tsri_store_save(&host));
done:
    tsri_store_close(&host);
    return st;
}
