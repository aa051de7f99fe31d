/* predictor.c - a model ready to answer: its plans made once, used by many threads.
 *
 * Numbers and description of the network are common to all. What a call writes to is a lane: a plan
 * for one sample, a plan for many, and the room for a batch. A call takes a free lane and puts it
 * back; only when all are taken is another one made. So calls neither wait for each other nor, from
 * the second one on, allocate.
 *
 * A single sample has a plan of its own because a product of another shape is another kernel. Many
 * samples go through one of `batch` rows, a few images through one of `few`, filled up with zeros:
 * the bits of an answer do not depend on what else was asked.
 */
#include "model/model.h"

#include "base/alloc.h"
#include "base/context.h"
#include "base/sized.h"
#include "base/text.h"
#include "data/arrays.h"
#include "data/normalisation.h"
#include "data/row_scaling.h"
#include "net/models.h"
#include "optim/step.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

enum { THREADS_MOST = 1024, CALLERS_MOST = 4096 };

/* Samples that go together, unless the caller says how many. Few: what is not asked for is computed
 * all the same, and a core is as fast with 32 as with more, or faster, since they stay in its cache.
 * A sample of a large network fills a core by itself; a chip of its own wants many. */
enum { BATCH = 32, BATCH_LARGE = 8, BATCH_CHIP = 256 };
static const double LARGE = 2e9; /* operations of a sample */

/* What is left of a call goes by so many where images are convolved on processors: two of them took
 * as long as 32, and each kernel there gives a sample the same bits in batches of any size but
 * one. */
enum { FEW = 4, FEW_LARGE = 2 };

/* A plan and the step that runs it. */
typedef struct gear {
    tsri_plan *plan;
    tsri_step step;
} gear;

typedef struct lane {
    struct lane *next; /* free: the next free one */
    tsri_pool *pool;
    gear one, few, many;
    float *x, *y;    /* [batch, dim], [batch, outputs] */
    int32_t *length; /* [batch] */
} lane;

struct tsr_predictor {
    tsr_predictor_options options;
    tsr_context *context; /* of who made it: its memory */
    const tsri_backend *backend;
    tsri_net *net;
    tsri_store store;
    tsri_scaling scaling;
    tsri_row_scaling row;
    int64_t shape[3], dim, outputs, width;
    int64_t few; /* rows of the plan for a few samples; 0: there is none */
    bool classes, sequences;
    bool pixels;          /* of images as they are: bytes are divided by 255, as in evaluation */
    pthread_mutex_t lock; /* of the list */
    lane *idle;
    tsri_plan *first;      /* of one sample: all others use the weights that it has laid out */
    tsri_plan *first_many; /* likewise of several samples, once there is one; of the lock */
};

/* ---- Lanes ---------------------------------------------------------------------------------- */

static void gear_fini(gear *g)
{
    tsri_step_fini(&g->step);
    tsri_plan_destroy(g->plan);
}

/* The first that was made has the weights as all use them; two at once are two firsts. */
static tsri_plan *first_of_many(tsr_predictor *p, tsri_plan *made)
{
    pthread_mutex_lock(&p->lock);
    p->first_many = p->first_many ? p->first_many : made;
    tsri_plan *first = p->first_many;
    pthread_mutex_unlock(&p->lock);
    return first;
}

static tsr_status gear_init(gear *g, tsr_predictor *p, lane *l, int64_t batch)
{
    tsr_status st = TSR_OK;
    tsri_device device = tsri_device_on(p->backend, l->pool);
    if (g->plan)
        return TSR_OK;
    if (batch == 1)
        TSR_TRY(tsri_plan_create_steady(&g->plan, &p->store, device, 1, p->first));
    else
        TSR_TRY(
            tsri_plan_create_steady(&g->plan, &p->store, device, batch, first_of_many(p, NULL)));
    TSR_TRY(tsri_step_init(&g->step, g->plan, &(tsri_aim){0}, NULL));
    if (batch > 1)
        (void)first_of_many(p, g->plan);
done:
    if (st != TSR_OK) {
        gear_fini(g);
        *g = (gear){0};
    }
    return st;
}

