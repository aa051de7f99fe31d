/* loader.c - batches as a pure function of (seed, step, worker), prepared ahead.
 *
 * A batch is filled by one function, fill(), from nothing but the options and the step. With
 * prefetching a thread calls it for the steps to come, without it the caller does: the bytes cannot
 * differ. The batches stand in a ring; the one that was got last stays untouched while the thread
 * fills the others:
 *
 *     slot   | step 6 (got) | step 7 (ready) | step 8 (being filled) |      slot = step % SLOTS
 *
 * Nothing is allocated after create.
 */
#include "data/loader.h"

#include "base/alloc.h"
#include "base/context.h"
#include "base/pieces.h"
#include "base/rng.h"
#include "base/thread.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

enum { SLOTS = 3 };

typedef struct slot {
    tsri_batch batch;
    int64_t step; /* what it holds; -1 = nothing */
} slot;

struct tsri_loader {
    const tsr_data *data;
    const tsri_part *part;
    tsri_loader_options options;
    int64_t n;      /* samples of this shard */
    int64_t steps;  /* in an epoch */
    int64_t *shard; /* [n] the samples of this shard, or NULL for all */
    int64_t *order; /* [n] the order of epoch `epoch`, or NULL when not shuffled */
    int64_t epoch;  /* of `order`; -1 = none yet */
    slot slots[SLOTS];
    int slot_count;

    bool threaded; /* below: only then; all under the lock */
    pthread_t thread;
    tsr_context *owner; /* the thread works for it */
    pthread_mutex_t lock;
    pthread_cond_t wanted_more, filled_one;
    int64_t wanted; /* the step that was got last */
    int64_t next;   /* the step to fill next */
    bool busy;      /* the thread is filling */
    bool quit;
};

/* ---- One sample --------------------------------------------------------------------------- */

static void convert(float *restrict x, const uint8_t *restrict bytes, int64_t n, float shift,
                    float scale)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = ((float)bytes[i] - shift) * scale;
}

void tsri_sample(float *x, const tsr_data *data, const tsri_part *part, int64_t i)
{
    if (part->numbers) {
        memcpy(x, part->numbers + i * data->dim, (size_t)data->dim * sizeof *x);
        return;
    }
    int64_t plane = data->height * data->width;
    for (int64_t c = 0; c < data->channels; c++)
        convert(x + c * plane, part->bytes + i * data->dim + c * plane, plane,
                data->scaling.shift[c], data->scaling.scale[c]);
}

/* Pixels [from, from + n) of channel c, counted over the channel's plane. */
static void pixels(float *x, const tsr_data *data, const tsri_part *part, int64_t i, int64_t c,
                   int64_t from, int64_t n)
{
    int64_t at = i * data->dim + c * data->height * data->width + from;
    if (part->numbers)
        memcpy(x, part->numbers + at, (size_t)n * sizeof *x);
    else
        convert(x, part->bytes + at, n, data->scaling.shift[c], data->scaling.scale[c]);
}

static void mirror(float *row, int64_t n)
{
    for (int64_t a = 0, b = n - 1; a < b; a++, b--) {
        float t = row[a];
        row[a] = row[b];
        row[b] = t;
    }
}

/* The image moved by (down, right) pixels, black where nothing is: what is left of padding it on
 * all sides and cutting out a window of the old size. Black is the byte 0, as torchvision pads
 * before it normalises. */
static void moved(float *x, const tsr_data *data, const tsri_part *part, int64_t i, int64_t down,
                  int64_t right, bool flip)
{
    int64_t H = data->height, W = data->width;
    int64_t first = right > 0 ? right : 0, end = right < 0 ? W + right : W;
    for (int64_t c = 0; c < data->channels; c++) {
        float black = tsri_black(data, part, c);
        for (int64_t h = 0; h < H; h++, x += W) {
            bool inside = h - down >= 0 && h - down < H && first < end;
            for (int64_t w = 0; w < W; w++)
                if (!inside || w < first || w >= end)
                    x[w] = black;
            if (inside)
                pixels(x + first, data, part, i, c, (h - down) * W + first - right, end - first);
            if (flip)
                mirror(x, W);
        }
    }
}

