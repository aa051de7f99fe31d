/* sources.c - the named data sets: a preset per real set, a generator per synthetic one.
 *
 * A preset knows the files of its set, their format, and what a user would otherwise have to say:
 * columns, target, classes' names, scaling. What the user says still wins.
 */
#include "data/source.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/sized.h"
#include "data/part.h"
#include "data/reader.h"
#include "data/synthetic.h"

#include <stdlib.h>
#include <string.h>

/* ---- Presets ------------------------------------------------------------------------------ */

/* A set is there when ROOT/seen exists; ROOT/read is what the reader is given. */
typedef struct look {
    const char *seen, *read;
} look;

typedef struct preset {
    const char *name;
    look looks[6];
    const char *debian; /* where a package puts it, or NULL */
    tsr_status (*read)(tsr_data *data, const tsri_read *want);
    const char *target, *ignore, *header, *task; /* csv */
    const char *const *classes;                  /* names, or NULL */
} preset;

static const char *const fashion_names[] = {"T-shirt/top", "Trouser",   "Pullover", "Dress",
                                            "Coat",        "Sandal",    "Shirt",    "Sneaker",
                                            "Bag",         "Ankle boot"};
static const char *const cifar10_names[] = {"airplane", "automobile", "bird",  "cat",  "deer",
                                            "dog",      "frog",       "horse", "ship", "truck"};

#define IDX_LOOKS(name)                                                                            \
    {                                                                                              \
        {name "/train-images-idx3-ubyte.gz", name}, {name "/train-images-idx3-ubyte", name},       \
            {name "/train-images.idx3-ubyte.gz", name},                                            \
        {                                                                                          \
            name "/train-images.idx3-ubyte", name                                                  \
        }                                                                                          \
    }

static const preset presets[] = {
    {.name = "fashion-mnist",
     .looks = IDX_LOOKS("fashion-mnist"),
     .debian = "/usr/share/datasets",
     .read = tsri_read_idx,
     .classes = fashion_names},
    {.name = "mnist", .looks = IDX_LOOKS("mnist"), .read = tsri_read_idx},
    {.name = "cifar10",
     .looks = {{"cifar10/data_batch_1.bin", "cifar10"},
               {"cifar10/cifar-10-batches-bin/data_batch_1.bin", "cifar10/cifar-10-batches-bin"},
               {"cifar-10-batches-bin/data_batch_1.bin", "cifar-10-batches-bin"}},
     .read = tsri_read_cifar10,
     .classes = cifar10_names},
    {.name = "cifar100",
     .looks = {{"cifar100/train.bin", "cifar100"},
               {"cifar100/cifar-100-binary/train.bin", "cifar100/cifar-100-binary"},
               {"cifar-100-binary/train.bin", "cifar-100-binary"}},
     .read = tsri_read_cifar100},
    {.name = "communities-crime",
     .looks = {{"communities-crime/communities.data", "communities-crime/communities.data"}},
     .read = tsri_read_csv,
     .target = "128",
     .ignore = "1-5",
     .header = "no",
     .task = "regress"},
    {.name = "sgemm",
     .looks = {{"sgemm/sgemm_product.csv.xz", "sgemm/sgemm_product.csv.xz"},
               {"sgemm/sgemm_product.csv", "sgemm/sgemm_product.csv"},
               {"sgemm/sgemm_product.csv.gz", "sgemm/sgemm_product.csv.gz"}},
     .read = tsri_read_csv,
     .target = "15-18",
     .header = "yes",
     .task = "regress"},
    {.name = "japanese-vowels",
     .looks = {{"japanese-vowels/ae.train", "japanese-vowels"}},
     .read = tsri_read_sequences},
    {.name = "tiny-imagenet",
     .looks = {{"tiny-imagenet/train", "tiny-imagenet"},
               {"tiny-imagenet-10.tar.xz", "tiny-imagenet-10.tar.xz"},
               {"tiny-imagenet/tiny-imagenet-10.tar.xz", "tiny-imagenet/tiny-imagenet-10.tar.xz"},
               {"tiny-imagenet-10/train", "tiny-imagenet-10"}},
     .read = tsri_read_images},
};

static const preset *find_preset(const char *name)
{
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        if (strcmp(presets[i].name, name) == 0)
            return &presets[i];
    return NULL;
}

/* ---- Where it lies ------------------------------------------------------------------------ */

