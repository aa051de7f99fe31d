/* auto.c - `backend: auto`: which of the backends this machine can use.
 *
 * A module is chosen when it can be loaded, fits this library and its device answers, which is found
 * out by starting it. A message says what was chosen and why. The run writes the choice into its run
 * file, so that resuming it on another machine does not silently change the backend.
 */
#include "backend/module.h"

#include "base/log.h"
#include "io/names.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

bool tsri_backend_is_auto(const char *name)
{
    return strcmp(name, "auto") == 0;
}

static const char *const modules[] = {
#define X(id) #id,
    TSRI_MODULE_NAMES(X)
#undef X
};

enum { MODULES = sizeof modules / sizeof *modules };

bool tsri_backend_is_module(const char *name)
{
    for (int i = 0; i < MODULES; i++)
        if (strcmp(modules[i], name) == 0)
            return true;
    return false;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const tsri_backend *chosen;
static char reason[512];

static bool starts(const char *name)
{
    return tsri_backend_find(&chosen, name) == TSR_OK &&
           (!chosen->start || chosen->start(1) == TSR_OK);
}

/* The error of the module that was tried last, without the advice to use cpu, which is taken
 * anyway. */
static void note_error(void)
{
    (void)snprintf(reason, sizeof reason, "%s", tsr_last_error());
    char *advice = strstr(reason, "or use backend: cpu");
    while (advice && advice > reason && strchr(" ,;:", advice[-1]))
        advice--;
    if (advice)
        *advice = '\0';
    tsri_fail_clear();
}

static void choose(void)
{
    for (int i = 0; i < MODULES; i++) {
        if (starts(modules[i])) {
            (void)snprintf(reason, sizeof reason, "its device answers: %s",
                           tsri_backend_vendor(chosen));
            break;
        }
        note_error();
        chosen = NULL;
    }
    chosen = chosen ? chosen : &tsri_backend_cpu;
    TSRI_INFO("backend: auto takes %s: %s", chosen->name, reason);
}

const tsri_backend *tsri_backend_auto(const char **why)
{
    (void)pthread_once(&once, choose);
    if (why)
        *why = reason;
    return chosen;
}