typedef struct placing {
    int64_t down, right;
    bool flip;
} placing;

/* Where in a batch, and which sample. */
typedef struct spot {
    int64_t step, epoch, row, sample;
} spot;

/* A pure function of (seed; AUGMENT, epoch, sample), with replacement of (seed; AUGMENT, step,
 * worker, row): three numbers, always drawn in this order. */
static placing place(const tsri_loader_options *o, const spot *at)
{
    tsri_rng rng = o->replacement
                       ? tsri_rng_stream(o->seed, TSRI_FOR_AUGMENT, 1, at->step, o->worker)
                       : tsri_rng_stream(o->seed, TSRI_FOR_AUGMENT, 0, at->epoch, at->sample);
    if (o->replacement)
        tsri_rng_seek(&rng, (uint32_t)at->row);
    uint32_t places = (uint32_t)(2 * o->crop + 1);
    placing p;
    p.down = (int64_t)tsri_rng_below(&rng, places) - o->crop;
    p.right = (int64_t)tsri_rng_below(&rng, places) - o->crop;
    p.flip = tsri_rng_u32(&rng) >> 31 && o->flip;
    return p;
}

static bool augments(const tsri_loader_options *o)
{
    return o->flip || o->crop > 0;
}

static void augmented(float *x, const tsri_loader *loader, const spot *at)
{
    placing p = place(&loader->options, at);
    moved(x, loader->data, loader->part, at->sample, p.down, p.right, p.flip);
}

static void note_move(int32_t *move, const tsri_loader_options *o, const spot *at)
{
    placing p = place(o, at);
    move[0] = (int32_t)p.down;
    move[1] = (int32_t)p.right;
    move[2] = p.flip;
}

void tsri_loader_moves(int64_t *crop, int64_t *flip, const tsri_loader *loader, const tsri_batch *b,
                       int64_t step)
{
    for (int64_t row = 0; row < loader->options.batch; row++) {
        placing p = {0};
        const spot at = {step, step / loader->steps, row, b->index[row]};
        if (row < b->n)
            p = place(&loader->options, &at);
        crop[2 * row] = p.down;
        crop[2 * row + 1] = p.right;
        flip[row] = p.flip;
    }
}

float tsri_black(const tsr_data *data, const tsri_part *part, int64_t c)
{
    return part->numbers ? 0.0f : (0.0f - data->scaling.shift[c]) * data->scaling.scale[c];
}

/* ---- One batch ---------------------------------------------------------------------------- */

static void order_epoch(tsri_loader *loader, int64_t epoch)
{
    if (loader->epoch == epoch)
        return;
    tsri_rng rng =
        tsri_rng_stream(loader->options.seed, TSRI_FOR_ORDER, 0, epoch, loader->options.worker);
    tsri_rng_permutation(&rng, loader->order, loader->n);
    loader->epoch = epoch;
}

/* Number `row` of the stream of a step, whatever the others are. */
static int64_t drawn(const tsri_loader *loader, int64_t step, int64_t row)
{
    const tsri_loader_options *o = &loader->options;
    tsri_rng rng = tsri_rng_stream(o->seed, TSRI_FOR_ORDER, 2, step, o->worker);
    tsri_rng_seek(&rng, (uint32_t)row);
    return tsri_rng_below(&rng, (uint32_t)loader->n);
}

static int64_t sample_at(const tsri_loader *loader, int64_t step, int64_t row)
{
    int64_t position = step % loader->steps * loader->options.batch + row;
    int64_t i = loader->options.replacement ? drawn(loader, step, row)
                : loader->order             ? loader->order[position]
                                            : position;
    return loader->shard ? loader->shard[i] : i;
}

