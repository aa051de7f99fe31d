/* The reference operations: cases worked by hand; every gradient in double against central
 * differences, windows of all kinds; fused sums and ReLUs against the same ops one by one. */
#include "gradient_testing.h"

#include "backend/backend.h"
#include "base/rng.h"

/* ---- An op with its buffers, in float or double ------------------------------------------- */

typedef struct op_case {
    tsri_kind kind;
    int64_t n;
    tsri_shape in, out;
    int64_t size, stride, pad;
    bool bias, add, relu;
} op_case;

enum { X, Y, DX, DY, W, B, DW, DB, ADD, DADD, MEAN, VAR, SAVED, BUFFERS };

typedef struct bound {
    tsri_op op;
    int64_t count[BUFFERS];
    void *data[BUFFERS];
} bound;

static int64_t weights_of(const op_case *c)
{
    if (c->kind == TSRI_LINEAR)
        return tsri_shape_count(c->in) * tsri_shape_count(c->out);
    return c->kind == TSRI_CONV ? c->out.c * c->in.c * c->size * c->size : c->in.c;
}

static void bind(bound *b, const op_case *c, const tsri_backend *backend)
{
    int64_t in = c->n * tsri_shape_count(c->in), out = c->n * tsri_shape_count(c->out);
    int64_t channels = c->kind == TSRI_LINEAR ? tsri_shape_count(c->out) : c->out.c;
    bool has_weights = c->kind == TSRI_LINEAR || c->kind == TSRI_CONV || c->kind == TSRI_NORM;
    bool has_bias = has_weights && (c->bias || c->kind == TSRI_NORM);
    bool sum = c->kind == TSRI_ADD;
    int64_t counts[BUFFERS] = {in,       out, in,  out,      weights_of(c), channels, weights_of(c),
                               channels, out, out, channels, channels};
    *b = (bound){.op = {.kind = c->kind,
                        .n = c->n,
                        .in = c->in,
                        .out = c->out,
                        .size = c->size,
                        .stride = c->stride,
                        .pad = c->pad,
                        .training = true,
                        .relu = c->relu,
                        .eps = 1e-5,
                        .momentum = 0.1,
                        .need_dx = true}};
    assert_ok(tsri_op_setup(&b->op, backend));
    for (int i = 0; i < BUFFERS; i++) {
        b->count[i] = counts[i];
        int64_t bytes = i == SAVED ? b->op.saved_bytes : counts[i] * backend->real_bytes;
        assert_ok(tsri_alloc(&b->data[i], bytes, 1));
    }
    b->op.x = b->data[X];
    b->op.y = b->data[Y];
    b->op.dx = b->data[DX];
    b->op.dy = b->data[DY];
    b->op.w = has_weights ? b->data[W] : NULL;
    b->op.dw = has_weights ? b->data[DW] : NULL;
    b->op.b = has_bias ? b->data[B] : NULL;
    b->op.db = has_bias ? b->data[DB] : NULL;
    b->op.add = c->add || sum ? b->data[ADD] : NULL;
    b->op.dadd = sum ? b->data[DADD] : NULL;
    b->op.mean = b->data[MEAN];
    b->op.var = b->data[VAR];
    b->op.saved = b->data[SAVED];
}

static void unbind(bound *b)
{
    tsri_op_teardown(&b->op);
    for (int i = 0; i < BUFFERS; i++)
        tsri_free(b->data[i]);
}

static void put(bound *b, int buffer, const float *values)
{
    memcpy(b->data[buffer], values, (size_t)b->count[buffer] * sizeof *values);
}

static void expect(const bound *b, int buffer, const float *values)
{
    const float *have = b->data[buffer];
    for (int64_t i = 0; i < b->count[buffer]; i++)
        if (have[i] != values[i])
            fail_msg("%s: buffer %d [%lld] is %g, by hand %g", tsri_kind_name(b->op.kind), buffer,
                     (long long)i, (double)have[i], (double)values[i]);
}

