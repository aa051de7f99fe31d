/* digest.h - SHA-256, HMAC-SHA-256 (two processes that share a secret prove it to each other
 * without revealing it), and the SHA-1 by which git names a file's content. */
#ifndef TSRI_DIGEST_H
#define TSRI_DIGEST_H

#include "base/status.h"

enum { TSRI_SHA256_HEX = 65, TSRI_SHA1_HEX = 41, TSRI_MAC = 32 }; /* with the NUL */

/* hex = the digest of the n bytes in lower-case hexadecimal. */
tsr_status tsri_sha256(char hex[TSRI_SHA256_HEX], const void *bytes, int64_t n);

/* hex = what `git hash-object` prints for a file of these bytes: SHA-1("blob <n>\0" + bytes). */
tsr_status tsri_git_blob(char hex[TSRI_SHA1_HEX], const void *bytes, int64_t n);

/* HMAC-SHA-256 (RFC 2104) of the n bytes under the key. */
tsr_status tsri_hmac(uint8_t mac[TSRI_MAC], const void *key, int64_t key_bytes, const void *bytes,
                     int64_t n);

/* Are the n bytes equal? Takes the same time wherever they differ, so that they cannot be guessed
 * byte by byte. */
bool tsri_equal_secret(const void *a, const void *b, size_t n);

#endif
