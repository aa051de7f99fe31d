/* cmd_distance.c - tessera distance: how differently two models rank their filters. */
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/string.h"

#include <stdio.h>
#include <stdlib.h>

enum { RATIOS = 8 };

/* Every --ratio given; 0.5 when there is none. */
static tsr_status read_ratios(double ratio[RATIOS], int64_t *count, const cli_args *args)
{
    tsr_status st = TSR_OK;
    const char *text;
    *count = 0;
    for (int64_t i = 0; (text = cli_nth(args, "ratio", i)); i++) {
        TSR_CHECK(i < RATIOS, TSR_USAGE, "give at most %d ratios", RATIOS);
        TSR_CHECK(cli_number_real(&ratio[i], text) && ratio[i] > 0 && ratio[i] < 1, TSR_USAGE,
                  "--ratio is the part of the filters to remove: above 0, below 1; not %s",
                  tsr_quote(text));
        *count = i + 1;
    }
    if (*count == 0)
        ratio[(*count)++] = 0.5;
done:
    return st;
}

static tsr_status print_text(const tsr_doc *doc)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    char head[RATIOS][32] = {""};
    const tsr_doc *layers = tsr_doc_get(doc, "layers");
    const tsr_doc *masks = tsr_doc_get(tsr_doc_at(layers, 0), "mask_distance");
    int64_t ratios = tsr_doc_count(masks);
    for (int64_t k = 0; k < ratios && k < RATIOS; k++)
        (void)snprintf(head[k], sizeof head[k], "mask at %g", strtod(tsr_doc_key(masks, k), NULL));
    cli_table_head(&t, 5 + (int)ratios, "layer", "filters", "other", "distance", "of reversed",
                   head[0], head[1], head[2], head[3], head[4], head[5], head[6], head[7]);
    for (int64_t i = 0; i < tsr_doc_count(layers); i++) {
        const tsr_doc *r = tsr_doc_at(layers, i);
        cli_table_text(&t, tsr_doc_text(r, "layer"));
        cli_table_int(&t, tsr_doc_int(r, "units"));
        cli_table_int(&t, tsr_doc_int(r, "units_other"));
        cli_table_real(&t, tsr_doc_real(r, "filter_distance"), 4);
        cli_table_real(&t, tsr_doc_real(r, "relative"), 4);
        masks = tsr_doc_get(r, "mask_distance");
        for (int64_t k = 0; k < ratios; k++)
            cli_table_real(&t, tsr_doc_real(tsr_doc_at(masks, k), NULL), 4);
    }
    TSR_TRY(cli_table_print(&t, stdout));
    (void)printf("mean %.4f of a reversed ranking; the reference is %s\n",
                 tsr_doc_real(doc, "mean"), tsr_quote(tsr_doc_text(doc, "reference")));
done:
    cli_table_fini(&t);
    return st;
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_model *a = NULL, *b = NULL;
    char *json = NULL;
    double ratio[RATIOS] = {0};
    tsr_ranking_options o = tsr_ranking_options_default();
    TSR_TRY(read_ratios(ratio, &o.ratios, args));
    o.ratio = ratio;
    o.axes = cli_text(args, "axes");
    o.criterion = cli_text(args, "criterion");
    TSR_TRY(tsr_model_read(&a, args->operand[0]));
    TSR_TRY(tsr_model_read(&b, args->operand[1]));
    TSR_TRY(tsr_model_rankings(&json, a, b, &o));
    TSR_TRY(cli_show(args, json, print_text));
done:
    tsr_free(json);
    tsr_model_destroy(a);
    tsr_model_destroy(b);
    return st;
}

static const cli_option options[] = {
    {"ratio", 'r', "R", CLI_TEXT,
     .help = "part that a mask leaves out; may be given several times (default: 0.5)"},
    {"criterion", 'c', "NAME", CLI_CHOICE, .choices = "bn|l2|l1|fpgm",
     .help = "what masks keep the largest of (default: bn, l2 where there is no norm)"},
    {"axes", 'a', "NAMES", CLI_TEXT,
     .help = "axes to compare, or all (default: those that prune takes)"},
    {0},
};

const cli_command cli_distance = {
    .name = "distance",
    .help = "how differently two models rank their filters",
    .synopsis = "REFERENCE OTHER",
    .least = 2,
    .most = 2,
    .operand = CLI_FILE,
    .options = options,
    .details =
        "The filter distance of LoFT, layer by layer. Filters are ranked by their l2 norm, place "
        "1 the largest: F = sum of (1/i) |ln i - ln sigma(i)| over the places i of the reference, "
        "where sigma(i) is the place of the same filter in the other model. A filter that a "
        "pruned model has lost gets the place behind its last. F is not symmetric. It is also "
        "shown as a part of the distance of the reversed ranking.\n\n"
        "The mask distance of early-bird tickets: the part of the filters that only one of the "
        "two would keep at that ratio.",
    .run = run,
};
