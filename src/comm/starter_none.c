/* starter_none.c - built in place of starter_pmix.c where PMIx is not installed: nobody answers. */
#include "comm/starter.h"

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
