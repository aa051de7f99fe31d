/* reproductions.h - one list per paper; a paper's file adds a line here and one in
 * reproductions.c. */
#ifndef TSRI_REPRODUCTIONS_H
#define TSRI_REPRODUCTIONS_H

#include "reproduce/reproduce.h"

extern const tsri_reproduction tsri_reproduce_loft[];
extern const tsri_reproduction tsri_reproduce_grelu[];
extern const tsri_reproduction tsri_reproduce_deeprelu[];
extern const tsri_reproduction tsri_reproduce_rnn[];
extern const tsri_reproduction tsri_reproduce_masked[];

#endif
