/* replay.c - runs a fuzz target on the files and folders named as arguments, without libFuzzer: so
 * that any compiler can replay a corpus, and the suite does. With TESSERA_FUZZ_RUNS=n it then runs
 * n inputs made of those by chance, the same ones every time; the one that runs now lies in a file,
 * which is there when the target has died of it. It takes no memory from the library, so that a
 * target may insist that nothing is left. */
#include "fuzz.h"

#include "base/rng.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FILES = 512, ROOM = 1 << 16 };

static struct {
    uint8_t *bytes;
    size_t n;
} seed[FILES];
static int files;

static int replay(const char *path, const struct stat *about, int type, struct FTW *where)
{
    (void)where;
    if (type != FTW_F)
        return 0;
    size_t n = (size_t)about->st_size;
    uint8_t *bytes = malloc(n > 0 ? n : 1);
    FILE *f = fopen(path, "rb");
    MUST(files < FILES && bytes && f && fread(bytes, 1, n, f) == n);
    (void)fclose(f);
    (void)LLVMFuzzerTestOneInput(bytes, n);
    seed[files].bytes = bytes;
    seed[files++].n = n;
    return 0;
}

/* ---- Inputs by chance ----------------------------------------------------------------------- */

static size_t below(tsri_rng *rng, size_t n)
{
    return n > 0 ? tsri_rng_below(rng, (uint32_t)n) : 0;
}

/* Puts m bytes in the place of `gone` at `at`. */
static size_t replace(uint8_t *bytes, size_t n, size_t at, size_t gone, const uint8_t *by, size_t m)
{
    uint8_t copy[256];
    m = m < sizeof copy ? m : sizeof copy;
    gone = gone < n - at ? gone : n - at;
    if (n - gone + m > ROOM)
        return n;
    memcpy(copy, by, m); /* it may lie within */
    memmove(bytes + at + m, bytes + at + gone, n - at - gone);
    memcpy(bytes + at, copy, m);
    return n - gone + m;
}

static size_t mutate(uint8_t *bytes, size_t n, tsri_rng *rng)
{
    static const char *const word[] = {"-1",      "0",       "1e400",    "9223372036854775808",
                                       "null",    "[]",      "{}",       "\"",
                                       "\\u0000", "nan",     "99999999", ",",
                                       "\n",      "[[[[[[[["};
    size_t at = below(rng, n + 1), m = 1 + below(rng, 16);
    const char *w = word[below(rng, sizeof word / sizeof *word)];
    int other = (int)below(rng, (size_t)files);
    switch (below(rng, 6)) {
    case 0:
        if (at < n)
            bytes[at] ^= (uint8_t)(1 << below(rng, 8));
        return n;
    case 1:
        if (at < n)
            bytes[at] = (uint8_t)tsri_rng_u32(rng);
        return n;
    case 2:
        return replace(bytes, n, at, m, bytes, 0);
    case 3:
        return replace(bytes, n, at, below(rng, 2) ? m : 0, (const uint8_t *)w, strlen(w));
    case 4:
        return replace(bytes, n, at, 0, bytes + at, m < n - at ? m : n - at);
    default: /* a piece of another file */
        m = below(rng, seed[other].n + 1);
        return replace(bytes, n, at, below(rng, 64), seed[other].bytes + m,
                       below(rng, seed[other].n - m + 1));
    }
}

/* A file that shows the input: its first eight bytes are the input's size. */
static uint8_t *shown(char *path, size_t room)
{
    (void)snprintf(path, room, "/tmp/fuzz-input-%d", (int)getpid());
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    MUST(fd >= 0 && ftruncate(fd, ROOM + 8) == 0);
    uint8_t *memory = mmap(NULL, ROOM + 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    MUST(memory != MAP_FAILED);
    (void)close(fd);
    return memory;
}

static void run_by_chance(long long runs)
{
    char path[64];
    uint8_t *show = shown(path, sizeof path);
    fprintf(stderr, "should it die, the input lies in %s (8 bytes of size first)\n", path);
    for (long long i = 0; i < runs && files > 0; i++) {
        tsri_rng rng = tsri_rng_stream(1, TSRI_FOR_TEST, 9, i, 0);
        size_t from = below(&rng, (size_t)files), n = seed[from].n < ROOM ? seed[from].n : ROOM;
        memcpy(show + 8, seed[from].bytes, n);
        for (size_t changes = 1 + below(&rng, 4); changes > 0; changes--)
            n = mutate(show + 8, n, &rng);
        memcpy(show, &n, sizeof n);
        uint8_t *exact = malloc(n > 0 ? n : 1); /* so that a byte too far is noticed */
        MUST(exact);
        memcpy(exact, show + 8, n);
        (void)LLVMFuzzerTestOneInput(exact, n);
        free(exact);
    }
    (void)unlink(path);
    printf("%lld inputs by chance\n", runs);
}

int main(int argc, char **argv)
{
    const char *runs = getenv("TESSERA_FUZZ_RUNS");
    for (int i = 1; i < argc; i++)
        MUST(nftw(argv[i], replay, 8, FTW_PHYS) == 0);
    printf("%d files replayed\n", files);
    if (runs)
        run_by_chance(strtoll(runs, NULL, 10));
    for (int i = 0; i < files; i++)
        free(seed[i].bytes);
    return files == 0;
}
