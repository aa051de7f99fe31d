/* roster.c - which ranks were started and where, asked of their starter (PMIx) before MPI
 * begins. */
#include "comm/roster.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "comm/starter.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

struct tsri_roster {
    int size;
    bool known;
    char (*host)[TSRI_STARTER_HOST]; /* [size], cut to fit; "" = not known */
};

static void *abort_all(void *status)
{
    tsri_starter_abort(*(const int *)status);
    return NULL;
}

tsr_status tsri_roster_create(tsri_roster **out, int size)
{
    tsr_status st = TSR_OK;
    tsri_roster *roster = NULL;
    TSR_TRY(tsri_alloc(&roster, 1, sizeof *roster));
    *roster = (tsri_roster){.size = size};
    TSR_TRY(tsri_alloc(&roster->host, size, sizeof *roster->host));
    roster->known = tsri_starter_begin();
    for (int r = 0; roster->known && r < size; r++)
        tsri_starter_host(roster->host[r], r);
    *out = roster;
    roster = NULL;
done:
    tsri_roster_destroy(roster);
    return st;
}

void tsri_roster_destroy(tsri_roster *roster)
{
    if (!roster)
        return;
    if (roster->known)
        tsri_starter_finish();
    tsri_free(roster->host);
    tsri_free(roster);
}

bool tsri_roster_known(const tsri_roster *roster)
{
    return roster && roster->known;
}

const char *tsri_roster_host(const tsri_roster *roster, int rank)
{
    bool is = roster && rank >= 0 && rank < roster->size && *roster->host[rank];
    return is ? roster->host[rank] : NULL;
}

bool tsri_roster_one_host(const tsri_roster *roster)
{
    for (int r = 0; r < roster->size; r++)
        if (!*roster->host[r] || strcmp(roster->host[r], roster->host[0]) != 0)
            return false;
    return true;
}

tsr_status tsri_roster_leave(tsri_roster *roster, const char *name, void *bytes, int64_t n)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(!roster->known || tsri_starter_put(name, bytes, n), TSR_FAILURE,
              "PMIx: nothing can be left for the other ranks");
done:
    return st;
}

tsr_status tsri_roster_post(tsri_roster *roster)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(!roster->known || tsri_starter_post(), TSR_FAILURE,
              "PMIx: nothing can be posted for the other ranks");
done:
    return st;
}

/* "Not found" may mean that the rank has begun and has not left it yet. */
bool tsri_roster_fetch(tsri_roster *roster, const char *name, int rank, void *bytes, int64_t room,
                       int64_t *got, double seconds)
{
    double until = tsri_clock() + seconds;
    *got = 0;
    while (roster->known) {
        double left = until - tsri_clock();
        if (tsri_starter_ask(name, rank, bytes, room, got, left > 1 ? (int)left : 1))
            return true;
        if (tsri_clock() >= until)
            break;
        (void)nanosleep(&(struct timespec){0, 20000000}, NULL);
    }
    return false;
}

/* Asks on a thread of its own, since the one that should answer may hang. A step of the machine's
 * clock makes the wait neither longer nor shorter. */
bool tsri_roster_ask_end(int status)
{
    enum { SECONDS = 3 };
    static int last;
    pthread_t thread;
    struct timespec until;
    last = status;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += SECONDS;
    return pthread_create(&thread, NULL, abort_all, &last) == 0 &&
           pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until) == 0;
}
