/* fuzz.h - what every fuzz target includes. A target calls a parser on the bytes; whatever they
 * are, it must not crash, must not take memory out of proportion and must give back what it took.
 */
#ifndef TSRI_FUZZ_H
#define TSRI_FUZZ_H

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Stops the fuzzer, with the input, when something that must hold does not. */
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s; last error: %s\n", __FILE__, __LINE__, #condition,         \
                    tsr_last_error());                                                             \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* What is left of an input that is read byte by byte; zeros follow its end. */
typedef struct input {
    const uint8_t *at;
    size_t left;
} input;

static inline uint8_t next(input *in)
{
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->at++;
}

#endif
