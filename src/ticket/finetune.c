/* finetune.c - the run that trains a ticket on. */
#include "ticket/finetune.h"

#include "scheme/keys.h"

#include <stdio.h>

tsr_status tsri_finetune_config(tsr_config *config, int64_t epochs, double lr)
{
    /* what ended pretraining (a ranking that has settled) would end this at once */
    static const char *const dense[] = {"scheme.name=dense", "scheme.workers=1",
                                        "scheme.local_steps=1", "stop.metric=none"};
    tsr_status st = TSR_OK;
    char set[64];
    TSR_CHECK(epochs >= 0 && lr >= 0, TSR_USAGE,
              "fine-tuning takes 0 or more epochs and a rate of 0 or more, not %lld and %g",
              (long long)epochs, lr);
    for (size_t i = 0; i < sizeof dense / sizeof *dense; i++)
        TSR_TRY(tsr_config_set(config, dense[i]));
    TSR_TRY(tsri_forget_unread(config)); /* of shares, of what ended pretraining */
    if (epochs > 0) {
        TSR_TRY(tsr_config_set(config, "rounds=0"));
        (void)snprintf(set, sizeof set, "epochs=%lld", (long long)epochs);
        TSR_TRY(tsr_config_set(config, set));
    }
    if (lr > 0) {
        (void)snprintf(set, sizeof set, "optim.lr=%.17g", lr);
        TSR_TRY(tsr_config_set(config, set));
    }
done:
    return st;
}
