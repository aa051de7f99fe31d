/* choices.c - things that differ in a few keys: filters, and parallel coordinates. */
#include "report/choices.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include "report/colour.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_LINES = 1000, WIDTH = 960, TOP = 46, PLOT = 250, BELOW = 24, SIDE = 100, TENTH = 10 };

tsr_status tsri_choices_key(tsri_choices *c, const char *name)
{
    tsr_status st = TSR_OK;
    if (c->keys == TSRI_CHOICE_KEYS)
        return TSR_OK;
    TSR_TRY(tsri_strdup(&c->key[c->keys].name, name));
    c->keys++;
done:
    return st;
}

static tsr_status value_of(int64_t *at, tsri_choice_key *k, const char *value)
{
    tsr_status st = TSR_OK;
    for (*at = 0; *at < k->values; ++*at)
        if (strcmp(k->value[*at], value) == 0)
            return TSR_OK;
    TSR_TRY(tsri_reserve(&k->value, &k->capacity, k->values, sizeof *k->value));
    TSR_TRY(tsri_strdup(&k->value[k->values], value));
    k->values++;
done:
    return st;
}

tsr_status tsri_choices_add(tsri_choices *c, const char *name, const char *const *value,
                            const char *result, double place)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_reserve(&c->thing, &c->capacity, c->count, sizeof *c->thing));
    tsri_choice *t = &c->thing[c->count];
    *t = (tsri_choice){.place = place};
    c->count++;
    TSR_TRY(tsri_strdup(&t->name, name));
    TSR_TRY(tsri_strdup(&t->result, result));
    for (int64_t k = 0; k < c->keys; k++)
        TSR_TRY(value_of(&t->at[k], &c->key[k], value[k]));
done:
    return st;
}

void tsri_choices_fini(tsri_choices *c)
{
    for (int64_t k = 0; k < c->keys; k++) {
        for (int64_t i = 0; i < c->key[k].values; i++)
            tsri_free(c->key[k].value[i]);
        tsri_free(c->key[k].value);
        tsri_free(c->key[k].name);
    }
    for (int64_t i = 0; i < c->count; i++) {
        tsri_free(c->thing[i].name);
        tsri_free(c->thing[i].result);
    }
    tsri_free(c->thing);
    *c = (tsri_choices){0};
}

void tsri_choices_mark(tsri_markup *m, const tsri_choices *c, int64_t i)
{
    tsri_markup_add(m, " data-cell=\"%lld\" data-keys=\"", (long long)i);
    for (int64_t k = 0; k < c->keys; k++)
        tsri_markup_add(m, "%s%lld=%lld", k > 0 ? " " : "", (long long)k,
                        (long long)c->thing[i].at[k]);
    tsri_markup_add(m, "\" data-name=\"");
    tsri_markup_text(m, c->thing[i].name);
    tsri_markup_add(m, "\"");
}

/* ---- Filters -------------------------------------------------------------------------------- */

const char *tsri_choices_text(const tsri_choice_key *key, int64_t value)
{
    return *key->value[value] ? key->value[value] : "none";
}

void tsri_choices_filters(tsri_page *p, const tsri_choices *c)
{
    tsri_markup *m = &p->html;
    tsri_markup_add(m, "<div class=\"filters\" role=\"group\" aria-label=\"filter\" "
                       "hidden=\"hidden\">\n<label>name <input "
                       "type=\"search\" aria-label=\"only those whose name has these letters\"/>"
                       "</label>\n");
    for (int64_t k = 0; k < c->keys; k++) {
        tsri_markup_add(m, "<fieldset><legend>");
        tsri_markup_text(m, c->key[k].name);
        tsri_markup_add(m, "</legend>");
        for (int64_t i = 0; i < c->key[k].values; i++) {
            tsri_markup_add(m,
                            "<label><input type=\"checkbox\" name=\"%lld\" value=\"%lld\" "
                            "checked=\"checked\"/>",
                            (long long)k, (long long)i);
            tsri_markup_text(m, tsri_choices_text(&c->key[k], i));
            tsri_markup_add(m, "</label>");
        }
        tsri_markup_add(m, "</fieldset>\n");
    }
    tsri_markup_add(m, "<button type=\"button\">all</button> <output></output></div>\n");
}

/* ---- Parallel coordinates ------------------------------------------------------------------- */

static double axis_x(const tsri_choices *c, int64_t k)
{
    return SIDE + (double)k * (WIDTH - 2 * SIDE) / (double)c->keys;
}

static double axis_y(double part)
{
    return TOP + PLOT * (1 - part);
}

static double value_y(const tsri_choice_key *k, int64_t i)
{
    return axis_y(k->values > 1 ? (double)i / (double)(k->values - 1) : 0.5);
}

