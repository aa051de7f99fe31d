/* Any header and data, sealed, as a model file: refused as a bad file, or a model that can be asked
 * for everything, used on data, pruned, and read back. */
#include "sealed.h"

#include "model/model.h"
#include "tessera.h"

#include <sys/mman.h>
#include <unistd.h>

static void look(tsr_model *m)
{
    tsr_param p = tsr_param_default();
    float sum = 0;
    for (int64_t i = 0; i < tsr_model_params(m); i++) {
        int64_t count = 1;
        MUST(tsr_model_param(&p, m, i) == TSR_OK && p.values.dims <= TSR_DIMS);
        for (int d = 0; d < p.values.dims; d++)
            count *= p.values.shape[d];
        for (int64_t j = 0; j < count; j++)
            sum += ((const float *)p.values.data)[j];
    }
    (void)sum;
}

/* Where the input is to write must not be the input's to choose. */
static void use(tsr_model *m, const char *path)
{
    tsr_result r = tsr_result_default();
    tsr_layer_distance *far = NULL;
    int64_t n;
    tsr_prune_options how = tsr_prune_options_default();
    char ticket[64];
    tsr_config *c = tsr_model_config(m);
    (void)snprintf(ticket, sizeof ticket, "/dev/shm/fuzz-model-%d", (int)getpid());
    if (tsr_prune(ticket, path, &how) == TSR_OK)
        (void)unlink(ticket);
    if (tsr_model_distance(&far, &n, m, m) == TSR_OK)
        for (int64_t i = 0; i < n; i++)
            MUST(!(far[i].distance > 0)); /* NaN where weights are */
    tsr_free(far);
    if (tsr_config_set(c, "data.name=sphere") == TSR_OK &&
        tsr_config_set(c, "data.n=4") == TSR_OK && tsr_config_set(c, "data.test_n=4") == TSR_OK &&
        tsr_config_set(c, "threads=1") == TSR_OK)
        (void)tsr_model_evaluate(&r, m, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static char file[SEALED_ROOM];
    char path[64];
    tsr_model *m = NULL;
    size_t size = sealed_make(file, bytes, n);
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    MUST(fd >= 0 && write(fd, file, size) == (ssize_t)size);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    tsr_status st = tsr_model_read(&m, path);
    if (st == TSR_OK) {
        look(m);
        use(m, path);
    } else {
        MUST(st == TSR_BAD_FILE || st == TSR_RESOURCES);
        MUST(*tsr_last_error());
    }
    tsr_model_destroy(m);
    (void)close(fd);
    MUST(tsri_alloc_blocks() == 0);
    return 0;
}
