/* schedule.c - the learning rate as a pure function of the place in the run. */
#include "optim/schedule.h"

#include <math.h>
#include <string.h>

tsri_schedule tsri_schedule_from(const tsr_config *config)
{
    const char *name = tsri_config_text(config, "optim.schedule");
    tsri_schedule s = {.kind = strcmp(name, "cosine") == 0 ? TSRI_COSINE
                               : strcmp(name, "step") == 0 ? TSRI_STEP
                                                           : TSRI_CONSTANT,
                       .lr = tsri_config_real(config, "optim.lr"),
                       .final = tsri_config_real(config, "optim.final_lr"),
                       .gamma = tsri_config_real(config, "optim.gamma"),
                       .warmup = tsri_config_real(config, "optim.warmup")};
    s.milestones = tsri_config_reals(config, "optim.milestones", &s.milestone);
    return s;
}

double tsri_schedule_rate(const tsri_schedule *s, int64_t step, int64_t steps)
{
    double warm = s->warmup * (double)steps, at = (double)step;
    if (at < warm)
        return s->lr * (at + 1) / (floor(warm) + 1);
    double part = (at - warm) / ((double)steps - warm);
    double rate = s->lr;
    switch (s->kind) {
    case TSRI_CONSTANT:
        break;
    case TSRI_STEP:
        for (int64_t i = 0; i < s->milestones; i++)
            if (at >= s->milestone[i] * (double)steps)
                rate *= s->gamma;
        break;
    case TSRI_COSINE:
        rate = s->final + (s->lr - s->final) * 0.5 * (1 + cos(3.14159265358979323846 * part));
        break;
    }
    return rate;
}
