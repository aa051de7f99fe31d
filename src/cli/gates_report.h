/* gates_report.h - the options --gates and --batch of predict and eval, and what they say. */
#ifndef CLI_GATES_REPORT_H
#define CLI_GATES_REPORT_H

#include "cli/args.h"
#include "convert/gates.h"
#include "io/json.h"

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

/* tsri_gates_use as the options say. The caller calls tsri_gates_fini, also on failure. */
tsr_status cli_gates_use(tsri_gates_report *report, tsr_model *model, const cli_args *args);

/* Three lines for people, without an end of line after the last; a member "gates" of an open
 * object. */
tsr_status cli_gates_text(tsri_text *out, const tsri_gates_report *report);
void cli_gates_json(tsri_json *w, const tsri_gates_report *report);

#endif
