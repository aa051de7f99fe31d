/* digest.c - digests by OpenSSL's libcrypto, whose only home this is. */
#include "io/digest.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>

static tsr_status digest(char *hex, const EVP_MD *kind, const char *head, size_t head_size,
                         const void *bytes, int64_t n)
{
    tsr_status st = TSR_OK;
    unsigned char out[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    TSR_CHECK(context, TSR_RESOURCES, "out of memory for a digest");
    TSR_CHECK(EVP_DigestInit_ex(context, kind, NULL) == 1 &&
                  EVP_DigestUpdate(context, head, head_size) == 1 &&
                  EVP_DigestUpdate(context, bytes, (size_t)n) == 1 &&
                  EVP_DigestFinal_ex(context, out, &size) == 1,
              TSR_FAILURE, "libcrypto cannot compute %s here", EVP_MD_get0_name(kind));
    for (unsigned int i = 0; i < size; i++)
        (void)snprintf(hex + (size_t)2 * i, 3, "%02x", out[i]);
done:
    EVP_MD_CTX_free(context);
    return st;
}

tsr_status tsri_sha256(char hex[TSRI_SHA256_HEX], const void *bytes, int64_t n)
{
    return digest(hex, EVP_sha256(), "", 0, bytes, n);
}

tsr_status tsri_git_blob(char hex[TSRI_SHA1_HEX], const void *bytes, int64_t n)
{
    char head[32];
    int length = snprintf(head, sizeof head, "blob %lld", (long long)n);
    return digest(hex, EVP_sha1(), head, (size_t)length + 1, bytes, n); /* with its NUL */
}

tsr_status tsri_hmac(uint8_t mac[TSRI_MAC], const void *key, int64_t key_bytes, const void *bytes,
                     int64_t n)
{
    tsr_status st = TSR_OK;
    unsigned int size = 0;
    TSR_CHECK(key_bytes <= INT_MAX &&
                  HMAC(EVP_sha256(), key, (int)key_bytes, bytes, (size_t)n, mac, &size) != NULL &&
                  size == TSRI_MAC,
              TSR_FAILURE, "libcrypto cannot compute HMAC-SHA-256 here");
done:
    return st;
}

bool tsri_equal_secret(const void *a, const void *b, size_t n)
{
    return CRYPTO_memcmp(a, b, n) == 0;
}
