/* testing.h - what every unit test includes: cmocka, and a check that a status is what it should be
 * with the library's own sentence when it is not. */
#ifndef TSRI_TESTING_H
#define TSRI_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        tsr_status status_ = (call);                                                               \
        if (status_ != TSR_OK)                                                                     \
            fail_msg("%s: %s", #call, tsr_last_error());                                           \
    } while (0)

/* The call fails with `code` and a sentence that contains `words`. */
#define assert_fails(call, code, words)                                                            \
    do {                                                                                           \
        tsr_status status_ = (call);                                                               \
        if (status_ != (code) || !strstr(tsr_last_error(), (words)))                               \
            fail_msg("%s: status %d, \"%s\"; expected %d with \"%s\"", #call, (int)status_,        \
                     tsr_last_error(), (int)(code), (words));                                      \
    } while (0)

/* Nothing the test took is still held. Put it last in main: return nothing_left(failures). */
static inline int nothing_left(int failures)
{
    if (tsri_alloc_blocks() != 0) {
        fprintf(stderr, "%lld blocks were never freed\n", (long long)tsri_alloc_blocks());
        return failures + 1;
    }
    return failures;
}

#endif