/* ---- By hand ------------------------------------------------------------------------------ */

/* Two channels of 3x3 with padding 1 and stride 2: the windows' corners lie outside. */
static void conv_by_hand(void **state)
{
    (void)state;
    op_case c = {TSRI_CONV, 1, {1, 3, 3}, {2, 2, 2}, 3, 2, 1, true, false, false};
    bound b;
    bind(&b, &c, &tsri_backend_ref);
    put(&b, X, (float[]){1, 2, 3, 4, 5, 6, 7, 8, 9});
    put(&b, W, (float[]){1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 10});
    put(&b, B, (float[]){0, 100});
    assert_ok(b.op.kernel->forward(&b.op));
    /* all ones: sums of the 2x2 corners; the other: centre + 10 x the pixel right below it */
    expect(&b, Y, (float[]){12, 16, 24, 28, 151, 103, 107, 109});
    put(&b, DY, (float[]){1, 0, 0, 0, 0, 0, 0, 2});
    assert_ok(b.op.kernel->backward(&b.op));
    expect(&b, DB, (float[]){1, 2});
    expect(&b, DW, (float[]){0, 0, 0, 0, 1, 2, 0, 4, 5, 10, 12, 0, 16, 18, 0, 0, 0, 0});
    expect(&b, DX, (float[]){1, 1, 0, 1, 1, 0, 0, 0, 2});
    b.op.dx_add = true;
    b.op.dw = NULL; /* fixed weights */
    assert_ok(b.op.kernel->backward(&b.op));
    expect(&b, DX, (float[]){2, 2, 0, 2, 2, 0, 0, 0, 4});
    unbind(&b);
}

static void sums_by_hand(void **state)
{
    (void)state;
    op_case c = {TSRI_ADD, 1, {4, 1, 1}, {4, 1, 1}, 0, 0, 0, false, true, true};
    bound b;
    bind(&b, &c, &tsri_backend_ref);
    put(&b, X, (float[]){1, -2, 3, 0});
    put(&b, ADD, (float[]){1, 1, -4, 0});
    assert_ok(b.op.kernel->forward(&b.op));
    expect(&b, Y, (float[]){2, 0, 0, 0});
    put(&b, DX, (float[]){10, 10, 10, 10});
    put(&b, DY, (float[]){5, 6, 7, 8});
    b.op.dx_add = true;
    assert_ok(b.op.kernel->backward(&b.op));
    expect(&b, DX, (float[]){15, 10, 10, 10});
    expect(&b, DADD, (float[]){5, 0, 0, 0});
    expect(&b, DY, (float[]){5, 0, 0, 0}); /* masked and otherwise unchanged */
    b.op.dadd_add = true;
    assert_ok(b.op.kernel->backward(&b.op));
    expect(&b, DADD, (float[]){10, 0, 0, 0});
    unbind(&b);
}

/* Equal pixels: the first, row by row, gets the gradient, as in PyTorch. A window that reaches into
 * the padding takes its largest pixel from the image even if all are negative. */
static void maxpool_by_hand(void **state)
{
    (void)state;
    op_case c = {TSRI_MAXPOOL, 1, {1, 3, 3}, {1, 2, 2}, 3, 2, 1, false, false, false};
    bound b;
    bind(&b, &c, &tsri_backend_ref);
    put(&b, X, (float[]){-5, -1, -1, -2, -3, -1, -2, -4, -9});
    assert_ok(b.op.kernel->forward(&b.op));
    expect(&b, Y, (float[]){-1, -1, -2, -1});
    put(&b, DY, (float[]){1, 2, 4, 8});
    assert_ok(b.op.kernel->backward(&b.op));
    expect(&b, DX, (float[]){0, 3, 0, 4, 0, 8, 0, 0, 0});
    b.op.dx_add = true;
    assert_ok(b.op.kernel->backward(&b.op));
    expect(&b, DX, (float[]){0, 6, 0, 8, 0, 16, 0, 0, 0});
    unbind(&b);
}

