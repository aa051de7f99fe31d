/* test_mpi.c - comm/mpi.c on an MPI that fails: one that does not start, counts the ranks otherwise
 * than whoever started them, cannot send or receive, delivers garbage, or never lets a message go.
 *
 * The MPI and the starter are this test's own: functions with their names, of which the linker
 * takes these. The real one is used by tests/cli/cluster*.sh.
 */
#include "testing.h"

#include "base/clock.h"
#include "comm/comm.h"
#include "comm/starter.h"

#include <limits.h>
#include <mpi.h>

/* ---- The starter: nobody answers ------------------------------------------------------------ */

bool tsri_starter_begin(void)
{
    return false;
}

void tsri_starter_finish(void)
{
}

void tsri_starter_host(char host[TSRI_STARTER_HOST], int rank)
{
    (void)host, (void)rank;
}

bool tsri_starter_put(const char *name, void *bytes, int64_t n)
{
    (void)name, (void)bytes, (void)n;
    return false;
}

bool tsri_starter_post(void)
{
    return false;
}

bool tsri_starter_ask(const char *name, int rank, void *bytes, int64_t room, int64_t *got,
                      int seconds)
{
    (void)name, (void)rank, (void)bytes, (void)room, (void)got, (void)seconds;
    return false;
}

void tsri_starter_abort(int status)
{
    (void)status;
}

/* ---- The MPI -------------------------------------------------------------------------------- */

enum { BROKEN = 17 };

static struct {
    bool begun;
    int init, send, probe, receive; /* what these return; 0 = MPI_SUCCESS */
    int rank, size;
    int slow;           /* tests that find a message still on its way */
    const void *coming; /* a message that has been announced, or NULL */
    int bytes;
} mpi;

static volatile struct { /* of the last message: MPI may read and write there, so it is no leak */
    const void *bytes;
    MPI_Request *request;
} held;

int MPI_Initialized(int *flag)
{
    *flag = mpi.begun;
    return MPI_SUCCESS;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)argc, (void)argv;
    *provided = required;
    return mpi.init;
}

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    (void)comm, (void)handler;
    return MPI_SUCCESS;
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    (void)comm;
    *rank = mpi.rank;
    return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    (void)comm;
    *size = mpi.size;
    return MPI_SUCCESS;
}

int MPI_Error_string(int code, char *text, int *length)
{
    *length = snprintf(text, MPI_MAX_ERROR_STRING, "error %d", code);
    return MPI_SUCCESS;
}

int MPI_Isend(const void *bytes, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    (void)n, (void)type, (void)to, (void)tag, (void)comm;
    held.bytes = bytes;
    held.request = request;
    return mpi.send;
}

int MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    (void)request, (void)status;
    *done = mpi.slow == 0;
    mpi.slow -= mpi.slow > 0;
    return MPI_SUCCESS;
}

int MPI_Improbe(int from, int tag, MPI_Comm comm, int *there, MPI_Message *message,
                MPI_Status *status)
{
    (void)from, (void)tag, (void)comm, (void)message;
    *there = mpi.coming != NULL;
    status->MPI_SOURCE = 1;
    return mpi.probe;
}

int MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count)
{
    (void)status, (void)type;
    *count = mpi.bytes;
    return MPI_SUCCESS;
}

int MPI_Imrecv(void *bytes, int n, MPI_Datatype type, MPI_Message *message, MPI_Request *request)
{
    (void)type, (void)message, (void)request;
    memcpy(bytes, mpi.coming, (size_t)n);
    mpi.coming = NULL;
    return mpi.receive;
}

/* ---- Beginning ------------------------------------------------------------------------------ */

static const tsri_comm_options options = {.start = 60};

static void sound(void)
{
    memset(&mpi, 0, sizeof mpi);
    mpi.size = 2;
    (void)setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
    (void)setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "2", 1);
    (void)setenv("OMPI_COMM_WORLD_RANK", "0", 1);
}

static tsri_comm *opened(void)
{
    tsri_comm *comm = NULL;
    sound();
    assert_ok(tsri_comm_open(&comm, &options));
    assert_non_null(comm);
    return comm;
}

static void it_does_not_begin(void **state)
{
    (void)state;
    tsri_comm *comm = NULL;
    sound();
    mpi.init = BROKEN;
    assert_fails(tsri_comm_open(&comm, &options), TSR_FAILURE, "MPI: it does not start: error 17");
    sound();
    mpi.rank = 5, mpi.size = 9;
    assert_fails(tsri_comm_open(&comm, &options), TSR_FAILURE,
                 "MPI says rank 5 of 9, whoever started it says 0 of 2");
    sound();
    mpi.begun = true;
    assert_fails(tsri_comm_open(&comm, &options), TSR_USAGE, "start mpirun again");
    assert_null(comm);
}

/* A process that mpirun did not start must not start MPI, nor one that it started alone. */
static void nobody_else_is_there(void **state)
{
    (void)state;
    tsri_comm *comm = NULL;
    sound();
    (void)setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
    mpi.init = BROKEN;
    assert_ok(tsri_comm_open(&comm, &options));
    assert_null(comm);
    (void)unsetenv("OMPI_COMM_WORLD_SIZE");
    assert_ok(tsri_comm_open(&comm, &options));
    assert_null(comm);
    assert_false(tsri_comm_excuse()); /* there is nobody to end */
    assert_int_equal(tsr_ranks_ending(), TSR_END_PLAIN);
}

/* ---- Messages ------------------------------------------------------------------------------- */

static char warned[512];

