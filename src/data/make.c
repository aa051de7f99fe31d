/* make.c - what the generators share: memory for both parts, and points on the sphere.
 *
 * Points that must keep a distance are found by trial: point i is the first candidate of its own
 * stream that is far enough from points 0 .. i-1. To be quick about it, points lie in the cells of
 * a grid over the first three coordinates. Cells are at least as wide as the distance, so only
 * neighbouring ones are searched; that helps in few dimensions. A cell keeps its points in blocks
 * of sixteen with their first eight coordinates lane by lane,
 *
 *     head[0][16]  head[1][16]  ...  head[7][16]      16 points = 16 lanes
 *
 * so that sixteen partial distances are summed at once, and most points are already far enough
 * after those eight; that helps in many dimensions. Only the others are compared in full.
 */
#include "data/make.h"

#include "base/alloc.h"
#include "base/narrow.h"

#include <math.h>

/* ---- Options ------------------------------------------------------------------------------ */

tsri_synthetic tsri_synthetic_default(void)
{
    tsri_synthetic options = {.n = 1000,
                              .dim = 10,
                              .classes = 10,
                              .length = 10,
                              .targets = 1,
                              .channels = 1,
                              .phi = 0.1,
                              .seed = 1};
    return options;
}

/* ---- Parts -------------------------------------------------------------------------------- */

static tsr_status make_part(tsri_part *part, const tsr_data *data, int64_t n, bool bytes)
{
    tsr_status st = TSR_OK;
    int64_t inputs = 0, outputs = 0;
    TSR_TRY(tsri_multiply(&inputs, n, data->dim, "synthetic inputs"));
    TSR_TRY(tsri_multiply(&outputs, n, data->targets, "synthetic targets"));
    part->n = n;
    if (bytes)
        TSR_TRY(tsri_alloc_raw(&part->bytes, inputs, sizeof *part->bytes));
    else
        TSR_TRY(tsri_alloc_raw(&part->numbers, inputs, sizeof *part->numbers));
    if (data->classes > 0)
        TSR_TRY(tsri_alloc_raw(&part->label, n, sizeof *part->label));
    else
        TSR_TRY(tsri_alloc_raw(&part->target, outputs, sizeof *part->target));
done:
    return st;
}

tsr_status tsri_make_parts(tsr_data *data, const tsri_synthetic *options, int64_t channels,
                           int64_t height, int64_t width, bool bytes)
{
    tsr_status st = TSR_OK;
    int64_t n = options->n, test_n = options->test_n > 0 ? options->test_n : n / 5 + (n % 5 != 0);
    TSR_CHECK(n >= 1, TSR_USAGE, "data.n is %lld; at least 1 sample is needed", (long long)n);
    /* A sample's number is a 32-bit word of its stream's counter. */
    TSR_CHECK(n <= UINT32_MAX && test_n <= UINT32_MAX, TSR_USAGE,
              "data.n and data.test_n must be below 2^32");
    data->channels = channels;
    data->height = height;
    data->width = width;
    TSR_TRY(tsri_multiply(&data->dim, channels, height * width, "numbers of a sample"));
    TSR_TRY(make_part(&data->train, data, n, bytes));
    TSR_TRY(make_part(&data->test, data, test_n, bytes));
done:
    return st;
}

/* ---- One point ---------------------------------------------------------------------------- */

void tsri_make_unit(float *x, int64_t dim, tsri_rng *rng)
{
    double norm2 = 0.0;
    for (int64_t j = 0; j < dim; j++) {
        x[j] = (float)tsri_rng_normal(rng); /* never 0: see tsri_rng_uniform53 */
        norm2 += (double)x[j] * (double)x[j];
    }
    double scale = 1.0 / sqrt(norm2);
    for (int64_t j = 0; j < dim; j++)
        x[j] = (float)((double)x[j] * scale);
}

/* ---- How many fit ------------------------------------------------------------------------- */

/* The part of the unit sphere within `angle` of a point: the integral of sin^(dim-2), by the
 * midpoint rule. It only says no early, and what it refuses is far beyond what trial can place, so
 * libm's last bit does not matter here. */
