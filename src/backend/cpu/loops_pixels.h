/* loops_pixels.h - batch norm and ReLU, pixel after pixel; a part of loops_template.h.
 *
 * Wide layers go by strips: a few vectors of channels stay in registers while the pixels run by.
 * Narrow ones would leave most of a vector empty, so they go flat: WIDTH pixels are exactly as many
 * vectors as there are channels, and lane l of vector i always belongs to channel (i WIDTH + l) mod
 * channels. What there is per channel is written out once for such a period; then memory is read
 * from end to end, whatever the number of channels.
 */
enum {
    STRIP = 4,           /* vectors of channels of a strip */
    FLAT = STRIP * WIDTH /* fewer channels go flat */
};

/* One number per channel, written out for WIDTH pixels, with room for the last vector written. */
typedef struct period {
    float at[FLAT * WIDTH + WIDTH];
} period;

static void write_out(period *to, const float *from, int64_t channels)
{
    for (int64_t p = 0; p < WIDTH; p++)
        for (int64_t c = 0; c < channels; c += WIDTH)
            store(to->at + p * channels + c, load_some(from + c, channels - c));
}

/* to[c] = the sum over the pixels of a period. */
static void fold(float *to, const vec *from, int64_t channels)
{
    for (int64_t c = 0; c < channels; c += WIDTH) {
        vec sum = {0};
        for (int64_t p = 0; p < WIDTH; p++)
            sum += load_some((const float *)from + p * channels + c, channels - c);
        store_some(to + c, sum, channels - c);
    }
}

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

/* n: floats that there are from x on */
ALWAYS void moments_vector(vec *s, vec *q, const float *x, const float *ref, int64_t n)
{
    vec d = load_some(x, n) - load_some(ref, n);
    *s += d;
    *q = fma_(d, d, *q);
}

static void moments_flat(float *sums, const float *x, const float *ref, int64_t pixels,
                         int64_t channels)
{
    vec s[FLAT], q[FLAT];
    period r;
    int64_t at = 0, i = 0, all = pixels * channels;
    write_out(&r, ref, channels);
    for (int64_t k = 0; k < channels; k++)
        s[k] = q[k] = (vec){0};
    for (; at + WIDTH <= all; at += WIDTH, i = i + 1 < channels ? i + 1 : 0)
        moments_vector(&s[i], &q[i], x + at, r.at + i * WIDTH, WIDTH);
    if (at < all)
        moments_vector(&s[i], &q[i], x + at, r.at + i * WIDTH, all - at);
    fold(sums, s, channels);
    fold(sums + channels, q, channels);
}

static void moments(float *sums, const float *x, const float *ref, int64_t pixels, int64_t channels)
{
    int64_t c = 0;
    if (channels < FLAT) {
        moments_flat(sums, x, ref, pixels, channels);
        return;
    }
    for (; c + STRIP * WIDTH <= channels; c += STRIP * WIDTH)
        moments_strip(sums + c, sums + channels + c, x + c, ref + c, pixels, channels, STRIP,
                      STRIP * WIDTH);
    for (; c < channels; c += WIDTH)
        moments_strip(sums + c, sums + channels + c, x + c, ref + c, pixels, channels, 1,
                      channels - c);
}

/* The gradient that passes the ReLU after y = scale x + shift. */
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

ALWAYS void norm_sums_vector(vec *s, vec *d, const float *g, const float *x, const float *mean,
                             const float *scale, const float *shift, int64_t n)
{
    vec v = load_some(x, n);
    vec h = passed(load_some(g, n), v, load_some(scale, n), load_some(shift, n));
    *s += h;
    *d = fma_(h, v - load_some(mean, n), *d);
}

