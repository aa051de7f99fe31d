/* clock.h - time for progress and measurements, never for results. */
#ifndef TSRI_CLOCK_H
#define TSRI_CLOCK_H

/* Seconds since some fixed moment. Never goes backwards. */
double tsri_clock(void);

#endif