static double cap_part(double angle, int64_t dim)
{
    enum { STEPS = 20000 };
    const double pi = 3.14159265358979323846;
    double cap = 0.0, all = 0.0, power = (double)(dim - 2);
    for (int k = 0; k < STEPS; k++) {
        double mid = ((double)k + 0.5) / STEPS;
        cap += pow(sin(angle * mid), power) * angle;
        all += pow(sin(pi * mid), power) * pi;
    }
    return cap / all;
}

/* No more than this many unit points can be pairwise phi apart: from sqrt 2 on by Rankin's bounds,
 * below it the number of disjoint caps of half the angle. */
static double most_points(int64_t dim, double phi)
{
    double square = phi * phi;
    if (square > 2.0 + 1e-12)
        return fmin(floor(square / (square - 2.0) * (1.0 + 1e-12)), (double)dim + 1.0);
    if (square > 2.0 - 1e-12)
        return 2.0 * (double)dim;
    return dim == 1 ? 2.0 : 1.0 / cap_part(asin(phi / 2.0), dim);
}

/* ---- Points that keep a distance ---------------------------------------------------------- */

enum { TRIES = 2000 }; /* candidates for one point before giving up */

enum { LANES = 16, HEAD = 8 };

/* Sixteen points of a cell. */
typedef struct block {
    float head[HEAD][LANES]; /* their first coordinates; zero where the dimension is lower */
    int64_t index[LANES];    /* which points */
    int64_t count;           /* how many there are */
    int64_t next;            /* the block after it in the cell, or -1 */
} block;

typedef struct grid {
    const float *x;   /* [n][dim] */
    int64_t dim;      /* coordinates of a point */
    int64_t axes;     /* coordinates that have cells: min(3, dim) */
    int64_t side;     /* cells on an axis */
    double distance2; /* squares below this are too near */
    int64_t *first;   /* [side^axes] a cell's first block, or -1 */
    block *block;     /* [capacity] */
    int64_t blocks, capacity;
} grid;

static tsr_status grid_init(grid *g, const float *x, int64_t dim, double phi)
{
    tsr_status st = TSR_OK;
    /* A millionth more, so that the distance still holds after rows are normalised once more in
     * single precision. */
    double distance = phi + 1e-6;
    g->x = x;
    g->dim = dim;
    g->axes = dim < 3 ? dim : 3;
    g->side = distance > 2.0 ? 1 : (int64_t)fmin(64.0, 2.0 / distance);
    g->distance2 = distance * distance;
    int64_t cells = 1;
    for (int64_t a = 0; a < g->axes; a++)
        cells *= g->side;
    TSR_TRY(tsri_alloc_raw(&g->first, cells, sizeof *g->first));
    for (int64_t c = 0; c < cells; c++)
        g->first[c] = -1;
done:
    return st;
}

static void grid_fini(grid *g)
{
    tsri_free(g->first);
    tsri_free(g->block);
}

/* The cell of x on axis a; the axes that a low dimension lacks have one cell, 0. */
static int64_t cell_of(const grid *g, const float *x, int64_t a)
{
    if (a >= g->axes)
        return 0;
    int64_t c = (int64_t)(((double)x[a] + 1.0) * 0.5 * (double)g->side);
    return c < 0 ? 0 : c >= g->side ? g->side - 1 : c;
}

static tsr_status grid_add(grid *g, int64_t i)
{
    tsr_status st = TSR_OK;
    const float *x = g->x + i * g->dim;
    int64_t cell = 0;
    for (int64_t a = 0; a < g->axes; a++)
        cell = cell * g->side + cell_of(g, x, a);
    if (g->first[cell] < 0 || g->block[g->first[cell]].count == LANES) {
        TSR_TRY(tsri_reserve(&g->block, &g->capacity, g->blocks, sizeof *g->block));
        g->block[g->blocks] = (block){.next = g->first[cell]};
        g->first[cell] = g->blocks++;
    }
    block *b = &g->block[g->first[cell]];
    for (int64_t j = 0; j < HEAD && j < g->dim; j++)
        b->head[j][b->count] = x[j];
    b->index[b->count++] = i;
done:
    return st;
}