static void averages_by_hand(void **state)
{
    (void)state;
    op_case c = {TSRI_AVGPOOL, 1, {1, 3, 3}, {1, 2, 2}, 2, 2, 1, false, false, false};
    bound b;
    bind(&b, &c, &tsri_backend_ref);
    put(&b, X, (float[]){4, 8, 12, 16, 20, 24, 28, 32, 36});
    assert_ok(b.op.kernel->forward(&b.op));
    expect(&b, Y, (float[]){1, 5, 11, 28}); /* padding counts: always a fourth */
    put(&b, DY, (float[]){4, 8, 12, 16});
    assert_ok(b.op.kernel->backward(&b.op));
    expect(&b, DX, (float[]){1, 2, 2, 3, 4, 4, 3, 4, 4});
    unbind(&b);

    op_case g = {TSRI_GLOBALPOOL, 1, {2, 1, 2}, {2, 1, 1}, 0, 0, 0, false, false, false};
    bind(&b, &g, &tsri_backend_ref);
    put(&b, X, (float[]){1, 3, 5, 9});
    assert_ok(b.op.kernel->forward(&b.op));
    expect(&b, Y, (float[]){2, 7});
    put(&b, DY, (float[]){2, 6});
    assert_ok(b.op.kernel->backward(&b.op));
    expect(&b, DX, (float[]){1, 1, 3, 3});
    unbind(&b);

    op_case f = {TSRI_FLATTEN, 1, {2, 1, 2}, {2, 1, 2}, 0, 0, 0, false, false, false};
    bind(&b, &f, &tsri_backend_ref);
    put(&b, X, (float[]){1, 3, 5, 9});
    assert_ok(b.op.kernel->forward(&b.op));
    expect(&b, Y, (float[]){1, 3, 5, 9});
    put(&b, DY, (float[]){2, 6, 4, 3});
    assert_ok(b.op.kernel->backward(&b.op));
    expect(&b, DX, (float[]){2, 6, 4, 3});
    unbind(&b);
}

/* ---- Gradients ---------------------------------------------------------------------------- */

static const op_case cases[] = {
    {TSRI_LINEAR, 3, {5, 1, 1}, {4, 1, 1}, 0, 0, 0, true, false, true},
    {TSRI_CONV, 2, {3, 5, 4}, {4, 5, 4}, 3, 1, 1, true, false, false},
    {TSRI_CONV, 2, {3, 5, 4}, {4, 5, 4}, 3, 1, 1, false, true, true},
    {TSRI_CONV, 2, {2, 6, 5}, {3, 3, 3}, 3, 2, 1, false, true, false},
    {TSRI_CONV, 2, {2, 6, 5}, {3, 3, 3}, 1, 2, 0, false, false, false},
    {TSRI_CONV, 2, {2, 8, 8}, {3, 4, 4}, 7, 2, 3, false, false, true},
    {TSRI_CONV, 1, {1, 2, 2}, {2, 1, 1}, 2, 3, 0, true, false, false},
    {TSRI_CONV, 1, {1, 1, 1}, {2, 3, 3}, 1, 1, 1, true, false, false},
    {TSRI_CONV, 1, {2, 7, 7}, {2, 3, 3}, 2, 3, 1, false, false, false}, /* a column never read */
    {TSRI_NORM, 3, {2, 3, 2}, {2, 3, 2}, 0, 0, 0, true, false, true},
    {TSRI_NORM, 3, {2, 3, 2}, {2, 3, 2}, 0, 0, 0, true, true, true},
    {TSRI_NORM, 3, {2, 3, 2}, {2, 3, 2}, 0, 0, 0, true, true, false},
    {TSRI_RELU, 2, {3, 2, 2}, {3, 2, 2}, 0, 0, 0, false, false, false},
    {TSRI_ADD, 2, {3, 2, 2}, {3, 2, 2}, 0, 0, 0, false, true, true},
    {TSRI_ADD, 2, {3, 2, 2}, {3, 2, 2}, 0, 0, 0, false, true, false},
    {TSRI_MAXPOOL, 2, {2, 5, 6}, {2, 3, 3}, 3, 2, 1, false, false, false},
    {TSRI_MAXPOOL, 2, {2, 5, 6}, {2, 2, 3}, 2, 2, 0, false, false, false},
    {TSRI_MAXPOOL, 2, {2, 5, 6}, {2, 1, 2}, 2, 4, 0, false, false, false}, /* gaps */
    {TSRI_AVGPOOL, 2, {2, 5, 6}, {2, 3, 3}, 3, 2, 1, false, false, false},
    {TSRI_AVGPOOL, 2, {2, 5, 6}, {2, 4, 5}, 2, 1, 0, false, false, false},
    {TSRI_GLOBALPOOL, 2, {3, 2, 3}, {3, 1, 1}, 0, 0, 0, false, false, false},
    {TSRI_FLATTEN, 2, {3, 2, 3}, {3, 2, 3}, 0, 0, 0, false, false, false},
};

