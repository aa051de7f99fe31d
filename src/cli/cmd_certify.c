/* cmd_certify.c - tessera certify: what the theorems ask of a run, beside what it has. */
#include "cli/certify_widths.h"
#include "cli/commands.h"
#include "cli/settings.h"
#include "cli/string.h"

#include <stdio.h>

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsr_certificate *c = NULL;
    char *text = NULL;
    const char *widths = cli_text(args, "widths");
    if (widths)
        return cli_certify_widths(args, widths);
    TSR_TRY(tsr_config_read(&config, args->operand[0]));
    TSR_TRY(cli_settings(config, args));
    TSR_TRY(tsr_certify(&c, config, NULL));
    TSR_TRY(args->json ? tsr_certificate_json(&text, c) : tsr_certificate_text(&text, c));
    (void)printf("%s%s", text, args->json ? "\n" : "");
done:
    tsr_free(text);
    tsr_certificate_destroy(c);
    tsr_config_destroy(config);
    return st;
}

static const cli_option options[] = {
    {"widths", 'w', "LIST", CLI_TEXT,
     .help = "fit the constants that the paper hides over these widths: 64,128,256"},
    CLI_OPTION_SET,
    CLI_OPTION_DATA,
    {0}};

const cli_command cli_certify = {
    .name = "certify",
    .help = "compare a run with what the theorems of its model's paper ask for",
    .synopsis = "RUN-FILE",
    .least = 1,
    .most = 1,
    .operand = CLI_FILE,
    .options = options,
    .details =
        "Before a run: the data, the kernel, and the width, step and rate that each theorem asks "
        "for, with the constants of its appendix. Where the paper hides a constant, the row shows "
        "the value that this run would need (--widths fits a power of the width to it). With "
        "certify.every in the run file the same rows are measured during the run and written to "
        "its metrics.\n\n"
        "A condition that does not hold is not an error: the exit code says only whether the "
        "certificate could be made.",
    .run = run,
};
