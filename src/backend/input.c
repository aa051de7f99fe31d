/* input.c - a batch of the host, brought into a backend's type and layout on this machine. */
#include "backend/backend.h"

/* How far apart samples, channels and pixels (or positions) lie. */
typedef struct strides {
    int64_t sample, channel, pixel;
} strides;

/* Sequences come as [N, T, C]: channels are inside. */
static strides given(tsri_shape s, tsri_layout layout)
{
    int64_t pixels = s.h * s.w;
    return layout == TSRI_POSITIONS_FIRST ? (strides){pixels * s.c, 1, s.c}
                                          : (strides){pixels * s.c, pixels, 1};
}

static strides wanted(int64_t n, tsri_shape s, tsri_layout layout)
{
    switch (layout) {
    case TSRI_CHANNELS_LAST:
        return (strides){s.h * s.w * s.c, 1, s.c};
    case TSRI_POSITIONS_FIRST:
        return (strides){s.c, 1, n * s.c};
    case TSRI_AS_GIVEN:
        break;
    }
    return given(s, layout);
}

tsr_status tsri_input_float(tsri_mem *to, const float *x, int64_t n, tsri_shape s,
                            tsri_layout layout, tsri_device device)
{
    float *out = (void *)to;
    (void)device;
    strides from = given(s, layout), at = wanted(n, s, layout);
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < s.c; c++)
            for (int64_t p = 0; p < s.h * s.w; p++)
                out[i * at.sample + c * at.channel + p * at.pixel] =
                    x[i * from.sample + c * from.channel + p * from.pixel];
    return TSR_OK;
}

tsr_status tsri_input_double(tsri_mem *to, const float *x, int64_t n, tsri_shape s,
                             tsri_layout layout, tsri_device device)
{
    double *out = (void *)to;
    (void)device;
    strides from = given(s, layout), at = wanted(n, s, layout);
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < s.c; c++)
            for (int64_t p = 0; p < s.h * s.w; p++)
                out[i * at.sample + c * at.channel + p * at.pixel] =
                    (double)x[i * from.sample + c * from.channel + p * from.pixel];
    return TSR_OK;
}

tsr_status tsri_count_float(tsri_mem *counter, tsri_device device)
{
    float *n = (void *)counter;
    (void)device;
    *n += 1;
    return TSR_OK;
}

tsr_status tsri_count_double(tsri_mem *counter, tsri_device device)
{
    double *n = (void *)counter;
    (void)device;
    *n += 1;
    return TSR_OK;
}
