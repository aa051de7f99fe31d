/* base64.h - bytes as letters (RFC 4648), for pictures and digests inside texts. */
#ifndef TSRI_BASE64_H
#define TSRI_BASE64_H

#include "base/text.h"

/* Appends the bytes in base64 (RFC 4648), padded. */
tsr_status tsri_text_base64(tsri_text *out, const uint8_t *bytes, size_t n);

/* The bytes that a base64 text stands for: *out[*n], freed by tsri_free. BAD_FILE when it is
 * not base64. */
tsr_status tsri_base64_bytes(uint8_t **out, int64_t *n, const char *text);

#endif