static void fill(double *p, int64_t n, int64_t number, int buffer)
{
    tsri_rng rng = tsri_rng_stream(3, TSRI_FOR_TEST, number, buffer, 0);
    for (int64_t i = 0; i < n; i++)
        p[i] = tsri_rng_normal(&rng);
}

typedef struct weighed {
    bound *b;
    const double *dy;
} weighed;

/* A number whose derivatives are what backward gives for the gradient `dy`: sum of dy y. */
static double value_of(void *weighed_)
{
    const weighed *v = weighed_;
    const double *y = v->b->data[Y];
    double sum = 0;
    assert_ok(v->b->op.kernel->forward(&v->b->op));
    for (int64_t i = 0; i < v->b->count[Y]; i++)
        sum += v->dy[i] * y[i];
    return sum;
}

static void check_buffer(const weighed *v, int64_t number, int buffer, const double *g)
{
    char what[100];
    weighed copy = *v;
    differences d = {.value = value_of, .context = &copy};
    (void)snprintf(what, sizeof what, "case %lld (%s), buffer %d", (long long)number,
                   tsri_kind_name(v->b->op.kind), buffer);
    assert_gradient(&d, what, v->b->data[buffer], g, v->b->count[buffer], 1);
}

static void gradients_are_derivatives(void **state)
{
    (void)state;
    for (int64_t k = 0; k < (int64_t)(sizeof cases / sizeof *cases); k++) {
        const op_case *c = &cases[k];
        bound b;
        double *dy = NULL;
        bind(&b, c, &tsri_backend_ref64);
        for (int i = 0; i < SAVED; i++)
            fill(b.data[i], b.count[i], k, i);
        assert_ok(tsri_alloc(&dy, b.count[DY], sizeof *dy));
        memcpy(dy, b.data[DY], (size_t)b.count[DY] * sizeof *dy);
        weighed v = {&b, dy};
        (void)value_of(&v);
        assert_ok(b.op.kernel->backward(&b.op));
        check_buffer(&v, k, X, b.data[DX]);
        if (b.op.w)
            check_buffer(&v, k, W, b.data[DW]);
        if (b.op.b)
            check_buffer(&v, k, B, b.data[DB]);
        if (b.op.add) /* fused, its gradient is dy as backward leaves it */
            check_buffer(&v, k, ADD, b.op.dadd ? b.data[DADD] : b.data[DY]);
        tsri_free(dy);
        unbind(&b);
    }
}

/* ---- Fused equals one by one, to the bit -------------------------------------------------- */

