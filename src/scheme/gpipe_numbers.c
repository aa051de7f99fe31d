/* gpipe_numbers.c - the numbers of a stage as they travel between ranks.
 *
 *     trained weights | their momentum | with Adam their variance | fixed, statistics, counts
 */
#include "scheme/gpipe_parts.h"

#include "net/depth.h"

enum { FORMING = 32 }; /* bits for what */

int64_t tsri_mark(int64_t forming, int64_t what)
{
    return (forming << FORMING) | what;
}

int64_t tsri_mark_forming(int64_t mark)
{
    return mark >> FORMING;
}

int64_t tsri_mark_what(int64_t mark)
{
    return mark & (((int64_t)1 << FORMING) - 1);
}

/* Moves on to the next parameter of the part's layers that is not trained; false after the last.
 * Begins at layer 0, which 0. */
typedef struct place {
    int64_t layer;
    int which;
} place;

static bool next_other(place *at, const tsri_net *part, int64_t *p)
{
    for (; at->layer < part->layers; at->layer++, at->which = 0) {
        const tsri_layer *l = &part->layer[at->layer];
        const int of[] = {l->weight, l->bias, l->mean, l->var, l->tracked};
        while (at->which < (int)(sizeof of / sizeof *of)) {
            *p = of[at->which++];
            if (*p >= 0 && part->param[*p].role != TSRI_TRAINED)
                return true;
        }
    }
    return false;
}

int64_t tsri_part_bytes(int64_t vectors, const tsri_net *part)
{
    int64_t low, high, p, others = 0;
    tsri_depth_trained(part, &low, &high);
    for (place at = {0}; next_other(&at, part, &p);)
        others += part->param[p].count;
    return (vectors * (high - low) + others) * (int64_t)sizeof(float);
}

/* One walk for both ways. */
static tsr_status move(uint8_t *bytes, const tsri_store *whole, const tsri_net *part, bool out)
{
    tsr_status st = TSR_OK;
    const tsri_heap *heap = whole->heap;
    int64_t low, high, p, real = whole->real_bytes;
    tsri_depth_trained(part, &low, &high);
    for (tsri_vector i = TSRI_WEIGHTS; i < TSRI_VECTORS; i++) {
        tsri_mem *of = tsri_mem_at(tsri_store_vector(whole, i), low * real);
        if (!of)
            continue;
        TSR_TRY(out ? heap->out(bytes, of, (high - low) * real)
                    : heap->in(of, bytes, (high - low) * real));
        bytes += (high - low) * real;
    }
    for (place at = {0}; next_other(&at, part, &p);) {
        tsri_mem *numbers = tsri_store_at(whole, whole->w, p);
        int64_t size = part->param[p].count * real;
        TSR_TRY(out ? heap->out(bytes, numbers, size) : heap->in(numbers, bytes, size));
        bytes += size;
    }
done:
    return st;
}

tsr_status tsri_part_pack(void *bytes, const tsri_store *whole, const tsri_net *part)
{
    return move(bytes, whole, part, true);
}

tsr_status tsri_part_unpack(tsri_store *whole, const tsri_net *part, const void *bytes)
{
    return move((uint8_t *)bytes, whole, part, false);
}
