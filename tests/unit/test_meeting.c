/* test_meeting.c - before MPI begins: who was started where, on which addresses rank 0 listens, and
 * what the guard says when a rank does not come, has gone again, or MPI hangs.
 *
 * The starter (comm/starter.h) is this test's own: it answers what the test tells it to. A guard
 * has the program end its process (cli/ranks.h), so each has one of its own, whose sentence and exit
 * status are read here.
 */
#include "testing.h"

#include "base/clock.h"
#include "base/stop.h"
#include "cli/ranks.h"
#include "comm/guard.h"
#include "comm/places.h"
#include "comm/starter.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 3, INVITATION = 512 };

/* ---- The starter ---------------------------------------------------------------------------- */

static struct {
    bool answers, hangs, posts_nothing;
    const char *host[SIZE];
    int asked, after; /* an invitation is there when it was asked for so often */
    char word[8];
} starter;

bool tsri_starter_begin(void)
{
    return starter.answers;
}

void tsri_starter_finish(void)
{
}

void tsri_starter_host(char host[TSRI_STARTER_HOST], int rank)
{
    if (starter.host[rank])
        (void)snprintf(host, TSRI_STARTER_HOST, "%s", starter.host[rank]);
}

bool tsri_starter_put(const char *name, void *bytes, int64_t n)
{
    assert_string_equal(name, TSRI_INVITATION);
    bool fits = n <= (int64_t)sizeof starter.word;
    if (fits)
        memcpy(starter.word, bytes, (size_t)n);
    return fits;
}

bool tsri_starter_post(void)
{
    return !starter.posts_nothing;
}

bool tsri_starter_ask(const char *name, int rank, void *bytes, int64_t room, int64_t *got,
                      int seconds)
{
    assert_string_equal(name, TSRI_INVITATION);
    assert_true(rank == 0 && seconds >= 1 && room >= 8);
    if (++starter.asked < starter.after)
        return false;
    memcpy(bytes, starter.word, sizeof starter.word);
    *got = sizeof starter.word;
    return true;
}

void tsri_starter_abort(int status)
{
    assert_int_equal(status, TSR_FAILURE);
    if (starter.hangs)
        (void)poll(NULL, 0, -1);
}

static tsri_roster *roster_of(bool answers, const char *a, const char *b, const char *c)
{
    tsri_roster *roster = NULL;
    starter.answers = answers;
    starter.host[0] = a, starter.host[1] = b, starter.host[2] = c;
    assert_ok(tsri_roster_create(&roster, SIZE));
    return roster;
}

/* ---- The roster and the addresses ----------------------------------------------------------- */

static void words_are_left_and_fetched(void **state)
{
    (void)state;
    char got[16] = "", large[9] = "";
    int64_t n = 0;
    tsri_roster *roster = roster_of(true, "a", "b", NULL);
    assert_string_equal(tsri_roster_host(roster, 1), "b");
    assert_null(tsri_roster_host(roster, 2));
    assert_null(tsri_roster_host(roster, SIZE));
    assert_ok(tsri_roster_leave(roster, TSRI_INVITATION, (char[]){"welcome"}, 8));
    assert_fails(tsri_roster_leave(roster, TSRI_INVITATION, large, 9), TSR_FAILURE,
                 "nothing can be left");
    assert_ok(tsri_roster_post(roster));
    starter.posts_nothing = true;
    assert_fails(tsri_roster_post(roster), TSR_FAILURE, "nothing can be posted");
    starter.posts_nothing = false;
    starter.after = 3; /* rank 0 is late */
    assert_true(tsri_roster_fetch(roster, TSRI_INVITATION, 0, got, sizeof got, &n, 5));
    assert_true(n == 8 && strcmp(got, "welcome") == 0);
    starter.asked = 0, starter.after = 1000000; /* it does not come */
    double start = tsri_clock();
    assert_false(tsri_roster_fetch(roster, TSRI_INVITATION, 0, got, sizeof got, &n, 0.1));
    assert_true(tsri_clock() - start >= 0.1);
    tsri_roster_destroy(roster);
    roster =
        roster_of(false, NULL, NULL, NULL); /* nobody answers: nothing is left, nothing comes */
    assert_ok(tsri_roster_leave(roster, TSRI_INVITATION, large, 9));
    assert_ok(tsri_roster_post(roster));
    assert_false(tsri_roster_fetch(roster, TSRI_INVITATION, 0, got, sizeof got, &n, 5));
    tsri_roster_destroy(roster);
}

