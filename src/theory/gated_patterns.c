/* gated_patterns.c - units of a ReLU net that switch and die (sections 4.3 and 6.3 of the GReLU
 * paper), block by block. Fixed gates do neither: of a gated net it is asked whether what fixes
 * them is still what it was, and which units were born dead. */
#include "theory/gated.h"

#include "base/alloc.h"
#include "net/grelu.h"

#include <math.h>
#include <string.h>

typedef struct count {
    uint64_t *first, *now; /* [L][words]: on for some sample */
    int64_t start, before; /* bits of D_1 .. D_L that differ */
} count;

static int64_t differ(const tsri_gated *a, const tsri_gated *b)
{
    int64_t changed = 0, at = a->n * a->words; /* D_0 never changes */
    for (int64_t w = at; w < at * (a->L + 1); w++)
        changed += __builtin_popcountll(a->on[w] ^ b->on[w]);
    return changed;
}

static void ever_on(uint64_t *any, const tsri_gated *v)
{
    for (int64_t k = 1; k <= v->L; k++)
        for (int64_t i = 0; i < v->n; i++)
            for (int64_t w = 0; w < v->words; w++)
                any[(k - 1) * v->words + w] |= v->on[(k * v->n + i) * v->words + w];
}

/* One block at first, now, and one round ago. */
static tsr_status one_block(count *c, const tsri_run_view *view, const tsri_opened *then,
                            const tsri_opened *ago, const tsri_gated_part *part)
{
    tsr_status st = TSR_OK;
    tsri_gated a = {0}, b = {0};
    TSR_TRY(tsri_gated_init(&a, view, &view->seen, part));
    TSR_TRY(tsri_gated_init(&b, view, then, part));
    ever_on(c->now, &a);
    ever_on(c->first, &b);
    c->start += differ(&a, &b);
    tsri_gated_fini(&b);
    if (ago->w) {
        TSR_TRY(tsri_gated_init(&b, view, ago, part));
        c->before += differ(&a, &b);
    }
done:
    tsri_gated_fini(&a);
    tsri_gated_fini(&b);
    return st;
}

static void read_off(tsri_gated_switched *s, const count *c, int64_t L, int64_t m, int64_t words)
{
    for (int64_t k = 0; k < L; k++)
        for (int64_t j = 0; j < m; j++) {
            int64_t at = k * words + j / 64;
            bool first = c->first[at] >> j % 64 & 1, now = c->now[at] >> j % 64 & 1;
            s->born += !first;
            s->died += first && !now;
        }
}

/* Of a gated net: the part of its fixed numbers that changed, and units that no gate opens. */
static tsr_status fixed(tsri_gated_switched *s, const tsri_run_view *view, const tsri_opened *then,
                        const tsri_gate_table *gates, int64_t n, int64_t m)
{
    tsr_status st = TSR_OK;
    const float *a = view->seen.w, *b = then->w;
    int64_t changed = 0, words = gates->words[0];
    uint64_t *any = NULL;
    TSR_TRY(tsri_alloc(&any, gates->layers * words, sizeof *any));
    for (int64_t i = view->net->trained; i < view->net->total; i++)
        changed += a[i] != b[i] || isnan(a[i]) != isnan(b[i]);
    s->since_start = (double)changed / (double)(view->net->total - view->net->trained);
    for (int64_t k = 0; k < gates->layers; k++)
        for (int64_t i = 0; i < n * words; i++)
            any[k * words + i % words] |= gates->word[k][i];
    for (int64_t k = 0; k < gates->layers; k++)
        for (int64_t j = 0; j < m; j++)
            s->born += !(any[k * words + j / 64] >> j % 64 & 1);
done:
    tsri_free(any);
    return st;
}

tsr_status tsri_gated_switches(tsri_gated_switched *s, const tsri_run_view *view,
                               const tsri_opened *then, const float *before,
                               const tsri_gate_table *gates, int64_t n, int64_t block)
{
    tsr_status st = TSR_OK;
    tsri_opened ago = {.net = view->net, .real_bytes = sizeof(float)};
    float *w_ago = NULL;
    count c = {0};
    const tsri_param *w = &view->net->param[tsri_net_param(view->net, "c.weight")];
    int64_t m = w->shape[0], words = (m + 63) / 64, L = tsri_grelu_layers(view->net);
    *s = (tsri_gated_switched){.since_before = NAN};
    if (gates)
        return fixed(s, view, then, gates, n, m);
    TSR_TRY(tsri_alloc(&c.first, L * words, sizeof *c.first));
    TSR_TRY(tsri_alloc(&c.now, L * words, sizeof *c.now));
    if (before) {
        TSR_TRY(tsri_alloc_raw(&w_ago, view->net->total, sizeof *w_ago));
        memcpy(w_ago, view->seen.w, (size_t)view->net->total * sizeof *w_ago);
        memcpy(w_ago, before, (size_t)view->net->trained * sizeof *w_ago);
        ago.w = w_ago;
    }
    for (int64_t from = 0; from < n; from += block) {
        tsri_gated_part part = {.from = from, .n = n - from < block ? n - from : block};
        TSR_TRY(one_block(&c, view, then, &ago, &part));
    }
    double bits = (double)L * (double)n * (double)m;
    s->since_start = (double)c.start / bits;
    s->since_before = before ? (double)c.before / bits : (double)NAN;
    read_off(s, &c, L, m, words);
done:
    tsri_free(w_ago);
    tsri_free(c.first);
    tsri_free(c.now);
    return st;
}
