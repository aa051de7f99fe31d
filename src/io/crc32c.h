/* crc32c.h - the Castagnoli checksum that guards every tensor we write. */
#ifndef TSRI_CRC32C_H
#define TSRI_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The CRC of the bytes, continuing from `crc` (0 at the start). "123456789" gives 0xE3069283. */
uint32_t tsri_crc32c(uint32_t crc, const void *bytes, size_t n);

/* The same by tables, on any machine: what tsri_crc32c falls back to, and its oracle in tests. */
uint32_t tsri_crc32c_tables(uint32_t crc, const void *bytes, size_t n);

#endif
