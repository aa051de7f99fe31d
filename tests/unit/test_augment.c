/* Random changes of training images in the loader: the same with and without its thread, in any order
 * of steps, and what the rules in data/augment.h say, drawn and done a second way. */
#include "loader_testing.h"

#include <math.h>
#include <string.h>

enum { N = 24, SIDE = 8, MOST = 3 * SIDE * SIDE };

static tsri_loader_options options(tsri_augment augment)
{
    return (tsri_loader_options){
        .batch = 8, .seed = 7, .worker = 3, .shards = 1, .shuffle = true, .augment = augment};
}

/* ---- By hand ------------------------------------------------------------------------------------ */

/* The stream of a row, by the table in data/augment.h. */
static tsri_rng stream(bool replacement, int64_t what, int64_t step, int64_t row, int64_t sample)
{
    if (!replacement)
        return tsri_rng_stream(7, TSRI_FOR_AUGMENT, 2 * what, step / 3,
                               sample); /* 3 steps an epoch */
    tsri_rng rng = tsri_rng_stream(7, TSRI_FOR_AUGMENT, 2 * what + 1, step, 3);
    tsri_rng_seek(&rng, (uint32_t)row);
    return rng;
}

/* The row's bytes after two operations of magnitude 12. */
static void operated(uint8_t *image, const fixture *f, bool replacement, int64_t step, int64_t row,
                     int64_t sample)
{
    const tsri_image_shape shape = {f->data.channels, SIDE, SIDE};
    const uint8_t *bytes = f->data.train.bytes ? f->data.train.bytes : f->data.train.pixels;
    memcpy(image, bytes + sample * f->data.dim, (size_t)f->data.dim);
    for (int64_t k = 0; k < 2; k++) {
        uint8_t before[MOST];
        tsri_rng rng = stream(replacement, 2 + k, step, row, sample);
        tsri_image_op op = (tsri_image_op)tsri_rng_below(&rng, 14);
        bool back =
            tsri_rng_u32(&rng) >> 31 && op >= TSRI_IMAGE_SHEAR_X && op <= TSRI_IMAGE_SHARPNESS;
        double amount = tsri_image_amount(op, 12, &shape);
        memcpy(before, image, (size_t)f->data.dim);
        tsri_image_change(image, before, &shape, op, back ? -amount : amount);
    }
}

/* The middle of the row's square. */
static bool blank(bool replacement, int64_t step, int64_t row, int64_t sample, int64_t h, int64_t w)
{
    tsri_rng rng = stream(replacement, 1, step, row, sample);
    int64_t down = tsri_rng_below(&rng, SIDE), right = tsri_rng_below(&rng, SIDE);
    return h >= down - 2 && h <= down + 2 && w >= right - 2 && w <= right + 2; /* a side of 5 */
}

static void batches_are_the_rule(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        fixture f;
        bool replacement = way % 2 == 1;
        int64_t blanks = 0, changed = 0;
        setup(&f, N, way < 2 ? 3 : 1, SIDE);
        tsri_loader_options o = options((tsri_augment){.ops = 2, .magnitude = 12, .cutout = 5});
        o.replacement = replacement;
        tsri_loader *loader = loader_of(&f, o);
        for (int64_t step = 0; step < 9; step++) {
            const tsri_batch *b = get(loader, step);
            for (int64_t row = 0; row < 8; row++) {
                uint8_t image[MOST];
                operated(image, &f, replacement, step, row, b->index[row]);
                changed += memcmp(image, f.data.train.bytes + b->index[row] * f.data.dim,
                                  (size_t)f.data.dim) != 0;
                for (int64_t k = 0; k < f.data.dim; k++) {
                    int64_t c = k / (SIDE * SIDE), h = k / SIDE % SIDE, w = k % SIDE;
                    float want = ((float)image[k] - f.shift[c]) * f.scale[c];
                    if (blank(replacement, step, row, b->index[row], h, w)) {
                        want = 0.0f;
                        blanks++;
                    }
                    assert_true(b->x[row * f.data.dim + k] == want);
                }
            }
        }
        /* of 72: two identities in a row are 1 in 196, other operations seldom change nothing */
        assert_true(changed > 50);
        assert_true(blanks > 72 * f.data.channels * 9); /* 9 pixels at a corner, 25 in the middle */
        tsri_loader_destroy(loader);
        teardown(&f);
    }
}

