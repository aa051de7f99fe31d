/* bench_limits.c - what the device can do at this moment: the rate of a large product and of a
 * copy. */
#include "train/bench.h"

#include "base/alloc.h"
#include "base/clock.h"

/* A 2048^3 product on processors. A GPU needs a larger one, and how large is found out: twice as
 * much as long as one is over in less than a millisecond. */
enum { REPEATS = 5, SIZE = 2048, LEAST_SIZE = 256, MOST_SIZE = 16384 };

static const double long_enough = 1e-3;
static const int64_t least_copy = (int64_t)16 << 20, most_copy = (int64_t)1 << 30;

/* The least seconds of one call. */
typedef struct trial {
    tsri_device device;
    tsri_op *op;
    tsri_mem *to, *from;
    int64_t bytes;
} trial;

static tsr_status multiply(trial *t)
{
    return tsri_op_forward(t->op, t->device);
}

static tsr_status copy(trial *t)
{
    return t->device.backend->heap->within(t->to, t->from, t->bytes);
}

static tsr_status time_calls(double *seconds, trial *t, tsr_status (*call)(trial *t))
{
    tsr_status st = TSR_OK;
    for (int i = 0; i < REPEATS; i++) {
        TSR_TRY(tsri_device_wait(t->device));
        double start = tsri_clock();
        TSR_TRY(call(t));
        TSR_TRY(tsri_device_wait(t->device));
        double took = tsri_clock() - start;
        if (i == 0 || took < *seconds)
            *seconds = took;
    }
done:
    return st;
}

/* ---- Products ------------------------------------------------------------------------------ */

/* Numbers of one size with both signs, read as floats or as bf16: chips multiply zeros faster. */
static tsr_status fill(const tsri_heap *heap, tsri_mem *to, int64_t bytes)
{
    enum { BLOCK = 1 << 18 };
    tsr_status st = TSR_OK;
    uint32_t *block = NULL, bits = 1;
    TSR_TRY(tsri_alloc(&block, BLOCK, sizeof *block));
    for (int i = 0; i < BLOCK; i++) {
        bits ^= bits << 13;
        bits ^= bits >> 17;
        bits ^= bits << 5;
        block[i] = (bits & 0x807f807f) | 0x3f003f00;
    }
    for (int64_t at = 0; at < bytes; at += BLOCK * (int64_t)sizeof *block) {
        int64_t left = bytes - at, most = BLOCK * (int64_t)sizeof *block;
        TSR_TRY(heap->in(tsri_mem_at(to, at), block, left < most ? left : most));
    }
done:
    tsri_free(block);
    return st;
}

static tsr_status time_product(double *seconds, tsri_device device, int64_t size, bool bf16)
{
    tsr_status st = TSR_OK;
    const tsri_heap *heap = device.backend->heap;
    tsri_mem *mem[6] = {0}; /* x, w, y and what the kernel asks for: packed, saved, scratch */
    tsri_op op = {.kind = TSRI_LINEAR,
                  .n = size,
                  .in = {size, 1, 1},
                  .out = {size, 1, 1},
                  .bf16 = bf16,
                  .narrow_x = bf16,
                  .narrow_y = bf16,
                  .pool = device.pool};
    trial t = {.device = device, .op = &op};
    TSR_TRY(tsri_op_setup(&op, device.backend));
    int64_t each = size * size * device.backend->real_bytes;
    const int64_t bytes[] = {each, each, each, op.packed_bytes, op.saved_bytes, op.scratch_bytes};
    for (int i = 0; i < 6; i++)
        TSR_TRY(heap->take(&mem[i], bytes[i]));
    TSR_TRY(fill(heap, mem[0], bytes[0]));
    TSR_TRY(fill(heap, mem[1], bytes[1]));
    TSR_TRY(fill(heap, mem[3], bytes[3]));
    op.x = tsri_mem_bind(mem[0]);
    op.w = tsri_mem_bind(mem[1]);
    op.y = tsri_mem_bind(mem[2]);
    op.packed = tsri_mem_bind(mem[3]);
    op.saved = tsri_mem_bind(mem[4]);
    op.scratch = tsri_mem_bind(mem[5]);
    TSR_TRY(time_calls(seconds, &t, multiply));
done:
    tsri_op_teardown(&op);
    for (int i = 0; i < 6; i++)
        heap->drop(mem[i]);
    return st;
}

