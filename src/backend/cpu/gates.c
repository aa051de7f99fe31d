/* gates.c - patterns of gates, kept while the bits stay as they are. See gates.h. */
#include "backend/cpu/gates.h"

#include "base/alloc.h"
#include "base/pieces.h"

#include <string.h>

/* Dense products run at nearly full speed, ours at two thirds to three quarters of it: beyond this
 * part of the multiplications a dense one is faster (docs/measurements/grelu.md). */
#define MOST_WORK 0.75

typedef struct inspected {
    tsri_pattern pattern[2];
    uint64_t stamp[2]; /* of the bits when they were inspected; 0 = never */
    uint64_t *fresh;   /* bits just made, to be compared with the old ones */
} inspected;

static void forget(void *memory)
{
    inspected *in = memory;
    if (!in)
        return;
    tsri_pattern_fini(&in->pattern[0]);
    tsri_pattern_fini(&in->pattern[1]);
    tsri_free(in->fresh);
    tsri_free(in);
}

static tsri_bits bits_of(const tsri_gates *gates)
{
    return (tsri_bits){gates->n, gates->units, gates->words, gates->word};
}

static tsr_status take_memory(inspected *in, const tsri_gates *gates)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc(&in->fresh, gates->n * gates->words, sizeof *in->fresh));
    for (int by_units = 0; by_units < 2; by_units++)
        TSR_TRY(tsri_pattern_init(&in->pattern[by_units], tsri_loops_best(), gates->n, gates->units,
                                  by_units));
done:
    return st;
}

static void shape(inspected *in, const tsri_gates *gates)
{
    for (int by_units = 0; by_units < 2; by_units++)
        tsri_pattern_shape(&in->pattern[by_units], tsri_loops_best(), gates->n, gates->units,
                           by_units);
}

tsr_status tsri_cpu_gates_setup(int64_t *scratch_bytes, tsri_gates *gates, int threads)
{
    tsr_status st = TSR_OK;
    inspected *in = gates->inspected;
    if (!in) {
        TSR_TRY(tsri_alloc(&in, 1, sizeof *in));
        gates->inspected = in;
        gates->forget = forget;
        shape(in, gates);
        if (!gates->dry)
            TSR_TRY(take_memory(in, gates));
        gates->bytes += gates->n * gates->words * (int64_t)sizeof *in->fresh;
        for (int k = 0; k < 2; k++)
            gates->bytes += tsri_pattern_bytes(&in->pattern[k]);
    }
    for (int k = 0; k < 2; k++)
        *scratch_bytes = tsri_max(*scratch_bytes, tsri_skip_scratch(&in->pattern[k], threads));
done:
    return st;
}

const tsri_pattern *tsri_cpu_gates_pattern(tsri_gates *gates, bool by_units, tsri_pool *pool)
{
    inspected *in = gates ? gates->inspected : NULL;
    if (!in)
        return NULL;
    tsri_pattern *p = &in->pattern[by_units];
    if (in->stamp[by_units] != gates->stamp) {
        tsri_bits bits = bits_of(gates);
        tsri_pattern_inspect(p, &bits, pool);
        in->stamp[by_units] = gates->stamp;
    }
    return tsri_pattern_work(p) <= MOST_WORK ? p : NULL;
}

void tsri_cpu_gates_take(tsri_gates *gates, const float *x, tsri_pool *pool)
{
    inspected *in = gates->inspected;
    uint64_t *to = in ? in->fresh : gates->word;
    size_t bytes = (size_t)(gates->n * gates->words) * sizeof *to;
    (gates->entered ? tsri_bits_nonzero : tsri_bits_of)(to, x, gates->n, gates->units, pool);
    if (in && gates->stamp > 0 && memcmp(to, gates->word, bytes) == 0)
        return;
    if (in)
        memcpy(gates->word, to, bytes);
    gates->stamp++;
}
