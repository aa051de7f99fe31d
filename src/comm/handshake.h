/* handshake.h - two ends of a connection prove to each other that they know a secret.
 *
 *     coordinator -> worker     challenge: a mark, a nonce c
 *     worker -> coordinator     answer: rank, a nonce w, HMAC(secret, "worker", rank, c, w)
 *     coordinator -> worker     proof: HMAC(secret, "coordinator", rank, c, w)
 *
 * The secret itself never travels. An old answer does not fit a new nonce, and neither side's proof
 * can be sent back to it as the other's. All sizes are fixed: nothing that arrives is a length.
 */
#ifndef TSRI_HANDSHAKE_H
#define TSRI_HANDSHAKE_H

#include "io/digest.h"

enum { TSRI_SECRET = 32, TSRI_NONCE = 16 };

typedef struct tsri_challenge {
    char mark[8];
    uint8_t nonce[TSRI_NONCE];
} tsri_challenge;

typedef struct tsri_answer {
    uint32_t rank;
    uint8_t nonce[TSRI_NONCE];
    uint8_t mac[TSRI_MAC];
} tsri_answer;

/* Unpredictable bytes from the system; a run's own random numbers all follow from its seed. */
tsr_status tsri_handshake_random(void *bytes, size_t n);

tsr_status tsri_handshake_challenge(tsri_challenge *out);

/* FAILURE when the challenge is not ours. */
tsr_status tsri_handshake_answer(tsri_answer *out, const uint8_t secret[TSRI_SECRET],
                                 const tsri_challenge *challenge, uint32_t rank);

/* Does this answer to this challenge prove that its sender knows the secret? */
bool tsri_handshake_answered(const tsri_answer *answer, const uint8_t secret[TSRI_SECRET],
                             const tsri_challenge *challenge);

/* The coordinator's own proof, and the worker's check of it. */
tsr_status tsri_handshake_proof(uint8_t proof[TSRI_MAC], const uint8_t secret[TSRI_SECRET],
                                const tsri_challenge *challenge, const tsri_answer *answer);
bool tsri_handshake_proven(const uint8_t proof[TSRI_MAC], const uint8_t secret[TSRI_SECRET],
                           const tsri_challenge *challenge, const tsri_answer *answer);

#endif