static void hear(void *context, tsr_log_level level, const char *text)
{
    (void)context, (void)level;
    (void)snprintf(warned, sizeof warned, "%s", text);
}

static tsri_frame frame_of(const char *text)
{
    tsri_frame f = {0};
    assert_ok(tsri_frame_init(&f, (int64_t)strlen(text)));
    memcpy(f.bytes, text, strlen(text));
    tsri_frame_seal(&f, TSRI_RESULT, 3, 1, (int64_t)strlen(text));
    return f;
}

/* The other end may be dead: that is the lifeline's to tell, and the run goes on. */
static void what_cannot_be_sent_is_a_warning(void **state)
{
    (void)state;
    tsri_comm *comm = opened();
    tsri_frame f = frame_of("share");
    mpi.send = BROKEN;
    tsr_set_log(hear, NULL, TSR_LOG_WARNING);
    assert_ok(tsri_comm_send(comm, 1, &f));
    assert_non_null(strstr(warned, "rank 0 to rank 1: MPI: a message could not be sent: error 17"));
    f = frame_of("share");
    f.head->bytes = INT_MAX;
    assert_fails(tsri_comm_send(comm, 1, &f), TSR_RESOURCES, "use more workers");
    tsr_set_log(NULL, NULL, TSR_LOG_ERROR);
    tsri_comm_close(comm);
    assert_int_equal(tsr_ranks_ending(), TSR_END_FINALIZE);
}

static void what_comes_is_checked(void **state)
{
    (void)state;
    tsri_comm *comm = opened();
    tsri_frame f = frame_of("result"), got = {0};
    mpi.bytes = (int)sizeof *f.head + 6;
    mpi.slow = 2; /* announced, and here a little later */
    mpi.coming = f.head;
    assert_ok(tsri_comm_receive(comm, &got, 5));
    assert_true(got.head && got.from == 1 && memcmp(got.bytes, "result", 6) == 0);
    tsri_comm_release(comm, &got);
    tsr_set_log(hear, NULL, TSR_LOG_WARNING);
    f.bytes[0] ^= 1; /* damaged on the way */
    mpi.coming = f.head;
    assert_ok(tsri_comm_receive(comm, &got, 0));
    assert_null(got.head);
    assert_non_null(strstr(warned, "a damaged message from rank 1 was dropped"));
    mpi.coming = f.head; /* shorter than a head */
    mpi.bytes = 3;
    assert_ok(tsri_comm_receive(comm, &got, 0));
    assert_null(got.head);
    tsr_set_log(NULL, NULL, TSR_LOG_ERROR);
    mpi.coming = f.head;
    mpi.probe = BROKEN; /* a broken connection is the lifeline's to tell */
    assert_ok(tsri_comm_receive(comm, &got, 0));
    assert_null(got.head);
    mpi.probe = MPI_SUCCESS;
    mpi.receive = BROKEN;
    assert_fails(tsri_comm_receive(comm, &got, 0), TSR_FAILURE,
                 "a message could not be received: error 17");
    tsri_frame_fini(&f);
    tsri_comm_close(comm);
    assert_int_equal(tsri_alloc_blocks(), 0); /* the frame of the message that failed was left */
}

/* What has not left after a second has nobody who wants it. Its memory stays MPI's. */
static void a_message_that_does_not_leave_keeps_nobody(void **state)
{
    (void)state;
    tsri_comm *comm = opened();
    tsri_frame f = frame_of("last words");
    double start = tsri_clock();
    mpi.slow = INT_MAX;
    assert_ok(tsri_comm_send(comm, 1, &f));
    tsri_comm_close(comm);
    assert_true(tsri_clock() - start > 0.9);
    assert_int_equal(tsr_ranks_ending(), TSR_END_ABORT);
    assert_int_equal(tsri_alloc_blocks(), 2); /* the frame and the list it stands in */
}

static tsr_status talk(void)
{
    tsr_status st = TSR_OK;
    tsri_comm *comm = NULL;
    tsri_frame f = {0}, got = {0}, coming = {0};
    TSR_TRY(tsri_comm_open(&comm, &options));
    TSR_TRY(tsri_frame_init(&coming, 4));
    tsri_frame_seal(&coming, TSRI_RESULT, 0, 0, 4);
    mpi.coming = coming.head;
    mpi.bytes = (int)sizeof *coming.head + 4;
    TSR_TRY(tsri_comm_frame(comm, &f, 4));
    tsri_frame_seal(&f, TSRI_WORK, 0, 0, 4);
    TSR_TRY(tsri_comm_send(comm, 1, &f));
    TSR_TRY(tsri_comm_receive(comm, &got, 0));
done:
    if (comm) {
        tsri_comm_release(comm, &got);
        tsri_comm_close(comm);
    }
    tsri_frame_fini(&coming);
    return st;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tsr_status st = TSR_RESOURCES;
    int64_t n = 0, before = tsri_alloc_blocks();
    sound();
    for (; st == TSR_RESOURCES; n++) {
        mpi.coming = NULL;
        (void)tsri_alloc_fail_after(n, false);
        st = talk();
        (void)tsri_alloc_fail_after(-1, false);
        assert_int_equal(tsri_alloc_blocks(), before);
    }
    assert_ok(st);
    assert_true(n > 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_does_not_begin),
        cmocka_unit_test(nobody_else_is_there),
        cmocka_unit_test(what_cannot_be_sent_is_a_warning),
        cmocka_unit_test(what_comes_is_checked),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_message_that_does_not_leave_keeps_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
