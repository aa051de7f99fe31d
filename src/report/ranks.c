/* ranks.c - where the time of the processes of a run went, and which one the others wait for. */
#include "report/ranks.h"

int64_t tsri_ranks_count(const tsri_json_value *line)
{
    const tsri_json_value *list = tsri_json_get(line, "ranks");
    int64_t n = tsri_json_is_array(list) ? tsri_json_length(list) : 0;
    return n < TSRI_MEMBERS ? n : TSRI_MEMBERS;
}

void tsri_ranks_add(tsri_rank_time *rank, int64_t n, const tsri_json_value *line, double fades)
{
    static const char *const key[] = {"compute", "send", "wait", "received", "sent"};
    const tsri_json_value *list = tsri_json_get(line, "ranks");
    for (int64_t i = 0; i < n; i++) {
        double *to[] = {&rank[i].compute, &rank[i].send, &rank[i].wait, &rank[i].received,
                        &rank[i].sent};
        for (int k = 0; k < 5; k++) {
            double value = 0;
            (void)tsri_json_as_real(tsri_json_get(tsri_json_at(list, i), key[k]), &value);
            *to[k] = fades * *to[k] + (value > 0 ? value : 0);
        }
    }
}

/* A rank is to blame for the time that the others would not wait if it computed no longer than they
 * do; for the rest of the waiting the coordinator is. */
int64_t tsri_ranks_slowest(const tsri_rank_time *rank, int64_t n, double *waited)
{
    static const double noticeable = 0.05;
    int64_t slowest = 1;
    double waits = 0, all = 0, compute = 0, others = (double)(n - 2);
    *waited = 0;
    for (int64_t i = 1; i < n; i++)
        slowest = rank[i].compute > rank[slowest].compute ? i : slowest;
    for (int64_t i = 1; i < n; i++) {
        const tsri_rank_time *t = &rank[i];
        if (i == slowest && others > 0)
            continue;
        waits += t->wait;
        compute += t->compute;
        all += t->compute + t->send + t->wait;
    }
    if (all > 0)
        *waited = waits / all;
    if (*waited <= noticeable)
        return -1;
    return others > 0 && others * rank[slowest].compute - compute > waits / 2 ? slowest : 0;
}
