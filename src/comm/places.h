/* places.h - on which addresses of this host the other ranks can reach it: nowhere else does
 * anybody listen. */
#ifndef TSRI_PLACES_H
#define TSRI_PLACES_H

#include "comm/roster.h"

/* Up to `room` IPv4 addresses (network order) into `address`; returns how many. The loopback alone
 * when all ranks are on one host; else the addresses from which this host reaches the others' hosts
 * by name; when no name is known, those of all interfaces. */
int tsri_places_find(uint32_t *address, int room, const tsri_roster *roster, int size);

#endif
