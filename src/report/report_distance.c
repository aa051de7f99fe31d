/* report_distance.c - how the ranking of filters settled: a map of distances between epochs for
 * each layer, from distance.json. */
#include "report/report_parts.h"

#include "base/alloc.h"

#include <math.h>

enum { MOST_EPOCHS = 400, MOST_LAYERS = 12 };

static void numbers(double *out, const tsri_json_value *list, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!tsri_json_as_real(tsri_json_at(list, i), &out[i]))
            out[i] = (double)NAN;
}

/* matrix[n, n] from a list of lists; what is missing is NaN. */
static void matrix_of(double *matrix, const tsri_json_value *rows, int64_t n)
{
    for (int64_t i = 0; i < n * n; i++)
        matrix[i] = (double)NAN;
    for (int64_t i = 0; i < n && i < tsri_json_length(rows); i++)
        if (tsri_json_length(tsri_json_at(rows, i)) == n)
            numbers(matrix + i * n, tsri_json_at(rows, i), n);
}

static void layer_map(tsri_page *p, const tsri_json_value *layer, const double *epoch,
                      double *matrix, int64_t n)
{
    tsri_chart c;
    const char *name = NULL;
    const tsri_json_value *rows = tsri_json_get(layer, "distance");
    if (!tsri_json_is_array(rows))
        return;
    (void)tsri_json_as_text(tsri_json_get(layer, "name"), &name);
    matrix_of(matrix, rows, n);
    tsri_chart_begin(&c, NULL);
    c.width = 440;
    c.height = 380;
    tsri_chart_panel(
        &c, &(tsri_panel){.title = name, .x_label = "epoch", .y_label = "epoch (reference)"});
    tsri_chart_map(&c, &(tsri_map){.rows = n,
                                   .columns = n,
                                   .value = matrix,
                                   .x = epoch,
                                   .y = epoch,
                                   .label = "filter distance"});
    tsri_page_chart(p, &c, NULL);
    tsri_chart_fini(&c);
}

static tsr_status distance_maps(tsri_page *p, const tsri_json_value *epochs,
                                const tsri_json_value *layers)
{
    tsr_status st = TSR_OK;
    double *epoch = NULL, *matrix = NULL;
    int64_t n = tsri_json_length(epochs), count = tsri_json_length(layers);
    TSR_TRY(tsri_alloc(&epoch, n, sizeof *epoch));
    TSR_TRY(tsri_alloc(&matrix, n * n, sizeof *matrix));
    numbers(epoch, epochs, n);
    tsri_markup_add(&p->html, "<div class=\"charts\">\n");
    for (int64_t i = 0; i < count && i < MOST_LAYERS; i++)
        layer_map(p, tsri_json_at(layers, i), epoch, matrix, n);
    tsri_markup_add(&p->html, "</div>\n");
    if (count > MOST_LAYERS)
        tsri_page_say(p, "The first %d of %lld layers; distance.json has all.", MOST_LAYERS,
                      (long long)count);
done:
    tsri_free(epoch);
    tsri_free(matrix);
    return st;
}

tsr_status tsri_report_distance(tsri_page *p)
{
    tsr_status st = TSR_OK;
    tsri_json_value *root = NULL;
    TSR_TRY(tsri_page_json(&root, p, "distance.json"));
    const tsri_json_value *epochs = root ? tsri_json_get(root, "epochs") : NULL;
    const tsri_json_value *layers = root ? tsri_json_get(root, "layers") : NULL;
    if (!tsri_json_is_array(epochs) || !tsri_json_is_array(layers) ||
        tsri_json_length(epochs) < 1 || tsri_json_length(epochs) > MOST_EPOCHS)
        goto done;
    tsri_section_open(p, "Filter distance between epochs");
    tsri_page_say(p, "How differently two epochs rank the filters of a layer by their norm: dark "
                     "where they agree. Once the bottom right corner is dark the ticket no longer "
                     "changes.");
    TSR_TRY(distance_maps(p, epochs, layers));
    tsri_section_close(p);
done:
    tsri_json_destroy(root);
    return st;
}
