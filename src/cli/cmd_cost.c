/* cmd_cost.c - tessera cost: what a run takes, counted without training, for one number of workers
 * or many, and beside the other schemes. */
#include "cli/commands.h"
#include "cli/cost_options.h"
#include "cli/print.h"
#include "cli/settings.h"
#include "cli/string.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One row of a table: a scheme with some workers, or why that cannot be. */
typedef struct entry {
    const char *method; /* as people call it */
    bool base;          /* the others with as many workers are compared to it */
    int64_t workers;
    tsr_status st;
    char error[400];
    tsr_cost cost;
    tsr_prediction time;
    bool stops; /* a rule may end the run earlier: bytes are those of all rounds */
} entry;

/* ---- Counting ----------------------------------------------------------------------------- */

typedef struct asked {
    const cli_args *args;
    tsr_cost_data data; /* after the first count all of it is known */
    tsr_machine machine;
    bool timed;
} asked;

/* The run file with the command line's settings and `change`, assignments between semicolons. */
static tsr_status read_config(tsr_config **out, const cli_args *args, const char *change)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    char one[600];
    TSR_TRY(tsr_config_read(&config, args->operand[0]));
    TSR_TRY(cli_settings(config, args));
    for (const char *at = change; *at; at += strspn(at, ";")) {
        size_t n = strcspn(at, ";");
        (void)snprintf(one, sizeof one, "%.*s", (int)n, at);
        TSR_TRY(tsr_config_set(config, one));
        at += n;
    }
    if (*change)
        TSR_TRY(tsr_config_forget(config)); /* another scheme than the run file's */
    *out = config;
    config = NULL;
done:
    tsr_config_destroy(config);
    return st;
}

static tsr_status count(entry *e, const asked *a, const char *change)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    char *metric = NULL;
    TSR_TRY(read_config(&config, a->args, change));
    e->cost = tsr_cost_default();
    TSR_TRY(tsr_cost_count(&e->cost, config, &a->data));
    e->workers = e->cost.workers;
    metric = cli_setting(config, "stop.metric");
    e->stops = metric && strcmp(metric, "none") != 0;
    if (a->timed)
        tsr_cost_predict(&e->time, &e->cost, &a->machine);
done:
    tsr_free(metric);
    tsr_config_destroy(config);
    return st;
}

