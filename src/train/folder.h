/* folder.h - the folder of a run: its lock and its run.yaml. */
#ifndef TSRI_FOLDER_H
#define TSRI_FOLDER_H

#include "run/run.h"

/* Makes or finds the run's folder and takes its lock (run->process.lock). USAGE when the folder
 * holds a run and --resume is not given, or the run file of another run. */
tsr_status tsri_open_folder(tsri_run *run);

/* Writes its run.yaml: when all else has been accepted, since a refused --resume --force must leave
 * the old one, and before the first checkpoint, since none is read without it. */
tsr_status tsri_write_run_file(const tsri_run *run);

/* Gives the older run file the paths of data that the newer one names: data may have been moved.
 * The checkpoint has its checksum, which tells whether it is the same. */
tsr_status tsri_follow_data(tsr_config *old, const tsr_config *now);

#endif
