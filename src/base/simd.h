/* simd.h - one source, compiled for several vector units, chosen when the program loads.
 *
 * Only for loops without reductions across lanes: with -ffp-contract=off such a loop has the same
 * bits on every unit. Sanitizers start after the chooser (an ifunc) runs, so they get the plain
 * code.
 */
#ifndef TSRI_SIMD_H
#define TSRI_SIMD_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TSRI_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define TSRI_CLONES
#endif

#endif
