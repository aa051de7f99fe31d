/* spoilt.c - checkpoints and models with wrong bytes.
 *
 * A file is spoilt in one of six ways and read: it is refused as a bad file, or what it holds is
 * what it held. A part of the spoilt checkpoints is put in the place of the newest of a run: the
 * run goes on from the one before and ends with the same bits. Spoilt models are refused by the
 * program with exit code 3. */
#include "kinds.h"

#include "world.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "io/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const files[] = {"checkpoints/ckpt-000000000016.safetensors",
                                    "model.safetensors"};

/* ---- Spoiling ----------------------------------------------------------------------------- */

static void flip(char *bytes, int64_t at, tsri_rng *rng)
{
    bytes[at] = (char)(bytes[at] ^ (int)(1 + tsri_rng_below(rng, 255)));
}

/* Two pieces of the file change places. */
static void swap(char *bytes, int64_t n, tsri_rng *rng)
{
    int64_t size = 1 + (int64_t)tsri_rng_below(rng, (uint32_t)(n / 3));
    int64_t a = (int64_t)tsri_rng_below(rng, (uint32_t)(n - 2 * size + 1));
    int64_t b = a + size + (int64_t)tsri_rng_below(rng, (uint32_t)(n - a - 2 * size + 1));
    for (int64_t i = 0; i < size; i++) {
        char c = bytes[a + i];
        bytes[a + i] = bytes[b + i];
        bytes[b + i] = c;
    }
}

/* A piece of it is zero, or somebody else's. */
static void overwrite(char *bytes, int64_t n, tsri_rng *rng)
{
    int64_t at = (int64_t)tsri_rng_below(rng, (uint32_t)n),
            size = 1 + (int64_t)tsri_rng_below(rng, 600);
    bool junk = tsri_rng_below(rng, 2) == 0;
    for (int64_t i = at; i < n && i < at + size; i++)
        bytes[i] = junk ? (char)tsri_rng_u32(rng) : '\0';
}

/* Number i: first every byte, then every length, then chance. `bytes` has room for n + 64; the new
 * size is returned. */
static int64_t spoil(char *bytes, int64_t n, int64_t i, tsri_rng *rng)
{
    if (i < n) {
        flip(bytes, i, rng);
        return n;
    }
    if (i < 2 * n)
        return i - n;
    switch (tsri_rng_below(rng, 4)) {
    case 0:
        flip(bytes, (int64_t)tsri_rng_below(rng, (uint32_t)n), rng);
        flip(bytes, (int64_t)tsri_rng_below(rng, (uint32_t)n), rng);
        return n;
    case 1:
        swap(bytes, n, rng);
        return n;
    case 2:
        overwrite(bytes, n, rng);
        return n;
    default: /* longer than it was */
        memset(bytes + n, (int)tsri_rng_below(rng, 256), 64);
        return n + 1 + (int64_t)tsri_rng_below(rng, 64);
    }
}

/* ---- Reading ------------------------------------------------------------------------------ */

static bool same_tensor(const tsri_tensor *a, const tsri_tensor *b)
{
    return a && a->dtype == b->dtype && a->dims == b->dims &&
           memcmp(a->shape, b->shape, (size_t)a->dims * sizeof *a->shape) == 0 &&
           memcmp(a->data, b->data, (size_t)tsri_tensor_bytes(a)) == 0;
}

static bool same_content(const tsri_tensors *a, const tsri_tensors *b)
{
    bool same = a->count == b->count && a->metadata_count == b->metadata_count;
    for (int64_t i = 0; same && i < b->count; i++)
        same = same_tensor(tsri_tensors_find(a, b->tensor[i].name), &b->tensor[i]);
    for (int64_t i = 0; same && i < b->metadata_count; i++) {
        const char *text = tsri_tensors_meta(a, b->metadata[i].key);
        same = text && strcmp(text, b->metadata[i].value) == 0;
    }
    return same;
}

/* True when it was refused. */
static bool read_spoilt(const tsri_tensors *sound, const char *file, int64_t i)
{
    tsri_tensors *t = NULL;
    tsr_status st = tsri_tensors_read(&t, "spoilt");
    if (st == TSR_OK && !same_content(t, sound))
        complain("%s, spoilt in way %lld: read, and not what was written", file, (long long)i);
    if (st != TSR_OK && (st != TSR_BAD_FILE || !strstr(tsr_last_error(), "spoilt")))
        complain("%s, spoilt in way %lld: status %d: %s", file, (long long)i, (int)st,
                 tsr_last_error());
    tsri_tensors_destroy(t);
    return st != TSR_OK;
}

/* ---- Using -------------------------------------------------------------------------------- */

static void go_on(const scenario *s, const char *bytes, int64_t n, bool refused, int64_t i)
{
    char why[200] = "";
    copy_tree("disk", "ended");
    must(remove("disk/run/model.safetensors") == 0, "no model");
    put_file("disk/run/checkpoints/ckpt-000000000016.safetensors", bytes, n);
    ending e = run_command(s, (shim_plan){0}, -1);
    if (e.code != 0 || !is_reference(s, why, sizeof why))
        complain("checkpoint spoilt in way %lld: exit %d, signal %d, %s: %s", (long long)i, e.code,
                 e.signal, why, e.said);
    if (refused && !strstr(e.said, "trying the checkpoint before it"))
        complain("checkpoint spoilt in way %lld: nothing was said of it: %s", (long long)i, e.said);
}

static void look_at(const char *bytes, int64_t n, bool refused, int64_t i)
{
    static const scenario info = {"info", "", "info disk/run/model.safetensors", "", false};
    put_file("disk/run/model.safetensors", bytes, n);
    ending e = run_command(&info, (shim_plan){0}, -1);
    if (e.code != (refused ? 3 : 0))
        complain("model spoilt in way %lld: exit %d, signal %d: %s", (long long)i, e.code, e.signal,
                 e.said);
}

/* Ways `from`, from + step, ... below `to`; one of `every` is used, too. */
static int64_t walk(const scenario *s, int which, int64_t stride, int64_t chance, int64_t every)
{
    char path[128];
    int64_t n, tried = 0;
    tsri_tensors *sound = NULL;
    (void)snprintf(path, sizeof path, "ended/run/%s", files[which]);
    char *bytes = get_file(path, &n), *copy = malloc((size_t)n + 64);
    must(bytes && copy && tsri_tensors_read(&sound, path) == TSR_OK, "no %s", path);
    for (int64_t i = 0; i < 2 * n + chance; i += i < 2 * n ? stride : 1, tried++) {
        tsri_rng rng = tsri_rng_stream(test_seed(), TSRI_FOR_TEST, 3 + which, i, 0);
        memcpy(copy, bytes, (size_t)n);
        int64_t size = spoil(copy, n, i, &rng);
        put_file("spoilt", copy, size);
        bool refused = read_spoilt(sound, files[which], i);
        if (tried % every == 0 && which == 0)
            go_on(s, copy, size, refused, i);
        else if (tried % every == 0)
            look_at(copy, size, refused, i);
    }
    tsri_tensors_destroy(sound);
    free(bytes);
    free(copy);
    return tried;
}

void try_spoilt(void)
{
    const scenario *s = find_scenario("dense");
    int64_t total = 0;
    make_reference(s);
    copy_tree("ended", "disk");
    for (int which = 0; which < 2; which++)
        total += walk(s, which, is_long() ? 1 : 13, is_long() ? 4000 : 400, is_long() ? 20 : 100);
    (void)printf("%lld spoilt files\n", (long long)total);
}
