/* team.h - the round that all schemes with shares have in common.
 *
 *     draw     every worker's share of this round, its network and plan
 *     train    take, then local steps, all workers at once
 *     put      back into the whole; bytes, losses, trace
 *
 * What tells the schemes apart is in their rows: how the units are dealt out, how many workers
 * there are, how many steps they take. TSRI_TEAM is the rest of such a row:
 *
 *     const tsri_scheme tsri_scheme_loft = {
 *         .name = "loft", ..., .draw = TSRI_DRAW_CHUNKS, TSRI_TEAM};
 *
 * Workers live in this process, one body of the run's pool each, with threads of their own when
 * there are more threads than workers. Results do not depend on the number of threads: a worker
 * writes only what is its own, and put goes through the workers in their order.
 *
 * A share that came out empty on some axis (by chance, on a narrow one) lets no signal pass: its
 * worker sits the round out and owns nothing.
 */
#ifndef TSRI_TEAM_H
#define TSRI_TEAM_H

#include "scheme/cost.h"
#include "scheme/scheme.h"
#include "subnet/draw.h"

/* Makes the team (run->scheme_state), for shares drawn by the scheme's rules (rules.h). USAGE, with
 * its place in the run file, when it cannot be. */
tsr_status tsri_team_create(tsri_run *run);
void tsri_team_destroy(tsri_run *run);

/* One round: the three above. */
tsr_status tsri_team_round(tsri_run *run);

/* The share of the first worker in the first round, drawn but not trained, and whether its layers
 * are rescaled (cut.h): for inspection. It belongs to the team. USAGE when the run's
 * scheme has no team. */
tsr_status tsri_team_share(tsri_run *run, const tsri_share **share, bool *rescale);

/* With workers in other processes (run->process.crew): see tsri_scheme. */
tsr_status tsri_team_assemble(tsri_run *run);
tsr_status tsri_team_serve(tsri_run *run);

/* Where the team trains in the space of its samples (space.h), else NULL. */
struct tsri_space *tsri_team_space(const tsri_run *run);

/* The run's team, for code that looks at it; NULL when the scheme has no shares. The functions
 * below accept that NULL. */
typedef struct tsri_team tsri_team;
const tsri_team *tsri_team_of(const tsri_run *run);

/* The share that worker l has of the last round, with *local its numbers after its last local step;
 * NULL without a team, before the first round, or when it had nothing. */
const tsri_share *tsri_team_member(const tsri_team *team, int64_t l, const tsri_store **local);

/* How the team draws its shares; NULL without a team. */
const tsri_draw *tsri_team_draws(const tsri_team *team);

/* The papers' xi and theta: the chance of a unit to be in one share (of unequal ones the mean),
 * and in at least one of a round. Both are 1 without a team. */
typedef struct tsri_chances {
    double xi, theta;
} tsri_chances;

tsri_chances tsri_team_chances(const tsri_team *team);

#define TSRI_TEAM                                                                                  \
    .shares = true, .cost = tsri_team_cost, .setup = tsri_team_create, .round = tsri_team_round,   \
    .teardown = tsri_team_destroy, .assemble = tsri_team_assemble, .serve = tsri_team_serve

#endif
