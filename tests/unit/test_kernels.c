/* Every kernel of a backend (cpu, or the one that backend_testing.h says) against ref, forward and
 * backward, over odd, unit, empty and large shapes, with one and with three threads (which must not
 * change a bit). op_testing.h runs a case; here are the cases and what may differ. */
#include "op_testing.h"

/* ---- Comparing ----------------------------------------------------------------------------- */

/* All of it times 1 + |number|, operands being about 1.
 *
 * A product adds K terms in another order than ref: partial sums grow to sqrt(K), and K of them are
 * rounded, independently: the difference is about sqrt(K) sqrt(K) = K ulps of 1. A convolution is
 * such a product; F(4x4) is bounded as in test_conv.c, by 3e-5 of the result's size sqrt(K). Norm
 * divides its sums by the count again, so that sqrt(K) is left, and multiplies by w r, here below
 * 30. Means of a window or an image round as often as there are pixels, of a sum divided by their
 * number. The rest adds the same numbers in the same order. */
static double tolerance_of(const op_case *c)
{
    double ulp = 6e-8, in = (double)tsri_shape_count(c->in), out = (double)c->out.c;
    double taps = (double)(c->window.size * c->window.size),
           rows = (double)(c->n * c->in.h * c->in.w);
    double most = fmax(taps * fmax((double)c->in.c, out), rows);
    switch (c->kind) {
    case TSRI_LINEAR:
        return 2 * ulp * (fmax(fmax(in, out), (double)c->n) + 1);
    case TSRI_CONV:
        return c->flags & (DIRECT | BF16) ? 2 * ulp * (most + 1) : 3e-5 * sqrt(most);
    case TSRI_NORM:
        return ulp * 4 * 30 * sqrt(rows + 1);
    case TSRI_AVGPOOL:
    case TSRI_GLOBALPOOL:
        return 8 * ulp;
    default:
        return 0;
    }
}

/* What is stored as bf16 loses half an ulp, 2^-8 of itself. A product that something is added to was
 * stored before: it lost as much of its own size, 4 sqrt(K) at most. */
static double narrow_tolerance(const op_case *c, bool narrow, bool added)
{
    double taps = (double)(c->window.size * c->window.size);
    double most = c->kind == TSRI_CONV ? taps * fmax((double)c->in.c, (double)c->out.c)
                                       : fmax((double)tsri_shape_count(c->in), (double)c->out.c);
    bool product = c->kind == TSRI_CONV || c->kind == TSRI_LINEAR;
    return narrow ? ldexp(1, -8) * (product && added ? 1 + 4 * sqrt(most) : 1) : 0;
}

static void compare(const char *what, int64_t number, const float *got, const float *want,
                    int64_t n, double tolerance)
{
    for (int64_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - (double)want[i]) <= tolerance * (1 + fabs((double)want[i]))))
            fail_msg("case %lld: %s[%lld] = %.9g, ref has %.9g", (long long)number, what,
                     (long long)i, (double)got[i], (double)want[i]);
}