static void fill_row(tsri_batch *b, const tsri_loader *loader, const spot *at)
{
    int64_t row = at->row, i = at->sample;
    const tsr_data *data = loader->data;
    const tsri_part *part = loader->part;
    if (b->move)
        note_move(b->move + 3 * row, &loader->options, at);
    else if (b->x && augments(&loader->options))
        augmented(b->x + row * data->dim, loader, at);
    else if (b->x)
        tsri_sample(b->x + row * data->dim, data, part, i);
    b->index[row] = i;
    if (b->label)
        b->label[row] = part->label[i];
    if (b->target)
        memcpy(b->target + row * data->targets, part->target + i * data->targets,
               (size_t)data->targets * sizeof *b->target);
    if (b->length)
        b->length[row] = part->length[i];
}

static void clear_row(tsri_batch *b, const tsr_data *data, int64_t row)
{
    if (b->x)
        memset(b->x + row * data->dim, 0, (size_t)data->dim * sizeof *b->x);
    if (b->move)
        memset(b->move + 3 * row, 0, 3 * sizeof *b->move);
    b->index[row] = -1;
    if (b->label)
        b->label[row] = 0;
    if (b->target)
        memset(b->target + row * data->targets, 0, (size_t)data->targets * sizeof *b->target);
    if (b->length)
        b->length[row] = 0;
}

static void fill(tsri_loader *loader, tsri_batch *b, int64_t step)
{
    int64_t epoch = step / loader->steps, first = step % loader->steps * loader->options.batch;
    if (loader->order)
        order_epoch(loader, epoch);
    int64_t left = loader->n - first;
    b->n = left < loader->options.batch ? left : loader->options.batch;
    for (int64_t row = 0; row < b->n; row++) {
        const spot at = {step, epoch, row, sample_at(loader, step, row)};
        fill_row(b, loader, &at);
    }
    for (int64_t row = b->n; row < loader->options.batch; row++)
        clear_row(b, loader->data, row);
}

/* ---- Ahead of time ------------------------------------------------------------------------ */

static void *producer(void *argument)
{
    tsri_loader *loader = argument;
    (void)tsr_context_use(loader->owner);
    pthread_mutex_lock(&loader->lock);
    for (;;) {
        while (!loader->quit && (loader->wanted < 0 || loader->next >= loader->wanted + SLOTS))
            pthread_cond_wait(&loader->wanted_more, &loader->lock);
        if (loader->quit)
            break;
        int64_t step = loader->next++;
        slot *s = &loader->slots[step % SLOTS];
        s->step = -1;
        loader->busy = true;
        pthread_mutex_unlock(&loader->lock);
        fill(loader, &s->batch, step);
        pthread_mutex_lock(&loader->lock);
        s->step = step;
        loader->busy = false;
        pthread_cond_signal(&loader->filled_one);
    }
    pthread_mutex_unlock(&loader->lock);
    return NULL;
}

static const tsri_batch *await(tsri_loader *loader, int64_t step)
{
    slot *s = &loader->slots[step % SLOTS];
    pthread_mutex_lock(&loader->lock);
    if (step != loader->wanted && step != loader->wanted + 1) { /* a jump: start again from there */
        while (loader->busy)
            pthread_cond_wait(&loader->filled_one, &loader->lock);
        for (int i = 0; i < SLOTS; i++)
            loader->slots[i].step = -1;
        loader->next = step;
    }
    loader->wanted = step;
    pthread_cond_signal(&loader->wanted_more);
    while (s->step != step)
        pthread_cond_wait(&loader->filled_one, &loader->lock);
    pthread_mutex_unlock(&loader->lock);
    return &s->batch;
}

tsr_status tsri_loader_get(tsri_loader *loader, const tsri_batch **out, int64_t step)
{
    *out = NULL;
    if (step < 0)
        return tsri_fail(TSR_USAGE, "there is no batch of step %lld", (long long)step);
    if (loader->threaded) {
        *out = await(loader, step);
        return TSR_OK;
    }
    /* Unchanged data in one batch is the same at every step: full-batch descent copies it once. */
    bool constant = loader->steps == 1 && !loader->options.shuffle && !loader->options.flip &&
                    loader->options.crop == 0;
    slot *s = &loader->slots[0];
    if (s->step != step && !(constant && s->step >= 0)) {
        fill(loader, &s->batch, step);
        s->step = step;
    }
    *out = &s->batch;
    return TSR_OK;
}

