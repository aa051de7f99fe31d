/* ask.c - a study's function asks for its cells; the answer depends on why it was called.
 *
 *     LISTING    every cell is noted, none is there
 *     COUNTING   counts what the chosen cells will take
 *     TIMING     one of them: how fast a step of its training is on the device at hand
 *     MAKING     one cell is made and written, the others are passed over
 *     SHOWING    those that have their file are there
 *
 * A cell is known by its place among the function's questions, which is the same in each call. */
#include "reproduce/cells.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/stop.h"
#include "base/text.h"
#include "io/config.h"
#include "train/bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum pass { LISTING, COUNTING, TIMING, MAKING, SHOWING } pass;

enum { ORIGINS = 8 }; /* that are told apart */

struct tsri_cell_book {
    pass pass;
    tsri_cell_list list;
    bool *chosen;             /* [list.count] to be made; from COUNTING on */
    int64_t at, wanted;       /* the place of the next question; TIMING, MAKING: the cell */
    double rate;              /* operations a second of a step; TIMING */
    double part;              /* of the work that is done */
    int64_t shown;            /* cells that are there; SHOWING */
    char origin[ORIGINS][64]; /* the programs that made those; SHOWING */
    int64_t made[ORIGINS];    /* how many each of them */
    bool files;               /* there is a folder to look into */
    bool speaks;              /* messages are of the work, not of the function's questions */
};

bool tsri_study_shows(const tsri_study *s)
{
    return !s->book || s->book->pass == SHOWING;
}

bool tsri_study_speaks(const tsri_study *s)
{
    return !s->book || s->book->speaks;
}

static tsr_status config_of(tsr_config **out, const tsri_study *s, const tsri_cell_ask *ask)
{
    return ask->config ? ask->config(out, s, ask)
                       : tsri_study_config(out, s, ask->yaml, ask->repeat);
}

/* ---- What a cell takes ------------------------------------------------------------------------ */

/* Shapes of the papers' data, so that a cost can be told where they are not. */
static const struct {
    const char *name;
    tsr_cost_data shape;
} known[] = {
    {"cifar10", {.samples = 50000, .channels = 3, .height = 32, .width = 32, .classes = 10}},
    {"cifar100", {.samples = 50000, .channels = 3, .height = 32, .width = 32, .classes = 100}},
    {"sgemm", {.samples = 241600, .channels = 14, .height = 1, .width = 1, .targets = 1}},
    {"communities-crime",
     {.samples = 1994, .channels = 122, .height = 1, .width = 1, .targets = 1}},
};

static const tsr_cost_data *shape_of(tsr_cost_data *shape, const tsr_config *config)
{
    const char *name = tsri_config_text(config, "data.name");
    int64_t limit = tsri_config_int(config, "data.limit");
    for (size_t i = 0; name && i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) {
            *shape = known[i].shape;
            shape->samples = limit > 0 && limit < shape->samples ? limit : shape->samples;
            return shape;
        }
    return NULL;
}

/* NaN where the data are neither known nor here. */
static tsr_status count_ask(double *flops, const tsri_study *s, const tsri_cell_ask *ask)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsr_cost cost = tsr_cost_default();
    tsr_cost_data shape;
    *flops = ask->flops;
    if (*flops > 0)
        return TSR_OK;
    TSR_TRY(config_of(&config, s, ask));
    int64_t rounds = tsri_config_int(config, "rounds");
    if (rounds > 1) /* one is counted: the bytes of all, which are not asked for, take longest */
        TSR_TRY(tsr_config_set(config, "rounds=1"));
    st = tsr_cost_count(&cost, config, shape_of(&shape, config));
    if (st == TSR_BAD_FILE) {
        *flops = (double)NAN;
        st = TSR_OK;
        goto done;
    }
    TSR_TRY(st);
    *flops = (double)cost.flops_step * (double)cost.local_steps * (double)cost.workers *
             (double)(rounds > 1 ? rounds : cost.rounds);
    if (ask->tunes) /* as the whole: a little too many */
        *flops += (double)cost.flops_step_whole * (double)cost.data.samples / (double)cost.batch *
                  (double)tsri_config_int(config, "ticket.epochs");
done:
    tsr_config_destroy(config);
    return st;
}

