/* status.h - one mechanism for failure.
 *
 * A fallible function returns tsr_status, has a local `st` and one label `done:` where everything
 * it holds is freed, on success and failure alike. Two forms only (tessera.h):
 *
 *     TSR_TRY(call);                                   an inner call failed: pass it on
 *     TSR_CHECK(cond, TSR_BAD_FILE, "%s: ...", path);  it failed here: write the sentence
 *
 * The sentence is written once, where it happened, and names the place and the remedy.
 */
#ifndef TSRI_STATUS_H
#define TSRI_STATUS_H

#include "tessera.h"

/* The thread's error text and `status`, so that `return tsri_fail(...)` reads well. A module that
 * is loaded late defines tsr_fail for itself. */
#define tsri_fail tsr_fail

/* Puts "prefix" before the thread's error text: for the one caller that knows the file's name. */
void tsri_fail_prefix(const char *fmt, ...) TSR_PRINTF(1, 2);

/* Clears the thread's error text; for tests and for callers that recover. */
void tsri_fail_clear(void);

#endif
