/* starter_pmix.c - questions to the program that started the ranks, by PMIx. */
#include "comm/starter.h"

#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PMIx counts who has begun with it: MPI begins again and finds it ready. A process that nobody
 * started has no namespace; PMIx would then begin on its own, and leak. */
static bool begin(pmix_proc_t *self)
{
    return getenv("PMIX_NAMESPACE") && PMIx_Init(self, NULL, 0) == PMIX_SUCCESS;
}

void tsri_starter_finish(void)
{
    (void)PMIx_Finalize(NULL, 0);
}

static bool get(pmix_value_t **value, int rank, const char *key, int seconds)
{
    pmix_proc_t proc;
    pmix_info_t info;
    *value = NULL;
    if (!begin(&proc)) /* to learn the job's name; counted back below */
        return false;
    proc.rank = (pmix_rank_t)rank;
    PMIX_INFO_CONSTRUCT(&info);
    PMIX_INFO_LOAD(&info, PMIX_TIMEOUT, &seconds, PMIX_INT);
    bool got = PMIx_Get(&proc, key, &info, 1, value) == PMIX_SUCCESS;
    PMIX_INFO_DESTRUCT(&info);
    tsri_starter_finish();
    return got;
}

void tsri_starter_host(char host[TSRI_STARTER_HOST], int rank)
{
    pmix_value_t *value;
    if (!get(&value, rank, PMIX_HOSTNAME, 1))
        return;
    if (value->type == PMIX_STRING && value->data.string)
        (void)snprintf(host, TSRI_STARTER_HOST, "%s", value->data.string);
    PMIX_VALUE_RELEASE(value);
}

bool tsri_starter_put(const char *name, void *bytes, int64_t n)
{
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT, .data.bo = {.bytes = bytes, .size = (size_t)n}};
    return PMIx_Put(PMIX_GLOBAL, name, &value) == PMIX_SUCCESS;
}

bool tsri_starter_post(void)
{
    return PMIx_Commit() == PMIX_SUCCESS;
}

bool tsri_starter_ask(const char *name, int rank, void *bytes, int64_t room, int64_t *got,
                      int seconds)
{
    pmix_value_t *value;
    if (!get(&value, rank, name, seconds))
        return false;
    bool fits = value->type == PMIX_BYTE_OBJECT && (int64_t)value->data.bo.size <= room;
    if (fits) {
        *got = (int64_t)value->data.bo.size;
        if (*got > 0)
            memcpy(bytes, value->data.bo.bytes, value->data.bo.size);
    }
    PMIX_VALUE_RELEASE(value);
    return fits;
}

void tsri_starter_abort(int status)
{
    pmix_proc_t self;
    if (begin(&self)) /* it may not have begun */
        (void)PMIx_Abort(status, "", NULL, 0);
}

bool tsri_starter_begin(void)
{
    pmix_proc_t self;
    return begin(&self);
}
