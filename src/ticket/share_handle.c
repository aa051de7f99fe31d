/* share_handle.c - shares as programs hold them: drawn, given, taken out of a model and put back.
 *
 * Numbers are moved as files have them: a small model that was trained under other settings may
 * have another factor beside its weights (model/whole.h).
 */
#include "base/alloc.h"
#include "base/sized.h"
#include "model/model.h"
#include "subnet/cut.h"
#include "subnet/draw.h"
#include "subnet/put.h"
#include "ticket/prune.h"

#include <string.h>

struct tsr_share {
    tsri_net *net;
    tsri_share share;
    int64_t *whole; /* 0, 1, 2, ...: the index of an axis that is kept whole */
};

void tsr_share_destroy(tsr_share *share)
{
    if (!share)
        return;
    tsri_free(share->whole);
    tsri_share_fini(&share->share);
    tsri_net_destroy(share->net);
    tsri_free(share);
}

/* As many as the longest axis has. */
static tsr_status count_units(int64_t **index, const tsri_net *net)
{
    tsr_status st = TSR_OK;
    int64_t most = 0;
    for (int64_t a = 0; a < net->axes; a++)
        most = net->axis[a].size > most ? net->axis[a].size : most;
    TSR_TRY(tsri_alloc(index, most, sizeof **index));
    for (int64_t u = 0; u < most; u++)
        (*index)[u] = u;
done:
    return st;
}

tsr_status tsr_share_create(tsr_share **out, const tsr_model *model)
{
    tsr_status st = TSR_OK;
    tsr_share *share = NULL;
    TSRI_GIVEN(out);
    *out = NULL;
    TSRI_GIVEN(model);
    TSR_TRY(tsri_alloc(&share, 1, sizeof *share));
    TSR_TRY(tsri_net_copy(&share->net, model->net));
    TSR_TRY(tsri_share_init(&share->share, share->net));
    TSR_TRY(count_units(&share->whole, share->net));
    *out = share;
    share = NULL;
done:
    tsr_share_destroy(share);
    return st;
}

/* ---- Axes ----------------------------------------------------------------------------------- */

int64_t tsr_share_axes(const tsr_share *share)
{
    return share ? share->net->axes : 0;
}

tsr_status tsr_share_axis(tsr_axis *axis, const tsr_share *share, int64_t i)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(share);
    TSR_CHECK(i >= 0 && i < share->net->axes, TSR_USAGE,
              "there are %lld axes, numbered from 0, and no number %lld",
              (long long)share->net->axes, (long long)i);
    const tsri_axis *a = &share->net->axis[i];
    tsr_axis mine = {.name = a->name,
                     .units = a->size,
                     .kept = share->share.pick[i].count,
                     .index =
                         share->share.pick[i].index ? share->share.pick[i].index : share->whole,
                     .cuttable = tsri_axis_prunable(a)};
    TSR_TRY(TSRI_SIZED_GIVE(axis, &mine));
done:
    return st;
}

static tsr_status find_axis(int64_t *i, const tsr_share *share, const char *name)
{
    tsr_status st = TSR_OK;
    *i = -1;
    TSRI_GIVEN(share);
    TSRI_GIVEN(name);
    *i = tsri_axis_find(share->net, name);
    tsri_near near = tsri_near_to(name);
    for (int64_t a = 0; *i < 0 && a < share->net->axes; a++)
        tsri_near_try(&near, share->net->axis[a].name);
    TSR_CHECK(*i >= 0, TSR_USAGE, "the model has no axis %s; %s", tsri_quote(name),
              tsri_near_ask(&near, "docs/models.md lists the axes"));
done:
    return st;
}

tsr_status tsr_share_give(tsr_share *share, const char *axis, const int64_t *index, int64_t count)
{
    tsr_status st = TSR_OK;
    int64_t a;
    TSR_TRY(find_axis(&a, share, axis));
    TSRI_GIVEN(index);
    TSR_CHECK(count >= 1, TSR_USAGE, "at least one unit of %s must stay", axis);
    TSR_TRY(tsri_share_give(&share->share, a, index, count));
done:
    return st;
}

tsr_status tsr_share_best(tsr_share *share, const char *axis, const double *score, int64_t count)
{
    tsr_status st = TSR_OK;
    int64_t a;
    TSR_TRY(find_axis(&a, share, axis));
    TSRI_GIVEN(score);
    for (int64_t i = 0; i < share->net->axis[a].size; i++)
        TSR_CHECK(score[i] == score[i], TSR_USAGE, "score %lld is NaN", (long long)i);
    TSR_CHECK(count >= 1 && count <= share->net->axis[a].size, TSR_USAGE,
              "1 to %lld units of %s can stay, not %lld", (long long)share->net->axis[a].size, axis,
              (long long)count);
    TSR_TRY(tsri_share_best(&share->share, a, score, count));
done:
    return st;
}

/* ---- Draws ---------------------------------------------------------------------------------- */

_Static_assert((int)TSR_DRAW_CHUNKS == (int)TSRI_DRAW_CHUNKS, "the two lists are one");

