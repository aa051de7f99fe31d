/* crash.h - what a disk may hold after the power went.
 *
 * A log of the shim is replayed on a model of a disk that keeps apart what is certain (fsynced) and
 * what is on its way: bytes written since the last fsync of a file, names changed since the last
 * fsync of a folder. After any number of steps the power may go. What is left is what was certain
 * and any part of the rest: writes dropped, torn at a sector or a byte, done out of order, a size
 * without its bytes; names made, moved and removed, each or not.
 *
 *     crash_disk *d = crash_create(log, n);
 *     crash_advance(d, 40);                       the power goes before step 40
 *     crash_leave(d, "disk", &rng);               one of the states, drawn
 *
 * Harsher than most file systems are: names need not come to the disk in the order in which they
 * changed, and a file that was fsynced may lack its name.
 */
#ifndef TSRI_FAULTS_CRASH_H
#define TSRI_FAULTS_CRASH_H

#include "base/rng.h"

#include <stddef.h>

typedef struct crash_disk crash_disk;

/* The log is borrowed. */
crash_disk *crash_create(const unsigned char *log, int64_t n);
void crash_destroy(crash_disk *disk);

int64_t crash_steps(const crash_disk *disk);

/* Goes on to the moment before `step`; never back. */
void crash_advance(crash_disk *disk, int64_t step);

/* The newest checkpoint of the folder `run` that was promised to be there: its save had returned.
 * -1: none. */
int64_t crash_promised(const crash_disk *disk, const char *run);

/* Makes the folder `root` anew as the crash may leave it. The disk is unchanged. */
void crash_leave(const crash_disk *disk, const char *root, tsri_rng *rng);

#endif
