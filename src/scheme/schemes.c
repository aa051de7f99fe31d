/* schemes.c - every training scheme the program knows, one row each. */
#include "scheme/schemes.h"

#include "scheme/team.h"

const tsri_scheme tsri_schemes[] = {
    {"dense", "the whole network, plain SGD or GD", false, false, tsri_dense_setup,
     tsri_dense_round, tsri_dense_teardown},
    {"dropout", "a new random part of the units in every step", false, false, tsri_dropout_setup,
     tsri_dropout_round, tsri_team_destroy},
    {"multisample", "several random parts in every step, averaged", true, false, tsri_dropout_setup,
     tsri_dropout_round, tsri_team_destroy},
    {"masked", "random shares that take local steps (masked neurons, Algorithm 1)", true, true,
     tsri_masked_setup, tsri_masked_round, tsri_team_destroy},
    {"ist", "disjoint shares that take local steps (independent subnet training)", true, true,
     tsri_ist_setup, tsri_ist_round, tsri_team_destroy},
    {"loft", "blocks cut between their convolutions, local steps (LoFT, Algorithm 1)", true, true,
     tsri_loft_setup, tsri_loft_round, tsri_team_destroy},
    {"local_sgd", "every worker has the whole, local steps, then the mean", true, true,
     tsri_local_sgd_setup, tsri_local_sgd_round, tsri_team_destroy},
    {"gpipe", "cut by depth into stages, micro-batches streamed through (GPipe)", true, false,
     tsri_gpipe_setup, tsri_gpipe_round, tsri_gpipe_teardown},
};

const int64_t tsri_scheme_count = (int64_t)(sizeof tsri_schemes / sizeof *tsri_schemes);
