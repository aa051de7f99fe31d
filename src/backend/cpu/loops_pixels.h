/* loops_pixels.h - batch norm and ReLU, pixel after pixel; a part of loops_template.h. */
enum { STRIP = 4 }; /* vectors of channels kept in registers while the pixels run by */

static void activate_pixels(float *y, const float *x, tsri_preop op, int64_t pixels,
                            int64_t channels)
{
    for (; pixels > 0; pixels--, x += channels, y += channels) {
        int64_t c = 0;
        for (; c + WIDTH <= channels; c += WIDTH)
            store(y + c, activate(load(x + c), load(op.scale + c), load(op.shift + c)));
        if (c < channels) {
            int64_t n = channels - c;
            vec v = activate(load_some(x + c, n), load_some(op.scale + c, n),
                             load_some(op.shift + c, n));
            store_some(y + c, v, n);
        }
    }
}

/* strip: vectors of this strip; left: channels from its first one on */
ALWAYS void moments_strip(float *sum, float *square, const float *x, const float *ref,
                          int64_t pixels, int64_t channels, int strip, int64_t left)
{
    vec s[STRIP], q[STRIP], r[STRIP];
    UNROLL for (int i = 0; i < strip; i++)
    {
        s[i] = q[i] = (vec){0};
        r[i] = load_some(ref + i * WIDTH, left - i * WIDTH);
    }
    for (int64_t p = 0; p < pixels; p++, x += channels)
        UNROLL for (int i = 0; i < strip; i++)
        {
            vec d = load_some(x + i * WIDTH, left - i * WIDTH) - r[i];
            s[i] += d;
            q[i] = fma_(d, d, q[i]);
        }
    UNROLL for (int i = 0; i < strip; i++)
    {
        store_some(sum + i * WIDTH, s[i], left - i * WIDTH);
        store_some(square + i * WIDTH, q[i], left - i * WIDTH);
    }
}

static void moments(float *sums, const float *x, const float *ref, int64_t pixels, int64_t channels)
{
    int64_t c = 0;
    for (; c + STRIP * WIDTH <= channels; c += STRIP * WIDTH)
        moments_strip(sums + c, sums + channels + c, x + c, ref + c, pixels, channels, STRIP,
                      STRIP * WIDTH);
    for (; c < channels; c += WIDTH)
        moments_strip(sums + c, sums + channels + c, x + c, ref + c, pixels, channels, 1,
                      channels - c);
}

/* The gradient that passes the ReLU behind y = scale x + shift. */
ALWAYS vec passed(vec g, vec x, vec scale, vec shift)
{
    return (vec)((bits)g & (bits)(fma_(scale, x, shift) > (vec){0}));
}

ALWAYS void norm_sums_strip(float *sum, float *dot, const float *g, const float *x,
                            const float *mean, const float *scale, const float *shift,
                            int64_t pixels, int64_t channels, int strip, int64_t left)
{
    vec s[STRIP], d[STRIP];
    UNROLL for (int i = 0; i < strip; i++) s[i] = d[i] = (vec){0};
    for (int64_t p = 0; p < pixels; p++, x += channels, g += channels)
        UNROLL for (int i = 0; i < strip; i++)
        {
            int64_t o = i * WIDTH, n = left - o;
            vec v = load_some(x + o, n);
            vec h =
                passed(load_some(g + o, n), v, load_some(scale + o, n), load_some(shift + o, n));
            s[i] += h;
            d[i] = fma_(h, v - load_some(mean + o, n), d[i]);
        }
    UNROLL for (int i = 0; i < strip; i++)
    {
        store_some(sum + i * WIDTH, s[i], left - i * WIDTH);
        store_some(dot + i * WIDTH, d[i], left - i * WIDTH);
    }
}

static void norm_sums(float *sums, const float *g, const float *x, const float *mean, tsri_preop op,
                      int64_t pixels, int64_t channels)
{
    int64_t c = 0;
    for (; c + STRIP * WIDTH <= channels; c += STRIP * WIDTH)
        norm_sums_strip(sums + c, sums + channels + c, g + c, x + c, mean + c, op.scale + c,
                        op.shift + c, pixels, channels, STRIP, STRIP * WIDTH);
    for (; c < channels; c += WIDTH)
        norm_sums_strip(sums + c, sums + channels + c, g + c, x + c, mean + c, op.scale + c,
                        op.shift + c, pixels, channels, 1, channels - c);
}

ALWAYS vec norm_gradient(const float *g, const float *x, const float *coef, tsri_preop op,
                         const float *add, int64_t channels, int64_t c, int64_t n)
{
    vec v = load_some(x + c, n);
    vec h = passed(load_some(g + c, n), v, load_some(op.scale + c, n), load_some(op.shift + c, n));
    vec low = fma_(load_some(coef + c, n), v, load_some(coef + channels + c, n));
    vec r = fma_(load_some(op.scale + c, n), h, low);
    return add ? r + load_some(add + c, n) : r;
}

static void norm_backward(float *dx, const float *g, const float *x, const float *coef,
                          tsri_preop op, const float *add, int64_t pixels, int64_t channels)
{
    for (int64_t p = 0; p < pixels; p++) {
        int64_t c = 0, at = p * channels;
        const float *also = add ? add + at : NULL;
        for (; c + WIDTH <= channels; c += WIDTH)
            store(dx + at + c, norm_gradient(g + at, x + at, coef, op, also, channels, c, WIDTH));
        if (c < channels)
            store_some(dx + at + c,
                       norm_gradient(g + at, x + at, coef, op, also, channels, c, channels - c),
                       channels - c);
    }
}
