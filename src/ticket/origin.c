/* origin.c - which units of the whole network a ticket has. */
#include "ticket/origin.h"

#include "base/alloc.h"

#include <string.h>

void tsri_origin_fini(tsri_origin *origin)
{
    tsri_free(origin->unit);
    tsri_free(origin->memory);
    *origin = (tsri_origin){0};
}

/* Every axis whole, with memory for its numbers. */
static tsr_status make(tsri_origin *o, const tsri_net *net)
{
    tsr_status st = TSR_OK;
    int64_t sum = 0, at = 0;
    *o = (tsri_origin){.axes = net->axes};
    for (int64_t a = 0; a < net->axes; a++)
        sum += net->axis[a].size;
    TSR_TRY(tsri_alloc(&o->unit, net->axes, sizeof *o->unit));
    TSR_TRY(tsri_alloc(&o->memory, sum, sizeof *o->memory));
    for (int64_t a = 0; a < net->axes; a++) {
        o->unit[a] = o->memory + at;
        for (int64_t i = 0; i < net->axis[a].size; i++)
            o->unit[a][i] = i;
        at += net->axis[a].size;
    }
done:
    return st;
}

/* Ascending numbers below the axis's full size, one for each unit? */
static bool read_axis(int64_t *unit, const tsri_axis *axis, const tsri_json_value *list)
{
    if (!tsri_json_is_array(list) || tsri_json_length(list) != axis->size)
        return false;
    for (int64_t i = 0; i < axis->size; i++)
        if (!tsri_json_as_int(tsri_json_at(list, i), &unit[i]) || unit[i] >= axis->full ||
            unit[i] < (i ? unit[i - 1] + 1 : 0))
            return false;
    return true;
}

tsr_status tsri_origin_read(tsri_origin *origin, const tsri_net *net, const char *ticket,
                            const char *path)
{
    tsr_status st = TSR_OK;
    tsri_json_value *root = NULL;
    TSR_TRY(make(origin, net));
    if (!ticket)
        goto done;
    TSR_TRY(tsri_json_parse(&root, ticket, (int64_t)strlen(ticket), path));
    const tsri_json_value *kept = tsri_json_get(root, "kept");
    TSR_CHECK(tsri_json_is_object(kept), TSR_BAD_FILE,
              "%s: tessera.ticket does not say which units were kept", path);
    for (int64_t a = 0; a < net->axes; a++) {
        const tsri_json_value *list = tsri_json_get(kept, net->axis[a].name);
        TSR_CHECK(!list || read_axis(origin->unit[a], &net->axis[a], list), TSR_BAD_FILE,
                  "%s: tessera.ticket does not name the %lld units of axis %s: ascending numbers "
                  "below %lld",
                  path, (long long)net->axis[a].size, net->axis[a].name,
                  (long long)net->axis[a].full);
    }
done:
    tsri_json_destroy(root);
    if (st != TSR_OK)
        tsri_origin_fini(origin);
    return st;
}

void tsri_origin_write(tsri_json *w, const tsri_origin *origin, const tsri_share *share)
{
    const tsri_net *net = share->net;
    tsri_json_key(w, "kept");
    tsri_json_open(w, '{');
    for (int64_t a = 0; a < net->axes; a++) {
        const tsri_pick *pick = &share->pick[a];
        if (pick->count == net->axis[a].full)
            continue;
        tsri_json_key(w, net->axis[a].name);
        tsri_json_open(w, '[');
        for (int64_t i = 0; i < pick->count; i++)
            tsri_json_int(w, origin->unit[a][pick->index[i]]);
        tsri_json_close(w, ']');
    }
    tsri_json_close(w, '}');
}
