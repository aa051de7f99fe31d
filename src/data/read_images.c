/* read_images.c - a folder of pictures, one subfolder for each class.
 *
 *     ROOT/train/CLASS/FILE.jpg, .jpeg, .png       training
 *     ROOT/val/CLASS/... or ROOT/test/CLASS/...    testing (class_folders.h: other names)
 *     ROOT/CLASS/...                               all in one, split by data.split
 *
 * or the same inside a .tar, .tar.xz, .tgz or .zip, which is read where it lies. Tiny-ImageNet's
 * own layout is understood: a folder `images` between the class and its pictures is skipped,
 * and ROOT/val/images/FILE has its class in a list (annotations.h); pictures without one, as those
 * of its test/, are left out. Classes are numbered in byte order of their names and samples stand
 * in byte order of their paths, so that a folder and its archive give the same data.
 *
 * Pictures that a model is shown take the model's size and channels, and its classes by name; where
 * nobody needs classes they may lie in one folder, or be a single file.
 */
#include "data/reader.h"

#include "base/alloc.h"
#include "base/log.h"
#include "data/annotations.h"
#include "data/class_folders.h"
#include "data/image.h"
#include "data/part.h"
#include "data/walk.h"
#include "data/words.h"
#include "io/archive.h"
#include "io/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PICTURE_BYTES_MAX = 64000000, DEPTH_MAX = 8, FOLDERS_MAX = 100000, LISTED = -1, LOOSE = -2 };

/* A sample on its way. */
typedef struct picture {
    char *name;    /* "CLASS/FILE"; "val/FILE" as long as the class is to be looked up */
    int64_t class; /* LISTED = to be looked up, LOOSE = in no class folder */
    char *file;    /* its path, where a model is asked about it */
    int64_t at;    /* which of the pixel blocks */
    bool test;
} picture;

typedef struct album {
    const char *path; /* for messages */
    int64_t size;     /* side asked for; 0 = as the first picture */
    int64_t height, width;
    picture *picture;
    int64_t count, capacity;
    uint8_t *pixels; /* [count, 3, height, width] */
    int64_t room;    /* pictures that fit */
    tsri_words classes;
    tsri_words folders; /* of pictures with a class, by their paths */
    tsri_annotations listed;
    bool all_test; /* this folder is data.test_path */
    const tsri_like *like;
    int64_t loose;     /* pictures without a class */
    char stranger[64]; /* a folder that is not one of the model's classes */
    int64_t foreign;
    char one[64];  /* of the foreign ones */
    int64_t clear; /* pictures with transparent parts */
    char clear_one[64];
} album;

/* ---- One picture -------------------------------------------------------------------------- */

static bool has_ending(const char *name, const char *const *endings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (tsri_ends_with(name, endings[i]))
            return true;
    return false;
}

static bool is_picture(const char *name)
{
    static const char *const endings[] = {".jpg", ".jpeg", ".png", ".jpe", ".jfif"};
    return has_ending(name, endings, sizeof endings / sizeof *endings);
}

/* Is it a picture of a kind that we cannot read? People expect those to be read, so they are
 * counted and named in a warning. */
static bool is_foreign(const char *name)
{
    static const char *const endings[] = {".gif",  ".bmp",  ".webp", ".tif", ".tiff", ".heic",
                                          ".heif", ".avif", ".jp2",  ".jxl", ".ppm",  ".pgm"};
    return has_ending(name, endings, sizeof endings / sizeof *endings);
}

/* The component of a path that ends before `end`; *n is its length. */
static const char *component(const char *path, const char *end, size_t *n)
{
    const char *start = end;
    while (start > path && start[-1] != '/')
        start--;
    *n = (size_t)(end - start);
    return start;
}

/* Splits ".../train/CLASS/[images/]FILE", or ".../val/images/FILE": there *class is "val" and the
 * picture's own is looked up later. False when no folder stands before the file. */