static void text_at(tsri_markup *m, double x, double y, const char *anchor, const char *text)
{
    tsri_markup_add(m, "<text class=\"ink\" x=\"%s\" y=\"%s\" text-anchor=\"%s\">", tsri_px(x),
                    tsri_px(y), anchor);
    tsri_markup_text(m, text);
    tsri_markup_add(m, "</text>");
}

static void one_axis(tsri_markup *m, const tsri_choices *c, int64_t k, const char *title)
{
    double x = axis_x(c, k);
    tsri_markup_add(m, "<path class=\"axis\" fill=\"none\" stroke=\"#555555\" d=\"M%s %dv%d\"/>",
                    tsri_px(x), TOP, PLOT);
    text_at(m, x, k % 2 ? 16 : 32, "middle", title);
}

/* How many are better? The best tenth stand out. */
static bool among_best(const tsri_choices *c, int64_t i)
{
    int64_t better = 0;
    for (int64_t k = 0; k < c->count; k++)
        better += c->thing[k].place > c->thing[i].place;
    return better * TENTH < c->count && isfinite(c->thing[i].place);
}

static void one_line(tsri_markup *m, const tsri_choices *c, int64_t i)
{
    const tsri_choice *t = &c->thing[i];
    bool ended = isfinite(t->place), best = among_best(c, i);
    int colour = best ? 2 : ended ? 1 : 7;
    tsri_markup_add(m,
                    "<path class=\"line s%d%s\" fill=\"none\" stroke=\"%s\" "
                    "stroke-width=\"%s\" stroke-opacity=\"%s\"",
                    colour, best ? " best" : "", tsri_colour(colour - 1), best ? "2.6" : "1.4",
                    best ? "1" : "0.4");
    tsri_choices_mark(m, c, i);
    tsri_markup_add(m, " d=\"");
    for (int64_t k = 0; k < c->keys; k++)
        tsri_markup_add(m, "%s%s %s", k > 0 ? "L" : "M", tsri_px(axis_x(c, k)),
                        tsri_px(value_y(&c->key[k], t->at[k])));
    tsri_markup_add(m, "L%s %s\"><title>", tsri_px(axis_x(c, c->keys)),
                    tsri_px(ended ? axis_y(t->place) : TOP + PLOT + BELOW - 6));
    tsri_markup_text(m, t->name);
    tsri_markup_add(m, ": ");
    tsri_markup_text(m, t->result);
    tsri_markup_add(m, "</title></path>\n");
}

enum { MOST_LETTERS = 10 }; /* beside the first axis, where the page ends */

/* A long value ends in dots: filters and table have all of it. */
static void value_at(tsri_markup *m, const tsri_choices *c, int64_t k, int64_t i)
{
    const char *text = tsri_choices_text(&c->key[k], i);
    char shown[4 * MOST_LETTERS + 8];
    size_t n = 0;
    for (int letters = 0; text[n] && letters < MOST_LETTERS; letters++)
        n += tsri_utf8_length(text + n, strlen(text + n));
    bool cut = text[n] != '\0';
    (void)snprintf(shown, sizeof shown, "%.*s%s", (int)n, text, cut ? "…" : "");
    text_at(m, axis_x(c, k) - 6, value_y(&c->key[k], i) + 4, "end", shown);
}

static void labels(tsri_markup *m, const tsri_choices *c, const char *worst, const char *best)
{
    for (int64_t k = 0; k < c->keys; k++)
        for (int64_t i = 0; i < c->key[k].values; i++)
            value_at(m, c, k, i);
    text_at(m, axis_x(c, c->keys) + 6, axis_y(0) + 4, "start", worst);
    text_at(m, axis_x(c, c->keys) + 6, axis_y(1) + 4, "start", best);
}

void tsri_choices_parallel(tsri_page *p, const tsri_choices *c, const char *measure,
                           const char *worst, const char *best)
{
    tsri_markup svg = {0}, *m = &svg;
    if (c->keys < 1 || c->count > MOST_LINES)
        return;
    tsri_svg_begin(m, "parallel", WIDTH, TOP + PLOT + BELOW, "Parallel coordinates");
    for (int64_t i = 0; i < c->count; i++)
        if (!among_best(c, i))
            one_line(m, c, i);
    for (int64_t i = 0; i < c->count; i++) /* the best lie on top */
        if (among_best(c, i))
            one_line(m, c, i);
    for (int64_t k = 0; k < c->keys; k++)
        one_axis(m, c, k, c->key[k].name);
    one_axis(m, c, c->keys, measure);
    labels(m, c, worst, best);
    tsri_markup_add(m, "</svg>");
    if (p->html.st == TSR_OK)
        p->html.st = tsri_markup_end(m);
    if (p->html.st == TSR_OK)
        tsri_page_svg(p, &svg.text,
                      "Each line is one row of the table; the best tenth are orange and thick. A "
                      "line that ends below the last axis has no result. Point at one for its "
                      "name.");
    tsri_markup_fini(&svg);
}
