/* loft_theorem1.h - LoFT compared with gradient descent for several numbers of filters and shares:
 * a row of loft.c's list. */
#ifndef TSRI_LOFT_THEOREM1_H
#define TSRI_LOFT_THEOREM1_H

#include "reproduce/reproduce.h"

tsr_status tsri_loft_theorem1(tsri_study *study);

#endif