static bool parse_name(picture *p, const char **class, size_t *class_length, const char *path)
{
    size_t n;
    const char *part = component(path, path + strlen(path), &n);
    if (part == path)
        return false;
    part = component(path, part - 1, &n);
    bool images = n == 6 && memcmp(part, "images", 6) == 0;
    if (images && part == path)
        return false;
    if (images)
        part = component(path, part - 1, &n);
    *class = part;
    *class_length = n;
    p->test = images && tsri_names_test(part, n);
    p->class = p->test ? LISTED : 0;
    if (part > path && !p->test) {
        part = component(path, part - 1, &n);
        p->test = tsri_names_test(part, n);
    }
    return *class_length > 0;
}

/* The class and the name that p will be sorted by. `path` is where it lies, `class` a part of
 * it. */
static tsr_status name_picture(picture *p, album *a, const char *path, const char *class,
                               size_t class_length)
{
    tsr_status st = TSR_OK;
    tsri_text listed = {0};
    int64_t folder;
    if (p->class == LISTED) {
        const char *file = strrchr(class, '/') + 1;
        TSR_TRY(tsri_text_add(&listed, "%.*s/%s", (int)class_length, class, file));
        TSR_TRY(tsri_strdup(&p->name, listed.data));
    } else {
        size_t length = (size_t)(class - path) + class_length;
        TSR_TRY(tsri_words_add(&p->class, &a->classes, class, class_length));
        TSR_TRY(tsri_words_add(&folder, &a->folders, path, length));
        TSR_TRY(tsri_strdup(&p->name, class));
    }
done:
    tsri_text_fini(&listed);
    return st;
}

static tsr_status set_window(album *a, const tsri_image *image)
{
    tsr_status st = TSR_OK;
    if (a->height > 0)
        goto done;
    a->height = a->size > 0 ? a->size : image->height;
    a->width = a->size > 0 ? a->size : image->width;
    TSR_CHECK(a->height <= 4096 && a->width <= 4096, TSR_BAD_FILE,
              "%s: the first picture is %lld x %lld; set data.size to the side you want",
              tsri_quote(a->path), (long long)image->width, (long long)image->height);
done:
    return st;
}

static tsr_status make_room(album *a)
{
    tsr_status st = TSR_OK;
    int64_t room = a->room > 0 ? a->room * 2 : 1; /* a single picture may be large */
    if (a->count < a->room)
        goto done;
    TSR_TRY(tsri_realloc(&a->pixels, room * 3 * a->height * a->width, 1));
    a->room = room;
done:
    return st;
}

static tsr_status add_picture(album *a, const char *name, const void *bytes, int64_t n)
{
    tsr_status st = TSR_OK;
    tsri_image image = {0};
    const char *class = "";
    size_t class_length = 0;
    picture p = {.at = a->count};
    bool placed = parse_name(&p, &class, &class_length, name);
    bool loose = !placed || (a->like && a->like->unlabelled &&
                             tsri_like_class(a->like, class, class_length) < 0);
    TSR_CHECK(placed || (a->like && a->like->unlabelled), TSR_BAD_FILE,
              "%s: picture %s is in no class folder; put it into one, as train/CLASS/FILE",
              tsri_quote(a->path), tsri_quote(name));
    p.test = p.test || a->all_test;
    int64_t side = a->height > a->width ? a->height : a->width;
    TSR_TRY(tsri_image_decode(&image, bytes, n, side > 0 ? side : a->size, name));
    if (image.clear && a->clear++ == 0)
        (void)snprintf(a->clear_one, sizeof a->clear_one, "%s", name);
    TSR_TRY(set_window(a, &image));
    TSR_TRY(make_room(a));
    TSR_TRY(tsri_image_fit(a->pixels + a->count * 3 * a->height * a->width, &image, a->height,
                           a->width));
    TSR_TRY(tsri_reserve(&a->picture, &a->capacity, a->count, sizeof *a->picture));
    if (a->like)
        TSR_TRY(tsri_strdup(&p.file, name));
    if (loose) {
        p.class = LOOSE;
        a->loose++;
        if (placed)
            (void)snprintf(a->stranger, sizeof a->stranger, "%.*s", (int)class_length, class);
        TSR_TRY(tsri_strdup(&p.name, name));
    } else {
        TSR_TRY(name_picture(&p, a, name, class, class_length));
    }
    a->picture[a->count++] = p;
    p = (picture){0};
done:
    tsri_free(p.file);
    tsri_free(p.name);
    tsri_free(image.rgb);
    return st;
}

