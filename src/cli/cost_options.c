/* cost_options.c - the command line of tessera cost. */
#include "cli/cost_options.h"
#include "cli/string.h"

#include <stdio.h>
#include <string.h>

enum { WORKERS_MOST = 1000000, LIST_MOST = 1000 };

/* ---- Lists of workers --------------------------------------------------------------------- */

/* The next word up to a comma; false at the end. */
static bool next_word(char *word, size_t room, const char **at)
{
    *at += strspn(*at, ", ");
    size_t n = strcspn(*at, ", ");
    (void)snprintf(word, room, "%.*s", (int)(n < room ? n : room - 1), *at);
    *at += n;
    return n > 0;
}

static tsr_status add_count(cli_counts *c, int64_t value)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(c->count < LIST_MOST, TSR_USAGE, "--workers: more than %d numbers", LIST_MOST);
    c->value[c->count++] = value;
done:
    return st;
}

/* 2, 4, 8, ... up to `last` (which is added by the caller): by the factor of the two before. */
static tsr_status go_on(cli_counts *c, int64_t last)
{
    tsr_status st = TSR_OK;
    int64_t a = c->count > 1 ? c->value[c->count - 2] : 0,
            b = c->count > 1 ? c->value[c->count - 1] : 0;
    TSR_CHECK(c->count > 1 && b > a && b % a == 0, TSR_USAGE,
              "--workers: dots go on by the factor of the two numbers before them, \"2,4,...,64\"");
    for (int64_t v = b * (b / a); v < last; v *= b / a)
        TSR_TRY(add_count(c, v));
done:
    return st;
}

tsr_status cli_cost_workers(cli_counts *workers, const cli_args *args, bool comparing)
{
    tsr_status st = TSR_OK;
    const char *at = cli_text(args, "workers");
    char word[40];
    bool dots = false;
    if (!at && !comparing)
        return TSR_OK;
    TSR_TRY(cli_alloc(&workers->value, LIST_MOST, sizeof *workers->value));
    for (at = at ? at : "2,4"; next_word(word, sizeof word, &at);) {
        int64_t value = 0;
        if (strcmp(word, "...") == 0 && !dots) {
            dots = true;
            continue;
        }
        TSR_CHECK(cli_number_int(&value, word) && value >= 1 && value <= WORKERS_MOST, TSR_USAGE,
                  "--workers: %s is not a number of workers from 1 to %d", tsr_quote(word),
                  WORKERS_MOST);
        if (dots)
            TSR_TRY(go_on(workers, value));
        dots = false;
        TSR_TRY(add_count(workers, value));
    }
    TSR_CHECK(!dots && workers->count > 0, TSR_USAGE,
              "--workers: give numbers between commas, \"2,4,8,...,1024\"");
done:
    return st;
}

/* ---- Rates and times ---------------------------------------------------------------------- */

typedef struct unit {
    const char *name;
    double worth;
} unit;

/* A number and a unit behind it; 0 only where that means something. */
static tsr_status with_unit(double *out, const char *text, const unit *units, const char *option,
                            const char *example, bool zero)
{
    tsr_status st = TSR_OK;
    char number[40];
    size_t n = strspn(text, "0123456789.");
    double value = 0, worth = 0;
    (void)snprintf(number, sizeof number, "%.*s", (int)(n < 39 ? n : 39), text);
    for (const unit *u = units; u->name; u++)
        if (strcmp(u->name, text + n) == 0)
            worth = u->worth;
    bool read = cli_number_real(&value, number) && worth > 0;
    TSR_CHECK(read && (value > 0 || zero), TSR_USAGE,
              "--%s: %s is not understood: write it like %s", option, tsr_quote(text), example);
    *out = value * worth;
done:
    return st;
}

