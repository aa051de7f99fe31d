/* Waits with a deadline do not heed the machine's clock, which somebody may set while they last.
 *
 * Here it is always an hour late when it is read: a deadline made of it has passed before the wait
 * begins. Once both waits below were cut short by that, or as much too long the other way round. */
#include "testing.h"

#include "base/clock.h"
#include "comm/comm.h"
#include "comm/roster.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *t)
{
    long rc = syscall(SYS_clock_gettime, id, t);
    if (id == CLOCK_REALTIME)
        t->tv_sec -= 3600;
    return (int)rc;
}

static void receiving_waits_its_time(void **state)
{
    (void)state;
    tsri_comm *comm[2];
    tsri_frame frame = {0};
    assert_ok(tsri_comm_local(comm, 2));
    double start = tsri_clock();
    assert_ok(tsri_comm_receive(comm[0], &frame, 0.2));
    assert_true(tsri_clock() - start >= 0.2);
    assert_null(frame.head);
    for (int i = 0; i < 2; i++)
        tsri_comm_close(comm[i]);
}

/* Nobody started us: the question itself ends at once, which it is waited for to do. */
static void asking_waits_for_an_answer(void **state)
{
    (void)state;
    assert_true(tsri_roster_ask_end(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(receiving_waits_its_time),
        cmocka_unit_test(asking_waits_for_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
