/* packing.c - how fast a share's slices are packed (subnet/wire.h), beside memcpy of as many bytes,
 * in turn, in one process.
 *
 *     bench_packing [REPEATS]
 *
 * LoFT's shares of a PreActResNet-18 of full width, one of four, and IST's of an MLP: their slices
 * are whole filters, and single columns. Prints the least time of each and the ratio. */
#include "base/alloc.h"
#include "base/clock.h"
#include "net/store.h"
#include "subnet/cut.h"
#include "subnet/draw.h"
#include "subnet/filters.h"
#include "subnet/slices.h"
#include "subnet/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
    const char *name, *text;
    tsri_shape input;
    bool blocks; /* only axes inside of blocks, as LoFT cuts */
} job;

enum { BLOCK = 64 }; /* bytes that memory hands out at once */

/* Bytes of memory that hold something of the picked pieces of one line. */
static int64_t touched(const tsri_slices *s, const tsri_share *share)
{
    int64_t piece = s->grain * (int64_t)sizeof(float), bytes = 0, last = -1;
    if (s->axis < 0 || share->pick[s->axis].whole)
        return s->size * piece;
    for (int64_t i = 0; i < share->pick[s->axis].count; i++) {
        int64_t from = share->pick[s->axis].index[i] * piece / BLOCK;
        int64_t to = (share->pick[s->axis].index[i] * piece + piece - 1) / BLOCK;
        from = from > last ? from : last + 1;
        bytes += (to - from + 1) * BLOCK;
        last = to;
    }
    return bytes;
}

/* What memory must hand out for a share: where single numbers are picked it is more than they are.
 */
static int64_t read_bytes(const tsri_net *net, const tsri_share *share)
{
    int64_t sum = 0;
    for (int64_t p = 0; p < net->params; p++) {
        tsri_slices s = tsri_slices_of(&net->param[p], net, share->cut);
        if (net->param[p].role == TSRI_TRAINED || net->param[p].role == TSRI_BUFFER)
            sum += tsri_slices_lines(&s, share->pick) * touched(&s, share);
    }
    return sum;
}

static double least(double a, double b)
{
    return a == 0 || b < a ? b : a;
}

static tsr_status measure(const job *j, int repeats)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsri_net *net = NULL, *small = NULL;
    tsri_store whole = {0}, part = {0};
    tsri_share share = {0};
    bool *cut = NULL;
    tsri_filters filters = {0};
    uint8_t *to = NULL, *from = NULL, *copy = NULL;
    double pack = 0, unpack = 0, plain = 0;
    tsri_wire wire = {0};
    TSR_TRY(tsri_config_parse(&config, j->text, (int64_t)strlen(j->text), j->name));
    TSR_TRY(tsri_net_create(&net, config, j->input, 10, true));
    TSR_TRY(tsri_store_init(&whole, net, &tsri_backend_cpu, true));
    tsri_store_fill(&whole, 1);
    TSR_TRY(tsri_share_init(&share, net));
    tsri_draw draw = {.kind = TSRI_DRAW_CHUNKS, .workers = 4};
    if (j->blocks) {
        TSR_TRY(tsri_alloc(&cut, net->axes, sizeof *cut));
        for (int64_t a = 0; a < net->axes; a++)
            cut[a] = net->axis[a].cuttable;
        TSR_TRY(tsri_filters_choose(cut, net, &filters));
        draw.cut = cut;
    }
    TSR_TRY(tsri_draw_check(&draw, net));
    tsri_share_draw(&share, &draw, 1, 0, 1);
    TSR_TRY(tsri_net_cut(&small, net, &share, false));
    TSR_TRY(tsri_store_init(&part, small, &tsri_backend_cpu, true));
    int64_t bytes = tsri_wire_bytes(small, &wire);
    TSR_TRY(tsri_alloc_raw(&to, bytes, 1));
    TSR_TRY(tsri_alloc_raw(&from, bytes, 1));
    TSR_TRY(tsri_alloc_raw(&copy, bytes, 1));
    memset(from, 1, (size_t)bytes);
    memset(copy, 2, (size_t)bytes);
    for (int r = 0; r < repeats; r++) {
        double a = tsri_clock();
        TSR_TRY(tsri_wire_take(to, &wire, small, &whole, &share));
        double b = tsri_clock();
        memcpy(copy, from, (size_t)bytes);
        double c = tsri_clock();
        TSR_TRY(tsri_wire_unpack(&part, &wire, to));
        double d = tsri_clock();
        pack = least(pack, b - a);
        plain = least(plain, c - b);
        unpack = least(unpack, d - c);
    }
    int64_t moved = read_bytes(net, &share) + bytes;
    printf("%s: %.1f MB a share, for which memory hands out %.1f MB\n", j->name,
           (double)bytes / 1e6, (double)(moved - bytes) / 1e6);
    printf("    packing moves %.2f GB/s (%.2f of them packed), memcpy %.2f: %.2f of memcpy's rate; "
           "unpacking %.2f\n",
           (double)moved / pack / 1e9, (double)bytes / pack / 1e9, 2 * (double)bytes / plain / 1e9,
           (double)moved / pack / (2 * (double)bytes / plain), 2 * (double)bytes / unpack / 1e9);
done:
    if (st != TSR_OK)
        fprintf(stderr, "%s: %s\n", j->name, tsr_last_error());
    tsri_free(cut);
    tsri_free(to);
    tsri_free(from);
    tsri_free(copy);
    tsri_store_fini(&part);
    tsri_store_fini(&whole);
    tsri_share_fini(&share);
    tsri_net_destroy(small);
    tsri_net_destroy(net);
    tsr_config_destroy(config);
    return st;
}

int main(int argc, char **argv)
{
    int repeats = argc > 1 ? atoi(argv[1]) : 30;
    const job jobs[] = {
        {"loft, preresnet18", "model: {name: preresnet18}\n", {3, 32, 32}, true},
        {"ist, mlp 3 x 2048",
         "model: {name: mlp, hidden: [2048, 2048, 2048]}\n",
         {1, 28, 28},
         false},
    };
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        if (measure(&jobs[i], repeats) != TSR_OK)
            return 1;
    return 0;
}
