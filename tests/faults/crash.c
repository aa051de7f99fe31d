/* crash.c - what a disk may hold after the power went (crash.h). */
#include "crash.h"

#include "shim.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME = 96, SECTOR = 512, HANDLES = 4096 };

typedef struct patch { /* bytes on their way; bytes = NULL: the file is cut at `at` */
    int64_t at, n;
    const unsigned char *bytes;
} patch;

typedef struct entry {
    char name[NAME];
    int node;
} entry;

typedef struct shift { /* a change of names on its way: `gone` goes, `made` is the node's from now
                        */
    int64_t step;
    char gone[NAME], made[NAME];
    int node;
} shift;

typedef struct list {
    entry *entry;
    int count;
} list;

typedef struct node {
    bool folder;
    unsigned char *bytes; /* of a file: what is certain */
    int64_t n;
    patch *patch;
    int patches;
    list now, certain; /* of a folder: as the program sees it; what is certain */
    shift *shift;
    int shifts;
} node;

struct crash_disk {
    const unsigned char *log;
    int64_t size, at, step, steps;
    node *node; /* [0] is the folder above all */
    int nodes;
    int of_handle[HANDLES];
};

/* ---- Names -------------------------------------------------------------------------------- */

static void *grow(void *memory, int count, size_t size)
{
    if (count & (count - 1)) /* room doubles */
        return memory;
    void *more = realloc(memory, (count ? (size_t)count * 2 : 1) * size);
    must(more != NULL, "out of memory");
    return more;
}

static int find(const list *l, const char *name)
{
    for (int i = 0; i < l->count; i++)
        if (strcmp(l->entry[i].name, name) == 0)
            return i;
    return -1;
}

static void drop(list *l, const char *name)
{
    int i = find(l, name);
    if (i >= 0)
        l->entry[i] = l->entry[--l->count];
}

static void put(list *l, const char *name, int n)
{
    drop(l, name);
    l->entry = grow(l->entry, l->count, sizeof *l->entry);
    (void)snprintf(l->entry[l->count].name, NAME, "%s", name);
    l->entry[l->count++].node = n;
}

static void apply_shift(list *l, const shift *s)
{
    if (*s->gone)
        drop(l, s->gone);
    if (*s->made)
        put(l, s->made, s->node);
}

static list copy_of(const list *l)
{
    list c = {0};
    for (int i = 0; i < l->count; i++)
        put(&c, l->entry[i].name, l->entry[i].node);
    return c;
}

/* The folder that `path` lies in; *name = its last part. */
static int folder_of(const crash_disk *d, const char *path, char name[NAME])
{
    int at = 0;
    for (const char *end; (end = strchr(path, '/')) != NULL; path = end + 1) {
        (void)snprintf(name, NAME, "%.*s", (int)(end - path), path);
        int i = find(&d->node[at].now, name);
        must(i >= 0, "the log names a folder that is not there: %s", name);
        at = d->node[at].now.entry[i].node;
    }
    must(strlen(path) < NAME, "a name too long for this test: %s", path);
    (void)snprintf(name, NAME, "%s", path);
    return at;
}

static int lookup(const crash_disk *d, const char *path)
{
    char name[NAME];
    int folder = folder_of(d, path, name), i = find(&d->node[folder].now, name);
    return i < 0 ? -1 : d->node[folder].now.entry[i].node;
}

static void rename_in(crash_disk *d, int folder, const char *gone, const char *made, int n)
{
    node *f = &d->node[folder];
    f->shift = grow(f->shift, f->shifts, sizeof *f->shift);
    shift *s = &f->shift[f->shifts++];
    *s = (shift){.step = d->step, .node = n};
    (void)snprintf(s->gone, NAME, "%s", gone);
    (void)snprintf(s->made, NAME, "%s", made);
    apply_shift(&f->now, s);
}

static int make_node(crash_disk *d, const char *path, bool folder)
{
    char name[NAME];
    int in = folder_of(d, path, name), made = d->nodes;
    d->node = grow(d->node, d->nodes, sizeof *d->node);
    d->node[d->nodes++] = (node){.folder = folder};
    rename_in(d, in, "", name, made);
    return made;
}

/* ---- Replaying ---------------------------------------------------------------------------- */

static void resize(unsigned char **bytes, int64_t *n, int64_t size)
{
    if (size > *n) {
        *bytes = realloc(*bytes, (size_t)size);
        must(*bytes != NULL, "out of memory");
        memset(*bytes + *n, 0, (size_t)(size - *n));
    }
    *n = size;
}

