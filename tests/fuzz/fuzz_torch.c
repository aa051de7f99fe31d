/* Any bytes as a file of weights by another tool (a .pth archive, safetensors): tensors, or a bad
 * file. Behind a first '/' stand the members of an archive (zipped.h). The pickle inside has a
 * target of its own, too. */
#include "zipped.h"

#include "io/torch_file.h"

#include <sys/mman.h>
#include <unistd.h>

static void look(const char *path)
{
    tsri_tensors *f = NULL;
    unsigned char sum = 0;
    tsr_status st = tsri_weights_read(&f, path);
    MUST(st == TSR_OK || st == TSR_BAD_FILE || st == TSR_RESOURCES);
    for (int64_t i = 0; st == TSR_OK && i < f->count; i++) {
        const unsigned char *data = f->tensor[i].data;
        for (int64_t j = 0; j < tsri_tensor_bytes(&f->tensor[i]); j++)
            sum = (unsigned char)(sum + data[j]);
    }
    tsri_tensors_destroy(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static uint8_t file[ZIPPED_ROOM];
    char path[64];
    size_t size = n;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (n > 0 && *bytes == '/') {
        size = zipped_make(file, bytes + 1, n - 1);
    } else if (n > 0 && n <= sizeof file) {
        memcpy(file, bytes, n);
        mend(file, n);
    }
    MUST(fd >= 0 && write(fd, n > sizeof file ? bytes : file, size) == (ssize_t)size);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    look(path);
    (void)close(fd);
    MUST(tsri_alloc_blocks() == 0);
    return 0;
}
