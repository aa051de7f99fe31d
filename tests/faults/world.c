/* world.c - commands run in a child with a fault, and what they left (world.h). */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

int tessera_main(int argc, char **argv); /* src/cli/main.c */

int complaints;

void give_up(const char *file, int line, const char *format, ...)
{
    va_list more;
    va_start(more, format);
    (void)fprintf(stderr, "%s:%d: ", file, line);
    (void)vfprintf(stderr, format, more);
    (void)fprintf(stderr, "\n");
    va_end(more);
    exit(2);
}

void complain(const char *format, ...)
{
    va_list more;
    if (complaints++ >= 20)
        return; /* more of the same */
    va_start(more, format);
    (void)printf("FAILED: ");
    (void)vprintf(format, more);
    (void)printf("\n");
    va_end(more);
    (void)fflush(stdout);
}

bool is_long(void)
{
    const char *text = getenv("TESSERA_LONG");
    return text && strcmp(text, "1") == 0;
}

uint64_t test_seed(void)
{
    const char *text = getenv("TESSERA_TEST_SEED");
    return text ? strtoull(text, NULL, 10) : 1;
}

/* ---- Files -------------------------------------------------------------------------------- */

void put_file(const char *path, const void *bytes, int64_t n)
{
    FILE *f = fopen(path, "wb");
    must(f && (n == 0 || fwrite(bytes, 1, (size_t)n, f) == (size_t)n) && fclose(f) == 0,
         "cannot write %s", path);
}

char *get_file(const char *path, int64_t *n)
{
    struct stat about;
    *n = 0;
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    must(fstat(fileno(f), &about) == 0, "cannot examine %s", path);
    char *bytes = malloc((size_t)about.st_size + 1);
    must(bytes != NULL, "out of memory");
    *n = (int64_t)fread(bytes, 1, (size_t)about.st_size, f);
    bytes[*n] = '\0';
    (void)fclose(f);
    return bytes;
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *where)
{
    (void)about, (void)type, (void)where;
    return remove(path);
}

void remove_tree(const char *path)
{
    must(nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT,
         "cannot remove %s", path);
}

static const char *copy_from, *copy_to; /* nftw has no context */

static int copy_one(const char *path, const struct stat *about, int type, struct FTW *where)
{
    char to[512];
    int64_t n;
    (void)about, (void)where;
    (void)snprintf(to, sizeof to, "%s%s", copy_to, path + strlen(copy_from));
    if (type == FTW_D)
        return mkdir(to, 0777);
    char *bytes = get_file(path, &n);
    put_file(to, bytes, n);
    free(bytes);
    return 0;
}

void copy_tree(const char *to, const char *from)
{
    copy_from = from;
    copy_to = to;
    remove_tree(to);
    must(nftw(from, copy_one, 16, FTW_PHYS) == 0, "cannot copy %s", from);
}

static const char *part_wanted;
static int part_count;

static int count_one(const char *path, const struct stat *about, int type, struct FTW *where)
{
    (void)about, (void)type;
    part_count += strstr(path + where->base, part_wanted) != NULL;
    return 0;
}

int count_names(const char *path, const char *part)
{
    part_wanted = part;
    part_count = 0;
    (void)nftw(path, count_one, 16, FTW_PHYS);
    return part_count;
}

/* ---- Children ----------------------------------------------------------------------------- */

#ifdef __SANITIZE_ADDRESS__
/* What the sanitizers find in a child ends it by a signal, which nothing else here does: an exit code
 * could be one of ours, and a sentence may have been said before. */
const char *__asan_default_options(void), *__ubsan_default_options(void);
const char *__asan_default_options(void)
{
    return "abort_on_error=1";
}

const char *__ubsan_default_options(void)
{
    return "abort_on_error=1";
}

void no_leak(void)
{
    if (__lsan_do_recoverable_leak_check() != 0)
        abort();
}
#else
void no_leak(void)
{
}
#endif

/* Deliberate deaths leave no core files, and a hang is one more way to die. */
_Noreturn static void be_child(const scenario *s, shim_plan plan, int log, int said)
{
    static char words[512], *argv[32] = {"tessera"};
    const struct rlimit none = {0, 0};
    int argc = 1;
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)dup2(said, STDOUT_FILENO);
    (void)dup2(said, STDERR_FILENO);
    (void)alarm(60);
    (void)snprintf(words, sizeof words, "%s", s->command);
    for (char *w = strtok(words, " "); w && argc < 31; w = strtok(NULL, " "))
        argv[argc++] = w;
    shim_arm(plan);
    shim_record(log);
    int code = tessera_main(argc, argv);
    no_leak();
    (void)fflush(NULL);
    _exit(code);
}

static pid_t begin(const scenario *s, shim_plan plan, int log, int said)
{
    put_file("run.yaml", s->run, (int64_t)strlen(s->run));
    (void)fflush(NULL);
    pid_t child = fork();
    must(child >= 0, "cannot fork");
    if (child == 0)
        be_child(s, plan, log, said);
    return child;
}