static int places(uint32_t *address, bool answers, const char *a, const char *b, const char *c)
{
    tsri_roster *roster = roster_of(answers, a, b, c);
    int n = tsri_places_find(address, TSRI_LIFELINE_ADDRESSES, roster, SIZE);
    tsri_roster_destroy(roster);
    return n;
}

static void rank_0_listens_where_the_others_are(void **state)
{
    (void)state;
    uint32_t at[TSRI_LIFELINE_ADDRESSES], loopback = htonl(INADDR_LOOPBACK);
    assert_int_equal(places(at, true, "a", "a", "a"), 1);
    assert_true(at[0] == loopback);
    /* by name: one address, though two hosts are reached from it */
    assert_int_equal(places(at, true, "a", "127.0.0.1", "localhost"), 1);
    assert_true(at[0] == loopback);
    /* names that lead nowhere, or none at all: every interface, or the loopback where there is none
     */
    int nowhere = places(at, true, "a", "..", ".."), unknown = places(at, false, NULL, NULL, NULL);
    assert_true(nowhere >= 1 && nowhere == unknown);
    assert_true(unknown == 1 || at[0] != loopback);
}

/* ---- The guard ------------------------------------------------------------------------------ */

static tsri_guard *guard_of(tsri_roster *roster, int rank, double start, tsri_lifeline *line)
{
    tsri_guard *guard = NULL;
    assert_ok(tsri_guard_create(
        &guard, &(tsri_guard_plan){
                    .rank = rank, .size = SIZE, .start = start, .roster = roster, .line = line}));
    return guard;
}

static tsri_lifeline *listening(uint8_t *invitation, int64_t *n)
{
    tsri_lifeline *line = NULL;
    assert_ok(tsri_lifeline_listen(&line, SIZE, (uint32_t[]){htonl(INADDR_LOOPBACK)}, 1, 0));
    assert_ok(tsri_lifeline_invite(line, invitation, INVITATION, n));
    return line;
}

static uint8_t invitation[INVITATION];
static int64_t invited;

static void nobody_comes(void)
{
    (void)guard_of(roster_of(true, "a", "b", NULL), 0, 0.1, listening(invitation, &invited));
}

static void mpi_does_not_begin(void)
{
    (void)guard_of(roster_of(false, NULL, NULL, NULL), 0, 0.1, NULL);
}

static void the_coordinator_does_not_come(void)
{
    (void)guard_of(roster_of(true, "a", "b", "c"), 1, -4.9, NULL); /* workers wait 5 s longer */
}

static void a_rank_comes_and_goes(void)
{
    tsri_lifeline *worker = NULL;
    (void)guard_of(roster_of(true, "a", "b", "c"), 0, 60, listening(invitation, &invited));
    assert_ok(tsri_lifeline_connect(&worker, invitation, invited, 2));
    assert_non_null(worker);
    tsri_lifeline_close(worker);
}

static void a_stop_before_all_have_met(void)
{
    tsri_guard_enter(guard_of(roster_of(true, "a", "b", "c"), 0, 60, NULL));
    tsr_request_stop();
}

static void a_stop_while_mpi_hangs(void)
{
    tsri_guard *guard = guard_of(roster_of(true, "a", "b", "c"), 0, 60, NULL);
    tsri_guard_begun(guard);
    tsri_guard_enter(guard);
    tsr_request_stop();
}

static void the_starter_hangs(void)
{
    starter.hangs = true;
    nobody_comes();
}

/* PMIx asks and gets no answer: there is not even a roster. */
static void nobody_answers(void)
{
    tsri_guard_enter(guard_of(NULL, 0, 0.1, NULL));
}

