/* Any bytes as the pickle of a state dict. What is accepted names tensors that lie inside the
 * storages they claim. */
#include "fuzz.h"

#include "io/pickle.h"

static void look(const tsri_pickle *p)
{
    unsigned char sum = 0;
    for (int64_t i = 0; i < p->count; i++) {
        const tsri_pickle_tensor *t = &p->tensor[i];
        int64_t last = t->offset;
        MUST(t->dims >= 0 && t->dims <= TSRI_DIMS_MAX && t->offset >= 0);
        for (int d = 0; d < t->dims; d++) {
            MUST(t->shape[d] >= 1 && t->stride[d] >= 0);
            last += (t->shape[d] - 1) * t->stride[d];
            MUST(last < t->storage_count);
        }
        MUST(last < t->storage_count);
        MUST(tsri_tensor_name_ok(t->name.bytes, (size_t)t->name.n));
        for (int64_t j = 0; j < t->storage.n; j++)
            sum = (unsigned char)(sum + (unsigned char)t->storage.bytes[j]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    tsri_pickle p;
    if (tsri_pickle_read(&p, (const char *)bytes, (int64_t)n, "fuzz") == TSR_OK)
        look(&p);
    tsri_pickle_fini(&p);
    MUST(tsri_alloc_blocks() == 0);
    return 0;
}
