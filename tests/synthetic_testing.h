/* synthetic_testing.h - what the tests of the generators share: a data set made on the spot, and
 * the properties that all generators promise. */
#ifndef TSRI_SYNTHETIC_TESTING_H
#define TSRI_SYNTHETIC_TESTING_H

#include "testing.h"

#include "data/part.h"
#include "data/synthetic.h"

typedef tsr_status (*generator)(tsr_data *data, const tsri_synthetic *options);

static inline void made_fini(tsr_data *data)
{
    tsri_part_fini(&data->train);
    tsri_part_fini(&data->test);
    for (int64_t i = 0; data->class_name && i < data->classes; i++)
        tsri_free(data->class_name[i]);
    tsri_free(data->class_name);
    *data = (tsr_data){0};
}

/* The first n samples of a and b are the same bytes. */
static inline void assert_same(const tsr_data *data, const tsri_part *a, const tsri_part *b,
                               int64_t n)
{
    size_t inputs = (size_t)(n * data->dim);
    if (a->bytes)
        assert_memory_equal(a->bytes, b->bytes, inputs);
    else
        assert_memory_equal(a->numbers, b->numbers, inputs * sizeof(float));
    if (a->label)
        assert_memory_equal(a->label, b->label, (size_t)n * sizeof(int32_t));
    else
        assert_memory_equal(a->target, b->target, (size_t)(n * data->targets) * sizeof(float));
}

static inline bool same_inputs(const tsr_data *data, const tsri_part *a, const tsri_part *b)
{
    return a->bytes ? memcmp(a->bytes, b->bytes, (size_t)data->dim) == 0
                    : memcmp(a->numbers, b->numbers, (size_t)data->dim * sizeof(float)) == 0;
}

/* Twice the same; the first samples do not depend on how many there are; another seed and the other
 * part give other samples; test_n = 0 is a fifth. */
static inline void assert_pure(generator make, tsri_synthetic options)
{
    tsr_data a = {0}, b = {0}, more = {0}, other = {0};
    options.n = 11;
    options.test_n = 0;
    assert_ok(make(&a, &options));
    assert_ok(make(&b, &options));
    assert_int_equal(a.train.n, 11);
    assert_int_equal(a.test.n, 3);
    assert_same(&a, &a.train, &b.train, 11);
    assert_same(&a, &a.test, &b.test, 3);
    options.n = 40;
    options.test_n = 7;
    assert_ok(make(&more, &options));
    assert_int_equal(more.test.n, 7);
    assert_same(&a, &a.train, &more.train, 11);
    assert_same(&a, &a.test, &more.test, 3);
    assert_false(same_inputs(&a, &a.train, &a.test));
    options.seed = 0x100000000ull + options.seed; /* differs in the high word only */
    assert_ok(make(&other, &options));
    assert_false(same_inputs(&a, &a.train, &other.train));
    made_fini(&a);
    made_fini(&b);
    made_fini(&more);
    made_fini(&other);
}

/* Every allocation fails once: the status says so and nothing is lost. */
static inline void assert_survives(generator make, tsri_synthetic options)
{
    int64_t held = tsri_alloc_blocks(), n = 0;
    tsr_status st = TSR_RESOURCES;
    options.n = 12;
    for (; st != TSR_OK; n++) {
        tsr_data data = {0};
        tsri_alloc_fail_after(n, false);
        st = make(&data, &options);
        tsri_alloc_fail_after(-1, false);
        assert_true(st == TSR_OK || st == TSR_RESOURCES);
        made_fini(&data);
        assert_int_equal(tsri_alloc_blocks(), held);
    }
    assert_true(n > 4); /* inputs and outputs of both parts at least, then the success */
}

#define assert_refused(make, options, words)                                                       \
    do {                                                                                           \
        tsr_data data_ = {0};                                                                      \
        assert_fails((make)(&data_, &(options)), TSR_USAGE, words);                                \
        made_fini(&data_);                                                                         \
    } while (0)

#endif
