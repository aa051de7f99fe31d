/* whole.c - the whole network of a run, in memory and in a file. See whole.h. */
#include "model/whole.h"

#include "base/alloc.h"
#include "model/model.h"
#include "scheme/rules.h"

#include <string.h>

tsr_status tsri_share_chance(double *chance, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    const tsri_scheme *scheme = tsri_scheme_of(config);
    tsri_draw draw = {.workers = tsri_config_int(config, "scheme.workers"),
                      .xi = tsri_config_real(config, "scheme.xi")};
    *chance = 1;
    if (!scheme->shares || tsri_config_is(config, "scheme.scale", "none"))
        return TSR_OK;
    TSR_TRY(tsri_scheme_draw(&draw.kind, scheme, config));
    *chance = tsri_draw_chance(&draw, 0); /* with scheme.weights: the mean over the workers */
done:
    return st;
}

tsr_status tsri_whole_create(tsri_net **out, const tsr_config *config, tsri_shape input,
                             int64_t outputs, tsri_filter_order filters)
{
    tsr_status st = TSR_OK;
    double chance;
    *out = NULL;
    TSR_TRY(tsri_share_chance(&chance, config));
    TSR_TRY(tsri_net_create(out, config, input, outputs, filters));
    tsri_net_expect(*out, chance);
done:
    return st;
}

/* ---- In a file ----------------------------------------------------------------------------- */

/* The factor that layer i of the whole has beside its weights. As a float: what is multiplied by
 * it, +-1 in shallow, comes back to the bit when it is divided by it. */
static float factor_of(const tsri_net *net, int64_t i)
{
    const tsri_layer *l = &net->layer[i];
    return l->share_scale > 0 ? (float)(l->scale / l->share_scale) : 1;
}

/* w <- w from / to, of one parameter. */
static void exchange(float *w, int64_t count, float from, float to)
{
    for (int64_t j = 0; from != to && j < count; j++)
        w[j] = (float)((double)w[j] * (double)from / (double)to);
}

tsr_status tsri_whole_plain(float **plain, const tsri_net *net, const float *w)
{
    tsr_status st = TSR_OK;
    *plain = NULL;
    for (int64_t i = 0; i < net->layers; i++) {
        const tsri_param *p = &net->param[net->layer[i].weight];
        if (factor_of(net, i) == 1)
            continue;
        if (!*plain) {
            TSR_TRY(tsri_alloc(plain, net->total, sizeof **plain));
            memcpy(*plain, w, (size_t)net->total * sizeof *w);
        }
        exchange(*plain + p->offset, p->count, factor_of(net, i), 1);
    }
done:
    return st;
}

/* The factor that the weights of this file lack: none, but in old files of our own. */
static tsr_status lacking(float *factor, const tsri_tensors *file, const char *path)
{
    tsr_status st = TSR_OK;
    const char *format = tsri_tensors_meta(file, "tessera.format");
    tsr_config *config = NULL;
    double chance = 1;
    if (format && strcmp(format, TSRI_MODEL_FORMAT_OLD) == 0) {
        TSR_TRY(tsri_model_run_file(&config, file, path));
        TSR_TRY(tsri_share_chance(&chance, config));
    }
    *factor = (float)chance;
done:
    tsr_config_destroy(config);
    return st;
}

tsr_status tsri_whole_load(tsri_store *store, const tsri_tensors *file, const char *path)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = store->net;
    tsri_opened host = {0};
    float absent;
    TSR_TRY(tsri_store_load(store, file, "", path));
    TSR_TRY(lacking(&absent, file, path));
    TSR_TRY(tsri_store_open(&host, store, TSRI_OPEN_WEIGHTS));
    for (int64_t i = 0; i < net->layers; i++)
        if (net->layer[i].share_scale > 0)
            exchange(tsri_opened_at(&host, host.w, net->layer[i].weight),
                     net->param[net->layer[i].weight].count, absent, factor_of(net, i));
    TSR_TRY(tsri_store_save(&host));
done:
    tsri_store_close(&host);
    return st;
}

tsr_status tsri_whole_load_param(tsri_store *store, int64_t p, const tsri_tensor *tensor,
                                 const char *path)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = store->net;
    tsri_opened host = {0};
    TSR_TRY(tsri_store_load_param(store, p, tensor, path));
    TSR_TRY(tsri_store_open(&host, store, TSRI_OPEN_WEIGHTS));
    for (int64_t i = 0; i < net->layers; i++)
        if (net->layer[i].share_scale > 0 && net->layer[i].weight == p)
            exchange(tsri_opened_at(&host, host.w, p), net->param[p].count, 1, factor_of(net, i));
    TSR_TRY(tsri_store_save(&host));
done:
    tsri_store_close(&host);
    return st;
}
