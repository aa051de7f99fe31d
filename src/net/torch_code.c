/* torch_code.c - a network as a module of PyTorch. See torch_code.h.
 *
 * Values get variables x0, x1, ...; one that is not read any more gives its own to the next, so
 * that PyTorch frees what is not needed, and a residual network has but two.
 */
#include "net/torch_code.h"

#include "base/alloc.h"
#include "base/number.h"
#include "net/readers.h"

#include <stdio.h>
#include <string.h>

/* ---- Which networks ------------------------------------------------------------------------- */

/* Is the parameter called as the layer's module would call it? */
static bool named(const tsri_net *net, const tsri_layer *l, int param, const char *last)
{
    char name[2 * TSRI_NAME];
    (void)snprintf(name, sizeof name, "%s.%s", l->name, last);
    return param < 0 || strcmp(net->param[param].name, name) == 0;
}

const char *tsri_torch_lacks(const tsri_net *net)
{
    static _Thread_local char why[160];
    for (int64_t i = 0; i < net->layers; i++) {
        const tsri_layer *l = &net->layer[i];
        const char *what = NULL;
        if (!tsri_kind_of(l->kind)->torch || l->each)
            what = "is of a kind that has no plain module";
        else if (l->kind == TSRI_LINEAR && l->scale != 1)
            what = "has a fixed scale beside its weights";
        else if (!named(net, l, l->weight, "weight") || !named(net, l, l->bias, "bias"))
            what = "has parameters with names of their own";
        if (what) {
            (void)snprintf(why, sizeof why, "layer %s %s", l->name, what);
            return why;
        }
    }
    return NULL;
}

/* ---- Variables ---------------------------------------------------------------------------- */

typedef struct variables {
    tsri_readers readers;
    int64_t *of; /* [values] its variable */
    bool *taken; /* [values] is the variable in use? */
    bool *flat;  /* [values] [n, C] and not [n, C, H, W] */
} variables;

static void variables_fini(variables *v)
{
    tsri_readers_fini(&v->readers);
    tsri_free(v->of);
    tsri_free(v->taken);
    tsri_free(v->flat);
}

static tsr_status variables_init(variables *v, const tsri_net *net)
{
    tsr_status st = TSR_OK;
    *v = (variables){0};
    TSR_TRY(tsri_readers_init(&v->readers, net));
    TSR_TRY(tsri_alloc(&v->of, net->values, sizeof *v->of));
    TSR_TRY(tsri_alloc(&v->taken, net->values, sizeof *v->taken));
    TSR_TRY(tsri_alloc(&v->flat, net->values, sizeof *v->flat));
    v->taken[0] = true;
done:
    return st;
}

/* The variable of layer i's output; those of values that it reads last are free for it. */
static int64_t next_variable(variables *v, const tsri_net *net, int64_t i)
{
    const tsri_layer *l = &net->layer[i];
    int64_t k = 0;
    if (v->readers.last[l->in] == i)
        v->taken[v->of[l->in]] = false;
    if (l->add >= 0 && v->readers.last[l->add] == i)
        v->taken[v->of[l->add]] = false;
    while (v->taken[k])
        k++;
    v->taken[k] = true;
    v->of[l->out] = k;
    return k;
}

/* ---- Modules -------------------------------------------------------------------------------- */

static tsr_status module(tsri_text *out, const tsri_net *net, const tsri_layer *l, bool flat)
{
    tsr_status st = TSR_OK;
    char eps[TSRI_NUMBER_TEXT], momentum[TSRI_NUMBER_TEXT];
    if (l->weight < 0)
        return TSR_OK;
    const int64_t *s = net->param[l->weight].shape;
    const char *bias = l->bias >= 0 ? "True" : "False";
    TSR_TRY(tsri_text_add(out, "        put(self, \"%s\", nn.", l->name));
    switch (l->kind) {
    case TSRI_CONV:
        TSR_TRY(tsri_text_add(out, "Conv2d(%lld, %lld, %lld, %lld, %lld, bias=%s))\n",
                              (long long)s[1], (long long)s[0], (long long)l->size,
                              (long long)l->stride, (long long)l->pad, bias));
        break;
    case TSRI_NORM:
        TSR_TRY(tsri_text_add(out, "BatchNorm%dd(%lld, %s, %s))\n", flat ? 1 : 2, (long long)s[0],
                              tsri_shortest(eps, l->eps), tsri_shortest(momentum, l->momentum)));
        break;
    default:
        TSR_TRY(tsri_text_add(out, "Linear(%lld, %lld, bias=%s))\n", (long long)s[1],
                              (long long)s[0], bias));
    }
done:
    return st;
}

/* self.layer1["0"]["conv1"] */
static tsr_status place(tsri_text *out, const char *name)
{
    tsr_status st = TSR_OK;
    size_t n = strcspn(name, ".");
    TSR_TRY(tsri_text_add(out, "self.%.*s", (int)n, name));
    while (name[n] == '.') {
        name += n + 1;
        n = strcspn(name, ".");
        TSR_TRY(tsri_text_add(out, "[\"%.*s\"]", (int)n, name));
    }
done:
    return st;
}

/* ---- forward -------------------------------------------------------------------------------- */

/* What a character of the kind's row stands for (tsri_kind_row.torch). */
static tsr_status add_sign(tsri_text *out, char sign, const variables *v, const tsri_layer *l)
{
    switch (sign) {
    case '#':
        return tsri_text_add(out, "x%lld", (long long)v->of[l->in]);
    case '&':
        return tsri_text_add(out, "x%lld", (long long)v->of[l->add]);
    case '%':
        return tsri_text_add(out, "%lld, %lld, %lld", (long long)l->size, (long long)l->stride,
                             (long long)l->pad);
    case '@':
        return place(out, l->name);
    default:
        return tsri_text_add(out, "%c", sign);
    }
}

static tsr_status line(tsri_text *out, variables *v, const tsri_net *net, int64_t i)
{
    tsr_status st = TSR_OK;
    const tsri_layer *l = &net->layer[i];
    TSR_TRY(tsri_text_add(out, "        x%lld = ", (long long)next_variable(v, net, i)));
    for (const char *sign = tsri_kind_of(l->kind)->torch; *sign; sign++)
        TSR_TRY(add_sign(out, *sign, v, l));
    TSR_TRY(tsri_text_add(out, "\n"));
done:
    return st;
}

static void note_flat(variables *v, const tsri_layer *l)
{
    v->flat[l->out] = l->kind == TSRI_LINEAR || l->kind == TSRI_GLOBALPOOL ||
                      l->kind == TSRI_FLATTEN || v->flat[l->in];
}

tsr_status tsri_torch_class(tsri_text *out, const tsri_net *net)
{
    tsr_status st = TSR_OK;
    variables v;
    TSR_TRY(variables_init(&v, net));
    TSR_TRY(tsri_text_add(out, "class Net(nn.Module):\n"
                               "    def __init__(self):\n"
                               "        super().__init__()\n"));
    for (int64_t i = 0; i < net->layers; i++) {
        note_flat(&v, &net->layer[i]);
        TSR_TRY(module(out, net, &net->layer[i], v.flat[net->layer[i].in]));
    }
    TSR_TRY(tsri_text_add(out, "\n    def forward(self, x0):\n"));
    for (int64_t i = 0; i < net->layers; i++)
        TSR_TRY(line(out, &v, net, i));
    TSR_TRY(tsri_text_add(out, "        return x%lld\n", (long long)v.of[net->values - 1]));
done:
    variables_fini(&v);
    return st;
}
