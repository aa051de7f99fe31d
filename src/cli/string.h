/* string.h - texts of the program: one that grows, numbers in words, and numbers out of them.
 *
 *     cli_string s = {0};
 *     TSR_TRY(cli_string_add(&s, "%s/report.html", folder));
 *     ... s.data ...
 *     cli_string_fini(&s);
 */
#ifndef CLI_STRING_H
#define CLI_STRING_H

#include "tessera.h"

typedef struct cli_string {
    char *data; /* ends with NUL; NULL while nothing was added */
    size_t length, capacity;
} cli_string;

tsr_status cli_string_add(cli_string *s, const char *fmt, ...) TSR_PRINTF(2, 3);
void cli_string_fini(cli_string *s);

/* Where the program's own memory comes from: realloc, or what a test puts here. free() frees it. */
extern void *(*cli_realloc)(void *memory, size_t bytes);

/* Memory for `count` elements, zeroed, which free() frees. RESOURCES when there is none. */
tsr_status cli_alloc(void *out, int64_t count, size_t size);

/* Room for one more element in an array of *capacity elements that doubles. */
tsr_status cli_reserve(void *memory, int64_t *capacity, int64_t count, size_t size);

/* "1.5 GB", "312 kB": decimal units, in a small ring of buffers. */
const char *cli_bytes(double bytes);

/* The whole text as a number, in the plain decimal form that a run file has; false when it is
 * none. */
bool cli_number_int(int64_t *out, const char *text);
bool cli_number_real(double *out, const char *text);

/* A setting as text, which the caller frees with tsr_free, NULL when it has none; and as a number,
 * 0 when it is none. */
char *cli_setting(const tsr_config *config, const char *key);
double cli_setting_real(const tsr_config *config, const char *key);

/* Was the library built with it: "mpi", "png"? */
bool cli_built_with(const char *what);

/* Is something there? Does the text end so? */
bool cli_exists(const char *path);
bool cli_ends_in(const char *text, const char *end);

/* Seconds since some fixed moment; never goes backwards. */
double cli_clock(void);

#endif
