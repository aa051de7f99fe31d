/* bench_public.c - the time of a training step as a document. */
#include "base/memory.h"
#include "base/sized.h"
#include "io/config.h"
#include "io/json.h"
#include "train/bench.h"

#include <math.h>

static void times_json(tsri_json *w, const char *key, tsri_times t)
{
    tsri_json_key(w, key);
    tsri_json_open(w, '{');
    tsri_json_put_real(w, "min_ms", t.least * 1e3);
    tsri_json_put_real(w, "median_ms", t.median * 1e3);
    tsri_json_close(w, '}');
}

static void layer_json(tsri_json *w, const tsri_bench_row *r)
{
    tsri_json_open(w, '{');
    tsri_json_put_text(w, "name", r->name);
    tsri_json_put_text(w, "kind", r->kind);
    tsri_json_put_text(w, "kernel", r->kernel);
    tsri_json_put_real(w, "flops", r->flops);
    tsri_json_put_real(w, "backward_flops", r->backward_flops);
    tsri_json_put_real(w, "bytes", r->bytes);
    tsri_json_put_real(w, "backward_bytes", r->backward_bytes);
    times_json(w, "forward", r->forward);
    times_json(w, "backward", r->backward);
    tsri_json_close(w, '}');
}

static void bench_json(tsri_json *w, const tsri_bench *b)
{
    tsri_json_begin(w);
    times_json(w, "step", b->step);
    times_json(w, "data", b->data);
    times_json(w, "loss", b->loss);
    times_json(w, "update", b->update);
    tsri_times none = {(double)NAN, (double)NAN};
    bool timed = b->round_samples > 0;
    times_json(w, "round", timed ? b->round : none);
    tsri_json_put_real(w, "round_samples", timed ? b->round_samples : (double)NAN);
    tsri_json_put_real(w, "flops_step", b->flops);
    tsri_json_put_real(w, "gflops", b->flops / b->step.least / 1e9);
    tsri_json_put_real(w, "gemm_gflops", b->gemm_rate / 1e9);
    tsri_json_put_int(w, "gemm_size", b->gemm_size);
    tsri_json_put_real(w, "copy_gbs", b->copy_rate > 0 ? b->copy_rate / 1e9 : (double)NAN);
    tsri_json_put_real(w, "conv_part", b->conv_part);
    tsri_json_put_int(w, "params", b->params);
    tsri_json_put_int(w, "batch", b->batch);
    tsri_json_put_int(w, "threads", b->threads);
    tsri_json_put_text(w, "backend", b->backend);
    tsri_json_put_text(w, "chip", b->chip ? b->chip : "");
    tsri_json_put_int(w, "plan_bytes", b->plan_bytes);
    tsri_json_put_real(w, "peak_mb", tsri_memory_peak_mb());
    tsri_json_key(w, "layers");
    tsri_json_open(w, '[');
    for (int64_t i = 0; i < b->rows; i++)
        layer_json(w, &b->row[i]);
    tsri_json_close(w, ']');
    tsri_json_close(w, '}');
}

tsr_status tsr_bench(char **json, const tsr_config *config, int64_t repeats, bool share)
{
    tsr_status st = TSR_OK;
    tsr_config *copy = NULL;
    tsri_bench bench = {0};
    tsri_json w = {0};
    TSRI_GIVEN(json);
    *json = NULL;
    TSRI_GIVEN(config);
    TSR_CHECK(repeats >= 1, TSR_USAGE, "at least 1 step must be timed");
    TSR_TRY(tsri_config_copy(&copy, config));
    TSR_TRY(tsri_bench_run(&bench, copy, repeats, share));
    bench_json(&w, &bench);
    TSR_TRY(tsri_json_give(json, &w));
done:
    tsri_json_fini(&w);
    tsri_bench_fini(&bench);
    tsr_config_destroy(copy);
    return st;
}
