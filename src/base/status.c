/* status.c - the thread's error sentence.
 *
 * The text is thread-local and of fixed size: reporting that memory is out must not need memory.
 */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Aligned, or else, when the code happens to end four bytes before a page does, the linker mold
 * lets the pages it protects begin one too early and the program does not start (seen with
 * mold 1.10). */
static _Thread_local _Alignas(16) char error_text[2048];

const char *tsr_last_error(void)
{
    return error_text;
}

const char *tsr_status_text(tsr_status status)
{
    switch (status) {
#define X(name, code, text)                                                                        \
    case TSR_##name:                                                                               \
        return text;
        TSR_STATUS_LIST(X)
#undef X
    }
    return "unknown status";
}

const char *tsr_version(void)
{
    return TSR_VERSION_STRING;
}

tsr_status tsr_fail(tsr_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(error_text, sizeof error_text, fmt, args);
    va_end(args);
    return status;
}

void tsri_fail_prefix(const char *fmt, ...)
{
    char old[sizeof error_text];
    memcpy(old, error_text, sizeof old);
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(error_text, sizeof error_text, fmt, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof error_text)
        (void)snprintf(error_text + n, sizeof error_text - (size_t)n, "%s", old);
}

void tsri_fail_clear(void)
{
    error_text[0] = '\0';
}
