/* Batches: a pure function of (seed, step, worker), with and without the thread. */
#include "loader_testing.h"

#include "base/clock.h"

#include <math.h>
#include <time.h>

static tsri_loader_options shuffled(int64_t batch)
{
    return (tsri_loader_options){.batch = batch, .seed = 7, .shards = 1, .shuffle = true};
}

static void same_batch(const fixture *f, const tsri_batch *a, const tsri_batch *b, int64_t rows)
{
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->x, b->x, (size_t)(rows * f->data.dim) * sizeof(float));
    assert_memory_equal(a->index, b->index, (size_t)rows * sizeof *a->index);
    assert_memory_equal(a->label, b->label, (size_t)rows * sizeof *a->label);
}

/* ---- Order -------------------------------------------------------------------------------- */

static void an_epoch_is_a_permutation(void **state)
{
    (void)state;
    fixture f;
    setup(&f, 103, 1, 4);
    tsri_loader *loader = loader_of(&f, shuffled(10));
    assert_int_equal(tsri_loader_steps(loader), 10);
    int left_out[2] = {-1, -1};
    int64_t first[2];
    for (int64_t epoch = 0; epoch < 2; epoch++) {
        int seen[103] = {0};
        for (int64_t s = 0; s < 10; s++) {
            const tsri_batch *b = get(loader, epoch * 10 + s);
            assert_int_equal(b->n, 10);
            for (int64_t r = 0; r < 10; r++) {
                seen[b->index[r]]++;
                assert_int_equal(b->label[r], b->index[r] % 10);
                for (int64_t k = 0; k < 16; k++) {
                    float byte = (float)f.data.train.bytes[b->index[r] * 16 + k];
                    assert_true(b->x[r * 16 + k] == (byte - 100.0f) * 0.02f);
                }
            }
            if (s == 0)
                first[epoch] = b->index[0] * 1000 + b->index[1];
        }
        int missed = 0;
        for (int i = 0; i < 103; i++) {
            assert_true(seen[i] <= 1);
            missed += seen[i] == 0;
            left_out[epoch] = seen[i] == 0 ? i : left_out[epoch];
        }
        assert_int_equal(missed, 3);
    }
    assert_true(first[0] != first[1] && left_out[0] != left_out[1]); /* holds for seed 7 */
    tsri_loader_destroy(loader);
    teardown(&f);
}

/* Independent draws: every index equally often (chi-square with 19 degrees of freedom: below 43.8
 * in all but one of a thousand such tests; the draws are fixed, so it holds always or never), pairs
 * within a batch as often equal as 1 in n; a pure function of step, worker and row. */
static void draws_with_replacement(void **state)
{
    (void)state;
    enum { N = 20, BATCH = 8, STEPS = 4000 };
    fixture f;
    setup(&f, N, 1, 4);
    tsri_loader_options o = shuffled(BATCH), other = o;
    o.replacement = other.replacement = true;
    other.worker = 1;
    tsri_loader *loader = loader_of(&f, o), *second = loader_of(&f, other);
    double seen[N] = {0}, chi = 0;
    int64_t equal = 0, alike = 0;
    assert_int_equal(tsri_loader_steps(loader), N / BATCH);
    for (int64_t step = 0; step < STEPS; step++) {
        const tsri_batch *b = get(loader, step), *c = get(second, step);
        assert_int_equal(b->n, BATCH);
        for (int64_t row = 0; row < BATCH; row++) {
            seen[b->index[row]]++;
            alike += b->index[row] == c->index[row];
            equal += row > 0 && b->index[row] == b->index[row - 1];
            assert_int_equal(b->label[row], f.data.train.label[b->index[row]]);
        }
    }
    for (int i = 0; i < N; i++)
        chi += (seen[i] - STEPS * BATCH / N) * (seen[i] - STEPS * BATCH / N) / (STEPS * BATCH / N);
    assert_true(chi < 43.8);
    /* both are binomial with chance 1/20: within four deviations */
    assert_true(fabs((double)equal - STEPS * 7 / 20.0) < 4 * sqrt(STEPS * 7 / 20.0 * 0.95));
    assert_true(fabs((double)alike - STEPS * 8 / 20.0) < 4 * sqrt(STEPS * 8 / 20.0 * 0.95));
    int64_t first[BATCH];
    memcpy(first, get(loader, 7)->index, sizeof first);
    (void)get(loader, 3999);
    assert_memory_equal(get(loader, 7)->index, first, sizeof first);
    tsri_loader_destroy(loader);
    tsri_loader_destroy(second);
    teardown(&f);
}