static bool is_there(const char *path)
{
    return tsri_is_file(path) || tsri_is_folder(path);
}

/* *out = root/look->read when root/look->seen is there, without the first `skip` bytes of both. */
static tsr_status look_in(char **out, const char *root, const look *l, size_t skip)
{
    tsr_status st = TSR_OK;
    tsri_text seen = {0}, read = {0};
    const char *rest = strlen(l->read) > skip ? l->read + skip : ".";
    TSR_TRY(tsri_text_add(&seen, "%s/%s", root, l->seen + skip));
    TSR_TRY(tsri_text_add(&read, "%s/%s", root, rest));
    if (is_there(seen.data)) {
        *out = strcmp(rest, ".") == 0 ? NULL : read.data;
        if (*out)
            read.data = NULL;
        else
            TSR_TRY(tsri_strdup(out, root));
    }
done:
    tsri_text_fini(&seen);
    tsri_text_fini(&read);
    return st;
}

/* A root holds NAME/...; `inside` means that it is NAME itself. */
static tsr_status look_at(char **out, const preset *p, const char *root, bool inside)
{
    tsr_status st = TSR_OK;
    size_t n = strlen(p->name);
    for (int i = 0; i < 6 && p->looks[i].seen && !*out; i++) {
        const look *l = &p->looks[i];
        bool below = strncmp(l->seen, p->name, n) == 0 && l->seen[n] == '/';
        if (!inside || below)
            TSR_TRY(look_in(out, root, l, inside ? n + 1 : 0));
    }
done:
    return st;
}

static tsr_status look_both(char **out, const preset *p, const char *folder)
{
    tsr_status st = look_at(out, p, folder, true);
    return st == TSR_OK && !*out ? look_at(out, p, folder, false) : st;
}

static tsr_status data_home(char **out)
{
    tsri_text t = {0};
    const char *xdg = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    tsr_status st = xdg && *xdg ? tsri_text_add(&t, "%s/tessera", xdg)
                                : tsri_text_add(&t, "%s/.local/share/tessera", home ? home : "");
    *out = t.data;
    return st;
}

tsr_status tsri_source_home(char **path, const char *name)
{
    tsr_status st = TSR_OK;
    char *home = NULL;
    tsri_text t = {0};
    *path = NULL;
    TSR_TRY(data_home(&home));
    TSR_TRY(tsri_text_add(&t, "%s/%s", home, name));
    *path = t.data;
    t.data = NULL;
done:
    tsri_free(home);
    tsri_text_fini(&t);
    return st;
}

static tsr_status try_root(char **out, tsri_text *tried, const preset *p, const char *root)
{
    if (*out || !root || !*root)
        return TSR_OK;
    tsr_status st = look_at(out, p, root, false);
    if (st == TSR_OK && tried)
        st = tsri_text_add(tried, "%s%s/%s", tried->length ? ", " : "", tsri_quote(root), p->name);
    return st;
}

static tsr_status locate(char **path, tsri_text *tried, const preset *p, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    char *home = NULL;
    const char *given = config ? tsri_config_text(config, "data.path") : NULL;
    *path = NULL;
    if (given) { /* nowhere else: a user who names a place means it */
        if (tsri_is_file(given))
            TSR_TRY(tsri_strdup(path, given));
        if (!*path)
            TSR_TRY(look_both(path, p, given));
        if (tried)
            TSR_TRY(tsri_text_add(tried, "%s", tsri_quote(given)));
        goto done;
    }
    TSR_TRY(data_home(&home));
    TSR_TRY(try_root(path, tried, p, getenv("TESSERA_DATA")));
    TSR_TRY(try_root(path, tried, p, home));
    TSR_TRY(try_root(path, tried, p, p->debian));
done:
    tsri_free(home);
    return st;
}

tsr_status tsri_source_locate(char **path, tsri_text *tried, const char *name,
                              const tsr_config *config)
{
    const preset *p = find_preset(name);
    *path = NULL;
    return p ? locate(path, tried, p, config) : TSR_OK;
}

tsr_status tsri_source_look(char **path, const char *name, const char *folder)
{
    const preset *p = find_preset(name);
    *path = NULL;
    return p ? look_both(path, p, folder) : TSR_OK;
}

/* ---- Load --------------------------------------------------------------------------------- */

