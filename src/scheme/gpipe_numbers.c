/* gpipe_numbers.c - the numbers of a stage as they travel between ranks.
 *
 *     trained weights | their momentum | of Adam their variance | fixed, statistics, counts of its
 * layers
 */
#include "scheme/gpipe_parts.h"

#include "net/depth.h"

#include <string.h>

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

/* Moves on to the next parameter of the part's layers that is not trained; false behind the last.
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
static void move(uint8_t *bytes, const tsri_store *whole, const tsri_net *part, bool out)
{
    int64_t low, high, p;
    tsri_depth_trained(part, &low, &high);
    size_t trained = (size_t)(high - low) * sizeof(float);
    for (tsri_vector i = TSRI_WEIGHTS; i < TSRI_VECTORS; i++) {
        float *of = tsri_store_vector(whole, i);
        if (!of)
            continue;
        memcpy(out ? (void *)bytes : (void *)(of + low), out ? (void *)(of + low) : (void *)bytes,
               trained);
        bytes += trained;
    }
    for (place at = {0}; next_other(&at, part, &p);) {
        size_t size = (size_t)part->param[p].count * sizeof(float);
        void *numbers = tsri_store_at(whole, whole->w, p);
        memcpy(out ? (void *)bytes : numbers, out ? numbers : (void *)bytes, size);
        bytes += size;
    }
}

void tsri_part_pack(void *bytes, const tsri_store *whole, const tsri_net *part)
{
    move(bytes, whole, part, true);
}

void tsri_part_unpack(tsri_store *whole, const tsri_net *part, const void *bytes)
{
    move((uint8_t *)bytes, whole, part, false);
}
