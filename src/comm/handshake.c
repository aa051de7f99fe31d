/* handshake.c - two ends of a connection prove to each other that they know a secret. */
#include "comm/handshake.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

_Static_assert(sizeof(tsri_challenge) == 24 && sizeof(tsri_answer) == 52, "no padding travels");

static const char MARK[8] = {'t', 's', 'r', 'l', 'i', 'n', 'e', '2'};

tsr_status tsri_handshake_random(void *bytes, size_t n)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(getrandom(bytes, n, 0) == (ssize_t)n, TSR_RESOURCES,
              "the system has no random bytes: %s", strerror(errno));
done:
    return st;
}

/* Whose proof it is stands in it. */
static tsr_status prove(uint8_t mac[TSRI_MAC], const uint8_t secret[TSRI_SECRET], const char *whose,
                        const tsri_challenge *c, const tsri_answer *a)
{
    struct {
        char whose[12];
        uint32_t rank;
        uint8_t c[TSRI_NONCE], w[TSRI_NONCE];
    } all = {.rank = a->rank};
    _Static_assert(sizeof all == 48, "no padding is signed");
    memcpy(all.whose, whose, strlen(whose));
    memcpy(all.c, c->nonce, sizeof all.c);
    memcpy(all.w, a->nonce, sizeof all.w);
    return tsri_hmac(mac, secret, TSRI_SECRET, &all, (int64_t)sizeof all);
}

static bool check(const uint8_t mac[TSRI_MAC], const uint8_t secret[TSRI_SECRET], const char *whose,
                  const tsri_challenge *c, const tsri_answer *a)
{
    uint8_t right[TSRI_MAC];
    return prove(right, secret, whose, c, a) == TSR_OK && tsri_equal_secret(right, mac, TSRI_MAC);
}

tsr_status tsri_handshake_challenge(tsri_challenge *out)
{
    memcpy(out->mark, MARK, sizeof MARK);
    return tsri_handshake_random(out->nonce, sizeof out->nonce);
}

tsr_status tsri_handshake_answer(tsri_answer *out, const uint8_t secret[TSRI_SECRET],
                                 const tsri_challenge *challenge, uint32_t rank)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(memcmp(challenge->mark, MARK, sizeof MARK) == 0, TSR_FAILURE,
              "what answered is not a coordinator of this version");
    *out = (tsri_answer){.rank = rank};
    TSR_TRY(tsri_handshake_random(out->nonce, sizeof out->nonce));
    TSR_TRY(prove(out->mac, secret, "worker", challenge, out));
done:
    return st;
}

bool tsri_handshake_answered(const tsri_answer *answer, const uint8_t secret[TSRI_SECRET],
                             const tsri_challenge *challenge)
{
    return check(answer->mac, secret, "worker", challenge, answer);
}

tsr_status tsri_handshake_proof(uint8_t proof[TSRI_MAC], const uint8_t secret[TSRI_SECRET],
                                const tsri_challenge *challenge, const tsri_answer *answer)
{
    return prove(proof, secret, "coordinator", challenge, answer);
}

bool tsri_handshake_proven(const uint8_t proof[TSRI_MAC], const uint8_t secret[TSRI_SECRET],
                           const tsri_challenge *challenge, const tsri_answer *answer)
{
    return check(proof, secret, "coordinator", challenge, answer);
}