/* A picture or a list of classes; other files are ignored. */
static tsr_status add_file(album *a, const char *name, const char *bytes, int64_t n)
{
    return is_picture(name) ? add_picture(a, name, bytes, n)
                            : tsri_annotations_add(&a->listed, name, bytes, n);
}

/* Counts what is passed over although it is a picture. */
static bool is_wanted(album *a, const char *name)
{
    const char *folder;
    size_t length;
    if (is_foreign(name) && a->foreign++ == 0)
        (void)snprintf(a->one, sizeof a->one, "%s", name);
    return is_picture(name) || tsri_is_annotations(name, &folder, &length);
}

static void tell_foreign(const album *a)
{
    if (a->foreign > 0)
        TSRI_WARN("%s: %lld pictures like %s are neither JPEG nor PNG and are left out; convert "
                  "them",
                  tsri_quote(a->path), (long long)a->foreign, tsri_quote(a->one));
}

/* Viewers show what lies behind such a picture. */
static void tell_clear(const album *a)
{
    if (a->clear > 0)
        TSRI_INFO("%s: %lld pictures like %s have transparent parts: the colours that are stored "
                  "there are taken",
                  tsri_quote(a->path), (long long)a->clear, tsri_quote(a->clear_one));
}

/* Says that folders which are not classes of the model are not compared with its answers. */
static void tell_strangers(const album *a)
{
    if (a->stranger[0] && a->classes.count > 0)
        TSRI_WARN(
            "%s: folder %s is not one of the model's classes: what the folders say is left out",
            tsri_quote(a->path), tsri_quote(a->stranger));
}

/* ---- Where they come from ----------------------------------------------------------------- */

static tsr_status visit_file(void *context, const char *path, const char *name, bool *enough)
{
    tsr_status st = TSR_OK;
    char *bytes = NULL;
    int64_t n = 0;
    (void)enough;
    if (!is_wanted(context, name) || !tsri_is_file(path))
        return TSR_OK;
    TSR_TRY(tsri_file_read(&bytes, &n, path, PICTURE_BYTES_MAX));
    st = add_file(context, name, bytes, n);
    if (st != TSR_OK)
        tsri_fail_prefix(
            "%s: ", tsri_printable(path, (size_t)(strrchr(path, '/') - path))); /* its folder */
done:
    tsri_free(bytes);
    return st;
}

static tsr_status visit_member(void *context, const char *name, const char *bytes, int64_t n)
{
    album *a = context;
    const char *base = strrchr(name, '/');
    base = base ? base + 1 : name;
    if (!is_wanted(a, name) || base[0] == '.')
        return TSR_OK;
    tsr_status st = add_file(a, name, bytes, n);
    if (st != TSR_OK)
        tsri_fail_prefix("%s: ", tsri_quote(a->path));
    return st;
}

/* A single picture, by the last part of its path. */
static tsr_status one_file(album *a, const char *path)
{
    tsr_status st = TSR_OK;
    const char *slash = strrchr(path, '/');
    char *bytes = NULL;
    int64_t n = 0;
    TSR_TRY(tsri_file_read(&bytes, &n, path, PICTURE_BYTES_MAX));
    TSR_TRY(add_picture(a, slash ? slash + 1 : path, bytes, n));
done:
    tsri_free(bytes);
    return st;
}

