/* Any bytes as a safetensors file. What is accepted is written again and must read back the same.
 */
#include "fuzz.h"

#include "io/safetensors.h"

#include <unistd.h>

/* Every byte of every tensor is readable, every name is found. */
static void look(const tsri_tensors *f)
{
    unsigned char sum = 0;
    for (int64_t i = 0; i < f->count; i++) {
        const unsigned char *data = f->tensor[i].data;
        for (int64_t j = 0; j < tsri_tensor_bytes(&f->tensor[i]); j++)
            sum = (unsigned char)(sum + data[j]);
        MUST(tsri_tensors_find(f, f->tensor[i].name) == &f->tensor[i]);
    }
    for (int64_t i = 0; i < f->metadata_count; i++)
        MUST(tsri_tensors_meta(f, f->metadata[i].key) == f->metadata[i].value);
}

static void write_and_read(const tsri_tensors *f)
{
    char path[64];
    tsri_tensors *g = NULL;
    (void)snprintf(path, sizeof path, "/tmp/fuzz-safetensors-%ld", (long)getpid());
    MUST(tsri_tensors_write(path, f->tensor, f->count, f->metadata, f->metadata_count) == TSR_OK);
    MUST(tsri_tensors_read(&g, path) == TSR_OK);
    MUST(g->count == f->count);
    for (int64_t i = 0; i < f->count; i++) {
        const tsri_tensor *t = &f->tensor[i], *u = tsri_tensors_find(g, t->name);
        MUST(u && u->dtype == t->dtype && u->dims == t->dims);
        MUST(memcmp(u->data, t->data, (size_t)tsri_tensor_bytes(t)) == 0);
    }
    tsri_tensors_destroy(g);
    (void)unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    tsri_tensors *f = NULL;
    if (tsri_tensors_parse(&f, (const char *)bytes, (int64_t)n, "fuzz") == TSR_OK) {
        look(f);
        if (n < 4096)
            write_and_read(f);
        tsri_tensors_destroy(f);
    }
    MUST(tsri_alloc_blocks() == 0);
    return 0;
}
