/* schemes.c - every training scheme the program knows, one row each. */
#include "scheme/schemes.h"

const tsri_scheme tsri_schemes[] = {
    {"dense", "the whole network, plain SGD or GD", tsri_dense_setup, tsri_dense_round,
     tsri_dense_teardown},
};

const int64_t tsri_scheme_count = (int64_t)(sizeof tsri_schemes / sizeof *tsri_schemes);
