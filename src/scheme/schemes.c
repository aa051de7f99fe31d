/* schemes.c - every training scheme the program knows, one row each. */
#include "scheme/schemes.h"

#include "scheme/cost.h"
#include "scheme/team.h"

#define TEAM(rules, round)                                                                         \
    rules, tsri_team_cost, tsri_team_create, round, tsri_team_destroy, tsri_team_assemble,         \
        tsri_team_serve, NULL

const tsri_scheme tsri_schemes[] = {
    {"dense", "the whole network, plain SGD or GD", false, false, NULL, tsri_dense_cost,
     tsri_dense_setup, tsri_dense_round, tsri_dense_teardown, NULL, NULL, NULL},
    {"dropout", "a new random part of the units in every step", false, false,
     TEAM(tsri_dropout_rules, tsri_dropout_round)},
    {"multisample", "several random parts in every step, averaged", true, false,
     TEAM(tsri_dropout_rules, tsri_dropout_round)},
    {"masked", "random shares that take local steps (masked neurons, Algorithm 1)", true, true,
     TEAM(tsri_masked_rules, tsri_masked_round)},
    {"ist", "disjoint shares that take local steps (independent subnet training)", true, true,
     TEAM(tsri_ist_rules, tsri_ist_round)},
    {"loft", "blocks cut between their convolutions, local steps (LoFT, Algorithm 1)", true, true,
     TEAM(tsri_loft_rules, tsri_loft_round)},
    {"local_sgd", "every worker has the whole, local steps, then the mean", true, true,
     TEAM(tsri_local_sgd_rules, tsri_local_sgd_round)},
    {"gpipe", "cut by depth into stages, micro-batches streamed through (GPipe)", true, false, NULL,
     tsri_gpipe_cost, tsri_gpipe_setup, tsri_gpipe_round, tsri_gpipe_teardown, tsri_gpipe_assemble,
     tsri_gpipe_serve, tsri_gpipe_collect},
};

const int64_t tsri_scheme_count = (int64_t)(sizeof tsri_schemes / sizeof *tsri_schemes);
