/* rules.h - how a scheme draws its shares: all that follows from the run file and the network,
 * before the first round, without data or weights.
 *
 *     TSR_TRY(tsri_rules_init(&rules, &run->settings, run->net));
 *     tsri_share_draw(&share, &rules.draw, run->settings.seed, round, worker);
 *     tsri_rules_fini(&rules);
 *
 * The team (team.h) trains by them; cost.c counts by them.
 */
#ifndef TSRI_RULES_H
#define TSRI_RULES_H

#include "scheme/scheme.h"
#include "subnet/draw.h"
#include "subnet/wire.h"

typedef struct tsri_rules {
    tsri_draw draw;
    bool *cut;           /* [axes] what draw.cut is */
    bool carry;          /* momentum goes with its units from round to round */
    tsri_wire wire;      /* how a share travels */
    bool rescale;        /* see subnet/cut.h */
    int64_t recalibrate; /* batches, see recalibrate.c */
} tsri_rules;

/* How a scheme with shares draws them. USAGE when it cannot be as scheme.draw says. */
tsr_status tsri_scheme_draw(tsri_draw_kind *kind, const tsri_scheme *scheme,
                            const tsr_config *config);

/* As the run's scheme and the `scheme:` section say. USAGE, with its place in the run file, when it
 * cannot be. */
tsr_status tsri_rules_init(tsri_rules *rules, const tsri_settings *s, const tsri_net *net);
void tsri_rules_fini(tsri_rules *rules);

/* cut[a] for every axis: those that tickets lose units on, and whose rankings are followed. They
 * are `names` as tsri_axes_named has them, or where that is NULL ticket.axes. "paper", or nothing
 * said, is what the run's scheme cuts; where it cuts none, or `config` is NULL, what LoFT would
 * (subnet/filters.h). USAGE for a name that is not such an axis. */
tsr_status tsri_ticket_axes(bool *cut, const tsr_config *config, const tsri_net *net,
                            const char *names);

#endif
