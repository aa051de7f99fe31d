/* optim.c - what a step does with a gradient. */
#include "optim/optim.h"

#include "io/names.h"

#include <math.h>
#include <string.h>

/* What every row reads. */
#define ANY "name lr weight_decay clip ema schedule milestones gamma final_lr warmup keep "

static const tsri_optim_row tsri_optim_sgd = {.name = "sgd", .keys = ANY "momentum nesterov"};

static const tsri_optim_row tsri_optim_gd = {
    .name = "gd", .whole_set = true, .keys = ANY "momentum nesterov"};

static const tsri_optim_row tsri_optim_adam = {
    .name = "adam", .adam = true, .keys = ANY "beta1 beta2 epsilon"};

static const tsri_optim_row tsri_optim_adamw = {
    .name = "adamw", .adam = true, .decoupled = true, .keys = ANY "beta1 beta2 epsilon"};

static const tsri_optim_row *const rows[] = {
#define X(name) &tsri_optim_##name,
    TSRI_OPTIM_NAMES(X)
#undef X
};

const tsri_optim_row *tsri_optim_of(const tsr_config *config)
{
    const char *name = tsri_config_text(config, "optim.name");
    size_t i = 0;
    while (strcmp(rows[i]->name, name) != 0) /* the schema knows these names alone */
        i++;
    return rows[i];
}

tsri_optim tsri_optim_from(const tsr_config *c)
{
    const tsri_optim_row *row = tsri_optim_of(c);
    const char *momentum = row->adam ? "optim.beta1" : "optim.momentum";
    return (tsri_optim){.momentum = tsri_config_real(c, momentum),
                        .decay = tsri_config_real(c, "optim.weight_decay"),
                        .nesterov = !row->adam && tsri_config_bool(c, "optim.nesterov"),
                        .adam = row->adam,
                        .decoupled = row->decoupled,
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
