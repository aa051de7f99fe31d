/* route.c - what a request to the live page may have. */
#include "watch/route.h"

#include "base/text.h"
#include "io/digest.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Who asks ------------------------------------------------------------------------------- */

/* 127.0.0.1 or localhost, with any port: one that ssh -L forwards is another than ours. */
static bool is_local(const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (strncmp(host, names[i], n) != 0)
            continue;
        const char *port = host + n;
        if (!*port)
            return true;
        size_t digits = strspn(port + 1, "0123456789");
        if (*port == ':' && digits >= 1 && digits <= 5 && !port[1 + digits])
            return true;
    }
    return false;
}

/* A page of ours asks from the address that it was asked at. */
static bool is_own(const char *origin, const char *host)
{
    static const char scheme[] = "http://";
    return strncmp(origin, scheme, sizeof scheme - 1) == 0 &&
           strcmp(origin + sizeof scheme - 1, host) == 0;
}

static int refusal(const tsri_request *r)
{
    if (strcmp(r->method, "GET") != 0)
        return 405;
    if (!r->host || r->hosts != 1 || !is_local(r->host))
        return 403;
    if (r->origins > 1 || (r->origin && !is_own(r->origin, r->host)))
        return 403;
    if (r->body)
        return 413;
    return strnlen(r->path, TSRI_ROUTE_PATH + 1) > TSRI_ROUTE_PATH ? 414 : 0;
}

/* ---- What is asked for ---------------------------------------------------------------------- */

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* %XX become bytes. False for a broken one, a NUL, or what does not fit. */
static bool decode(char *out, size_t room, const char *text, size_t n)
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++, used++) {
        char c = text[i];
        if (c == '%') {
            int high = i + 2 < n ? digit(text[i + 1]) : -1;
            int low = high >= 0 ? digit(text[i + 2]) : -1;
            if (low < 0)
                return false;
            c = (char)(high * 16 + low);
            i += 2;
        }
        if (c == '\0' || used + 1 >= room)
            return false;
        out[used] = c;
    }
    out[used] = '\0';
    return true;
}

static tsri_show named(const char *rest)
{
    static const struct {
        const char *name;
        tsri_show show;
    } all[] = {{"", TSRI_SHOW_LIST},
               {"events", TSRI_SHOW_EVENTS},
               {"state", TSRI_SHOW_STATE},
               {"metrics", TSRI_SHOW_METRICS},
               {"live.js", TSRI_SHOW_SCRIPT}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(rest, all[i].name) == 0)
            return all[i].show;
    return TSRI_SHOW_NOTHING;
}

/* "run/" is the folder's own run, "run/a/b/" the one that is called a/b. */
static bool names_run(char *out, const char *rest)
{
    size_t n = strlen(rest);
    if (strncmp(rest, "run/", 4) != 0 || rest[n - 1] != '/')
        return false;
    if (n == 4) {
        out[0] = '\0';
        return true;
    }
    return decode(out, TSRI_ROUTE_NAME, rest + 4, n - 5) && *out;
}

void tsri_route_find(tsri_route *out, const tsri_request *r, const char token[TSRI_TOKEN + 1])
{
    out->show = TSRI_SHOW_NOTHING;
    out->run[0] = '\0';
    out->code = refusal(r);
    if (out->code)
        return;
    out->code = 404; /* the same for a wrong token and a wrong name: nothing can be learnt */
    const char *path = r->path;
    if (strnlen(path, TSRI_TOKEN + 2) < TSRI_TOKEN + 2 || path[0] != '/' ||
        path[TSRI_TOKEN + 1] != '/' || !tsri_equal_secret(path + 1, token, TSRI_TOKEN))
        return;
    const char *rest = path + TSRI_TOKEN + 2;
    out->show = names_run(out->run, rest) ? TSRI_SHOW_RUN : named(rest);
    if (out->show != TSRI_SHOW_NOTHING)
        out->code = 200;
}

/* ---- The token ------------------------------------------------------------------------------ */

static tsr_status draw_token(char token[TSRI_TOKEN + 1])
{
    tsr_status st = TSR_OK;
    unsigned char bytes[TSRI_TOKEN / 2];
    ssize_t got;
    do
        got = getrandom(bytes, sizeof bytes, 0);
    while (got < 0 && errno == EINTR);
    TSR_CHECK(got == (ssize_t)sizeof bytes, TSR_FAILURE, "cannot draw random bytes: %s",
              strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++) {
        token[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        token[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    token[TSRI_TOKEN] = '\0';
done:
    return st;
}

static tsr_status read_token(char token[TSRI_TOKEN + 1], int fd, const char *file)
{
    tsr_status st = TSR_OK;
    struct stat about;
    int64_t got = 0;
    TSR_CHECK(fstat(fd, &about) == 0 && (about.st_mode & 077) == 0 && about.st_uid == geteuid(),
              TSR_USAGE,
              "%s: others may read this token, or it is not yours: chmod 600, or remove it",
              tsri_quote(file));
    TSR_TRY(tsri_file_get(&got, fd, token, TSRI_TOKEN, file));
    token[TSRI_TOKEN] = '\0';
    TSR_CHECK(got == TSRI_TOKEN && strspn(token, "0123456789abcdef") == TSRI_TOKEN, TSR_USAGE,
              "%s is not a file that --token-file wrote: %d hexadecimal digits; choose another",
              tsri_quote(file), TSRI_TOKEN);
done:
    return st;
}

tsr_status tsri_token_make(char token[TSRI_TOKEN + 1], const char *file)
{
    tsr_status st = TSR_OK;
    int64_t size;
    int fd = -1;
    if (file && tsri_file_exists(file)) {
        TSR_TRY(tsri_file_open(&fd, &size, file));
        TSR_TRY(read_token(token, fd, file));
        goto done;
    }
    TSR_TRY(draw_token(token));
    if (!file)
        goto done;
    fd = tsri_io.open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        st = tsri_file_failed(errno, "make the token", file);
        goto done;
    }
    TSR_TRY(tsri_file_put(fd, token, TSRI_TOKEN, file));
done:
    if (fd >= 0)
        (void)tsri_io.close(fd);
    return st;
}