static void lane_destroy(lane *l)
{
    if (!l)
        return;
    gear_fini(&l->one);
    gear_fini(&l->few);
    gear_fini(&l->many);
    tsri_pool_destroy(l->pool);
    tsri_free(l->x);
    tsri_free(l->y);
    tsri_free(l->length);
    tsri_free(l);
}

static tsr_status lane_create(lane **out, tsr_predictor *p)
{
    tsr_status st = TSR_OK;
    lane *l = NULL;
    *out = NULL;
    TSR_TRY(tsri_alloc(&l, 1, sizeof *l));
    TSR_TRY(tsri_pool_create(&l->pool, p->options.threads));
    TSR_TRY(gear_init(&l->one, p, l, 1));
    TSR_TRY(tsri_alloc(&l->x, p->options.batch * p->dim, sizeof *l->x));
    TSR_TRY(tsri_alloc(&l->y, p->options.batch * p->outputs, sizeof *l->y));
    TSR_TRY(tsri_alloc(&l->length, p->options.batch, sizeof *l->length));
    *out = l;
    l = NULL;
done:
    lane_destroy(l);
    return st;
}

static void give_back(tsr_predictor *p, lane *l)
{
    pthread_mutex_lock(&p->lock);
    l->next = p->idle;
    p->idle = l;
    pthread_mutex_unlock(&p->lock);
}

static tsr_status take_lane(lane **out, tsr_predictor *p)
{
    pthread_mutex_lock(&p->lock);
    *out = p->idle;
    if (*out)
        p->idle = (*out)->next;
    pthread_mutex_unlock(&p->lock);
    return *out ? TSR_OK : lane_create(out, p);
}

/* ---- Life ----------------------------------------------------------------------------------- */

void tsr_predictor_destroy(tsr_predictor *p)
{
    if (!p)
        return;
    while (p->idle) {
        lane *l = p->idle;
        p->idle = l->next;
        lane_destroy(l);
    }
    tsri_store_fini(&p->store);
    tsri_net_destroy(p->net);
    tsri_scaling_fini(&p->scaling);
    pthread_mutex_destroy(&p->lock);
    tsri_free(p);
}

static tsr_status copy_floats(float **to, const float *from, int64_t n)
{
    tsr_status st = TSR_OK;
    if (!from)
        return TSR_OK;
    TSR_TRY(tsri_alloc_raw(to, n, sizeof **to));
    memcpy(*to, from, (size_t)n * sizeof **to);
done:
    return st;
}

static tsr_status copy_scaling(tsri_scaling *to, const tsri_scaling *from)
{
    tsr_status st = TSR_OK;
    *to = *from;
    to->shift = to->scale = to->fill = NULL;
    TSR_TRY(copy_floats(&to->shift, from->shift, from->groups));
    TSR_TRY(copy_floats(&to->scale, from->scale, from->groups));
    TSR_TRY(copy_floats(&to->fill, from->fill, from->columns));
done:
    return st;
}

static tsr_status take_options(tsr_predictor_options *o, const tsr_predictor_options *given)
{
    tsr_status st = TSR_OK;
    *o = tsr_predictor_options_default();
    if (given)
        TSR_TRY(TSRI_SIZED_TAKE(o, given));
    o->threads = o->threads == 0 ? 1 : o->threads;
    o->callers = o->callers == 0 ? 1 : o->callers;
    TSR_CHECK(o->threads > 0 && o->threads <= THREADS_MOST && o->callers > 0 &&
                  o->callers <= CALLERS_MOST && o->batch >= 0 && o->batch <= 1 << 20,
              TSR_USAGE, "threads, callers and batch of a predictor are from 1 to %d, %d and %d",
              THREADS_MOST, CALLERS_MOST, 1 << 20);
    TSR_CHECK(o->answer == TSR_OUTPUTS || o->answer == TSR_PROBABILITIES, TSR_USAGE,
              "there is no answer %d", (int)o->answer);
done:
    return st;
}

static bool convolves(const tsri_net *net)
{
    for (int64_t i = 0; i < net->layers; i++)
        if (net->layer[i].kind == TSRI_CONV)
            return true;
    return false;
}

/* How many samples go together, where the caller has not said it. */
static void choose_batches(tsr_predictor *p)
{
    bool chip = p->backend->chip, large = tsri_net_flops(p->net) >= LARGE;
    if (p->options.batch > 0)
        return;
    p->options.batch = chip ? BATCH_CHIP : large ? BATCH_LARGE : BATCH;
    if (!chip && convolves(p->net))
        p->few = large ? FEW_LARGE : FEW;
}

