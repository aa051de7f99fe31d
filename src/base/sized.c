/* sized.c - structs of the public header that say how large they are. */
#include "base/sized.h"

#include <string.h>

enum { LARGEST = 1 << 16 }; /* a size above is none: memory that nobody filled in */

static tsr_status size_of(size_t *size, const void *theirs, const char *type)
{
    tsr_status st = TSR_OK;
    *size = 0;
    TSR_CHECK(theirs, TSR_USAGE, "%s must not be NULL", type);
    memcpy(size, theirs, sizeof *size);
    TSR_CHECK(*size >= sizeof *size && *size <= LARGEST, TSR_USAGE,
              "%s does not say how large it is: begin with the _default() function of its type",
              type);
done:
    return st;
}

static bool all_zero(const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i])
            return false;
    return true;
}

tsr_status tsri_sized_take(void *mine, size_t known, const void *theirs, const char *type)
{
    tsr_status st = TSR_OK;
    size_t size;
    memset(mine, 0, known);
    TSR_TRY(size_of(&size, theirs, type));
    TSR_CHECK(size <= known || all_zero((const unsigned char *)theirs + known, size - known),
              TSR_USAGE,
              "%s asks for something that version " TSR_VERSION_STRING
              " of the library does not know: install a newer one",
              type);
    memcpy(mine, theirs, size < known ? size : known);
    memcpy(mine, &known, sizeof known);
done:
    return st;
}

tsr_status tsri_sized_give(void *theirs, const void *mine, size_t known, const char *type)
{
    tsr_status st = TSR_OK;
    size_t size;
    TSR_TRY(size_of(&size, theirs, type));
    memset(theirs, 0, size);
    memcpy(theirs, mine, size < known ? size : known);
    memcpy(theirs, &size, sizeof size);
done:
    return st;
}
