/* rows.c - the table of tickets: its rows, their names, ticket.json (rows.h). */
#include "ticket/rows.h"

#include "base/alloc.h"
#include "base/number.h"
#include "ticket/best.h"
#include "ticket/target.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const kinds[] = {
    [TSRI_TICKET_PRETRAINED] = "pretrained",
    [TSRI_TICKET_WHOLE] = "whole",
    [TSRI_TICKET_DENSE] = "dense",
    [TSRI_TICKET_PRUNED] = "ticket",
    [TSRI_TICKET_RANDOM] = "random",
    [TSRI_TICKET_REINIT] = "reinit",
    [TSRI_TICKET_INIT] = "init",
};

int tsri_ticket_kind_named(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i], name) == 0)
            return (int)i;
    return -1;
}

bool tsri_tickets_folder(const char *name)
{
    for (int kind = TSRI_TICKET_WHOLE; kind <= TSRI_TICKET_INIT; kind++) {
        size_t n = strlen(kinds[kind]);
        if (strncmp(name, kinds[kind], n) == 0 && (!name[n] || name[n] == '-'))
            return true;
    }
    return false;
}

tsr_status tsri_tickets_add(tsri_ticket_row **out, tsri_tickets *t, tsri_ticket_kind kind,
                            tsri_goal goal)
{
    tsr_status st = TSR_OK;
    char number[TSRI_NUMBER_TEXT];
    bool filters = goal.measure == TSRI_BY_FILTERS;
    TSR_TRY(tsri_reserve(&t->row, &t->capacity, t->rows, sizeof *t->row));
    tsri_ticket_row *row = *out = &t->row[t->rows++];
    *row = (tsri_ticket_row){.kind = kind,
                             .measure = goal.measure,
                             .ratio = filters ? goal.value : 0,
                             .keep = filters ? (double)NAN : goal.value,
                             .reached = (double)NAN,
                             .before = (double)NAN};
    (void)tsri_shortest(number, goal.value);
    (void)snprintf(row->name, sizeof row->name, goal.value > 0 ? "%s%s%s-%s" : "%s", kinds[kind],
                   filters ? "" : "-", filters ? "" : tsri_measure_name(goal.measure), number);
done:
    return st;
}

/* In the order of the report's columns: what matters most is seen first on a phone. */
tsr_status tsri_tickets_json(tsri_json *w, const tsri_tickets *tickets)
{
    tsri_best best = tsri_tickets_best(tickets);
    tsri_json_key(w, "rows");
    tsri_json_open(w, '[');
    for (int64_t i = 0; i < tickets->rows; i++) {
        const tsri_ticket_row *r = &tickets->row[i];
        tsri_json_open(w, '{');
        tsri_json_put_text(w, "network", r->name);
        tsri_json_put_text(w, "kind", kinds[r->kind]);
        tsri_json_put_real(w, "ratio", r->ratio);
        tsri_json_put_text(w, "measure", tsri_measure_name(r->measure));
        tsri_json_put_real(w, "keep", r->keep);
        tsri_json_put_real(w, "reached", r->reached);
        tsri_json_put_int(w, "recalibrate", r->recalibrate);
        tsri_json_put_real(w, "accuracy_before", r->before);
        tsri_json_put_real(w, "accuracy", r->accuracy);
        tsri_json_put_int(w, "samples", r->samples);
        tsri_json_put_int(w, "params", r->params);
        tsri_json_put_int(w, "flops", r->flops);
        tsri_json_put_int(w, "file_bytes", r->file_bytes);
        tsri_json_put_real(w, "loss", r->loss);
        tsri_json_put_real(w, "epochs", r->epochs);
        tsri_json_put_real(w, "seconds", round(r->seconds * 1e3) / 1e3);
        tsri_json_put_int(w, "bytes_total", r->traffic);
        tsri_json_put_real(w, "ms", r->time.infer.least);
        tsri_json_put_real(w, "step_ms", r->time.step.least);
        tsri_layers_json(w, "layers", &r->layers);
        tsri_json_close(w, '}');
    }
    tsri_json_close(w, ']');
    return tsri_best_json(w, &best);
}

void tsri_tickets_fini(tsri_tickets *tickets)
{
    for (int64_t i = 0; i < tickets->rows; i++)
        tsri_layers_fini(&tickets->row[i].layers);
    tsri_free(tickets->row);
    *tickets = (tsri_tickets){0};
}
