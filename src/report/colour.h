/* colour.h - colours that everyone can tell apart.
 *
 * Series use the colours of Okabe and Ito, which colour-blind readers can distinguish. Maps use a
 * ramp whose lightness rises evenly, so that it reads the same in grey. */
#ifndef TSRI_COLOUR_H
#define TSRI_COLOUR_H

#include <stdint.h>

enum { TSRI_COLOURS = 7, TSRI_COLOUR_TEXT = 8 };

/* "#0072b2", for white paper and for a dark page; i >= 0, repeating after TSRI_COLOURS. */
const char *tsri_colour(int64_t i);
const char *tsri_colour_dark(int64_t i);

/* The ramp's colour at 0 (dark blue) to 1 (light yellow) as "#rrggbb". Returns `text`. */
const char *tsri_ramp(char text[TSRI_COLOUR_TEXT], double at);

#endif