static tsr_status walk(album *a, const char *path)
{
    tsri_walk all = {.depth = DEPTH_MAX,
                     .folders = FOLDERS_MAX,
                     .strict = true,
                     .visit = visit_file,
                     .context = a};
    tsr_status st = TSR_OK;
    a->path = path;
    if (tsri_is_folder(path))
        TSR_TRY(tsri_walk_folder(path, &all));
    else if (is_picture(path) || is_foreign(path))
        TSR_TRY(one_file(a, path));
    else
        TSR_TRY(tsri_archive_each(path, visit_member, a, tsri_read_most(path)));
    if (!a->like || !a->like->unlabelled)
        TSR_TRY(tsri_class_folders_check(&a->folders, path));
done:
    return st;
}

static void forget(picture *p)
{
    tsri_free(p->name);
    tsri_free(p->file);
}

/* Gives pictures of val/images/ the class that their list says, and drops those without one. */
static tsr_status look_up(album *a)
{
    tsr_status st = TSR_OK;
    int64_t count = a->count, kept = 0;
    const char *dropped = NULL;
    for (int64_t i = 0; i < count; i++) {
        picture *p = &a->picture[i];
        const char *class = p->class == LISTED ? tsri_annotations_class(&a->listed, p->name) : NULL;
        if (class)
            TSR_TRY(tsri_words_add(&p->class, &a->classes, class, strlen(class)));
        dropped = p->class == LISTED ? p->name : dropped;
    }
    if (dropped)
        TSRI_WARN("%s: pictures like %s have no class in a list beside their folder and are left "
                  "out",
                  tsri_quote(a->path), tsri_quote(dropped));
    for (int64_t i = 0; i < count; i++)
        if (a->picture[i].class == LISTED)
            forget(&a->picture[i]);
        else
            a->picture[kept++] = a->picture[i];
    a->count = kept;
done:
    return st;
}

/* ---- Into the data set -------------------------------------------------------------------- */

static int by_part_and_name(const void *a, const void *b)
{
    const picture *p = a, *q = b;
    return p->test != q->test ? p->test - q->test : strcmp(p->name, q->name);
}

/* Colours as they are, or as one channel of grey (BT.601's weights, in 1/65536). */
static void put_pixels(uint8_t *to, const uint8_t *rgb, int64_t plane, int64_t channels)
{
    if (channels == 3)
        memcpy(to, rgb, (size_t)(3 * plane));
    for (int64_t i = 0; channels == 1 && i < plane; i++)
        to[i] = (uint8_t)((19595u * rgb[i] + 38470u * rgb[plane + i] + 7471u * rgb[2 * plane + i] +
                           32768u) >>
                          16);
}

static tsr_status set_part(tsri_part *part, const tsr_data *data, const album *a,
                           const int64_t *position, int64_t first, int64_t n)
{
    tsr_status st = TSR_OK;
    part->n = n;
    if (n == 0)
        goto done;
    int64_t plane = a->height * a->width;
    TSR_TRY(tsri_alloc_raw(&part->bytes, n * data->dim, 1));
    if (a->loose == 0)
        TSR_TRY(tsri_alloc_raw(&part->label, n, sizeof *part->label));
    if (a->like)
        TSR_TRY(tsri_alloc(&part->name, n, sizeof *part->name));
    for (int64_t i = 0; i < n; i++) {
        picture *p = &a->picture[first + i];
        put_pixels(part->bytes + i * data->dim, a->pixels + p->at * 3 * plane, plane,
                   data->channels);
        if (part->label)
            part->label[i] = (int32_t)position[p->class];
        if (part->name) {
            part->name[i] = p->file;
            p->file = NULL;
        }
    }
done:
    return st;
}

/* Classes in byte order of their names. */
static tsr_status own_classes(int64_t **position, tsr_data *data, const album *a)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_words_positions(position, &a->classes));
    data->classes = a->classes.count;
    TSR_TRY(tsri_alloc(&data->class_name, data->classes, sizeof *data->class_name));
    for (int64_t i = 0; i < data->classes; i++)
        TSR_TRY(tsri_strdup(&data->class_name[(*position)[i]], a->classes.word[i]));
done:
    return st;
}