static const op_case cases[] = {
    {TSRI_LINEAR, 1, {1, 1, 1}, {1, 1, 1}, {0}, ALL | BIAS},
    {TSRI_LINEAR, 3, {5, 1, 1}, {7, 1, 1}, {0}, ALL | BIAS | RELU},
    {TSRI_LINEAR, 3, {5, 1, 1}, {7, 1, 1}, {0}, ALL | RELU | DX_ADD},
    {TSRI_LINEAR, 3, {5, 1, 1}, {7, 1, 1}, {0}, ALL | BIAS | RELU | NO_DW},
    {TSRI_LINEAR, 0, {5, 1, 1}, {7, 1, 1}, {0}, ALL | BIAS | RELU},
    {TSRI_LINEAR, 17, {33, 1, 1}, {129, 1, 1}, {0}, TRAIN | BIAS | RELU},
    {TSRI_LINEAR, 64, {2, 5, 5}, {10, 1, 1}, {0}, ALL | BIAS},
    {TSRI_LINEAR, 128, {784, 1, 1}, {300, 1, 1}, {0}, ALL | BIAS | RELU},
    {TSRI_LINEAR, 200, {257, 1, 1}, {515, 1, 1}, {0}, ALL | DX_ADD},
    {TSRI_LINEAR, 100, {300, 1, 1}, {10, 1, 1}, {0}, BIAS},

    {TSRI_CONV, 1, {1, 1, 1}, {1, 1, 1}, {3, 1, 1}, ALL | BIAS | DIRECT},
    {TSRI_CONV, 1, {1, 1, 1}, {1, 1, 1}, {3, 1, 1}, ALL | BIAS | WINOGRAD},
    {TSRI_CONV, 1, {1, 1, 1}, {1, 1, 1}, {1, 1, 0}, ALL},
    {TSRI_CONV, 3, {3, 5, 7}, {5, 5, 7}, {3, 1, 1}, ALL | BIAS | DIRECT | DX_ADD},
    {TSRI_CONV, 3, {3, 5, 7}, {5, 5, 7}, {3, 1, 1}, ALL | BIAS | WINOGRAD | DX_ADD},
    {TSRI_CONV, 2, {17, 9, 6}, {33, 9, 6}, {3, 1, 1}, ALL | PRE | ADD | DIRECT},
    {TSRI_CONV, 2, {17, 9, 6}, {33, 9, 6}, {3, 1, 1}, ALL | PRE | ADD | WINOGRAD},
    {TSRI_CONV, 2, {17, 9, 6}, {33, 7, 4}, {3, 1, 0}, ALL | BIAS | PRE | DX_ADD},
    {TSRI_CONV, 2, {17, 9, 6}, {16, 11, 8}, {3, 1, 2}, ALL | BIAS | NO_DW | WINOGRAD},
    {TSRI_CONV, 2, {17, 9, 6}, {16, 9, 6}, {3, 1, 1}, ALL | BIAS | NO_DW | DIRECT},
    {TSRI_CONV, 2, {20, 9, 8}, {24, 5, 4}, {3, 2, 1}, ALL | PRE | ADD},
    {TSRI_CONV, 2, {20, 8, 8}, {24, 4, 4}, {1, 2, 0}, ALL | PRE | DX_ADD},
    {TSRI_CONV, 2, {3, 14, 15}, {20, 7, 8}, {7, 2, 3}, TRAIN | BIAS},
    {TSRI_CONV, 0, {16, 8, 8}, {16, 8, 8}, {3, 1, 1}, ALL | BIAS | WINOGRAD},
    {TSRI_CONV, 0, {16, 8, 8}, {16, 8, 8}, {3, 1, 1}, ALL | BIAS | DIRECT},
    {TSRI_CONV, 40, {18, 16, 16}, {20, 16, 16}, {3, 1, 1}, ALL | PRE | WINOGRAD},
    {TSRI_CONV, 6, {64, 8, 8}, {70, 8, 8}, {3, 1, 1}, BIAS | ADD},

    {TSRI_LINEAR, 1, {1, 1, 1}, {1, 1, 1}, {0}, ALL | BIAS | BF16},
    {TSRI_LINEAR, 3, {5, 1, 1}, {7, 1, 1}, {0}, ALL | BIAS | RELU | DX_ADD | BF16},
    {TSRI_LINEAR, 0, {5, 1, 1}, {7, 1, 1}, {0}, ALL | BIAS | RELU | BF16},
    {TSRI_LINEAR, 200, {257, 1, 1}, {515, 1, 1}, {0}, ALL | BIAS | BF16},
    {TSRI_LINEAR, 64, {2, 5, 5}, {10, 1, 1}, {0}, BIAS | BF16},
    {TSRI_CONV, 1, {1, 1, 1}, {1, 1, 1}, {3, 1, 1}, ALL | BIAS | BF16},
    {TSRI_CONV, 3, {3, 5, 7}, {5, 5, 7}, {3, 1, 1}, ALL | BIAS | BF16 | DX_ADD},
    {TSRI_CONV, 2, {17, 9, 6}, {33, 7, 4}, {3, 1, 0}, ALL | BIAS | PRE | ADD | BF16},
    {TSRI_CONV, 2, {20, 9, 8}, {24, 5, 4}, {3, 2, 1}, ALL | PRE | ADD | BF16},
    {TSRI_CONV, 2, {20, 8, 8}, {24, 4, 4}, {1, 2, 0}, ALL | PRE | DX_ADD | BF16},
    {TSRI_CONV, 2, {3, 14, 15}, {20, 7, 8}, {7, 2, 3}, TRAIN | BIAS | BF16},
    {TSRI_CONV, 0, {16, 8, 8}, {16, 8, 8}, {3, 1, 1}, ALL | BIAS | BF16},
    {TSRI_CONV, 40, {18, 16, 16}, {20, 16, 16}, {3, 1, 1}, ALL | PRE | BF16},

    {TSRI_NORM, 2, {1, 1, 1}, {1, 1, 1}, {0}, ALL | BIAS},
    {TSRI_NORM, 5, {3, 1, 1}, {3, 1, 1}, {0}, ALL | BIAS | RELU},
    {TSRI_NORM, 128, {257, 1, 1}, {257, 1, 1}, {0}, ALL | BIAS | RELU | DX_ADD},
    {TSRI_NORM, 70, {40000, 1, 1}, {40000, 1, 1}, {0}, ALL | BIAS | RELU},
    {TSRI_NORM, 1000, {31, 1, 1}, {31, 1, 1}, {0}, TRAIN | BIAS},
    {TSRI_NORM, 5000, {64, 1, 1}, {64, 1, 1}, {0}, ALL | BIAS | RELU},
    {TSRI_NORM, 9, {31, 1, 1}, {31, 1, 1}, {0}, BIAS | RELU},
    {TSRI_NORM, 5, {19, 7, 3}, {19, 7, 3}, {0}, ALL | BIAS | RELU | ADD},
    {TSRI_NORM, 5, {19, 7, 3}, {19, 7, 3}, {0}, ALL | BIAS | ADD | DX_ADD},
    {TSRI_NORM, 5, {19, 7, 3}, {19, 7, 3}, {0}, ALL | BIAS | RELU | NO_DW},
    {TSRI_NORM, 5, {19, 7, 3}, {19, 7, 3}, {0}, BIAS | RELU | ADD},
    {TSRI_NORM, 0, {19, 7, 3}, {19, 7, 3}, {0}, BIAS | RELU | ADD},
    {TSRI_NORM, 0, {19, 7, 3}, {19, 7, 3}, {0}, ALL | BIAS | RELU | ADD},
    {TSRI_NORM, 0, {5, 1, 1}, {5, 1, 1}, {0}, ALL | BIAS | DX_ADD | NO_DW},
    {TSRI_NORM, 16, {40, 16, 16}, {40, 16, 16}, {0}, ALL | BIAS | RELU | ADD},

    {TSRI_NORM, 1, {1, 1, 2}, {1, 1, 2}, {0}, ALL | BIAS | RELU | VIRTUAL},
    {TSRI_NORM, 5, {19, 7, 3}, {19, 7, 3}, {0}, ALL | BIAS | RELU | VIRTUAL},
    {TSRI_NORM, 5, {33, 7, 3}, {33, 7, 3}, {0}, ALL | BIAS | RELU | VIRTUAL | DX_ADD},
    {TSRI_NORM, 5, {16, 3, 3}, {16, 3, 3}, {0}, TRAIN | BIAS | RELU | VIRTUAL},
    {TSRI_NORM, 5, {16, 3, 3}, {16, 3, 3}, {0}, ALL | BIAS | RELU | VIRTUAL | NO_DW},
    {TSRI_NORM, 5, {19, 7, 3}, {19, 7, 3}, {0}, BIAS | RELU | VIRTUAL},
    {TSRI_NORM, 0, {19, 7, 3}, {19, 7, 3}, {0}, BIAS | RELU | VIRTUAL},
    {TSRI_NORM, 0, {19, 7, 3}, {19, 7, 3}, {0}, ALL | BIAS | RELU | VIRTUAL},
    {TSRI_NORM, 3, {17000, 2, 1}, {17000, 2, 1}, {0}, ALL | BIAS | RELU | VIRTUAL},
    {TSRI_NORM, 30, {67, 16, 16}, {67, 16, 16}, {0}, ALL | BIAS | RELU | VIRTUAL},

    {TSRI_RELU, 1, {1, 1, 1}, {1, 1, 1}, {0}, ALL},
    {TSRI_RELU, 7, {1000, 3, 3}, {1000, 3, 3}, {0}, ALL | DX_ADD},
    {TSRI_RELU, 7, {1000, 3, 3}, {1000, 3, 3}, {0}, TRAIN},
    {TSRI_RELU, 0, {4, 1, 1}, {4, 1, 1}, {0}, ALL},

    {TSRI_ADD, 1, {1, 1, 1}, {1, 1, 1}, {0}, ALL | ADD | DADD},
    {TSRI_ADD, 3, {5, 7, 3}, {5, 7, 3}, {0}, ALL | ADD | RELU | DADD | DADD_ADD},
    {TSRI_ADD, 3, {5, 7, 3}, {5, 7, 3}, {0}, ALL | ADD | RELU | DX_ADD},
    {TSRI_ADD, 3, {5, 7, 3}, {5, 7, 3}, {0}, TRAIN | ADD | RELU | DADD},
    {TSRI_ADD, 0, {5, 7, 3}, {5, 7, 3}, {0}, ALL | ADD | RELU | DADD},
    {TSRI_ADD, 9, {64, 16, 16}, {64, 16, 16}, {0}, ALL | ADD | RELU | DADD | DX_ADD},

    {TSRI_MAXPOOL, 1, {1, 1, 1}, {1, 1, 1}, {1, 1, 0}, ALL},
    {TSRI_MAXPOOL, 3, {5, 7, 9}, {5, 3, 4}, {2, 2, 0}, ALL},
    {TSRI_MAXPOOL, 3, {5, 7, 9}, {5, 4, 5}, {3, 2, 1}, ALL | DX_ADD},
    {TSRI_MAXPOOL, 3, {5, 7, 9}, {5, 7, 9}, {3, 1, 1}, ALL},
    {TSRI_MAXPOOL, 3, {5, 7, 9}, {5, 2, 2}, {5, 4, 2}, TRAIN},
    {TSRI_MAXPOOL, 3, {5, 7, 9}, {5, 4, 5}, {3, 2, 1}, 0},
    {TSRI_MAXPOOL, 0, {5, 7, 9}, {5, 4, 5}, {3, 2, 1}, ALL},
    {TSRI_MAXPOOL, 20, {65, 32, 32}, {65, 16, 16}, {2, 2, 0}, ALL},

    {TSRI_AVGPOOL, 1, {1, 1, 1}, {1, 1, 1}, {1, 1, 0}, ALL},
    {TSRI_AVGPOOL, 3, {5, 7, 9}, {5, 3, 4}, {2, 2, 0}, ALL},
    {TSRI_AVGPOOL, 3, {5, 7, 9}, {5, 4, 5}, {3, 2, 1}, ALL | DX_ADD},
    {TSRI_AVGPOOL, 3, {5, 7, 9}, {5, 7, 9}, {3, 1, 1}, TRAIN},
    {TSRI_AVGPOOL, 0, {5, 7, 9}, {5, 4, 5}, {3, 2, 1}, ALL},
    {TSRI_AVGPOOL, 20, {65, 32, 32}, {65, 16, 16}, {2, 2, 0}, ALL},

    {TSRI_GLOBALPOOL, 1, {1, 1, 1}, {1, 1, 1}, {0}, ALL},
    {TSRI_GLOBALPOOL, 3, {5, 7, 9}, {5, 1, 1}, {0}, ALL | DX_ADD},
    {TSRI_GLOBALPOOL, 3, {5, 7, 9}, {5, 1, 1}, {0}, TRAIN},
    {TSRI_GLOBALPOOL, 0, {5, 7, 9}, {5, 1, 1}, {0}, ALL},
    {TSRI_GLOBALPOOL, 20, {130, 16, 16}, {130, 1, 1}, {0}, ALL},

    {TSRI_FLATTEN, 1, {1, 1, 1}, {1, 1, 1}, {0}, ALL},
    {TSRI_FLATTEN, 3, {5, 7, 9}, {315, 1, 1}, {0}, ALL},
    {TSRI_FLATTEN, 3, {5, 7, 9}, {315, 1, 1}, {0}, ALL | DX_ADD},
    {TSRI_FLATTEN, 3, {5, 7, 9}, {315, 1, 1}, {0}, TRAIN},
    {TSRI_FLATTEN, 0, {5, 7, 9}, {315, 1, 1}, {0}, ALL},
    {TSRI_FLATTEN, 20, {130, 16, 16}, {33280, 1, 1}, {0}, ALL},

    {TSRI_LINEAR, 1, {1, 1, 1}, {1, 1, 1}, {0}, ALL | BIAS | BF16 | NARROW},
    {TSRI_LINEAR, 3, {5, 1, 1}, {7, 1, 1}, {0}, ALL | BIAS | RELU | BF16 | NARROW},
    {TSRI_LINEAR, 3, {5, 1, 1}, {7, 1, 1}, {0}, ALL | DX_ADD | BF16 | NARROW_X},
    {TSRI_LINEAR, 3, {5, 1, 1}, {7, 1, 1}, {0}, TRAIN | BIAS | RELU | BF16 | NARROW_Y},
    {TSRI_LINEAR, 64, {104, 1, 1}, {300, 1, 1}, {0}, ALL | BIAS | RELU | BF16 | NARROW},
    {TSRI_CONV, 1, {1, 1, 1}, {1, 1, 1}, {3, 1, 1}, ALL | BIAS | BF16 | NARROW},
    {TSRI_CONV, 0, {16, 8, 8}, {16, 8, 8}, {3, 1, 1}, ALL | BIAS | BF16 | NARROW},
    {TSRI_CONV, 3, {3, 9, 7}, {16, 9, 7}, {3, 1, 1}, TRAIN | BIAS | BF16 | NARROW_Y},
    {TSRI_CONV, 2, {16, 9, 6}, {24, 9, 6}, {3, 1, 1}, ALL | BF16 | NARROW},
    {TSRI_CONV, 2, {17, 9, 6}, {33, 9, 6}, {3, 1, 1}, ALL | ADD | BIAS | BF16 | NARROW},
    {TSRI_CONV, 2, {20, 9, 8}, {24, 5, 4}, {3, 2, 1}, ALL | BF16 | NARROW},
    {TSRI_CONV, 2, {43, 8, 8}, {21, 4, 4}, {1, 2, 0}, ALL | DX_ADD | BF16 | NARROW},
    {TSRI_CONV, 3, {16, 9, 7}, {24, 5, 4}, {1, 2, 0}, ALL | BF16 | NARROW},
    {TSRI_CONV, 2, {9, 8, 8}, {16, 3, 3}, {1, 3, 0}, ALL | DX_ADD | BF16 | NARROW},
    {TSRI_CONV, 3, {1, 9, 7}, {16, 9, 7}, {3, 1, 1}, TRAIN | BF16 | NARROW_Y},
    {TSRI_CONV, 2, {2, 9, 7}, {8, 5, 4}, {5, 2, 2}, TRAIN | BF16 | NARROW_Y},
    {TSRI_CONV, 2, {16, 8, 8}, {8, 8, 8}, {3, 1, 1}, BF16 | NARROW},
    {TSRI_NORM, 2, {1, 1, 1}, {1, 1, 1}, {0}, ALL | BIAS | NARROW},
    {TSRI_NORM, 5, {19, 7, 3}, {19, 7, 3}, {0}, ALL | BIAS | RELU | NARROW},
    {TSRI_NORM, 5, {19, 7, 3}, {19, 7, 3}, {0}, ALL | BIAS | RELU | ADD | NARROW},
    {TSRI_NORM, 5, {19, 7, 3}, {19, 7, 3}, {0}, ALL | BIAS | ADD | DX_ADD | NARROW},
    {TSRI_NORM, 128, {257, 1, 1}, {257, 1, 1}, {0}, ALL | BIAS | RELU | DX_ADD | NARROW},
    {TSRI_NORM, 9, {4100, 1, 1}, {4100, 1, 1}, {0}, ALL | BIAS | RELU | NO_DW | NARROW},
    {TSRI_NORM, 30, {64, 16, 16}, {64, 16, 16}, {0}, ALL | BIAS | RELU | NARROW},
    {TSRI_NORM, 50, {64, 16, 16}, {64, 16, 16}, {0}, ALL | BIAS | RELU | NARROW | CROWD},
    {TSRI_NORM, 5, {19, 7, 3}, {19, 7, 3}, {0}, ALL | BIAS | RELU | ADD | NARROW | CROWD},
    {TSRI_NORM, 9, {31, 1, 1}, {31, 1, 1}, {0}, BIAS | RELU | NARROW},
    {TSRI_NORM, 0, {19, 7, 3}, {19, 7, 3}, {0}, BIAS | RELU | ADD | NARROW},
    {TSRI_RELU, 7, {100, 3, 3}, {100, 3, 3}, {0}, ALL | DX_ADD | NARROW},
    {TSRI_RELU, 7, {5, 3, 3}, {5, 3, 3}, {0}, ALL | NARROW},
    {TSRI_ADD, 3, {5, 7, 3}, {5, 7, 3}, {0}, ALL | ADD | RELU | DADD | DADD_ADD | NARROW},
    {TSRI_ADD, 9, {64, 5, 5}, {64, 5, 5}, {0}, ALL | ADD | DX_ADD | NARROW},
    {TSRI_MAXPOOL, 3, {5, 7, 9}, {5, 4, 5}, {3, 2, 1}, ALL | DX_ADD | NARROW},
    {TSRI_MAXPOOL, 3, {5, 7, 9}, {5, 3, 4}, {2, 2, 0}, ALL | NARROW},
    {TSRI_AVGPOOL, 3, {5, 7, 9}, {5, 4, 5}, {3, 2, 1}, ALL | DX_ADD | NARROW},
    {TSRI_GLOBALPOOL, 3, {5, 7, 9}, {5, 1, 1}, {0}, ALL | DX_ADD | NARROW},
    {TSRI_GLOBALPOOL, 20, {130, 4, 4}, {130, 1, 1}, {0}, ALL | NARROW},
    {TSRI_FLATTEN, 3, {5, 7, 9}, {315, 1, 1}, {0}, ALL | DX_ADD | NARROW},
};

