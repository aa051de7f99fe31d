/* followed_sweep.c - a sweep as its folder shows it: how many runs are done, and the best cell. */
#include "base/alloc.h"
#include "base/clock.h"
#include "sweep/sweep.h"
#include "watch/followed.h"

#include <math.h>

static tsr_status take_runs(tsri_followed *w, const tsri_sweep *s)
{
    tsr_status st = TSR_OK;
    tsri_followed_forget(w);
    for (int64_t i = 0; i < s->runs; i++) {
        const tsri_outcome *o = &s->outcome[i];
        if (!o->done)
            continue;
        tsri_point p = {.round = (double)i + 1,
                        .epoch = (double)NAN,
                        .seconds = (double)NAN,
                        .rate = (double)NAN,
                        .rmse = (double)NAN,
                        .loss = o->diverged || o->refused ? (double)NAN : o->train_loss,
                        .test_loss = o->diverged || o->refused ? (double)NAN : o->loss,
                        .accuracy = o->diverged || o->refused ? (double)NAN : o->accuracy,
                        .bytes = (double)o->bytes};
        TSR_TRY(tsri_followed_add(w, &p));
    }
done:
    return st;
}

static tsr_status take_best(tsri_followed *w, const tsri_sweep *s)
{
    tsr_status st = TSR_OK;
    tsri_cell_sum *sums = NULL;
    tsri_text text = {0};
    TSRI_FREE(w->sweep.best_cell);
    w->sweep.best = (double)NAN;
    TSR_TRY(tsri_sweep_ranking(&sums, s));
    if (s->cells == 0 || sums[0].count == 0)
        goto done;
    w->sweep.best = tsri_sweep_measure(s, &sums[0])->mean;
    TSR_TRY(tsri_sweep_cell_text(&text, s, sums[0].cell, ""));
    TSR_TRY(tsri_strdup(&w->sweep.best_cell, text.length > 0 ? text.data : ""));
done:
    tsri_text_fini(&text);
    tsri_free(sums);
    return st;
}

static tsr_status read_sweep(tsri_followed *w)
{
    tsr_status st = TSR_OK;
    tsri_sweep s = {0};
    TSR_TRY(tsri_sweep_read(&s, w->folder));
    w->sweep.runs = s.runs;
    w->sweep.done = s.done;
    w->sweep.diverged = s.diverged;
    w->sweep.refused = s.refused;
    w->sweep.by_accuracy = tsri_sweep_by_accuracy(&s);
    TSR_TRY(take_runs(w, &s));
    TSR_TRY(take_best(w, &s));
done:
    tsri_sweep_fini(&s);
    return st;
}

tsr_status tsri_followed_sweep(tsri_followed *w, const tsri_now *now)
{
    static const double rest = 100; /* times as long as it takes */
    tsri_stamp file = tsri_stamp_of(w->folder, "sweep.jsonl");
    bool same = file.there == w->sweep_file.there && file.size == w->sweep_file.size &&
                file.modified - w->sweep_file.modified == 0;
    if (w->looked && (same || now->steady - w->sweep.read_at < rest * w->sweep.took))
        return TSR_OK;
    w->sweep_file = file;
    double begin = tsri_clock();
    tsr_status st = read_sweep(w);
    w->sweep.took = tsri_clock() - begin;
    w->sweep.read_at = now->steady;
    return st;
}
