/* cmd_distance.c - tessera distance: how differently two models rank their filters. */
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/print.h"

#include "base/alloc.h"
#include "base/number.h"
#include "base/status.h"
#include "base/text.h"
#include "io/json.h"
#include "ticket/compare.h"

#include <stdio.h>

enum { RATIOS = 8 };

/* Every --ratio given; 0.5 when there is none. */
static tsr_status read_ratios(double ratio[RATIOS], int64_t *count, const cli_args *args)
{
    tsr_status st = TSR_OK;
    const char *text;
    *count = 0;
    for (int64_t i = 0; (text = cli_nth(args, "ratio", i)); i++) {
        TSR_CHECK(i < RATIOS, TSR_USAGE, "give at most %d ratios", RATIOS);
        TSR_CHECK(tsri_number_real(&ratio[i], text) == TSRI_NUMBER_OK && ratio[i] > 0 &&
                      ratio[i] < 1,
                  TSR_USAGE, "--ratio is the part of the filters that go: above 0, below 1; not %s",
                  tsri_quote(text));
        *count = i + 1;
    }
    if (*count == 0)
        ratio[(*count)++] = 0.5;
done:
    return st;
}

static tsr_status print_text(const tsri_comparison *c, const double *ratio, const char *reference)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    char head[RATIOS][32];
    for (int64_t k = 0; k < RATIOS; k++)
        (void)snprintf(head[k], sizeof head[k], k < c->ratios ? "mask at %g" : "", ratio[k]);
    cli_table_head(&t, 5 + (int)c->ratios, "layer", "filters", "other", "distance", "of reversed",
                   head[0], head[1], head[2], head[3], head[4], head[5], head[6], head[7]);
    for (int64_t i = 0; i < c->rows; i++) {
        const tsri_compared *r = &c->row[i];
        cli_table_text(&t, r->axis);
        cli_table_int(&t, r->units);
        cli_table_int(&t, r->units_other);
        cli_table_real(&t, r->distance, 4);
        cli_table_real(&t, r->relative, 4);
        for (int64_t k = 0; k < c->ratios; k++)
            cli_table_real(&t, r->mask[k], 4);
    }
    TSR_TRY(cli_table_print(&t, stdout));
    (void)printf("mean %.4f of a reversed ranking; the reference is %s\n", c->mean,
                 tsri_quote(reference));
done:
    cli_table_fini(&t);
    return st;
}

static void json_row(tsri_json *w, const tsri_compared *r, const double *ratio, int64_t ratios)
{
    tsri_json_open(w, '{');
    tsri_json_put_text(w, "layer", r->axis);
    tsri_json_put_int(w, "units", r->units);
    tsri_json_put_int(w, "units_other", r->units_other);
    tsri_json_put_real(w, "filter_distance", r->distance);
    tsri_json_put_real(w, "relative", r->relative);
    tsri_json_key(w, "mask_distance");
    tsri_json_open(w, '{');
    for (int64_t k = 0; k < ratios; k++) {
        char key[TSRI_NUMBER_TEXT];
        (void)tsri_shortest(key, ratio[k]);
        tsri_json_put_real(w, key, r->mask[k]);
    }
    tsri_json_close(w, '}');
    tsri_json_close(w, '}');
}

static tsr_status print_json(const tsri_comparison *c, const double *ratio, const char *reference)
{
    tsri_json w = {0};
    tsri_json_begin(&w);
    tsri_json_put_text(&w, "reference", reference);
    tsri_json_put_real(&w, "mean", c->mean);
    tsri_json_key(&w, "layers");
    tsri_json_open(&w, '[');
    for (int64_t i = 0; i < c->rows; i++)
        json_row(&w, &c->row[i], ratio, c->ratios);
    tsri_json_close(&w, ']');
    tsri_json_close(&w, '}');
    return cli_json_print(&w);
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_model *a = NULL, *b = NULL;
    tsri_comparison c = {0};
    double ratio[RATIOS] = {0};
    int64_t ratios;
    tsri_criterion criterion;
    const char *name = cli_text(args, "criterion");
    TSR_TRY(read_ratios(ratio, &ratios, args));
    TSR_TRY(tsri_criterion_find(&criterion, name ? name : "bn"));
    TSR_TRY(tsr_model_read(&a, args->operand[0]));
    TSR_TRY(tsr_model_read(&b, args->operand[1]));
    TSR_TRY(tsri_compare(&c, a, b, cli_text(args, "axes"), criterion, ratio, ratios));
    TSR_TRY((args->json ? print_json : print_text)(&c, ratio, args->operand[0]));
done:
    tsri_comparison_fini(&c);
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