static void a_stop_while_nobody_answers(void)
{
    tsri_guard_enter(guard_of(NULL, 1, 60, NULL));
    tsr_request_stop();
}

static void the_roster_comes_later(void)
{
    tsri_guard *guard = guard_of(NULL, 0, 1, NULL);
    tsri_guard_watch(guard, roster_of(true, "a", "b", "c"), listening(invitation, &invited));
}

static atomic_int told; /* sentences */

/* Where the program has not said what to do, the guard says its sentence, once, and goes on. */
static void nobody_ends_the_process(void)
{
    tsr_context_on_hang(NULL, NULL, NULL);
    tsri_guard *guard =
        guard_of(roster_of(true, "a", "b", "c"), 0, 0.1, listening(invitation, &invited));
    (void)poll(NULL, 0, 1200); /* it looks four times a second */
    tsri_guard_destroy(guard);
    _exit(told == 1 ? 0 : 9);
}

/* Not an end: the run goes on, and the sentence is a warning. */
static void a_rank_that_cannot_reach_us(void)
{
    tsri_guard *guard =
        guard_of(roster_of(true, "a", "b", "c"), 0, 60, listening(invitation, &invited));
    tsri_guard_begun(guard);
    (void)poll(NULL, 0, 600);
    assert_false(tsri_guard_died(guard, 1));
    tsri_guard_destroy(guard);
    _exit(0);
}

static const struct {
    void (*live)(void);
    const char *sentence;
    int status;
} ends[] = {
    {nobody_comes, "rank 1 on b, rank 2 has not joined within 0 s", TSR_FAILURE},
    {mpi_does_not_begin, "MPI has not begun within 0 s", TSR_FAILURE},
    {the_coordinator_does_not_come, "rank 0 on a has not joined", TSR_FAILURE},
    {a_rank_comes_and_goes, "rank 2 on c ended before all ranks had met", TSR_FAILURE},
    {a_stop_before_all_have_met, "stopped before all ranks had met", TSR_FAILURE},
    {a_stop_while_mpi_hangs, "MPI hangs, so nothing more could be saved", TSR_FAILURE},
    {the_starter_hangs, "has not joined within 0 s", TSR_FAILURE},
    {nobody_answers, "(mpirun) has not answered within 0 s", TSR_FAILURE},
    {a_stop_while_nobody_answers, "stopped before all ranks had met", TSR_FAILURE},
    {the_roster_comes_later, "rank 1 on b, rank 2 on c has not joined within 1 s", TSR_FAILURE},
    {nobody_ends_the_process, "rank 1 on b, rank 2 on c has not joined", 0},
    {a_rank_that_cannot_reach_us, "rank 2 cannot reach the coordinator directly", 0},
};
enum { ENDS = sizeof ends / sizeof *ends };

static void say(void *context, tsr_log_level level, const char *text)
{
    (void)context, (void)level;
    told++;
    (void)fprintf(stderr, "%s\n", text);
}

/* All at once: each waits some seconds. */
static void guards_end_what_cannot_go_on(void **state)
{
    (void)state;
    pid_t child[ENDS];
    int said[ENDS][2];
    for (int i = 0; i < ENDS; i++) {
        assert_int_equal(pipe(said[i]), 0);
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] > 0)
            continue;
        (void)dup2(said[i][1], STDERR_FILENO);
        (void)alarm(60);
        tsr_set_log(say, NULL, TSR_LOG_WARNING);
        tsr_context_on_hang(NULL, cli_ranks_hang, NULL);
        ends[i].live();
        for (;;)
            (void)poll(NULL, 0, -1); /* the main thread, in a call that does not return */
    }
    for (int i = 0; i < ENDS; i++) {
        char text[2048] = "";
        int status = 0;
        assert_true(waitpid(child[i], &status, 0) == child[i]);
        (void)close(said[i][1]);
        assert_true(read(said[i][0], text, sizeof text - 1) >= 0);
        (void)close(said[i][0]);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != ends[i].status ||
            !strstr(text, ends[i].sentence))
            fail_msg("guard %d: status %x, \"%s\"; expected \"%s\"", i, status, text,
                     ends[i].sentence);
    }
}

