/* layers.c - a network before and after pruning, layer by layer. */
#include "ticket/layers.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

static double flops_of(const tsri_net *net, int64_t i)
{
    tsri_op op = tsri_net_op(net, i, 1);
    return tsri_op_flops(&op);
}

static int64_t params_of(const tsri_net *net, int64_t i)
{
    const tsri_layer *l = &net->layer[i];
    return net->param[l->weight].count + (l->bias >= 0 ? net->param[l->bias].count : 0);
}

static bool shown(const tsri_net *net, int64_t i)
{
    const tsri_layer *l = &net->layer[i];
    return l->weight >= 0 && l->kind != TSRI_NORM;
}

static void shape_text(char *text, size_t room, const tsri_net *net, int64_t layer)
{
    const tsri_param *p = &net->param[net->layer[layer].weight];
    int used = 0;
    for (int d = 0; d < p->dims; d++)
        used += snprintf(text + used, room - (size_t)used, d ? "x%lld" : "%lld",
                         (long long)p->shape[d]);
}

tsr_status tsri_layers_compare(tsri_layer_changes *c, const tsri_net *before, const tsri_net *after)
{
    tsr_status st = TSR_OK;
    *c = (tsri_layer_changes){0};
    TSR_TRY(tsri_alloc(&c->row, before->layers, sizeof *c->row));
    for (int64_t i = 0; i < before->layers; i++) {
        if (!shown(before, i))
            continue;
        tsri_layer_change *r = &c->row[c->rows++];
        *r = (tsri_layer_change){.params = {params_of(before, i), params_of(after, i)},
                                 .flops = {flops_of(before, i), flops_of(after, i)},
                                 .count = 1};
        (void)snprintf(r->name, sizeof r->name, "%s", before->layer[i].name);
        shape_text(r->before, sizeof r->before, before, i);
        shape_text(r->after, sizeof r->after, after, i);
    }
done:
    return st;
}

void tsri_layers_fini(tsri_layer_changes *c)
{
    tsri_free(c->row);
    *c = (tsri_layer_changes){0};
}

static void add(tsri_layer_change *to, const tsri_layer_change *r)
{
    for (int k = 0; k < 2; k++) {
        to->params[k] += r->params[k];
        to->flops[k] += r->flops[k];
    }
    to->count += r->count;
    (void)snprintf(to->before, sizeof to->before, "%lld layers", (long long)to->count);
    (void)snprintf(to->after, sizeof to->after, "%s", to->before);
}

void tsri_layers_by_stage(tsri_layer_changes *c)
{
    int64_t rows = 0;
    for (int64_t i = 0; i < c->rows; i++) {
        tsri_layer_change r = c->row[i];
        r.name[strcspn(r.name, ".")] = '\0';
        if (rows > 0 && strcmp(c->row[rows - 1].name, r.name) == 0)
            add(&c->row[rows - 1], &r);
        else
            c->row[rows++] = r;
    }
    c->rows = rows;
}

void tsri_layers_json(tsri_json *w, const char *key, const tsri_layer_changes *c)
{
    tsri_json_key(w, key);
    tsri_json_open(w, '[');
    for (int64_t i = 0; i < c->rows; i++) {
        const tsri_layer_change *r = &c->row[i];
        tsri_json_open(w, '{');
        tsri_json_put_text(w, "name", r->name);
        tsri_json_put_text(w, "shape_before", r->before);
        tsri_json_put_text(w, "shape_after", r->after);
        tsri_json_put_int(w, "params_before", r->params[0]);
        tsri_json_put_int(w, "params_after", r->params[1]);
        tsri_json_put_int(w, "flops_before", (int64_t)r->flops[0]);
        tsri_json_put_int(w, "flops_after", (int64_t)r->flops[1]);
        tsri_json_close(w, '}');
    }
    tsri_json_close(w, ']');
}
