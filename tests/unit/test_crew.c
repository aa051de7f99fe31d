/* test_crew.c - a crew of threads whose ranks die, hang and lie at exact moments.
 *
 * The job is arithmetic: a share is its number and the round, the result a known function of both.
 */
#include "testing.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/stop.h"
#include "comm/crew.h"

#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { RANKS = 4, SHARES = 7, NUMBERS = 100 };

static void nap(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    (void)nanosleep(&t, NULL);
}

/* ---- The job ------------------------------------------------------------------------------ */

typedef struct record {
    double got[SHARES][NUMBERS];
    bool done[SHARES];
    int lost[SHARES]; /* 1 + why */
    int by[SHARES];
    int64_t round;
    bool idle[SHARES];
    double nap; /* of the coordinator, when a first result has come */
} record;

static int64_t size(void *context, int64_t l)
{
    const record *r = context;
    return r->idle[l] ? 0 : (int64_t)sizeof(double) * NUMBERS;
}

static tsr_status pack(void *context, int64_t l, void *bytes)
{
    const record *r = context;
    double *x = bytes;
    for (int i = 0; i < NUMBERS; i++)
        x[i] = (double)(1000 * r->round + 10 * l + i);
    return TSR_OK;
}

static tsr_status unpack(void *context, int64_t l, const void *bytes, bool *sound)
{
    record *r = context;
    const double *x = bytes;
    nap(r->nap);
    r->nap = 0;
    *sound = x[0] == x[0];
    if (!*sound)
        return TSR_OK;
    memcpy(r->got[l], x, sizeof r->got[l]);
    assert_false(r->done[l]);
    r->done[l] = true;
    return TSR_OK;
}

static void lost(void *context, int64_t l, int rank, tsri_lost why)
{
    record *r = context;
    r->lost[l] = 1 + (int)why;
    r->by[l] = rank;
}

static tsr_status one_round(tsri_crew *crew, record *r, int64_t round, bool *alone)
{
    bool idle[SHARES];
    memcpy(idle, r->idle, sizeof idle);
    *r = (record){.round = round, .nap = r->nap};
    memcpy(r->idle, idle, sizeof idle);
    tsri_crew_job job = {r, SHARES, size, pack, size, unpack, lost};
    return tsri_crew_round(crew, round, &job, alone);
}

static void right(const record *r, int64_t l)
{
    assert_true(r->done[l]);
    for (int i = 0; i < NUMBERS; i++)
        assert_true(r->got[l][i] == 2 * (double)(1000 * r->round + 10 * l + i) + 1);
}

static int64_t count_done(const record *r)
{
    int64_t n = 0;
    for (int l = 0; l < SHARES; l++) {
        n += r->done[l];
        if (r->done[l])
            right(r, l);
    }
    return n;
}

/* ---- The workers -------------------------------------------------------------------------- */

typedef enum mood { WELL, DIES, HANGS, LIES, STALE, SHORT, OTHER_RUN, FAILS, ABSENT } mood;

typedef struct hand {
    tsri_comm *comm;
    tsri_crew *crew;
    mood mood;
    int64_t when; /* round */
    tsr_status st;
    char error[256];
    float gift[3];
} hand;

static tsr_status make_result(hand *h, const void *in, int64_t n, tsri_frame *out, int64_t *bytes)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_comm_frame(h->comm, out, n));
    double x[NUMBERS];
    memcpy(x, in, sizeof x);
    for (int i = 0; i < NUMBERS; i++)
        x[i] = 2 * x[i] + 1;
    memcpy(out->bytes, x, sizeof x);
    *bytes = n;
done:
    return st;
}

static tsr_status work(void *context, int64_t round, int64_t share, const void *in, int64_t n,
                       tsri_frame *out, int64_t *bytes)
{
    hand *h = context;
    bool now = round == h->when;
    if (now && h->mood == HANGS)
        nap(3);
    if (now && h->mood == DIES)
        return TSR_INTERRUPTED; /* says nothing, closes: dead */
    if (now && h->mood == FAILS)
        return tsri_fail(TSR_RESOURCES, "share %lld is too much", (long long)share);
    tsr_status st = make_result(h, in, n, out, bytes);
    if (st == TSR_OK && now && h->mood == LIES)
        memcpy(out->bytes, &(double){(double)NAN}, sizeof(double));
    if (st == TSR_OK && now && h->mood == SHORT)
        *bytes -= 8;
    if (st == TSR_OK && now && h->mood == STALE) { /* one of another round comes first */
        tsri_frame old = {0};
        st = make_result(h, in, n, &old, bytes);
        tsri_frame_seal(&old, TSRI_RESULT, round - 1, share, n);
        if (st == TSR_OK)
            st = tsri_comm_send(h->comm, 0, &old);
    }
    return st;
}

