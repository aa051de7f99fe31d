/* module.c - finding, checking and keeping modules (module.h). */
#include "backend/module.h"

#include "base/alloc.h"
#include "base/log.h"

#include <assert.h>
#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const tsri_services services = {.fail = tsri_fail,
                                       .alloc = tsri_alloc,
                                       .release = tsri_free,
                                       .log = tsri_log_message,
                                       .slices_lines = tsri_slices_lines,
                                       .slices_pieces = tsri_slices_pieces,
                                       .slices_from = tsri_slices_from,
                                       .slices_find = tsri_slices_find};

/* ---- Where it is --------------------------------------------------------------------------- */

enum { PLACES = 2 };

/* TESSERA_CUDA for the module cuda. Not in programs that run with more rights than their caller. */
static const char *named_file(const char *name, char *variable, size_t size)
{
    (void)snprintf(variable, size, "TESSERA_%s", name);
    for (char *c = variable; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return secure_getenv(variable);
}

/* The folder of the file that this code was loaded from: the library's, or the program's. */
static bool own_folder(char *folder, size_t size)
{
    Dl_info info;
    char real[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", real, sizeof real - 1);
    if (dladdr(&services, &info) == 0 || !info.dli_fname)
        return false;
    const char *from = info.dli_fname;
    if (!strchr(from, '/') && n > 0) { /* a program that was found in PATH */
        real[n] = 0;
        from = real;
    } else if (realpath(from, real)) {
        from = real;
    }
    const char *slash = strrchr(from, '/');
    return slash && (size_t)snprintf(folder, size, "%.*s", (int)(slash - from), from) < size;
}

/* Beside the program, as in a build folder, or where `cmake --install` puts libraries. */
static int find_places(char place[PLACES][PATH_MAX], char *folder, size_t size, const char *name)
{
    if (!own_folder(folder, size))
        return 0;
    (void)snprintf(place[0], PATH_MAX, "%s/libtessera-%.32s.so", folder, name);
    (void)snprintf(place[1], PATH_MAX, "%s/../" TSRI_LIBRARY_FOLDER "/libtessera-%.32s.so", folder,
                   name);
    return PLACES;
}

/* ---- Whether it fits ----------------------------------------------------------------------- */

static bool same_layout(const tsri_module *m)
{
    const tsri_module here = {TSRI_MODULE_HEADER};
    return m->interface == here.interface && memcmp(m->bytes, here.bytes, sizeof here.bytes) == 0;
}

static tsr_status open_file(const tsri_module **out, const char *path, const char *name)
{
    tsr_status st = TSR_OK;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    TSR_CHECK(library, TSR_USAGE,
              "backend: %s: its module cannot be loaded (%s): install the libraries it names, or "
              "add their folder to LD_LIBRARY_PATH; or use backend: cpu",
              name, dlerror());
    const tsri_module *m = dlsym(library, "tsri_this_module");
    TSR_CHECK(m, TSR_USAGE,
              "backend: %s: %s is not a module of Tessera: name the right file, or leave the "
              "variable unset",
              name, path);
    TSR_CHECK(same_layout(m), TSR_USAGE,
              "backend: %s: %s was built for another version of Tessera than this one, %s: build "
              "both from the same source",
              name, path, TSR_VERSION_STRING);
    m->accept(&services);
    *out = m;
    library = NULL;
done:
    if (library)
        (void)dlclose(library);
    return st;
}

static tsr_status search(const tsri_module **out, const char *name)
{
    tsr_status st = TSR_OK;
    char variable[64], folder[PATH_MAX - 256] = "the program's folder", place[PLACES][PATH_MAX];
    const char *file = named_file(name, variable, sizeof variable);
    if (file && *file)
        return open_file(out, file, name);
    int places = find_places(place, folder, sizeof folder, name);
    for (int i = 0; i < places; i++)
        if (access(place[i], F_OK) == 0)
            return open_file(out, place[i], name);
    TSR_CHECK(false, TSR_USAGE,
              "backend: %s needs the module libtessera-%s.so, which is not in %s: build Tessera "
              "where CUDA 13 is installed, or set %s to the module's file; or use backend: cpu",
              name, name, folder, variable);
done:
    return st;
}

tsr_status tsri_module_load(const tsri_backend **backend, const char *name)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const tsri_module *loaded;
    tsr_status st = TSR_OK;
    *backend = NULL;
    pthread_mutex_lock(&lock);
    if (!loaded)
        TSR_TRY(search(&loaded, name));
    assert(loaded);
    *backend = loaded->backend;
done:
    pthread_mutex_unlock(&lock);
    return st;
}
