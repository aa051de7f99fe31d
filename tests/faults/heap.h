/* heap.h - allocations that fail, and blocks that are never freed.
 *
 * heap.c takes the place of malloc, of free and of their kin for the whole process. Numbered are
 * the calls of our library and of the libraries that read files for it (jansson, libyaml,
 * libarchive, zlib, libpng, libjpeg) and of libc; OpenBLAS, MPI and what draws PNG pictures are
 * left alone: they abort without memory, by their own design (docs/reliability.md).
 *
 * Under a sanitizer, which has a malloc of its own, the library's allocator counts instead: ours
 * alone are failed, and the sanitizer looks for what was lost.
 */
#ifndef TSRI_FAULTS_HEAP_H
#define TSRI_FAULTS_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From now on call number `at` fails, and with `persistent` all later ones. Blocks taken from now
 * on are watched. */
void heap_arm(int64_t at, bool persistent);

/* Ends that. *calls = how many there were. True when one had to fail. */
bool heap_disarm(int64_t *calls);

/* Blocks taken while armed and not freed since; *who names the first one's taker. */
int64_t heap_left(char *who, size_t n);

#endif
