/* loss.cu - the loss of a batch on the device: the formulas of backend/losses/, a thread a sample (or
 * a position of one), whose blocks then add up what they have; a second launch adds up the blocks.
 *
 * The rows of the table are functions of the host; their formulas stand here a second time, in the
 * same order of operations and in double. tests/unit/test_device.c compares each with its row, and
 * fails for a loss that is missing here. */
#include "backend/cuda/grid.cuh"
#include "backend/cuda/launch.h"

#include <math.h>

enum {
#define X(name) KIND_##name,
    TSRI_CUDA_LOSSES(X)
#undef X
};

/* The outputs of one sample at one position. */
typedef struct position {
    const float *x;
    float *dx;
    int64_t k;
    int32_t label;
    const float *target;
    double scale;
} position;

static __device__ inline void put(const position *p, int64_t o, double slope)
{
    if (p->dx)
        p->dx[o] = (float)slope;
}

/* Nobody writes it while the kernel runs: loads may come before the stores of gradients. */
static __device__ inline double read(const float *at)
{
#ifdef __CUDA_ARCH__
    return (double)__ldg(at);
#else
    return (double)*at;
#endif
}

static __device__ inline double error_at(const position *p, int64_t o)
{
    double t = p->target ? read(&p->target[o]) : (o == p->label ? 1.0 : 0.0);
    return read(&p->x[o]) - t;
}

static __device__ inline int64_t largest(const position *p)
{
    int64_t best = 0;
    for (int64_t o = 1; o < p->k; o++)
        if (p->x[o] > p->x[best])
            best = o;
    return best;
}

static __device__ inline double sign_of(const position *p, int64_t o)
{
    if (p->target)
        return (double)p->target[o];
    return (p->k == 1 ? p->label == 1 : p->label == o) ? 1 : -1;
}

/* ---- Formulas ------------------------------------------------------------------------------ */

static __device__ double of_cross_entropy(const tsri_cuda_loss *loss, const position *p)
{
    double top = (double)p->x[largest(p)], sum = 0, all = 0, value = 0;
    double mean = loss->weight ? *loss->weight_mean : 1;
    bool soft = loss->smoothing > 0 || loss->weight;
#pragma unroll 4 /* several at once: each alone is a chain of operations that wait for another */
    for (int64_t o = 0; o < p->k; o++)
        sum += exp((double)p->x[o] - top);
    if (!soft) {
#pragma unroll 4
        for (int64_t o = 0; o < p->k; o++)
            put(p, o, (exp((double)p->x[o] - top) / sum - (o == p->label ? 1.0 : 0.0)) * p->scale);
        return log(sum) + top - (double)p->x[p->label];
    }
    for (int pass = 0; pass < 2; pass++) /* first the sum of the targets */
        for (int64_t o = 0; o < p->k; o++) {
            double t = loss->smoothing / (double)p->k + (o == p->label ? 1 - loss->smoothing : 0);
            t *= (loss->weight ? loss->weight[o] : 1) / mean;
            if (pass == 0) {
                all += t;
                value += t * (log(sum) + top - (double)p->x[o]);
            } else {
                put(p, o, (all * exp((double)p->x[o] - top) / sum - t) * p->scale);
            }
        }
    return value;
}

static __device__ double of_mse(const tsri_cuda_loss *, const position *p)
{
    double sum = 0, k = (double)p->k;
#pragma unroll 8
    for (int64_t o = 0; o < p->k; o++) {
        double d = error_at(p, o);
        sum += d * d;
        put(p, o, d * (2.0 * p->scale) / k);
    }
    return sum / k;
}

static __device__ double of_half_squares(const tsri_cuda_loss *, const position *p)
{
    double sum = 0;
#pragma unroll 8
    for (int64_t o = 0; o < p->k; o++) {
        double d = error_at(p, o);
        sum += d * d;
        put(p, o, d);
    }
    return 0.5 * sum;
}

static __device__ double of_huber(const tsri_cuda_loss *, const position *p)
{
    double sum = 0, k = (double)p->k, scale = p->scale / k;
#pragma unroll 8
    for (int64_t o = 0; o < p->k; o++) {
        double d = error_at(p, o);
        bool near = fabs(d) <= 1;
        sum += near ? 0.5 * d * d : fabs(d) - 0.5;
        put(p, o, (near ? d : copysign(1.0, d)) * scale);
    }
    return sum / k;
}

static __device__ double hinge(double z, double *slope)
{
    *slope = z < 1 ? -1 : 0;
    return z < 1 ? 1 - z : 0;
}

static __device__ double squared_hinge(double z, double *slope)
{
    double short_of = z < 1 ? 1 - z : 0;
    *slope = -2 * short_of;
    return short_of * short_of;
}

static __device__ double exponential(double z, double *slope)
{
    const double least = -80;
    double e = exp(-(z < least ? least : z));
    *slope = -e;
    return z < least ? e * (1 + least - z) : e;
}

static __device__ double logistic(double z, double *slope)
{
    double e = exp(-fabs(z));
    *slope = z > 0 ? -e / (1 + e) : -1 / (1 + e);
    return (z > 0 ? 0 : -z) + log1p(e);
}

#define OF_MARGINS(name)                                                                           \
    static __device__ double of_##name(const tsri_cuda_loss *, const position *p)                  \
    {                                                                                              \
        double sum = 0;                                                                            \
        for (int64_t o = 0; o < p->k; o++) {                                                       \
            double slope, y = sign_of(p, o);                                                       \
            sum += name(y * (double)p->x[o], &slope);                                              \
            put(p, o, y *slope * p->scale);                                                        \
        }                                                                                          \
        return sum;                                                                                \
    }
