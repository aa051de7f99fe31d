/* string.c - texts of the program, and the few things of the system that many commands need. */
#include "cli/string.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* ---- Memory ------------------------------------------------------------------------------- */

void *(*cli_realloc)(void *memory, size_t bytes) = realloc;

static tsr_status no_memory(size_t bytes)
{
    return tsr_fail(TSR_RESOURCES, "out of memory: %s more are needed", cli_bytes((double)bytes));
}

tsr_status cli_alloc(void *out, int64_t count, size_t size)
{
    size_t bytes = ((size_t)count + 1) * size;
    void *memory = cli_realloc(NULL, bytes);
    if (memory)
        memset(memory, 0, bytes);
    memcpy(out, &memory, sizeof memory);
    return memory ? TSR_OK : no_memory(bytes);
}

tsr_status cli_reserve(void *memory, int64_t *capacity, int64_t count, size_t size)
{
    void *now;
    int64_t room = *capacity < 8 ? 8 : 2 * *capacity;
    if (count < *capacity)
        return TSR_OK;
    memcpy(&now, memory, sizeof now);
    now = cli_realloc(now, (size_t)room * size);
    if (!now)
        return no_memory((size_t)room * size);
    memcpy(memory, &now, sizeof now);
    *capacity = room;
    return TSR_OK;
}

/* ---- Texts -------------------------------------------------------------------------------- */

tsr_status cli_string_add(cli_string *s, const char *fmt, ...)
{
    tsr_status st = TSR_OK;
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    size_t need = s->length + (size_t)(n > 0 ? n : 0) + 1;
    if (need > s->capacity) {
        char *data = cli_realloc(s->data, 2 * need);
        if (!data) {
            st = no_memory(2 * need);
            goto done;
        }
        s->data = data;
        s->capacity = 2 * need;
    }
    (void)vsnprintf(s->data + s->length, s->capacity - s->length, fmt, again);
    s->length = need - 1;
done:
    va_end(args);
    va_end(again);
    return st;
}

void cli_string_fini(cli_string *s)
{
    free(s->data);
    *s = (cli_string){0};
}

bool cli_ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* ---- Numbers ------------------------------------------------------------------------------ */

const char *cli_bytes(double bytes)
{
    enum { RING = 8, ROOM = 32 };
    static _Thread_local char ring[RING][ROOM];
    static _Thread_local unsigned turn;
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    char *text = ring[turn++ % RING];
    int u = 0;
    for (; bytes >= 1000 && u < 5; u++)
        bytes /= 1000;
    (void)snprintf(text, ROOM, bytes < 10 && u > 0 ? "%.2f %s" : "%.0f %s", bytes, unit[u]);
    return text;
}

bool cli_number_int(int64_t *out, const char *text)
{
    const char *digits = text + (*text == '-' || *text == '+');
    size_t n = strspn(digits, "0123456789");
    errno = 0;
    long long value = strtoll(text, NULL, 10);
    if (n == 0 || digits[n] || (n > 1 && *digits == '0') || errno != 0)
        return false;
    *out = value;
    return true;
}

bool cli_number_real(double *out, const char *text)
{
    char *end = NULL;
    errno = 0;
    if (!*text || text[strspn(text, "+-.0123456789eE")]) /* no hexadecimal, infinity or NaN */
        return false;
    double value = strtod(text, &end); /* numbers stay in the C locale (main.c) */
    if (*end || errno == ERANGE || !isfinite(value))
        return false;
    *out = value;
    return true;
}

/* ---- Settings ----------------------------------------------------------------------------- */

char *cli_setting(const tsr_config *config, const char *key)
{
    char *text = NULL;
    (void)tsr_config_get(&text, config, key); /* the key is ours: it is there */
    return text;
}

double cli_setting_real(const tsr_config *config, const char *key)
{
    char *text = cli_setting(config, key);
    double value = text ? strtod(text, NULL) : 0;
    tsr_free(text);
    return value;
}

bool cli_built_with(const char *what)
{
    char *json = NULL;
    tsr_doc *build = NULL;
    bool has = tsr_build(&json) == TSR_OK && tsr_doc_parse(&build, json) == TSR_OK &&
               tsr_doc_bool(build, what);
    tsr_doc_destroy(build);
    tsr_free(json);
    return has;
}

/* ---- The system --------------------------------------------------------------------------- */

bool cli_exists(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0;
}

double cli_clock(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
