/* test_gpipe_crew.c - gpipe with its stages on other ranks: the bits of one process with any number
 * of them, and also when ranks die, hang or send damaged frames, at exact moments.
 *
 * Ranks are threads (comm/local.c). A fault is a send that does not do what it should. */
#include "testing.h"

#include "scratch.h"
#include "scheme/run.h"

#include <pthread.h>
#include <time.h>

enum { MOST = 6 };

static const char mlp[] = "data: {name: glyphs, n: 60, test_n: 4}\n"
                          "model: {name: mlp, hidden: [9, 7, 5, 6], norm: batch}\n"
                          "batch: 12\nrounds: 12\noptim: {lr: 0.05, momentum: 0.9}\n"
                          "eval: {every: 0.8}\ncheckpoint: {every: 0}\nthreads: 1\n"
                          "scheme: {name: gpipe, workers: 3, micro_batches: 3}\n";

static const char conv[] = "data: {name: glyphs, n: 24, test_n: 4, channels: 3}\n"
                           "model: {name: preresnet18, width: 3}\nbatch: 8\nrounds: 4\n"
                           "eval: {every: 0.7}\ncheckpoint: {every: 0}\nthreads: 1\n"
                           "scheme: {name: gpipe, workers: 4, micro_batches: 2}\n";

static const char rnn[] = "data: {name: sequences, n: 40, length: 6}\n"
                          "model: {name: rnn, width: 16}\nbatch: 10\nrounds: 4\n"
                          "optim: {lr: 0.001}\nthreads: 1\n"
                          "scheme: {name: gpipe, workers: 2, micro_batches: 2}\n";

/* ---- Faults ------------------------------------------------------------------------------- */

typedef enum mood { WELL, DIES, HANGS, DAMAGES } mood;

typedef struct fault {
    mood mood;
    int64_t at; /* the send at which it happens */
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
    return sound->send(comm, to, frame);
}

/* ---- Ranks -------------------------------------------------------------------------------- */

typedef struct rank {
    const char *text;
    const char *setting;
    tsri_comm *comm;
    double deadline;
    tsr_status st;
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
    tsri_run run = {.lock = -1};
    tsr_config *config = NULL;
    tsri_crew *crew = NULL;
    tsr_run_options options = tsr_run_options_default();
    TSR_TRY(tsri_crew_create(&crew, r->comm, 0));
    TSR_TRY(make_config(&config, r->text, r->setting));
    TSR_TRY(tsri_run_init(&run, config, &options));
    run.crew = crew;
    TSR_TRY(run.scheme->setup(&run));
    TSR_TRY(run.scheme->assemble(&run));
    TSR_TRY(run.scheme->serve(&run));
done:
    r->st = st;
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
    int64_t count, bytes, lost, stale;
    double loss;
} outcome;

static tsr_status all_rounds(outcome *o, tsri_run *run)
{
    tsr_status st = TSR_OK;
    while (run->round < run->rounds) {
        TSR_TRY(run->scheme->round(run));
        run->round++;
        if (run->crew && tsri_looked_at(run, run->round))
            TSR_TRY(run->scheme->collect(run));
    }
    *o = (outcome){.count = run->net->total + run->net->trained,
                   .bytes = run->bytes_total,
                   .loss = run->recent.sum};
    if (run->crew) {
        o->stale = run->crew->stale;
        o->lost = run->crew->lost[TSRI_DIED] + run->crew->lost[TSRI_LATE];
    }
    TSR_TRY(tsri_alloc(&o->w, o->count, sizeof *o->w));
    memcpy(o->w, run->store.w, (size_t)run->net->total * sizeof(float));
    memcpy(o->w + run->net->total, run->store.v, (size_t)run->net->trained * sizeof(float));
done:
    return st;
}

