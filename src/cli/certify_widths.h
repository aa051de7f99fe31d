/* certify_widths.h - tessera certify --widths: constants that a paper does not state, over
 * widths. */
#ifndef CLI_CERTIFY_WIDTHS_H
#define CLI_CERTIFY_WIDTHS_H

#include "cli/args.h"

/* Makes the certificate of the run file for every model.width of `list` ("64,128,256") and prints
 * its rows without requirement with the power of the width that fits them. USAGE when the list is
 * not one of at least three widths. */
tsr_status cli_certify_widths(const cli_args *args, const char *list);

#endif
