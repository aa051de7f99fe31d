/* kinds.h - the kinds of faults, one file each. A kind tries its faults on scenarios, complains of
 * what it finds, and says in one line how many it tried. */
#ifndef TSRI_FAULTS_KINDS_H
#define TSRI_FAULTS_KINDS_H

void try_calls(void);   /* calls.c: death and errors at every system call */
void try_moments(void); /* moments.c: kill -9 at any moment */
void try_power(void);   /* power.c: states that a power cut leaves */
void try_spoilt(void);  /* spoilt.c: checkpoints and models with wrong bytes, too short, too long */
void try_reads(void);   /* reads.c: files that change while they are read */
void try_memory(void);  /* memory.c: allocations that fail, through the public interface */

#endif
