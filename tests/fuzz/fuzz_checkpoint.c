/* Any header and data, sealed, as the newest checkpoint of a run: passed over with a warning, so
 * that the run begins anew; refused, because it is of other data or another machine; or the run
 * goes on from it and ends, or diverges. */
#include "sealed.h"

#include "tessera.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static const char *in(const char *name)
{
    static char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void drop(const char *name)
{
    (void)remove(in(name));
}

static void clear(void)
{
    static const char *const made[] = {"model.safetensors", "metrics.jsonl", "run.lock",
                                       "distance.json"};
    for (int round = 0; round <= 4; round++) {
        char name[64];
        (void)snprintf(name, sizeof name, "checkpoints/ckpt-%012d.safetensors", round);
        drop(name);
    }
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        drop(made[i]);
}

static void remove_folder(void)
{
    clear();
    drop("run.yaml");
    drop("checkpoints");
    (void)rmdir(folder);
}

static tsr_status train(void)
{
    static const char *const set[] = {"data.name=sphere",
                                      "data.n=8",
                                      "data.dim=3",
                                      "data.test_n=2",
                                      "data.prefetch=false",
                                      "model.hidden=[3]",
                                      "optim.name=adam",
                                      "optim.ema=0.9",
                                      "scheme.name=masked",
                                      "scheme.xi=0.5",
                                      "scheme.workers=2",
                                      "scheme.local_steps=1",
                                      "batch=4",
                                      "epochs=1",
                                      "checkpoint.every=100",
                                      "threads=1"};
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsr_run_options o = tsr_run_options_default();
    tsr_result r = tsr_result_default();
    o.folder = folder;
    o.resume = true;
    o.force = true; /* what another machine made is read, too */
    st = tsr_config_create(&config);
    for (size_t i = 0; st == TSR_OK && i < sizeof set / sizeof *set; i++)
        MUST((st = tsr_config_set(config, set[i])) == TSR_OK);
    st = tsr_train(&r, config, &o);
    tsr_config_destroy(config);
    return st;
}

static void make_folder(void)
{
    if (*folder)
        return;
    (void)snprintf(folder, sizeof folder, "/dev/shm/fuzz_checkpoint.%d", (int)getpid());
    MUST(mkdir(folder, 0700) == 0 && mkdir(in("checkpoints"), 0700) == 0);
    MUST(atexit(remove_folder) == 0);
    MUST(train() == TSR_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static char file[SEALED_ROOM];
    make_folder();
    clear();
    size_t size = sealed_make(file, bytes, n);
    FILE *f = fopen(in("checkpoints/ckpt-000000000001.safetensors"), "wb");
    MUST(f && fwrite(file, 1, size, f) == size);
    MUST(fclose(f) == 0);
    tsr_status st = train();
    MUST(st == TSR_OK || st == TSR_BAD_FILE || st == TSR_USAGE || st == TSR_DIVERGED);
    MUST(tsri_alloc_blocks() == 0);
    return 0;
}
