/* data_load.c - tsr_data_load: data as a run sees it. It lives in this room because only the model
 * knows what it wants of its data. */
#include "base/clock.h"
#include "base/sized.h"
#include "net/net.h"

tsr_status tsr_data_load(tsr_data **out, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    double start = tsri_clock();
    TSRI_GIVEN(out);
    *out = NULL;
    TSRI_GIVEN(config);
    tsri_wants wants = tsri_model_wants(config);
    TSR_TRY(tsri_data_load(out, config, &wants));
    (*out)->seconds = tsri_clock() - start;
    (*out)->prepared = true;
done:
    return st;
}
