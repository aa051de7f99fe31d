/* test_fence.c - who may connect to a port that has a fence (comm/fence.h): loopback's addresses
 * stand for hosts. */
#include "testing.h"

#include "comm/fence.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

static tsri_address address(const char *text)
{
    tsri_address a = {.byte = {[10] = 0xff, [11] = 0xff}};
    int family = strchr(text, ':') ? AF_INET6 : AF_INET;
    assert_int_equal(inet_pton(family, text, a.byte + (family == AF_INET6 ? 0 : 12)), 1);
    return a;
}

static union at {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} place(const char *text, in_port_t port)
{
    union at at = {.v4 = {.sin_family = AF_INET, .sin_port = port}};
    if (strchr(text, ':')) {
        at.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = port};
        assert_int_equal(inet_pton(AF_INET6, text, &at.v6.sin6_addr), 1);
    } else {
        assert_int_equal(inet_pton(AF_INET, text, &at.v4.sin_addr), 1);
    }
    return at;
}

static in_port_t port_of(int fd)
{
    union at at;
    socklen_t n = sizeof at;
    assert_int_equal(getsockname(fd, &at.any, &n), 0);
    return at.any.sa_family == AF_INET6 ? at.v6.sin6_port : at.v4.sin_port;
}

/* -1: there is no such address here (no IPv6). */
static int listener(const char *where)
{
    union at at = place(where, 0);
    int fd = socket(at.any.sa_family, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, &at.any, sizeof at) != 0 || listen(fd, 8) != 0)
        return fd < 0 ? -1 : (close(fd), -1);
    return fd;
}

/* Does who comes from there get in, and hear an answer? */
static bool gets_in(int listener_fd, const char *from, const char *to)
{
    enum { WAIT_MS = 300 }; /* a packet that is dropped is sent again after a second */
    union at here = place(from, 0), there = place(to, port_of(listener_fd));
    int fd = socket(here.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct pollfd made = {.fd = fd, .events = POLLOUT};
    assert_int_equal(bind(fd, &here.any, sizeof here), 0);
    (void)connect(fd, &there.any, sizeof there);
    bool in = poll(&made, 1, WAIT_MS) == 1 && !(made.revents & (POLLERR | POLLHUP));
    if (in) {
        char byte = 0;
        int other = accept(listener_fd, NULL, NULL);
        struct pollfd heard = {.fd = other, .events = POLLIN};
        assert_true(send(fd, "x", 1, 0) == 1 && poll(&heard, 1, 5000) == 1);
        assert_true(recv(other, &byte, 1, 0) == 1 && byte == 'x');
        (void)close(other);
    }
    (void)close(fd);
    return in;
}

static void only_those_given_get_in(void **state)
{
    (void)state;
    const tsri_address all[] = {address("127.0.0.2"), address("fd00::7"), address("127.0.0.9")};
    int before = listener("0.0.0.0"), port = -1, fenced = listener("0.0.0.0");
    assert_true(before >= 0 && fenced >= 0);
    assert_true(gets_in(fenced, "127.0.0.1", "127.0.0.1"));
    assert_true(tsri_fence_close(all, 3, &before, 1));
    assert_false(gets_in(fenced, "127.0.0.1", "127.0.0.1"));
    assert_true(gets_in(fenced, "127.0.0.2", "127.0.0.1"));
    assert_true(gets_in(fenced, "127.0.0.9", "127.0.0.3"));
    assert_false(gets_in(fenced, "127.0.0.3", "127.0.0.1"));
    assert_true(
        gets_in(before, "127.0.0.1", "127.0.0.1")); /* not MPI's: another's of the process */
    assert_int_equal(tsri_fence_ports(&port, 1), 1);
    assert_true(port == before || port == fenced);
    (void)close(before);
    (void)close(fenced);
}

static void ipv6_likewise(void **state)
{
    (void)state;
    const tsri_address others[] = {address("fd00::7"), address("::2"), address("127.0.0.2")};
    const tsri_address own[] = {address("fd00::7"), address("::1")};
    int both = listener("::"); /* IPv4 comes in there, too */
    if (both < 0)
        skip();
    assert_true(tsri_fence_close(others, 3, NULL, 0));
    assert_false(gets_in(both, "::1", "::1"));
    assert_false(gets_in(both, "127.0.0.1", "127.0.0.1"));
    assert_true(gets_in(both, "127.0.0.2", "127.0.0.1"));
    assert_true(tsri_fence_close(own, 2, NULL, 0)); /* instead of the first */
    assert_true(gets_in(both, "::1", "::1"));
    assert_false(gets_in(both, "127.0.0.2", "127.0.0.1"));
    (void)close(both);
}

static void nobody_and_too_many(void **state)
{
    (void)state;
    enum { MANY = 3000 };
    int port = listener("0.0.0.0");
    tsri_address *many = NULL;
    assert_true(tsri_fence_close(NULL, 0, NULL, 0));
    assert_false(gets_in(port, "127.0.0.1", "127.0.0.1"));
    (void)close(port);
    assert_ok(tsri_alloc(&many, MANY, sizeof *many));
    assert_false(tsri_fence_close(many, MANY, NULL, 0));
    (void)tsri_alloc_fail_after(0, false);
    assert_false(tsri_fence_close(many, 1, NULL, 0));
    (void)tsri_alloc_fail_after(-1, false);
    tsri_free(many);
}

static void own_addresses_are_no_loopback(void **state)
{
    (void)state;
    tsri_address own[TSRI_FENCE_OWN], loopback[] = {address("127.0.0.1"), address("::1")};
    int n = tsri_fence_own(own, TSRI_FENCE_OWN);
    assert_true(n >= 0 && n <= TSRI_FENCE_OWN && tsri_fence_own(own, 0) == 0);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 2; k++)
            assert_memory_not_equal(&own[i], &loopback[k], sizeof *own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_those_given_get_in),
        cmocka_unit_test(ipv6_likewise),
        cmocka_unit_test(nobody_and_too_many),
        cmocka_unit_test(own_addresses_are_no_loopback),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