static void norm_sums_flat(float *sums, const float *g, const float *x, const float *mean,
                           tsri_preop op, int64_t pixels, int64_t channels)
{
    vec s[FLAT], d[FLAT];
    period m, scale, shift;
    int64_t at = 0, i = 0, all = pixels * channels;
    write_out(&m, mean, channels);
    write_out(&scale, op.scale, channels);
    write_out(&shift, op.shift, channels);
    for (int64_t k = 0; k < channels; k++)
        s[k] = d[k] = (vec){0};
    for (; at + WIDTH <= all; at += WIDTH, i = i + 1 < channels ? i + 1 : 0)
        norm_sums_vector(&s[i], &d[i], g + at, x + at, m.at + i * WIDTH, scale.at + i * WIDTH,
                         shift.at + i * WIDTH, WIDTH);
    if (at < all)
        norm_sums_vector(&s[i], &d[i], g + at, x + at, m.at + i * WIDTH, scale.at + i * WIDTH,
                         shift.at + i * WIDTH, all - at);
    fold(sums, s, channels);
    fold(sums + channels, d, channels);
}

static void norm_sums(float *sums, const float *g, const float *x, const float *mean, tsri_preop op,
                      int64_t pixels, int64_t channels)
{
    int64_t c = 0;
    if (channels < FLAT) {
        norm_sums_flat(sums, g, x, mean, op, pixels, channels);
        return;
    }
    for (; c + STRIP * WIDTH <= channels; c += STRIP * WIDTH)
        norm_sums_strip(sums + c, sums + channels + c, g + c, x + c, mean + c, op.scale + c,
                        op.shift + c, pixels, channels, STRIP, STRIP * WIDTH);
    for (; c < channels; c += WIDTH)
        norm_sums_strip(sums + c, sums + channels + c, g + c, x + c, mean + c, op.scale + c,
                        op.shift + c, pixels, channels, 1, channels - c);
}

/* What norm_backward needs of the channels, from the first of a vector on. */
typedef struct slopes {
    const float *scale, *shift, *of_x, *of_1;
} slopes;

ALWAYS vec norm_gradient(const float *g, const float *x, slopes k, const float *add, int64_t n)
{
    vec v = load_some(x, n), scale = load_some(k.scale, n);
    vec h = passed(load_some(g, n), v, scale, load_some(k.shift, n));
    vec r = fma_(scale, h, fma_(load_some(k.of_x, n), v, load_some(k.of_1, n)));
    return add ? r + load_some(add, n) : r;
}

static void norm_backward_flat(float *dx, const float *g, const float *x, slopes of,
                               const float *add, int64_t pixels, int64_t channels)
{
    period scale, shift, of_x, of_1;
    int64_t at = 0, i = 0, all = pixels * channels;
    write_out(&scale, of.scale, channels);
    write_out(&shift, of.shift, channels);
    write_out(&of_x, of.of_x, channels);
    write_out(&of_1, of.of_1, channels);
    for (; at < all; at += WIDTH, i = i + 1 < channels ? i + 1 : 0) {
        slopes k = {scale.at + i * WIDTH, shift.at + i * WIDTH, of_x.at + i * WIDTH,
                    of_1.at + i * WIDTH};
        const float *also = add ? add + at : NULL;
        store_some(dx + at, norm_gradient(g + at, x + at, k, also, all - at), all - at);
    }
}

static void norm_backward(float *dx, const float *g, const float *x, const float *coef,
                          tsri_preop op, const float *add, int64_t pixels, int64_t channels)
{
    slopes k = {op.scale, op.shift, coef, coef + channels};
    if (channels < FLAT) {
        norm_backward_flat(dx, g, x, k, add, pixels, channels);
        return;
    }
    for (int64_t p = 0; p < pixels; p++)
        for (int64_t c = 0, at = p * channels; c < channels; c += WIDTH) {
            slopes kc = {k.scale + c, k.shift + c, k.of_x + c, k.of_1 + c};
            const float *also = add ? add + at + c : NULL;
            vec v = norm_gradient(g + at + c, x + at + c, kc, also, channels - c);
            store_some(dx + at + c, v, channels - c);
        }
}
