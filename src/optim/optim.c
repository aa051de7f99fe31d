/* optim.c - what a step does with a gradient. */
#include "optim/optim.h"

#include <math.h>
#include <string.h>

tsri_optim tsri_optim_from(const tsr_config *c)
{
    const char *name = tsri_config_text(c, "optim.name");
    bool decoupled = strcmp(name, "adamw") == 0;
    bool adam = decoupled || strcmp(name, "adam") == 0;
    return (tsri_optim){.momentum = tsri_config_real(c, adam ? "optim.beta1" : "optim.momentum"),
                        .decay = tsri_config_real(c, "optim.weight_decay"),
                        .nesterov = !adam && tsri_config_bool(c, "optim.nesterov"),
                        .adam = adam,
                        .decoupled = decoupled,
                        .beta2 = tsri_config_real(c, "optim.beta2"),
                        .epsilon = tsri_config_real(c, "optim.epsilon"),
                        .clip = tsri_config_real(c, "optim.clip")};
}

tsri_dials tsri_optim_dials(const tsri_optim *rule, double rate, int64_t seen)
{
    tsri_dials dials = {.rate = rate};
    if (!rule->adam)
        return dials;
    double step = (double)(seen + 1);
    double bias1 = 1 - pow(rule->momentum, step), bias2 = 1 - pow(rule->beta2, step);
    dials.adam = (struct tsri_adam_factors){.shrink = rule->decoupled ? 1 - rate * rule->decay : 1,
                                            .decay = rule->decoupled ? 0 : rule->decay,
                                            .new1 = 1 - rule->momentum,
                                            .keep2 = rule->beta2,
                                            .new2 = 1 - rule->beta2,
                                            .rate = rate / bias1,
                                            .root = sqrt(bias2),
                                            .epsilon = rule->epsilon};
    return dials;
}
