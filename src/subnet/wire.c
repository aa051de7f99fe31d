/* wire.c - the numbers of a share as they travel between ranks. */
#include "subnet/wire.h"

#include "backend/bf16.h"
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

/* Moves on to the next piece that travels; false behind the last one. Begins at {-1, WEIGHTS}. */
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

static float *numbers(const tsri_store *store, piece at)
{
    return tsri_store_at(store, tsri_store_vector(store, at.vector), at.p);
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

void tsri_wire_take(void *bytes, const tsri_wire *wire, tsri_store *small, const tsri_store *whole,
                    const tsri_share *share)
{
    uint8_t *to = bytes;
    for (piece at = {-1, TSRI_WEIGHTS}; next_piece(&at, small->net, wire);) {
        int64_t count = small->net->param[at.p].count;
        float *room = wire->bf16 ? numbers(small, at) : (float *)(void *)to;
        tsri_take_param(room, numbers(whole, at), whole->net, at.p, share);
        if (wire->bf16)
            put_numbers(to, room, count, true);
        to += count * number_bytes(wire);
    }
}

void tsri_wire_fixed(tsri_store *small, const tsri_store *whole, const tsri_share *share)
{
    for (int64_t p = 0; p < whole->net->params; p++)
        if (whole->net->param[p].role == TSRI_FIXED)
            tsri_take_param(tsri_store_at(small, small->w, p), tsri_store_at(whole, whole->w, p),
                            whole->net, p, share);
}

void tsri_wire_pack(void *bytes, const tsri_wire *wire, const tsri_store *small)
{
    uint8_t *to = bytes;
    for (piece at = {-1, TSRI_WEIGHTS}; next_piece(&at, small->net, wire);) {
        int64_t count = small->net->param[at.p].count;
        put_numbers(to, numbers(small, at), count, wire->bf16);
        to += count * number_bytes(wire);
    }
}

void tsri_wire_unpack(tsri_store *small, const tsri_wire *wire, const void *bytes)
{
    const uint8_t *from = bytes;
    for (piece at = {-1, TSRI_WEIGHTS}; next_piece(&at, small->net, wire);) {
        int64_t count = small->net->param[at.p].count;
        get_numbers(numbers(small, at), from, count, wire->bf16);
        from += count * number_bytes(wire);
    }
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

void tsri_wire_round(tsri_store *small, const tsri_wire *wire)
{
    for (piece at = {-1, TSRI_WEIGHTS}; wire->bf16 && next_piece(&at, small->net, wire);) {
        float *x = numbers(small, at);
        for (int64_t i = 0; i < small->net->param[at.p].count; i++)
            x[i] = tsri_bf16_round(x[i]);
    }
}