/* What the preset knows, where the user said nothing. */
static void fill_in(tsri_read *want, const preset *p, const tsr_config *config)
{
    want->target = tsri_config_given(config, "data.target") ? want->target : p->target;
    want->ignore = tsri_config_given(config, "data.ignore") ? want->ignore : p->ignore;
    if (p->header && !tsri_config_given(config, "data.header"))
        want->header = p->header;
    if (p->task && !tsri_config_given(config, "data.task"))
        want->task = p->task;
}

static tsr_status load_preset(tsr_data *data, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    const preset *p = find_preset(data->name);
    const tsri_source *source = tsri_source_find(data->name);
    tsri_read want = tsri_read_of(config, data->like);
    tsri_text tried = {0};
    TSR_TRY(locate(&data->source, &tried, p, config));
    TSR_CHECK(
        data->source, TSR_BAD_FILE, "%s: not found in %s; %s%s", p->name, tried.data, source->get,
        tsri_config_text(config, "data.path")
            ? ""
            : "; or say where it is: TESSERA_DATA names the folder above it, and --data (in a "
              "run file data.path) its own");
    want.path = data->source;
    fill_in(&want, p, config);
    TSR_TRY(p->read(data, &want));
    data->keys = tsri_format_keys(p->read);
    if (p->classes && !data->class_name && data->classes == 10)
        TSR_TRY(tsri_data_name_classes(data, p->classes));
done:
    tsri_text_fini(&tried);
    return st;
}

/* The logarithm of the mean of the four runs: what the authors of the set model. */
static tsr_status load_sgemm(tsr_data *data, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    TSR_TRY(load_preset(data, config));
    tsri_part *parts[] = {&data->train, &data->test};
    int64_t runs = data->targets;
    for (int p = 0; p < 2 && runs == 4; p++)
        for (int64_t i = 0; i < parts[p]->n; i++) {
            double sum = 0.0;
            for (int64_t k = 0; k < runs; k++)
                sum += (double)parts[p]->target[i * runs + k];
            TSR_CHECK(sum > 0.0, TSR_BAD_FILE,
                      "%s: row %lld: the four run times add up to %g; they must be positive",
                      tsri_quote(data->source), (long long)(i + 1), sum);
            parts[p]->target[i] = (float)tsri_log(sum / (double)runs);
        }
    data->targets = runs == 4 ? 1 : runs;
done:
    return st;
}

static tsr_status load_path(tsr_data *data, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    tsri_read want = tsri_read_of(config, data->like);
    const tsri_format *format = NULL;
    TSR_TRY(tsri_format_choose(&format, tsri_config_text(config, "data.format"), want.path));
    TSR_TRY(tsri_strdup(&data->source, want.path));
    TSR_TRY(format->read(data, &want));
    data->keys = format->keys;
done:
    return st;
}

/* ---- The table ---------------------------------------------------------------------------- */

/* clang-format off */
const tsri_source tsri_sources[] = {
    {"fashion-mnist", "70,000 grey images 28x28 of clothes, 10 classes (the default)", load_preset, NULL, NULL,
     "get it with 'apt-get install dataset-fashion-mnist' or 'tessera data get fashion-mnist'", NULL},
    {"mnist", "70,000 grey images 28x28 of handwritten digits, 10 classes", load_preset, NULL, NULL,
     "get it with 'tessera data get mnist'", NULL},
    {"cifar10", "60,000 colour images 32x32, 10 classes", load_preset, NULL, NULL,
     "get it with 'tessera data get cifar10'", NULL},
    {"cifar100", "60,000 colour images 32x32, 100 classes", load_preset, NULL, NULL,
     "put train.bin and test.bin of the CIFAR-100 binary version there", NULL},
    {"communities-crime", "1,994 communities, 122 numbers each: violent crimes per head", load_preset, NULL, "none",
     "put UCI's communities.data there", NULL},
    {"sgemm", "241,600 GPU kernels, 14 parameters each: logarithm of the run time", load_sgemm, NULL, NULL,
     "put UCI's sgemm_product.csv (.xz, .gz) there", NULL},
    {"japanese-vowels", "640 sequences of 7 to 29 frames, 12 numbers each: 9 speakers", load_preset, NULL, NULL,
     "put UCI's ae.train, ae.test, size_ae.train and size_ae.test there", NULL},
    {"tiny-imagenet", "colour images 64x64 in class folders", load_preset, NULL, NULL,
     "put the folder with train/ and val/, or tiny-imagenet-10.tar.xz, there", NULL},
    {"glyphs", "made: ten drawn glyphs, warped and noisy, 28x28 grey or 32x32 colour", tsri_make_glyphs, NULL, NULL, NULL,
     "n test_n channels task"},
    {"sphere", "made: unit vectors at least data.phi apart, two classes or a real target", tsri_make_sphere, "none", "none", NULL,
     "n test_n dim phi task"},
    {"random-labels", "made: unit vectors with labels drawn blindly", tsri_make_random_labels, "none", "none", NULL,
     "n test_n dim classes task"},
    {"ackley", "made: the regression target of the GReLU paper", tsri_make_ackley, "none", NULL, NULL,
     "n test_n dim task"},
    {"sequences", "made: sequences as the RNN paper assumes them", tsri_make_sequences, "none", "none", NULL,
     "n test_n dim length targets phi task"},
};
/* clang-format on */
const int64_t tsri_source_count = (int64_t)(sizeof tsri_sources / sizeof *tsri_sources);

