/* widths.c - what narrow and odd layers cost: norms and convolutions of C to C channels on every
 * table of loops that this processor runs, in one thread.
 *
 *     bench_widths [REPEATS] [C...]
 *
 * Prints nanoseconds a pixel: the least of REPEATS in processor time, so that other work on the
 * machine hardly shows. LoFT's shares and tickets have widths that no vector divides, so C = 43
 * should cost what lies between 32 and 48, and 8 never more than 16. */
#include "backend/cpu/conv.h"
#include "base/alloc.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { IMAGES = 16, SIDE = 28, PIXELS = IMAGES * SIDE * SIDE, TILE = 4 };

typedef struct bench {
    const tsri_loops *loops;
    tsri_conv_shape shape;
    float *x, *y, *w, *small; /* small: what there is per channel, six times C */
    float *work;
    tsri_pool *pool;
} bench;

static void norm_forward(const bench *b)
{
    b->loops->moments(b->small + 4 * b->shape.c, b->x, b->small, PIXELS, b->shape.c);
}

static void norm_backward(const bench *b)
{
    int64_t C = b->shape.c;
    tsri_preop op = {b->small, b->small + C};
    b->loops->norm_sums(b->small + 4 * C, b->y, b->x, b->small, op, PIXELS, C);
    b->loops->norm_backward(b->y, b->y, b->x, b->small + 2 * C, op, NULL, PIXELS, C);
}

static void direct_forward(const bench *b)
{
    tsri_fuse fuse = {.pre = {b->small, b->small + b->shape.c}};
    tsri_direct_forward(b->y, b->x, b->w, &b->shape, fuse,
                        &(tsri_conv_team){b->loops, b->pool, b->work});
}

static void direct_backward(const bench *b)
{
    tsri_fuse fuse = {.pre = {b->small, b->small + b->shape.c}};
    tsri_conv_team team = {b->loops, b->pool, b->work};
    tsri_direct_backward_weights(b->w, b->x, b->y, &b->shape, fuse, &team);
    tsri_direct_backward_data(b->y, b->x, b->w, &b->shape, NULL, &team);
}

static void winograd_forward(const bench *b)
{
    tsri_fuse fuse = {.pre = {b->small, b->small + b->shape.c}};
    tsri_winograd_forward(b->y, b->x, b->w, &b->shape, TILE, fuse,
                          &(tsri_conv_team){b->loops, b->pool, b->work});
}

static void winograd_backward(const bench *b)
{
    tsri_fuse fuse = {.pre = {b->small, b->small + b->shape.c}};
    tsri_conv_team team = {b->loops, b->pool, b->work};
    tsri_winograd_backward_weights(b->w, b->x, b->y, &b->shape, TILE, fuse, &team);
    tsri_winograd_backward_data(b->y, b->x, b->w, &b->shape, TILE, NULL, &team);
}

static const struct {
    const char *name;
    void (*run)(const bench *b);
} passes[] = {
    {"norm fwd", norm_forward},         {"norm bwd", norm_backward},
    {"direct fwd", direct_forward},     {"direct bwd", direct_backward},
    {"winograd fwd", winograd_forward}, {"winograd bwd", winograd_backward},
};

enum { PASSES = sizeof passes / sizeof *passes };

static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fill(float *p, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        p[i] = 1e-3f * (float)(i * 7919 % 2003 - 1001);
}

static double least_seconds(const bench *b, int pass, int repeats)
{
    double least = 0;
    for (int r = 0; r < repeats; r++) {
        fill(b->y, PIXELS * b->shape.c);
        fill(b->w, 9 * b->shape.c * b->shape.c);
        double from = processor_time();
        passes[pass].run(b);
        double took = processor_time() - from;
        least = r == 0 || took < least ? took : least;
    }
    return least;
}

static tsr_status measure(const tsri_loops *loops, int64_t C, int repeats)
{
    tsr_status st = TSR_OK;
    bench b = {.loops = loops, .shape = {IMAGES, SIDE, SIDE, C, C, 3, 1, 1}};
    int64_t direct = tsri_direct_work(&b.shape, loops, 1);
    int64_t winograd = tsri_winograd_work(&b.shape, TILE, loops, 1);
    TSR_TRY(tsri_alloc(&b.x, PIXELS * C, sizeof *b.x));
    TSR_TRY(tsri_alloc(&b.y, PIXELS * C, sizeof *b.y));
    TSR_TRY(tsri_alloc(&b.w, 9 * C * C, sizeof *b.w));
    TSR_TRY(tsri_alloc(&b.small, 6 * C, sizeof *b.small));
    TSR_TRY(tsri_alloc(&b.work, direct > winograd ? direct : winograd, sizeof *b.work));
    TSR_TRY(tsri_pool_create(&b.pool, 1));
    fill(b.x, PIXELS * C);
    fill(b.small, 6 * C);
    printf("%-7s %4lld", loops->name, (long long)C);
    for (int p = 0; p < PASSES; p++)
        printf(" %12.2f", 1e9 * least_seconds(&b, p, repeats) / PIXELS);
    printf("\n");
done:
    tsri_pool_destroy(b.pool);
    tsri_free(b.work);
    tsri_free(b.small);
    tsri_free(b.w);
    tsri_free(b.y);
    tsri_free(b.x);
    return st;
}

int main(int argc, char **argv)
{
    static const int64_t usual[] = {3, 6, 7, 8, 12, 16, 21, 24, 43, 64};
    int repeats = argc > 1 ? atoi(argv[1]) : 7, own = argc > 2;
    int64_t count = own ? argc - 2 : (int64_t)(sizeof usual / sizeof *usual);
    const tsri_loops *loops;
    printf("ns a pixel, least of %d, processor time of one thread\n%-7s %4s", repeats, "loops",
           "C");
    for (int p = 0; p < PASSES; p++)
        printf(" %12s", passes[p].name);
    printf("\n");
    for (int k = 0; (loops = tsri_loops_at(k)) != NULL; k++)
        for (int64_t i = 0; i < count; i++)
            if (measure(loops, own ? atoll(argv[2 + i]) : usual[i], repeats) != TSR_OK) {
                fprintf(stderr, "%s\n", tsr_last_error());
                return 1;
            }
    return 0;
}
