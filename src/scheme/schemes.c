/* schemes.c - every training scheme the program knows. */
#include "scheme/schemes.h"

#include <assert.h>
#include <string.h>

const tsri_scheme *const tsri_schemes[] = {
#define X(name) &tsri_scheme_##name,
    TSRI_SCHEME_NAMES(X)
#undef X
        NULL};

const tsri_scheme *tsri_scheme_of(const tsr_config *config)
{
    const char *name = tsri_config_text(config, "scheme.name");
    int i = 0;
    while (tsri_schemes[i] && strcmp(tsri_schemes[i]->name, name) != 0)
        i++;
    assert(tsri_schemes[i]); /* the choices of the schema are made from the same list */
    return tsri_schemes[i];
}
