/* guard.c - a thread that looks after a rank while its main thread computes, or is stuck in MPI. */
#include "comm/guard.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/log.h"
#include "base/stop.h"
#include "base/text.h"
#include "base/thread.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { LOOK_MS = 250 };
/* Seconds. A call of MPI that takes longer than this after a request to stop is taken to hang
 * (before MPI has begun there is nothing to save). Workers wait a little longer, so that the
 * coordinator, which knows who is missing, speaks first. */
static const double GRACE = 5, GRACE_BEFORE = 1, MANNERS = 5;

struct tsri_guard {
    tsri_guard_plan plan;
    _Atomic(const tsri_roster *) roster; /* NULL: nobody has answered yet */
    _Atomic(tsri_lifeline *) line;
    tsr_context *owner; /* the thread works for it */
    pthread_t thread;
    bool running;
    int wake; /* written to when there is news from the main thread */
    double born;
    atomic_bool begun, over;
    _Atomic double inside; /* since when the main thread is in a call of MPI; 0 = it is not */
    bool shut;
    double stop_seen; /* when it was first seen that a stop was asked for; 0 = never */
    bool gave_up;     /* the message was sent and the program told */
};

/* ---- Sentences ------------------------------------------------------------------------------ */

static void add_rank(tsri_text *t, const tsri_guard *w, int rank)
{
    const char *host = tsri_roster_host(w->roster, rank);
    (void)tsri_text_add(t, "%srank %d%s%s", t->length ? ", " : "", rank, host ? " on " : "",
                        host ? tsri_quote(host) : "");
}

/* Tells the program, which decides whether the process ends; otherwise the main thread waits on. */
static void give_up(tsri_guard *w, const char *sentence)
{
    TSRI_WARN("%s", sentence);
    w->gave_up = true;
    tsri_context_hangs(TSR_FAILURE);
}

static void give_up_on(tsri_guard *w, int rank)
{
    tsri_text t = {0}, all = {0};
    add_rank(&t, w, rank);
    (void)tsri_text_add(&all,
                        "%s ended before all ranks had met: see what it said, and start again",
                        t.data ? t.data : "a rank");
    give_up(w, all.data ? all.data : "a rank ended before all had met");
    tsri_text_fini(&t);
    tsri_text_fini(&all);
}

/* A rank without a lifeline has not joined, or cannot reach us. */
static void give_up_late(tsri_guard *w)
{
    tsri_text who = {0}, all = {0};
    int first = w->plan.rank == 0 ? 1 : 0, end = w->plan.rank == 0 ? w->plan.size : 1;
    for (int r = first; r < end; r++)
        if (w->line ? !tsri_lifeline_held(w->line, r) : w->plan.rank != 0)
            add_rank(&who, w, r);
    if (!w->roster)
        (void)tsri_text_add(&all,
                            "rank %d: the starter of the ranks (mpirun) has not answered within "
                            "%.0f s: a rank may have died as it began; start again",
                            w->plan.rank, w->plan.start);
    else if (who.length > 0)
        (void)tsri_text_add(&all,
                            "%s has not joined within %.0f s: look at what was started there, or "
                            "raise cluster.start",
                            who.data, w->plan.start);
    else
        (void)tsri_text_add(&all,
                            "MPI has not begun within %.0f s: a rank is missing, or a firewall "
                            "stands between the hosts (docs/cluster.md)",
                            w->plan.start);
    give_up(w, all.data ? all.data : "a rank has not joined");
    tsri_text_fini(&who);
    tsri_text_fini(&all);
}

/* ---- Looking -------------------------------------------------------------------------------- */

static void look_at_beginning(tsri_guard *w)
{
    double late = w->plan.start + (w->plan.rank == 0 ? 0 : MANNERS);
    for (int r = 0; r < w->plan.size && !w->gave_up; r++)
        if (tsri_lifeline_cut(w->line, r) && !atomic_load(&w->begun))
            give_up_on(w, r);
    if (!w->gave_up && tsri_clock() - w->born > late && !atomic_load(&w->begun))
        give_up_late(w);
}