tsr_status tsr_share_draw(tsr_share *share, const tsr_draw *draw)
{
    tsr_status st = TSR_OK;
    bool *cut = NULL;
    tsr_draw d;
    TSRI_GIVEN(share);
    TSR_TRY(TSRI_SIZED_TAKE(&d, draw));
    TSR_CHECK(d.kind >= TSR_DRAW_WHOLE && d.kind <= TSR_DRAW_CHUNKS, TSR_USAGE,
              "there is no draw %d", (int)d.kind);
    TSR_CHECK(d.workers >= 1 && d.worker >= 0 && d.worker < d.workers && d.round >= 0, TSR_USAGE,
              "a draw is for worker 0 to workers - 1 of at least 1, in a round from 0 on");
    if (d.axes) {
        TSR_TRY(tsri_alloc(&cut, share->net->axes, sizeof *cut));
        TSR_TRY(tsri_axes_named(cut, share->net, d.axes, false));
    }
    tsri_draw how = {.kind = (tsri_draw_kind)d.kind,
                     .workers = d.workers,
                     .xi = d.xi,
                     .weight = d.weight,
                     .cut = cut};
    TSR_TRY(tsri_draw_check(&how, share->net));
    tsri_share_whole(&share->share);
    tsri_share_draw(&share->share, &how, d.seed, d.round, d.worker);
done:
    tsri_free(cut);
    return st;
}

/* ---- Numbers -------------------------------------------------------------------------------- */

/* The same axes and parameters: names, and sizes where a share does not cut. */
static bool same_network(const tsri_net *a, const tsri_net *b)
{
    bool same = a->axes == b->axes && a->params == b->params;
    for (int64_t i = 0; same && i < a->params; i++)
        same = strcmp(a->param[i].name, b->param[i].name) == 0;
    return same;
}

static bool same_sizes(const tsri_net *a, const tsri_net *b)
{
    bool same = same_network(a, b);
    for (int64_t i = 0; same && i < a->axes; i++)
        same = a->axis[i].size == b->axis[i].size;
    return same;
}

tsr_status tsr_share_take(tsr_model **small, const tsr_share *share, const tsr_model *whole)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(small);
    *small = NULL;
    TSRI_GIVEN(share);
    TSRI_GIVEN(whole);
    TSR_CHECK(same_sizes(share->net, whole->net), TSR_USAGE,
              "the share is of another network than the model");
    TSR_CHECK(!tsri_share_empty(&share->share), TSR_USAGE,
              "the share has no unit on some axis: nothing passes through it");
    TSR_TRY(tsri_share_model(small, whole, &share->share));
done:
    return st;
}

static tsr_status plain_store(tsri_store *store, const tsr_model *model)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_store_init_host(store, model->net));
    memcpy(tsri_store_own(store), tsri_model_plain(model),
           (size_t)model->net->total * sizeof(float));
done:
    return st;
}

static tsr_status check_pairs(const tsr_model *whole, tsr_share *const *share,
                              tsr_model *const *small, int64_t count)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(count >= 1, TSR_USAGE, "there is no share to put back");
    for (int64_t i = 0; i < count; i++) {
        TSRI_GIVEN(share[i]);
        TSRI_GIVEN(small[i]);
        TSR_CHECK(same_sizes(share[i]->net, whole->net) &&
                      same_network(small[i]->net, whole->net) &&
                      tsri_net_fits(small[i]->net, &share[i]->share),
                  TSR_USAGE, "model %lld is not that share of the whole", (long long)i);
    }
done:
    return st;
}

tsr_status tsr_share_put(tsr_model *whole, tsr_share *const *share, tsr_model *const *small,
                         int64_t count)
{
    tsr_status st = TSR_OK;
    tsri_store all = {0}, *part = NULL;
    tsri_owner *owner = NULL;
    tsri_put put = {0};
    tsri_pool *pool = NULL;
    TSRI_GIVEN(whole);
    TSRI_GIVEN(share);
    TSRI_GIVEN(small);
    TSR_TRY(check_pairs(whole, share, small, count));
    TSR_TRY(tsri_alloc(&part, count, sizeof *part));
    TSR_TRY(tsri_alloc(&owner, count, sizeof *owner));
    for (int64_t i = 0; i < count; i++) {
        TSR_TRY(plain_store(&part[i], small[i]));
        owner[i] = (tsri_owner){&share[i]->share, &part[i]};
    }
    TSR_TRY(plain_store(&all, whole));
    TSR_TRY(tsri_pool_create(&pool, 1));
    TSR_TRY(tsri_put_init(&put, whole->net));
    TSR_TRY(tsri_put_run(&put, &all, owner, count, false, tsri_device_on(all.backend, pool)));
    TSR_TRY(tsri_model_fill(whole, tsri_store_own(&all)));
done:
    tsri_put_fini(&put);
    tsri_pool_destroy(pool);
    for (int64_t i = 0; part && i < count; i++)
        tsri_store_fini(&part[i]);
    tsri_store_fini(&all);
    tsri_free(owner);
    tsri_free(part);
    return st;
}
