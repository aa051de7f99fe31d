/* run_ranks.h - whole runs whose ranks are threads (comm/local.c), with faults at exact moments.
 *
 *     faults[2] = (fault){DIES, 7, 0};              rank 2 dies at its eighth send
 *     outcome o = run_with(text, 4, 60);            a coordinator and three ranks
 *     ... tsri_free(o.w);
 *
 * A fault is a send that does not do what it should. */
#ifndef TSRI_RUN_RANKS_H
#define TSRI_RUN_RANKS_H

#include "testing.h"

#include "run/run.h"
#include "run/when.h"
#include "scheme/scheme.h"
#include "scratch.h"
#include "train/describe.h"

#include <math.h>
#include <pthread.h>
#include <time.h>

enum { MOST = 6 };

/* Under the thread sanitizer, which takes ten times as long, fewer of many like moments are tried.
 */
#ifdef __SANITIZE_THREAD__
enum { SPARSE = 8 };
#else
enum { SPARSE = 1 };
#endif

/* ---- Faults ------------------------------------------------------------------------------- */

typedef enum mood { WELL, DIES, HANGS, DAMAGES, NONSENSE } mood;

typedef struct fault {
    mood mood;
    int64_t at; /* the send at which it happens; of NONSENSE the round */
    int64_t sends;
} fault;

static fault faults[MOST];
static const tsri_comm_kind *sound;
static tsri_comm_kind faulty;

static void nap(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    (void)nanosleep(&t, NULL);
}

static tsr_status faulty_send(tsri_comm *comm, int to, tsri_frame *frame)
{
    fault *f = &faults[comm->rank];
    bool now = f->sends++ == f->at;
    if (now && f->mood == DIES) {
        tsri_frame_fini(frame);
        return TSR_INTERRUPTED; /* says nothing, closes: dead */
    }
    if (now && f->mood == HANGS)
        nap(1.2);
    if (now && f->mood == DAMAGES && frame->head->bytes > 0)
        frame->bytes[frame->head->bytes / 2] ^= 4;
    if (f->mood == NONSENSE && frame->head->kind == TSRI_RESULT && f->at == frame->head->round) {
        const float nan = NAN; /* a sound frame of numbers that are not */
        memcpy(frame->bytes + frame->head->bytes - sizeof nan, &nan, sizeof nan);
        tsri_frame_seal(frame, TSRI_RESULT, frame->head->round, frame->head->share,
                        frame->head->bytes);
    }
    return sound->send(comm, to, frame);
}

/* ---- Ranks -------------------------------------------------------------------------------- */

typedef struct rank {
    const char *text;
    const char *setting;
    tsri_comm *comm;
    double deadline;
    tsr_status st;
    char error[256];
    pthread_t thread;
} rank;

static tsr_status make_config(tsr_config **config, const char *text, const char *setting)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_config_parse(config, text, (int64_t)strlen(text), "test"));
    if (setting)
        TSR_TRY(tsr_config_set(*config, setting));
done:
    return st;
}

static void *work(void *context)
{
    tsr_status st = TSR_OK;
    rank *r = context;
    tsri_run run = {.process.lock = -1};
    tsr_config *config = NULL;
    tsri_crew *crew = NULL;
    tsr_run_options options = tsr_run_options_default();
    TSR_TRY(tsri_crew_create(&crew, r->comm, 0));
    TSR_TRY(make_config(&config, r->text, r->setting));
    TSR_TRY(tsri_run_init(&run, config, &options));
    run.process.crew = crew;
    TSR_TRY(run.settings.scheme->setup(&run));
    TSR_TRY(run.settings.scheme->assemble(&run));
    TSR_TRY(run.settings.scheme->serve(&run));
done:
    r->st = st;
    (void)snprintf(r->error, sizeof r->error, "%s", tsr_last_error());
    tsri_run_fini(&run);
    tsr_config_destroy(config);
    if (st != TSR_OK && crew)
        tsri_crew_give_up(crew, st);
    tsri_crew_destroy(crew);
    tsri_comm_close(r->comm);
    return NULL;
}

/* What is left of a run: weights, the momentum behind them, losses, bytes. */
typedef struct outcome {
    float *w;
    int64_t count, bytes, lost, unsound, stale;
    double loss;
} outcome;

