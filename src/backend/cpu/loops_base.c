/* loops_base.c - the loops of loops_template.h on four floats, for any processor. */
#include "backend/cpu/loops.h"

#define WIDTH      4
#define ROWS       4
#define SKIP_ITEMS 192 /* 12 KB of panel */
#define NAME       "base"
#define TABLE      tsri_loops_base
#include "backend/cpu/loops_template.h"
