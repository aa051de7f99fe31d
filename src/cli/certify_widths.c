/* certify_widths.c - tessera certify --widths: constants that a paper does not state, over
 * widths. */
#include "cli/certify_widths.h"

#include "cli/print.h"
#include "cli/settings.h"

#include <stdio.h>
#include <stdlib.h>

enum { WIDTHS_LEAST = 3, WIDTHS_MOST = 16 };

static tsr_status parse(int64_t width[WIDTHS_MOST], int64_t *count, const char *list)
{
    tsr_status st = TSR_OK;
    char *end = NULL;
    *count = 0;
    for (const char *at = list; *at; at = *end ? end + 1 : end) {
        long long one = strtoll(at, &end, 10);
        TSR_CHECK(end > at && (*end == ',' || !*end) && one > 0 && *count < WIDTHS_MOST, TSR_USAGE,
                  "--widths: \"%s\" is not a list of %d to %d widths, as 64,128,256",
                  tsr_quote(list), WIDTHS_LEAST, WIDTHS_MOST);
        width[(*count)++] = one;
    }
    TSR_CHECK(*count >= WIDTHS_LEAST, TSR_USAGE,
              "--widths: a power cannot be fitted to %lld widths; give at least %d",
              (long long)*count, WIDTHS_LEAST);
done:
    return st;
}

static tsr_status print_text(const tsr_doc *doc)
{
    const tsr_doc *widths = tsr_doc_get(doc, "widths"), *numbers = tsr_doc_get(doc, "numbers");
    (void)printf("%s: rows without requirement over the width m\n", tsr_doc_text(doc, "paper"));
    for (int64_t row = 0; row < tsr_doc_count(numbers); row++) {
        const tsr_doc *r = tsr_doc_at(numbers, row), *values = tsr_doc_get(r, "values");
        (void)printf("  %-20s %s\n  %-20s  ", tsr_doc_text(r, "where"), tsr_doc_text(r, "quantity"),
                     "");
        for (int64_t i = 0; i < tsr_doc_count(widths); i++)
            (void)printf(" m = %lld: %.4g;", (long long)tsr_doc_int(tsr_doc_at(widths, i), NULL),
                         tsr_doc_real(tsr_doc_at(values, i), NULL));
        (void)printf(" as m to the power of %s\n", tsr_doc_text(r, "power_text"));
    }
    return TSR_OK;
}

tsr_status cli_certify_widths(const cli_args *args, const char *list)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    char *json = NULL;
    int64_t width[WIDTHS_MOST], count;
    TSR_TRY(parse(width, &count, list));
    TSR_TRY(tsr_config_read(&config, args->operand[0]));
    TSR_TRY(cli_settings(config, args));
    TSR_TRY(tsr_certify_widths(&json, config, width, count));
    TSR_TRY(cli_show(args, json, print_text));
done:
    tsr_free(json);
    tsr_config_destroy(config);
    return st;
}
