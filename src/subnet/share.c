/* share.c - choices of indices, given or by score. */
#include "subnet/share.h"

#include "base/alloc.h"
#include "base/text.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t longest_axis(const tsri_net *net, int64_t *sum)
{
    int64_t longest = 0;
    *sum = 0;
    for (int64_t a = 0; a < net->axes; a++)
        if (tsri_axis_prunable(&net->axis[a])) {
            *sum += net->axis[a].size;
            longest = net->axis[a].size > longest ? net->axis[a].size : longest;
        }
    return longest;
}

static void give_memory(tsri_share *share)
{
    int64_t at = 0;
    for (int64_t a = 0; a < share->net->axes; a++) {
        if (!tsri_axis_prunable(&share->net->axis[a]))
            continue;
        share->pick[a].index = share->index + at;
        share->pick[a].place = share->place + at;
        at += share->net->axis[a].size;
    }
}

tsr_status tsri_share_init(tsri_share *share, const tsri_net *net)
{
    tsr_status st = TSR_OK;
    int64_t sum, longest = longest_axis(net, &sum);
    *share = (tsri_share){.net = net};
    TSR_CHECK(longest <= INT32_MAX, TSR_RESOURCES, "an axis of %lld units is too long to be cut",
              (long long)longest);
    TSR_TRY(tsri_alloc(&share->pick, net->axes, sizeof *share->pick));
    TSR_TRY(tsri_alloc(&share->cut, net->axes, sizeof *share->cut));
    TSR_TRY(tsri_alloc(&share->index, sum, sizeof *share->index));
    TSR_TRY(tsri_alloc(&share->place, sum, sizeof *share->place));
    TSR_TRY(tsri_alloc(&share->order, longest, sizeof *share->order));
    TSR_TRY(tsri_alloc(&share->mark, longest, sizeof *share->mark));
    give_memory(share);
    tsri_share_whole(share);
done:
    if (st != TSR_OK)
        tsri_share_fini(share);
    return st;
}

void tsri_share_fini(tsri_share *share)
{
    tsri_free(share->pick);
    tsri_free(share->cut);
    tsri_free(share->index);
    tsri_free(share->place);
    tsri_free(share->order);
    tsri_free(share->mark);
    *share = (tsri_share){0};
}

void tsri_share_settle(tsri_share *share, int64_t axis, double xi)
{
    tsri_pick *p = &share->pick[axis];
    int64_t size = share->net->axis[axis].size;
    assert(tsri_axis_prunable(&share->net->axis[axis]));
    p->count = 0;
    for (int64_t i = 0; i < size; i++) { /* without a branch, which chance would make slow */
        int32_t picked = share->mark[i] != 0;
        p->place[i] = ((int32_t)p->count + 1) * picked - 1;
        p->index[p->count] = i;
        p->count += picked;
    }
    p->whole = p->count == size;
    share->cut[axis] = !p->whole;
    p->xi = xi;
}

void tsri_share_whole(tsri_share *share)
{
    for (int64_t a = 0; a < share->net->axes; a++) {
        int64_t size = share->net->axis[a].size;
        share->pick[a].whole = true;
        share->pick[a].count = size;
        share->pick[a].xi = 1;
        if (!tsri_axis_prunable(&share->net->axis[a]))
            continue;
        memset(share->mark, 1, (size_t)size);
        tsri_share_settle(share, a, 1);
    }
}

/* ---- Given and ranked --------------------------------------------------------------------- */

static tsr_status may_cut(const tsri_share *share, int64_t axis, int64_t count)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = share->net;
    TSR_CHECK(axis >= 0 && axis < net->axes, TSR_USAGE, "the model has no axis %lld",
              (long long)axis);
    TSR_CHECK(tsri_axis_prunable(&net->axis[axis]), TSR_USAGE, "axis %s of the model cannot be cut",
              net->axis[axis].name);
    TSR_CHECK(count >= 0 && count <= net->axis[axis].size, TSR_USAGE,
              "%lld units of axis %s were asked for, it has %lld", (long long)count,
              net->axis[axis].name, (long long)net->axis[axis].size);
done:
    return st;
}

static double part(const tsri_share *share, int64_t axis, int64_t count)
{
    return (double)count / (double)share->net->axis[axis].size;
}