static void apply_patch(unsigned char **bytes, int64_t *n, const patch *p)
{
    if (!p->bytes) {
        resize(bytes, n, p->at);
        return;
    }
    if (p->at + p->n > *n)
        resize(bytes, n, p->at + p->n);
    if (p->n > 0) /* an empty write to an empty file has nowhere to go */
        memcpy(*bytes + p->at, p->bytes, (size_t)p->n);
}

static void sync_node(node *f)
{
    for (int i = 0; i < f->patches; i++)
        apply_patch(&f->bytes, &f->n, &f->patch[i]);
    for (int i = 0; i < f->shifts; i++)
        apply_shift(&f->certain, &f->shift[i]);
    f->patches = f->shifts = 0;
}

static void open_path(crash_disk *d, const shim_record_head *h, const char *path)
{
    int n = h->made ? make_node(d, path, false) : lookup(d, path);
    must(n >= 0 && h->handle < HANDLES, "the log opens what is not there: %s", path);
    d->of_handle[h->handle] = n;
}

static void move(crash_disk *d, const char *from, const char *to)
{
    char gone[NAME], made[NAME];
    int a = folder_of(d, from, gone), b = folder_of(d, to, made), n = lookup(d, from);
    must(a == b && n >= 0, "renames between folders are not modelled: %s", from);
    rename_in(d, a, gone, made, n);
}

static void remove_path(crash_disk *d, const char *path)
{
    char name[NAME];
    int in = folder_of(d, path, name);
    rename_in(d, in, name, "", -1);
}

static void add_patch(crash_disk *d, int handle, patch p)
{
    node *f = &d->node[d->of_handle[handle]];
    f->patch = grow(f->patch, f->patches, sizeof *f->patch);
    f->patch[f->patches++] = p;
}

static void replay(crash_disk *d, const shim_record_head *h, const unsigned char *bytes)
{
    char text[512] = "";
    if (h->op != SHIM_WRITE) {
        must(h->n < (int64_t)sizeof text, "a path too long for this test");
        memcpy(text, bytes, (size_t)h->n);
        text[h->n] = '\0';
    }
    switch ((shim_op)h->op) {
    case SHIM_FOLDER:
        (void)make_node(d, text, true);
        break;
    case SHIM_OPEN:
        open_path(d, h, text);
        break;
    case SHIM_WRITE:
        add_patch(d, h->handle, (patch){h->at, h->n, bytes});
        break;
    case SHIM_TRUNCATE:
        add_patch(d, h->handle, (patch){h->at, 0, NULL});
        break;
    case SHIM_SYNC:
        sync_node(&d->node[d->of_handle[h->handle]]);
        break;
    case SHIM_RENAME:
        move(d, text, text + strlen(text) + 1);
        break;
    case SHIM_UNLINK:
        remove_path(d, text);
        break;
    }
}

static shim_record_head head_at(const crash_disk *d, int64_t at)
{
    shim_record_head h;
    must(at + (int64_t)sizeof h <= d->size, "the log ends within a record");
    memcpy(&h, d->log + at, sizeof h);
    return h;
}

crash_disk *crash_create(const unsigned char *log, int64_t n)
{
    crash_disk *d = calloc(1, sizeof *d);
    must(d != NULL, "out of memory");
    d->log = log;
    d->size = n;
    for (int64_t at = 0; at < n; d->steps++)
        at += (int64_t)sizeof(shim_record_head) + head_at(d, at).n;
    d->node = grow(NULL, 0, sizeof *d->node);
    d->node[d->nodes++] = (node){.folder = true};
    int root = make_node(d, "disk", true); /* there before the log began */
    sync_node(&d->node[0]);
    must(root == 1, "the first folder");
    return d;
}

void crash_destroy(crash_disk *d)
{
    for (int i = 0; i < d->nodes; i++) {
        node *f = &d->node[i];
        free(f->bytes);
        free(f->patch);
        free(f->now.entry);
        free(f->certain.entry);
        free(f->shift);
    }
    free(d->node);
    free(d);
}

int64_t crash_steps(const crash_disk *d)
{
    return d->steps;
}

void crash_advance(crash_disk *d, int64_t step)
{
    for (; d->step < step && d->step < d->steps; d->step++) {
        shim_record_head h = head_at(d, d->at);
        replay(d, &h, d->log + d->at + sizeof h);
        d->at += (int64_t)sizeof h + h.n;
    }
}