static tsr_status fill(tsr_predictor *p, const tsr_model *m)
{
    tsr_status st = TSR_OK;
    const tsri_shape s = m->input;
    p->shape[0] = s.c;
    p->shape[1] = s.h;
    p->shape[2] = s.w;
    p->dim = tsri_shape_count(s);
    p->outputs = m->outputs;
    p->classes = m->classes > 0;
    p->sequences = tsri_model_of(m->config)->sequences;
    bool both = p->options.answer == TSR_PROBABILITIES && p->outputs == 1;
    p->width = both ? 2 : p->outputs;
    TSR_CHECK(p->options.answer == TSR_OUTPUTS || p->classes, TSR_USAGE,
              "%s predicts real numbers: it has no probabilities", m->path);
    TSR_TRY(copy_scaling(&p->scaling, &m->scaling));
    double length = tsri_model_wants(m->config).length;
    p->row = tsri_row_scaling_of(&p->scaling, &m->schema, p->shape, p->sequences, length);
    p->row.fill = p->options.missing ? p->row.fill : NULL;
    p->pixels = !p->sequences && s.h * s.w > 1 && m->scaling.groups == 0 && m->schema.normalize &&
                tsri_normalises_nothing(tsri_normalisation_named(m->schema.normalize));
    TSR_TRY(tsri_backend_find(&p->backend, tsri_config_text(m->config, "backend")));
    if (p->backend->start)
        TSR_TRY(p->backend->start(p->options.threads));
    TSR_TRY(tsri_model_load(&p->net, &p->store, m, p->backend, false));
    choose_batches(p);
    for (int i = 0; i < p->options.callers; i++) {
        lane *l = NULL;
        TSR_TRY(lane_create(&l, p));
        p->first = p->first ? p->first : l->one.plan;
        give_back(p, l);
    }
done:
    return st;
}

tsr_status tsr_predictor_create(tsr_predictor **out, const tsr_model *model,
                                const tsr_predictor_options *options)
{
    tsr_status st = TSR_OK;
    tsr_predictor *p = NULL;
    TSRI_GIVEN(out);
    *out = NULL;
    TSRI_GIVEN(model);
    TSR_TRY(tsri_alloc(&p, 1, sizeof *p));
    pthread_mutex_init(&p->lock, NULL);
    p->context = tsri_context();
    TSR_TRY(take_options(&p->options, options));
    TSR_TRY(fill(p, model));
    *out = p;
    p = NULL;
done:
    tsr_predictor_destroy(p);
    return st;
}

int64_t tsr_predictor_width(const tsr_predictor *predictor)
{
    return predictor ? predictor->width : 0;
}

/* ---- Answers -------------------------------------------------------------------------------- */

/* What one output of a classifier, the margin of class 1 over class 0, is as two: 0 and y. */
static double logit(const float *y, int64_t outputs, int64_t k)
{
    return outputs > 1 ? (double)y[k] : k == 0 ? 0 : (double)y[0];
}

static void probabilities(float *to, const float *y, int64_t outputs, int64_t width)
{
    for (int64_t k = 0; k < width; k++) {
        double sum = 0;
        for (int64_t c = 0; c < width; c++)
            sum += exp(logit(y, outputs, c) - logit(y, outputs, k));
        to[k] = (float)(1 / sum);
    }
}

static void answer_row(float *to, const tsr_predictor *p, const float *y)
{
    if (p->options.answer == TSR_PROBABILITIES)
        probabilities(to, y, p->outputs, p->width);
    else
        for (int64_t k = 0; k < p->outputs; k++)
            to[k] = p->classes ? y[k] : tsri_scaling_original(&p->scaling, y[k]);
}

/* What is asked, checked once for the call. */
typedef struct question {
    const tsr_array *x, *length;
    int64_t n;
} question;

/* Is a the same order of numbers as b, with some dimensions taken together? Then each product of
 * its last sizes is one of b's. */
