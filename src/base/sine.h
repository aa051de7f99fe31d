/* sine.h - sine and cosine from IEEE operations only: the same bits on every machine.
 *
 * libm's sine may differ in the last bit between systems; data made from a seed must not.
 */
#ifndef TSRI_SINE_H
#define TSRI_SINE_H

/* |x| <= 1e5. Within 3e-16 of the true value for |x| <= 100, within 1e-14 up to 1e5. */
double tsri_sin(double x);
double tsri_cos(double x);

#endif
