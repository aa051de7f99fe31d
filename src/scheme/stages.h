/* stages.h - where gpipe cuts a network by depth: balanced by cost, by measured time, or as
 * named. */
#ifndef TSRI_STAGES_H
#define TSRI_STAGES_H

#include "net/plan.h"
#include "run/settings.h"

/* begin[workers + 1] = the first layer of each stage, and at the end the number of layers. `batch`:
 * samples that a stage gets at once. USAGE, with the place in the run file, when the network cannot
 * be cut so. */
tsr_status tsri_stages_choose(int64_t *begin, const tsri_settings *s, const tsri_net *net,
                              tsri_device device, int64_t batch);

#endif
