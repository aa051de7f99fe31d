/* chart_csv.c - the numbers of a chart as CSV, to be drawn by other tools.
 *
 * One line a point ("tidy" data): every tool reads it, and series of different lengths need no
 * padding. Columns that no panel fills are left out.
 */
#include "base/number.h"
#include "report/chart_parts.h"

#include <math.h>

typedef struct columns {
    bool series, band, map;
} columns;

static columns columns_of(const tsri_chart *c)
{
    columns has = {0};
    for (int64_t i = 0; i < c->count; i++) {
        const tsri_drawn *p = &c->panel[i];
        has.map |= p->map.rows > 0;
        has.series |= p->count > 0;
        for (int64_t k = 0; k < p->count; k++)
            has.band |= p->series[k].low && p->series[k].high;
    }
    return has;
}

/* A text that is missing is an empty field. */
static tsr_status add_field(tsri_text *out, const char *text)
{
    return text ? tsri_text_add_field(out, text) : TSR_OK;
}

/* A number that is not finite is an empty field. */
static tsr_status add_number(tsri_text *out, double value)
{
    char text[TSRI_NUMBER_TEXT];
    return tsri_text_add(out, ",%s", isfinite(value) ? tsri_shortest(text, value) : "");
}

static tsr_status add_x(tsri_text *out, const tsri_drawn *p, const tsri_series *s, int64_t i)
{
    tsr_status st = TSR_OK;
    if (s->marks != TSRI_MARKS_BARS || i >= p->about.categories)
        return add_number(out, tsri_series_x(s, i));
    TSR_TRY(tsri_text_add(out, ","));
    TSR_TRY(add_field(out, p->about.category[i]));
done:
    return st;
}

static tsr_status add_series(tsri_text *out, const tsri_drawn *p, const tsri_series *s, columns has)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < s->n; i++) {
        TSR_TRY(add_field(out, p->about.title));
        TSR_TRY(tsri_text_add(out, ","));
        TSR_TRY(add_field(out, s->name));
        TSR_TRY(add_x(out, p, s, i));
        TSR_TRY(add_number(out, s->y[i]));
        if (has.band) {
            TSR_TRY(add_number(out, s->low ? s->low[i] : (double)NAN));
            TSR_TRY(add_number(out, s->high ? s->high[i] : (double)NAN));
        }
        TSR_TRY(tsri_text_add(out, has.map ? ",\n" : "\n"));
    }
done:
    return st;
}

static tsr_status add_map(tsri_text *out, const tsri_drawn *p, columns has)
{
    tsr_status st = TSR_OK;
    const tsri_map *map = &p->map;
    for (int64_t i = 0; i < map->rows * map->columns; i++) {
        int64_t row = i / map->columns, column = i % map->columns;
        TSR_TRY(add_field(out, p->about.title));
        if (has.series)
            TSR_TRY(tsri_text_add(out, ","));
        TSR_TRY(add_number(out, map->x ? map->x[column] : (double)column));
        TSR_TRY(add_number(out, map->y ? map->y[row] : (double)row));
        if (has.band)
            TSR_TRY(tsri_text_add(out, ",,"));
        TSR_TRY(add_number(out, map->value[i]));
        TSR_TRY(tsri_text_add(out, "\n"));
    }
done:
    return st;
}

tsr_status tsri_chart_csv(tsri_text *out, const tsri_chart *c)
{
    tsr_status st = c->st;
    columns has = columns_of(c);
    if (st != TSR_OK)
        return st;
    TSR_TRY(tsri_text_add(out, "panel%s,x,y%s%s\n", has.series ? ",series" : "",
                          has.band ? ",low,high" : "", has.map ? ",value" : ""));
    for (int64_t i = 0; i < c->count; i++) {
        const tsri_drawn *p = &c->panel[i];
        for (int64_t k = 0; k < p->count; k++)
            TSR_TRY(add_series(out, p, &p->series[k], has));
        if (p->map.rows > 0)
            TSR_TRY(add_map(out, p, has));
    }
done:
    return st;
}