/* A combination that is impossible becomes a row without numbers; the table goes on. */
static void try_count(entry *e, const asked *a, int64_t workers, const char *change)
{
    char all[1000];
    (void)snprintf(all, sizeof all, "scheme.workers=%lld;%s", (long long)workers, change);
    e->workers = workers;
    e->st = count(e, a, all);
    if (e->st != TSR_OK)
        (void)snprintf(e->error, sizeof e->error, "%s", tsr_last_error());
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void json_cost(tsr_json *w, const tsr_cost *c)
{
    tsr_json_int(w, "params", c->params);
    tsr_json_int(w, "trained", c->trained);
    tsr_json_int(w, "params_share", c->params_share);
    tsr_json_int(w, "flops_step", c->flops_step);
    tsr_json_int(w, "flops_step_whole", c->flops_step_whole);
    tsr_json_int(w, "memory_worker", c->memory_worker);
    tsr_json_int(w, "local_steps", c->local_steps);
    tsr_json_int(w, "batch", c->batch);
    tsr_json_int(w, "micro_batches", c->micro_batches);
    tsr_json_int(w, "rounds", c->rounds);
    tsr_json_int(w, "bytes_round", c->bytes_round);
    tsr_json_int(w, "bytes_total", c->bytes_total);
    if (c->bytes_collected > 0)
        tsr_json_int(w, "bytes_collected", c->bytes_collected);
    if (c->memory_device > 0) {
        tsr_json_int(w, "memory_device", c->memory_device);
        tsr_json_int(w, "batch_fits", c->batch_fits);
    }
    tsr_json_bool(w, "exact", c->exact);
}

static void json_time(tsr_json *w, const tsr_prediction *t)
{
    tsr_json_real(w, "seconds_step", t->seconds_step);
    tsr_json_real(w, "seconds_send", t->seconds_send);
    tsr_json_real(w, "seconds_round", t->seconds_round);
    tsr_json_real(w, "seconds_run", t->seconds_run);
    tsr_json_int(w, "best_local_steps", t->local_steps);
    tsr_json_real(w, "best_seconds_run", t->seconds_best);
}

static void json_entry(tsr_json *w, const entry *e, const asked *a)
{
    if (e->method)
        tsr_json_text(w, "scheme", e->method);
    tsr_json_int(w, "workers", e->workers);
    if (e->st != TSR_OK) {
        tsr_json_text(w, "error", e->error);
        return;
    }
    json_cost(w, &e->cost);
    tsr_json_bool(w, "stops", e->stops);
    if (a->timed)
        json_time(w, &e->time);
}

static tsr_status print_json(const entry *own, const entry *list, int64_t n, const char *key,
                             const asked *a)
{
    tsr_json *w = tsr_json_create();
    json_entry(w, own, a);
    if (list) {
        tsr_json_open(w, key, '[');
        for (int64_t i = 0; i < n; i++) {
            tsr_json_open(w, NULL, '{');
            json_entry(w, &list[i], a);
            tsr_json_close(w, '}');
        }
        tsr_json_close(w, ']');
    }
    return cli_json_print(w);
}

/* ---- Text --------------------------------------------------------------------------------- */

static void line(cli_table *t, const char *what)
{
    cli_table_text(t, what);
}

static tsr_status print_own(const entry *e, const asked *a)
{
    tsr_status st = TSR_OK;
    const tsr_cost *c = &e->cost;
    cli_table t = {0};
    cli_table_columns(&t, 2, 0);
    line(&t, "model");
    cli_table_format(&t, "%lld numbers, %lld of them trained", (long long)c->params,
                     (long long)c->trained);
    line(&t, "worker");
    cli_table_format(&t, "%lld numbers (%.1f %% of the whole), the largest of %lld",
                     (long long)c->params_share, 100 * (double)c->params_share / (double)c->params,
                     (long long)c->workers);
    line(&t, "step");
    cli_table_format(&t, "%.4g GFLOP of the busiest worker (%.1f %% of the whole), batch %lld",
                     (double)c->flops_step / 1e9,
                     100 * (double)c->flops_step / (double)c->flops_step_whole,
                     (long long)c->batch);
    line(&t, "memory");
    cli_table_format(&t, "%s of a worker: weights, gradient, momentum and activations",
                     cli_bytes((double)c->memory_worker));
    if (c->memory_device > 0) {
        line(&t, "GPU");
        cli_table_format(&t, "%s of its memory, all workers together; batch up to about %lld",
                         cli_bytes((double)c->memory_device), (long long)c->batch_fits);
    }
    line(&t, "length");
    cli_table_format(&t, "%lld %s of %lld %s, %.4g epochs", (long long)c->rounds,
                     c->rounds == 1 ? "round" : "rounds", (long long)c->local_steps,
                     c->local_steps == 1 ? "step" : "steps", c->epochs);
    line(&t, "traffic");
    cli_table_format(&t, "%s a round, %s in all, both directions, all workers%s",
                     cli_bytes((double)c->bytes_round), cli_bytes((double)c->bytes_total),
                     c->exact ? "" : "; close to the run's, not exact");
    if (e->stops) {
        line(&t, "stop");
        cli_table_text(&t, "a rule may end the run earlier: length and traffic are the most");
    }
    if (c->bytes_collected > 0) {
        line(&t, "collecting");
        cli_table_format(&t, "%s under mpirun: the stages' numbers, out once, back at every look",
                         cli_bytes((double)c->bytes_collected));
    }
    if (a->timed) {
        line(&t, "time");
        cli_table_format(&t, "%.4g s a round, %.4g s of them sending; %.4g s in all",
                         e->time.seconds_round, e->time.seconds_send, e->time.seconds_run);
    }
    TSR_TRY(cli_table_print(&t, stdout));
done:
    cli_table_fini(&t);
    return st;
}

static void blank(cli_table *t, int cells)
{
    for (int i = 0; i < cells; i++)
        cli_table_text(t, "-");
}

/* Why there are rows without numbers: the first one's reason, without the place in our own
 * settings. */
static void complain(const entry *list, int64_t n)
{
    int64_t failed = 0;
    for (int64_t i = 0; i < n; i++) {
        const char *why = list[i].error, *colon = strstr(why, ": ");
        if (list[i].st == TSR_OK)
            continue;
        if (strncmp(why, "--set ", 6) == 0 && colon)
            why = colon + 2;
        if (failed++ == 0)
            (void)printf("- %s with %lld workers: %s\n", list[i].method ? list[i].method : "not",
                         (long long)list[i].workers, why);
    }
}

static void plan_row(cli_table *t, const entry *e, const asked *a)
{
    const tsr_cost *c = &e->cost;
    cli_table_int(t, e->workers);
    if (e->st != TSR_OK) {
        blank(t, a->timed ? 8 : 4);
        return;
    }
    cli_table_format(t, "%.3g M", (double)c->params_share / 1e6);
    cli_table_text(t, cli_bytes((double)c->memory_worker));
    cli_table_text(t, cli_bytes((double)c->bytes_round));
    cli_table_text(t, cli_bytes((double)c->bytes_total));
    if (!a->timed)
        return;
    cli_table_format(t, "%.4g s", e->time.seconds_round);
    cli_table_format(t, "%.0f %%", 100 * e->time.seconds_send / e->time.seconds_round);
    if (c->local)
        cli_table_int(t, e->time.local_steps);
    else
        cli_table_text(t, "-");
    cli_table_format(t, "%.4g s", e->time.seconds_best);
}

static tsr_status print_plan(const entry *list, int64_t n, const asked *a)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    if (a->timed)
        cli_table_head(&t, 9, "workers", "share", "memory", "a round", "in all", "round", "sending",
                       "best l", "run");
    else
        cli_table_head(&t, 5, "workers", "share", "memory", "a round", "in all");
    for (int64_t i = 0; i < n; i++)
        plan_row(&t, &list[i], a);
    (void)puts("");
    TSR_TRY(cli_table_print(&t, stdout));
    if (a->timed)
        (void)printf("best l: the fewest local steps with which sending takes at most %.0f %% of a "
                     "round; run: the whole run with those\n",
                     100 * a->machine.sending);
    complain(list, n);
done:
    cli_table_fini(&t);
    return st;
}

