/* gates.c - a gated net in use. See gates.h. */
#include "convert/gates.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/number.h"
#include "data/loader.h"
#include "data/part.h"
#include "linalg/gemm64.h"
#include "linalg/lapack.h"
#include "model/model.h"
#include "model/whole.h"
#include "net/grelu.h"
#include "run/evaluate.h"
#include "run/loss_choice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

tsr_status tsri_gates_parse(int64_t *gate_rank, const char *text)
{
    tsr_status st = TSR_OK;
    static const char low[] = "lowrank:";
    *gate_rank = 0;
    if (strcmp(text, "exact") == 0)
        return TSR_OK;
    TSR_CHECK(strncmp(text, low, sizeof low - 1) == 0 &&
                  tsri_number_int(gate_rank, text + sizeof low - 1) == TSRI_NUMBER_OK &&
                  *gate_rank > 0,
              TSR_USAGE, "--gates must be exact or lowrank:R, R a whole number from 1, not %s",
              tsri_quote(text));
done:
    return st;
}

void tsri_gates_fini(tsri_gates_report *report)
{
    tsri_free(report->outputs);
    tsri_free(report->label);
    tsri_free(report->row);
    tsri_free(report->agreement);
    *report = (tsri_gates_report){0};
}

/* ---- Low rank ------------------------------------------------------------------------------ */

static int64_t param_of(const tsri_net *net, int64_t k, const char *tail)
{
    char name[TSRI_NAME];
    (void)snprintf(name, sizeof name, "psi.%lld%s.weight", (long long)k, tail);
    return tsri_net_param(net, name);
}

/* P [m, r] = U_r and Q [r, m] = U_r^T Psi, rounded; U_r are eigenvectors of Psi Psi^T. */
static tsr_status nearest(const tsri_opened *to, const tsri_opened *from, int64_t k, int64_t r,
                          tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    int64_t at = param_of(from->net, k, ""), m = from->net->param[at].shape[0];
    const float *psi = tsri_opened_at(from, from->w, at);
    float *p = tsri_opened_at(to, to->w, param_of(to->net, k, ".p"));
    float *q = tsri_opened_at(to, to->w, param_of(to->net, k, ".q"));
    double *gram = NULL, *u = NULL, *wide = NULL, *product = NULL;
    TSR_TRY(tsri_alloc(&gram, m * m, sizeof *gram));
    TSR_TRY(tsri_alloc(&u, r * m, sizeof *u));
    TSR_TRY(tsri_alloc(&wide, m * m, sizeof *wide));
    TSR_TRY(tsri_alloc(&product, r * m, sizeof *product));
    TSR_TRY(tsri_gram64(gram, psi, m, m, pool));
    TSR_TRY(tsri_eigenvectors(u, gram, m, r));
    for (int64_t i = 0; i < m * m; i++)
        wide[i] = (double)psi[i];
    tsri_gemm64 g = {.m = r, .n = m, .k = m, .a = u, .b = wide, .c = product};
    TSR_TRY(tsri_gemm64_run(&g, pool));
    for (int64_t e = 0; e < r; e++)
        for (int64_t j = 0; j < m; j++) {
            p[j * r + e] = (float)u[e * m + j];
            q[e * m + j] = (float)product[e * m + j];
        }
done:
    tsri_free(gram);
    tsri_free(u);
    tsri_free(wide);
    tsri_free(product);
    return st;
}

/* All parameters that both have. */
static void copy_common(const tsri_opened *to, const tsri_opened *from)
{
    for (int64_t p = 0; p < to->net->params; p++) {
        int64_t q = tsri_net_param(from->net, to->net->param[p].name);
        if (q >= 0)
            memcpy(tsri_opened_at(to, to->w, p), tsri_opened_at(from, from->w, q),
                   (size_t)to->net->param[p].count * sizeof(float));
    }
}

/* Net and zeroed store of the model as `config` describes it after `change`. */
static tsr_status variant(tsri_net **net, tsri_store *store, const tsri_backend *backend,
                          const tsri_net *like, const tsr_config *config, const char *const *change)
{
    tsr_status st = TSR_OK;
    tsr_config *other = NULL;
    *net = NULL;
    *store = (tsri_store){0};
    TSR_TRY(tsri_config_copy(&other, config));
    for (; *change; change++)
        TSR_TRY(tsr_config_set(other, *change));
    TSR_TRY(tsri_whole_create(net, other, like->input, like->outputs, like->filters));
    TSR_TRY(tsri_store_init(store, *net, backend, false));
done:
    tsr_config_destroy(other);
    return st;
}