tsr_status tsri_share_give(tsri_share *share, int64_t axis, const int64_t *index, int64_t count)
{
    tsr_status st = TSR_OK;
    TSR_TRY(may_cut(share, axis, count));
    int64_t size = share->net->axis[axis].size;
    memset(share->mark, 0, (size_t)size);
    for (int64_t i = 0; i < count; i++) {
        TSR_CHECK(index[i] >= 0 && index[i] < size, TSR_USAGE,
                  "index %lld is not on axis %s, which has %lld units", (long long)index[i],
                  share->net->axis[axis].name, (long long)size);
        TSR_CHECK(!share->mark[index[i]], TSR_USAGE, "index %lld of axis %s is given twice",
                  (long long)index[i], share->net->axis[axis].name);
        share->mark[index[i]] = 1;
    }
    tsri_share_settle(share, axis, part(share, axis, count));
done:
    return st;
}

/* qsort has no context: the score travels with the unit. */
typedef struct ranked {
    double score;
    int64_t unit;
} ranked;

static int by_score(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

tsr_status tsri_order_by_score(int64_t *order, const double *score, int64_t n)
{
    tsr_status st = TSR_OK;
    ranked *all = NULL;
    TSR_TRY(tsri_alloc_raw(&all, n, sizeof *all));
    for (int64_t i = 0; i < n; i++) {
        assert(!isnan(score[i]));
        all[i] = (ranked){score[i], i};
    }
    qsort(all, (size_t)n, sizeof *all, by_score);
    for (int64_t i = 0; i < n; i++)
        order[i] = all[i].unit;
done:
    tsri_free(all);
    return st;
}

tsr_status tsri_share_best(tsri_share *share, int64_t axis, const double *score, int64_t count)
{
    tsr_status st = TSR_OK;
    TSR_TRY(may_cut(share, axis, count));
    int64_t size = share->net->axis[axis].size;
    TSR_TRY(tsri_order_by_score(share->order, score, size));
    memset(share->mark, 0, (size_t)size);
    for (int64_t i = 0; i < count; i++)
        share->mark[share->order[i]] = 1;
    tsri_share_settle(share, axis, part(share, axis, count));
done:
    return st;
}

/* ---- Looking ------------------------------------------------------------------------------ */

bool tsri_share_empty(const tsri_share *share)
{
    for (int64_t a = 0; a < share->net->axes; a++)
        if (share->pick[a].count == 0)
            return true;
    return false;
}

int64_t tsri_axis_find(const tsri_net *net, const char *name)
{
    for (int64_t a = 0; a < net->axes; a++)
        if (strcmp(net->axis[a].name, name) == 0)
            return a;
    return -1;
}

/* May it be cut, by shares or with `streams` by a ticket? */
static bool may_name(const tsri_axis *axis, bool streams)
{
    return axis->cuttable || (streams && axis->stream);
}

static tsr_status no_such_axis(const tsri_net *net, const char *name, bool streams)
{
    tsr_status st = TSR_OK;
    tsri_text have = {0};
    for (int64_t a = 0; a < net->axes; a++)
        if (may_name(&net->axis[a], streams))
            TSR_TRY(tsri_text_add(&have, have.length ? ", %s" : "%s", net->axis[a].name));
    st = tsri_fail(TSR_USAGE, "the model has no axis %s that can be cut: those are %s",
                   tsri_quote(name), have.length ? have.data : "none");
done:
    tsri_text_fini(&have);
    return st;
}

tsr_status tsri_axes_named(bool *cut, const tsri_net *net, const char *names, bool streams)
{
    tsr_status st = TSR_OK;
    bool all = strcmp(names, "all") == 0, inner = strcmp(names, "inner") == 0;
    for (int64_t a = 0; a < net->axes; a++)
        cut[a] = (all && may_name(&net->axis[a], streams)) || (inner && net->axis[a].cuttable);
    const char *at = all || inner ? "" : names;
    TSR_CHECK(all || inner || names[strspn(names, ", ")], TSR_USAGE,
              "no axis is named: give names between commas, or \"all\"");
    for (at += strspn(at, ", "); *at; at += strspn(at, ", ")) {
        char name[TSRI_NAME];
        size_t n = strcspn(at, ", ");
        (void)snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), at);
        int64_t axis = tsri_axis_find(net, name);
        if (axis < 0 || !may_name(&net->axis[axis], streams))
            TSR_TRY(no_such_axis(net, name, streams));
        cut[axis] = true;
        at += n;
    }
done:
    return st;
}
