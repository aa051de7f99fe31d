/* schemes.c - every training scheme the program knows, one row each. */
#include "scheme/schemes.h"

#include "scheme/cost.h"
#include "scheme/team.h"

#include <assert.h>
#include <string.h>

#define TEAM(draw, axes, round)                                                                    \
    draw, axes, tsri_team_cost, tsri_team_create, round, tsri_team_destroy, tsri_team_assemble,    \
        tsri_team_serve, NULL

const tsri_scheme tsri_schemes[] = {
    {"dense", "the whole network, plain SGD or GD", false, false, "micro_batches", NULL, NULL,
     tsri_dense_cost, tsri_dense_setup, tsri_dense_round, tsri_dense_teardown, NULL, NULL, NULL},
    {"dropout", "a new random part of the units in every step", false, false,
     "xi axes scale wire momentum recalibrate events",
     TEAM(tsri_dropout_draw, NULL, tsri_dropout_round)},
    {"multisample", "several random parts in every step, averaged", true, false,
     "workers xi axes scale data wire momentum recalibrate events",
     TEAM(tsri_dropout_draw, NULL, tsri_dropout_round)},
    {"masked", "random shares that take local steps (masked neurons, Algorithm 1)", true, true,
     "workers local_steps draw xi weights axes scale data wire momentum recalibrate events",
     TEAM(tsri_masked_draw, NULL, tsri_masked_round)},
    {"ist", "disjoint shares that take local steps (independent subnet training)", true, true,
     "workers local_steps draw weights axes scale data wire momentum recalibrate events",
     TEAM(tsri_ist_draw, NULL, tsri_ist_round)},
    {"loft", "blocks cut between their convolutions, local steps (LoFT, Algorithm 1)", true, true,
     "workers local_steps weights axes stages strided scale data wire momentum recalibrate events",
     TEAM(tsri_loft_draw, tsri_loft_axes, tsri_loft_round)},
    {"local_sgd", "every worker has the whole, local steps, then the mean", true, true,
     "workers local_steps data wire momentum recalibrate events",
     TEAM(tsri_local_sgd_draw, NULL, tsri_local_sgd_round)},
    {"gpipe", "cut by depth into stages, micro-batches streamed through (GPipe)", true, false,
     "workers micro_batches balance cuts data wire events", NULL, NULL, tsri_gpipe_cost,
     tsri_gpipe_setup, tsri_gpipe_round, tsri_gpipe_teardown, tsri_gpipe_assemble, tsri_gpipe_serve,
     tsri_gpipe_collect},
};

const int64_t tsri_scheme_count = (int64_t)(sizeof tsri_schemes / sizeof *tsri_schemes);

const tsri_scheme *tsri_scheme_of(const tsr_config *config)
{
    const char *name = tsri_config_text(config, "scheme.name");
    int64_t i = 0;
    while (i < tsri_scheme_count && strcmp(tsri_schemes[i].name, name) != 0)
        i++;
    assert(i < tsri_scheme_count); /* the schema's choices are the table's names; a test compares */
    return &tsri_schemes[i];
}