/* A sample that is drawn twice is cropped twice. */
static void crops_of_draws_differ(void **state)
{
    (void)state;
    fixture f;
    setup(&f, 2, 3, 8);
    tsri_loader_options o = shuffled(2);
    o.replacement = true;
    o.augment.crop = 4;
    tsri_loader *loader = loader_of(&f, o);
    int64_t twice = 0, alike = 0, crop[4];
    for (int64_t step = 0; step < 400; step++) {
        const tsri_batch *b = get(loader, step);
        tsri_loader_changed(&(tsri_changed){.crop = crop}, loader, b, step);
        if (b->index[0] != b->index[1])
            continue;
        twice++;
        bool same = memcmp(b->x, b->x + f.data.dim, (size_t)f.data.dim * sizeof(float)) == 0;
        assert_true(same == (crop[0] == crop[2] && crop[1] == crop[3]));
        alike += same;
    }
    assert_true(twice > 150 && twice < 250); /* half of 400, five deviations */
    assert_true(alike < twice / 10);         /* 1 in 81 */
    tsri_loader_destroy(loader);
    teardown(&f);
}

static void workers_and_seeds_differ(void **state)
{
    (void)state;
    fixture f;
    setup(&f, 1000, 1, 2);
    tsri_loader_options base = shuffled(100), worker = base, seed = base;
    worker.worker = 1;
    seed.seed = 8;
    tsri_loader *a = loader_of(&f, base), *b = loader_of(&f, worker), *c = loader_of(&f, seed);
    const tsri_batch *x = get(a, 0), *y = get(b, 0), *z = get(c, 0);
    assert_memory_not_equal(x->index, y->index, 100 * sizeof *x->index);
    assert_memory_not_equal(x->index, z->index, 100 * sizeof *x->index);
    tsri_loader_destroy(a);
    tsri_loader_destroy(b);
    tsri_loader_destroy(c);
    teardown(&f);
}

static void unshuffled_ends_short(void **state)
{
    (void)state;
    fixture f;
    setup(&f, 25, 3, 5);
    for (int prefetch = 0; prefetch < 2; prefetch++) {
        tsri_loader_options o = {.batch = 10, .shards = 1, .prefetch = prefetch};
        tsri_loader *loader = loader_of(&f, o);
        assert_int_equal(tsri_loader_steps(loader), 3);
        for (int64_t step = 0; step < 7; step++) {
            const tsri_batch *b = get(loader, step);
            int64_t first = step % 3 * 10;
            assert_int_equal(b->n, step % 3 == 2 ? 5 : 10);
            float x[75];
            for (int64_t r = 0; r < b->n; r++) {
                assert_int_equal(b->index[r], first + r);
                tsri_sample(x, &f.data, &f.data.train, first + r);
                assert_memory_equal(x, b->x + r * 75, sizeof x);
            }
            memset(x, 0, sizeof x);
            for (int64_t r = b->n; r < 10; r++) {
                assert_memory_equal(x, b->x + r * 75, sizeof x);
                assert_int_equal(b->index[r], -1);
            }
        }
        tsri_loader_destroy(loader);
    }
    teardown(&f);
}

static void one_full_batch_may_be_larger_than_the_data(void **state)
{
    (void)state;
    fixture f;
    setup(&f, 7, 1, 2);
    tsri_loader *loader = loader_of(&f, (tsri_loader_options){.batch = 9, .shards = 1});
    assert_int_equal(get(loader, 0)->n, 7);
    assert_ptr_equal(get(loader, 5), get(loader, 0));
    tsri_loader_destroy(loader);
    teardown(&f);
}

static void shards_are_disjoint_and_cover(void **state)
{
    (void)state;
    fixture f;
    setup(&f, 1003, 1, 1);
    int seen[1003] = {0};
    for (int64_t s = 0; s < 10; s++) {
        tsri_loader_options o = {.batch = 1003, .seed = 3, .shard = s, .shards = 10};
        tsri_loader *loader = loader_of(&f, o);
        const tsri_batch *b = get(loader, 0);
        assert_true(b->n == 100 || b->n == 101);
        int classes[10] = {0};
        for (int64_t r = 0; r < b->n; r++) {
            seen[b->index[r]]++;
            classes[b->label[r]]++;
            assert_true(r == 0 || b->index[r] > b->index[r - 1]);
        }
        for (int c = 0; c < 10; c++) /* labels i % 10: a stride of ten would give one class each */
            assert_true(classes[c] > 0);
        tsri_loader_destroy(loader);
    }
    for (int i = 0; i < 1003; i++)
        assert_int_equal(seen[i], 1);
    teardown(&f);
}

