/* test_import.c - a PyTorch checkpoint as a model file, without PyTorch: a file that it wrote is in
 * tests/golden. (Outputs and hostile files: tests/cli/import.sh.) */
#include "scratch.h"
#include "testing.h"

#include "base/alloc.h"
#include "convert/import.h"
#include "io/torch_file.h"
#include "model/model.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char checkpoint[] = "tests/golden/import-resnet18.pth";

static void it_becomes_a_model(void **state)
{
    (void)state;
    const char *out = scratch_path("model.safetensors");
    tsri_import how = {.size = 32};
    tsr_model *m = NULL;
    assert_ok(tsri_import_file(out, checkpoint, &how));
    assert_ok(tsr_model_read(&m, out));
    assert_string_equal(tsri_config_text(m->config, "model.name"), "resnet18");
    assert_string_equal(tsri_config_text(m->config, "model.stem"), "imagenet");
    assert_int_equal(tsri_config_int(m->config, "model.width"), 1);
    assert_int_equal(m->outputs, 3);
    assert_int_equal(m->schema.classes, 3);
    assert_fails(tsri_model_has_data(m), TSR_USAGE, "give --data");
    tsr_model_destroy(m);
}

/* The last layer is drawn anew, and nothing else. */
static void classes_replace_the_head(void **state)
{
    (void)state;
    const char *one = scratch_path("one"), *two = scratch_path("two");
    tsri_import how = {.size = 32};
    tsri_tensors *a = NULL, *b = NULL;
    assert_ok(tsri_import_file(one, checkpoint, &how));
    how.classes = 5;
    assert_ok(tsri_import_file(two, checkpoint, &how));
    assert_ok(tsri_tensors_read(&a, one));
    assert_ok(tsri_tensors_read(&b, two));
    assert_int_equal(a->count, b->count);
    for (int64_t i = 0; i < a->count; i++) {
        const tsri_tensor *t = &a->tensor[i], *u = tsri_tensors_find(b, t->name);
        assert_non_null(u);
        if (strncmp(t->name, "fc.", 3) == 0)
            assert_int_equal(u->shape[0], 5);
        else
            assert_memory_equal(t->data, u->data, (size_t)tsri_tensor_bytes(t));
    }
    tsri_tensors_destroy(a);
    tsri_tensors_destroy(b);
}

static void cut_off_anywhere(void **state)
{
    (void)state;
    char *bytes = NULL;
    int64_t n = 0;
    assert_ok(tsri_file_read(&bytes, &n, checkpoint, 1 << 20));
    for (int64_t length = 0; length < n; length += 97) {
        tsri_tensors *file = NULL;
        const char *path = scratch_put("cut.pth", bytes, (size_t)length);
        if (tsri_weights_read(&file, path) != TSR_BAD_FILE)
            fail_msg("%lld of %lld bytes were taken", (long long)length, (long long)n);
        assert_null(file);
    }
    tsri_free(bytes);
}

/* A changed byte is found by a checksum, or lies where nobody looks; it is never a crash. */
static void changed_anywhere(void **state)
{
    (void)state;
    char *bytes = NULL;
    int64_t n = 0, refused = 0, tried = 0;
    assert_ok(tsri_file_read(&bytes, &n, checkpoint, 1 << 20));
    for (int64_t at = 0; at < n; at += 101, tried++) {
        tsri_tensors *file = NULL;
        bytes[at] = (char)(bytes[at] ^ 0x15);
        const char *path = scratch_put("changed.pth", bytes, (size_t)n);
        tsr_status st = tsri_weights_read(&file, path);
        assert_true(st == TSR_OK || st == TSR_BAD_FILE);
        refused += st != TSR_OK;
        tsri_tensors_destroy(file);
        bytes[at] = (char)(bytes[at] ^ 0x15);
    }
    assert_true(refused > tried / 4); /* the rest is padding, dates and local headers */
    tsri_free(bytes);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const char *out = scratch_path("failed");
    tsri_import how = {.size = 32, .classes = 4};
    tsr_status st = TSR_RESOURCES;
    int64_t failures = -1;
    for (int64_t n = 0; st != TSR_OK; n++, failures++) {
        (void)tsri_alloc_fail_after(n, false);
        st = tsri_import_file(out, checkpoint, &how);
        (void)tsri_alloc_fail_after(-1, false);
        assert_true(st == TSR_OK || st == TSR_RESOURCES);
        assert_true(tsri_file_exists(out) == (st == TSR_OK));
    }
    assert_true(failures > 300); /* two for each of 122 tensors, and more */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_becomes_a_model),        cmocka_unit_test(classes_replace_the_head),
        cmocka_unit_test(cut_off_anywhere),          cmocka_unit_test(changed_anywhere),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
