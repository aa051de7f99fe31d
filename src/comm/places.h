/* places.h - the addresses of this host on which the other ranks can reach it. The run listens on
 * no others. */
#ifndef TSRI_PLACES_H
#define TSRI_PLACES_H

#include "comm/roster.h"

/* Up to `room` IPv4 addresses (network order) into `address`; returns how many. The loopback alone
 * when all ranks are on one host; else the addresses from which this host reaches the others' hosts
 * by name; when no name is known, those of all interfaces. */
int tsri_places_find(uint32_t *address, int room, const tsri_roster *roster, int size);

#endif
