/* colour.c - colours that everyone can tell apart. */
#include "report/colour.h"

#include <math.h>
#include <stdio.h>

static const char *const light[TSRI_COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#a8508a",
                                                "#b07a00", "#3b9bd4", "#555555"};
static const char *const dark[TSRI_COLOURS] = {"#5aaee6", "#ff8a47", "#2fcba0", "#e39ac8",
                                               "#f0b93a", "#9ad6ff", "#b8b8b8"};

const char *tsri_colour(int64_t i)
{
    return light[i % TSRI_COLOURS];
}

const char *tsri_colour_dark(int64_t i)
{
    return dark[i % TSRI_COLOURS];
}

static int channel(double linear)
{
    double v = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
    return (int)lround(255 * fmax(0, fmin(1, v)));
}

/* A path through OKLab (Ottosson 2020): lightness 0.25 to 0.94 in a straight line, hue from blue
 * (265 degrees) over green to yellow (105), chroma fullest in the middle. */
const char *tsri_ramp(char text[TSRI_COLOUR_TEXT], double at)
{
    at = isnan(at) ? 0 : fmax(0, fmin(1, at));
    double lightness = 0.25 + 0.69 * at, hue = (265 - 160 * at) * 3.14159265358979323846 / 180;
    double chroma = 0.095 + 0.035 * at;
    double a = chroma * cos(hue), b = chroma * sin(hue);
    double l = pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
    double m = pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
    double s = pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
    int red = channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s);
    int green = channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s);
    int blue = channel(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s);
    (void)snprintf(text, TSRI_COLOUR_TEXT, "#%02x%02x%02x", (unsigned)red & 255U,
                   (unsigned)green & 255U, (unsigned)blue & 255U);
    return text;
}