/* The same case without its sum and ReLU, and both after it by the ops of their own. */
static void unfused(bound *b, bound *sum, bound *relu, const op_case *c)
{
    op_case plain = *c;
    plain.add = plain.relu = false;
    op_case s = {TSRI_ADD, c->n, c->out, c->out, 0, 0, 0, false, true, false};
    op_case r = {TSRI_RELU, c->n, c->out, c->out, 0, 0, 0, false, false, false};
    bind(b, &plain, &tsri_backend_ref64);
    bind(sum, &s, &tsri_backend_ref64);
    bind(relu, &r, &tsri_backend_ref64);
    sum->op.x = b->op.y;
    sum->op.dx = b->op.dy;
    relu->op.x = c->add ? sum->op.y : b->op.y;
    relu->op.dx = c->add ? sum->op.dy : b->op.dy;
}

static void fused_equals_unfused(void **state)
{
    (void)state;
    for (int64_t k = 0; k < (int64_t)(sizeof cases / sizeof *cases); k++) {
        const op_case *c = &cases[k];
        if (c->kind == TSRI_ADD || !c->relu)
            continue;
        bound b, plain, sum, relu;
        bind(&b, c, &tsri_backend_ref64);
        unfused(&plain, &sum, &relu, c);
        for (int i = 0; i < SAVED; i++) {
            fill(b.data[i], b.count[i], k, i);
            memcpy(plain.data[i], b.data[i], (size_t)b.count[i] * sizeof(double));
        }
        memcpy(sum.data[ADD], b.data[ADD], (size_t)b.count[ADD] * sizeof(double));
        memcpy(relu.data[DY], b.data[DY], (size_t)b.count[DY] * sizeof(double));
        assert_ok(b.op.kernel->forward(&b.op));
        assert_ok(b.op.kernel->backward(&b.op));
        assert_ok(plain.op.kernel->forward(&plain.op));
        if (c->add)
            assert_ok(sum.op.kernel->forward(&sum.op));
        assert_ok(relu.op.kernel->forward(&relu.op));
        assert_ok(relu.op.kernel->backward(&relu.op));
        if (c->add)
            assert_ok(sum.op.kernel->backward(&sum.op));
        assert_ok(plain.op.kernel->backward(&plain.op));
        assert_memory_equal(b.data[Y], relu.data[Y], (size_t)b.count[Y] * sizeof(double));
        static const int same[] = {DX, DW, DB, MEAN, VAR};
        for (size_t i = 0; i < sizeof same / sizeof *same; i++)
            assert_memory_equal(b.data[same[i]], plain.data[same[i]],
                                (size_t)b.count[same[i]] * sizeof(double));
        if (c->add)
            assert_memory_equal(b.data[DY], sum.data[DADD], (size_t)b.count[DY] * sizeof(double));
        unbind(&b);
        unbind(&plain);
        unbind(&sum);
        unbind(&relu);
    }
}

/* What a virtual norm's readers apply: saved begins with scale and shift, and y = scale x + shift.
 */
static void norm_saves_scale_and_shift(void **state)
{
    (void)state;
    op_case c = {TSRI_NORM, 3, {2, 3, 2}, {2, 3, 2}, 0, 0, 0, true, false, false};
    bound b;
    bind(&b, &c, &tsri_backend_ref64);
    for (int i = 0; i < SAVED; i++)
        fill(b.data[i], b.count[i], 1, i);
    assert_ok(b.op.kernel->forward(&b.op));
    const double *x = b.data[X], *y = b.data[Y], *saved = b.data[SAVED];
    for (int64_t i = 0; i < b.count[X]; i++) {
        int64_t channel = i / 6 % 2;
        assert_true(fabs(saved[channel] * x[i] + saved[2 + channel] - y[i]) < 1e-14);
    }
    unbind(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conv_by_hand),
        cmocka_unit_test(sums_by_hand),
        cmocka_unit_test(maxpool_by_hand),
        cmocka_unit_test(averages_by_hand),
        cmocka_unit_test(gradients_are_derivatives),
        cmocka_unit_test(fused_equals_unfused),
        cmocka_unit_test(norm_saves_scale_and_shift),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
