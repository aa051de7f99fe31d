/* Any bytes as one of the files that a report is made of (the first byte says which): a page, or a
 * bad file. */
#include "fuzz.h"

#include "report/report.h"

#include <sys/stat.h>
#include <unistd.h>

static const char *const name[] = {"metrics.jsonl", "ticket.json", "distance.json",
                                   "certificate.json"};
enum { NAMES = sizeof name / sizeof *name };

static char folder[64];

static void put(const char *file, const void *bytes, size_t n)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *f = fopen(path, "wb");
    MUST(f && fwrite(bytes, 1, n, f) == n);
    MUST(fclose(f) == 0);
}

static void drop(const char *file)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, file);
    (void)remove(path);
}

static void remove_folder(void)
{
    drop("report.html");
    drop("run.yaml");
    (void)rmdir(folder);
}

static void make_folder(void)
{
    static const char run[] = "data: {name: glyphs}\nmodel: {name: mlp, hidden: [3]}\n";
    if (*folder)
        return;
    (void)snprintf(folder, sizeof folder, "/dev/shm/fuzz_report.%d", (int)getpid());
    MUST(mkdir(folder, 0700) == 0 && atexit(remove_folder) == 0);
    put("run.yaml", run, sizeof run - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (n < 1 || n > 1 << 14)
        return 0;
    make_folder();
    const char *file = bytes[0] == 'e' ? "evaluation.json" : name[bytes[0] % NAMES];
    put(file, bytes + 1, n - 1);
    tsr_status st = tsri_report_write(folder, NULL);
    MUST(st == TSR_OK || st == TSR_BAD_FILE);
    drop(file);
    MUST(tsri_alloc_blocks() == 0);
    return 0;
}
