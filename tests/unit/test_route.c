/* What a request to the live page may have. */
#include "scratch.h"

#include "watch/route.h"

#include <sys/stat.h>

static const char token[] = "0123456789abcdef0123456789abcdef";
#define T "/0123456789abcdef0123456789abcdef/"

typedef struct asked {
    int code;
    tsri_show show;
    const char *run, *method, *path, *host, *origin;
} asked;

static tsri_route find(const asked *a, int hosts, int origins, bool body)
{
    tsri_route out;
    tsri_request r = {a->method, a->path, a->host, a->origin, hosts, origins, body};
    tsri_route_find(&out, &r, token);
    return out;
}

static void finds_and_refuses(void **state)
{
    (void)state;
    static const char h[] = "127.0.0.1:80";
    static const asked all[] = {
        {200, TSRI_SHOW_LIST, "", "GET", T, h, NULL},
        {200, TSRI_SHOW_EVENTS, "", "GET", T "events", "localhost", NULL},
        {200, TSRI_SHOW_STATE, "", "GET", T "state", "localhost:65535", NULL},
        {200, TSRI_SHOW_METRICS, "", "GET", T "metrics", "127.0.0.1", NULL},
        {200, TSRI_SHOW_SCRIPT, "", "GET", T "live.js", h, "http://127.0.0.1:80"},
        {200, TSRI_SHOW_RUN, "", "GET", T "run/", h, NULL},
        {200, TSRI_SHOW_RUN, "a", "GET", T "run/a/", h, NULL},
        {200, TSRI_SHOW_RUN, "a/b c", "GET", T "run/a/b%20c/", h, NULL},
        /* A name is looked up in a list, so it may be anything; it is never a path. */
        {200, TSRI_SHOW_RUN, "../../etc", "GET", T "run/../..%2Fetc/", h, NULL},
        {405, 0, "", "POST", T, h, NULL},
        {405, 0, "", "get", T, h, NULL},
        {405, 0, "", "HEAD", T, h, NULL},
        {405, 0, "", "OPTIONS", "*", h, NULL},
        {403, 0, "", "GET", T, NULL, NULL},
        {403, 0, "", "GET", T, "", NULL},
        {403, 0, "", "GET", T, "evil.com", NULL},
        {403, 0, "", "GET", T, "127.0.0.1.evil.com", NULL},
        {403, 0, "", "GET", T, "127.0.0.1:", NULL},
        {403, 0, "", "GET", T, "127.0.0.1:80x", NULL},
        {403, 0, "", "GET", T, "127.0.0.1:123456", NULL},
        {403, 0, "", "GET", T, "127.0.0.1@evil.com", NULL},
        {403, 0, "", "GET", T, "[::1]:80", NULL},
        {403, 0, "", "GET", T, h, "http://evil.com"},
        {403, 0, "", "GET", T, h, "http://127.0.0.1:81"},
        {403, 0, "", "GET", T, h, "https://127.0.0.1:80"},
        {403, 0, "", "GET", T, h, "null"},
        {403, 0, "", "GET", T, h, ""},
        {404, 0, "", "GET", "/", h, NULL},
        {404, 0, "", "GET", "", h, NULL},
        {404, 0, "", "GET", "/0123456789abcdef0123456789abcdef", h, NULL},
        {404, 0, "", "GET", "/0123456789abcdef0123456789abcdeF/", h, NULL},
        {404, 0, "", "GET", "//0123456789abcdef0123456789abcdef/", h, NULL},
        {404, 0, "", "GET", "/0123456789abcdef0123456789abcde0/state", h, NULL},
        {404, 0, "", "GET", T "statex", h, NULL},
        {404, 0, "", "GET", T "run", h, NULL},
        {404, 0, "", "GET", T "run/a", h, NULL},
        {404, 0, "", "GET", T "run/%/", h, NULL},
        {404, 0, "", "GET", T "run/%2/", h, NULL},
        {404, 0, "", "GET", T "run/%00/", h, NULL},
        {404, 0, "", "GET", T "run/%zz/", h, NULL},
        {404, 0, "", "GET", T "../metrics", h, NULL},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        tsri_route out = find(&all[i], all[i].host != NULL, all[i].origin != NULL, false);
        if (out.code != all[i].code || out.show != all[i].show || strcmp(out.run, all[i].run) != 0)
            fail_msg("%s %s of %s from %s: %d, %d, '%s'", all[i].method, all[i].path,
                     all[i].host ? all[i].host : "-", all[i].origin ? all[i].origin : "-", out.code,
                     (int)out.show, out.run);
        assert_int_not_equal(find(&all[i], 2, 0, false).code, 200);
        assert_int_not_equal(find(&all[i], 1, 2, false).code, 200);
        assert_int_not_equal(find(&all[i], 1, 0, true).code, 200);
    }
}

static void refuses_what_is_too_long(void **state)
{
    (void)state;
    static char path[TSRI_ROUTE_PATH + 100];
    asked a = {0, 0, "", "GET", path, "127.0.0.1", NULL};
    memset(path, 'a', sizeof path - 1);
    memcpy(path, T "run/", sizeof T "run/" - 1);
    path[sizeof path - 2] = '/';
    assert_int_equal(find(&a, 1, 0, false).code, 414);
    path[TSRI_ROUTE_PATH - 1] = '/';
    path[TSRI_ROUTE_PATH] = '\0';
    assert_int_equal(find(&a, 1, 0, false).code, 404); /* no name is that long */
}

static void keeps_its_token(void **state)
{
    (void)state;
    char a[TSRI_TOKEN + 1], b[TSRI_TOKEN + 1];
    const char *file = scratch_path("token");
    struct stat about;
    assert_ok(tsri_token_make(a, NULL));
    assert_ok(tsri_token_make(b, NULL));
    assert_string_not_equal(a, b);
    assert_int_equal(strspn(a, "0123456789abcdef"), TSRI_TOKEN);
    assert_ok(tsri_token_make(a, file));
    assert_ok(tsri_token_make(b, file));
    assert_string_equal(a, b);
    assert_int_equal(stat(file, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    assert_int_equal(chmod(file, 0640), 0);
    assert_fails(tsri_token_make(b, file), TSR_USAGE, "others may read");
    assert_int_equal(chmod(file, 0600), 0);
    assert_int_equal(truncate(file, 31), 0);
    assert_fails(tsri_token_make(b, file), TSR_USAGE, "hexadecimal");
    assert_fails(tsri_token_make(b, scratch_path("no/such/folder")), TSR_FAILURE, "make the token");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_and_refuses),
        cmocka_unit_test(refuses_what_is_too_long),
        cmocka_unit_test(keeps_its_token),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
