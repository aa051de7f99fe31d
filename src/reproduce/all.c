/* all.c - every reproduction in one folder, and the page of all of them. */
#include "base/alloc.h"
#include "io/file.h"
#include "reproduce/gallery.h"

static tsr_status make(const tsri_reproduction *row, const tsri_study_options *options,
                       tsri_study_told told)
{
    tsr_status st = TSR_OK;
    char *name = NULL, *folder = NULL;
    bool done_already = false;
    tsri_study study = {0};
    tsri_study_options o = *options;
    TSR_TRY(tsri_study_folder_name(&name, row, options->paper));
    TSR_TRY(tsri_path_join(&folder, options->folder, name));
    o.folder = folder;
    TSR_TRY(tsri_study_done(&done_already, row, &o));
    if (!done_already)
        TSR_TRY(tsri_reproduce(&study, row, &o));
done:
    if (told)
        told(options->context, row, st == TSR_OK && !done_already ? &study : NULL, st);
    tsri_study_fini(&study);
    tsri_free(folder);
    tsri_free(name);
    return st;
}

tsr_status tsri_reproduce_all(const tsri_study_options *options, tsri_study_told told)
{
    tsr_status st = TSR_OK, first = TSR_OK;
    int64_t shown;
    TSR_TRY(tsri_make_folder(options->folder));
    for (int i = 0; tsri_reproductions[i]; i++)
        for (const tsri_reproduction *r = tsri_reproductions[i]; r->name; r++) {
            tsr_status one = make(r, options, told);
            if (one == TSR_INTERRUPTED || one == TSR_RESOURCES)
                TSR_TRY(one);
            first = first == TSR_OK ? one : first;
            if (one == TSR_OK)
                TSR_TRY(tsri_gallery_write(&shown, options->folder));
        }
    st = first;
done:
    return st;
}
