/* Any bytes from the other end of a lifeline. The first byte says whose end is fuzzed: strangers at
 * rank 0's port, a coordinator that answers a worker, or an invitation. Proofs can be mended, so
 * that what lies behind them is reached; nobody is taken in without one. */
#include "fuzz.h"

#include "lifeline_testing.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SIDES = 3, SIZE = 4, STRANGERS = 8, ACTS = 48, TRIES = 3, WAIT_MS = 1000 };

/* Fills n bytes, with zeros after the input's end. */
static void fill(input *in, void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((uint8_t *)bytes)[i] = next(in);
}

/* Hanging up this way leaves no port waiting behind it. */
static void hang_up(int *fd)
{
    const struct linger at_once = {1, 0};
    if (*fd < 0)
        return;
    (void)setsockopt(*fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    (void)close(*fd);
    *fd = -1;
}

/* libFuzzer's timer interrupts calls that wait; one that did goes on when it is called again. */
#define PATIENTLY(result, call)                                                                    \
    do                                                                                             \
        (result) = (call);                                                                         \
    while ((result) < 0 && errno == EINTR)

/* An interrupted connect goes on in the background; called again, it waits for its own end. */
static bool reach(int fd, const struct sockaddr_in *at)
{
    int result;
    PATIENTLY(result, connect(fd, (const struct sockaddr *)at, sizeof *at));
    return result == 0 || errno == EISCONN;
}

/* ---- Strangers at rank 0 -------------------------------------------------------------------- */

typedef struct knocking {
    tsri_lifeline *line;
    known known;
    int fd[STRANGERS];
    tsri_challenge heard[STRANGERS];
    bool challenged[STRANGERS], sent[STRANGERS]; /* anything before its answer spoils it */
    bool proven[SIZE];
} knocking;

static void knock(knocking *k, int i)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)k->known.place[0].port),
                             .sin_addr = {k->known.place[0].address}};
    hang_up(&k->fd[i]);
    k->fd[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    MUST(k->fd[i] >= 0 && reach(k->fd[i], &at));
    tsri_lifeline_look(k->line, 0, -1);
    k->challenged[i] = recv(k->fd[i], &k->heard[i], sizeof k->heard[i], MSG_DONTWAIT) ==
                       (ssize_t)sizeof k->heard[i];
    k->sent[i] = false;
}

static void say(knocking *k, int i, const void *bytes, size_t n)
{
    if (k->fd[i] < 0 || n == 0)
        return;
    (void)send(k->fd[i], bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
    k->sent[i] = true;
}

static void say_anything(knocking *k, int i, input *in)
{
    size_t n = next(in);
    n = n < in->left ? n : in->left;
    say(k, i, in->at, n);
    in->at += n;
    in->left -= n;
}

/* A right answer of some rank, one bit of which may be wrong. */
static void answer(knocking *k, int i, input *in)
{
    uint8_t rank = next(in), wrong = next(in);
    tsri_answer a;
    if (!k->challenged[i])
        return;
    MUST(tsri_handshake_answer(&a, k->known.secret, &k->heard[i], rank) == TSR_OK);
    if (wrong > 0)
        ((uint8_t *)&a)[wrong % sizeof a] ^= (uint8_t)(1 << (wrong >> 5));
    else if (!k->sent[i] && rank < SIZE)
        k->proven[rank] = true;
    say(k, i, &a, sizeof a);
}

static void strangers(input *in)
{
    uint32_t loopback = htonl(INADDR_LOOPBACK);
    int64_t n = 0;
    knocking k = {.line = NULL};
    memset(k.fd, -1, sizeof k.fd);
    MUST(tsri_lifeline_listen(&k.line, SIZE, &loopback, 1, 0) == TSR_OK);
    MUST(tsri_lifeline_invite(k.line, &k.known, (int64_t)sizeof k.known, &n) == TSR_OK);
    for (int act = 0; act < ACTS && in->left > 0; act++) {
        uint8_t what = next(in);
        int i = what / 8 % STRANGERS;
        if (what % 8 == 0 || k.fd[i] < 0)
            knock(&k, i);
        else if (what % 8 < 3)
            say_anything(&k, i, in);
        else if (what % 8 < 6)
            answer(&k, i, in);
        else if (what % 8 == 6)
            hang_up(&k.fd[i]);
        else if (what == 255)
            tsri_lifeline_shut(k.line);
        tsri_lifeline_look(k.line, 0, -1);
        for (int r = 0; r < SIZE; r++)
            MUST(k.proven[r] || (!tsri_lifeline_held(k.line, r) && !tsri_lifeline_cut(k.line, r)));
        if (what == 255)
            break;
    }
    MUST(!tsri_lifeline_held(k.line, 0));
    for (int i = 0; i < STRANGERS; i++)
        hang_up(&k.fd[i]);
    tsri_lifeline_look(k.line, 0, -1);
    tsri_lifeline_close(k.line);
}

/* ---- Somebody where the coordinator should be ----------------------------------------------- */

typedef struct pretender {
    int listener;
    known known;
    input in;
    bool proven; /* to any of the tries */
} pretender;

static bool hear(int fd, void *bytes, size_t n)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    ssize_t result;
    PATIENTLY(result, poll(&p, 1, WAIT_MS));
    if (result != 1)
        return false;
    PATIENTLY(result, recv(fd, bytes, n, MSG_WAITALL));
    return result == (ssize_t)n;
}

