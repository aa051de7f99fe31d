/* Any bytes as a compressed file and as an archive, with a limit of a megabyte: as they are, and
 * with their checksums mended. */
#include "mend.h"

#include "io/archive.h"

#include <sys/mman.h>
#include <unistd.h>

enum { LIMIT = 1 << 20 };

static tsr_status visit(void *context, const char *name, const char *bytes, int64_t n)
{
    int64_t *total = context;
    MUST(*name && bytes[n] == '\0');
    *total += n;
    return TSR_OK;
}

static void look(const uint8_t *bytes, size_t n)
{
    char path[64], *content = NULL;
    int64_t size = 0, total = 0;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    MUST(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (tsri_archive_read_file(&content, &size, path, LIMIT) == TSR_OK)
        MUST(size <= LIMIT && content[size] == '\0');
    tsri_free(content);
    (void)tsri_archive_each(path, visit, &total, LIMIT);
    MUST(total <= LIMIT);
    (void)close(fd);
    MUST(tsri_alloc_blocks() == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static uint8_t file[1 << 16];
    look(bytes, n);
    if (n == 0 || n > sizeof file)
        return 0;
    memcpy(file, bytes, n);
    mend(file, n);
    if (memcmp(file, bytes, n) != 0)
        look(file, n);
    return 0;
}
