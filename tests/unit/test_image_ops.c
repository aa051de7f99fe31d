/* The operations of RandAugment against torchvision's, to the bit. The images in tests/golden/ were
 * made by make_randaugment.py there. */
#include "testing.h"

#include "data/image_ops.h"
#include "io/safetensors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const tsri_tensor *find(const tsri_tensors *file, const char *what, int image)
{
    char name[40];
    (void)snprintf(name, sizeof name, "%s.%d", what, image);
    return tsri_tensors_find(file, name);
}

static tsri_image_shape shape_of(const tsri_tensor *t)
{
    return (tsri_image_shape){t->shape[0], t->shape[1], t->shape[2]};
}

/* The same operation of the same amount has the same bits, whether the program draws it or not. */
static void images_are_torchvisions(void **state)
{
    (void)state;
    tsri_tensors *file = NULL;
    int64_t compared = 0;
    bool other[TSRI_IMAGE_OPS] = {false};
    assert_ok(tsri_tensors_read(&file, "tests/golden/randaugment.safetensors"));
    for (int64_t k = 0; k < file->count; k++) {
        int i, op, m;
        if (sscanf(file->tensor[k].name, "out.%d.%d.%d", &i, &op, &m) != 3)
            continue;
        const tsri_tensor *in = find(file, "image", i), *want = &file->tensor[k];
        const double *amount = find(file, "amount", i)->data;
        const tsri_image_shape shape = shape_of(in);
        size_t n = (size_t)(shape.channels * shape.height * shape.width);
        uint8_t out[4096];
        assert_true(n <= sizeof out);
        double a = amount[op * TSRI_MAGNITUDES + abs(m)];
        tsri_image_change(out, in->data, &shape, (tsri_image_op)op, m < 0 ? -a : a);
        if (memcmp(out, want->data, n) != 0)
            fail_msg("%s differs", want->name);
        other[op] = other[op] || memcmp(out, in->data, n) != 0;
        compared++;
    }
    assert_int_equal(compared, 5 * (1 + 9 * 7 + 2 * 4 + 2));
    for (int op = 1; op < TSRI_IMAGE_OPS; op++)
        assert_true(other[op]); /* the file's images show what each does */
    tsri_tensors_destroy(file);
}

/* 2e-6: torchvision counts up to 31 steps in single precision; the eighth digit differs from machine
 * to machine there. */
static void amounts_are_torchvisions(void **state)
{
    (void)state;
    tsri_tensors *file = NULL;
    assert_ok(tsri_tensors_read(&file, "tests/golden/randaugment.safetensors"));
    for (int i = 0; i < 5; i++) {
        const tsri_image_shape shape = shape_of(find(file, "image", i));
        const double *want = find(file, "amount", i)->data;
        for (int op = 0; op < TSRI_IMAGE_OPS; op++)
            for (int64_t m = 0; m < TSRI_MAGNITUDES; m++, want++)
                assert_true(fabs(tsri_image_amount((tsri_image_op)op, m, &shape) - *want) <=
                            2e-6 * fabs(*want));
    }
    tsri_tensors_destroy(file);
}

/* Half of the operations go both ways: those whose strength is a distance from nothing. */
static void nothing_is_no_change(void **state)
{
    (void)state;
    const tsri_image_shape shape = {3, 4, 5};
    uint8_t in[60], out[60];
    for (int k = 0; k < 60; k++)
        in[k] = (uint8_t)(k * k);
    int both_ways = 0;
    for (int op = 0; op < TSRI_IMAGE_OPS; op++) {
        if (!tsri_image_signed((tsri_image_op)op))
            continue;
        tsri_image_change(out, in, &shape, (tsri_image_op)op, 0.0);
        assert_memory_equal(out, in, sizeof in);
        both_ways++;
    }
    assert_int_equal(both_ways, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_are_torchvisions),
        cmocka_unit_test(amounts_are_torchvisions),
        cmocka_unit_test(nothing_is_no_change),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