/* ---- The thread --------------------------------------------------------------------------- */

static void identical_with_and_without_prefetch(void **state)
{
    (void)state;
    fixture f;
    setup(&f, 205, 3, 8);
    tsri_loader_options o = shuffled(20);
    o.augment.flip = true;
    o.augment.crop = 2;
    o.shards = 2;
    o.shard = 1;
    tsri_loader *plain = loader_of(&f, o);
    o.prefetch = true;
    tsri_loader *ahead = loader_of(&f, o);
    /* one after the other across epochs, back, the same again, far ahead, and on from there */
    static const int64_t jumps[] = {3, 3, 4, 900, 901, 902, 903, 2, 0, 1, 2, 5, 4};
    for (int64_t step = 0; step < 40; step++)
        same_batch(&f, get(plain, step), get(ahead, step), 20);
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++)
        same_batch(&f, get(plain, jumps[i]), get(ahead, jumps[i]), 20);
    tsri_loader_destroy(plain);
    tsri_loader_destroy(ahead);
    teardown(&f);
}

static void a_batch_stays_until_the_next_get(void **state)
{
    (void)state;
    fixture f;
    setup(&f, 64, 1, 16);
    tsri_loader_options o = shuffled(8);
    tsri_loader *plain = loader_of(&f, o);
    o.prefetch = true;
    tsri_loader *ahead = loader_of(&f, o);
    for (int64_t step = 0; step < 50; step++) {
        const tsri_batch *held = get(ahead, step);
        struct timespec moment = {0, 200000}; /* time enough for the thread to run ahead */
        nanosleep(&moment, NULL);
        same_batch(&f, get(plain, step), held, 8);
    }
    tsri_loader_destroy(plain);
    tsri_loader_destroy(ahead);
    teardown(&f);
}

static void stops_at_any_moment(void **state)
{
    (void)state;
    fixture f;
    setup(&f, 64, 1, 16);
    tsri_loader_options o = shuffled(8);
    o.prefetch = true;
    for (int64_t gets = 0; gets < 60; gets++) {
        tsri_loader *loader = loader_of(&f, o);
        for (int64_t step = 0; step < gets % 6; step++)
            (void)get(loader, step);
        tsri_loader_destroy(loader);
    }
    teardown(&f);
}

/* ---- Augmentation ------------------------------------------------------------------------- */

/* A second way to compute a crop: pad the bytes, draw the same numbers, cut the window. */
static float cropped(const fixture *f, int64_t i, int64_t c, int64_t h, int64_t w, int64_t pad,
                     const int64_t draw[3])
{
    int64_t H = f->data.height, W = f->data.width;
    int64_t column = draw[2] ? W - 1 - w : w;
    int64_t y = h + 2 * pad - draw[0] - pad, x = column + 2 * pad - draw[1] - pad;
    float byte = 0;
    if (y >= 0 && y < H && x >= 0 && x < W)
        byte = (float)f->data.train.bytes[((i * f->data.channels + c) * H + y) * W + x];
    return (byte - f->shift[c]) * f->scale[c];
}

static void crops_and_flips_are_pure(void **state)
{
    (void)state;
    fixture f;
    setup(&f, 40, 3, 6);
    tsri_loader_options o = shuffled(40);
    o.augment.crop = 2;
    o.augment.flip = true;
    tsri_loader *loader = loader_of(&f, o);
    int flips = 0, moves = 0;
    for (int64_t epoch = 0; epoch < 5; epoch++) {
        const tsri_batch *b = get(loader, epoch);
        for (int64_t r = 0; r < 40; r++) {
            tsri_rng rng = tsri_rng_stream(7, TSRI_FOR_AUGMENT, 0, epoch, b->index[r]);
            int64_t draw[3];
            draw[0] = tsri_rng_below(&rng, 5);
            draw[1] = tsri_rng_below(&rng, 5);
            draw[2] = tsri_rng_u32(&rng) >> 31;
            flips += draw[2] == 1;
            moves += draw[0] != 2 || draw[1] != 2;
            const float *x = b->x + r * f.data.dim;
            for (int64_t c = 0; c < 3; c++)
                for (int64_t h = 0; h < 6; h++)
                    for (int64_t w = 0; w < 6; w++)
                        assert_true(*x++ == cropped(&f, b->index[r], c, h, w, 2, draw));
        }
    }
    assert_true(flips > 60 && flips < 140); /* of 200, mean 100, sd 7: beyond 5 sd is a bug */
    assert_true(moves > 160);               /* of 200, mean 192 */
    tsri_loader_destroy(loader);
    teardown(&f);
}