int64_t crash_promised(const crash_disk *d, const char *run)
{
    char path[256];
    int64_t newest = -1;
    (void)snprintf(path, sizeof path, "%s/checkpoints", run);
    int top = find(&d->node[1].now, run + strlen("disk/"));
    int n = top < 0 ? -1 : lookup(d, path);
    for (int i = 0; n >= 0 && i < d->node[n].certain.count; i++) {
        long long round;
        if (sscanf(d->node[n].certain.entry[i].name, "ckpt-%12lld.safetensors", &round) == 1 &&
            round > newest)
            newest = round;
    }
    return newest;
}

/* ---- What is left ------------------------------------------------------------------------- */

/* How a state is drawn. */
typedef struct draw {
    tsri_rng *rng;
    bool ordered;    /* names came to the disk in the order in which they changed, up to `until` */
    int64_t until;   /* a step */
    uint32_t chance; /* else: of a change of a name to be there, of 4 */
    bool junk;       /* bytes that never came are old ones of somebody else, not zeros */
} draw;

static bool names_came(const draw *w, const shift *s)
{
    return w->ordered ? s->step < w->until : tsri_rng_below(w->rng, 4) < w->chance;
}

static void fill(unsigned char *bytes, int64_t n, const draw *w)
{
    for (int64_t i = 0; i < n; i++)
        bytes[i] = w->junk ? (unsigned char)tsri_rng_u32(w->rng) : 0;
}

/* Every sector of a write for itself; those that never came hold what lay there. */
static void apply_sectors(unsigned char **bytes, int64_t *n, const patch *p, const draw *w)
{
    for (int64_t at = p->at, end = p->at + p->n, next; at < end; at = next) {
        next = (at / SECTOR + 1) * SECTOR;
        next = next < end ? next : end;
        if (tsri_rng_below(w->rng, 2) == 0)
            continue;
        int64_t had = *n;
        apply_patch(bytes, n, &(patch){at, next - at, p->bytes + (at - p->at)});
        if (at > had)
            fill(*bytes + had, at - had, w);
    }
}

/* A file's bytes: what is certain, and a part of what was on its way. */
static void leave_bytes(const node *f, const char *path, const draw *w)
{
    unsigned char *bytes = NULL;
    int64_t n = 0, full = 0;
    resize(&bytes, &n, f->n);
    if (n > 0)
        memcpy(bytes, f->bytes, (size_t)n);
    uint32_t how = tsri_rng_below(w->rng, 5); /* 0: nothing came */
    int whole = how == 1   ? f->patches
                : how == 2 ? (int)tsri_rng_below(w->rng, (uint32_t)f->patches + 1)
                           : 0;
    for (int i = 0; i < f->patches && how > 0; i++) {
        const patch *p = &f->patch[i];
        full = p->bytes && p->at + p->n > full ? p->at + p->n : full;
        if (i < whole)
            apply_patch(&bytes, &n, p);
        else if (i == whole && how == 2 && p->bytes) /* torn at a byte */
            apply_patch(
                &bytes, &n,
                &(patch){p->at, (int64_t)tsri_rng_below(w->rng, (uint32_t)p->n + 1), p->bytes});
        else if (how > 2 && p->bytes)
            apply_sectors(&bytes, &n, p, w);
        else if (how > 2 && tsri_rng_below(w->rng, 2))
            apply_patch(&bytes, &n, p);
    }
    if (how == 4 && full > n) { /* the size came, the bytes did not */
        int64_t had = n;
        resize(&bytes, &n, full);
        fill(bytes + had, full - had, w);
    }
    put_file(path, bytes, n);
    free(bytes);
}

static void leave_node(const crash_disk *d, int n, const char *path, const draw *w)
{
    const node *f = &d->node[n];
    if (!f->folder) {
        leave_bytes(f, path, w);
        return;
    }
    must(mkdir(path, 0777) == 0, "cannot make %s", path);
    list l = copy_of(&f->certain);
    for (int i = 0; i < f->shifts; i++)
        if (names_came(w, &f->shift[i]))
            apply_shift(&l, &f->shift[i]);
    for (int i = 0; i < l.count; i++) {
        char inner[512];
        (void)snprintf(inner, sizeof inner, "%s/%s", path, l.entry[i].name);
        leave_node(d, l.entry[i].node, inner, w);
    }
    free(l.entry);
}

void crash_leave(const crash_disk *d, const char *root, tsri_rng *rng)
{
    draw w = {.rng = rng,
              .ordered = tsri_rng_below(rng, 3) == 0,
              .until = (int64_t)tsri_rng_below(rng, (uint32_t)d->step + 1),
              .chance = tsri_rng_below(rng, 5),
              .junk = tsri_rng_below(rng, 2) == 0};
    remove_tree(root);
    leave_node(d, 1, root, &w);
}
