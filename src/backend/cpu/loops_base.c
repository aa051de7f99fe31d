/* loops_base.c - the loops of loops_template.h on four floats, for any processor. */
#include "backend/cpu/loops.h"

#define WIDTH        4
#define ROWS         4
#define SKIP_VECTORS 2
#define SKIP_ITEMS   256
#define SKIP_LINE    16
#define SKIP_UNIT    8
#define SKIP_BLOCKS  1
#define NAME         "base"
#define TABLE        tsri_loops_base
#include "backend/cpu/loops_template.h"
