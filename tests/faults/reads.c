/* reads.c - files that change while they are read: another process cuts them to a third, or appends
 * to them, before the n-th read, for every n. Whoever maps a file dies of SIGBUS then; we read, and
 * say what is wrong with the file, or take it as it now is. */
#include "kinds.h"

#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

/* ---- Files of every kind ------------------------------------------------------------------- */

static void command(const char *words)
{
    scenario s = {"make", "", words, "", false};
    ending e = run_command(&s, (shim_plan){0}, -1);
    must(e.code == 0, "%s: exit %d: %s", words, e.code, e.said);
}

static void folder(const char *path)
{
    must(mkdir(path, 0777) == 0, "cannot make %s", path);
}

static void make_table(char *text, size_t room, int rows)
{
    size_t n = 0;
    for (int i = 0; i < rows && n < room - 40; i++)
        n += (size_t)snprintf(text + n, room - n, "%d,%d,0.%d\n", i, i * 7 % 11, i % 5);
}

static void make_idx(void)
{
    static unsigned char images[16 + 4000] = {0, 0, 8, 3, 0, 0, 0, 40, 0, 0, 0, 10, 0, 0, 0, 10};
    static unsigned char labels[8 + 40] = {0, 0, 8, 1, 0, 0, 0, 40};
    for (int i = 0; i < 4000; i++)
        images[16 + i] = (unsigned char)(i * 37);
    for (int i = 0; i < 40; i++)
        labels[8 + i] = (unsigned char)(i % 3);
    folder("disk/idx");
    put_file("disk/idx/train-images-idx3-ubyte", images, sizeof images);
    put_file("disk/idx/train-labels-idx1-ubyte", labels, sizeof labels);
}

static void make_cifar(void)
{
    static unsigned char rows[20 * 3073];
    for (size_t i = 0; i < sizeof rows; i++)
        rows[i] = (unsigned char)(i % 3073 == 0 ? i / 3073 % 10 : i * 31);
    folder("disk/cifar");
    for (int i = 1; i <= 5; i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "disk/cifar/data_batch_%d.bin", i);
        put_file(path, rows, sizeof rows);
    }
    put_file("disk/cifar/test_batch.bin", rows, sizeof rows);
}

static void make_pictures(void)
{
    folder("disk/pictures");
    folder("disk/pictures/a");
    folder("disk/pictures/b");
    command("data info disk/idx --sheet disk/pictures/a/1.png");
    command("data info disk/cifar --sheet disk/pictures/b/1.png");
}

static void make_files(void)
{
    static char text[20000];
    remove_tree("disk");
    folder("disk");
    make_table(text, sizeof text, 900);
    put_file("disk/t.csv", text, (int64_t)strlen(text));
    gzFile z = gzopen("disk/t.csv.gz", "wb");
    must(z && gzwrite(z, text, (unsigned)strlen(text)) == (int)strlen(text) && gzclose(z) == Z_OK,
         "no gzip");
    command("data make sphere --out disk/npy --set data.n=200 --set data.dim=9");
    make_idx();
    make_cifar();
    make_pictures();
    const scenario *s = find_scenario("dense");
    ending e = run_command(s, (shim_plan){0}, -1);
    must(e.code == 0, "no run: %s", e.said);
    put_file("disk/run.yaml", s->run, (int64_t)strlen(s->run));
    must(remove("disk/run/model.safetensors") == 0, "no model");
    e = run_command(s, (shim_plan){0}, -1);
    must(e.code == 0, "no run: %s", e.said);
}

static const scenario readers[] = {
    {"csv", "", "data info disk/t.csv", "", false},
    {"csv.gz", "", "data info disk/t.csv.gz", "", false},
    {"npy", "", "data info disk/npy", "", false},
    {"idx", "", "data info disk/idx", "", false},
    {"cifar", "", "data info disk/cifar --set data.format=cifar10", "", false},
    {"pictures", "", "data info disk/pictures --set data.size=8", "", false},
    {"run file", "", "check disk/run.yaml", "", false},
    {"model", "", "info disk/run/model.safetensors", "", false},
    {"report", "", "report disk/run", "", false},
};

/* ---- Changes ------------------------------------------------------------------------------- */

static bool try_one(const scenario *s, int fault, int64_t at)
{
    copy_tree("disk", "sound");
    ending e = run_command(s, (shim_plan){.fault = fault, .at = at}, -1);
    if (e.signal != 0 || e.code > 4 || (e.code != 0 && !strstr(e.said, "tessera: ")))
        complain("%s, %s before read %lld: exit %d, signal %d: %s", s->name,
                 fault == SHIM_CUT ? "cut" : "grown", (long long)at, e.code, e.signal, e.said);
    return shim_seen->met > 0;
}

static int64_t walk(const scenario *s)
{
    int64_t tried = 0;
    for (int64_t at = 0; try_one(s, SHIM_CUT, at); at++)
        tried++;
    for (int64_t at = 0; try_one(s, SHIM_GROW, at); at++)
        tried++;
    if (tried == 0)
        complain("%s: nothing was read", s->name);
    return tried;
}

void try_reads(void)
{
    int64_t total = 0;
    make_files();
    copy_tree("sound", "disk");
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        total += walk(&readers[i]);
    total += walk(find_scenario("dense")); /* run.yaml and checkpoints, resumed */
    (void)printf("%lld files changed while they were read\n", (long long)total);
}
