/* skip.c - the three products of a gated layer beside OpenBLAS's dense ones, in one process, one
 * after the other: ours, dense, ours, dense, ... Prints one JSON object a product with the smallest
 * and the median time of each; `limit` is what the ratio would be if both did their multiplications
 * equally fast. With one thread times are those of the CPU, with more the clock's.
 *
 * OpenBLAS's threads spin for some 30 ms after a product, on the cores that ours need, and ours
 * are asleep by then. Neither is what a training run sees, so with several threads each side works
 * for 50 ms before it is timed: its own threads are awake then and the other's asleep.
 *
 *     bench_skip WIDTH BATCH DENSITY THREADS REPEATS
 */
#include "backend/cpu/skip.h"
#include "base/alloc.h"
#include "base/rng.h"
#include "linalg/blas.h"
#include "linalg/openblas.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct bench {
    int64_t m, n;
    int threads, repeats;
    tsri_pool *pool;
    float *w, *x, *dy, *y, *dw, *dx; /* W [m, m]; x, dy, y, dx [n, m] */
    uint64_t *bits;
    tsri_bits gates;
    tsri_pattern by_samples, by_units;
    void *scratch;
    double *ours, *dense;
} bench;

static double now(const bench *b)
{
    struct timespec t;
    clock_gettime(b->threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static tsr_status fill(bench *b, double density)
{
    tsr_status st = TSR_OK;
    int64_t m = b->m, n = b->n, words = tsri_bit_words(m);
    tsri_rng rng = tsri_rng_stream(1, TSRI_FOR_TEST, 0, 0, 0);
    float **sheet[] = {&b->x, &b->dy, &b->y, &b->dx};
    for (size_t i = 0; i < sizeof sheet / sizeof *sheet; i++)
        TSR_TRY(tsri_alloc(sheet[i], n * m, sizeof(float)));
    TSR_TRY(tsri_alloc(&b->w, m * m, sizeof *b->w));
    TSR_TRY(tsri_alloc(&b->dw, m * m, sizeof *b->dw));
    TSR_TRY(tsri_alloc(&b->bits, n * words, sizeof *b->bits));
    TSR_TRY(tsri_alloc(&b->ours, b->repeats, sizeof *b->ours));
    TSR_TRY(tsri_alloc(&b->dense, b->repeats, sizeof *b->dense));
    for (int64_t i = 0; i < m * m; i++)
        b->w[i] = tsri_rng_uniform(&rng) - 0.5f;
    for (int64_t i = 0; i < n * m; i++)
        if ((double)tsri_rng_uniform(&rng) < density) {
            b->bits[i / m * words + i % m / 64] |= (uint64_t)1 << i % m % 64;
            b->x[i] = b->dy[i] = tsri_rng_uniform(&rng) - 0.5f;
        }
    b->gates = (tsri_bits){n, m, words, b->bits};
    TSR_TRY(tsri_pattern_init(&b->by_samples, tsri_loops_best(), n, m, false));
    TSR_TRY(tsri_pattern_init(&b->by_units, tsri_loops_best(), n, m, true));
    int64_t one = tsri_skip_scratch(&b->by_samples, b->threads);
    int64_t two = tsri_skip_scratch(&b->by_units, b->threads);
    TSR_TRY(tsri_alloc_raw(&b->scratch, one > two ? one : two, 1));
done:
    return st;
}

enum { FORWARD, BACKWARD, WEIGHTS };

static void ours(bench *b, int product)
{
    int64_t m = b->m;
    tsri_skip k = {.pattern = product == WEIGHTS ? &b->by_units : &b->by_samples,
                   .s = product == FORWARD ? b->x : b->dy,
                   .v = product == WEIGHTS ? b->x : b->w,
                   .v_item = product == FORWARD ? 1 : m,
                   .v_col = product == FORWARD ? m : 1,
                   .c = product == FORWARD    ? b->y
                        : product == BACKWARD ? b->dx
                                              : b->dw,
                   .cols = m,
                   .scratch = b->scratch};
    tsri_skip_run_all(&k, b->pool);
}

static void dense(bench *b, int product)
{
    int m = (int)b->m, n = (int)b->n;
    if (product == FORWARD)
        tsri_blas.cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, m, m, 1, b->x, m, b->w, m,
                              0, b->y, m);
    else if (product == BACKWARD)
        tsri_blas.cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, m, m, 1, b->dy, m, b->w,
                              m, 0, b->dx, m);
    else
        tsri_blas.cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, m, n, 1, b->dy, m, b->x,
                              m, 0, b->dw, m);
}

/* The time of one call, after some that wake the threads (see above). */
static double time_of(bench *b, void (*call)(bench *, int), int product)
{
    double begin = now(b), start;
    do {
        start = now(b);
        call(b, product);
    } while (b->threads > 1 && start - begin < 0.05);
    return now(b) - start;
}

