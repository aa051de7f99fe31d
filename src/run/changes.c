/* changes.c - how the images of batches were changed at random, kept for a trace. */
#include "run/changes.h"

#include "base/alloc.h"

static tsr_status room(int64_t **out, bool wanted, int64_t n)
{
    return wanted ? tsri_alloc(out, n, sizeof **out) : TSR_OK;
}

tsr_status tsri_changes_init(tsri_changes *c, const tsri_augment *how, int64_t batches,
                             int64_t batch)
{
    tsr_status st = TSR_OK;
    int64_t samples = batches * batch;
    *c = (tsri_changes){.how = *how, .batch = batch};
    TSR_TRY(room(&c->all.crop, how->crop > 0, 2 * samples));
    TSR_TRY(room(&c->all.flip, how->flip, samples));
    TSR_TRY(room(&c->all.op, how->ops > 0, 2 * samples * how->ops));
    TSR_TRY(room(&c->all.cutout, how->cutout > 0, 2 * samples));
done:
    return st;
}

void tsri_changes_fini(tsri_changes *c)
{
    tsri_free(c->all.crop);
    tsri_free(c->all.flip);
    tsri_free(c->all.op);
    tsri_free(c->all.cutout);
    *c = (tsri_changes){0};
}

/* From sample number `at` on. */
static tsri_changed from(const tsri_changes *c, int64_t at)
{
    const tsri_changed *a = &c->all;
    return (tsri_changed){.crop = a->crop ? a->crop + 2 * at : NULL,
                          .flip = a->flip ? a->flip + at : NULL,
                          .op = a->op ? a->op + 2 * at * c->how.ops : NULL,
                          .cutout = a->cutout ? a->cutout + 2 * at : NULL};
}

void tsri_changes_note(tsri_changes *c, int64_t k, const tsri_loader *loader, const tsri_batch *b,
                       int64_t step)
{
    const tsri_changed of = from(c, k * c->batch);
    if (tsri_augments(&c->how))
        tsri_loader_changed(&of, loader, b, step);
}

tsr_status tsri_changes_add(const tsri_changes *c, tsri_parcel *parcel, int64_t first,
                            int64_t count, const char *before, const char *behind)
{
    tsr_status st = TSR_OK;
    const tsri_changed of = from(c, first * c->batch);
    const struct {
        const char *name;
        const int64_t *data;
        int dims;
        int64_t inner[2];
    } all[] = {{"flip", of.flip, 2, {0}},
               {"crop", of.crop, 3, {2}},
               {"op", of.op, 4, {c->how.ops, 2}},
               {"cutout", of.cutout, 3, {2}}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const tsri_tensor t = {.dtype = TSRI_I64,
                               .dims = all[i].dims,
                               .shape = {count, c->batch, all[i].inner[0], all[i].inner[1]},
                               .data = all[i].data};
        if (t.data)
            TSR_TRY(tsri_parcel_add(parcel, &t, "%s%s%s", before, all[i].name, behind));
    }
done:
    return st;
}