static void a_crop_wider_than_the_image_is_black_at_worst(void **state)
{
    (void)state;
    fixture f;
    setup(&f, 4, 1, 3);
    tsri_loader_options o = shuffled(4);
    o.augment.crop = 10;
    tsri_loader *loader = loader_of(&f, o);
    for (int64_t step = 0; step < 50; step++) {
        const tsri_batch *b = get(loader, step);
        for (int64_t k = 0; k < 36; k++)
            assert_true(b->x[k] >= -2.0f && b->x[k] <= 155 * 0.02f);
    }
    tsri_loader_destroy(loader);
    teardown(&f);
}

/* ---- Refusals, memory, speed -------------------------------------------------------------- */

static void nonsense_is_refused(void **state)
{
    (void)state;
    fixture f;
    setup(&f, 10, 1, 1);
    tsri_loader *loader = NULL;
    tsri_loader_options o = shuffled(11);
    const tsri_part *part = &f.data.train;
    assert_fails(tsri_loader_create(&loader, &f.data, part, &o), TSR_USAGE, "set batch to 10");
    o = shuffled(4);
    o.shards = 3;
    assert_fails(tsri_loader_create(&loader, &f.data, part, &o), TSR_USAGE, "set batch to 3");
    o.shard = 3;
    assert_fails(tsri_loader_create(&loader, &f.data, part, &o), TSR_USAGE, "no shard 3 of 3");
    o = shuffled(4);
    o.augment.flip = true;
    assert_fails(tsri_loader_create(&loader, &f.data, part, &o), TSR_USAGE, "no images");
    tsri_part none = {.bytes = part->bytes};
    assert_fails(tsri_loader_create(&loader, &f.data, &none, &o), TSR_USAGE, "no samples");
    assert_null(loader);
    o = shuffled(4);
    loader = loader_of(&f, o);
    const tsri_batch *b = NULL;
    assert_fails(tsri_loader_get(loader, &b, -1), TSR_USAGE, "no batch");
    tsri_loader_destroy(loader);
    teardown(&f);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    fixture f;
    setup(&f, 30, 1, 4);
    tsri_loader_options o = shuffled(5);
    o.shards = 2;
    o.prefetch = true;
    int64_t n = 0;
    for (;; n++) {
        tsri_loader *loader = NULL;
        int64_t before = tsri_alloc_blocks();
        (void)tsri_alloc_fail_after(n, false);
        tsr_status st = tsri_loader_create(&loader, &f.data, &f.data.train, &o);
        (void)tsri_alloc_fail_after(-1, false);
        tsri_loader_destroy(loader);
        assert_int_equal(tsri_alloc_blocks(), before);
        if (st == TSR_OK)
            break;
        assert_int_equal(st, TSR_RESOURCES);
    }
    assert_true(n > 8);
    teardown(&f);
}

static void gathering_allocates_nothing_and_is_fast(void **state)
{
    (void)state;
    fixture f;
    setup(&f, 10000, 1, 28);
    tsri_loader *loader = loader_of(&f, shuffled(128));
    (void)get(loader, 0);
    (void)tsri_alloc_fail_after(-1, false);
    double best = 1e9;
    for (int64_t step = 1; step < 60; step++) {
        double start = tsri_clock();
        (void)get(loader, step);
        double seconds = tsri_clock() - start;
        best = seconds < best ? seconds : best;
    }
    assert_int_equal(tsri_alloc_fail_after(-1, false), 0);
    print_message("a batch of 128 x 784 bytes: %.3f ms\n", 1e3 * best);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__OPTIMIZE__) &&    \
    !defined(TSRI_COUNTED)
    assert_true(best < 0.3e-3);
#endif
    tsri_loader_destroy(loader);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_epoch_is_a_permutation),
        cmocka_unit_test(draws_with_replacement),
        cmocka_unit_test(crops_of_draws_differ),
        cmocka_unit_test(workers_and_seeds_differ),
        cmocka_unit_test(unshuffled_ends_short),
        cmocka_unit_test(one_full_batch_may_be_larger_than_the_data),
        cmocka_unit_test(shards_are_disjoint_and_cover),
        cmocka_unit_test(identical_with_and_without_prefetch),
        cmocka_unit_test(a_batch_stays_until_the_next_get),
        cmocka_unit_test(stops_at_any_moment),
        cmocka_unit_test(crops_and_flips_are_pure),
        cmocka_unit_test(a_crop_wider_than_the_image_is_black_at_worst),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(gathering_allocates_nothing_and_is_fast),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
