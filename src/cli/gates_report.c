/* gates_report.c - what gates of a gated net cost, for people and programs. */
#include "cli/gates_report.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>

enum { BATCH = 256 };

bool cli_wants_gates(const cli_args *args)
{
    return cli_has(args, "gates") || cli_has(args, "batch");
}

tsr_status cli_gates_use(tsri_gates_report *report, tsr_model *model, const cli_args *args)
{
    tsr_status st = TSR_OK;
    int64_t gate_rank = 0;
    *report = (tsri_gates_report){0};
    if (cli_has(args, "gates"))
        TSR_TRY(tsri_gates_parse(&gate_rank, cli_text(args, "gates")));
    TSR_TRY(tsri_gates_use(report, model, gate_rank, cli_int(args, "batch", BATCH),
                           cli_has(args, "train-set")));
done:
    return st;
}

static tsr_status add_name(tsri_text *out, const tsri_gates_report *t)
{
    return t->gate_rank > 0 ? tsri_text_add(out, "lowrank:%lld", (long long)t->gate_rank)
                            : tsri_text_add(out, "exact");
}

tsr_status cli_gates_text(tsri_text *out, const tsri_gates_report *t)
{
    tsr_status st = TSR_OK;
    const tsri_judged *j = &t->judged;
    TSR_TRY(tsri_text_add(out, "gates     "));
    TSR_TRY(add_name(out, t));
    TSR_TRY(tsri_text_add(out, ": %.2f %% are the exact ones (by layer", 100 * t->overall));
    for (int64_t l = 0; l < t->layers; l++)
        TSR_TRY(tsri_text_add(out, " %.2f", 100 * t->agreement[l]));
    TSR_TRY(tsri_text_add(out, ")\n"));
    if (j->n > 0) {
        TSR_TRY(
            tsri_text_add(out, "judged    loss %.6g (exact gates %.6g)", j->loss[1], j->loss[0]));
        if (!isnan(j->accuracy[0]))
            TSR_TRY(tsri_text_add(out, ", accuracy %.2f %% (exact gates %.2f %%)",
                                  100 * j->accuracy[1], 100 * j->accuracy[0]));
        TSR_TRY(tsri_text_add(out, "; outputs differ by %.1e on average\n", j->difference));
    }
    TSR_TRY(tsri_text_add(out,
                          "time      %.3g ms a sample in batches of %lld, %lld products skip; "
                          "exact gates %.3g ms, a dense ReLU net %.3g ms",
                          1e3 * t->seconds[1], (long long)t->batch, (long long)t->skipping,
                          1e3 * t->seconds[0], 1e3 * t->seconds[2]));
done:
    return st;
}

void cli_gates_json(tsri_json *w, const tsri_gates_report *t)
{
    tsri_json_key(w, "gates");
    tsri_json_open(w, '{');
    tsri_json_put_int(w, "rank", t->gate_rank);
    tsri_json_put_int(w, "batch", t->batch);
    tsri_json_put_real(w, "agreement", t->overall);
    tsri_json_key(w, "agreement_layers");
    tsri_json_open(w, '[');
    for (int64_t l = 0; l < t->layers; l++)
        tsri_json_real(w, t->agreement[l]);
    tsri_json_close(w, ']');
    double none = (double)NAN;
    const tsri_judged *j = &t->judged;
    tsri_json_put_real(w, "loss", j->n > 0 ? j->loss[1] : none);
    tsri_json_put_real(w, "loss_exact", j->n > 0 ? j->loss[0] : none);
    tsri_json_put_real(w, "accuracy", j->n > 0 ? j->accuracy[1] : none);
    tsri_json_put_real(w, "accuracy_exact", j->n > 0 ? j->accuracy[0] : none);
    tsri_json_put_real(w, "difference_mean", j->n > 0 ? j->difference : none);
    tsri_json_put_int(w, "skipping", t->skipping);
    tsri_json_put_real(w, "seconds_sample", t->seconds[1]);
    tsri_json_put_real(w, "seconds_sample_exact", t->seconds[0]);
    tsri_json_put_real(w, "seconds_sample_relu", t->seconds[2]);
    tsri_json_close(w, '}');
}