tsr_status tsri_gates_lowrank(tsri_net **net, tsri_store *store, const tsri_store *from,
                              const tsr_config *config, int64_t gate_rank, tsri_device device)
{
    tsr_status st = TSR_OK;
    tsri_opened here = {0}, there = {0};
    char setting[64];
    const char *const change[] = {setting, NULL};
    *net = NULL;
    *store = (tsri_store){0};
    TSR_CHECK(param_of(from->net, 1, "") >= 0, TSR_USAGE,
              "the gates of this model are of low rank already (gate_rank %lld): use --gates exact",
              (long long)tsri_config_int(config, "model.gate_rank"));
    int64_t m = from->net->param[param_of(from->net, 1, "")].shape[0];
    TSR_CHECK(gate_rank < m, TSR_USAGE,
              "--gates lowrank:%lld: the rank must be less than the width %lld; exact is all of it",
              (long long)gate_rank, (long long)m);
    (void)snprintf(setting, sizeof setting, "model.gate_rank=%lld", (long long)gate_rank);
    TSR_TRY(variant(net, store, device.backend, from->net, config, change));
    TSR_TRY(tsri_store_open(&here, from, TSRI_OPEN_WEIGHTS));
    TSR_TRY(tsri_store_open(&there, store, TSRI_OPEN_WEIGHTS));
    copy_common(&there, &here);
    for (int64_t k = 1; k <= tsri_grelu_layers(from->net); k++)
        TSR_TRY(nearest(&there, &here, k, gate_rank, device.pool));
    TSR_TRY(tsri_store_save(&there));
done:
    tsri_store_close(&here);
    tsri_store_close(&there);
    return st;
}

/* ---- Measuring ----------------------------------------------------------------------------- */

/* The nets side by side: exact gates, those asked for (the same net when exact), a dense ReLU
 * net. */
typedef struct bench {
    tsri_model_use use;
    tsri_net *net[2]; /* low rank, ReLU */
    tsri_store store[2];
} bench;

static tsri_store *chosen(bench *b)
{
    return b->net[0] ? &b->store[0] : &b->use.store;
}

static tsr_status agree(tsri_gates_report *t, bench *b)
{
    tsr_status st = TSR_OK;
    const tsri_model_use *u = &b->use;
    tsri_gate_table *exact = NULL, *these = NULL;
    int64_t units = 0, changed = 0;
    TSR_TRY(tsri_gate_table_create(&exact, &b->use.store, u->device, u->data, u->part));
    TSR_TRY(tsri_gate_table_create(&these, chosen(b), u->device, u->data, u->part));
    TSR_TRY(tsri_alloc(&t->agreement, exact->layers, sizeof *t->agreement));
    t->layers = exact->layers;
    for (int64_t l = 0; l < exact->layers; l++) {
        char name[TSRI_NAME];
        (void)snprintf(name, sizeof name, "w.%lld.weight", (long long)l + 1);
        int64_t m = u->net->param[tsri_net_param(u->net, name)].shape[0], off = 0;
        for (int64_t w = 0; w < exact->n * exact->words[l]; w++)
            off += __builtin_popcountll(exact->word[l][w] ^ these->word[l][w]);
        t->agreement[l] = 1 - (double)off / ((double)exact->n * (double)m);
        units += exact->n * m;
        changed += off;
    }
    t->overall = 1 - (double)changed / (double)units;
done:
    tsri_gate_table_destroy(exact);
    tsri_gate_table_destroy(these);
    return st;
}

enum { REPEATS = 5, TIMED_BATCHES = 8 };

static int64_t skipping_ops(const tsri_plan *plan)
{
    int64_t count = 0;
    for (int64_t k = 0; k < tsri_plan_ops(plan); k++)
        count += tsri_plan_op(plan, k, NULL)->skipped;
    return count;
}

/* Least seconds of a sample over repetitions in turn; the first pass is not counted. */
static tsr_status time_all(tsri_gates_report *t, bench *b)
{
    tsr_status st = TSR_OK;
    tsri_model_use *u = &b->use;
    tsri_store *store[3] = {&u->store, chosen(b), &b->store[1]};
    tsri_plan *plan[3] = {NULL, NULL, NULL};
    tsri_loader *loader = NULL;
    const tsri_batch *batch = NULL;
    tsri_loader_options o = {.batch = t->batch, .shards = 1};
    TSR_TRY(tsri_loader_create(&loader, u->data, u->part, &o));
    int64_t steps = tsri_loader_steps(loader);
    steps = steps < TIMED_BATCHES ? steps : TIMED_BATCHES;
    for (int i = 0; i < 3; i++) {
        TSR_TRY(tsri_plan_create(&plan[i], store[i], u->device, t->batch, false));
        t->seconds[i] = INFINITY;
    }
    for (int r = 0; r <= REPEATS; r++)
        for (int64_t s = 0; s < steps; s++) {
            TSR_TRY(tsri_loader_get(loader, &batch, s));
            for (int i = 0; i < 3; i++) {
                double start = tsri_clock();
                TSR_TRY(tsri_plan_forward(plan[i], batch->x));
                double took = (tsri_clock() - start) / (double)t->batch;
                t->seconds[i] = r > 0 ? fmin(t->seconds[i], took) : t->seconds[i];
            }
        }
    t->skipping = skipping_ops(plan[1]);
done:
    for (int i = 0; i < 3; i++)
        tsri_plan_destroy(plan[i]);
    tsri_loader_destroy(loader);
    return st;
}

