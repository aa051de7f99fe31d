/* utf8.h - valid UTF-8, character by character: for every reader and writer of strings. */
#ifndef TSRI_UTF8_H
#define TSRI_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of the character that begins here (1 to 4), or 0 when the n >= 1 bytes do not begin
 * with a valid one: stray or missing continuation, overlong form, surrogate, above U+10FFFF. */
size_t tsri_utf8_length(const char *bytes, size_t n);

/* Writes the character and returns its bytes (1 to 4). `code` is a valid code point. */
size_t tsri_utf8_encode(char out[4], uint32_t code);

#endif
