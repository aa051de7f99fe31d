/* loops_avx512.c - the loops of loops_template.h on sixteen floats. */
#include "backend/cpu/loops.h"

#define WIDTH      16
#define ROWS       12  /* 24 sums, two vectors of b, broadcasts from memory: 26 of 32 registers */
#define SKIP_ITEMS 160 /* 40 KB of panel in 48 KB of cache */
#define NAME       "avx512"
#define TABLE      tsri_loops_avx512
#include "backend/cpu/loops_template.h"