/* Pixels that became numbers: the changed image is scaled as a sample of the training set is. */
static void numbers_are_scaled_again(void **state)
{
    (void)state;
    fixture f;
    setup(&f, N, 3, SIDE);
    tsri_part *part = &f.data.train;
    part->pixels = part->bytes;
    part->bytes = NULL;
    assert_ok(tsri_alloc(&part->numbers, N * f.data.dim, sizeof *part->numbers));
    char unit[] = "unit";
    f.data.schema.normalize = unit;
    tsri_loader *loader = loader_of(&f, options((tsri_augment){.ops = 2, .magnitude = 12}));
    for (int64_t step = 0; step < 6; step++) {
        const tsri_batch *b = get(loader, step);
        for (int64_t row = 0; row < 8; row++) {
            uint8_t image[MOST];
            double squares = 0.0;
            operated(image, &f, false, step, row, b->index[row]);
            for (int64_t k = 0; k < f.data.dim; k++)
                squares += (double)image[k] * (double)image[k];
            for (int64_t k = 0; k < f.data.dim; k++)
                assert_true(b->x[row * f.data.dim + k] ==
                            (float)((double)image[k] / sqrt(squares)));
        }
    }
    tsri_loader_destroy(loader);
    tsri_free(part->numbers);
    tsri_free(part->pixels);
    teardown(&f);
}

/* ---- Pure --------------------------------------------------------------------------------------- */

static void the_thread_and_the_order_of_steps_change_nothing(void **state)
{
    (void)state;
    fixture f;
    setup(&f, N, 3, SIDE);
    tsri_loader_options o =
        options((tsri_augment){.crop = 2, .flip = true, .ops = 3, .magnitude = 20, .cutout = 4});
    tsri_loader *plain = loader_of(&f, o);
    o.prefetch = true;
    tsri_loader *ahead = loader_of(&f, o);
    static const int64_t steps[] = {0, 1, 2, 3, 4, 11, 12, 2, 3, 7};
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        const tsri_batch *a = get(plain, steps[s]), *b = get(ahead, steps[s]);
        assert_memory_equal(a->x, b->x, (size_t)(8 * f.data.dim) * sizeof(float));
        assert_memory_equal(a->index, b->index, 8 * sizeof *a->index);
    }
    tsri_loader_destroy(plain);
    tsri_loader_destroy(ahead);
    teardown(&f);
}

/* More operations, or cutout, draw numbers of their own: crops, flips and the first operation stay. */
static void one_kind_of_change_moves_no_other(void **state)
{
    (void)state;
    fixture f;
    setup(&f, N, 1, SIDE);
    int64_t crop[3][16], flip[3][8], op[3][8 * 3 * 2], cutout[3][16];
    for (int k = 0; k < 3; k++) {
        tsri_loader *loader =
            loader_of(&f, options((tsri_augment){
                              .crop = 2, .flip = true, .ops = k + 1, .magnitude = 9, .cutout = k}));
        const tsri_changed out = {crop[k], flip[k], op[k], cutout[k]};
        tsri_loader_changed(&out, loader, get(loader, 5), 5);
        tsri_loader_destroy(loader);
    }
    for (int k = 1; k < 3; k++) {
        assert_memory_equal(crop[k], crop[0], sizeof crop[0]);
        assert_memory_equal(flip[k], flip[0], sizeof flip[0]);
        assert_memory_equal(cutout[k], cutout[0], sizeof cutout[0]);
        for (int row = 0; row < 8; row++)
            assert_memory_equal(&op[k][row * (k + 1) * 2], &op[0][row * 2], 2 * sizeof(int64_t));
    }
    teardown(&f);
}

/* ---- Refusals ----------------------------------------------------------------------------------- */

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    fixture f;
    tsri_loader *loader = NULL;
    setup(&f, N, 1, SIDE);
    const tsri_part *part = &f.data.train;
    tsri_loader_options o = options((tsri_augment){.ops = 1, .magnitude = 31});
    assert_fails(tsri_loader_create(&loader, &f.data, part, &o), TSR_USAGE, "from 0 to 30, not 31");
    o.augment.magnitude = -1;
    assert_fails(tsri_loader_create(&loader, &f.data, part, &o), TSR_USAGE, "from 0 to 30, not -1");
    o.augment.magnitude = 9;
    float number = 0.0f;
    tsri_part real = {.n = N, .numbers = &number, .label = part->label};
    assert_fails(tsri_loader_create(&loader, &f.data, &real, &o), TSR_USAGE, "8-bit pixels");
    f.data.channels = 2;
    f.data.height = SIDE / 2;
    assert_fails(tsri_loader_create(&loader, &f.data, part, &o), TSR_USAGE, "2 channels");
    f.data.sequences = true;
    assert_fails(tsri_loader_create(&loader, &f.data, part, &o), TSR_USAGE, "no images");
    o = options((tsri_augment){.cutout = 3});
    assert_fails(tsri_loader_create(&loader, &f.data, part, &o), TSR_USAGE, "no images");
    assert_null(loader);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_are_the_rule),
        cmocka_unit_test(numbers_are_scaled_again),
        cmocka_unit_test(the_thread_and_the_order_of_steps_change_nothing),
        cmocka_unit_test(one_kind_of_change_moves_no_other),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
