/* bench.h - how fast a training step of a run file is, op by op, and beside the machine's limit. */
#ifndef TSRI_BENCH_H
#define TSRI_BENCH_H

#include "backend/device.h"
#include "net/net.h"

/* min and median over the repetitions, in seconds. */
typedef struct tsri_times {
    double least, median;
} tsri_times;

typedef struct tsri_bench_row {
    char name[TSRI_NAME];
    const char *kind, *kernel;
    double flops; /* of the forward pass; the backward pass has twice as many (once without dx) */
    double backward_flops;
    double bytes, backward_bytes; /* the fewest that it must read and write */
    tsri_times forward, backward;
} tsri_bench_row;

typedef struct tsri_bench {
    tsri_bench_row *row;
    int64_t rows;
    tsri_times step, loss, update, data; /* a whole step, and its parts that are not ops */
    tsri_times round;     /* of shares: one round of all workers at once, where it was timed */
    double round_samples; /* that they train on in it */
    double conv_part;     /* of a step's time spent in convolutions, 0 to 1: median */
    double flops;         /* of a whole step */
    double gemm_rate;     /* FLOP/s of a large product, gemm_size^3, in the run's precision */
    int64_t gemm_size;
    double copy_rate; /* bytes/s of a large copy, read and written; 0 = not measured */
    const char *chip; /* its name, or NULL: this machine's processors */
    int64_t batch, params, plan_bytes;
    int threads;
    const char *backend;
} tsri_bench;

/* Times `repeats` steps (after a few to warm up) of the run file's network and data; with `share`
 * those of the smaller network that the first worker of its scheme trains in the first round, on
 * all threads; on a device that has several queues also whole rounds, of all workers at once. USAGE
 * when the scheme has no shares. */
tsr_status tsri_bench_run(tsri_bench *bench, tsr_config *config, int64_t repeats, bool share);
void tsri_bench_fini(tsri_bench *bench);

/* ---- bench_limits.c: what the device can do --------------------------------------------------- */

tsr_status tsri_bench_product(tsri_bench *bench, tsri_device device, bool bf16);
tsr_status tsri_bench_copy(tsri_bench *bench, tsri_device device);

/* The fewest bytes that an op must read and write, each of its tensors once. */
double tsri_bench_bytes(const tsri_op *op, int64_t real_bytes, bool backward);

#endif
