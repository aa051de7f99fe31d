/* markup.h - writes XML and HTML, keeps the first failure, and escapes what is not ours.
 *
 *     tsri_markup m = {0};
 *     tsri_markup_add(&m, "<rect x=\"%s\" y=\"%s\"/>", tsri_px(x), tsri_px(y));
 *     tsri_markup_text(&m, name_from_a_file);
 *     TSR_TRY(tsri_markup_end(&m));          the first failure of all calls above
 *     ... m.text.data ...
 *     tsri_markup_fini(&m);
 *
 * Two rules keep every page well-formed whatever a run is called: the format of tsri_markup_add is
 * ours and takes only our own words and tsri_px; all other text goes through tsri_markup_text.
 */
#ifndef TSRI_MARKUP_H
#define TSRI_MARKUP_H

#include "base/text.h"

typedef struct tsri_markup {
    tsri_text text;
    tsr_status st;
} tsri_markup;

void tsri_markup_add(tsri_markup *m, const char *fmt, ...) TSR_PRINTF(2, 3);

/* Escaped for the text of an element and for a quoted attribute alike. Bytes that are not UTF-8,
 * and characters that XML forbids, become U+FFFD. NULL writes nothing. */
void tsri_markup_text(tsri_markup *m, const char *text);

tsr_status tsri_markup_end(const tsri_markup *m);
void tsri_markup_fini(tsri_markup *m);

/* A coordinate with at most two digits after the point, in every locale. NaN becomes 0; what is far
 * off every page becomes the page's far edge. The text is in a ring of 16 per thread. */
const char *tsri_px(double value);

#endif