static void *live(void *context)
{
    hand *h = context;
    const char *who = h->mood == OTHER_RUN ? "version\t1\ndata\tb\n" : "version\t1\ndata\ta\n";
    h->st = tsri_crew_create(&h->crew, h->comm, 0);
    if (h->mood == ABSENT)
        nap(3);
    if (h->st == TSR_OK)
        h->st = tsri_crew_join(h->crew, who, h->gift, (int64_t)sizeof h->gift);
    if (h->st == TSR_OK)
        h->st = tsri_crew_serve(h->crew, work, h);
    if (h->st != TSR_OK) {
        (void)snprintf(h->error, sizeof h->error, "%s", tsr_last_error());
        tsri_crew_give_up(h->crew, h->st);
    }
    tsri_crew_destroy(h->crew);
    tsri_comm_close(h->comm);
    return NULL;
}

/* ---- Stage -------------------------------------------------------------------------------- */

typedef struct stage {
    tsri_comm *comm[RANKS];
    hand hand[RANKS];
    pthread_t thread[RANKS];
    tsri_crew *crew;
    tsr_status st;
} stage;

static const float present[3] = {1.5f, -2.0f, 3.25f};

static void rise(stage *s, const mood moods[RANKS], int64_t when, double deadline)
{
    *s = (stage){0};
    assert_int_equal(tsri_comm_local(s->comm, RANKS), TSR_OK);
    for (int r = 1; r < RANKS; r++) {
        s->hand[r] = (hand){.comm = s->comm[r], .mood = moods[r], .when = when};
        assert_int_equal(pthread_create(&s->thread[r], NULL, live, &s->hand[r]), 0);
    }
    assert_int_equal(tsri_crew_create(&s->crew, s->comm[0], deadline), TSR_OK);
    s->st = tsri_crew_gather(s->crew, "version\t1\ndata\ta\n", present, (int64_t)sizeof present);
}

static void fall(stage *s)
{
    tsri_crew_end(s->crew);
    for (int r = 1; r < RANKS; r++)
        assert_int_equal(pthread_join(s->thread[r], NULL), 0);
    tsri_crew_destroy(s->crew);
    tsri_comm_close(s->comm[0]);
}

/* ---- Tests -------------------------------------------------------------------------------- */

static void more_shares_than_ranks(void **state)
{
    (void)state;
    stage s;
    record r = {0};
    bool alone = true;
    rise(&s, (mood[RANKS]){WELL, WELL, WELL, WELL}, -1, 60);
    assert_int_equal(s.st, TSR_OK);
    r.idle[3] = true;
    for (int64_t round = 0; round < 20; round++) {
        assert_int_equal(one_round(s.crew, &r, round, &alone), TSR_OK);
        assert_false(alone);
        assert_int_equal(count_done(&r), SHARES - 1);
        assert_false(r.done[3]);
        int64_t down = 0, up = 0;
        for (int k = 1; k < RANKS; k++) {
            down += s.crew->member[k].received;
            up += s.crew->member[k].sent;
        }
        assert_int_equal(down, (round + 1) * (SHARES - 1) * NUMBERS * 8); /* nobody has told yet */
        assert_int_equal(up, down);
    }
    fall(&s);
    for (int k = 1; k < RANKS; k++) {
        assert_int_equal(s.hand[k].st, TSR_OK);
        assert_memory_equal(s.hand[k].gift, present, sizeof present);
    }
}

static void a_death_costs_a_share_its_round(void **state)
{
    (void)state;
    stage s;
    record r = {0};
    bool alone = true;
    rise(&s, (mood[RANKS]){WELL, WELL, DIES, WELL}, 2, 60);
    for (int64_t round = 0; round < 5; round++) {
        assert_int_equal(one_round(s.crew, &r, round, &alone), TSR_OK);
        assert_int_equal(count_done(&r), round == 2 ? SHARES - 1 : SHARES);
        for (int l = 0; l < SHARES; l++)
            if (!r.done[l]) {
                assert_int_equal(r.lost[l], 1 + TSRI_DIED);
                assert_int_equal(r.by[l], 2);
            }
    }
    assert_int_equal(s.crew->lost[TSRI_DIED], 1);
    assert_true(s.crew->member[2].gone);
    fall(&s);
}

