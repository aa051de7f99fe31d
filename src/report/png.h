/* png.h - PNG pictures from SVG: librsvg and cairo, behind this header.
 *
 * The libraries are optional. A program built without them writes the SVG only and says so; nothing
 * else changes. */
#ifndef TSRI_PNG_H
#define TSRI_PNG_H

#include "base/text.h"

bool tsri_png_available(void);

/* Appends a PNG of the <svg> with `scale` pixels to its unit. FAILURE, with librsvg's own message,
 * when it cannot be drawn, or when there is no librsvg. */
tsr_status tsri_png_from_svg(tsri_text *png, const tsri_text *svg, double scale);

#endif
