/* loft_table_show.c - Table 1 of the LoFT paper, from its cells: judged, tabulated, drawn. */
#include "reproduce/loft_table.h"

#include <math.h>
#include <stdio.h>

enum { LOFT_METHODS = 2, GPIPE = 2, LOCAL_SGD = 3 }; /* places in tsri_table1_methods */

static bool any_of(const double *value, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!isnan(value[i]))
            return true;
    return false;
}

/* Those seeds that are there, and how many they are. */
static int64_t take_there(double there[TSRI_SEEDS_MOST], const double *value, int64_t n)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(value[i]))
            there[count++] = value[i];
    return count;
}

static tsri_estimate mean_there(int64_t *count, const double *value, int64_t n)
{
    double there[TSRI_SEEDS_MOST];
    *count = take_there(there, value, n);
    return tsri_mean_of(there, *count);
}

/* Seeds that nobody made yet are no evidence: those that are there decide, if they are enough. Where
 * none is, the claim stays undecided. */
static void judge(tsri_study *s, const char *id, const char *part, const double *value, int64_t n)
{
    double there[TSRI_SEEDS_MOST];
    int64_t count = take_there(there, value, n);
    if (count > 0)
        tsri_study_judge(s, id, part, there, count);
    else
        tsri_study_leave(s, id, part, "its cells are not made yet");
}

/* ---- Claims ---------------------------------------------------------------------------------- */

/* LoFT's ticket beside another method's. */
static void compare(tsri_study *s, const tsri_table1 *t, int network, int loft, int other,
                    int ratio)
{
    double less[TSRI_SEEDS_MOST];
    char part[120];
    for (int64_t k = 0; k < t->seeds; k++)
        less[k] = t->accuracy[network][loft][ratio][k] - t->accuracy[network][other][ratio][k];
    (void)snprintf(part, sizeof part, "%s, %s less %s, %.0f %%",
                   tsri_table1_networks[network].title, tsri_table1_methods[loft].title,
                   tsri_table1_methods[other].title, 100 * tsri_table1_ratio[ratio]);
    judge(s, "loft/table1/comparable", part, less, t->seeds);
}

static bool any_ticket(const tsri_table1 *t, int network)
{
    bool any = false;
    for (int m = 0; m < TSRI_TABLE1_METHODS; m++)
        for (int r = 0; r < TSRI_TABLE1_RATIOS; r++)
            any |= any_of(t->accuracy[network][m][r], t->seeds);
    return any;
}

static void judge_comparable(tsri_study *s, const tsri_table1 *t)
{
    for (int n = 0; n < TSRI_TABLE1_NETWORKS; n++)
        if (!any_ticket(t, n)) /* said once, not for each of its twelve parts */
            tsri_study_leave(s, "loft/table1/comparable", tsri_table1_networks[n].title,
                             "its cells are not made yet");
        else
            for (int loft = 0; loft < LOFT_METHODS; loft++)
                for (int r = 0; r < TSRI_TABLE1_RATIOS; r++) {
                    compare(s, t, n, loft, GPIPE, r);
                    compare(s, t, n, loft, LOCAL_SGD + loft, r);
                }
}

static void judge_traffic(tsri_study *s, const tsri_table1 *t)
{
    double times[TSRI_SEEDS_MOST];
    char part[80];
    for (int n = 0; n < TSRI_TABLE1_NETWORKS; n++)
        for (int loft = 0; loft < LOFT_METHODS; loft++) {
            const tsri_table1_network *p = &tsri_table1_networks[n];
            double paper = p->traffic[LOCAL_SGD + loft] / p->traffic[loft];
            for (int64_t k = 0; k < t->seeds; k++)
                times[k] = t->traffic[n][LOCAL_SGD + loft][k] / t->traffic[n][loft][k] / paper;
            (void)snprintf(part, sizeof part, "%s, %d workers (%.2f times)", p->title,
                           tsri_table1_methods[loft].workers, paper);
            judge(s, "loft/table1/local-sgd", part, times, t->seeds);
        }
}

/* The mean over all tickets of PreActResNet-18 of a seed; NaN while one is missing. */
static double mean_of_tickets(const tsri_table1 *t, int64_t seed)
{
    double sum = 0;
    for (int m = 0; m < TSRI_TABLE1_METHODS; m++)
        for (int r = 0; r < TSRI_TABLE1_RATIOS; r++)
            sum += t->accuracy[0][m][r][seed];
    return sum / (TSRI_TABLE1_METHODS * TSRI_TABLE1_RATIOS);
}

static void judge_tickets(tsri_study *s, const tsri_table1 *t)
{
    double mean[TSRI_SEEDS_MOST];
    for (int64_t k = 0; k < t->seeds; k++)
        mean[k] = mean_of_tickets(t, k);
    judge(s, "loft/table1/dense", NULL, t->dense[0], t->seeds);
    judge(s, "loft/table1/tickets", NULL, mean, t->seeds);
}

/* ---- The table --------------------------------------------------------------------------------- */

static void measured(tsri_table *to, const double *value, int64_t seeds)
{
    int64_t count;
    tsri_estimate e = mean_there(&count, value, seeds);
    if (count > 1)
        tsri_table_format(to, "%.2f (%.2f to %.2f)", e.value, e.low, e.high);
    else
        tsri_table_format(to, "%.2f", e.value);
    tsri_table_format(to, "%lld", (long long)count);
}

