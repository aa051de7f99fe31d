/* hessian.c - H g in double. See hessian.h.
 *
 * Batches are independent: each thread takes one at a time through a plan of its own, and their
 * gradients are added in the order of the batches.
 */
#include "ticket/hessian.h"

#include "base/alloc.h"
#include "base/memory.h"
#include "run/recipe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of the weights' length, tried in this order until nothing switches on the way. Rounding grows as
 * steps get shorter: H g is good to some 1e-16 / step of the gradient's length. */
static const double steps[] = {1e-8, 1e-9, 1e-10};
enum { STEPS = sizeof steps / sizeof *steps };

/* One thread's network. */
typedef struct seat {
    tsri_pool *pool; /* of one thread: it runs in place */
    tsri_store store;
    tsri_plan *plan;
    tsri_step step;
    tsri_loader *loader;
    int64_t batch;    /* what it does next, */
    int side;         /* and where: 0 at the weights, 1 and -1 beside them */
    uint64_t pattern; /* what it saw there */
    tsr_status st;
    char error[400];
} seat;

typedef struct crew {
    const tsri_net *net;
    int64_t batches;
    int seats;
    seat *seat;
    double *at[3];     /* [total] the weights: as they are, after and before the step */
    double *sum[3];    /* [trained] the gradients there */
    uint64_t *pattern; /* [batches] at the weights */
    bool smooth;
} crew;

double tsri_hessian_operations(const tsri_run *run, int64_t batches)
{
    return 3 * run->settings.sample_flops * (double)run->settings.batch * (double)batches;
}

/* ---- Threads ------------------------------------------------------------------------------ */

static void seat_fini(seat *s)
{
    tsri_step_fini(&s->step);
    tsri_plan_destroy(s->plan);
    tsri_store_fini(&s->store);
    tsri_loader_destroy(s->loader);
    tsri_pool_destroy(s->pool);
}

static tsr_status seat_init(seat *s, const tsri_run *run, const tsri_net *net,
                            const tsri_loader_options *loader)
{
    tsr_status st = TSR_OK;
    tsri_aim aim = tsri_run_aim(&run->settings);
    TSR_TRY(tsri_pool_create(&s->pool, 1));
    TSR_TRY(tsri_loader_create(&s->loader, run->data, &run->data->train, loader));
    TSR_TRY(tsri_store_init(&s->store, net, &tsri_backend_ref64, true));
    TSR_TRY(tsri_plan_create(&s->plan, &s->store, tsri_device_on(&tsri_backend_ref64, s->pool),
                             run->settings.batch, true));
    TSR_TRY(tsri_step_init(&s->step, s->plan, &aim, NULL));
done:
    return st;
}

/* As many as threads and memory allow; one if nothing else does. */
static tsr_status count_seats(int *seats, const tsri_run *run, const tsri_net *net, int64_t batches)
{
    tsr_status st = TSR_OK;
    int64_t plan = 0, most = tsri_pool_threads(run->device.pool);
    tsri_device device = tsri_device_on(&tsri_backend_ref64, run->device.pool);
    TSR_TRY(tsri_plan_measure(&plan, net, device, run->settings.batch, true));
    double each = (double)plan + 3.0 * (double)net->total * sizeof(double);
    double fit = (double)tsri_memory_available() / 2 / each;
    most = most < 2 * batches ? most : 2 * batches;
    *seats = fit >= (double)most ? (int)most : fit > 1 ? (int)fit : 1;
done:
    return st;
}

static void crew_fini(crew *c)
{
    for (int i = 0; c->seat && i < c->seats; i++)
        seat_fini(&c->seat[i]);
    for (int i = 0; i < 3; i++) {
        tsri_free(c->at[i]);
        tsri_free(c->sum[i]);
    }
    tsri_free(c->pattern);
    tsri_free(c->seat);
}

static tsr_status crew_init(crew *c, const tsri_run *run, const tsri_net *net, const float *w,
                            const tsri_loader_options *loader)
{
    tsr_status st = TSR_OK;
    for (int i = 0; i < 3; i++) {
        TSR_TRY(tsri_alloc(&c->at[i], net->total, sizeof *c->at[i]));
        TSR_TRY(tsri_alloc(&c->sum[i], net->trained, sizeof *c->sum[i]));
        for (int64_t j = 0; j < net->total; j++)
            c->at[i][j] = (double)w[j];
    }
    TSR_TRY(tsri_alloc(&c->pattern, c->batches, sizeof *c->pattern));
    TSR_TRY(count_seats(&c->seats, run, net, c->batches));
    TSR_TRY(tsri_alloc(&c->seat, c->seats, sizeof *c->seat));
    for (int i = 0; i < c->seats; i++)
        TSR_TRY(seat_init(&c->seat[i], run, net, loader));
done:
    return st;
}

/* ---- One gradient ------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * 0x100000001b3u;
}

/* Which ReLUs are on, and which pixels the max poolings took: both are kept for backward, which
 * shows them. What it leaves out depends on no trained weight. */
