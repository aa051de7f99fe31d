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

#include "backend/heap.h"
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

/* Device memory looked at directly, which only tests may: a build that guards it lets this process
 * alone from then on. */
static inline void *touch(const tsri_mem *mem)
{
    static int once;
    if (TSRI_HEAP_HERE->enter && !once++)
        TSRI_HEAP_HERE->enter();
    return (void *)(uintptr_t)mem;
}

/* The other way round: memory of the test as a backend takes it. */
static inline tsri_mem *as_mem(const void *memory)
{
    return (tsri_mem *)(uintptr_t)memory;
}

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
