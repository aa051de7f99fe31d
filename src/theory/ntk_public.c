/* ntk_public.c - tangent kernels as programs see them: the matrix alone, or with its spectrum and
 * its times as a document. */
#include "base/alloc.h"
#include "base/memory.h"
#include "base/sized.h"
#include "io/json.h"
#include "linalg/openblas.h"
#include "model/model.h"
#include "theory/ntk.h"
#include "theory/spectrum.h"

#include <math.h>
#include <string.h>

static const char *const kind_names[] = {"auto", "exact", "finite", "infinite"};

static void ends_json(tsri_json *w, const tsri_ntk *ntk)
{
    if (ntk->ends) {
        tsri_json_put_real(w, "lambda_min", ntk->smallest.value);
        tsri_json_put_real(w, "lambda_min_error", ntk->smallest.error);
        tsri_json_put_real(w, "lambda_max", ntk->largest.value);
        tsri_json_put_real(w, "lambda_max_error", ntk->largest.error);
    }
    if (ntk->value) {
        tsri_json_key(w, "eigenvalues");
        tsri_json_open(w, '[');
        for (int64_t i = 0; i < ntk->n; i++)
            tsri_json_real(w, ntk->value[i]);
        tsri_json_close(w, ']');
    }
}

static void ntk_json(tsri_json *w, const tsri_ntk *ntk)
{
    tsri_json_begin(w);
    tsri_json_put_text(w, "kind", kind_names[ntk->kind]);
    tsri_json_put_int(w, "n", ntk->n);
    tsri_json_put_int(w, "outputs", ntk->outputs);
    tsri_json_put_real(w, "trace", ntk->trace);
    ends_json(w, ntk);
    tsri_json_put_real(w, "memory", ntk->bytes);
    tsri_json_put_real(w, "flops", ntk->flops);
    tsri_json_put_real(w, "seconds", ntk->seconds);
    tsri_json_put_real(w, "kernel_min_ms", ntk->kernel_min * 1e3);
    tsri_json_put_real(w, "kernel_median_ms", ntk->kernel_median * 1e3);
    if (ntk->kind == TSRI_NTK_FINITE) {
        tsri_json_put_real(w, "product_min_ms", ntk->product_min * 1e3);
        tsri_json_put_real(w, "product_median_ms", ntk->product_median * 1e3);
    }
    tsri_json_put_real(w, "peak_mb", tsri_memory_peak_mb());
    tsri_json_close(w, '}');
}

_Static_assert((int)TSR_NTK_INFINITE == (int)TSRI_NTK_INFINITE, "the two lists are one");

/* Of at least that many samples. */
static tsr_status how_of(tsri_ntk_options *how, const tsr_ntk_options *options, int64_t least)
{
    tsr_status st = TSR_OK;
    tsr_ntk_options o;
    TSR_TRY(TSRI_SIZED_TAKE(&o, options));
    TSR_CHECK(o.kind >= TSR_NTK_AUTO && o.kind <= TSR_NTK_INFINITE && o.n >= least &&
                  o.output >= 0 && o.memory >= 0 && o.repeats >= 0,
              TSR_USAGE, "a kernel is of a known kind and of at least %lld samples (n)",
              (long long)least);
    *how = tsri_ntk_options_default();
    how->kind = (tsri_ntk_kind)o.kind;
    how->n = o.n;
    how->output = o.output - 1;
    how->memory = o.memory;
    how->test_set = o.test_set;
    how->data = o.data;
    how->spectrum = o.spectrum;
    how->lanczos = o.lanczos;
    how->repeats = o.repeats;
    how->say = o.say;
    how->context = o.context;
done:
    return st;
}

tsr_status tsr_ntk_measure(char **json, double **kernel, tsr_model *model, const tsr_config *config,
                           const tsr_ntk_options *options)
{
    tsr_status st = TSR_OK;
    tsri_ntk_options how;
    tsr_config *copy = NULL;
    tsri_ntk ntk = {0};
    tsri_json w = {0};
    TSRI_GIVEN(json);
    *json = NULL;
    if (kernel)
        *kernel = NULL;
    TSR_CHECK(!model != !config, TSR_USAGE, "the kernel is of a model or of a config: give one");
    TSR_TRY(how_of(&how, options, 0));
    if (config)
        TSR_TRY(tsri_config_copy(&copy, config));
    TSR_TRY(model ? tsri_ntk_of_model(&ntk, model, &how) : tsri_ntk_of_run(&ntk, copy, &how));
    ntk_json(&w, &ntk);
    TSR_TRY(tsri_json_give(json, &w));
    if (kernel) {
        *kernel = ntk.k;
        ntk.k = NULL;
    }
done:
    tsri_json_fini(&w);
    tsri_ntk_fini(&ntk);
    tsr_config_destroy(copy);
    return st;
}

/* ---- The matrix alone ------------------------------------------------------------------------ */

static void hand_over(double *kernel, const tsri_ntk *ntk)
{
    memcpy(kernel, ntk->k, (size_t)(ntk->n * ntk->n) * sizeof *kernel);
}

tsr_status tsr_model_ntk(double *kernel, tsr_model *model, const tsr_ntk_options *options)
{
    tsr_status st = TSR_OK;
    tsri_ntk_options how;
    tsri_ntk ntk = {0};
    TSRI_GIVEN(kernel);
    TSRI_GIVEN(model);
    TSR_TRY(how_of(&how, options, 1));
    TSR_TRY(tsri_ntk_of_model(&ntk, model, &how));
    hand_over(kernel, &ntk);
done:
    tsri_ntk_fini(&ntk);
    return st;
}

tsr_status tsr_config_ntk(double *kernel, const tsr_config *config, const tsr_ntk_options *options)
{
    tsr_status st = TSR_OK;
    tsri_ntk_options how;
    tsr_config *copy = NULL;
    tsri_ntk ntk = {0};
    TSRI_GIVEN(kernel);
    TSRI_GIVEN(config);
    TSR_TRY(how_of(&how, options, 1));
    TSR_TRY(tsri_config_copy(&copy, config));
    TSR_TRY(tsri_ntk_of_run(&ntk, copy, &how));
    hand_over(kernel, &ntk);
done:
    tsri_ntk_fini(&ntk);
    tsr_config_destroy(copy);
    return st;
}

tsr_status tsr_eigenvalues(double *value, const double *matrix, int64_t n)
{
    tsr_status st = TSR_OK;
    double *work = NULL;
    TSRI_GIVEN(value);
    TSRI_GIVEN(matrix);
    TSR_CHECK(n >= 1 && n <= 1 << 20, TSR_USAGE, "a matrix has at least one row");
    for (int64_t i = 0; i < n * n; i++)
        TSR_CHECK(isfinite(matrix[i]), TSR_USAGE, "the matrix has %g in row %lld", matrix[i],
                  (long long)(i / n));
    TSR_TRY(tsri_openblas_start(1));
    TSR_TRY(tsri_alloc_raw(&work, n * n, sizeof *work));
    TSR_TRY(tsri_spectrum(value, work, matrix, n));
done:
    tsri_free(work);
    return st;
}
