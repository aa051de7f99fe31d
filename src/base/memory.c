/* memory.c - how much memory the machine can still give.
 *
 * Linux promises more memory than it has, and kills the process (or another one) when the memory is
 * used. So code that wants a lot asks here first, and can refuse with a message instead.
 */
#include "base/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* The number at the head of a text; false when there is none. */
static bool number_of(int64_t *out, const char *text)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    *out = value;
    return end != text && errno == 0;
}

/* The number after a line's key, in bytes; the file gives it in kB. */
static bool line_kilobytes(int64_t *out, const char *line, const char *key)
{
    size_t n = strlen(key);
    if (strncmp(line, key, n) != 0 || !number_of(out, line + n))
        return false;
    *out *= 1024;
    return true;
}

static int64_t of_machine(void)
{
    FILE *f = fopen("/proc/meminfo", "re");
    char line[256];
    int64_t available = -1, swap = 0;
    if (!f)
        return INT64_MAX;
    while (fgets(line, sizeof line, f))
        (void)(line_kilobytes(&available, line, "MemAvailable:") ||
               line_kilobytes(&swap, line, "SwapFree:"));
    (void)fclose(f);
    return available < 0 ? INT64_MAX : available + swap;
}

static bool number_in(int64_t *out, const char *path)
{
    FILE *f = fopen(path, "re");
    char line[64];
    bool found = f && fgets(line, sizeof line, f) && number_of(out, line); /* "max": no limit */
    if (f)
        (void)fclose(f);
    return found;
}

/* Both versions of control groups, as a container sees its own. */
static int64_t of_group(void)
{
    static const char *const files[][2] = {
        {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
        {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
         "/sys/fs/cgroup/memory/memory.usage_in_bytes"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        int64_t limit, used;
        if (number_in(&limit, files[i][0]) && number_in(&used, files[i][1]))
            return limit > used ? limit - used : 0;
    }
    return INT64_MAX;
}

int64_t tsri_memory_available(void)
{
    int64_t machine = of_machine(), group = of_group();
    return machine < group ? machine : group;
}

double tsri_memory_peak_mb(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss / 1024 : 0;
}