/* What is compared: everything that may be written. dy only where it is promised (op.h): the sum's
 * gradient, masked. */
static void compare_all(const op_case *c, int64_t number, const buffers *got, const buffers *want)
{
    double tolerance = tolerance_of(c);
    double y = tolerance + narrow_tolerance(c, c->flags & NARROW_Y, c->flags & (ADD | BIAS));
    double dx = tolerance + narrow_tolerance(c, c->flags & NARROW_X, c->flags & DX_ADD);
    compare("y", number, got->y, want->y, out_count(c), y);
    compare("dx", number, got->dx, want->dx, in_count(c), dx);
    bool rounded = c->kind == TSRI_CONV && c->flags & NARROW_Y; /* once, as autocast does */
    compare("dw", number, got->dw, want->dw, weights_of(c),
            tolerance + (rounded ? ldexp(1, -8) : 0));
    compare("db", number, got->db, want->db, c->out.c, tolerance);
    compare("dadd", number, got->dadd, want->dadd, out_count(c), y);
    compare("mean", number, got->mean, want->mean, c->out.c, tolerance);
    compare("var", number, got->var, want->var, c->out.c, tolerance);
    if (c->flags & ADD)
        compare("dy", number, got->dy, want->dy, out_count(c), 0);
}

static void same_bits(const op_case *c, const buffers *a, const buffers *b)
{
    assert_memory_equal(a->y, b->y, (size_t)out_count(c) * sizeof *a->y);
    assert_memory_equal(a->dx, b->dx, (size_t)in_count(c) * sizeof *a->dx);
    assert_memory_equal(a->dadd, b->dadd, (size_t)out_count(c) * sizeof *a->dadd);
    assert_memory_equal(a->dw, b->dw, (size_t)weights_of(c) * sizeof *a->dw);
    assert_memory_equal(a->db, b->db, (size_t)c->out.c * sizeof *a->db);
}

