/* replay.c - runs a fuzz target on the files and folders named as arguments, without libFuzzer: so
 * that any compiler can replay a corpus, and the suite does. It takes no memory from the library,
 * so that a target may insist that nothing is left. */
#include "fuzz.h"

#include <ftw.h>

static int files;

static int replay(const char *path, const struct stat *about, int type, struct FTW *where)
{
    (void)where;
    if (type != FTW_F)
        return 0;
    size_t n = (size_t)about->st_size;
    uint8_t *bytes = malloc(n > 0 ? n : 1);
    FILE *f = fopen(path, "rb");
    MUST(bytes && f && fread(bytes, 1, n, f) == n);
    (void)fclose(f);
    (void)LLVMFuzzerTestOneInput(bytes, n);
    free(bytes);
    files++;
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        MUST(nftw(argv[i], replay, 8, FTW_PHYS) == 0);
    printf("%d files replayed\n", files);
    return files == 0;
}