static tsr_status judge(tsri_gates_report *t, bench *b, const tsr_model *model)
{
    tsr_status st = TSR_OK;
    tsri_model_use *u = &b->use;
    tsri_judge_on on = {u->device, u->data, 0};
    bool known = tsri_choose_loss(&on.loss, model->config, u->data) == TSR_OK &&
                 tsri_outputs_wanted(model->config, on.loss, u->data) == model->outputs;
    if (known)
        TSR_TRY(tsri_judge_pair(&t->judged, &u->store, chosen(b), &on, u->part));
done:
    return st;
}

static tsr_status answer(tsri_gates_report *t, bench *b, const tsr_model *model)
{
    tsr_status st = TSR_OK;
    const tsri_model_use *u = &b->use;
    t->n = u->part->n;
    t->width = model->outputs;
    t->batch = t->batch < t->n ? t->batch : t->n;
    TSR_TRY(tsri_outputs_in(&t->outputs, chosen(b), u->device, u->data, u->part, t->batch));
    if (u->part->label) {
        TSR_TRY(tsri_alloc(&t->label, t->n, sizeof *t->label));
        memcpy(t->label, u->part->label, (size_t)t->n * sizeof *t->label);
    }
    TSR_TRY(tsri_alloc_raw(&t->row, t->n, sizeof *t->row));
    for (int64_t i = 0; i < t->n; i++)
        t->row[i] = tsri_part_row(u->part, i);
    for (int64_t i = 0; !t->label && i < t->n * t->width; i++)
        t->outputs[i] = tsri_scaling_original(&model->scaling, t->outputs[i]);
done:
    return st;
}

tsr_status tsri_gates_use(tsri_gates_report *report, tsr_model *model, int64_t gate_rank,
                          int64_t batch, bool on_training_set)
{
    tsr_status st = TSR_OK;
    bench b = {0};
    char twin[2 * TSRI_NAME];
    const char *const dense[] = {twin, "model.gate_rank=0", "skip=off", NULL};
    tsri_opened here = {0}, there = {0};
    *report = (tsri_gates_report){.gate_rank = gate_rank, .batch = batch};
    TSR_CHECK(tsri_net_gated(model->net), TSR_USAGE,
              "%s holds a %s: --gates and --batch are for gated nets (model: grelu)", model->path,
              tsri_config_text(model->config, "model.name"));
    (void)snprintf(twin, sizeof twin, "model.name=%s", tsri_model_of(model->config)->twin);
    tsri_model_asked asked = {.on_training_set = on_training_set};
    TSR_TRY(tsri_model_use_init(&b.use, model, &asked));
    TSR_CHECK(b.use.part->n > 0, TSR_USAGE, "there is nothing to predict: the set is empty");
    if (gate_rank > 0)
        TSR_TRY(tsri_gates_lowrank(&b.net[0], &b.store[0], &b.use.store, model->config, gate_rank,
                                   b.use.device));
    TSR_TRY(variant(&b.net[1], &b.store[1], b.use.device.backend, b.use.net, model->config, dense));
    TSR_TRY(tsri_store_open(&here, &b.use.store, TSRI_OPEN_WEIGHTS));
    TSR_TRY(tsri_store_open(&there, &b.store[1], TSRI_OPEN_WEIGHTS));
    copy_common(&there, &here);
    TSR_TRY(tsri_store_save(&there));
    TSR_TRY(answer(report, &b, model));
    TSR_TRY(agree(report, &b));
    TSR_TRY(judge(report, &b, model));
    TSR_TRY(time_all(report, &b));
done:
    tsri_store_close(&here);
    tsri_store_close(&there);
    for (int i = 0; i < 2; i++) {
        tsri_store_fini(&b.store[i]);
        tsri_net_destroy(b.net[i]);
    }
    tsri_model_use_fini(&b.use);
    return st;
}
