/* wire.h - the numbers of a share as they travel between ranks.
 *
 * What training changes and nothing else: trained parameters and running statistics in the order of
 * the network's parameters, then, when momentum travels too, that of each trained parameter, and of
 * Adam their variance. Fixed parameters are known to every rank, counts follow from the round. As
 * floats, or rounded to the nearest bfloat16 (half the bytes, a relative error of at most 2^-8 =
 * 0.4 % in each number each way).
 */
#ifndef TSRI_WIRE_H
#define TSRI_WIRE_H

#include "net/store.h"
#include "subnet/share.h"

typedef struct tsri_wire {
    bool momentum;
    bool bf16;
    bool variance; /* too, where momentum does */
} tsri_wire;

/* Bytes of a share of this network on the way, in one direction. */
int64_t tsri_wire_bytes(const tsri_net *net, const tsri_wire *wire);

/* bytes = the part of the whole that the share's network `small` has, sliced and packed in one
 * pass. */
tsr_status tsri_wire_take(void *bytes, const tsri_wire *wire, const tsri_net *small,
                          const tsri_store *whole, const tsri_share *share);

/* The fixed parameters of a share, which do not travel, out of a whole that has them. */
tsr_status tsri_wire_fixed(tsri_store *small, const tsri_store *whole, const tsri_share *share);

/* A share's own store, packed and unpacked. Unpack leaves momentum alone where it does not travel.
 */
tsr_status tsri_wire_pack(void *bytes, const tsri_wire *wire, const tsri_store *small);
tsr_status tsri_wire_unpack(tsri_store *small, const tsri_wire *wire, const void *bytes);

/* Are all numbers finite? */
bool tsri_wire_finite(const void *bytes, const tsri_wire *wire, const tsri_net *small);

/* What travelling as bfloat16 would do to the numbers of a store that does not travel; nothing for
 * floats. */
tsr_status tsri_wire_round(tsri_store *small, const tsri_wire *wire);

#endif