static tsr_status note_pattern(void *context, const tsri_op *op, const tsri_layer *layer)
{
    uint64_t *hash = context;
    const double *y = op->y;
    const int64_t *taken = op->saved;
    bool relu = op->relu || op->kind == TSRI_RELU || op->kind == TSRI_RECURRENT;
    bool pool = op->kind == TSRI_MAXPOOL;
    (void)layer;
    for (int64_t i = 0; (relu || pool) && i < op->n * tsri_shape_count(op->out); i++)
        *hash = mix(*hash, relu ? (uint64_t)(y[i] > 0) : (uint64_t)taken[i]);
    return TSR_OK;
}

static int place_of(int side)
{
    return side < 0 ? 2 : side;
}

static tsr_status one(seat *s, const crew *c)
{
    tsr_status st = TSR_OK;
    const tsri_batch *batch = NULL;
    TSR_TRY(tsri_store_write(&s->store, TSRI_WEIGHTS, c->at[place_of(s->side)]));
    TSR_TRY(tsri_loader_get(s->loader, &batch, s->batch));
    TSR_TRY(tsri_step_forward(&s->step, batch, 0));
    TSR_TRY(tsri_step_judge(&s->step, batch, 0));
    s->pattern = 0xcbf29ce484222325u;
    TSR_TRY(tsri_plan_backward_each(s->plan, note_pattern, &s->pattern));
done:
    return st;
}

/* Messages belong to threads: this one's is kept for the caller's. */
static void body(void *context, int64_t i, int thread)
{
    crew *c = context;
    seat *s = &c->seat[i];
    (void)thread;
    s->st = one(s, c);
    if (s->st != TSR_OK)
        (void)snprintf(s->error, sizeof s->error, "%s", tsr_last_error());
}

/* What a seat found is added to the rest. */
static tsr_status take_in(crew *c, const seat *s)
{
    tsr_status st = TSR_OK;
    double *sum = c->sum[place_of(s->side)];
    tsri_opened host = {0};
    if (s->st != TSR_OK)
        return tsri_fail(s->st, "%s", s->error);
    TSR_TRY(tsri_store_open(&host, &s->store, TSRI_OPEN_GRADIENT));
    for (int64_t j = 0; j < c->net->trained; j++)
        sum[j] += ((const double *)host.g)[j] / (double)c->batches;
    if (s->side == 0)
        c->pattern[s->batch] = s->pattern;
    else
        c->smooth = c->smooth && c->pattern[s->batch] == s->pattern;
done:
    tsri_store_close(&host);
    return st;
}

/* The mean gradients of all batches: at the weights, or on both sides of them, as long as nothing
 * has switched. */
static tsr_status gradients(crew *c, const tsri_run *run, bool beside)
{
    tsr_status st = TSR_OK;
    int64_t jobs = beside ? 2 * c->batches : c->batches;
    for (int64_t first = 0; first < jobs && c->smooth; first += c->seats) {
        int64_t now = jobs - first < c->seats ? jobs - first : c->seats;
        for (int64_t i = 0; i < now; i++) {
            int64_t job = first + i;
            c->seat[i].batch = beside ? job / 2 : job;
            c->seat[i].side = !beside ? 0 : job % 2 ? -1 : 1;
        }
        tsri_pool_run(run->device.pool, body, c, now);
        for (int64_t i = 0; i < now; i++)
            TSR_TRY(take_in(c, &c->seat[i]));
    }
done:
    return st;
}

/* What makes the gradient as long as the weights; 0 where it is 0. */
static double unit_of(const crew *c)
{
    double w = 0, g = 0;
    for (int64_t i = 0; i < c->net->trained; i++) {
        w += c->at[0][i] * c->at[0][i];
        g += c->sum[0][i] * c->sum[0][i];
    }
    return g > 0 ? sqrt(w > 0 ? w / g : 1) : 0;
}

/* hg = the difference over a step of h times the gradient, if c->smooth then. */
static tsr_status difference(double *hg, crew *c, const tsri_run *run, double h)
{
    tsr_status st = TSR_OK;
    int64_t n = c->net->trained;
    c->smooth = true;
    for (int64_t i = 0; i < n; i++) {
        c->at[1][i] = c->at[0][i] + h * c->sum[0][i];
        c->at[2][i] = c->at[0][i] - h * c->sum[0][i];
        c->sum[1][i] = c->sum[2][i] = 0;
    }
    TSR_TRY(gradients(c, run, true));
    for (int64_t i = 0; i < n; i++)
        hg[i] = (c->sum[1][i] - c->sum[2][i]) / (2 * h);
done:
    return st;
}

tsr_status tsri_hessian_gradient(double *hg, bool *smooth, const tsri_run *run, const tsri_net *net,
                                 const float *w, const tsri_loader_options *loader, int64_t batches)
{
    tsr_status st = TSR_OK;
    crew c = {.net = net, .batches = batches, .smooth = true};
    TSR_TRY(crew_init(&c, run, net, w, loader));
    TSR_TRY(gradients(&c, run, false));
    double unit = unit_of(&c);
    memset(hg, 0, (size_t)net->trained * sizeof *hg); /* where nothing moves no unit counts */
    for (int i = 0; unit > 0 && i < STEPS && (i == 0 || !c.smooth); i++)
        TSR_TRY(difference(hg, &c, run, steps[i] * unit));
    *smooth = c.smooth;
done:
    crew_fini(&c);
    return st;
}