/* Is |x - y|^2 < distance2? Eight sums side by side, and an early end once it is not. */
static bool too_near(const grid *g, const float *x, const float *y)
{
    double sum[8] = {0}, all = 0.0;
    int64_t j = 0, dim = g->dim;
    while (j + 8 <= dim && all < g->distance2) {
        int64_t end = j + 64 <= dim ? j + 64 : dim / 8 * 8;
        for (; j < end; j += 8)
            for (int64_t k = 0; k < 8; k++) {
                double difference = (double)x[j + k] - (double)y[j + k];
                sum[k] += difference * difference;
            }
        all = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    }
    for (; j < dim && all < g->distance2; j++) {
        double difference = (double)x[j] - (double)y[j];
        all += difference * difference;
    }
    return all < g->distance2;
}

/* The single-precision sum of eight squares is off by less than 1e-6 of itself: from `far` on, it
 * needs no second look. */
static bool block_is_clear(const grid *g, const block *b, const float head[HEAD], const float *x)
{
    float sum[LANES] = {0}, far = (float)(g->distance2 * (1.0 + 2e-6));
    for (int j = 0; j < HEAD; j++)
        for (int k = 0; k < LANES; k++) {
            float difference = b->head[j][k] - head[j];
            sum[k] += difference * difference;
        }
    for (int64_t k = 0; k < b->count; k++)
        if (sum[k] < far && too_near(g, x, g->x + b->index[k] * g->dim))
            return false;
    return true;
}

static bool cell_is_clear(const grid *g, int64_t cell, const float head[HEAD], const float *x)
{
    for (int64_t i = g->first[cell]; i >= 0; i = g->block[i].next)
        if (!block_is_clear(g, &g->block[i], head, x))
            return false;
    return true;
}

/* Is no point of the grid too near x? Looks into the cells around x's own. */
static bool is_clear(const grid *g, const float *x)
{
    int64_t low[3], high[3];
    float head[HEAD] = {0};
    for (int64_t j = 0; j < HEAD && j < g->dim; j++)
        head[j] = x[j];
    for (int64_t a = 0; a < 3; a++) {
        int64_t c = cell_of(g, x, a), last = a < g->axes ? g->side - 1 : 0;
        low[a] = c > 0 ? c - 1 : 0;
        high[a] = c < last ? c + 1 : last;
    }
    int64_t side1 = g->axes > 1 ? g->side : 1, side2 = g->axes > 2 ? g->side : 1;
    for (int64_t a = low[0]; a <= high[0]; a++)
        for (int64_t b = low[1]; b <= high[1]; b++)
            for (int64_t c = low[2]; c <= high[2]; c++)
                if (!cell_is_clear(g, (a * side1 + b) * side2 + c, head, x))
                    return false;
    return true;
}

/* x = the next candidate for a point. */
static void draw_candidate(float *x, const tsri_apart *want, tsri_rng *rng)
{
    tsri_make_unit(x, want->dim, rng);
    for (int64_t j = 0; j < want->dim; j++)
        x[j] = (float)((double)x[j] * want->radius);
}

tsr_status tsri_make_apart(float *x, const tsri_apart *want)
{
    tsr_status st = TSR_OK;
    grid g = {0};
    int64_t n = want->n, dim = want->dim;
    double most = most_points(dim, want->phi / want->radius);
    TSR_CHECK((double)n <= most, TSR_USAGE,
              "%s: no %lld points can be %g apart on a sphere of radius %.3g in %lld dimensions, "
              "where at most %.0f fit; lower data.n, data.test_n or data.phi, or raise data.dim",
              want->who, (long long)n, want->phi, want->radius, (long long)dim, floor(most));
    TSR_TRY(grid_init(&g, x, dim, want->phi));
    for (int64_t i = 0; i < n; i++) {
        tsri_rng rng =
            tsri_rng_stream(want->seed, TSRI_FOR_DATA, (int64_t)want->generator, i, want->part);
        int tries = 0;
        do {
            TSR_CHECK(tries++ < TRIES, TSR_USAGE,
                      "%s: point %lld of %lld found no place %g away from the others on a sphere "
                      "of radius %.3g in %lld dimensions in %d attempts; lower data.n, data.test_n "
                      "or data.phi, or raise data.dim",
                      want->who, (long long)i + 1, (long long)n, want->phi, want->radius,
                      (long long)dim, (int)TRIES);
            draw_candidate(x + i * dim, want, &rng);
        } while (!is_clear(&g, x + i * dim));
        TSR_TRY(grid_add(&g, i));
    }
done:
    grid_fini(&g);
    return st;
}
