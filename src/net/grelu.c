/* grelu.c - gated networks (Noy, Xu, Aflalo, Zelnik-Manor, Jin) and their ReLU twins.
 *
 *     grelu       y(x) = B D_L W_L ... D_1 W_1 D_0 C x                    (equation 1)
 *                 z_0 = [C x]+,  z_k = [Psi_k z_(k-1)]+,  D_k = diag(z_k > 0)
 *     relu_twin   y(x) = B [W_L ... [W_1 [C x]+]+ ]+
 *
 * Only W_1 .. W_L are trained. The gates come from a net of their own, C and Psi, that never
 * changes: which units are on for a sample is known before the first step. D_0 C x = [C x]+, so the
 * first gate needs no bits.
 *
 *     W_k, Psi_k ~ N(0, 2/m)      C ~ N(0, 2/d_x)      B ~ N(0, 2/d_y)      (section 2.1)
 *
 * Both have the same C, W and B for the same seed. With model.gate_rank = r > 0, Psi_k = P_k Q_k
 * with P_k [m, r] ~ N(0, 1/r) and Q_k [r, m] ~ N(0, 2/m): the same variance, gates at 2 r m instead
 * of m^2 multiplications, exactly.
 *
 * Parameters: c.weight, w.K.weight, b.weight; psi.K.weight, or psi.K.p.weight and psi.K.q.weight.
 */
#include "net/grelu.h"

#include "net/models.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { GATES_STREAM = 1 << 20 }; /* of the random numbers: after those that the twin has, too */

static void last_param(tsri_net *net, tsri_role role, int64_t stream)
{
    net->param[net->params - 1].role = role;
    net->param[net->params - 1].stream = stream;
}

static const char *numbered(char name[TSRI_NAME], const char *fmt_head, int64_t k, const char *tail)
{
    (void)snprintf(name, TSRI_NAME, "%s.%lld%s", fmt_head, (long long)k, tail);
    return name;
}

/* z = [Psi_k z]+ */
static tsr_status next_gate(tsri_net *net, int *z, int axis, int64_t k, int64_t gate_rank)
{
    tsr_status st = TSR_OK;
    char name[TSRI_NAME];
    int narrow, m = (int)net->axis[axis].size;
    if (gate_rank > 0) {
        TSR_TRY(tsri_net_axis(net, &narrow, gate_rank, false, "rank.%lld", (long long)k));
        TSR_TRY(tsri_net_linear(net, z, *z, narrow, false,
                                2.0 * (double)tsri_shape_count(net->value[*z].shape) / m,
                                numbered(name, "psi", k, ".q")));
        last_param(net, TSRI_FIXED, GATES_STREAM + 2 * k);
    }
    TSR_TRY(tsri_net_linear(net, z, *z, axis, false, gate_rank > 0 ? 1.0 : 2.0,
                            numbered(name, "psi", k, gate_rank > 0 ? ".p" : "")));
    last_param(net, TSRI_FIXED, GATES_STREAM + 2 * k + 1);
    TSR_TRY(tsri_net_relu(net, z, *z, numbered(name, "psi", k, ".relu")));
done:
    return st;
}

static tsr_status build(tsri_net *net, const tsr_config *config, const void *of)
{
    tsr_status st = TSR_OK;
    bool gated = *(const bool *)of;
    int64_t m = tsri_config_int(config, "model.width"), L = tsri_config_int(config, "model.layers");
    int64_t gate_rank = tsri_config_int(config, "model.gate_rank");
    char name[TSRI_NAME];
    int x = 0, z, axis;
    TSR_CHECK(gated || gate_rank == 0, TSR_USAGE,
              "%s: gate_rank is of the gates of a grelu: a relu_twin has none, leave it out",
              tsri_config_place(config, "model.gate_rank"));
    TSR_CHECK(gate_rank < m, TSR_USAGE, "%s: gate_rank %lld must be less than the width %lld",
              tsri_config_place(config, "model.gate_rank"), (long long)gate_rank, (long long)m);
    L = L > 0 ? L : 4; /* hidden layers, the paper's section 6.1 */
    TSR_TRY(tsri_net_axis(net, &axis, m, false, "hidden.0"));
    TSR_TRY(tsri_net_linear(net, &x, x, axis, false, 2.0, "c"));
    last_param(net, TSRI_FIXED, 0);
    TSR_TRY(tsri_net_relu(net, &x, x, "c.relu"));
    z = x;
    for (int64_t k = 1; k <= L; k++) {
        TSR_TRY(tsri_net_axis(net, &axis, m, false, "hidden.%lld", (long long)k));
        if (gated)
            TSR_TRY(next_gate(net, &z, axis, k, gate_rank));
        TSR_TRY(tsri_net_linear(net, &x, x, axis, false, 2.0, numbered(name, "w", k, "")));
        last_param(net, TSRI_TRAINED, k);
        TSR_TRY(gated ? tsri_net_gate(net, &x, x, z, numbered(name, "w", k, ".gate"))
                      : tsri_net_relu(net, &x, x, numbered(name, "w", k, ".relu")));
    }
    TSR_TRY(tsri_net_axis(net, &axis, net->outputs, false, "output"));
    TSR_TRY(tsri_net_linear(net, &x, x, axis, false, 2.0 * (double)m / (double)net->outputs, "b"));
    last_param(net, TSRI_FIXED, L + 1);
done:
    return st;
}

