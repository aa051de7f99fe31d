/* gate_table.c - gates computed once, and handed to a plan. */
#include "net/gate_table.h"

#include "base/alloc.h"
#include "data/loader.h"
#include "net/plan_parts.h"

#include <string.h>

enum { BATCH = 256 };

bool tsri_net_gated(const tsri_net *net)
{
    for (int64_t i = 0; i < net->layers; i++)
        if (net->layer[i].kind == TSRI_GATE)
            return true;
    return false;
}

int64_t tsri_gate_table_bytes(const tsri_net *net, int64_t n)
{
    int64_t words = 0;
    for (int64_t i = 0; i < net->layers; i++)
        if (net->layer[i].kind == TSRI_GATE)
            words += (tsri_shape_count(net->value[net->layer[i].out].shape) + 63) / 64;
    return n * words * (int64_t)sizeof(uint64_t);
}

static bool has_gate(const tsri_op *op)
{
    return op->kind == TSRI_GATE || op->gate;
}

/* Rows for every gated value of the plan, in the order of the layers. */
static tsr_status make_room(tsri_gate_table *t, const tsri_plan *plan, int64_t n)
{
    tsr_status st = TSR_OK;
    t->n = n;
    TSR_TRY(tsri_alloc(&t->words, plan->count, sizeof *t->words));
    TSR_TRY(tsri_alloc(&t->word, plan->count, sizeof *t->word));
    for (int64_t k = 0; k < plan->count; k++) {
        const tsri_op *op = &plan->step[k].op;
        if (!has_gate(op))
            continue;
        t->words[t->layers] = op->gates->words;
        TSR_TRY(tsri_alloc(&t->word[t->layers++], n * op->gates->words, sizeof **t->word));
    }
done:
    return st;
}

/* The gates of the last forward into rows from `first`. */
static tsr_status keep_rows(tsri_gate_table *t, const tsri_plan *plan, int64_t first, int64_t n)
{
    tsr_status st = TSR_OK;
    for (int64_t k = 0, l = 0; k < plan->count; k++) {
        const tsri_op *op = &plan->step[k].op;
        if (!has_gate(op))
            continue;
        TSR_TRY(plan->device.backend->heap->out(t->word[l] + first * t->words[l], op->gates->mem,
                                                n * t->words[l] * (int64_t)sizeof(uint64_t)));
        l++;
    }
done:
    return st;
}

tsr_status tsri_gate_table_create(tsri_gate_table **out, tsri_store *store, tsri_device device,
                                  const tsr_data *data, const tsri_part *part)
{
    tsr_status st = TSR_OK;
    tsri_gate_table *t = NULL;
    tsri_plan *plan = NULL;
    tsri_loader *loader = NULL;
    int64_t batch = part->n < BATCH ? part->n : BATCH;
    tsri_loader_options o = {.batch = batch, .shards = 1};
    *out = NULL;
    TSR_TRY(tsri_alloc(&t, 1, sizeof *t));
    TSR_TRY(tsri_plan_create(&plan, store, device, batch, false));
    TSR_TRY(make_room(t, plan, part->n));
    TSR_TRY(tsri_loader_create(&loader, data, part, &o));
    for (int64_t i = 0; i < tsri_loader_steps(loader); i++) {
        const tsri_batch *b = NULL;
        TSR_TRY(tsri_loader_get(loader, &b, i));
        TSR_TRY(tsri_plan_forward(plan, b->x));
        TSR_TRY(keep_rows(t, plan, i * batch, b->n));
    }
    *out = t;
    t = NULL;
done:
    tsri_loader_destroy(loader);
    tsri_plan_destroy(plan);
    tsri_gate_table_destroy(t);
    return st;
}

void tsri_gate_table_destroy(tsri_gate_table *table)
{
    if (!table)
        return;
    for (int64_t l = 0; table->word && l < table->layers; l++)
        tsri_free(table->word[l]);
    tsri_free(table->word);
    tsri_free(table->words);
    tsri_free(table);
}

/* word [n, words] = rows of the table; is it what it was? */
static bool take_rows(uint64_t *word, const tsri_gates *g, const uint64_t *from,
                      const int64_t *index)
{
    bool same = true;
    size_t bytes = (size_t)g->words * sizeof *word;
    for (int64_t i = 0; i < g->n; i++) {
        uint64_t *row = word + i * g->words;
        if (index[i] < 0) {
            for (int64_t w = 0; w < g->words; w++) {
                same = same && row[w] == 0;
                row[w] = 0;
            }
            continue;
        }
        const uint64_t *want = from + index[i] * g->words;
        if (memcmp(row, want, bytes) != 0) {
            same = false;
            memcpy(row, want, bytes);
        }
    }
    return same;
}

/* The same rows as before keep the stamp, and with it what a backend knows of the bits. */
static tsr_status give_rows(tsri_gates *g, const tsri_heap *heap, const uint64_t *from,
                            const int64_t *index)
{
    tsr_status st = TSR_OK;
    tsri_mapping mapping;
    TSR_TRY(tsri_map_open(&mapping, heap, g->mem, g->n * g->words * (int64_t)sizeof *from));
    bool same = take_rows(mapping.host, g, from, index);
    TSR_TRY(tsri_map_save(&mapping));
    g->given = true;
    g->stamp += !same || g->stamp == 0;
done:
    tsri_map_close(&mapping);
    return st;
}

tsr_status tsri_plan_use_gates(tsri_plan *plan, const tsri_gate_table *table, const int64_t *index)
{
    tsr_status st = TSR_OK;
    int64_t l = 0;
    plan->gates_given = table != NULL;
    for (int64_t k = 0; k < plan->count; k++) {
        tsri_op *op = &plan->step[k].op;
        if (!has_gate(op))
            continue;
        op->gates->given = false;
        if (table)
            TSR_TRY(give_rows(op->gates, plan->device.backend->heap, table->word[l], index));
        l++;
    }
done:
    return st;
}
