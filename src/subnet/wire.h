/* wire.h - the numbers of a share as they travel between ranks.
 *
 * What training changes and nothing else: trained parameters and running statistics in the order of
 * the network's parameters; then, when momentum travels too, the momentum of each trained parameter
 * and, for Adam, its variance. Every rank knows the fixed parameters, and counts follow from the
 * round. Numbers travel as floats, or rounded to the nearest bfloat16 (half the bytes; a relative
 * error of at most 2^-8 = 0.4 % in each number and direction).
 */
#ifndef TSRI_WIRE_H
#define TSRI_WIRE_H

#include "net/store.h"
#include "subnet/share.h"

typedef struct tsri_wire {
    bool momentum;
    bool bf16;
    bool variance; /* travels where momentum does */
} tsri_wire;

/* Bytes that a share of this network takes in one direction. */
int64_t tsri_wire_bytes(const tsri_net *net, const tsri_wire *wire);

/* bytes = the part of the whole that the share's network `small` has, sliced and packed in one
 * pass. */
tsr_status tsri_wire_take(void *bytes, const tsri_wire *wire, const tsri_net *small,
                          const tsri_store *whole, const tsri_share *share);

/* Copies the fixed parameters of a share, which do not travel, from the whole. */
tsr_status tsri_wire_fixed(tsri_store *small, const tsri_store *whole, const tsri_share *share);

/* Packs and unpacks a share's own store. Unpacking leaves momentum alone where it does not
 * travel. */
tsr_status tsri_wire_pack(void *bytes, const tsri_wire *wire, const tsri_store *small);
tsr_status tsri_wire_unpack(tsri_store *small, const tsri_wire *wire, const void *bytes);

/* Are all numbers finite? */
bool tsri_wire_finite(const void *bytes, const tsri_wire *wire, const tsri_net *small);

/* Rounds a store that does not travel as travelling would round it: to bfloat16, or not at all. */
tsr_status tsri_wire_round(tsri_store *small, const tsri_wire *wire);

#endif
