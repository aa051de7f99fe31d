/* schemes.h - the rows of the schemes, each at the end of its own file. */
#ifndef TSRI_SCHEMES_H
#define TSRI_SCHEMES_H

#include "io/names.h"
#include "scheme/scheme.h"

#define X(name) extern const tsri_scheme tsri_scheme_##name;
TSRI_SCHEME_NAMES(X)
#undef X

/* dense: do the samples never change (no augmentation), so that their gates can be computed
 * once? */
bool tsri_dense_knows_gates(const tsri_settings *s, const tsri_net *net);

#endif
