/* best.c - the best ticket of a table, and the sentence that says how good it is. */
#include "ticket/best.h"

#include <math.h>
#include <stdio.h>

/* ---- The choice ---------------------------------------------------------------------------- */

static bool classifies(const tsri_ticket_row *row)
{
    return !isnan(row->accuracy);
}

/* More is better; as many digits as tables show. */
static double score(const tsri_ticket_row *row)
{
    return classifies(row) ? round(1e4 * row->accuracy) : -round(1e4 * row->loss);
}

static const tsri_ticket_row *find_whole(const tsri_tickets *t)
{
    for (int64_t i = 0; i < t->rows; i++)
        if (t->row[i].kind == TSRI_TICKET_WHOLE)
            return &t->row[i];
    return t->rows > 0 ? &t->row[0] : NULL;
}

/* Is a better than b, of which either may be as accurate as the whole? */
static bool better(const tsri_ticket_row *a, const tsri_ticket_row *b, double whole)
{
    double sa = fmin(score(a), whole), sb = fmin(score(b), whole);
    if (sa != sb)
        return sa > sb;
    return a->params != b->params ? a->params < b->params : score(a) > score(b);
}

tsri_best tsri_tickets_best(const tsri_tickets *t)
{
    tsri_best b = {.whole = find_whole(t)};
    for (int64_t i = 0; i < t->rows; i++) {
        const tsri_ticket_row *row = &t->row[i];
        if (row->kind == TSRI_TICKET_PRUNED && (!b.ticket || better(row, b.ticket, score(b.whole))))
            b.ticket = row;
    }
    if (!b.ticket)
        return b;
    b.as_accurate = score(b.ticket) >= score(b.whole);
    b.speed = tsri_faster(b.whole->time.infer, b.ticket->time.infer);
    b.times = b.whole->time.infer.least / b.ticket->time.infer.least;
    return b;
}

/* ---- Words --------------------------------------------------------------------------------- */

/* Of few samples accuracies are often equal by chance: the reader must know how many they are. */
static void samples_text(char text[48], const tsri_ticket_row *row)
{
    text[0] = '\0';
    if (row->samples > 0)
        (void)snprintf(text, 48, " of %lld samples", (long long)row->samples);
}

static tsr_status add_accuracy(tsri_text *to, const tsri_best *b)
{
    const tsri_ticket_row *t = b->ticket, *w = b->whole;
    const char *whole = w->kind == TSRI_TICKET_WHOLE ? "the whole network" : "the pretrained one";
    const char *how = b->as_accurate ? "is as accurate as" : "is less accurate than";
    const char *fits = b->as_accurate ? "fits as well as" : "fits less well than";
    char samples[48];
    samples_text(samples, t);
    if (classifies(t))
        return tsri_text_add(to, "%s %s %s (%.2f %% against %.2f %%%s)", t->name, how, whole,
                             100 * t->accuracy, 100 * w->accuracy, samples);
    return tsri_text_add(to, "%s %s %s (loss %.4f against %.4f%s)", t->name, fits, whole, t->loss,
                         w->loss, samples);
}

static tsr_status add_speed(tsri_text *to, const tsri_best *b)
{
    double before = b->whole->time.infer.least, after = b->ticket->time.infer.least;
    switch (b->speed) {
    case TSRI_FASTER:
        return tsri_text_add(to, "runs %.2f times as fast", b->times);
    case TSRI_PERHAPS_FASTER:
        return tsri_text_add(
            to, "may be faster (%.2f ms against %.2f, within the noise of this machine)", after,
            before);
    default:
        return tsri_text_add(to, "is not faster (%.2f ms against %.2f)", after, before);
    }
}

tsr_status tsri_best_sentence(tsri_text *to, const tsri_best *b)
{
    tsr_status st = TSR_OK;
    if (!b->ticket)
        return TSR_OK;
    TSR_TRY(add_accuracy(to, b));
    TSR_TRY(tsri_text_add(to, ", has %.1f %% of its parameters and ",
                          100 * (double)b->ticket->params / (double)b->whole->params));
    TSR_TRY(add_speed(to, b));
done:
    return st;
}

tsr_status tsri_best_json(tsri_json *w, const tsri_best *b)
{
    tsr_status st = TSR_OK;
    tsri_text sentence = {0};
    if (!b->ticket) {
        tsri_json_key(w, "best");
        tsri_json_null(w);
        return TSR_OK;
    }
    TSR_TRY(tsri_best_sentence(&sentence, b));
    tsri_json_key(w, "best");
    tsri_json_open(w, '{');
    tsri_json_put_text(w, "network", b->ticket->name);
    tsri_json_put_text(w, "whole", b->whole->name);
    tsri_json_put_bool(w, "as_accurate", b->as_accurate);
    tsri_json_put_bool(w, "faster", b->speed == TSRI_FASTER);
    tsri_json_put_real(w, "times_as_fast", b->times);
    tsri_json_put_text(w, "sentence", sentence.data);
    tsri_json_close(w, '}');
done:
    tsri_text_fini(&sentence);
    return st;
}
