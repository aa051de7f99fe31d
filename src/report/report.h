/* report.h - report.html: the results of a run on one page.
 *
 * One file that needs nothing else: no font, no network; pictures are inline and follow the reader's
 * light or dark colours. Its own script adds values under the cursor, zoom, series on and off; what
 * it draws with is one JSON block at the end of the page. The page is made from the run's folder,
 * so it can be made again at any time, even while the run is going on:
 *
 *     run.yaml            what was asked for (needed)
 *     metrics.jsonl       loss and accuracy, traffic, time, the latest certificate of each paper
 *     ticket.json         {"rows": [{...}, ...]}: the table of tickets
 *     distance.json       filter distances: {"epochs": [1, 2, ...], "layers": [{"name": "...",
 *                         "distance": [[row of the first epoch], ...]}, ...]}
 *     certificate*.json   what a theorem asks for beside what was measured: one certificate as
 *                         tsri_certificate_json writes it, or a list of them
 *
 *     grid.json           the run file of a sweep: its page shows the best cell, maps, curves and a
 *                         table of sweep.jsonl instead
 *
 * What is missing is left out. All text is escaped: a run may be called <script>.
 */
#ifndef TSRI_REPORT_H
#define TSRI_REPORT_H

#include "base/text.h"

/* Writes `path`, or FOLDER/report.html when that is NULL. USAGE when the folder holds no run,
 * BAD_FILE when one of its files is damaged. */
tsr_status tsri_report_write(const char *folder, const char *path);

/* Appends the page itself. A `live` page has no Content-Security-Policy of its own: its server
 * sends one, with the digest of the page's script (below) and of what the server adds. In the page,
 * window.tessera.replace(text) takes over a newer page's content and keeps what its reader has
 * zoomed, switched off, opened and scrolled to. */
tsr_status tsri_report_text(tsri_text *out, const char *folder, bool live);

/* The text inside the page's one <script>; and 'sha256-...' of a script, as a policy names it. */
tsr_status tsri_page_script(tsri_text *out);
tsr_status tsri_script_digest(tsri_text *out, const char *script, int64_t n);

#endif
