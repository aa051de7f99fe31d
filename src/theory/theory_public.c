/* theory_public.c - certificates as programs see them. */
#include "base/alloc.h"
#include "base/sized.h"
#include "theory/papers.h"

#include <math.h>

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
    TSR_CHECK(i >= 0 && i < c->count, TSR_USAGE,
              "there are %lld rows, numbered from 0, and no number %lld", (long long)c->count,
              (long long)i);
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
    TSR_TRY(tsri_text_give(out, &text));
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
    TSR_TRY(tsri_json_give(out, &w));
done:
    tsri_json_fini(&w);
    return st;
}
