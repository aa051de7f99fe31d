/* data_report.h - what `tessera data info` prints of a data set.
 *
 *     TSR_TRY(tsri_data_info_of(&info, data));
 *     TSR_TRY(args->json ? cli_data_json(data, &info, seconds) : cli_data_text(data, &info,
 * seconds));
 */
#ifndef CLI_DATA_REPORT_H
#define CLI_DATA_REPORT_H

#include "data/info.h"

/* To standard output; `seconds` is how long loading took. RESOURCES when a table or an object has
 * no memory. */
tsr_status cli_data_text(const tsr_data *data, const tsri_data_info *info, double seconds);
tsr_status cli_data_json(const tsr_data *data, const tsri_data_info *info, double seconds);

#endif