static void the_late_are_passed_over_and_come_back(void **state)
{
    (void)state;
    stage s;
    record r = {0};
    bool alone = true;
    rise(&s, (mood[RANKS]){WELL, HANGS, WELL, WELL}, 1, 1);
    assert_int_equal(one_round(s.crew, &r, 0, &alone), TSR_OK);
    double before = tsri_clock();
    assert_int_equal(one_round(s.crew, &r, 1, &alone), TSR_OK);
    assert_true(tsri_clock() - before < 2.9); /* nobody waited until it woke */
    assert_int_equal(count_done(&r), SHARES - 1);
    assert_int_equal(s.crew->lost[TSRI_LATE], 1);
    assert_false(s.crew->member[1].here);
    nap(3);
    assert_int_equal(one_round(s.crew, &r, 2, &alone), TSR_OK); /* its old result is heard here */
    assert_int_equal(count_done(&r), SHARES);
    assert_int_equal(s.crew->stale, 1);
    assert_true(s.crew->member[1].here);
    int64_t sent = s.crew->member[1].sent;
    assert_int_equal(one_round(s.crew, &r, 3, &alone), TSR_OK);
    assert_true(s.crew->member[1].sent > sent);
    fall(&s);
}

/* A coordinator that was stopped for 12 s found that the others had not answered for 12 s, although
 * their results lay there, and counted their shares as lost. */
static void nobody_is_late_for_a_stopped_coordinator(void **state)
{
    (void)state;
    stage s;
    record r = {0};
    bool alone = true;
    rise(&s, (mood[RANKS]){WELL, WELL, WELL, WELL}, -1, 1);
    for (int64_t round = 0; round < 2; round++) {
        r.nap = 2;
        assert_int_equal(one_round(s.crew, &r, round, &alone), TSR_OK);
        assert_int_equal(count_done(&r), SHARES);
    }
    assert_int_equal(s.crew->lost[TSRI_LATE], 0);
    fall(&s);
}

static void nonsense_is_rejected(void **state)
{
    (void)state;
    stage s;
    record r = {0};
    bool alone = true;
    rise(&s, (mood[RANKS]){WELL, WELL, WELL, LIES}, 0, 60);
    assert_int_equal(one_round(s.crew, &r, 0, &alone), TSR_OK);
    assert_int_equal(count_done(&r) + s.crew->lost[TSRI_UNSOUND], SHARES);
    assert_true(s.crew->lost[TSRI_UNSOUND] >= 1);
    assert_int_equal(one_round(s.crew, &r, 1, &alone), TSR_OK);
    assert_int_equal(count_done(&r), SHARES);
    fall(&s);
}

static void frames_of_other_rounds_and_sizes_are_dropped(void **state)
{
    (void)state;
    stage s;
    record r = {0};
    bool alone = true;
    rise(&s, (mood[RANKS]){WELL, STALE, SHORT, WELL}, 1, 1);
    assert_int_equal(one_round(s.crew, &r, 0, &alone), TSR_OK);
    assert_int_equal(one_round(s.crew, &r, 1, &alone), TSR_OK);
    assert_true(s.crew->stale >= 2);
    assert_int_equal(s.crew->lost[TSRI_LATE], 1); /* the short one's: as if it had never come */
    assert_int_equal(count_done(&r), SHARES - 1);
    fall(&s);
}

static void damage_is_seen(void **state)
{
    (void)state;
    tsri_frame f;
    assert_int_equal(tsri_frame_init(&f, 40), TSR_OK);
    for (int i = 0; i < 40; i++)
        f.bytes[i] = (uint8_t)(i * 7);
    tsri_frame_seal(&f, TSRI_RESULT, 3, 1, 40);
    int64_t whole = (int64_t)sizeof *f.head + 40;
    assert_true(tsri_frame_sound(&f, whole));
    for (int64_t n = 0; n < whole + 8; n++)
        assert_int_equal(tsri_frame_sound(&f, n), n == whole);
    size_t guarded = sizeof(tsri_head);
    for (size_t bit = 0; bit < 8 * (size_t)whole; bit++) {
        uint8_t *at = (uint8_t *)f.head + bit / 8;
        bool padding = bit / 8 >= guarded && bit / 8 < sizeof *f.head;
        *at ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(tsri_frame_sound(&f, whole), padding);
        *at ^= (uint8_t)(1u << bit % 8);
    }
    tsri_frame_fini(&f);
}