OF_MARGINS(hinge)
OF_MARGINS(squared_hinge)
OF_MARGINS(exponential)
OF_MARGINS(logistic)

static __device__ double value_of(const tsri_cuda_loss *loss, const position *p)
{
    switch (loss->kind) {
#define X(name)                                                                                    \
    case KIND_##name:                                                                              \
        return of_##name(loss, p);
        TSRI_CUDA_LOSSES(X)
#undef X
    }
    return NAN;
}

/* ---- Samples ------------------------------------------------------------------------------- */

static __device__ position position_of(const tsri_cuda_loss *loss, int64_t n, int64_t l, int64_t k)
{
    int64_t at = n * loss->outputs + l * k;
    return position{loss->x + at,
                    loss->dx ? loss->dx + at : NULL,
                    k,
                    loss->label ? loss->label[n] : -1,
                    loss->label ? NULL : loss->target + at,
                    0};
}

/* Of one output, or of targets: every margin is above 0. */
static __device__ bool is_hit(const tsri_cuda_loss *loss, const position *p)
{
    if (!loss->margins || (p->k > 1 && !p->target))
        return !p->target && largest(p) == p->label;
    for (int64_t o = 0; o < p->k; o++)
        if (!(sign_of(p, o) * (double)p->x[o] > 0))
            return false;
    return true;
}

/* Writes the gradient of position l of sample n; its part of the loss, and whether the sample is
 * hit, which its last position says. */
static __device__ double piece(const tsri_cuda_loss *loss, int64_t n, int64_t l, int64_t *hits)
{
    int64_t k = loss->outputs / loss->positions;
    int64_t end = n >= loss->valid ? 0 : loss->length ? loss->length[n] : loss->positions;
    int64_t count = end - loss->first;
    bool counts = l >= loss->first && l < end;
    position p = position_of(loss, n, l, k);
    p.scale = 1.0 / (double)loss->valid / (double)count;
    for (int64_t o = 0; !counts && o < k; o++)
        put(&p, o, 0);
    if (l == end - 1)
        *hits += is_hit(loss, &p);
    if (!counts)
        return 0;
    return loss->sum ? value_of(loss, &p) : value_of(loss, &p) / (double)count;
}

enum { FEW = 64 }; /* threads of a block for positions: short pieces, and many */

/* What a block has summed goes to the tally, or where there are more blocks to its place in
 * `part`. */
static __device__ inline void leave(const tsri_cuda_loss *loss, double sum, int64_t hits)
{
    bool alone = gridDim.x == 1;
    double *to = alone ? (double *)loss->tally : loss->part + blockIdx.x;
    *to = sum;
    *(int64_t *)(void *)(alone ? to + 1 : to + TSRI_CUDA_PARTS / 2) = hits;
}

/* The sums of all threads, in thread 0; each of them brings its own. */
template <int THREADS> static __device__ inline void add_up(double *sums, int64_t *hits)
{
    int t = (int)threadIdx.x;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            sums[t] += sums[t + half];
            hits[t] += hits[t + half];
        }
        __syncthreads();
    }
}

template <int THREADS>
static __global__ __launch_bounds__(THREADS, 1) void batch(tsri_cuda_loss loss)
{
    __shared__ double sums[THREADS];
    __shared__ int64_t hits[THREADS];
    int t = (int)threadIdx.x;
    double sum = 0;
    int64_t hit = 0;
    for (EACH(e, loss.n * loss.positions))
        sum += piece(&loss, e / loss.positions, e % loss.positions, &hit);
    sums[t] = sum;
    hits[t] = hit;
    add_up<THREADS>(sums, hits);
    if (t == 0)
        leave(&loss, sums[0], hits[0]);
}

/* A thread a block of those that have summed. */
static __global__ void blocks_together(tsri_cuda_loss loss, int blocks)
{
    __shared__ double sums[TSRI_CUDA_PARTS / 2];
    __shared__ int64_t hits[TSRI_CUDA_PARTS / 2];
    int t = (int)threadIdx.x;
    sums[t] = t < blocks ? loss.part[t] : 0;
    hits[t] = t < blocks ? *(const int64_t *)(loss.part + TSRI_CUDA_PARTS / 2 + t) : 0;
    add_up<TSRI_CUDA_PARTS / 2>(sums, hits);
    if (t == 0)
        leave(&loss, sums[0], hits[0]);
}

cudaError_t tsri_cuda_loss_of(cudaStream_t s, const tsri_cuda_loss *loss)
{
    int64_t blocks = (loss->n * loss->positions + FEW - 1) / FEW;
    blocks = blocks < TSRI_CUDA_PARTS / 2 ? blocks : TSRI_CUDA_PARTS / 2;
    if (loss->positions == 1 || blocks <= 1) {
        LAUNCH_MEETING(batch<TSRI_BLOCK>, 1, TSRI_BLOCK, s, *loss);
        return cudaGetLastError();
    }
    LAUNCH_MEETING(batch<FEW>, (unsigned)blocks, FEW, s, *loss);
    LAUNCH_MEETING(blocks_together, 1, TSRI_CUDA_PARTS / 2, s, *loss, (int)blocks);
    return cudaGetLastError();
}