/* data.name of data that a program gave from memory, which later readers of the run file lack. */
static tsr_status load_arrays(tsr_data *data, const tsr_config *config)
{
    (void)data;
    return tsri_fail(TSR_USAGE,
                     "%s: the data set was only in the memory of the program that trained on it "
                     "(data.name: " TSRI_ARRAYS "): give --data, or data.path",
                     tsri_config_place(config, "data.name"));
}

static const tsri_source from_memory = {
    TSRI_ARRAYS, "given by a program, in its memory", load_arrays, NULL, NULL, "from its program",
    NULL};

static const tsri_source from_path = {"", "files at data.path", load_path, NULL, NULL, NULL, NULL};

const char *tsri_source_name(int64_t i)
{
    return i < tsri_source_count ? tsri_sources[i].name : NULL;
}

const tsri_source *tsri_source_find(const char *name)
{
    for (int64_t i = 0; i < tsri_source_count; i++)
        if (strcmp(tsri_sources[i].name, name) == 0)
            return &tsri_sources[i];
    return strcmp(name, TSRI_ARRAYS) == 0 ? &from_memory : NULL;
}

static tsr_status unknown(const char *name, const tsr_config *config)
{
    tsri_near near = tsri_near_to(name);
    for (int64_t i = 0; i < tsri_source_count; i++)
        tsri_near_try(&near, tsri_sources[i].name);
    return tsri_fail(TSR_USAGE,
                     "%s: there is no data set named '%s'; %s ('tessera data list' shows them all; "
                     "your own files go in data.path)",
                     tsri_config_place(config, "data.name"), tsri_quote(name),
                     tsri_near_ask(&near, "none has a similar name"));
}

tsr_status tsri_source_choose(const tsri_source **out, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    char *path = NULL;
    const char *name = tsri_config_text(config, "data.name");
    *out = name ? tsri_source_find(name) : &from_path;
    if (!*out) {
        st = unknown(name, config);
    } else if (name && !(*out)->get && tsri_config_text(config, "data.path")) {
        st = tsri_fail(TSR_USAGE,
                       "%s: %s is made, not read from files: leave out data.path or data.name",
                       tsri_config_place(config, "data.path"), name);
    } else if (!name && !tsri_config_text(config, "data.path")) {
        TSR_TRY(tsri_source_locate(&path, NULL, "fashion-mnist", NULL));
        *out = tsri_source_find(path ? "fashion-mnist" : "glyphs");
        if (!path)
            TSRI_WARN(
                "fashion-mnist is not on this machine, so generated glyphs are used instead; %s",
                tsri_source_find("fashion-mnist")->get);
    }
done:
    tsri_free(path);
    return st;
}

const char *tsr_data_name(int64_t i)
{
    return i >= 0 ? tsri_source_name(i) : NULL;
}

tsr_status tsr_data_where(char **path, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    const tsri_source *source = NULL;
    TSRI_GIVEN(path);
    *path = NULL;
    TSRI_GIVEN(config);
    const char *own = tsri_config_text(config, "data.path");
    TSR_TRY(tsri_source_choose(&source, config));
    if (source->get && *source->name)
        TSR_TRY(tsri_source_locate(path, NULL, source->name, config));
    else if (own && !*source->name)
        TSR_TRY(tsri_strdup(path, own));
done:
    return st;
}