/* ---- Life --------------------------------------------------------------------------------- */

/* Which shard each sample belongs to is drawn once from the seed, the same for all workers: data is
 * often sorted by class, or has its classes in turn, and neither may become the shards. */
int64_t tsri_shard_size(int64_t n, const tsri_loader_options *o)
{
    return n / o->shards + (o->shard < n % o->shards);
}

/* Batches that are kept: ahead of the one in use, if there is more than one of them. */
static int slots_of(int64_t samples, const tsri_loader_options *o)
{
    return o->prefetch && (o->shuffle || samples > o->batch) ? SLOTS : 1;
}

int64_t tsri_loader_bytes(const tsr_data *data, const tsri_part *part, const tsri_loader_options *o)
{
    int64_t n = tsri_shard_size(part->n, o),
            indices = (o->shuffle && !o->replacement ? n : 0) + (o->shards > 1 ? n : 0);
    int64_t of_sample = ((o->bare ? 3 : data->dim) + data->targets) * (int64_t)sizeof(float) +
                        (data->classes > 0 ? (int64_t)sizeof(int32_t) : 0) +
                        (data->sequences ? (int64_t)sizeof(int32_t) : 0) + (int64_t)sizeof(int64_t);
    return slots_of(n, o) * o->batch * of_sample + indices * (int64_t)sizeof(int64_t);
}

static tsr_status make_shard(tsri_loader *loader)
{
    tsr_status st = TSR_OK;
    const tsri_loader_options *o = &loader->options;
    int64_t n = loader->part->n, *all = NULL;
    bool *mine = NULL;
    int64_t first =
        n / o->shards * o->shard + (o->shard < n % o->shards ? o->shard : n % o->shards);
    loader->n = tsri_shard_size(n, o);
    if (o->shards == 1)
        goto done;
    TSR_TRY(tsri_alloc(&all, n, sizeof *all));
    TSR_TRY(tsri_alloc(&mine, n, sizeof *mine));
    TSR_TRY(tsri_alloc(&loader->shard, loader->n, sizeof *loader->shard));
    tsri_rng rng = tsri_rng_stream(o->seed, TSRI_FOR_ORDER, 1, 0, 0);
    tsri_rng_permutation(&rng, all, n);
    for (int64_t i = first; i < first + loader->n; i++)
        mine[all[i]] = true;
    for (int64_t i = 0, at = 0; i < n; i++)
        if (mine[i])
            loader->shard[at++] = i;
done:
    tsri_free(all);
    tsri_free(mine);
    return st;
}

static tsr_status make_batch(tsri_batch *b, const tsr_data *data, const tsri_part *part,
                             const tsri_loader_options *o)
{
    tsr_status st = TSR_OK;
    int64_t batch = o->batch;
    if (!o->bare)
        TSR_TRY(tsri_alloc(&b->x, batch * data->dim, sizeof *b->x));
    else if (augments(o))
        TSR_TRY(tsri_alloc(&b->move, 3 * batch, sizeof *b->move));
    TSR_TRY(tsri_alloc(&b->index, batch, sizeof *b->index));
    if (part->label)
        TSR_TRY(tsri_alloc(&b->label, batch, sizeof *b->label));
    if (part->target)
        TSR_TRY(tsri_alloc(&b->target, batch * data->targets, sizeof *b->target));
    if (part->length)
        TSR_TRY(tsri_alloc(&b->length, batch, sizeof *b->length));
done:
    return st;
}