static bool is_coarser(const int64_t *a, int dims, const int64_t *b, int dims_b)
{
    int64_t wide = 1, fine = 1;
    while (dims > 0) {
        wide *= a[--dims];
        while (fine < wide && dims_b > 0)
            fine *= b[--dims_b];
        if (fine != wide)
            return false;
    }
    return true;
}

static tsr_status add_sizes(tsri_text *text, const int64_t *size, int dims)
{
    tsr_status st = TSR_OK;
    for (int d = 0; d < dims; d++)
        TSR_TRY(tsri_text_add(text, "%s%lld", d > 0 ? " x " : "", (long long)size[d]));
done:
    return st;
}

/* Refuses shapes with as many numbers in another order (channels last, positions last): the answers
 * would be silently wrong. */
static tsr_status check_order(const tsr_array *x, const tsr_predictor *p)
{
    tsr_status st = TSR_OK;
    tsri_text given = {0}, wanted = {0};
    const int64_t positions[] = {p->shape[1], p->shape[0]}, *size = x->shape + 1;
    const int64_t *want = p->sequences ? positions : p->shape;
    int dims = x->dims - 1, wants = p->sequences ? 2 : 3;
    if (is_coarser(size, dims, want, wants) || is_coarser(want, wants, size, dims))
        goto done;
    TSR_TRY(add_sizes(&given, size, dims));
    TSR_TRY(add_sizes(&wanted, want, wants));
    st = tsri_fail(TSR_USAGE, "x: a sample is %s, and the model takes %s (%s), or all in one row",
                   given.data, wanted.data,
                   p->sequences ? "positions, numbers" : "channels, rows, columns");
done:
    tsri_text_fini(&given);
    tsri_text_fini(&wanted);
    return st;
}

static tsr_status check_question(question *q, const tsr_predictor *p)
{
    tsr_status st = TSR_OK;
    const tsr_array *x = q->x;
    TSR_TRY(tsri_array_check(x, "x"));
    TSR_CHECK(x->dims >= 1, TSR_USAGE, "x: an array with samples first is needed");
    q->n = x->shape[0];
    TSR_CHECK(tsri_array_count(x) / q->n == p->dim, TSR_USAGE,
              "x: a sample has %lld numbers, and the model takes %lld x %lld x %lld",
              (long long)(tsri_array_count(x) / q->n), (long long)p->shape[0],
              (long long)p->shape[1], (long long)p->shape[2]);
    TSR_TRY(check_order(x, p));
    if (!q->length || !q->length->data)
        q->length = NULL;
    TSR_CHECK(!q->length || p->sequences, TSR_USAGE, "length: only sequences have one");
    if (q->length)
        TSR_TRY(tsri_array_check(q->length, "length"));
    TSR_CHECK(!q->length || (q->length->dims == 1 && q->length->shape[0] == q->n), TSR_USAGE,
              "length: one for each of the %lld sequences is needed", (long long)q->n);
done:
    return st;
}

/* Row k of the lane = sample i, as the network sees it. */
static tsr_status read_sample(lane *l, int64_t k, const question *q, const tsr_predictor *p,
                              int64_t i)
{
    tsr_status st = TSR_OK;
    float *x = l->x + k * p->dim;
    int64_t positions = p->shape[1], used = p->dim;
    static const tsri_row_scaling nothing = {0};
    tsri_array_row(x, q->x, i);
    for (int64_t c = 0; p->pixels && q->x->type == TSR_U8 && c < p->dim; c++)
        x[c] *= 1.0f / 255.0f;
    if (p->sequences) {
        TSR_CHECK(!q->length || (tsri_array_whole(&positions, q->length, i) && positions >= 1 &&
                                 positions <= p->shape[1]),
                  TSR_USAGE, "length: that of sample %lld is not from 1 to %lld", (long long)i,
                  (long long)p->shape[1]);
        l->length[k] = (int32_t)positions;
        used = positions * p->shape[0];
        memset(x + used, 0, (size_t)(p->dim - used) * sizeof *x);
    }
    st = tsri_scale_row(x, used, p->options.scaled ? &nothing : &p->row);
    if (st != TSR_OK)
        tsri_fail_prefix("x: sample %lld: ", (long long)i);
    int64_t far = st == TSR_OK ? tsri_first_too_far(x, used) : -1;
    TSR_CHECK(
        far < 0, TSR_USAGE,
        "x: sample %lld: number %lld is %.3g once it is scaled as in training: too far outside "
        "of what the model was trained on",
        (long long)i, (long long)far, (double)x[far]);
done:
    return st;
}

