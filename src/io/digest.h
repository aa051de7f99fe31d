/* digest.h - the names of bytes: SHA-256, and the SHA-1 by which git names a file's content. */
#ifndef TSRI_DIGEST_H
#define TSRI_DIGEST_H

#include "base/status.h"

enum { TSRI_SHA256_HEX = 65, TSRI_SHA1_HEX = 41 }; /* with the NUL */

/* hex = the digest of the n bytes in lower-case hexadecimal. */
tsr_status tsri_sha256(char hex[TSRI_SHA256_HEX], const void *bytes, int64_t n);

/* hex = what `git hash-object` prints for a file of these bytes: SHA-1("blob <n>\0" + bytes). */
tsr_status tsri_git_blob(char hex[TSRI_SHA1_HEX], const void *bytes, int64_t n);

#endif
