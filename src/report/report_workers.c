/* report_workers.c - where the time of each rank went, of a run in several processes: how long it
 * computed, sent and waited, its traffic, and which rank the workers waited for. From the lines
 * "times" and "lost" of metrics.jsonl. */
#include "report/report_parts.h"

#include "base/alloc.h"
#include "base/text.h"
#include "io/file.h"
#include "report/ranks.h"
#include "report/table.h"

#include <stdio.h>

typedef struct members {
    tsri_rank_time rank[TSRI_MEMBERS];
    int64_t ranks, lost;
} members;

static tsr_status take_times(void *context, const tsri_json_value *line)
{
    members *m = context;
    int64_t n = tsri_ranks_count(line);
    if (n > m->ranks) /* resumed with more */
        m->ranks = n;
    tsri_ranks_add(m->rank, n, line, 1);
    return TSR_OK;
}

static tsr_status take_lost(void *context, const tsri_json_value *line)
{
    (void)line;
    ((members *)context)->lost++;
    return TSR_OK;
}

/* ---- The section ---------------------------------------------------------------------------- */

enum { MOST_BARS = 24 };

static void say_who(tsri_page *p, const members *m)
{
    double waited;
    int64_t slowest = tsri_ranks_slowest(m->rank, m->ranks, &waited);
    if (slowest > 0)
        tsri_page_say(
            p,
            "Workers waited for %.0f %% of their time, most for rank %lld, which computed "
            "longest.",
            100 * waited, (long long)slowest);
    else if (slowest == 0)
        tsri_page_say(p,
                      "Workers waited for %.0f %% of their time, most for rank 0, which "
                      "coordinates.",
                      100 * waited);
    else
        tsri_page_say(p, "No worker waited long: for %.0f %% of their time.", 100 * waited);
    if (m->lost > 0)
        tsri_page_say(
            p,
            "%lld shares were lost: a worker died, was late, or sent numbers that are not "
            "finite.",
            (long long)m->lost);
}

static double sum_of(const tsri_rank_time *t)
{
    return t->compute + t->send + t->wait;
}

static void bars(tsri_page *p, const members *m)
{
    static const char *const name[] = {"computes", "sends", "waits"};
    char text[MOST_BARS][24];
    const char *category[MOST_BARS];
    double percent[3][MOST_BARS];
    tsri_chart c;
    int64_t n = m->ranks < MOST_BARS ? m->ranks : MOST_BARS;
    for (int64_t i = 0; i < n; i++) {
        const tsri_rank_time *t = &m->rank[i];
        double unit = sum_of(t) > 0 ? 100 / sum_of(t) : 0;
        (void)snprintf(text[i], sizeof text[i], i > 0 ? "rank %lld" : "rank %lld *", (long long)i);
        category[i] = text[i];
        percent[0][i] = unit * t->compute;
        percent[1][i] = unit * t->send;
        percent[2][i] = unit * t->wait;
    }
    tsri_chart_begin(&c, NULL);
    c.width = n > 6 ? 940 : 470;
    c.height = 300;
    tsri_chart_panel(&c, &(tsri_panel){.title = "Where the time of each rank went",
                                       .y_label = "% of its time",
                                       .y_high = 100,
                                       .category = category,
                                       .categories = n});
    for (int k = 0; k < 3; k++)
        tsri_chart_series(
            &c, &(tsri_series){.name = name[k], .n = n, .y = percent[k], .marks = TSRI_MARKS_BARS});
    tsri_page_chart(p, &c, "* coordinates");
    tsri_chart_fini(&c);
}

static void table(tsri_page *p, const members *m)
{
    tsri_table t = {0};
    tsri_table_head(&t, "rank|computed, s|sent, s|waited, s|bytes in|bytes out");
    for (int64_t i = 0; i < m->ranks; i++) {
        const tsri_rank_time *r = &m->rank[i];
        tsri_table_format(&t, "%lld%s", (long long)i, i > 0 ? "" : " *");
        tsri_table_real(&t, r->compute, 2);
        tsri_table_real(&t, r->send, 2);
        tsri_table_real(&t, r->wait, 2);
        tsri_table_format(&t, "%s", r->received > 0 ? tsri_bytes_text(r->received) : "");
        tsri_table_format(&t, "%s", r->sent > 0 ? tsri_bytes_text(r->sent) : "");
    }
    tsri_table_html(&p->html, &t);
    tsri_table_fini(&t);
}

tsr_status tsri_report_workers(tsri_page *p)
{
    tsr_status st = TSR_OK;
    members *m = NULL;
    char *path = NULL;
    TSR_TRY(tsri_path_join(&path, p->folder, "metrics.jsonl"));
    if (!tsri_file_exists(path))
        goto done;
    TSR_TRY(tsri_alloc(&m, 1, sizeof *m));
    TSR_TRY(tsri_lines_each(path, "times", take_times, m));
    TSR_TRY(tsri_lines_each(path, "lost", take_lost, m));
    if (m->ranks < 2)
        goto done;
    tsri_section_open(p, "Workers");
    say_who(p, m);
    bars(p, m);
    table(p, m);
    tsri_section_close(p);
done:
    tsri_free(m);
    tsri_free(path);
    return st;
}
