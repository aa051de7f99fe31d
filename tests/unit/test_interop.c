/* Other people's tools: numpy and PyTorch read what we write, we read what they write. Skipped
 * where python3 or numpy is missing. */
#include "scratch.h"

#include "io/npy.h"
#include "io/safetensors.h"

#include <spawn.h>
#include <sys/wait.h>

static const char SCRIPT[] = "tests/interop/files.py";

enum { COUNT = 24 };
static unsigned char data[TSRI_F64 + 1][COUNT * 8];

/* Element i is i - 3 (i odd for booleans) in each type: files.py computes the same. */
static void fill(void)
{
    for (int i = 0; i < COUNT; i++) {
        int64_t v = i - 3;
        float f = (float)v;
        double d = (double)v;
        uint32_t bits;
        memcpy(&bits, &f, 4);
        uint16_t upper = (uint16_t)(bits >> 16);
        for (int t = TSRI_BOOL; t <= TSRI_F64; t++) {
            size_t n = (size_t)tsri_dtype_bytes((tsri_dtype)t);
            unsigned char *at = data[t] + (size_t)i * n;
            memcpy(at, &v, n); /* the low bytes of a little-endian integer */
            if (t == TSRI_BOOL)
                *at = (unsigned char)(i % 2);
            else if (t == TSRI_F32)
                memcpy(at, &f, 4);
            else if (t == TSRI_F64)
                memcpy(at, &d, 8);
            else if (t == TSRI_BF16)
                memcpy(at, &upper, 2);
            else if (t == TSRI_F16) { /* these small numbers: move the exponent and 10 bits over */
                uint16_t half =
                    v == 0 ? 0
                           : (uint16_t)((bits >> 16 & 0x8000) |
                                        (((bits >> 23 & 255) - 112) << 10 | (bits >> 13 & 1023)));
                memcpy(at, &half, 2);
            }
        }
    }
}

static void write_ours(void)
{
    static tsri_tensor all[TSRI_F64 + 1];
    static char name[TSRI_F64 + 1][32];
    for (int t = TSRI_BOOL; t <= TSRI_F64; t++) {
        char file[32];
        tsri_dtype dtype = (tsri_dtype)t;
        (void)snprintf(name[t], sizeof name[t], "tensor.\xC3\xA9.%s", tsri_dtype_name(dtype));
        all[t] = (tsri_tensor){name[t], dtype, 3, {2, 3, 4}, data[t]};
        (void)snprintf(file, sizeof file, "ours-%s.npy", tsri_dtype_name(dtype));
        if (t != TSRI_BF16)
            assert_ok(tsri_npy_write(scratch_path(file), &all[t]));
    }
    static const tsri_pair meta = {"text", "line\n\"quoted\" \\ \xE2\x82\xAC"};
    assert_ok(tsri_tensors_write(scratch_path("ours.safetensors"), all, TSRI_F64 + 1, &meta, 1));
    static const double scalar = 2.5;
    const tsri_tensor one = {"", TSRI_F64, 0, {0}, &scalar};
    assert_ok(tsri_npy_write(scratch_path("scalar.npy"), &one));
}

/* The script's exit status, or 77 when there is no python3. */
static int run_script(void)
{
    char python[] = "/usr/bin/python3", any[] = "python3", script[sizeof SCRIPT],
         folder[sizeof scratch_folder];
    memcpy(script, SCRIPT, sizeof SCRIPT);
    memcpy(folder, scratch_folder, sizeof folder);
    char *const arguments[] = {python, script, folder, NULL};
    extern char **environ;
    pid_t child;
    int status = 0;
    /* Debian's own first: it is the one that Debian's numpy and PyTorch are packaged for. */
    if (posix_spawn(&child, python, NULL, NULL, arguments, environ) != 0 &&
        posix_spawnp(&child, any, NULL, NULL, arguments, environ) != 0)
        return 77;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void check_npy(const char *file, int t)
{
    tsri_tensor a;
    void *memory = NULL;
    assert_ok(tsri_npy_read(&a, &memory, scratch_path(file)));
    assert_true(a.dtype == (tsri_dtype)t && a.dims == 3);
    assert_true(a.shape[0] == 2 && a.shape[1] == 3 && a.shape[2] == 4);
    assert_memory_equal(a.data, data[t], (size_t)tsri_tensor_bytes(&a));
    tsri_free(memory);
}

static void check_theirs(void)
{
    tsri_tensors *f = NULL;
    assert_ok(tsri_tensors_read(&f, scratch_path("theirs.safetensors")));
    assert_int_equal(f->count, TSRI_F64); /* all but BF16 */
    assert_string_equal(tsri_tensors_meta(f, "e"), "\xE2\x82\xAC");
    for (int t = TSRI_BOOL; t <= TSRI_F64; t++) {
        char name[64];
        if (t == TSRI_BF16)
            continue;
        (void)snprintf(name, sizeof name, "t.%s", tsri_dtype_name((tsri_dtype)t));
        const tsri_tensor *a = tsri_tensors_find(f, name);
        assert_non_null(a);
        assert_memory_equal(a->data, data[t], (size_t)tsri_tensor_bytes(a));
        (void)snprintf(name, sizeof name, "theirs-%s.npy", tsri_dtype_name((tsri_dtype)t));
        check_npy(name, t);
        (void)snprintf(name, sizeof name, "columns-%s.npy", tsri_dtype_name((tsri_dtype)t));
        check_npy(name, t);
    }
    check_npy("version3.npy", TSRI_F32);
    tsri_tensors_destroy(f);
}

static void both_directions(void **state)
{
    (void)state;
    fill();
    write_ours();
    int status = run_script();
    if (status == 77)
        skip();
    assert_int_equal(status, 0);
    check_theirs();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_directions)};
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
