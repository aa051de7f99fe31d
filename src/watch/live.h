/* live.h - the documents of the live page: the list of runs, a run's page, their script.
 *
 * The script is one file, live.js, that every page names; so no page has a script of its own.
 */
#ifndef TSRI_LIVE_H
#define TSRI_LIVE_H

#include "watch/route.h"
#include "watch/lookout.h"

/* live.js itself (src/report/assets). */
tsr_status tsri_live_script(tsri_text *out);

/* The list of all runs below the folder. */
tsr_status tsri_live_list(tsri_text *out, const tsri_lookout *w, const char *token);

/* The page of a run: that of `tessera report`, with live.js. Fails as that does. */
tsr_status tsri_live_run(tsri_text *out, const tsri_followed *run, const char *token);

/* Content-Security-Policy of both: no script but ours, nothing from elsewhere. */
tsr_status tsri_live_policy(tsri_text *out);

/* The state of all runs as one event of the stream. */
tsr_status tsri_live_event(tsri_text *out, const tsri_lookout *w);

#endif
