/* cost_options.h - the command line of tessera cost: lists of workers, rates, times, shapes. */
#ifndef CLI_COST_OPTIONS_H
#define CLI_COST_OPTIONS_H

#include "cli/args.h"

typedef struct cli_counts {
    int64_t *value; /* the caller frees it */
    int64_t count;
} cli_counts;

/* --workers "2,4,8,...,1024": dots go on as the two numbers before them began; 2 and 4 when
 * comparing and none are given. */
tsr_status cli_cost_workers(cli_counts *workers, const cli_args *args, bool comparing);

/* --samples, --shape and --classes; samples = 0 when none is given. */
tsr_status cli_cost_data(tsr_cost_data *data, const cli_args *args);

/* --device-gflops, --bandwidth, --latency, --sending; *timed = false when none is given. */
tsr_status cli_cost_machine(tsr_machine *machine, bool *timed, const cli_args *args);

/* The --cuts for that many workers, "" when there are none. */
void cli_cost_cuts(char *to, size_t room, const cli_args *args, int64_t workers);

/* Refuses --cuts that no row of the comparison would use. */
tsr_status cli_cost_cuts_fit(const cli_args *args, const cli_counts *workers, bool comparing);

#endif