int64_t tsri_grelu_layers(const tsri_net *net)
{
    char name[TSRI_NAME];
    int64_t L = 0;
    while (tsri_net_param(net, numbered(name, "w", L + 1, ".weight")) >= 0)
        L++;
    return L;
}

static tsr_status copy_tensor(tsri_store *store, const char *to, const tsri_tensors *file,
                              const char *from, const char *path)
{
    tsr_status st = TSR_OK;
    const tsri_tensor *t = tsri_tensors_find(file, from);
    int64_t p = tsri_net_param(store->net, to);
    assert(p >= 0);
    const tsri_param *w = &store->net->param[p];
    TSR_CHECK(t && t->dtype == TSRI_F32 && t->dims == 2 && t->shape[0] == w->shape[0] &&
                  t->shape[1] == w->shape[1],
              TSR_BAD_FILE,
              "%s: tensor %s [%lld, %lld] of floats is missing: from_relu needs a relu_twin of the "
              "same width, layers and data",
              path, from, (long long)w->shape[0], (long long)w->shape[1]);
    TSR_TRY(store->heap->in(tsri_store_at(store, store->w, p), t->data,
                            w->count * (int64_t)sizeof(float)));
done:
    return st;
}

tsr_status tsri_grelu_from_relu(tsri_store *store, const char *path)
{
    tsr_status st = TSR_OK;
    tsri_tensors *file = NULL;
    TSR_TRY(tsri_tensors_read(&file, path));
    TSR_TRY(tsri_grelu_from_tensors(store, file, path));
done:
    tsri_tensors_destroy(file);
    return st;
}

tsr_status tsri_grelu_from_tensors(tsri_store *store, const tsri_tensors *file, const char *path)
{
    tsr_status st = TSR_OK;
    char from[TSRI_NAME], to[TSRI_NAME];
    TSR_CHECK(
        tsri_net_param(store->net, "psi.1.weight") >= 0, TSR_USAGE,
        "from_relu sets Psi to the weights of a ReLU net: use model: grelu with gate_rank: 0");
    TSR_CHECK(!tsri_tensors_find(file, "psi.1.weight") &&
                  !tsri_tensors_find(file, "psi.1.p.weight"),
              TSR_BAD_FILE,
              "%s holds a gated net, whose W are not gates: from_relu needs a relu_twin", path);
    TSR_TRY(copy_tensor(store, "c.weight", file, "c.weight", path));
    TSR_TRY(copy_tensor(store, "b.weight", file, "b.weight", path));
    for (int64_t k = 1; k <= tsri_grelu_layers(store->net); k++) {
        numbered(from, "w", k, ".weight");
        TSR_TRY(copy_tensor(store, from, file, from, path));
        TSR_TRY(copy_tensor(store, numbered(to, "psi", k, ".weight"), file, from, path));
    }
done:
    return st;
}

static const bool with_gates = true, without = false;

const tsri_model tsri_model_grelu = {
    .name = "grelu",
    .help = "deep network with fixed gates, first and last layer fixed (GReLU)",
    .keys = "width layers gate_rank from_relu",
    .build = build,
    .of = &with_gates,
    .normalize = "unit",
    .loss = &tsri_loss_half_squares,
    .gated = true,
    .twin = "relu_twin",
    .paper = "grelu",
};

const tsri_model tsri_model_relu_twin = {
    .name = "relu_twin",
    .help = "grelu with ReLUs in place of the gates, the same weights at first",
    .keys = "width layers",
    .build = build,
    .of = &without,
    .normalize = "unit",
    .loss = &tsri_loss_half_squares,
    .twin = "grelu",
    .paper = "grelu",
};