/* `flops`: of the dense product; `work`: the part of them that ours does. */
static void tell(bench *b, const char *name, double *sums, double flops, double work)
{
    size_t count = (size_t)b->repeats;
    qsort(b->ours, count, sizeof *b->ours, by_size);
    qsort(b->dense, count, sizeof *b->dense, by_size);
    double middle = b->ours[count / 2], middle_dense = b->dense[count / 2];
    printf("{\"product\": \"%s\", \"width\": %lld, \"batch\": %lld, \"threads\": %d, \"ms\": %.3f, "
           "\"ms_median\": %.3f, \"dense_ms\": %.3f, \"dense_ms_median\": %.3f, \"ratio\": %.3f, "
           "\"ratio_median\": %.3f, \"limit\": %.3f, \"gflops\": %.1f, \"dense_gflops\": %.1f}\n",
           name, (long long)b->m, (long long)b->n, b->threads, 1e3 * b->ours[0], 1e3 * middle,
           1e3 * b->dense[0], 1e3 * middle_dense, b->dense[0] / b->ours[0], middle_dense / middle,
           1 / work, 1e-9 * flops * work / b->ours[0], 1e-9 * flops / b->dense[0]);
    sums[0] += b->ours[0];
    sums[1] += b->dense[0];
}

static void time_inspector(bench *b, const double *sums)
{
    double best[2] = {1e9, 1e9};
    for (int i = 0; i < b->repeats; i++)
        for (int k = 0; k < 2; k++) {
            double start = now(b);
            tsri_pattern_inspect(k ? &b->by_units : &b->by_samples, &b->gates, b->pool);
            double t = now(b) - start;
            best[k] = t < best[k] ? t : best[k];
        }
    printf("{\"inspector\": true, \"width\": %lld, \"batch\": %lld, \"ms_by_samples\": %.3f, "
           "\"ms_by_units\": %.3f, \"part_of_step\": %.4f, \"repaid_after_epochs\": %.3f, "
           "\"work\": %.3f}\n",
           (long long)b->m, (long long)b->n, 1e3 * best[0], 1e3 * best[1],
           (best[0] + best[1]) / sums[0], (best[0] + best[1]) / (sums[1] - sums[0]),
           tsri_pattern_work(&b->by_samples));
}

/* One sample: the rows that are on, beside a whole matrix times vector. */
static void our_sample(bench *b, int unused)
{
    (void)unused;
    tsri_rows r = {
        .n = 1, .inputs = b->m, .outputs = b->m, .w = b->w, .x = b->x, .y = b->y, .gates = b->bits};
    tsri_rows_run(&r, b->pool);
}

static void dense_sample(bench *b, int unused)
{
    (void)unused;
    tsri_blas.cblas_sgemv(CblasRowMajor, CblasNoTrans, (int)b->m, (int)b->m, 1, b->w, (int)b->m,
                          b->x, 1, 0, b->y, 1);
}

static void run(bench *b)
{
    static const char *const name[] = {"forward", "backward", "weights"};
    double sums[2] = {0, 0}, unused[2] = {0, 0};
    tsri_pattern_inspect(&b->by_samples, &b->gates, b->pool);
    tsri_pattern_inspect(&b->by_units, &b->gates, b->pool);
    for (int product = FORWARD; product <= WEIGHTS; product++) {
        for (int i = 0; i < b->repeats; i++) {
            b->ours[i] = time_of(b, ours, product);
            b->dense[i] = time_of(b, dense, product);
        }
        tell(b, name[product], sums, 2.0 * (double)b->n * (double)b->m * (double)b->m,
             tsri_pattern_work(product == WEIGHTS ? &b->by_units : &b->by_samples));
    }
    printf("{\"product\": \"all three\", \"width\": %lld, \"batch\": %lld, \"ms\": %.3f, "
           "\"dense_ms\": "
           "%.3f, \"ratio\": %.3f}\n",
           (long long)b->m, (long long)b->n, 1e3 * sums[0], 1e3 * sums[1], sums[1] / sums[0]);
    time_inspector(b, sums);
    for (int i = 0; i < b->repeats; i++) {
        b->ours[i] = time_of(b, our_sample, 0);
        b->dense[i] = time_of(b, dense_sample, 0);
    }
    tell(b, "one sample, gates known", unused, 2.0 * (double)b->m * (double)b->m, 0.5);
}

int main(int argc, char **argv)
{
    tsr_status st = TSR_OK;
    bench b = {.m = argc > 1 ? atoll(argv[1]) : 1024,
               .n = argc > 2 ? atoll(argv[2]) : 512,
               .threads = argc > 4 ? atoi(argv[4]) : 1,
               .repeats = argc > 5 ? atoi(argv[5]) : 10};
    TSR_TRY(tsri_openblas_start(b.threads));
    tsri_blas.openblas_set_num_threads(b.threads);
    TSR_TRY(tsri_pool_create(&b.pool, b.threads));
    TSR_TRY(fill(&b, argc > 3 ? atof(argv[3]) : 0.5));
    printf("{\"machine\": \"%s, loops %s\", \"threads\": %d, \"repeats\": %d}\n",
           tsri_openblas_vendor(), tsri_loops_best()->name, b.threads, b.repeats);
    run(&b);
done:
    if (st != TSR_OK)
        (void)fprintf(stderr, "%s\n", tsr_last_error());
    return (int)st;
}
