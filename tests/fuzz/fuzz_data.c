/* Any bytes as data files: read, or refused as a bad file; what was read is finite, its labels are
 * classes. The first byte says of which format, the second how the run file asks for it; where a
 * format has two files (images and labels) the first ends at "//". Checksums of pictures are
 * mended. */
#include "mend.h"

#include "data/dataset.h"
#include "io/config.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const format[] = {"csv",      "npy",       "idx",        "cifar10",
                                     "cifar100", "sequences", "imagefolder"};
enum { FORMATS = sizeof format / sizeof *format };

/* The two files of a folder, as the formats want them. */
static const char *const file[FORMATS][2] = {{"t.csv", NULL},
                                             {"x.npy", "y.npy"},
                                             {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"},
                                             {"data_batch_1.bin", "test_batch.bin"},
                                             {"train.bin", "test.bin"},
                                             {"t.csv", NULL},
                                             {"a/1.png", "b/1.jpg"}};

static char folder[64];

static void put(const char *name, const uint8_t *bytes, size_t n)
{
    static uint8_t mended[1 << 16];
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    if (n > 0)
        memcpy(mended, bytes, n);
    mend(mended, n);
    MUST(f && fwrite(mended, 1, n, f) == n);
    MUST(fclose(f) == 0);
}

static void drop(const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    (void)remove(path);
}

static void remove_folder(void)
{
    drop("a");
    drop("b");
    (void)rmdir(folder);
}

static void make_folder(void)
{
    char path[128];
    if (*folder)
        return;
    (void)snprintf(folder, sizeof folder, "/dev/shm/fuzz_data.%d", (int)getpid());
    MUST(mkdir(folder, 0700) == 0 && atexit(remove_folder) == 0);
    for (const char *sub = "ab"; *sub; sub++) {
        (void)snprintf(path, sizeof path, "%s/%c", folder, *sub);
        MUST(mkdir(path, 0700) == 0);
    }
}

static void look(const tsr_data *data, const tsri_part *part)
{
    for (int64_t i = 0; part->numbers && i < part->n * data->dim; i++)
        MUST(isfinite(part->numbers[i]));
    for (int64_t i = 0; part->label && i < part->n; i++)
        MUST(part->label[i] >= 0 && part->label[i] < data->classes);
    for (int64_t i = 0; part->target && i < part->n * data->targets; i++)
        MUST(isfinite(part->target[i]));
}

static tsr_config *ask(int f, unsigned how)
{
    static const char *const task[] = {"auto", "classify", "regress", "auto"};
    static const char *const missing[] = {"mean", "zero", "refuse", "mean"};
    static const char *const scale[] = {"auto", "none", "unit", "standardize"};
    char text[400];
    tsr_config *config = NULL;
    bool one = !file[f][1];
    (void)snprintf(text, sizeof text,
                   "data: {path: %s%s%s, format: %s, task: %s, missing: %s, normalize: %s, split: "
                   "%s, size: %s}\n",
                   folder, one ? "/" : "", one ? file[f][0] : "", format[f], task[how & 3],
                   missing[how >> 2 & 3], scale[how >> 4 & 3], how & 64 ? "0.3" : "0",
                   how & 128 ? "4" : "0");
    MUST(tsri_config_parse(&config, text, (int64_t)strlen(text), "fuzz") == TSR_OK);
    return config;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    tsr_data *data = NULL;
    if (n < 2 || n > 1 << 16)
        return 0;
    int f = bytes[0] % FORMATS;
    tsr_config *config;
    const uint8_t *body = bytes + 2, *end = bytes + n, *cut = end;
    make_folder();
    for (const uint8_t *b = body; file[f][1] && cut == end && b + 1 < end; b++)
        cut = b[0] == '/' && b[1] == '/' ? b : cut;
    put(file[f][0], body, (size_t)(cut - body));
    if (cut < end)
        put(file[f][1], cut + 2, (size_t)(end - cut - 2));
    config = ask(f, bytes[1]);
    tsr_status st = tsri_data_load(&data, config, &(tsri_wants){0});
    if (st == TSR_OK) {
        look(data, &data->train);
        look(data, &data->test);
    } else {
        MUST(st == TSR_BAD_FILE || st == TSR_USAGE || st == TSR_RESOURCES);
    }
    tsr_data_destroy(data);
    tsr_config_destroy(config);
    drop(file[f][0]);
    if (file[f][1])
        drop(file[f][1]);
    MUST(tsri_alloc_blocks() == 0);
    return 0;
}