static void look_at_stop(tsri_guard *w)
{
    double now = tsri_clock(), inside = atomic_load(&w->inside);
    if (w->stop_seen == 0 && tsri_stop_asked())
        w->stop_seen = now;
    if (w->stop_seen == 0 || inside == 0 || w->gave_up)
        return;
    double stuck = now - (inside > w->stop_seen ? inside : w->stop_seen);
    if (!atomic_load(&w->begun) && stuck > GRACE_BEFORE)
        give_up(w, "stopped before all ranks had met");
    else if (stuck > GRACE)
        give_up(w, "stopped, but MPI hangs, so nothing more could be saved: the last checkpoint is "
                   "whole, add --resume to go on from it");
}

static void tell_unheld(const tsri_guard *w)
{
    for (int r = 1; w->plan.rank == 0 && r < w->plan.size; r++)
        if (!tsri_lifeline_held(w->line, r) && !tsri_lifeline_cut(w->line, r))
            TSRI_WARN("rank %d cannot reach the coordinator directly: only deadlines will tell "
                      "that it died (docs/cluster.md)",
                      r);
}

static void wait_for_news(tsri_guard *w)
{
    eventfd_t count;
    if (w->line)
        tsri_lifeline_look(w->line, LOOK_MS, w->wake);
    else
        (void)poll(&(struct pollfd){.fd = w->wake, .events = POLLIN}, 1, LOOK_MS);
    (void)eventfd_read(w->wake, &count);
}

static void *watch(void *context)
{
    tsri_guard *w = context;
    (void)tsr_context_use(w->owner);
    while (!atomic_load(&w->over)) {
        wait_for_news(w);
        look_at_beginning(w);
        look_at_stop(w);
        if (!w->shut && atomic_load(&w->begun) && w->line) {
            tsri_lifeline_shut(w->line);
            tell_unheld(w);
            w->shut = true;
        }
    }
    return NULL;
}

/* ---- Making and unmaking -------------------------------------------------------------------- */

tsr_status tsri_guard_create(tsri_guard **out, const tsri_guard_plan *plan)
{
    tsr_status st = TSR_OK;
    tsri_guard *w = NULL;
    TSR_TRY(tsri_alloc(&w, 1, sizeof *w));
    *w = (tsri_guard){.plan = *plan, .owner = tsri_context(), .born = tsri_clock()};
    atomic_init(&w->roster, plan->roster);
    atomic_init(&w->line, plan->line);
    w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    TSR_CHECK(w->wake >= 0, TSR_RESOURCES, "no descriptor for the thread that watches the ranks");
    TSR_CHECK(tsri_thread_start(&w->thread, watch, w) == 0, TSR_RESOURCES,
              "no thread to watch the ranks");
    w->running = true;
    *out = w;
    w = NULL;
done:
    if (w)
        w->line = NULL; /* the caller's still */
    tsri_guard_destroy(w);
    return st;
}

void tsri_guard_destroy(tsri_guard *guard)
{
    if (!guard)
        return;
    atomic_store(&guard->over, true);
    if (guard->running) {
        (void)eventfd_write(guard->wake, 1);
        (void)pthread_join(guard->thread, NULL);
    }
    if (guard->wake >= 0)
        (void)close(guard->wake);
    tsri_lifeline_close(guard->line);
    tsri_free(guard);
}

void tsri_guard_watch(tsri_guard *guard, const tsri_roster *roster, tsri_lifeline *line)
{
    atomic_store(&guard->line, line); /* first: without it nobody seems to have come */
    atomic_store(&guard->roster, roster);
    (void)eventfd_write(guard->wake, 1);
}

void tsri_guard_begun(tsri_guard *guard)
{
    atomic_store(&guard->begun, true);
    (void)eventfd_write(guard->wake, 1);
}

void tsri_guard_enter(tsri_guard *guard)
{
    atomic_store(&guard->inside, tsri_clock());
}

void tsri_guard_leave(tsri_guard *guard)
{
    atomic_store(&guard->inside, 0);
}

bool tsri_guard_died(const tsri_guard *guard, int rank)
{
    return guard && tsri_lifeline_cut(guard->line, rank);
}