static tsr_status coordinate(outcome *o, const rank *r)
{
    tsr_status st = TSR_OK;
    tsri_run run = {.lock = -1};
    tsr_config *config = NULL;
    tsri_crew *crew = NULL;
    tsr_run_options options = tsr_run_options_default();
    if (r->comm)
        TSR_TRY(tsri_crew_create(&crew, r->comm, r->deadline));
    TSR_TRY(make_config(&config, r->text, r->setting));
    TSR_TRY(tsri_run_init(&run, config, &options));
    run.crew = crew;
    TSR_TRY(run.scheme->setup(&run));
    TSR_TRY(tsri_metrics_open(&run.metrics, scratch_path("metrics.jsonl"), 0));
    if (crew)
        TSR_TRY(run.scheme->assemble(&run));
    TSR_TRY(all_rounds(o, &run));
done:
    tsri_metrics_close(run.metrics);
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

/* With so many ranks, the coordinator among them; 1 = in one process. faults[] are set already. */
static outcome run_with(const char *text, int ranks, double deadline)
{
    outcome o = {0};
    tsri_comm *comm[MOST] = {0};
    rank r[MOST] = {{.text = text, .deadline = deadline}};
    if (ranks > 1)
        assert_ok(tsri_comm_local(comm, ranks));
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
    assert_ok(coordinate(&o, &r[0]));
    for (int i = 1; i < ranks; i++) {
        assert_int_equal(pthread_join(r[i].thread, NULL), 0);
        if (faults[i].mood != DIES)
            assert_ok(r[i].st);
    }
    memset(faults, 0, sizeof faults);
    return o;
}

static void same(const outcome *a, outcome *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->w, b->w, (size_t)a->count * sizeof(float));
    assert_true(a->loss == b->loss);
    tsri_free(b->w);
}

/* ---- Tests -------------------------------------------------------------------------------- */

/* Fewer ranks than stages share them, further ones wait; bytes are those of one process when every
 * stage has its rank, and none when all have the same. */
static void any_number_of_ranks(void **state)
{
    (void)state;
    const char *const text[] = {mlp, conv, rnn};
    const int stages[] = {3, 4, 2};
    for (int t = 0; t < 3; t++) {
        outcome plain = run_with(text[t], 1, 0);
        for (int ranks = 2; ranks <= stages[t] + 2; ranks++) {
            outcome o = run_with(text[t], ranks, 60);
            if (ranks > stages[t])
                assert_int_equal(o.bytes, plain.bytes);
            if (ranks == 2)
                assert_int_equal(o.bytes, 0);
            assert_int_equal(o.lost, 0);
            assert_int_equal(o.stale, 0);
            same(&plain, &o);
        }
        tsri_free(plain.w);
    }
}

/* At every moment: sends 0 .. 39 of the middle stage, then of the first and the last. */
static void deaths_change_no_bit(void **state)
{
    (void)state;
    outcome plain = run_with(mlp, 1, 0);
    for (int who = 1; who <= 3; who++)
        for (int64_t at = 1; at < 40; at += who == 2 ? 1 : 7) {
            faults[who] = (fault){DIES, at, 0};
            outcome o = run_with(mlp, 4, 60);
            assert_int_equal(o.lost, 1);
            same(&plain, &o);
        }
    tsri_free(plain.w);
}

static void the_last_one_is_not_needed(void **state)
{
    (void)state;
    outcome plain = run_with(mlp, 1, 0);
    for (int who = 1; who <= 3; who++)
        faults[who] = (fault){DIES, 4 + 2 * who, 0};
    outcome o = run_with(mlp, 4, 60);
    assert_int_equal(o.lost, 3);
    same(&plain, &o);
    tsri_free(plain.w);
}

static void who_hangs_is_passed_over(void **state)
{
    (void)state;
    outcome plain = run_with(mlp, 1, 0);
    faults[2] = (fault){HANGS, 12, 0};
    outcome o = run_with(mlp, 4, 0.3);
    same(&plain, &o);
    tsri_free(plain.w);
}

/* A damaged frame is dropped, the line stands still, and begins again from its last numbers. */
static void damage_changes_no_bit(void **state)
{
    (void)state;
    outcome plain = run_with(mlp, 1, 0);
    for (int64_t at = 8; at < 14; at++) {
        faults[2] = (fault){DAMAGES, at, 0};
        outcome o = run_with(mlp, 4, 0.2);
        same(&plain, &o);
    }
    tsri_free(plain.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_ranks),        cmocka_unit_test(deaths_change_no_bit),
        cmocka_unit_test(the_last_one_is_not_needed), cmocka_unit_test(who_hangs_is_passed_over),
        cmocka_unit_test(damage_changes_no_bit),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