/* As it was found: killed as it began, a rank left mpirun locked up. It heard no signal, so a rank
 * that gave up left it behind for ever; its sentence was lost, too. */
static void a_starter_that_is_locked_up_is_ended(void **state)
{
    (void)state;
    char text[2048] = "";
    int said[2], status = 0;
    assert_int_equal(pipe(said), 0);
    pid_t starter_pid = fork();
    assert_true(starter_pid >= 0);
    if (starter_pid == 0) {
        (void)dup2(said[1], STDERR_FILENO);
        (void)alarm(60);
        (void)prctl(PR_SET_NAME, "mpirun.openmpi");
        (void)signal(SIGTERM, SIG_IGN);
        bool script = fork() == 0 && prctl(PR_SET_NAME, "sh") == 0; /* stands between */
        if (script && fork() == 0) {                                /* the rank */
            int silent = open("/dev/null", O_WRONLY);
            (void)dup2(silent, STDERR_FILENO);
            starter.hangs = true;
            cli_ranks_hang(NULL, TSR_FAILURE);
        }
        for (int i = 0; i < 600 && (!script || getppid() > 1); i++)
            (void)poll(NULL, 0, 100);
        _exit(0);
    }
    (void)close(said[1]);
    assert_true(waitpid(starter_pid, &status, 0) == starter_pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_true(read(said[0], text, sizeof text - 1) > 0);
    assert_non_null(strstr(text, "mpirun does not answer its ranks, so it was ended"));
    (void)close(said[0]);
}

/* ---- No memory ------------------------------------------------------------------------------ */

static tsr_status meet(void)
{
    tsr_status st = TSR_OK;
    tsri_roster *roster = NULL;
    tsri_lifeline *line = NULL;
    tsri_guard *guard = NULL;
    TSR_TRY(tsri_roster_create(&roster, SIZE));
    TSR_TRY(tsri_lifeline_listen(&line, SIZE, (uint32_t[]){htonl(INADDR_LOOPBACK)}, 1, 0));
    TSR_TRY(tsri_guard_create(&guard, &(tsri_guard_plan){.size = SIZE, .start = 60, .line = line}));
    line = NULL;
done:
    tsri_guard_destroy(guard);
    tsri_lifeline_close(line);
    tsri_roster_destroy(roster);
    return st;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tsr_status st = TSR_RESOURCES;
    int64_t n = 0;
    for (; st == TSR_RESOURCES; n++) {
        (void)tsri_alloc_fail_after(n, false);
        st = meet();
        (void)tsri_alloc_fail_after(-1, false);
        assert_int_equal(tsri_alloc_blocks(), 0);
    }
    assert_ok(st);
    assert_true(n > 5);
}

/* All descriptors are in use: a sentence, and nothing stays behind. */
static void no_descriptor_is_left(void **state)
{
    (void)state;
    struct rlimit before, none;
    uint32_t at[TSRI_LIFELINE_ADDRESSES], loopback = htonl(INADDR_LOOPBACK);
    tsri_lifeline *line = NULL;
    tsri_guard *guard = NULL;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){0, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int found = places(at, true, "a", "localhost", "b");
    tsr_status guarded = tsri_guard_create(&guard, &(tsri_guard_plan){.size = SIZE, .start = 60});
    bool said = strstr(tsr_last_error(), "no descriptor") != NULL;
    tsr_status listened = tsri_lifeline_listen(&line, SIZE, &loopback, 1, 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_true(found == 1 && at[0] == loopback);
    assert_true(guarded == TSR_RESOURCES && said && listened == TSR_RESOURCES);
    assert_non_null(strstr(tsr_last_error(), "no port to listen on"));
    assert_null(guard);
    assert_null(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_left_and_fetched),
        cmocka_unit_test(rank_0_listens_where_the_others_are),
        cmocka_unit_test(guards_end_what_cannot_go_on),
        cmocka_unit_test(a_starter_that_is_locked_up_is_ended),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(no_descriptor_is_left),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