enum { STEPS_MOST = 10 };
#define TIMED 2e12 /* operations that are timed, about */

/* The name without its seed, as long as that. */
static size_t before_seed(const char *name)
{
    const char *seed = strstr(name, "-seed");
    return seed ? (size_t)(seed - name) : strlen(name);
}

/* Seeds of the same run take the same: the one before was counted. */
static tsr_status count_cell(tsri_cell_book *b, int64_t i, const tsri_study *s,
                             const tsri_cell_ask *ask)
{
    const char *before = i > 0 ? b->list.name[i - 1] : "";
    size_t n = before_seed(ask->name);
    if (b->list.flops[i > 0 ? i - 1 : 0] > 0 && n == before_seed(before) &&
        strncmp(before, ask->name, n) == 0) {
        b->list.flops[i] = b->list.flops[i - 1];
        return TSR_OK;
    }
    return count_ask(&b->list.flops[i], s, ask);
}

static tsr_status time_step(double *rate, const tsri_study *s, const tsri_cell_ask *ask)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsr_cost cost = tsr_cost_default();
    tsr_cost_data shape;
    tsri_bench b = {0};
    TSR_TRY(config_of(&config, s, ask));
    TSR_TRY(tsr_cost_count(&cost, config, shape_of(&shape, config)));
    double steps = TIMED / (double)(cost.flops_step_whole > 0 ? cost.flops_step_whole : 1);
    TSR_TRY(tsri_bench_run(&b, config,
                           steps < 1            ? 1
                           : steps > STEPS_MOST ? STEPS_MOST
                                                : (int64_t)steps,
                           false));
    *rate = b.flops / b.step.least;
done:
    tsri_bench_fini(&b);
    tsr_config_destroy(config);
    return st;
}

/* ---- One question ------------------------------------------------------------------------------ */

static tsr_status note_ask(tsri_study_cell *c, tsri_study *s, const tsri_cell_ask *ask)
{
    tsr_status st = TSR_OK;
    tsri_cell_book *b = s->book;
    tsr_config *config = NULL;
    TSR_TRY(tsri_cell_list_add(&b->list, "%s", ask->name));
    if (!b->files)
        goto done;
    TSR_TRY(config_of(&config, s, ask));
    TSR_TRY(tsri_cell_read(c, &b->list.there[b->list.count - 1], s, config));
    tsri_cell_fini(c);
done:
    tsr_config_destroy(config);
    return st;
}

static tsr_status make_ask(tsri_study_cell *c, tsri_study *s, const tsri_cell_ask *ask)
{
    tsr_status st = TSR_OK;
    tsri_cell_book *b = s->book;
    tsr_config *config = NULL, *used = NULL; /* a run fills in what was left open */
    tsri_text folder = {0};
    bool there = false;
    double began = tsri_clock();
    b->speaks = true;
    TSR_TRY(tsri_stop_heed());
    TSR_TRY(config_of(&config, s, ask));
    TSR_TRY(tsri_cell_read(c, &there, s, config)); /* made meanwhile by another process? */
    if (there)
        goto done;
    tsri_study_say(s, b->part, "%s", ask->name);
    TSR_TRY(tsri_text_add(&folder, "%s/runs/%s", s->folder, ask->run ? ask->run : ask->name));
    TSR_TRY(tsri_config_copy(&used, config));
    TSR_TRY(ask->make(c, s, used, folder.data, ask));
    tsri_cell_put(c, "seconds", tsri_clock() - began);
    TSR_TRY(tsri_cell_write(s, c, config));
    double accuracy = tsri_cell_value(c, "accuracy");
    if (isnan(accuracy))
        tsri_study_say(s, b->part, "%s: done after %.0f s", ask->name, tsri_clock() - began);
    else
        tsri_study_say(s, b->part, "%s: %.2f %% after %.0f s", ask->name, 100 * accuracy,
                       tsri_clock() - began);
done:
    b->speaks = false;
    tsri_text_fini(&folder);
    tsr_config_destroy(config);
    tsr_config_destroy(used);
    return st;
}

