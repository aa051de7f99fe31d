/* gate_table.h - the gates of every training sample, computed once: n x m x L bits.
 *
 * The gates of a gated net (grelu.c) depend on the sample alone, never on what is trained. With a
 * table a training step does not run the net of the gates at all:
 *
 *     TSR_TRY(tsri_gate_table_create(&table, store, backend, pool, data, part));
 *     tsri_plan_use_gates(plan, table, batch->index);          before each forward
 */
#ifndef TSRI_GATE_TABLE_H
#define TSRI_GATE_TABLE_H

#include "data/dataset.h"
#include "net/plan.h"

typedef struct tsri_gate_table {
    int64_t n, layers; /* samples; gates of the net */
    int64_t *words;    /* [layers] of a sample */
    uint64_t **word;   /* [layers][n, words] */
} tsri_gate_table;

bool tsri_net_gated(const tsri_net *net);

/* The caller destroys *out; NULL is fine there. */
tsr_status tsri_gate_table_create(tsri_gate_table **out, tsri_store *store, tsri_device device,
                                  const tsr_data *data, const tsri_part *part);
void tsri_gate_table_destroy(tsri_gate_table *table);

/* Bytes of such a table for n samples. */
int64_t tsri_gate_table_bytes(const tsri_net *net, int64_t n);

/* The next forward takes its gates from the rows index[batch] of the table (-1: all off) instead of
 * computing them; NULL as table: computes them again. */
tsr_status tsri_plan_use_gates(tsri_plan *plan, const tsri_gate_table *table, const int64_t *index);

#endif
