/* Any bytes as the words of a request to the live page: answered or refused, and whatever is
 * answered carries the token and comes from here. */
#include "fuzz.h"

#include "watch/route.h"

static const char token[] = "0123456789abcdef0123456789abcdef";

/* The next line of the input, in `room` bytes; NULL for one that is "-". */
static const char *word(input *in, char *room, size_t size)
{
    size_t n = 0;
    uint8_t c;
    while (in->left > 0 && (c = next(in)) != '\n')
        if (n + 1 < size)
            room[n++] = (char)c;
    room[n] = '\0';
    return strcmp(room, "-") == 0 ? NULL : room;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static char method[64], path[8192], host[256], origin[256];
    input in = {bytes, n};
    tsri_route out;
    uint8_t how = next(&in);
    tsri_request r = {.hosts = how & 3, .origins = how >> 2 & 3, .body = how >> 4 & 1};
    r.method = word(&in, method, sizeof method);
    r.path = word(&in, path, sizeof path);
    r.host = word(&in, host, sizeof host);
    r.origin = word(&in, origin, sizeof origin);
    if (!r.method || !r.path)
        return 0;
    tsri_route_find(&out, &r, token);
    MUST(out.code == 200 || (out.code >= 400 && out.code < 500));
    MUST((out.code == 200) == (out.show != TSRI_SHOW_NOTHING));
    MUST(memchr(out.run, 0, sizeof out.run));
    if (out.code == 200) {
        MUST(strcmp(r.method, "GET") == 0 && !r.body);
        MUST(strncmp(r.path + 1, token, TSRI_TOKEN) == 0);
        MUST(r.host &&
             (strncmp(r.host, "127.0.0.1", 9) == 0 || strncmp(r.host, "localhost", 9) == 0));
        MUST(!r.origin || strcmp(r.origin + strlen("http://"), r.host) == 0);
    }
    return 0;
}
