/* data_report.h - what `tessera data info` prints of a data set. */
#ifndef CLI_DATA_REPORT_H
#define CLI_DATA_REPORT_H

#include "tessera.h"

/* A document of tsr_data_describe to standard output. RESOURCES when a table has no memory. */
tsr_status cli_data_text(const tsr_doc *doc);

#endif
