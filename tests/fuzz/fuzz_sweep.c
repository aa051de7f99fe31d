/* Any bytes as the files of a sweep. Behind a first byte 0 stand the lines of a sweep that goes on:
 * what they tell is taken, or they are refused. Else grid.json, a zero byte and sweep.jsonl, of
 * which a report is made. */
#include "fuzz.h"

#include "report/report.h"
#include "sweep/sweep.h"

#include <sys/stat.h>
#include <unistd.h>

enum { MANY = 100000 };
static char folder[64], begun[80];

static const char *in(const char *where, const char *name)
{
    static char path[160];
    (void)snprintf(path, sizeof path, "%s/%s", where, name);
    return path;
}

static void put(const char *where, const char *name, const void *bytes, size_t n)
{
    FILE *f = fopen(in(where, name), "wb");
    MUST(f && fwrite(bytes, 1, n, f) == n);
    MUST(fclose(f) == 0);
}

static void remove_folder(void)
{
    static const char *const made[] = {"run.yaml",  "grid.json",   "sweep.jsonl",
                                       "sweep.csv", "report.html", "run.lock"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        (void)remove(in(begun, made[i]));
        (void)remove(in(folder, made[i]));
    }
    (void)rmdir(begun);
    (void)rmdir(folder);
}

static void make_config(tsr_config **config)
{
    static const char *const set[] = {
        "data.name=sphere", "data.n=8", "data.dim=3", "data.test_n=2", "data.prefetch=false",
        "model.hidden=[3]", "batch=4",  "rounds=2",   "threads=1"};
    MUST(tsr_config_create(config) == TSR_OK);
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        MUST(tsr_config_set(*config, set[i]) == TSR_OK);
}

static tsr_status sweep_on(void)
{
    static const char *const grid[] = {"optim.lr=0.1,0.2"};
    const tsri_sweep_options o = {
        .grid = grid, .grids = 1, .seeds = 2, .curves = true, .folder = begun};
    tsr_config *config = NULL;
    tsri_sweep s;
    make_config(&config);
    tsr_status st = tsri_sweep_run(&s, config, &o);
    MUST(st != TSR_OK || s.done == s.runs);
    tsri_sweep_fini(&s);
    tsr_config_destroy(config);
    return st;
}

static void make_folder(void)
{
    static const char run[] = "data: {name: sphere}\nmodel: {name: mlp, hidden: [3]}\n";
    if (*folder)
        return;
    (void)snprintf(folder, sizeof folder, "/dev/shm/fuzz_sweep.%d", (int)getpid());
    (void)snprintf(begun, sizeof begun, "%s/begun", folder);
    MUST(mkdir(folder, 0700) == 0 && atexit(remove_folder) == 0);
    put(folder, "run.yaml", run, sizeof run - 1);
    MUST(sweep_on() == TSR_OK);
}

static void look(void)
{
    tsri_sweep s;
    tsri_cell_sum *sums = NULL;
    tsri_text text = {0};
    tsr_status st = tsri_sweep_read(&s, folder);
    MUST(st == TSR_OK || st == TSR_BAD_FILE || st == TSR_RESOURCES);
    bool many = s.runs > MANY; /* a page of so many takes its time */
    if (st == TSR_OK && !many && tsri_sweep_ranking(&sums, &s) == TSR_OK)
        MUST(tsri_sweep_cell_text(&text, &s, sums[0].cell, " ") == TSR_OK);
    tsri_free(sums);
    tsri_text_fini(&text);
    tsri_sweep_fini(&s);
    if (many)
        return;
    st = tsri_report_write(folder, NULL);
    MUST(st == TSR_OK || st == TSR_BAD_FILE || st == TSR_RESOURCES);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (n < 1 || n > 1 << 14)
        return 0;
    make_folder();
    if (bytes[0] == 0) {
        put(begun, "sweep.jsonl", bytes + 1, n - 1);
        tsr_status st = sweep_on();
        MUST(st == TSR_OK || st == TSR_BAD_FILE);
    } else {
        const uint8_t *zero = memchr(bytes, 0, n);
        size_t grid = zero ? (size_t)(zero - bytes) : n;
        put(folder, "grid.json", bytes, grid);
        put(folder, "sweep.jsonl", bytes + grid + (zero != NULL), n - grid - (zero != NULL));
        look();
    }
    MUST(tsri_alloc_blocks() == 0);
    return 0;
}
