/* rules.c - how a scheme draws its shares, from its row and the `scheme:` section. */
#include "scheme/rules.h"

#include "base/alloc.h"
#include "subnet/filters.h"

#include <stdio.h>
#include <string.h>

/* Names between commas, with the place of the key that has them when they are wrong. */
static tsr_status axes_of_key(bool *cut, const tsr_config *config, const tsri_net *net,
                              const char *key, bool streams)
{
    tsr_status st = tsri_axes_named(cut, net, tsri_config_text(config, key), streams);
    if (st == TSR_USAGE)
        tsri_fail_prefix("%s: ", tsri_config_place(config, key));
    return st;
}

/* The axes on which a scheme with shares cuts: scheme.axes is the last word where it is given. */
static tsr_status axes_cut(bool *cut, const tsr_config *config, const tsri_net *net)
{
    const tsri_scheme *scheme = tsri_scheme_of(config);
    if (tsri_config_text(config, "scheme.axes"))
        return axes_of_key(cut, config, net, "scheme.axes", false);
    for (int64_t a = 0; a < net->axes; a++)
        cut[a] = net->axis[a].cuttable;
    return scheme->axes ? scheme->axes(cut, config, net) : TSR_OK;
}

tsr_status tsri_scheme_draw(tsri_draw_kind *kind, const tsri_scheme *scheme,
                            const tsr_config *config)
{
    static const struct {
        const char *word;
        tsri_draw_kind kind;
    } draws[] = {{"bernoulli", TSRI_DRAW_BERNOULLI},
                 {"categorical", TSRI_DRAW_CATEGORICAL},
                 {"chunks", TSRI_DRAW_CHUNKS}};
    tsr_status st = TSR_OK;
    const char *word = tsri_config_text(config, "scheme.draw");
    *kind = scheme->draw;
    for (size_t i = 0; tsri_reads(scheme->keys, "draw") && i < sizeof draws / sizeof *draws; i++)
        if (strcmp(draws[i].word, word) == 0)
            *kind = draws[i].kind;
    TSR_CHECK(!scheme->disjoint || *kind != TSRI_DRAW_BERNOULLI, TSR_USAGE,
              "%s: the shares of %s are disjoint: use draw: chunks or categorical, or scheme "
              "masked for overlapping ones",
              tsri_config_place(config, "scheme.draw"), scheme->name);
done:
    return st;
}

/* Do these names mean what the paper cuts: "paper", or NULL? */
static bool is_paper(const char *names)
{
    return !names || strcmp(names, "paper") == 0;
}

tsr_status tsri_ticket_axes(bool *cut, const tsr_config *config, const tsri_net *net,
                            const char *names)
{
    tsr_status st = TSR_OK;
    tsri_draw_kind kind = TSRI_DRAW_WHOLE;
    const tsri_scheme *scheme = config ? tsri_scheme_of(config) : NULL;
    if (!is_paper(names))
        return tsri_axes_named(cut, net, names, true);
    if (!names && config && !is_paper(tsri_config_text(config, "ticket.axes")))
        return axes_of_key(cut, config, net, "ticket.axes", true);
    if (scheme && scheme->shares)
        TSR_TRY(tsri_scheme_draw(&kind, scheme, config));
    if (kind == TSRI_DRAW_WHOLE)
        TSR_TRY(tsri_axes_choose(cut, net));
    else
        TSR_TRY(axes_cut(cut, config, net));
done:
    return st;
}

static tsr_status choose_weights(tsri_rules *rules, const tsri_settings *s)
{
    tsr_status st = TSR_OK;
    const double *weight;
    int64_t count = tsri_config_reals(s->config, "scheme.weights", &weight);
    TSR_CHECK(count == 0 || count == s->workers, TSR_USAGE,
              "%s: scheme.weights has %lld numbers for %lld workers: give one for each",
              tsri_config_place(s->config, "scheme.weights"), (long long)count,
              (long long)s->workers);
    rules->draw.weight = count > 0 ? weight : NULL;
done:
    return st;
}