/* Of more programs than there is room for the last place has the rest. */
static void count_origin(tsri_cell_book *b, const char *origin)
{
    int i = 0;
    while (i < ORIGINS - 1 && b->made[i] > 0 && strcmp(b->origin[i], origin) != 0)
        i++;
    (void)snprintf(b->origin[i], sizeof b->origin[i], "%s", i < ORIGINS - 1 ? origin : "others");
    b->made[i]++;
}

static tsr_status show_ask(tsri_study_cell *c, bool *there, tsri_study *s, const tsri_cell_ask *ask)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    TSR_TRY(config_of(&config, s, ask));
    TSR_TRY(tsri_cell_read(c, there, s, config));
    s->book->shown += *there;
    if (*there)
        count_origin(s->book, c->origin);
done:
    tsr_config_destroy(config);
    return st;
}

tsr_status tsri_study_ask(tsri_study_cell *c, bool *there, tsri_study *s, const tsri_cell_ask *ask)
{
    tsr_status st = TSR_OK;
    tsri_cell_book *b = s->book;
    int64_t i = b->at++;
    *c = tsri_cell_named(ask->name);
    *there = false;
    if (b->pass == LISTING)
        TSR_TRY(note_ask(c, s, ask));
    else if (b->pass == COUNTING && b->chosen[i])
        TSR_TRY(count_cell(b, i, s, ask));
    else if (b->pass == TIMING && i == b->wanted)
        TSR_TRY(ask->time ? ask->time(&b->rate, s, ask) : time_step(&b->rate, s, ask));
    else if (b->pass == MAKING && i == b->wanted)
        TSR_TRY(make_ask(c, s, ask));
    else if (b->pass == SHOWING)
        TSR_TRY(show_ask(c, there, s, ask));
done:
    return st;
}

/* ---- All of it --------------------------------------------------------------------------------- */

static tsr_status call(tsri_study *s, tsr_status (*body)(tsri_study *), pass why)
{
    s->book->pass = why;
    s->book->at = 0;
    s->book->speaks = false;
    tsr_status st = body(s);
    s->book->speaks = true;
    return st;
}

/* Chooses those of order[0 .. picked) that have no file; returns how many. */
static int64_t choose(tsri_cell_book *b, const int64_t *order, int64_t picked)
{
    int64_t missing = 0;
    for (int64_t i = 0; i < picked; i++) {
        b->chosen[order[i]] = !b->list.there[order[i]];
        missing += b->chosen[order[i]];
    }
    return missing;
}

/* The operations of the chosen cells, and the first of them that could be counted; -1: none. */
static double sum_chosen(int64_t *first, int64_t *unknown, const tsri_cell_book *b)
{
    double sum = 0;
    *first = -1;
    *unknown = 0;
    for (int64_t i = 0; i < b->list.count; i++) {
        if (!b->chosen[i])
            continue;
        if (isnan(b->list.flops[i])) {
            (*unknown)++;
            continue;
        }
        sum += b->list.flops[i];
        *first = *first < 0 ? i : *first;
    }
    return sum;
}

/* The time is that of the first cell, mostly of a step on the device at hand. With --cells it is
 * left out: to time a step takes seconds that are better spent on the cells. */
static tsr_status tell_cost(tsri_study *s, tsr_status (*body)(tsri_study *), int64_t missing)
{
    tsr_status st = TSR_OK;
    tsri_cell_book *b = s->book;
    int64_t unknown;
    TSR_TRY(call(s, body, COUNTING));
    double all = sum_chosen(&b->wanted, &unknown, b);
    if (unknown > 0)
        tsri_study_say(s, 0, "%lld cells are not counted: their data are not here",
                       (long long)unknown);
    if (s->options->cells || b->wanted < 0) {
        tsri_study_say(s, 0, "%lld cells to make, %.3g operations", (long long)missing, all);
        goto done;
    }
    TSR_TRY(call(s, body, TIMING));
    tsri_study_say(s, 0,
                   "%lld cells to make, %.3g operations: %.1f hours at the %.3g a second that the "
                   "first of them takes here; --cells makes some of them",
                   (long long)missing, all, all / b->rate / 3600, b->rate);
done:
    return st;
}

