/* loops_avx2.c - the loops of loops_template.h on eight floats, with fused multiply-adds. */
#include "backend/cpu/loops.h"

#define WIDTH      8
#define ROWS       6   /* 12 sums, two vectors of b, one broadcast: 15 of 16 registers */
#define SKIP_ITEMS 208 /* 26 KB of panel in 32 KB of cache */
#define NAME       "avx2"
#define TABLE      tsri_loops_avx2
#include "backend/cpu/loops_template.h"
