/* Any bytes as a file of weights by another tool (a .pth archive, safetensors): tensors, or a bad
 * file. The pickle inside has a target of its own. */
#include "fuzz.h"

#include "io/torch_file.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char path[64];
    tsri_tensors *f = NULL;
    unsigned char sum = 0;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    MUST(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    tsr_status st = tsri_weights_read(&f, path);
    MUST(st == TSR_OK || st == TSR_BAD_FILE || st == TSR_RESOURCES);
    for (int64_t i = 0; st == TSR_OK && i < f->count; i++) {
        const unsigned char *data = f->tensor[i].data;
        for (int64_t j = 0; j < tsri_tensor_bytes(&f->tensor[i]); j++)
            sum = (unsigned char)(sum + data[j]);
    }
    tsri_tensors_destroy(f);
    (void)close(fd);
    MUST(tsri_alloc_blocks() == 0);
    return 0;
}