static bool is_small_bf16(const op_case *c)
{
    return c->flags & (BF16 | NARROW) && in_count(c) <= 10000 && out_count(c) <= 10000;
}

static void equals_ref(void **state)
{
    (void)state;
    const tsri_backend *backend = tested_backend();
    tsri_pool *one = NULL, *three = NULL;
    assert_ok(tsri_pool_create(&one, 1));
    assert_ok(tsri_pool_create(&three, 3));
    bool bf16 = tested_bf16(backend);
    int64_t run = 0;
    for (int64_t i = 0; i < (int64_t)(sizeof cases / sizeof *cases); i++) {
        if ((cases[i].flags & BF16 && !bf16) || (cases[i].flags & NARROW && !backend->can.narrow))
            continue;
        if (only_small_bf16() && !is_small_bf16(&cases[i]))
            continue;
        run++;
        buffers want = run_case(&cases[i], i, &tsri_backend_ref, one);
        buffers got = run_case(&cases[i], i, backend, one);
        buffers again = run_case(&cases[i], i, backend, three);
        compare_all(&cases[i], i, &got, &want);
        same_bits(&cases[i], &got, &again);
        free_buffers(&want);
        free_buffers(&got);
        free_buffers(&again);
    }
    assert_true(run > 0);
    tsri_pool_destroy(one);
    tsri_pool_destroy(three);
}