static void dense_row(tsri_table *to, const tsri_table1 *t, int network)
{
    if (!any_of(t->dense[network], t->seeds))
        return;
    tsri_table_text(to, tsri_table1_networks[network].title);
    tsri_table_text(to, "dense");
    tsri_table_text(to, "");
    tsri_table_real(to, tsri_table1_networks[network].dense, 2);
    measured(to, t->dense[network], t->seeds);
    for (int i = 0; i < 3; i++)
        tsri_table_text(to, "");
}

static void real_or_nothing(tsri_table *to, double value, int digits)
{
    if (isnan(value))
        tsri_table_text(to, "");
    else
        tsri_table_real(to, value, digits);
}

static void ticket_row(tsri_table *to, const tsri_table1 *t, int network, int method, int ratio)
{
    const tsri_table1_network *p = &tsri_table1_networks[network];
    const double *value = t->accuracy[network][method][ratio];
    int64_t count;
    if (!any_of(value, t->seeds))
        return;
    tsri_table_text(to, p->title);
    tsri_table_text(to, tsri_table1_methods[method].title);
    tsri_table_format(to, "%.0f", 100 * tsri_table1_ratio[ratio]);
    real_or_nothing(to, p->accuracy[method][ratio], 2);
    measured(to, value, t->seeds);
    real_or_nothing(to, p->traffic[method], 2);
    double traffic = mean_there(&count, t->traffic[network][method], t->seeds).value;
    real_or_nothing(to, traffic > 0 ? traffic : (double)NAN, 2);
    real_or_nothing(to, mean_there(&count, t->seconds[network][method][ratio], t->seeds).value, 0);
}

static void tabulate(tsri_study *s, const tsri_table1 *t)
{
    tsri_table table = {0};
    tsri_table_head(&table, "network|pretrained by|pruned, %|paper, %|here, % (95 %)|seeds|"
                            "paper, GB|here, GB|training, s");
    for (int n = 0; n < TSRI_TABLE1_NETWORKS; n++) {
        dense_row(&table, t, n);
        for (int m = 0; m < TSRI_TABLE1_METHODS; m++)
            for (int r = 0; r < TSRI_TABLE1_RATIOS; r++)
                ticket_row(&table, t, n, m, r);
    }
    tsri_study_table(s, "accuracy-table", "Test accuracy after fine-tuning, and traffic", &table);
    tsri_table_fini(&table);
}

/* ---- The picture ------------------------------------------------------------------------------- */

enum { BARS = TSRI_TABLE1_METHODS + 1 };

/* Of one ratio: each method's mean, the dense network's last. `paper`: the printed ones. */
static void bars_of(double y[BARS], const tsri_table1 *t, int network, int ratio, bool paper)
{
    const tsri_table1_network *p = &tsri_table1_networks[network];
    int64_t count;
    for (int m = 0; m < TSRI_TABLE1_METHODS; m++)
        y[m] = paper ? p->accuracy[m][ratio]
                     : mean_there(&count, t->accuracy[network][m][ratio], t->seeds).value;
    y[BARS - 1] = paper ? p->dense : mean_there(&count, t->dense[network], t->seeds).value;
}

/* Both panels have one scale, so that here and there can be compared. */
static void draw(tsri_study *s, const tsri_table1 *t)
{
    static const char *const names[BARS] = {"LoFT-4",      "LoFT-2",      "GPipe",
                                            "local SGD-4", "local SGD-2", "dense"};
    static const char *const ratio_name[TSRI_TABLE1_RATIOS] = {"80 % pruned", "50 % pruned",
                                                               "30 % pruned"};
    double y[2][TSRI_TABLE1_RATIOS][BARS];
    tsri_chart c;
    double low = 100;
    for (int k = 0; k < 2; k++)
        for (int r = 0; r < TSRI_TABLE1_RATIOS; r++) {
            bars_of(y[k][r], t, 0, r, k == 1);
            for (int i = 0; i < BARS; i++)
                low = y[k][r][i] < low ? y[k][r][i] : low;
        }
    tsri_chart_begin(&c, "Test accuracy of tickets, PreActResNet-18 on CIFAR-10");
    for (int k = 0; k < 2; k++) {
        tsri_chart_panel(&c, &(tsri_panel){.title = k ? "the paper's Table 1" : "here",
                                           .y_label = "percent",
                                           .category = names,
                                           .categories = BARS,
                                           .y_low = floor(low - 0.5),
                                           .y_high = 96});
        for (int r = 0; r < TSRI_TABLE1_RATIOS - k; r++)
            tsri_chart_series(
                &c, &(tsri_series){
                        .name = ratio_name[r], .n = BARS, .y = y[k][r], .marks = TSRI_MARKS_BARS});
    }
    tsri_study_chart(s, "accuracy", &c);
    tsri_chart_fini(&c);
}

void tsri_table1_show(tsri_study *s, const tsri_table1 *t)
{
    judge_comparable(s, t);
    judge_traffic(s, t);
    judge_tickets(s, t);
    tsri_study_leave(s, "loft/table1/gpipe", NULL,
                     "GPipe is not trained in stages here: the table without --paper counts it");
    if (t->made > 0)
        draw(s, t);
    tabulate(s, t);
}
