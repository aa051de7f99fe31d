/* verdict.c - the words of the verdicts. */
#include "theory/verdict.h"

#include <string.h>

const tsri_verdict_words tsri_verdicts[TSRI_VERDICTS] = {
    [TSRI_HOLDS] = {"holds", "holds", "hold"},
    [TSRI_FAILS] = {"fails", "fails", "fail"},
    [TSRI_VACUOUS] = {"vacuous", "is vacuous", "are vacuous"},
    [TSRI_OPEN] = {"open", "is open", "are open"},
    [TSRI_DOES_NOT_APPLY] = {"does not apply", "does not apply", "do not apply"},
};

tsri_verdict tsri_verdict_named(const char *name)
{
    for (int v = TSRI_HOLDS; v < TSRI_VERDICTS; v++)
        if (strcmp(name, tsri_verdicts[v].name) == 0)
            return (tsri_verdict)v;
    return TSRI_NO_VERDICT;
}
