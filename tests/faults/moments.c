/* moments.c - kill -9 at any moment: the same command is killed, given again, killed again, until
 * it has been killed so often; in the end it is let go, and its files are those of the undisturbed
 * one. */
#include "kinds.h"

#include "world.h"

#include "base/clock.h"
#include "base/rng.h"

#include <stdio.h>
#include <sys/stat.h>

/* Kills until `kills` have hit; the run that ends first is begun anew. */
static int64_t walk(const scenario *s, int64_t kills)
{
    char why[200];
    make_reference(s);
    remove_tree("disk");
    must(mkdir("disk", 0777) == 0, "cannot make disk");
    double start = tsri_clock();
    must(run_command(s, (shim_plan){0}, -1).code == 0, "%s", s->name);
    double took = tsri_clock() - start;
    tsri_rng rng = tsri_rng_stream(test_seed(), TSRI_FOR_TEST, 2, 0, 0);
    int64_t hit = 0;
    bool fresh = true;
    for (int64_t tries = 0; hit < kills && tries < 20 * kills; tries++) {
        if (fresh) {
            remove_tree("disk");
            must(mkdir("disk", 0777) == 0, "cannot make disk");
        }
        ending e = run_and_kill(s, took * tsri_rng_uniform53(&rng));
        fresh = e.code >= 0;
        hit += e.code < 0;
        if (fresh && (e.code != 0 || !is_reference(s, why, sizeof why)))
            complain("%s, after %lld kills: exit %d, %s: %s", s->name, (long long)hit, e.code, why,
                     e.said);
    }
    ending e = run_command(s, (shim_plan){0}, -1);
    if (e.code != 0 || !is_reference(s, why, sizeof why))
        complain("%s, after %lld kills: exit %d, %s: %s", s->name, (long long)hit, e.code, why,
                 e.said);
    (void)printf("%s: %lld kills in runs of %.0f ms\n", s->name, (long long)hit, took * 1000);
    (void)fflush(stdout);
    return hit;
}

void try_moments(void)
{
    int64_t total = 0, each = is_long() ? 500 / scenario_count + 1 : 3;
    const scenario *alone = only ? find_scenario(only) : NULL;
    for (int i = 0; i < scenario_count; i++)
        if (!alone || alone == &scenarios[i])
            total += walk(&scenarios[i], each);
    (void)printf("%lld kills\n", (long long)total);
}
