/* lifeline_testing.h - for tests of lifelines: an invitation as it lies in memory (lifeline.c). */
#ifndef TSRI_LIFELINE_TESTING_H
#define TSRI_LIFELINE_TESTING_H

#include "comm/handshake.h"
#include "comm/lifeline.h"

typedef struct known {
    uint8_t secret[TSRI_SECRET];
    uint32_t places;
    struct {
        uint32_t address, port;
    } place[TSRI_LIFELINE_ADDRESSES];
} known;

#endif
