/* late.c - loading a library and finding its functions (late.h). */
#include "base/late.h"

#include <dlfcn.h>
#include <string.h>

/* All or none: a table that is half full would be taken for a loaded library. */
static tsr_status find_calls(void *library, void *table, const tsri_late *late)
{
    tsr_status st = TSR_OK;
    for (size_t i = 0; i < late->calls; i++)
        TSR_CHECK(dlsym(library, late->call[i].name), late->status,
                  "the %s that was found has no %s: %s", late->file, late->call[i].name,
                  late->remedy);
    for (size_t i = 0; i < late->calls; i++) {
        void *function = dlsym(library, late->call[i].name);
        memcpy((char *)table + late->call[i].at, &function, sizeof function);
    }
done:
    return st;
}

tsr_status tsri_late_open(void **library, void *table, const tsri_late *late)
{
    tsr_status st = TSR_OK;
    *library = dlopen(late->file, RTLD_NOW | RTLD_LOCAL);
    TSR_CHECK(*library, late->status, "%s cannot be loaded (%s): %s", late->name, dlerror(),
              late->remedy);
    TSR_TRY(find_calls(*library, table, late));
done:
    if (st != TSR_OK && *library) {
        (void)dlclose(*library);
        *library = NULL;
    }
    return st;
}