tsr_status tsri_bench_product(tsri_bench *bench, tsri_device device, bool bf16)
{
    tsr_status st = TSR_OK;
    bool grows = device.backend->tape != NULL; /* on processors the product is of f32 */
    double seconds = 0;
    for (int64_t size = grows ? LEAST_SIZE : SIZE; size <= MOST_SIZE; size *= 2) {
        TSR_TRY(time_product(&seconds, device, size, bf16 && grows));
        double rate = 2.0 * (double)size * (double)size * (double)size / seconds;
        if (rate > bench->gemm_rate) {
            bench->gemm_rate = rate;
            bench->gemm_size = size;
        }
        if (!grows || seconds >= long_enough)
            break;
    }
done:
    return st;
}

/* ---- Copies -------------------------------------------------------------------------------- */

static tsr_status time_copy(double *seconds, tsri_device device, int64_t bytes)
{
    tsr_status st = TSR_OK;
    const tsri_heap *heap = device.backend->heap;
    trial t = {.device = device, .bytes = bytes};
    TSR_TRY(heap->take(&t.to, bytes));
    TSR_TRY(heap->take(&t.from, bytes));
    TSR_TRY(time_calls(seconds, &t, copy));
done:
    heap->drop(t.to);
    heap->drop(t.from);
    return st;
}

tsr_status tsri_bench_copy(tsri_bench *bench, tsri_device device)
{
    tsr_status st = TSR_OK;
    double seconds = 0;
    for (int64_t bytes = least_copy; bytes <= most_copy; bytes *= 2) {
        TSR_TRY(time_copy(&seconds, device, bytes));
        bench->copy_rate = 2.0 * (double)bytes / seconds; /* read and written; not of the cache */
        if (seconds >= long_enough)
            break;
    }
done:
    return st;
}

/* ---- Bytes of an op ------------------------------------------------------------------------- */

static double value_bytes(const tsri_op *op, tsri_shape s, bool narrow, int64_t real_bytes)
{
    return narrow ? (double)tsri_narrow_bytes(op->n, s)
                  : (double)(op->n * tsri_shape_count(s) * real_bytes);
}

static double weights_of(const tsri_op *op)
{
    int64_t positions = op->positions ? op->positions : 1;
    int64_t in = tsri_shape_count(op->in) / positions, out = tsri_shape_count(op->out) / positions;
    switch (op->kind) {
    case TSRI_LINEAR:
        return (double)in * (double)out;
    case TSRI_CONV:
        return (double)(op->size * op->size * op->in.c * op->out.c);
    case TSRI_RECURRENT:
        return (double)(op->in.c * op->in.c);
    default:
        return 0;
    }
}

double tsri_bench_bytes(const tsri_op *op, int64_t real_bytes, bool backward)
{
    double x = value_bytes(op, op->in, op->narrow_x, real_bytes);
    double y = value_bytes(op, op->out, op->narrow_y, real_bytes);
    double w = weights_of(op) * (op->bf16 ? 2 : (double)real_bytes);
    if (!backward)
        return x + w + (op->add ? 2 : 1) * y;
    bool reads_x = op->kernel->backward_needs_x && (op->dw || !op->w);
    return y + (op->relu ? y : 0) + (reads_x ? x : 0) +
           (op->need_dx ? w + (op->dx_add ? 2 : 1) * x : 0) +
           (op->dw ? weights_of(op) * (double)real_bytes : 0);
}
