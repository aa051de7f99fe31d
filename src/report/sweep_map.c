/* sweep_map.c - the cells of a sweep as a map of colours over two keys, one map for each combination
 * of the others.
 *
 * A map is a table of HTML: values may be words, every cell shows its number, and a phone can
 * scroll it. Lighter is better, whether accuracy or loss is judged.
 */
#include "report/sweep_view.h"

#include "report/colour.h"

enum { MOST_MAPS = 12 }; /* more maps than that cannot be compared at a glance */

void tsri_sweep_choose_axes(tsri_sweep_view *v)
{
    const tsri_grid *grid = v->sweep->grid;
    v->across = v->down = -1;
    for (int64_t g = 0; g < v->sweep->options.grids; g++) {
        if (grid[g].count < 2)
            continue;
        if (v->across < 0 || grid[g].count > grid[v->across].count) {
            v->down = v->across;
            v->across = g;
        } else if (v->down < 0 || grid[g].count > grid[v->down].count) {
            v->down = g;
        }
    }
}

/* The cell that is `like` but for these values of the two axes. */
static int64_t cell_at(const tsri_sweep_view *v, int64_t like, int64_t column, int64_t row)
{
    int64_t cell = 0;
    for (int64_t g = 0; g < v->sweep->options.grids; g++) {
        int64_t value = g == v->across ? column
                        : g == v->down ? row
                                       : tsri_sweep_value(v->sweep, like, g);
        cell = cell * v->sweep->grid[g].count + value;
    }
    return cell;
}

static void map_cell(const tsri_sweep_view *v, int64_t cell)
{
    tsri_markup *m = &v->page->html;
    tsri_cell_sum c = tsri_sweep_sum(v->sweep, cell);
    char colour[TSRI_COLOUR_TEXT], number[TSRI_NUMBER_TEXT];
    tsri_markup_add(m, "<td");
    tsri_choices_mark(m, &v->choices, cell);
    if (c.count == 0) {
        tsri_markup_add(m, " class=\"quiet\">%s</td>", tsri_sweep_fate(&c));
        return;
    }
    double at = tsri_sweep_place(v, tsri_sweep_judged(v, &c));
    tsri_markup_add(m, "%s style=\"background:%s;color:%s\">%s%s</td>",
                    cell == v->ranking[0].cell ? " class=\"best\"" : "", tsri_ramp(colour, at),
                    at < 0.55 ? "#ffffff" : "#000000",
                    tsri_sweep_written(number, v, tsri_sweep_judged(v, &c)),
                    c.diverged + c.refused > 0 ? "*" : "");
}

/* The other keys' values, where they differ from map to map. */
static void map_title(const tsri_sweep_view *v, int64_t like)
{
    const char *before = "<h3>";
    for (int64_t g = 0; g < v->sweep->options.grids; g++) {
        if (g == v->across || g == v->down || v->sweep->grid[g].count < 2)
            continue;
        tsri_markup_add(&v->page->html, "%s", before);
        tsri_markup_text(&v->page->html, v->sweep->grid[g].key);
        tsri_markup_add(&v->page->html, " = ");
        tsri_markup_text(&v->page->html,
                         v->sweep->grid[g].value[tsri_sweep_value(v->sweep, like, g)]);
        before = ", ";
    }
    if (*before == ',')
        tsri_markup_add(&v->page->html, "</h3>\n");
}

static void map(const tsri_sweep_view *v, int64_t like)
{
    tsri_markup *m = &v->page->html;
    if (!v->sweep->grid)
        return;
    const tsri_grid *across = &v->sweep->grid[v->across],
                    *down = v->down >= 0 ? &v->sweep->grid[v->down] : NULL;
    map_title(v, like);
    tsri_markup_add(m, "<div class=\"wide\"><table class=\"map\"><tr><th>");
    tsri_markup_text(m, down ? down->key : "");
    tsri_markup_add(m, "</th><th colspan=\"%lld\">", (long long)across->count);
    tsri_markup_text(m, across->key);
    tsri_markup_add(m, "</th></tr>\n<tr><th></th>");
    for (int64_t j = 0; j < across->count; j++) {
        tsri_markup_add(m, "<th>");
        tsri_markup_text(m, across->value[j]);
        tsri_markup_add(m, "</th>");
    }
    tsri_markup_add(m, "</tr>\n");
    for (int64_t i = 0; i < (down ? down->count : 1); i++) {
        tsri_markup_add(m, "<tr><th>");
        tsri_markup_text(m, down ? down->value[i] : "");
        tsri_markup_add(m, "</th>");
        for (int64_t j = 0; j < across->count; j++)
            map_cell(v, cell_at(v, like, j, i));
        tsri_markup_add(m, "</tr>\n");
    }
    tsri_markup_add(m, "</table></div>\n");
}

void tsri_sweep_maps(const tsri_sweep_view *v)
{
    const tsri_sweep *s = v->sweep;
    char low[TSRI_NUMBER_TEXT], high[TSRI_NUMBER_TEXT];
    if (v->across < 0 || v->ranking[0].count == 0)
        return;
    int64_t size = s->grid[v->across].count * (v->down >= 0 ? s->grid[v->down].count : 1);
    bool all = s->cells / size <= MOST_MAPS;
    tsri_section_open(v->page, "All cells");
    tsri_page_say(v->page,
                  "The %s of each cell%s%s. Lighter is better: from %s%s to %s%s%s. The best has a "
                  "frame.%s",
                  tsri_sweep_judged_name(v), s->seeds > 1 ? ", the mean of its seeds" : "",
                  all ? "" : ", with the best cell's values of the other keys",
                  tsri_sweep_written(low, v, v->worst), tsri_sweep_unit(v),
                  tsri_sweep_written(high, v, v->best), tsri_sweep_unit(v),
                  v->log ? ", on a logarithmic scale" : "",
                  s->diverged + s->refused > 0 && s->seeds > 1
                      ? " A star: not all runs of the cell came to their end."
                      : "");
    for (int64_t cell = 0; all && cell < s->cells; cell++) /* the first cell of every map */
        if (tsri_sweep_value(s, cell, v->across) == 0 &&
            (v->down < 0 || tsri_sweep_value(s, cell, v->down) == 0))
            map(v, cell);
    if (!all)
        map(v, v->ranking[0].cell);
    tsri_section_close(v->page);
}
