/* ONNX files from the library: written whole or not at all, at every failure of memory and of the
 * disk; folded norms; refusals. What the files compute is judged in tests/cli/export.sh. */
#include "testing.h"
#include "scratch.h"

#include "base/alloc.h"
#include "export/onnx.h"
#include "io/file.h"

#include <math.h>
#include <string.h>

static tsr_status train_small(const char *folder, const char *const *more)
{
    static const char *const set[] = {"data.test_n=4", "data.n=16",           "rounds=1",
                                      "batch=8",       "data.prefetch=false", "threads=1"};
    tsr_result r = tsr_result_default();
    tsr_config *c = NULL;
    tsr_run_options o = tsr_run_options_default();
    tsr_status st = tsr_config_create(&c);
    for (size_t i = 0; st == TSR_OK && i < sizeof set / sizeof *set; i++)
        st = tsr_config_set(c, set[i]);
    for (; st == TSR_OK && *more; more++)
        st = tsr_config_set(c, *more);
    o.folder = folder;
    if (st == TSR_OK)
        st = tsr_train(&r, c, &o);
    tsr_config_destroy(c);
    return st;
}

static int setup(void **state)
{
    static const char *const mlp[] = {"data.name=glyphs", "model.hidden=[6, 5]", "model.norm=batch",
                                      NULL};
    static const char *const rnn[] = {"data.name=sequences", "model.name=rnn", "model.width=6",
                                      NULL};
    return scratch_setup(state) || train_small(scratch_path("mlp"), mlp) != TSR_OK ||
           train_small(scratch_path("rnn"), rnn) != TSR_OK;
}

static void export_once(tsr_status *st, const char *to, const tsr_model *m)
{
    tsr_onnx_options o = tsr_onnx_options_default();
    o.fold = o.transform = true;
    *st = tsr_export_onnx(NULL, to, m, &o);
}

/* Every allocation fails once: the file that was there stays, and nothing is left. */
static void no_memory(void **state)
{
    static const char *const runs[] = {"mlp/model.safetensors", "rnn/model.safetensors"};
    (void)state;
    if (tsri_onnx_can() != TSR_OK)
        skip();
    for (int k = 0; k < 2; k++) {
        tsr_model *m = NULL;
        char to[512];
        tsr_status st = TSR_RESOURCES;
        assert_ok(tsr_model_read(&m, scratch_path(runs[k])));
        (void)snprintf(to, sizeof to, "%s", scratch_path("old.onnx"));
        int64_t n = 0;
        for (; st != TSR_OK; n++) {
            char *bytes = NULL;
            int64_t size = 0;
            assert_ok(tsri_file_write_text(to, "as it was"));
            int64_t blocks = tsri_alloc_blocks();
            (void)tsri_alloc_fail_after(n, false);
            export_once(&st, to, m);
            (void)tsri_alloc_fail_after(-1, false);
            assert_int_equal(tsri_alloc_blocks(), blocks);
            assert_ok(tsri_file_read(&bytes, &size, to, 1 << 20));
            assert_true(st == TSR_OK || (st == TSR_RESOURCES && strcmp(bytes, "as it was") == 0));
            assert_true(st != TSR_OK || size > 1000);
            tsri_free(bytes);
        }
        assert_true(n > 50);
        tsr_model_destroy(m);
    }
}

/* The numbers of tsr_onnx_made, and of a model whose options are left out. */
static void what_was_made(void **state)
{
    tsr_model *m = NULL;
    tsr_onnx_made made = tsr_onnx_made_default();
    tsr_onnx_options o = tsr_onnx_options_default();
    (void)state;
    if (tsri_onnx_can() != TSR_OK)
        skip();
    assert_ok(tsr_model_read(&m, scratch_path("mlp/model.safetensors")));
    assert_ok(tsr_export_onnx(&made, scratch_path("plain.onnx"), m, NULL));
    assert_int_equal(made.norms_left, 2);
    assert_int_equal(made.norms_folded, 0);
    assert_int_equal(made.nodes, 8); /* Flatten, three products, two norms, two ReLUs */
    assert_int_equal(made.opset, 15);
    o.fold = true;
    assert_ok(tsr_export_onnx(&made, scratch_path("fold.onnx"), m, &o));
    assert_int_equal(made.norms_left, 0);
    assert_int_equal(made.norms_folded, 2);
    assert_int_equal(made.nodes, 6);
    assert_fails(tsr_export_onnx(NULL, scratch_path("no/such/folder.onnx"), m, NULL), TSR_FAILURE,
                 "no/such");
    tsr_model_destroy(m);
}

/* Speeds: refused when they make no sense; ONNX Runtime that is not there is said, not failed. */
static void speeds(void **state)
{
    tsr_model *m = NULL, *other = NULL;
    tsr_onnx_speed speed = tsr_onnx_speed_default();
    tsr_onnx_speed_options o = tsr_onnx_speed_options_default();
    (void)state;
    if (tsri_onnx_can() != TSR_OK)
        skip();
    assert_ok(tsr_model_read(&m, scratch_path("mlp/model.safetensors")));
    assert_ok(tsr_model_read(&other, scratch_path("rnn/model.safetensors")));
    o.library = "no-such-library.so";
    o.seconds = 0;
    assert_ok(tsr_onnx_measure(&speed, m, &o));
    assert_true(speed.ours_ms[0] > 0 && isnan(speed.theirs_ms[0]) && isnan(speed.ours_ms[1]));
    assert_string_equal(speed.runtime, "");
    assert_non_null(strstr(speed.missing, "no-such-library.so"));
    o.beside = other;
    assert_fails(tsr_onnx_measure(&speed, m, &o), TSR_USAGE, "different inputs");
    o.beside = m;
    assert_ok(tsr_onnx_measure(&speed, m, &o));
    assert_true(speed.ours_ms[1] > 0 && speed.bytes[0] == speed.bytes[1]);
    o.batch = 0;
    assert_fails(tsr_onnx_measure(&speed, m, &o), TSR_USAGE, "at least 1");
    tsr_model_destroy(other);
    tsr_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_memory),
        cmocka_unit_test(what_was_made),
        cmocka_unit_test(speeds),
    };
    return nothing_left(cmocka_run_group_tests(tests, setup, scratch_teardown));
}
