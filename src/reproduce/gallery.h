/* gallery.h - everything that was reproduced below a folder, on one page and in one table.
 *
 *     TSR_TRY(tsri_gallery_write(&shown, "reproduce"));
 *
 * It reads the summary.json and the pictures of each study in the folder (reproduce/loft-fig4, ...)
 * and nothing else. So studies may be made at different times and on different machines, and be
 * copied together; what nobody has made yet is listed with the command that makes it.
 */
#ifndef TSRI_GALLERY_H
#define TSRI_GALLERY_H

#include "reproduce/reproduce.h"

/* Writes FOLDER/index.html and FOLDER/results.md. *shown = studies found. USAGE when there is none;
 * BAD_FILE for a summary that cannot be read. */
tsr_status tsri_gallery_write(int64_t *shown, const char *folder);

/* Writes PAGE/README.md (the folder is made): the same pictures, which stay in FOLDER, with the
 * verdict on each claim. */
tsr_status tsri_gallery_pictures(const char *folder, const char *page);

/* Appends text as a cell of a table in Markdown, with the bar behind it. */
tsr_status tsri_markdown_cell(tsri_text *out, const char *text);

/* "loft-fig4", or "loft-table1-paper" for the paper's own setting: the folder of a study among
 * others; the name's slash would be a folder. The caller frees *out. */
tsr_status tsri_study_folder_name(char **out, const tsri_reproduction *row, bool paper);

#endif