/* The first byte of each try: is the challenge's mark right, the challenge whole, the proof right?
 */
static void pretend_once(pretender *p, int fd)
{
    uint8_t how = next(&p->in), proof[TSRI_MAC];
    tsri_challenge right, c;
    tsri_answer a;
    MUST(tsri_handshake_challenge(&right) == TSR_OK);
    fill(&p->in, &c, sizeof c);
    if (how & 1)
        memcpy(c.mark, right.mark, sizeof c.mark);
    (void)send(fd, &c, how & 2 ? sizeof c : how % sizeof c, MSG_NOSIGNAL);
    if ((how & 3) == 3 && hear(fd, &a, sizeof a)) {
        MUST(tsri_handshake_answered(&a, p->known.secret, &c));
        fill(&p->in, proof, sizeof proof);
        if (how & 4)
            MUST(tsri_handshake_proof(proof, p->known.secret, &c, &a) == TSR_OK);
        p->proven = p->proven || how & 4;
        (void)send(fd, proof, how & 8 ? sizeof proof - 1 : sizeof proof, MSG_NOSIGNAL);
    }
    (void)shutdown(fd, SHUT_WR);
}

static void *pretend(void *context)
{
    pretender *p = context;
    for (;;) {
        int fd;
        ssize_t more;
        char byte;
        PATIENTLY(fd, accept4(p->listener, NULL, NULL, SOCK_CLOEXEC));
        if (fd < 0)
            return NULL;
        pretend_once(p, fd);
        do /* until the worker has read all of it and gone */
            PATIENTLY(more, recv(fd, &byte, 1, 0));
        while (more > 0);
        hang_up(&fd);
    }
}

static void worker(input *in)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof at;
    pretender p = {.in = *in, .known = {.places = 1}};
    tsri_lifeline *line = NULL;
    pthread_t thread;
    p.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    MUST(p.listener >= 0 && bind(p.listener, (struct sockaddr *)&at, sizeof at) == 0 &&
         listen(p.listener, TRIES) == 0 &&
         getsockname(p.listener, (struct sockaddr *)&at, &length) == 0);
    p.known.place[0].address = at.sin_addr.s_addr;
    p.known.place[0].port = ntohs(at.sin_port);
    MUST(pthread_create(&thread, NULL, pretend, &p) == 0);
    MUST(tsri_lifeline_connect(&line, &p.known, (int64_t)sizeof p.known, 1) == TSR_OK);
    bool held = line;
    if (held)
        tsri_lifeline_look(line, 0, -1);
    tsri_lifeline_close(line);
    (void)shutdown(p.listener, SHUT_RDWR); /* ends the thread's wait for another */
    MUST(pthread_join(thread, NULL) == 0);
    MUST(!held || p.proven);
    (void)close(p.listener);
}

/* ---- An invitation --------------------------------------------------------------------------- */

/* Where it leads must not be the input's to choose: nobody listens there. */
static void invitation(input *in)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof at;
    uint8_t bytes[2 * sizeof(known)];
    size_t n = in->left < sizeof bytes ? in->left : sizeof bytes;
    tsri_lifeline *line = NULL;
    int taken = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    MUST(taken >= 0 && bind(taken, (struct sockaddr *)&at, sizeof at) == 0 &&
         getsockname(taken, (struct sockaddr *)&at, &length) == 0);
    fill(in, bytes, n);
    if (n == sizeof(known)) {
        known v;
        memcpy(&v, bytes, sizeof v);
        for (int i = 0; i < TSRI_LIFELINE_ADDRESSES; i++) {
            v.place[i].address = at.sin_addr.s_addr;
            v.place[i].port = ntohs(at.sin_port);
        }
        memcpy(bytes, &v, sizeof v);
    }
    tsr_status st = tsri_lifeline_connect(&line, bytes, (int64_t)n, 1);
    MUST(!line && (st == TSR_FAILURE || (st == TSR_OK && n == sizeof(known))));
    (void)close(taken);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    input in = {bytes, n};
    switch (next(&in) % SIDES) {
    case 0:
        strangers(&in);
        break;
    case 1:
        worker(&in);
        break;
    default:
        invitation(&in);
        break;
    }
    MUST(tsri_alloc_blocks() == 0);
    return 0;
}
