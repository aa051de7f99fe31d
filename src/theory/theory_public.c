/* theory_public.c - kernels and certificates as programs see them. */
#include "base/alloc.h"
#include "base/sized.h"
#include "linalg/openblas.h"
#include "model/model.h"
#include "theory/ntk.h"
#include "theory/papers.h"
#include "theory/spectrum.h"

#include <math.h>
#include <string.h>

/* ---- Kernels -------------------------------------------------------------------------------- */

_Static_assert((int)TSR_NTK_INFINITE == (int)TSRI_NTK_INFINITE, "the two lists are one");

static tsr_status how_of(tsri_ntk_options *how, const tsr_ntk_options *options)
{
    tsr_status st = TSR_OK;
    tsr_ntk_options o;
    TSR_TRY(TSRI_SIZED_TAKE(&o, options));
    TSR_CHECK(o.kind >= TSR_NTK_AUTO && o.kind <= TSR_NTK_INFINITE && o.n >= 1 && o.output >= 0 &&
                  o.memory >= 0,
              TSR_USAGE, "a kernel is of a known kind and of at least 1 sample (n)");
    *how = tsri_ntk_options_default();
    how->kind = (tsri_ntk_kind)o.kind;
    how->n = o.n;
    how->output = o.output - 1;
    how->memory = o.memory;
    how->test_set = o.test_set;
    how->data = o.data;
done:
    return st;
}

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
    TSR_TRY(how_of(&how, options));
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
    TSR_TRY(how_of(&how, options));
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

/* ---- Certificates --------------------------------------------------------------------------- */

struct tsr_certificate {
    tsri_certificate c;
};

_Static_assert((int)TSR_DOES_NOT_APPLY == (int)TSRI_DOES_NOT_APPLY, "the two lists are one");

void tsr_certificate_destroy(tsr_certificate *certificate)
{
    if (!certificate)
        return;
    tsri_certificate_fini(&certificate->c);
    tsri_free(certificate);
}

tsr_status tsr_certify(tsr_certificate **out, const tsr_config *config, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    tsr_certificate *certificate = NULL;
    tsr_config *copy = NULL;
    TSRI_GIVEN(out);
    *out = NULL;
    TSRI_GIVEN(config);
    TSR_TRY(tsri_config_copy(&copy, config));
    TSR_TRY(tsri_alloc(&certificate, 1, sizeof *certificate));
    TSR_TRY(tsri_certify_on(&certificate->c, copy, data));
    *out = certificate;
    certificate = NULL;
done:
    tsr_certificate_destroy(certificate);
    tsr_config_destroy(copy);
    return st;
}

const char *tsr_certificate_paper(const tsr_certificate *certificate)
{
    return certificate ? certificate->c.paper : NULL;
}

int64_t tsr_certificate_rows(const tsr_certificate *certificate)
{
    return certificate ? certificate->c.count : 0;
}

tsr_status tsr_certificate_at(tsr_certificate_row *row, const tsr_certificate *certificate,
                              int64_t i)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(certificate);
    const tsri_certificate *c = &certificate->c;
    TSR_CHECK(i >= 0 && i < c->count, TSR_USAGE, "there are %lld rows, and none is %lld",
              (long long)c->count, (long long)i);
    const tsri_row *r = &c->row[i];
    const char *theorem = c->theorem[r->claim.of].where;
    bool asked = r->claim.sense != TSRI_MEASURED;
    tsr_certificate_row mine = {.theorem = theorem ? theorem : "",
                                .where = r->where,
                                .quantity = r->quantity,
                                .reason = r->reason,
                                .verdict = (tsr_verdict)r->verdict,
                                .sense = !asked                            ? 0
                                         : r->claim.sense == TSRI_AT_LEAST ? 1
                                                                           : -1,
                                .measured = r->claim.measured,
                                .required = asked ? r->claim.required : (double)NAN,
                                .factor = tsri_row_factor(r)};
    TSR_TRY(TSRI_SIZED_GIVE(row, &mine));
done:
    return st;
}

tsr_status tsr_certificate_text(char **out, const tsr_certificate *certificate)
{
    tsr_status st = TSR_OK;
    tsri_text text = {0};
    TSRI_GIVEN(out);
    *out = NULL;
    TSRI_GIVEN(certificate);
    TSR_TRY(tsri_certificate_text(&text, &certificate->c));
    *out = text.data;
    text = (tsri_text){0};
done:
    tsri_text_fini(&text);
    return st;
}

tsr_status tsr_certificate_json(char **out, const tsr_certificate *certificate)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    TSRI_GIVEN(out);
    *out = NULL;
    TSRI_GIVEN(certificate);
    tsri_json_begin(&w);
    tsri_certificate_json(&w, &certificate->c);
    tsri_json_close(&w, '}');
    TSR_TRY(tsri_json_end(&w));
    *out = w.text.data;
    w.text = (tsri_text){0};
done:
    tsri_json_fini(&w);
    return st;
}
