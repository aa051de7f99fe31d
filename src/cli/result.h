/* result.h - a tsr_result as text or JSON, alike for every command that ends with one. */
#ifndef CLI_RESULT_H
#define CLI_RESULT_H

#include "tessera.h"

/* One JSON object on stdout; `model` NULL leaves out what only training has. */
tsr_status cli_result_json(const tsr_result *r, const char *model);

/* "loss 0.3127, accuracy 89.41 % of 10000"; of real targets the error in their unit (may be NULL)
 * comes first. */
void cli_result_text(char *text, size_t room, const tsr_result *r, const char *unit);

#endif
