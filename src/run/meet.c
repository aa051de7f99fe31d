/* meet.c - before the first round all ranks check that they would run the same thing. */
#include "run/meet.h"

#include "io/digest.h"

/* What must be the same everywhere. The number of threads need not be. */
static tsr_status identity(tsri_text *out, const tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_text file = {0};
    char digest[TSRI_SHA256_HEX];
    TSR_TRY(tsri_config_write_result(&file, run->settings.config));
    TSR_TRY(tsri_sha256(digest, file.data, (int64_t)file.length));
    TSR_TRY(tsri_text_add(out, "version\t%s\n", tsr_version()));
    TSR_TRY(tsri_text_add(out, "backend\t%s\n", tsri_backend_vendor(run->device.backend)));
    TSR_TRY(tsri_text_add(out, "run file's digest\t%.16s\n", digest));
    TSR_TRY(tsri_text_add(out, "data's checksum\t%08x\n", (unsigned)run->data->hash));
done:
    tsri_text_fini(&file);
    return st;
}

tsr_status tsri_run_meet(tsri_run *run, void *gift, int64_t n)
{
    tsr_status st = TSR_OK;
    tsri_text who = {0};
    TSR_TRY(identity(&who, run));
    if (run->process.crew->comm->rank == 0)
        TSR_TRY(tsri_crew_gather(run->process.crew, who.data, gift, n));
    else
        TSR_TRY(tsri_crew_join(run->process.crew, who.data, gift, n));
done:
    tsri_text_fini(&who);
    return st;
}
