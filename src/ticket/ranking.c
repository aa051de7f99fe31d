/* ranking.c - the units of a network by what they count, and who of them stays. */
#include "ticket/ranking.h"

#include "base/alloc.h"
#include "scheme/rules.h"

#include <string.h>

static int64_t rounded(int64_t count, int64_t size, const tsri_prune *how)
{
    int64_t tile = how->round_to > 1 ? how->round_to : 1;
    count = (count + tile / 2) / tile * tile;
    count = count < tile ? tile : count;
    return count < size ? count : size;
}

int64_t tsri_prune_count(int64_t size, const tsri_prune *how)
{
    return rounded(tsri_units_kept(size, how->ratio), size, how);
}

void tsri_ranking_fini(tsri_ranking *r)
{
    tsri_free(r->cut);
    tsri_free(r->first);
    tsri_free(r->count);
    tsri_free(r->seen);
    tsri_free(r->score);
    tsri_free(r->order);
    *r = (tsri_ranking){0};
}

/* Norms grow with the length of a filter: in units of their mean, layers can be compared. */
static void by_mean(double *score, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += score[i];
    for (int64_t i = 0; sum > 0 && i < n; i++)
        score[i] *= (double)n / sum;
}

/* One order of all units. */
static tsr_status rank_globally(tsri_ranking *r, const tsri_prune *how)
{
    tsr_status st = TSR_OK;
    bool raw = how->criterion == TSRI_SCORE_BN || how->criterion == TSRI_SCORE_RANDOM ||
               tsri_criterion_of_gradients(how->criterion);
    for (int64_t a = 0; !raw && a < r->net->axes; a++)
        if (r->cut[a])
            by_mean(r->score + r->first[a], r->net->axis[a].size);
    TSR_TRY(tsri_alloc(&r->order, r->total, sizeof *r->order));
    TSR_TRY(tsri_order_by_score(r->order, r->score, r->total));
done:
    return st;
}

tsr_status tsri_ranking_init(tsri_ranking *r, const tsri_store *store, const tsri_prune *how)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = store->net;
    *r = (tsri_ranking){.net = net};
    TSR_TRY(tsri_alloc(&r->cut, net->axes, sizeof *r->cut));
    TSR_TRY(tsri_alloc(&r->first, net->axes, sizeof *r->first));
    TSR_TRY(tsri_alloc(&r->count, net->axes, sizeof *r->count));
    TSR_TRY(tsri_alloc(&r->seen, net->axes, sizeof *r->seen));
    TSR_TRY(tsri_ticket_axes(r->cut, how->config, net, how->axes));
    for (int64_t a = 0; a < net->axes; a++) {
        r->first[a] = r->total;
        r->total += r->cut[a] ? net->axis[a].size : 0;
    }
    TSR_CHECK(r->total > 0, TSR_USAGE, "the model has no axis that can be cut");
    TSR_TRY(tsri_alloc(&r->score, r->total, sizeof *r->score));
    for (int64_t a = 0; a < net->axes; a++)
        if (r->cut[a])
            TSR_TRY(tsri_score(r->score + r->first[a], how->scored ? how->scored : store, a,
                               how->criterion, how->seed));
    if (how->global)
        TSR_TRY(rank_globally(r, how));
done:
    return st;
}

static int64_t axis_of(const tsri_ranking *r, int64_t unit)
{
    int64_t a = 0;
    while (!r->cut[a] || unit >= r->first[a] + r->net->axis[a].size)
        a++;
    return a;
}

/* Every axis has its least number; then the best of all, until as many are kept as the ratio says.
 */
static void count_globally(tsri_ranking *r, const tsri_prune *how)
{
    const tsri_net *net = r->net;
    int64_t kept = 0, want = tsri_units_kept(r->total, how->ratio);
    memset(r->seen, 0, (size_t)net->axes * sizeof *r->seen);
    for (int64_t a = 0; a < net->axes; a++)
        if (r->cut[a])
            kept += r->count[a] = rounded(0, net->axis[a].size, how);
    for (int64_t i = 0; i < r->total; i++) {
        int64_t a = axis_of(r, r->order[i]);
        if (++r->seen[a] > r->count[a] && kept < want) {
            r->count[a]++;
            kept++;
        }
    }
    for (int64_t a = 0; a < net->axes; a++)
        if (r->cut[a])
            r->count[a] = rounded(r->count[a], net->axis[a].size, how);
}

tsr_status tsri_ranking_keep(tsri_share *share, tsri_ranking *r, const tsri_prune *how)
{
    tsr_status st = TSR_OK;
    if (r->order)
        count_globally(r, how);
    for (int64_t a = 0; a < r->net->axes; a++)
        if (r->cut[a])
            TSR_TRY(tsri_share_best(share, a, r->score + r->first[a],
                                    r->order ? r->count[a]
                                             : tsri_prune_count(r->net->axis[a].size, how)));
done:
    return st;
}