/* Do only linear layers read what can be cut? Then a share's layers can be scaled by 1/xi. */
static bool can_rescale(const tsri_net *net)
{
    for (int64_t i = 0; i < net->layers; i++)
        if (net->layer[i].kind == TSRI_CONV &&
            net->axis[net->value[net->layer[i].in].axis].cuttable)
            return false;
    return true;
}

static tsr_status choose_scale(tsri_rules *rules, const tsri_settings *s, const tsri_net *net)
{
    tsr_status st = TSR_OK;
    const char *scale = tsri_config_text(s->config, "scheme.scale");
    bool can = can_rescale(net);
    TSR_CHECK(can || strcmp(scale, "share") != 0, TSR_USAGE,
              "%s: scheme.scale: share is for models whose cut axes only linear layers read: use "
              "none",
              tsri_config_place(s->config, "scheme.scale"));
    rules->rescale = can && strcmp(scale, "none") != 0;
done:
    return st;
}

/* Momentum between rounds: with one step per round there is no other kind. */
static void choose_momentum(tsri_rules *rules, const tsri_settings *s)
{
    const char *momentum = tsri_config_text(s->config, "scheme.momentum");
    bool carry =
        strcmp(momentum, "carry") == 0 || (strcmp(momentum, "auto") == 0 && s->local_steps == 1);
    rules->carry = carry && tsri_optim_remembers(&s->optim);
    rules->wire = (tsri_wire){.momentum = rules->carry,
                              .bf16 = tsri_config_is(s->config, "scheme.wire", "bf16"),
                              .variance = rules->carry && s->optim.adam};
}

/* Layers that read fewer units in a share, and are not scaled up for it, give the norms after them
 * other statistics than the whole has. */
static void choose_recalibration(tsri_rules *rules, const tsri_settings *s)
{
    enum { BATCHES = 16 };
    int64_t asked = tsri_config_int(s->config, "scheme.recalibrate");
    bool parts = rules->draw.kind == TSRI_DRAW_BERNOULLI
                     ? rules->draw.xi < 1
                     : rules->draw.kind != TSRI_DRAW_WHOLE && s->workers > 1;
    bool needed = parts && !rules->rescale;
    rules->recalibrate = asked >= 0 ? asked : needed ? BATCHES : 0;
}

/* The chance of a unit belongs to masks thrown unit by unit, parts of the workers to those that
 * deal units out. */
static tsr_status check_draw_keys(const tsri_rules *rules, const tsri_settings *s)
{
    bool thrown = rules->draw.kind == TSRI_DRAW_BERNOULLI;
    char reader[100];
    (void)snprintf(reader, sizeof reader, "scheme %s with draw: %s", s->scheme->name,
                   tsri_config_text(s->config, "scheme.draw"));
    return tsri_config_unread(s->config, thrown ? "scheme.weights" : "scheme.xi", reader);
}

tsr_status tsri_rules_init(tsri_rules *rules, const tsri_settings *s, const tsri_net *net)
{
    tsr_status st = TSR_OK;
    *rules = (tsri_rules){
        .draw = {.workers = s->workers, .xi = tsri_config_real(s->config, "scheme.xi")}};
    TSR_TRY(tsri_alloc(&rules->cut, net->axes, sizeof *rules->cut));
    rules->draw.cut = rules->cut;
    TSR_TRY(tsri_scheme_draw(&rules->draw.kind, s->scheme, s->config));
    TSR_TRY(check_draw_keys(rules, s));
    TSR_TRY(axes_cut(rules->cut, s->config, net));
    TSR_TRY(choose_weights(rules, s));
    TSR_TRY(choose_scale(rules, s, net));
    choose_momentum(rules, s);
    choose_recalibration(rules, s);
    st = tsri_draw_check(&rules->draw, net);
    if (st == TSR_USAGE)
        tsri_fail_prefix("%s: ",
                         tsri_config_place(s->config, rules->draw.kind == TSRI_DRAW_BERNOULLI
                                                          ? "scheme.xi"
                                                          : "scheme.workers"));
done:
    return st;
}

void tsri_rules_fini(tsri_rules *rules)
{
    tsri_free(rules->cut);
    *rules = (tsri_rules){0};
}