/* The bytes of what entries with that many workers are compared to. */
static double base_bytes(const entry *list, int64_t n, int64_t workers)
{
    for (int64_t i = 0; i < n; i++)
        if (list[i].workers == workers && list[i].st == TSR_OK && list[i].base)
            return (double)list[i].cost.bytes_total;
    return 0;
}

static tsr_status print_compare(const entry *list, int64_t n)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    cli_table_head(&t, 6, "method", "workers", "share", "memory", "comm. cost", "improv.");
    for (int64_t i = 0; i < n; i++) {
        const entry *e = &list[i];
        double base = base_bytes(list, n, e->workers);
        cli_table_text(&t, e->method);
        cli_table_int(&t, e->workers);
        if (e->st != TSR_OK) {
            blank(&t, 4);
            continue;
        }
        cli_table_format(&t, "%.3g M", (double)e->cost.params_share / 1e6);
        cli_table_text(&t, cli_bytes((double)e->cost.memory_worker));
        cli_table_format(&t, "%.2fG", (double)e->cost.bytes_total / 1e9);
        if (e->base || base <= 0)
            cli_table_text(&t, "-");
        else
            cli_table_format(&t, "%.2fx", (double)e->cost.bytes_total / base);
    }
    (void)puts("");
    TSR_TRY(cli_table_print(&t, stdout));
    complain(list, n);
done:
    cli_table_fini(&t);
    return st;
}

/* ---- The tables --------------------------------------------------------------------------- */

/* gpipe's rounds are single steps: as many as the workers of the run file take. */
static tsr_status gpipe_change(char *to, size_t room, const entry *own, const asked *a,
                               int64_t workers)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    char cuts[500] = "";
    TSR_TRY(read_config(&config, a->args, ""));
    bool by_epochs = cli_setting_real(config, "rounds") == 0;
    cli_cost_cuts(cuts, sizeof cuts, a->args, workers);
    int n = snprintf(to, room, "scheme.name=gpipe;scheme.local_steps=1;scheme.data=replicate%s%s",
                     cuts[0] ? ";scheme.cuts=" : "", cuts);
    if (!by_epochs && n > 0 && (size_t)n < room)
        (void)snprintf(to + n, room - (size_t)n, ";rounds=%lld",
                       (long long)(own->cost.rounds * own->cost.local_steps));
done:
    tsr_config_destroy(config);
    return st;
}