static tsr_status (*at_the_end)(tsri_run *run); /* looks at the coordinator's run, or NULL */

static tsr_status all_rounds(outcome *o, tsri_run *run)
{
    tsr_status st = TSR_OK;
    while (run->position.round < run->settings.rounds) {
        TSR_TRY(run->settings.scheme->round(run));
        run->position.round++;
        if (run->process.crew && run->settings.scheme->collect &&
            tsri_looked_at(run, run->position.round))
            TSR_TRY(run->settings.scheme->collect(run));
    }
    *o = (outcome){.count = run->net->total + run->net->trained,
                   .bytes = run->position.bytes_total,
                   .loss = run->position.recent.sum};
    if (run->process.crew) {
        o->stale = run->process.crew->stale;
        o->lost = run->process.crew->lost[TSRI_DIED] + run->process.crew->lost[TSRI_LATE];
        o->unsound = run->process.crew->lost[TSRI_UNSOUND];
    }
    TSR_TRY(tsri_alloc(&o->w, o->count, sizeof *o->w));
    assert_ok(tsri_store_read(o->w, &run->store, TSRI_WEIGHTS));
    assert_ok(tsri_store_read(o->w + run->net->total, &run->store, TSRI_MOMENTUM));
done:
    return st;
}

static tsr_status coordinate(outcome *o, const rank *r)
{
    tsr_status st = TSR_OK;
    tsri_run run = {.process.lock = -1};
    tsr_config *config = NULL;
    tsri_crew *crew = NULL;
    tsr_run_options options = tsr_run_options_default();
    if (r->comm)
        TSR_TRY(tsri_crew_create(&crew, r->comm, r->deadline));
    TSR_TRY(make_config(&config, r->text, r->setting));
    TSR_TRY(tsri_run_init(&run, config, &options));
    run.process.crew = crew;
    TSR_TRY(run.settings.scheme->setup(&run));
    TSR_TRY(tsri_metrics_open(&run.process.metrics, scratch_path("metrics.jsonl"), 0));
    if (crew)
        TSR_TRY(run.settings.scheme->assemble(&run));
    TSR_TRY(all_rounds(o, &run));
    if (at_the_end)
        TSR_TRY(at_the_end(&run));
done:
    tsri_metrics_close(run.process.metrics);
    tsri_run_fini(&run);
    tsr_config_destroy(config);
    if (crew)
        tsri_crew_end(crew);
    tsri_crew_destroy(crew);
    if (r->comm)
        tsri_comm_close(r->comm);
    return st;
}

/* ---- One run ------------------------------------------------------------------------------ */

/* With so many ranks, the coordinator among them; 1 = in one process. faults[] are set already. The
 * coordinator's status; ranks[1 ..] have theirs. */
static tsr_status try_with(outcome *o, rank r[MOST], const char *text, int ranks, double deadline)
{
    tsri_comm *comm[MOST] = {0};
    *o = (outcome){0};
    r[0] = (rank){.text = text, .deadline = deadline};
    tsr_status st = ranks > 1 ? tsri_comm_local(comm, ranks) : TSR_OK;
    if (st != TSR_OK)
        return st;
    r[0].comm = comm[0];
    for (int i = 1; i < ranks; i++) {
        sound = comm[i]->kind;
        faulty = *sound;
        faulty.send = faulty_send;
        comm[i]->kind = &faulty;
    }
    for (int i = 1; i < ranks; i++) {
        r[i] = (rank){.text = text, .comm = comm[i]};
        assert_int_equal(pthread_create(&r[i].thread, NULL, work, &r[i]), 0);
    }
    st = coordinate(o, &r[0]);
    for (int i = 1; i < ranks; i++)
        assert_int_equal(pthread_join(r[i].thread, NULL), 0);
    return st;
}

static inline outcome run_with(const char *text, int ranks, double deadline)
{
    outcome o;
    rank r[MOST];
    assert_ok(try_with(&o, r, text, ranks, deadline));
    for (int i = 1; i < ranks; i++)
        if (faults[i].mood != DIES && r[i].st != TSR_OK)
            fail_msg("rank %d: status %d: %s", i, (int)r[i].st, r[i].error);
    memset(faults, 0, sizeof faults);
    return o;
}

#endif
