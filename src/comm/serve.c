/* serve.c - the crew as one of its workers sees it: say hello, train what comes, send it back. */
#include "comm/crew.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

static const double JOIN = 600, LOOK = 0.25; /* seconds */

static tsr_status begin(const tsri_frame *f, void *gift, int64_t n)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(f->head->bytes == n, TSR_FAILURE,
              "the coordinator began with %lld bytes, %lld were due: it is another version",
              (long long)f->head->bytes, (long long)n);
    if (n > 0)
        memcpy(gift, f->bytes, (size_t)n);
done:
    return st;
}

tsr_status tsri_crew_join(tsri_crew *crew, const char *identity, void *gift, int64_t n)
{
    tsr_status st = TSR_OK;
    tsri_frame f = {0};
    double until = tsri_clock() + JOIN;
    bool begun = false;
    TSR_TRY(tsri_crew_say(crew, 0, TSRI_HELLO, identity, (int64_t)strlen(identity)));
    while (!begun) {
        TSR_CHECK(tsri_clock() < until, TSR_FAILURE,
                  "the coordinator has not begun the run within %.0f s: rank %d gives up", JOIN,
                  crew->comm->rank);
        bool gone = tsri_crew_orphaned(crew);
        TSR_TRY(tsri_comm_receive(crew->comm, &f, LOOK));
        TSR_CHECK(f.head || !gone, TSR_FAILURE, "the coordinator ended before it began the run");
        if (!f.head)
            continue;
        TSR_CHECK(f.head->kind != TSRI_END, TSR_INTERRUPTED, "the coordinator has stopped");
        begun = f.head->kind == TSRI_START;
        if (begun)
            TSR_TRY(begin(&f, gift, n));
        tsri_comm_release(crew->comm, &f);
    }
    (void)tsri_crew_spent(crew); /* time before the first round does not count */
done:
    tsri_comm_release(crew->comm, &f);
    return st;
}

bool tsri_crew_orphaned(tsri_crew *crew)
{
    return tsri_comm_dead(crew->comm, 0);
}

void tsri_crew_give_up(tsri_crew *c, tsr_status why)
{
    struct {
        int32_t code;
        char sentence[1020];
    } last = {.code = (int32_t)why};
    if (why == TSR_INTERRUPTED || tsri_crew_orphaned(c))
        return;
    int n = snprintf(last.sentence, sizeof last.sentence, "%s", tsr_last_error());
    int64_t most = (int64_t)sizeof last.sentence - 1;
    (void)tsri_crew_say(c, 0, TSRI_FAILED, &last,
                        (int64_t)sizeof last.code + (n < most ? n : most));
}

static tsr_status do_share(tsri_crew *c, const tsri_frame *f, tsri_crew_work work, void *context)
{
    tsr_status st = TSR_OK;
    tsri_frame out = {0};
    int64_t bytes = 0;
    TSR_TRY(work(context, f->head->round, f->head->share, f->bytes, f->head->bytes, &out, &bytes));
    tsri_frame_seal(&out, TSRI_RESULT, f->head->round, f->head->share, bytes);
    tsri_frame_note(&out, tsri_crew_spent(c));
    TSR_TRY(tsri_comm_send(c->comm, 0, &out));
done:
    tsri_comm_release(c->comm, &out);
    return st;
}

tsr_status tsri_crew_serve(tsri_crew *crew, tsri_crew_work work, void *context)
{
    tsr_status st = TSR_OK;
    tsri_frame f = {0};
    bool over = false;
    while (!over) {
        tsri_comm_release(crew->comm, &f);
        bool gone = tsri_crew_orphaned(crew); /* it may have said before that it is over */
        TSR_TRY(tsri_comm_receive(crew->comm, &f, LOOK));
        TSR_CHECK(f.head || !gone, TSR_FAILURE,
                  "the coordinator is gone: its last checkpoint is whole, add --resume to go on");
        if (f.head && f.head->kind == TSRI_WORK && !gone) {
            TSR_TRY(do_share(crew, &f, work, context));
        }
        over = f.head && f.head->kind == TSRI_END;
    }
done:
    tsri_comm_release(crew->comm, &f);
    return st;
}
