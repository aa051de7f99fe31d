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
    tsri_changer changer;
    int64_t epoch; /* of `order`; -1 = none yet */
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

/* ---- What was drawn ------------------------------------------------------------------------- */

static void note_move(int32_t *move, const tsri_loader_options *o, const tsri_spot *at)
{
    tsri_placing p = tsri_augment_place(&o->augment, at);
    move[0] = (int32_t)p.down;
    move[1] = (int32_t)p.right;
    move[2] = p.flip;
}

static tsri_spot spot_of(const tsri_loader *loader, int64_t step, int64_t row, int64_t sample)
{
    const tsri_loader_options *o = &loader->options;
    return (tsri_spot){.seed = o->seed,
                       .replacement = o->replacement,
                       .worker = o->worker,
                       .step = step,
                       .epoch = step / loader->steps,
                       .row = row,
                       .sample = sample};
}

/* Fills in how one row was changed; the row holds a sample. */
static void row_changed(const tsri_changed *out, const tsri_loader *loader, const tsri_spot *at)
{
    const tsri_augment *a = &loader->options.augment;
    tsri_placing p = tsri_augment_place(a, at);
    if (out->crop) {
        out->crop[2 * at->row] = p.down;
        out->crop[2 * at->row + 1] = p.right;
    }
    if (out->flip)
        out->flip[at->row] = p.flip;
    for (int64_t k = 0; out->op && k < a->ops; k++) {
        tsri_operation o = tsri_augment_operation(at, k);
        out->op[2 * (at->row * a->ops + k)] = o.op;
        out->op[2 * (at->row * a->ops + k) + 1] = o.back;
    }
    if (out->cutout) {
        tsri_middle m = tsri_augment_middle(loader->data, at);
        out->cutout[2 * at->row] = m.down;
        out->cutout[2 * at->row + 1] = m.right;
    }
}

static void clear(int64_t *numbers, int64_t n)
{
    if (numbers)
        memset(numbers, 0, (size_t)n * sizeof *numbers);
}

void tsri_loader_changed(const tsri_changed *out, const tsri_loader *loader, const tsri_batch *b,
                         int64_t step)
{
    int64_t batch = loader->options.batch;
    clear(out->crop, 2 * batch);
    clear(out->flip, batch);
    clear(out->op, 2 * batch * loader->options.augment.ops);
    clear(out->cutout, 2 * batch);
    for (int64_t row = 0; row < b->n; row++) {
        const tsri_spot at = spot_of(loader, step, row, b->index[row]);
        row_changed(out, loader, &at);
    }
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

static void fill_row(tsri_batch *b, const tsri_loader *loader, const tsri_spot *at)
{
    int64_t row = at->row, i = at->sample;
    const tsr_data *data = loader->data;
    const tsri_part *part = loader->part;
    if (b->move)
        note_move(b->move + 3 * row, &loader->options, at);
    else if (b->x && tsri_augments(&loader->options.augment))
        tsri_sample_changed(b->x + row * data->dim, &loader->changer, at);
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
        const tsri_spot at = spot_of(loader, step, row, sample_at(loader, step, row));
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
    bool constant =
        loader->steps == 1 && !loader->options.shuffle && !tsri_augments(&loader->options.augment);
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
    return slots_of(n, o) * o->batch * of_sample + indices * (int64_t)sizeof(int64_t) +
           (o->augment.ops > 0 ? 2 * data->dim : 0);
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
    else if (tsri_augments(&o->augment))
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
    TSR_TRY(tsri_augment_check(&o->augment, data, part, ""));
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
    TSR_TRY(tsri_changer_init(&loader->changer, data, part, &options->augment));
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
    tsri_changer_fini(&loader->changer);
    tsri_free(loader);
}

int64_t tsri_loader_steps(const tsri_loader *loader)
{
    return loader->steps;
}
