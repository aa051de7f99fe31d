/* reproductions.c - the lists of all papers, in the order of `tessera reproduce --list`. */
#include "reproduce/reproductions.h"

const tsri_reproduction *const tsri_reproductions[] = {
    tsri_reproduce_masked,   tsri_reproduce_loft, tsri_reproduce_grelu,
    tsri_reproduce_deeprelu, tsri_reproduce_rnn,  NULL,
};