static tsr_status compare(entry *list, const entry *own, const asked *a, const cli_counts *workers)
{
    tsr_status st = TSR_OK;
    char change[800];
    for (int64_t i = 0; i < workers->count; i++) {
        int64_t s = workers->value[i];
        entry *e = &list[3 * i];
        TSR_TRY(gpipe_change(change, sizeof change, own, a, s));
        e[0].method = "gpipe";
        try_count(&e[0], a, s, change);
        e[1].method = "local_sgd";
        try_count(&e[1], a, s, "scheme.name=local_sgd");
        e[2].method = "loft";
        e[2].base = true;
        try_count(&e[2], a, s, "scheme.name=loft");
    }
done:
    return st;
}

/* Fails when no row of the table is possible. */
static tsr_status some_row(const entry *list, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (list[i].st == TSR_OK)
            return TSR_OK;
    return n > 0 ? tsr_fail(list[0].st, "%s", list[0].error) : TSR_OK;
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    entry own = {0}, *list = NULL;
    asked a = {.args = args};
    cli_counts workers = {0};
    bool comparing = cli_has(args, "compare");
    TSR_TRY(cli_cost_data(&a.data, args));
    TSR_TRY(cli_cost_machine(&a.machine, &a.timed, args));
    TSR_TRY(cli_cost_workers(&workers, args, comparing));
    TSR_TRY(cli_cost_cuts_fit(args, &workers, comparing));
    TSR_TRY(count(&own, &a, ""));
    a.data = own.cost.data;
    int64_t n = workers.count * (comparing ? 3 : 1);
    if (n > 0) {
        TSR_TRY(cli_alloc(&list, n, sizeof *list));
        if (comparing)
            TSR_TRY(compare(list, &own, &a, &workers));
        for (int64_t i = 0; !comparing && i < n; i++)
            try_count(&list[i], &a, workers.value[i], "");
        TSR_TRY(some_row(list, n));
    }
    if (args->json)
        TSR_TRY(print_json(&own, list, n, comparing ? "compare" : "plan", &a));
    else
        TSR_TRY(print_own(&own, &a));
    if (!args->json && list)
        TSR_TRY(comparing ? print_compare(list, n) : print_plan(list, n, &a));
done:
    free(list);
    free(workers.value);
    return st;
}

static const cli_option options[] = {
    CLI_OPTION_SET,
    CLI_OPTION_DATA,
    {"workers", 'w', "LIST", CLI_TEXT,
     .help = "count for each of these numbers of workers, \"2,4,8,...,1024\""},
    {"compare", 0, NULL, CLI_FLAG,
     .help = "compare gpipe, local_sgd and loft, with 2 and 4 workers or those given"},
    {"cuts", 0, "LAYERS", CLI_TEXT,
     .help = "compare: where gpipe cuts, \"layer2.1,layer3.1\"; once for each number of workers"},
    {"device-gflops", 0, "X", CLI_REAL, .least = 1e-6, .most = 1e12,
     .help = "speed of a worker (tessera bench measures it): predict times"},
    {"bandwidth", 0, "RATE", CLI_TEXT, .help = "of a link: 1Gbit, 100Mbit, 2GB; 1Gbit by default"},
    {"latency", 0, "TIME", CLI_TEXT, .help = "of a message: 1ms, 50us; 1ms by default"},
    {"sending", 0, "PART", CLI_REAL, .least = 0.001, .most = 0.999,
     .help = "part of a round that sending may take with the best l; 0.1 by default"},
    {"samples", 0, "N", CLI_INT, .least = 1, .most = 1e12,
     .help = "training samples: plan for data that is not here"},
    {"shape", 0, "CxHxW", CLI_TEXT, .help = "of such a sample, \"3x224x224\""},
    {"classes", 0, "N", CLI_INT, .least = 2, .most = 1e9, .help = "of such data"},
    {0},
};

const cli_command cli_cost = {
    .name = "cost",
    .help = "count what a run takes without training: operations, memory, traffic",
    .synopsis = "RUN-FILE",
    .least = 1,
    .most = 1,
    .operand = CLI_FILE,
    .options = options,
    .details =
        "Bytes are those that the run will count, to the byte: every round is drawn where rounds "
        "differ. Memory is that of the plan a worker would make.\n\n"
        "Times come from a simple model: a worker computes at --device-gflops; all traffic of a "
        "round goes over one link of the machine that holds the whole network; gpipe's clock "
        "ticks at the pace of its busiest stage and widest cut.",
    .run = run,
};