/* Keeps the sentences: what begins "tessera: " and is not an evaluation. */
static void forget_progress(char *said)
{
    char *to = said;
    for (const char *from = said, *end; *from; from = end) {
        end = from + strcspn(from, "\n");
        end += *end == '\n';
        if (strncmp(from, "tessera: ", 9) == 0 && strncmp(from + 9, "epoch ", 6) != 0) {
            memmove(to, from, (size_t)(end - from));
            to += end - from;
        }
    }
    *to = '\0';
}

static ending await(pid_t child, int said)
{
    ending e = {.code = -1};
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        must(errno == EINTR, "lost a child");
    if (WIFEXITED(status))
        e.code = WEXITSTATUS(status);
    else
        e.signal = WTERMSIG(status);
    ssize_t n = pread(said, e.said, sizeof e.said - 1, 0);
    e.said[n > 0 ? n : 0] = '\0';
    forget_progress(e.said);
    (void)close(said);
    return e;
}

static int new_memory(void)
{
    int fd = memfd_create("said", MFD_CLOEXEC);
    must(fd >= 0, "cannot make a file in memory");
    return fd;
}

ending run_command(const scenario *s, shim_plan plan, int log)
{
    int said = new_memory();
    return await(begin(s, plan, log, said), said);
}

ending run_and_kill(const scenario *s, double seconds)
{
    int said = new_memory();
    pid_t child = begin(s, (shim_plan){0}, -1, said);
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    (void)nanosleep(&t, NULL);
    (void)kill(child, SIGKILL);
    return await(child, said);
}

/* ---- Comparing ---------------------------------------------------------------------------- */

enum { RESULTS = 16 };
static char *wanted[RESULTS];
static int64_t wanted_n[RESULTS];

/* Of a number, or of a text without quotes in it. */
static size_t value_length(const char *at)
{
    return *at == '"' ? 2 + strcspn(at + 1, "\"") : strcspn(at, ",}");
}

/* Takes times out of a text: what stands behind the keys that have them, and the last column of a
 * table. Weights and other bytes stay as they are. */
static void forget_times(char *bytes, int64_t *n, const char *name)
{
    static const char *const key[] = {
        "\"seconds\":",       "\"ms\":",      "\"step_ms\":", "\"faster\":",
        "\"times_as_fast\":", "\"sentence\":"};
    bool json = strstr(name, ".json") != NULL, table = strstr(name, ".csv") != NULL;
    char *to = bytes;
    if (!json && !table)
        return;
    for (const char *from = bytes; from < bytes + *n;) {
        size_t skip = 0;
        for (size_t k = 0; json && k < sizeof key / sizeof *key; k++)
            if (strncmp(from, key[k], strlen(key[k])) == 0)
                skip = strlen(key[k]) + value_length(from + strlen(key[k]));
        if (table && *from == ',' && !memchr(from + 1, ',', strcspn(from + 1, "\n")))
            skip = 1 + strcspn(from + 1, "\n");
        from += skip;
        if (skip == 0)
            *to++ = *from++;
    }
    *n = to - bytes;
    *to = '\0';
}

static char *result(const char *word, size_t length, int64_t *n)
{
    char path[256];
    (void)snprintf(path, sizeof path, "disk/run/%.*s", (int)length, word);
    char *bytes = get_file(path, n);
    if (bytes)
        forget_times(bytes, n, path);
    return bytes;
}

void make_reference(const scenario *s)
{
    int i = 0;
    remove_tree("disk");
    must(mkdir("disk", 0777) == 0, "cannot make disk");
    ending e = run_command(s, (shim_plan){0}, -1);
    must(e.code == 0, "%s: exit %d, signal %d: %s", s->name, e.code, e.signal, e.said);
    for (const char *w = s->results; *w; w += strcspn(w, " "), w += *w == ' ', i++) {
        must(i < RESULTS, "too many results");
        free(wanted[i]);
        wanted[i] = result(w, strcspn(w, " "), &wanted_n[i]);
        must(wanted[i] != NULL, "%s made no %s", s->name, w);
    }
}

bool is_reference(const scenario *s, char *why, size_t size)
{
    int i = 0;
    bool same = true;
    for (const char *w = s->results; *w && same; w += strcspn(w, " "), w += *w == ' ', i++) {
        int64_t n = 0;
        char *got = result(w, strcspn(w, " "), &n);
        same = got && n == wanted_n[i] && memcmp(got, wanted[i], (size_t)n) == 0;
        if (!same)
            (void)snprintf(why, size, "%.*s is %s", (int)strcspn(w, " "), w,
                           got ? "another" : "missing");
        free(got);
    }
    if (same && count_names("disk", ".tessera-") > 0) {
        (void)snprintf(why, size, "a temporary file is left");
        same = false;
    }
    return same;
}
