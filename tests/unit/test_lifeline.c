/* test_lifeline.c - lifelines, and strangers who knock at the coordinator's port: the silent, those
 * who send one byte, garbage, too much, too slowly, or what they have heard before. */
#include "testing.h"

#include "lifeline_testing.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SIZE = 4, INVITATION = 512 };

/* The coordinator, with a thread that looks. */
typedef struct desk {
    tsri_lifeline *line;
    uint8_t invitation[INVITATION];
    int64_t n;
    known known;
    pthread_t thread;
    atomic_bool over;
    atomic_int looks;
    _Atomic double longest; /* a look that was to take no time */
} desk;

static void *attend(void *context)
{
    desk *d = context;
    while (!atomic_load(&d->over)) {
        double begin = tsri_clock();
        tsri_lifeline_look(d->line, 0, -1);
        double took = tsri_clock() - begin;
        if (took > atomic_load(&d->longest))
            atomic_store(&d->longest, took);
        atomic_fetch_add(&d->looks, 1);
        (void)poll(NULL, 0, 1);
    }
    return NULL;
}

static void open_desk(desk *d)
{
    uint32_t loopback = htonl(INADDR_LOOPBACK);
    *d = (desk){0};
    assert_ok(tsri_lifeline_listen(&d->line, SIZE, &loopback, 1, 0));
    assert_ok(tsri_lifeline_invite(d->line, d->invitation, INVITATION, &d->n));
    assert_int_equal(d->n, sizeof d->known);
    memcpy(&d->known, d->invitation, sizeof d->known);
    assert_int_equal(pthread_create(&d->thread, NULL, attend, d), 0);
}

static void close_desk(desk *d)
{
    atomic_store(&d->over, true);
    assert_int_equal(pthread_join(d->thread, NULL), 0);
    tsri_lifeline_close(d->line);
}

static int knock(const desk *d)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)d->known.place[0].port),
                             .sin_addr = {d->known.place[0].address}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    (void)close(fd);
    return -1;
}

static bool read_all(int fd, void *bytes, size_t n)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 5000) == 1 && recv(fd, bytes, n, MSG_WAITALL) == (ssize_t)n;
}

/* Does the other end hang up within so long? */
static bool hung_up(int fd, int milliseconds)
{
    double until = tsri_clock() + milliseconds * 1e-3;
    char byte;
    while (tsri_clock() < until) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, 50) == 1 && recv(fd, &byte, 1, MSG_DONTWAIT) <= 0 && errno != EAGAIN)
            return true;
    }
    return false;
}

/* The proof leaves a moment before the rank is noted. */
static bool is_held(const desk *d, int rank)
{
    for (int i = 0; i < 5000 && !tsri_lifeline_held(d->line, rank); i++)
        (void)poll(NULL, 0, 1);
    return tsri_lifeline_held(d->line, rank);
}

static bool comes(const desk *d, int rank)
{
    tsri_lifeline *line = NULL;
    assert_ok(tsri_lifeline_connect(&line, d->invitation, d->n, rank));
    bool held = line && is_held(d, rank);
    tsri_lifeline_close(line);
    for (int i = 0; held && i < 5000 && !tsri_lifeline_cut(d->line, rank); i++)
        (void)poll(NULL, 0, 1);
    return held && tsri_lifeline_cut(d->line, rank);
}

/* ---- Tests -------------------------------------------------------------------------------- */

static void an_end_is_heard_on_both_sides(void **state)
{
    (void)state;
    desk d;
    tsri_lifeline *worker = NULL;
    open_desk(&d);
    assert_true(comes(&d, 2)); /* it hung up, and that was heard */
    assert_ok(tsri_lifeline_connect(&worker, d.invitation, d.n, 1));
    assert_non_null(worker);
    tsri_lifeline_look(worker, 0, -1);
    assert_false(tsri_lifeline_cut(worker, 0));
    assert_true(tsri_lifeline_held(worker, 0));
    close_desk(&d);
    tsri_lifeline_look(worker, 5000, -1);
    assert_true(tsri_lifeline_cut(worker, 0));
    tsri_lifeline_close(worker);
}