static void another_run_is_refused(void **state)
{
    (void)state;
    stage s;
    rise(&s, (mood[RANKS]){WELL, WELL, OTHER_RUN, WELL}, -1, 60);
    assert_int_equal(s.st, TSR_USAGE);
    assert_non_null(strstr(tsr_last_error(),
                           "rank 2 was started for another run: its data is b, here it is a"));
    fall(&s);
    for (int k = 1; k < RANKS; k++)
        assert_int_equal(s.hand[k].st, TSR_INTERRUPTED);
}

/* A rank that hung before its first word was waited for up to ten minutes, and Ctrl-C was not heard
 * meanwhile. */
static void a_stop_ends_the_wait(void **state)
{
    (void)state;
    stage s;
    double begin = tsri_clock();
    tsr_request_stop();
    rise(&s, (mood[RANKS]){WELL, WELL, WELL, ABSENT}, -1, 60);
    assert_true(tsri_clock() - begin < 2);
    assert_int_equal(s.st, TSR_INTERRUPTED);
    assert_non_null(strstr(tsr_last_error(), "stopped before rank "));
    assert_true(s.comm[0]->broken); /* nobody waits for it at the end either */
    tsri_stop_clear();
    fall(&s);
    for (int k = 1; k < RANKS; k++)
        assert_int_equal(s.hand[k].st, TSR_INTERRUPTED);
}

static void a_failure_is_the_runs(void **state)
{
    (void)state;
    stage s;
    record r = {0};
    bool alone = true;
    rise(&s, (mood[RANKS]){WELL, WELL, WELL, FAILS}, 1, 60);
    assert_int_equal(one_round(s.crew, &r, 0, &alone), TSR_OK);
    assert_int_equal(one_round(s.crew, &r, 1, &alone), TSR_RESOURCES);
    assert_non_null(strstr(tsr_last_error(), "rank 3: share "));
    fall(&s);
}

static void nobody_left(void **state)
{
    (void)state;
    stage s;
    record r = {0};
    bool alone = false;
    rise(&s, (mood[RANKS]){WELL, DIES, DIES, DIES}, 0, 60);
    assert_int_equal(one_round(s.crew, &r, 0, &alone), TSR_OK);
    assert_int_equal(count_done(&r), 0);
    for (int l = 0; l < SHARES; l++)
        assert_int_equal(r.lost[l], 1 + TSRI_DIED);
    assert_int_equal(one_round(s.crew, &r, 1, &alone), TSR_OK);
    assert_true(alone);
    fall(&s);
}

/* Without a deadline a share may take five times the median of those before it, and never less than
 * two seconds; before the first has come back nobody knows. */
static void patience_follows_the_median(void **state)
{
    (void)state;
    tsri_comm *comm[2];
    tsri_crew *crew = NULL;
    assert_ok(tsri_comm_local(comm, 2));
    assert_ok(tsri_crew_create(&crew, comm[0], 0));
    assert_true(tsri_crew_limit(crew) == 60);
    tsri_crew_took(crew, 0.01);
    assert_true(tsri_crew_limit(crew) == 2);
    tsri_crew_took(crew, 1000);
    tsri_crew_took(crew, 3);
    assert_true(tsri_crew_limit(crew) == 15);
    crew->deadline = 7;
    assert_true(tsri_crew_limit(crew) == 7);
    tsri_crew_destroy(crew);
    tsri_comm_close(comm[0]);
    tsri_comm_close(comm[1]);
}

static void orphans_end(void **state)
{
    (void)state;
    stage s;
    rise(&s, (mood[RANKS]){WELL, WELL, WELL, WELL}, -1, 60);
    tsri_crew_destroy(s.crew);
    tsri_comm_close(s.comm[0]); /* the coordinator is dead: it said no word */
    for (int r = 1; r < RANKS; r++) {
        assert_int_equal(pthread_join(s.thread[r], NULL), 0);
        assert_int_equal(s.hand[r].st, TSR_FAILURE);
        assert_non_null(strstr(s.hand[r].error, "the coordinator is gone"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_shares_than_ranks),
        cmocka_unit_test(a_death_costs_a_share_its_round),
        cmocka_unit_test(the_late_are_passed_over_and_come_back),
        cmocka_unit_test(nobody_is_late_for_a_stopped_coordinator),
        cmocka_unit_test(nonsense_is_rejected),
        cmocka_unit_test(frames_of_other_rounds_and_sizes_are_dropped),
        cmocka_unit_test(damage_is_seen),
        cmocka_unit_test(another_run_is_refused),
        cmocka_unit_test(a_stop_ends_the_wait),
        cmocka_unit_test(a_failure_is_the_runs),
        cmocka_unit_test(nobody_left),
        cmocka_unit_test(orphans_end),
        cmocka_unit_test(patience_follows_the_median),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
