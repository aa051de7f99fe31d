/* Any bytes as a .npy file. */
#include "fuzz.h"

#include "io/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    tsri_tensor t;
    void *memory = NULL;
    if (tsri_npy_parse(&t, &memory, (const char *)bytes, (int64_t)n, "fuzz") == TSR_OK) {
        const unsigned char *data = t.data;
        unsigned char sum = 0;
        MUST(t.dims >= 0 && t.dims <= TSRI_DIMS_MAX);
        MUST(tsri_tensor_bytes(&t) <= (int64_t)n);
        for (int64_t i = 0; i < tsri_tensor_bytes(&t); i++)
            sum = (unsigned char)(sum + data[i]);
        tsri_free(memory);
    }
    MUST(tsri_alloc_blocks() == 0);
    return 0;
}