static tsr_status check(const tsr_data *data, const tsri_part *part, const tsri_loader_options *o)
{
    tsr_status st = TSR_OK;
    int64_t rows;
    assert(part->numbers || (part->bytes && data->scaling.shift && data->scaling.scale));
    TSR_CHECK(part->n > 0, TSR_USAGE, "%s: there are no samples to make batches of", data->name);
    TSR_CHECK(o->shards >= 1 && o->shard >= 0 && o->shard < o->shards, TSR_USAGE,
              "there is no shard %lld of %lld", (long long)o->shard, (long long)o->shards);
    rows = part->n / o->shards;
    TSR_CHECK(rows > 0, TSR_USAGE, "%s: %lld samples cannot be shared by %lld workers", data->name,
              (long long)part->n, (long long)o->shards);
    TSR_CHECK(o->batch >= 1 && (!o->shuffle || o->batch <= rows), TSR_USAGE,
              "%s: a batch of %lld is more than the %lld samples of a worker; set batch to %lld "
              "or less",
              data->name, (long long)o->batch, (long long)rows, (long long)rows);
    TSR_CHECK(o->crop >= 0 && o->crop < (1 << 20), TSR_USAGE, "a padding of %lld makes no sense",
              (long long)o->crop);
    TSR_CHECK((!o->flip && o->crop == 0) || (!data->sequences && data->width > 1), TSR_USAGE,
              "%s holds no images: data.augment must be none", data->name);
done:
    return st;
}

static tsr_status start_thread(tsri_loader *loader)
{
    pthread_mutex_init(&loader->lock, NULL);
    pthread_cond_init(&loader->wanted_more, NULL);
    pthread_cond_init(&loader->filled_one, NULL);
    loader->owner = tsri_context();
    int error = tsri_thread_start(&loader->thread, producer, loader);
    loader->threaded = error == 0;
    if (loader->threaded)
        return TSR_OK;
    pthread_mutex_destroy(&loader->lock);
    pthread_cond_destroy(&loader->wanted_more);
    pthread_cond_destroy(&loader->filled_one);
    return tsri_fail(
        TSR_RESOURCES,
        "cannot start the thread that prepares batches: %s; set data.prefetch to false",
        strerror(error));
}

tsr_status tsri_loader_create(tsri_loader **out, const tsr_data *data, const tsri_part *part,
                              const tsri_loader_options *options)
{
    tsr_status st = TSR_OK;
    tsri_loader *loader = NULL;
    *out = NULL;
    TSR_TRY(check(data, part, options));
    TSR_TRY(tsri_alloc(&loader, 1, sizeof *loader));
    loader->data = data;
    loader->part = part;
    loader->options = *options;
    loader->epoch = loader->wanted = -1;
    TSR_TRY(make_shard(loader));
    if (options->shuffle) {
        if (!options->replacement)
            TSR_TRY(tsri_alloc(&loader->order, loader->n, sizeof *loader->order));
        loader->steps = loader->n / options->batch;
    } else {
        loader->steps = tsri_ceil_div(loader->n, options->batch);
    }
    loader->slot_count = slots_of(loader->n, options);
    bool ahead = loader->slot_count > 1;
    for (int i = 0; i < loader->slot_count; i++) {
        loader->slots[i].step = -1;
        TSR_TRY(make_batch(&loader->slots[i].batch, data, part, options));
    }
    if (ahead)
        TSR_TRY(start_thread(loader));
    *out = loader;
    loader = NULL;
done:
    tsri_loader_destroy(loader);
    return st;
}

static void stop_thread(tsri_loader *loader)
{
    pthread_mutex_lock(&loader->lock);
    loader->quit = true;
    pthread_cond_signal(&loader->wanted_more);
    pthread_mutex_unlock(&loader->lock);
    pthread_join(loader->thread, NULL);
    pthread_cond_destroy(&loader->wanted_more);
    pthread_cond_destroy(&loader->filled_one);
    pthread_mutex_destroy(&loader->lock);
}

void tsri_loader_destroy(tsri_loader *loader)
{
    if (!loader)
        return;
    if (loader->threaded)
        stop_thread(loader);
    for (int i = 0; i < loader->slot_count; i++) {
        tsri_batch *b = &loader->slots[i].batch;
        tsri_free(b->x);
        tsri_free(b->move);
        tsri_free(b->label);
        tsri_free(b->target);
        tsri_free(b->length);
        tsri_free(b->index);
    }
    tsri_free(loader->shard);
    tsri_free(loader->order);
    tsri_free(loader);
}

int64_t tsri_loader_steps(const tsri_loader *loader)
{
    return loader->steps;
}