static tsr_status make_chosen(tsri_study *s, tsr_status (*body)(tsri_study *), const int64_t *order,
                              int64_t picked)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < picked; i++) {
        if (!s->book->chosen[order[i]])
            continue;
        s->book->wanted = order[i];
        s->book->part = (double)i / (double)picked;
        TSR_TRY(call(s, body, MAKING));
    }
done:
    return st;
}

/* The summary's own version and commit are those of the program that shows the cells. */
static tsr_status tell_origins(tsri_study *s)
{
    tsr_status st = TSR_OK;
    const tsri_cell_book *b = s->book;
    tsri_text text = {0};
    for (int i = 0; i < ORIGINS && b->made[i] > 0; i++)
        TSR_TRY(tsri_text_add(&text, "%s%s (%lld)", i > 0 ? "; " : "", b->origin[i],
                              (long long)b->made[i]));
    if (text.length > 0)
        tsri_study_note(s, "The cells were made by tessera %s.", text.data);
done:
    tsri_text_fini(&text);
    return st;
}

tsr_status tsri_study_in_cells(tsri_study *s, tsr_status (*body)(tsri_study *))
{
    tsr_status st = TSR_OK;
    tsri_cell_book b = {.files = true, .speaks = true};
    int64_t *order = NULL, picked = 0;
    s->book = &b;
    TSR_TRY(call(s, body, LISTING));
    TSR_TRY(tsri_alloc(&order, b.list.count, sizeof *order));
    TSR_TRY(tsri_alloc(&b.chosen, b.list.count, sizeof *b.chosen));
    TSR_TRY(tsri_cells_pick(order, &picked, &b.list, s->options->cells));
    tsri_study_tell_settings(s);
    int64_t missing = choose(&b, order, picked);
    if (missing > 0)
        TSR_TRY(tell_cost(s, body, missing));
    TSR_TRY(make_chosen(s, body, order, picked));
    TSR_TRY(call(s, body, SHOWING));
    tsri_study_note(s, "%lld of %lld cells are there.", (long long)b.shown,
                    (long long)b.list.count);
    TSR_TRY(tell_origins(s));
    TSR_TRY(tsri_study_end(s));
done:
    s->book = NULL;
    tsri_free(order);
    tsri_free(b.chosen);
    tsri_cell_list_fini(&b.list);
    return st;
}

/* ---- Lists ------------------------------------------------------------------------------------- */

tsr_status tsri_study_list_cells(tsri_cell_list *list, const tsri_reproduction *row,
                                 const tsri_study_options *options, bool count)
{
    tsr_status st = TSR_OK;
    tsri_cell_book b = {0};
    tsri_study s = {.row = row,
                    .options = options,
                    .data = options->data,
                    .paper = true,
                    .seeds = options->seeds,
                    .seed = options->seed,
                    .book = &b};
    *list = (tsri_cell_list){0};
    TSR_CHECK(row->paper, TSR_USAGE, "%s is not made in cells", row->name);
    TSR_TRY(tsri_pool_create(&s.pool, 1));
    TSR_TRY(call(&s, row->paper, LISTING));
    TSR_TRY(tsri_alloc(&b.chosen, b.list.count, sizeof *b.chosen));
    for (int64_t i = 0; count && i < b.list.count; i++)
        b.chosen[i] = true;
    if (count)
        TSR_TRY(call(&s, row->paper, COUNTING));
    *list = b.list;
    b.list = (tsri_cell_list){0};
done:
    s.book = NULL;
    tsri_cell_list_fini(&b.list);
    tsri_free(b.chosen);
    tsri_study_fini(&s);
    return st;
}

tsr_status tsri_study_cells(tsri_text *names, const tsri_reproduction *row,
                            const tsri_study_options *options)
{
    tsr_status st = TSR_OK;
    tsri_cell_list cells = {0};
    int64_t *order = NULL, picked = 0;
    TSR_TRY(tsri_study_list_cells(&cells, row, options, false));
    TSR_TRY(tsri_alloc(&order, cells.count, sizeof *order));
    TSR_TRY(tsri_cells_pick(order, &picked, &cells, options->cells));
    for (int64_t i = 0; i < picked; i++)
        TSR_TRY(tsri_text_add(names, "%s\n", cells.name[order[i]]));
done:
    tsri_free(order);
    tsri_cell_list_fini(&cells);
    return st;
}