tsr_status cli_cost_machine(tsr_machine *machine, bool *timed, const cli_args *args)
{
    static const unit rates[] = {
        {"bit", 0.125},   {"kbit", 125},   {"Mbit", 125e3},   {"Gbit", 125e6},
        {"Tbit", 125e9},  {"kB", 1e3},     {"MB", 1e6},       {"GB", 1e9},
        {"bit/s", 0.125}, {"kbit/s", 125}, {"Mbit/s", 125e3}, {"Gbit/s", 125e6},
        {"kB/s", 1e3},    {"MB/s", 1e6},   {"GB/s", 1e9},     {NULL, 0}};
    static const unit times[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {NULL, 0}};
    tsr_status st = TSR_OK;
    const char *rate = cli_text(args, "bandwidth"), *time = cli_text(args, "latency");
    bool fast = cli_has(args, "device-gflops");
    *timed = fast || rate || time || cli_has(args, "sending");
    TSR_CHECK(!*timed || fast, TSR_USAGE,
              "to predict times give --device-gflops, the speed of a worker: tessera bench "
              "measures it");
    machine->flops = 1e9 * cli_real(args, "device-gflops", 1);
    machine->sending = cli_real(args, "sending", 0.1);
    TSR_TRY(
        with_unit(&machine->bandwidth, rate ? rate : "1Gbit", rates, "bandwidth", "1Gbit", false));
    TSR_TRY(with_unit(&machine->latency, time ? time : "1ms", times, "latency", "1ms", true));
done:
    return st;
}

/* ---- Data that are not here --------------------------------------------------------------- */

/* "3x224x224" as three whole numbers above 0. */
static bool read_shape(int64_t size[3], const char *text)
{
    for (int i = 0; i < 3; i++) {
        char number[20];
        size_t n = strcspn(text, "x");
        (void)snprintf(number, sizeof number, "%.*s", (int)(n < 19 ? n : 19), text);
        if (!cli_number_int(&size[i], number) || size[i] < 1 || size[i] > 1000000 ||
            (text[n] == 'x') != (i < 2))
            return false;
        text += n + (i < 2);
    }
    return true;
}

tsr_status cli_cost_data(tsr_cost_data *data, const cli_args *args)
{
    tsr_status st = TSR_OK;
    const char *shape = cli_text(args, "shape");
    bool samples = cli_has(args, "samples"), classes = cli_has(args, "classes");
    int64_t size[3];
    *data = (tsr_cost_data){0};
    if (!shape && !samples && !classes)
        return TSR_OK;
    TSR_CHECK(shape && samples && classes, TSR_USAGE,
              "data that are not here need all of --samples, --shape and --classes");
    TSR_CHECK(read_shape(size, shape), TSR_USAGE,
              "--shape: %s is not the shape of a sample: write it like 3x224x224",
              tsr_quote(shape));
    *data = (tsr_cost_data){.samples = cli_int(args, "samples", 0),
                            .channels = size[0],
                            .height = size[1],
                            .width = size[2],
                            .classes = cli_int(args, "classes", 0)};
done:
    return st;
}

/* ---- Cuts --------------------------------------------------------------------------------- */

static int64_t stages_of(const char *cuts)
{
    int64_t stages = 1;
    char word[80];
    while (next_word(word, sizeof word, &cuts))
        stages++;
    return stages;
}

void cli_cost_cuts(char *to, size_t room, const cli_args *args, int64_t workers)
{
    const char *cuts;
    to[0] = 0;
    for (int64_t i = 0; (cuts = cli_nth(args, "cuts", i)); i++)
        if (stages_of(cuts) == workers)
            (void)snprintf(to, room, "%s", cuts);
}

tsr_status cli_cost_cuts_fit(const cli_args *args, const cli_counts *workers, bool comparing)
{
    tsr_status st = TSR_OK;
    const char *cuts;
    for (int64_t i = 0; (cuts = cli_nth(args, "cuts", i)); i++) {
        int64_t stages = stages_of(cuts);
        bool wanted = false;
        TSR_CHECK(comparing, TSR_USAGE,
                  "--cuts is for the rows of --compare: --set scheme.cuts=... cuts the run itself");
        for (int64_t k = 0; k < workers->count; k++)
            wanted = wanted || workers->value[k] == stages;
        TSR_CHECK(wanted, TSR_USAGE,
                  "--cuts: %s makes %lld stages, and no row has %lld workers: name one layer fewer "
                  "than there are workers",
                  tsr_quote(cuts), (long long)stages, (long long)stages);
        for (int64_t k = 0; k < i; k++)
            TSR_CHECK(stages_of(cli_nth(args, "cuts", k)) != stages, TSR_USAGE,
                      "--cuts: there are two for %lld workers: %s and %s", (long long)stages,
                      tsr_quote(cli_nth(args, "cuts", k)), tsr_quote(cuts));
    }
done:
    return st;
}