/* The gear for what is left of n samples, and its rows. */
static gear *choose_gear(int64_t *rows, lane *l, const tsr_predictor *p, int64_t n, int64_t left)
{
    bool alone = n == 1 || p->options.batch == 1;
    bool few = p->few > 0 && 2 * left <= p->options.batch;
    *rows = alone ? 1 : few ? p->few : p->options.batch;
    return alone ? &l->one : few ? &l->few : &l->many;
}

/* The next samples, from `first` on, into l->y: *count of them. */
static tsr_status forward(int64_t *count, lane *l, tsr_predictor *p, const question *q,
                          int64_t first)
{
    tsr_status st = TSR_OK;
    int64_t rows, left = q->n - first;
    gear *g = choose_gear(&rows, l, p, q->n, left);
    int64_t n = *count = left < rows ? left : rows;
    TSR_TRY(gear_init(g, p, l, rows));
    for (int64_t k = 0; k < n; k++)
        TSR_TRY(read_sample(l, k, q, p, first + k));
    for (int64_t k = n; k < rows; k++) {
        memset(l->x + k * p->dim, 0, (size_t)p->dim * sizeof *l->x);
        l->length[k] = (int32_t)p->shape[1];
    }
    tsri_batch b = {.n = n, .x = l->x, .length = p->sequences ? l->length : NULL};
    TSR_TRY(tsri_step_forward(&g->step, &b, 0));
    TSR_TRY(tsri_plan_read_output(l->y, g->plan, n));
    for (int64_t k = 0; k < n * p->outputs; k++)
        TSR_CHECK(isfinite(l->y[k]), TSR_USAGE,
                  "x: sample %lld: the model's answer is not a finite number: a value there is too "
                  "far outside of what the model was trained on",
                  (long long)(first + k / p->outputs));
done:
    return st;
}

typedef void (*put_answer)(void *to, int64_t i, const tsr_predictor *p, const float *y);

static tsr_status ask(void *to, const tsr_predictor *predictor, question *q, put_answer put)
{
    tsr_status st = TSR_OK;
    tsr_predictor *p = (tsr_predictor *)(uintptr_t)predictor; /* its lanes are nobody's to see */
    lane *l = NULL;
    tsr_context *before = tsr_context_use(p->context);
    TSR_TRY(check_question(q, p));
    TSR_TRY(take_lane(&l, p));
    for (int64_t first = 0, n = 0; first < q->n; first += n) {
        TSR_TRY(forward(&n, l, p, q, first));
        for (int64_t k = 0; k < n; k++)
            put(to, first + k, p, l->y + k * p->outputs);
    }
done:
    if (l)
        give_back(p, l);
    (void)tsr_context_use(before);
    return st;
}

static void put_numbers(void *to, int64_t i, const tsr_predictor *p, const float *y)
{
    answer_row((float *)to + i * p->width, p, y);
}

/* The largest; of equal ones the first. */
static void put_class(void *to, int64_t i, const tsr_predictor *p, const float *y)
{
    int64_t kinds = p->outputs == 1 ? 2 : p->outputs, best = 0;
    for (int64_t k = 1; k < kinds; k++)
        if (logit(y, p->outputs, k) > logit(y, p->outputs, best))
            best = k;
    ((int32_t *)to)[i] = (int32_t)best;
}

tsr_status tsr_predictor_run(float *answers, const tsr_predictor *predictor, const tsr_array *x,
                             const tsr_array *length)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(answers);
    TSRI_GIVEN(predictor);
    TSR_TRY(ask(answers, predictor, &(question){.x = x, .length = length}, put_numbers));
done:
    return st;
}

tsr_status tsr_predictor_classes(int32_t *classes, const tsr_predictor *predictor,
                                 const tsr_array *x, const tsr_array *length)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(classes);
    TSRI_GIVEN(predictor);
    TSR_CHECK(predictor->classes, TSR_USAGE, "the model predicts real numbers: it has no classes");
    TSR_TRY(ask(classes, predictor, &(question){.x = x, .length = length}, put_class));
done:
    return st;
}