/* 3x3 convolutions of stride 1: not a first layer by its looks, and a third of the pixels of the
 * 4x4 tiles needed (docs/convolution.md). */
static void rule_of_the_shape(void **state)
{
    (void)state;
    static const struct {
        int64_t c, k, h, w, stride;
        bool winograd;
    } shapes[] = {
        {8, 8, 32, 32, 1, true},    {3, 8, 32, 32, 1, true},   {8, 1, 32, 32, 1, true},
        {64, 64, 4, 4, 1, true},    {64, 64, 5, 5, 1, true},   {64, 64, 3, 3, 1, true},
        {512, 512, 2, 2, 1, false}, {64, 64, 1, 1, 1, false},  {64, 64, 1, 32, 1, false},
        {64, 64, 2, 32, 1, true},   {64, 64, 8, 8, 2, false},  {3, 64, 32, 32, 1, false},
        {1, 16, 28, 28, 1, true},   {1, 17, 28, 28, 1, false}, {8, 512, 8, 8, 1, true},
    };
    tsri_pool *pool = NULL;
    assert_ok(tsri_pool_create(&pool, 1));
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        int64_t h = shapes[i].h / shapes[i].stride, w = shapes[i].w / shapes[i].stride;
        tsri_op op = {.kind = TSRI_CONV,
                      .n = 1,
                      .in = {shapes[i].c, shapes[i].h, shapes[i].w},
                      .out = {shapes[i].k, h, w},
                      .size = 3,
                      .stride = shapes[i].stride,
                      .pad = 1,
                      .pool = pool};
        assert_ok(tsri_op_setup(&op, &tsri_backend_cpu));
        assert_string_equal(op.kernel->name, shapes[i].winograd ? "winograd 4x4" : "direct");
        tsri_op_teardown(&op);
    }
    tsri_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equals_ref),
                                       cmocka_unit_test(rule_of_the_shape)};
    filter_tests();
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