/* Classes as the model has them; a folder of another name is refused. */
static tsr_status classes_like(int64_t **position, tsr_data *data, const album *a)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_take_classes(data));
    TSR_TRY(tsri_alloc(position, a->classes.count, sizeof **position));
    for (int64_t i = 0; i < a->classes.count; i++) {
        const char *name = a->classes.word[i];
        (*position)[i] = tsri_like_class(a->like, name, strlen(name));
        TSR_CHECK((*position)[i] >= 0, TSR_BAD_FILE,
                  "%s: folder %s is not one of the model's %lld classes; rename it to the class it "
                  "is, or take it out",
                  tsri_quote(a->path), tsri_quote(name), (long long)a->like->classes);
    }
done:
    return st;
}

static tsr_status set_data(tsr_data *data, album *a)
{
    tsr_status st = TSR_OK;
    int64_t *position = NULL, train = 0;
    TSR_CHECK(a->count > 0, TSR_BAD_FILE,
              "%s: no pictures (.jpg, .jpeg, .png) in class folders; check data.path",
              tsri_quote(a->path));
    TSR_CHECK(a->classes.count <= TSRI_CLASSES_MAX, TSR_BAD_FILE,
              "%s: %lld class folders are too many", tsri_quote(a->path),
              (long long)a->classes.count);
    TSR_TRY(tsri_data_shape(data, a->like ? a->like->channels : 3, a->height, a->width, a->path));
    TSR_TRY(a->like ? classes_like(&position, data, a) : own_classes(&position, data, a));
    qsort(a->picture, (size_t)a->count, sizeof *a->picture, by_part_and_name);
    while (train < a->count && !a->picture[train].test)
        train++;
    TSR_TRY(set_part(&data->train, data, a, position, 0, train));
    TSR_TRY(set_part(&data->test, data, a, position, train, a->count - train));
done:
    tsri_free(position);
    return st;
}

tsr_status tsri_read_images(tsr_data *data, const tsri_read *want)
{
    tsr_status st = TSR_OK;
    album a = {.size = want->size, .like = want->like};
    if (a.like) {
        a.height = a.like->height;
        a.width = a.like->width;
        TSR_CHECK(a.like->channels == 1 || a.like->channels == 3, TSR_BAD_FILE,
                  "%s: pictures have 1 or 3 channels, the model takes %lld", tsri_quote(want->path),
                  (long long)a.like->channels);
    }
    data->schema.kind = "images";
    TSR_TRY(walk(&a, want->path));
    if (want->test_path) {
        a.all_test = true;
        TSR_TRY(walk(&a, want->test_path));
    }
    TSR_TRY(look_up(&a));
    TSR_TRY(set_data(data, &a));
    if (!a.like && tsri_is_folder(want->path))
        TSR_TRY(tsri_class_folders_tell_empty(&a.folders, want->path));
    tell_foreign(&a);
    tell_clear(&a);
    tell_strangers(&a);
done:
    for (int64_t i = 0; i < a.count; i++)
        forget(&a.picture[i]);
    tsri_free(a.picture);
    tsri_free(a.pixels);
    tsri_words_fini(&a.classes);
    tsri_words_fini(&a.folders);
    tsri_annotations_fini(&a.listed);
    return st;
}

static tsr_status see_picture(void *context, const char *path, const char *name, bool *enough)
{
    (void)path;
    *(bool *)context = *enough = is_picture(name);
    return TSR_OK;
}

/* Is there a picture here or up to four folders down; only the first entries are looked at. */
static tsr_status has_pictures(bool *is, const char *folder)
{
    tsri_walk some = {
        .depth = 4, .entries = 64, .folders = 4096, .visit = see_picture, .context = is};
    return tsri_walk_folder(folder, &some);
}

tsr_status tsri_is_images(bool *is, const char *path)
{
    static const char *const endings[] = {".tar", ".tar.xz", ".tar.gz", ".tgz", ".zip"};
    *is = (is_picture(path) || is_foreign(path)) && tsri_is_file(path);
    if (tsri_is_folder(path))
        return has_pictures(is, path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        *is = *is || (tsri_ends_with(path, endings[i]) && tsri_is_file(path));
    return TSR_OK;
}