static void two_cannot_be_one_rank(void **state)
{
    (void)state;
    desk d;
    tsri_lifeline *first = NULL, *second = NULL;
    open_desk(&d);
    assert_ok(tsri_lifeline_connect(&first, d.invitation, d.n, 1));
    assert_non_null(first);
    assert_ok(tsri_lifeline_connect(&second, d.invitation, d.n, 1));
    assert_null(second);
    assert_ok(tsri_lifeline_connect(&second, d.invitation, d.n, SIZE)); /* there is no such rank */
    assert_null(second);
    tsri_lifeline_close(first);
    close_desk(&d);
}

/* What each of a hundred strangers does; the ranks come while all of them are there. */
typedef void (*manner)(const desk *d, int fd);

static void silent(const desk *d, int fd)
{
    (void)d, (void)fd;
}

static void one_byte(const desk *d, int fd)
{
    (void)d;
    (void)send(fd, "x", 1, MSG_NOSIGNAL);
}

static void garbage(const desk *d, int fd)
{
    char noise[4096];
    (void)d;
    memset(noise, 0xff, sizeof noise); /* read as lengths: as long as can be */
    (void)send(fd, noise, sizeof noise, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void wrong_secret(const desk *d, int fd)
{
    tsri_challenge c;
    tsri_answer a;
    uint8_t secret[TSRI_SECRET];
    memcpy(secret, d->known.secret, sizeof secret);
    secret[31] ^= 1;
    if (read_all(fd, &c, sizeof c) && tsri_handshake_answer(&a, secret, &c, 3) == TSR_OK)
        (void)send(fd, &a, sizeof a, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void a_hundred(manner how)
{
    enum { STRANGERS = 100 };
    desk d;
    int fd[STRANGERS];
    open_desk(&d);
    for (int i = 0; i < STRANGERS; i++) {
        fd[i] = knock(&d);
        if (fd[i] >= 0)
            how(&d, fd[i]);
    }
    int before = atomic_load(&d.looks);
    assert_true(comes(&d, 1));
    assert_true(comes(&d, 3));
    assert_false(tsri_lifeline_held(d.line, 2));
    assert_true(atomic_load(&d.looks) > before);
    /* It waited for nobody: a look that blocked, did so until the stranger left. */
    assert_true(atomic_load(&d.longest) < 1);
    for (int i = 0; i < STRANGERS; i++)
        if (fd[i] >= 0)
            (void)close(fd[i]);
    close_desk(&d);
}

static void strangers_delay_nobody(void **state)
{
    (void)state;
    a_hundred(silent);
    a_hundred(one_byte);
    a_hundred(garbage);
    a_hundred(wrong_secret);
}

/* Who is silent, or sends a byte now and then, is shown out after a few seconds. */
static void the_slow_are_shown_out(void **state)
{
    (void)state;
    desk d;
    open_desk(&d);
    int quiet = knock(&d), slow = knock(&d);
    double begin = tsri_clock();
    bool out = false;
    while (!out && tsri_clock() - begin < 15) {
        out = send(slow, "x", 1, MSG_NOSIGNAL) != 1;
        (void)poll(NULL, 0, 200);
    }
    assert_true(out);
    assert_true(hung_up(quiet, 1000));
    assert_true(comes(&d, 1));
    (void)close(quiet);
    (void)close(slow);
    close_desk(&d);
}

/* A whole handshake, recorded, opens nothing the second time: the challenge is another one. */
static void a_recorded_answer_is_worthless(void **state)
{
    (void)state;
    desk d;
    tsri_challenge c, next;
    tsri_answer a;
    uint8_t proof[TSRI_MAC];
    open_desk(&d);
    int fd = knock(&d);
    assert_true(read_all(fd, &c, sizeof c));
    assert_ok(tsri_handshake_answer(&a, d.known.secret, &c, 1));
    assert_int_equal(send(fd, &a, sizeof a, 0), sizeof a);
    assert_true(read_all(fd, proof, sizeof proof));
    assert_true(tsri_handshake_proven(proof, d.known.secret, &c, &a));
    assert_true(is_held(&d, 1));

    int again = knock(&d);
    a.rank = 2;
    assert_true(read_all(again, &next, sizeof next));
    assert_memory_not_equal(next.nonce, c.nonce, sizeof c.nonce);
    assert_int_equal(send(again, &a, sizeof a, 0), sizeof a);
    assert_true(hung_up(again, 2000));
    assert_false(tsri_lifeline_held(d.line, 2));
    (void)close(fd);
    (void)close(again);
    close_desk(&d);
}

/* Nothing that one side sends is a proof of the other's, and every bit counts. */
static void proofs_belong_to_one_side(void **state)
{
    (void)state;
    uint8_t secret[TSRI_SECRET] = {7}, proof[TSRI_MAC];
    tsri_challenge c;
    tsri_answer a;
    assert_ok(tsri_handshake_challenge(&c));
    assert_ok(tsri_handshake_answer(&a, secret, &c, 5));
    assert_true(tsri_handshake_answered(&a, secret, &c));
    assert_ok(tsri_handshake_proof(proof, secret, &c, &a));
    assert_true(tsri_handshake_proven(proof, secret, &c, &a));
    assert_false(tsri_handshake_proven(a.mac, secret, &c, &a));
    for (size_t bit = 0; bit < 8 * sizeof a; bit++) {
        ((uint8_t *)&a)[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_false(tsri_handshake_answered(&a, secret, &c));
        ((uint8_t *)&a)[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    c.mark[0] ^= 1;
    assert_fails(tsri_handshake_answer(&a, secret, &c, 5), TSR_FAILURE,
                 "not a coordinator of this version");
}

/* RFC 4231, test case 2. */
static void hmac_is_that_of_the_standard(void **state)
{
    (void)state;
    static const uint8_t right[TSRI_MAC] = {0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e,
                                            0x6a, 0x04, 0x24, 0x26, 0x08, 0x95, 0x75, 0xc7,
                                            0x5a, 0x00, 0x3f, 0x08, 0x9d, 0x27, 0x39, 0x83,
                                            0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43};
    uint8_t mac[TSRI_MAC];
    assert_ok(tsri_hmac(mac, "Jefe", 4, "what do ya want for nothing?", 28));
    assert_memory_equal(mac, right, sizeof right);
    assert_true(tsri_equal_secret(mac, right, sizeof mac));
    mac[0] ^= 1;
    assert_false(tsri_equal_secret(mac, right, sizeof mac));
}

static void a_shut_port_is_shut(void **state)
{
    (void)state;
    desk d;
    tsri_lifeline *worker = NULL;
    open_desk(&d);
    assert_ok(tsri_lifeline_connect(&worker, d.invitation, d.n, 1));
    assert_non_null(worker);
    atomic_store(&d.over, true);
    assert_int_equal(pthread_join(d.thread, NULL), 0);
    tsri_lifeline_shut(d.line);
    assert_int_equal(knock(&d), -1);
    tsri_lifeline_look(d.line, 0, -1);
    assert_false(tsri_lifeline_cut(d.line, 1)); /* who is in stays in */
    tsri_lifeline_close(worker);
    tsri_lifeline_look(d.line, 5000, -1);
    assert_true(tsri_lifeline_cut(d.line, 1));
    tsri_lifeline_close(d.line);
}

static void invitations_are_checked(void **state)
{
    (void)state;
    tsri_lifeline *line = NULL;
    known v = {.places = TSRI_LIFELINE_ADDRESSES + 1};
    assert_fails(tsri_lifeline_connect(&line, &v, 7, 1), TSR_FAILURE, "7 bytes is not ours");
    assert_fails(tsri_lifeline_connect(&line, &v, (int64_t)sizeof v, 1), TSR_FAILURE,
                 "9 addresses");
    assert_null(line);
}

/* cluster.port names one that somebody else has. */
static void a_taken_port_is_told(void **state)
{
    (void)state;
    desk d;
    tsri_lifeline *line = NULL;
    uint8_t small[8];
    int64_t n = 0;
    open_desk(&d);
    assert_fails(tsri_lifeline_listen(&line, SIZE, &d.known.place[0].address, 1,
                                      (uint16_t)d.known.place[0].port),
                 TSR_RESOURCES, "no port to listen on for the workers (cluster.port: ");
    assert_null(line);
    assert_fails(tsri_lifeline_invite(d.line, small, sizeof small, &n), TSR_FAILURE,
                 "does not fit");
    close_desk(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_is_heard_on_both_sides),
        cmocka_unit_test(two_cannot_be_one_rank),
        cmocka_unit_test(strangers_delay_nobody),
        cmocka_unit_test(the_slow_are_shown_out),
        cmocka_unit_test(a_recorded_answer_is_worthless),
        cmocka_unit_test(proofs_belong_to_one_side),
        cmocka_unit_test(hmac_is_that_of_the_standard),
        cmocka_unit_test(a_shut_port_is_shut),
        cmocka_unit_test(invitations_are_checked),
        cmocka_unit_test(a_taken_port_is_told),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
