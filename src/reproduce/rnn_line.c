/* rnn_line.c - how fast a loss falls: the straight line through its logarithm (rnn.h). */
#include "reproduce/rnn.h"

#include <math.h>

enum { LEAST = 4 }; /* points of a line: through two every line is straight */

tsri_rnn_line tsri_rnn_line_of(const double *round, const double *loss, int64_t n, double floor)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0, count = 0;
    tsri_rnn_line out = {NAN, NAN, n > 0 ? loss[n - 1] / loss[0] : (double)NAN, true};
    for (int64_t i = 0; i < n; i++)
        out.falling = out.falling && loss[n - 1] <= loss[i];
    for (int64_t i = 0; i < n && !(loss[i] <= 0); i++) { /* NaN makes all of the line NaN */
        double x = round[i], y = log(loss[i]);
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
        syy += y * y;
        count++;
        if (loss[i] < floor * loss[0])
            break;
    }
    double vx = count * sxx - sx * sx, vy = count * syy - sy * sy, vxy = count * sxy - sx * sy;
    if (count >= LEAST && vx > 0 && vy > 0) {
        out.rate = -vxy / vx;
        out.r2 = vxy < 0 ? vxy * vxy / (vx * vy) : 0; /* what explodes is a straight line, too */
    }
    return out;
}
