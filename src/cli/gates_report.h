/* gates_report.h - the options --gates and --batch of predict and eval, and what they say. */
#ifndef CLI_GATES_REPORT_H
#define CLI_GATES_REPORT_H

#include "cli/args.h"

#include <stdio.h>

#define CLI_OPTION_GATES                                                                           \
    {                                                                                              \
        "gates", 0, "exact|lowrank:R", CLI_TEXT,                                                   \
            .help = "grelu: gates from Psi itself, or from the nearest product of matrix rank R; " \
                    "says "                                                                        \
                    "how many agree, accuracy and time with both"                                  \
    }
#define CLI_OPTION_BATCH                                                                           \
    {                                                                                              \
        "batch", 'b', "N", CLI_INT,                                                                \
            .help = "grelu: samples at a time, 1 as a service would have them; 256 if not given",  \
            .least = 1, .most = 1e6                                                                \
    }

/* Was any of the two given? */
bool cli_wants_gates(const cli_args *args);

/* Three lines for people, of the member "gates" of a document. */
void cli_gates_print(FILE *to, const tsr_doc *gates);

#endif
