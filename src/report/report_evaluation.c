/* report_evaluation.c - where a network is right and wrong, and how sure it is of it: from
 * evaluation.json (model/evaluation.h), which `tessera ticket` and `tessera eval --out` write. */
#include "report/report_parts.h"

#include "base/alloc.h"
#include "base/base64.h"
#include "base/number.h"
#include "io/file.h"
#include "model/evaluation.h"
#include "report/picture.h"
#include "report/scale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SMALL = 16, MOST_CLASSES = 200, MOST_NETWORKS = 4 };

typedef struct judged {
    const char *name;
    tsri_json_value *root;
} judged;

/* ---- Reading -------------------------------------------------------------------------------- */

static tsr_status path_of(char **path, const tsri_page *p, const char *network, const char *file)
{
    tsr_status st = TSR_OK;
    char *folder = NULL;
    TSR_TRY(*network ? tsri_path_join(&folder, p->folder, network)
                     : tsri_strdup(&folder, p->folder));
    TSR_TRY(tsri_path_join(path, folder, file));
done:
    tsri_free(folder);
    return st;
}

/* Drops an evaluation that is not of the model beside it. */
static tsr_status forget_stale(judged *j, const tsri_page *p, const char *network, bool *stale)
{
    tsr_status st = TSR_OK;
    char *path = NULL;
    tsri_tensors *file = NULL;
    TSR_TRY(path_of(&path, p, network, "model.safetensors"));
    if (!tsri_file_exists(path))
        goto done;
    TSR_TRY(tsri_tensors_read(&file, path));
    *stale = !tsri_evaluation_is_of(j->root, file);
    if (*stale) {
        tsri_json_destroy(j->root);
        j->root = NULL;
    }
done:
    tsri_tensors_destroy(file);
    tsri_free(path);
    return st;
}

static tsr_status read_one(judged *j, tsri_page *p, const char *network, bool *stale)
{
    tsr_status st = TSR_OK;
    char name[300];
    *j = (judged){.name = *network ? network : "the network"};
    if (*network && !tsri_folder_named(network))
        return TSR_OK;
    (void)snprintf(name, sizeof name, "%.200s%s" TSRI_EVALUATION_FILE, network,
                   *network ? "/" : "");
    TSR_TRY(tsri_page_json(&j->root, p, name));
    if (j->root)
        TSR_TRY(forget_stale(j, p, network, stale));
done:
    return st;
}

/* ---- The matrix ----------------------------------------------------------------------------- */

static const char *class_at(const tsri_json_value *root, int64_t k)
{
    const char *name = "";
    (void)tsri_json_as_text(tsri_json_at(tsri_json_get(root, "classes"), k), &name);
    return name;
}

static double count_at(const tsri_json_value *matrix, int64_t i, int64_t k)
{
    double value = 0;
    (void)tsri_json_as_real(tsri_json_at(tsri_json_at(matrix, i), k), &value);
    return value;
}

static double row_sum(const tsri_json_value *matrix, int64_t i, int64_t n)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++)
        sum += count_at(matrix, i, k);
    return sum;
}

/* How full the colour of a cell is, for the colour of its number (page.css): on a dark page light
 * numbers fade from 0.65 on, on a light one dark numbers on blue from 0.85 on. */
static const char *strength(bool right, double part)
{
    return part <= 0.65 ? "" : right && part > 0.85 ? " much most" : " much";
}

/* Few classes: a table, every number in it. What is right is blue, mistakes are orange; the more of
 * its row, the stronger, by the square root: mistakes are rare. */
static void small_matrix(tsri_page *p, const tsri_json_value *root, int64_t n)
{
    tsri_markup *m = &p->html;
    const tsri_json_value *matrix = tsri_json_get(root, "confusion");
    tsri_markup_add(m, "<div class=\"wide\"><table class=\"map confusion\"><caption>Rows: what a "
                       "sample is. Columns: what the network says. The fuller a colour, the larger "
                       "the part of its row; blue is right.</caption><tr><th></th>");
    for (int64_t k = 0; k < n; k++) {
        tsri_markup_add(m, "<th>");
        tsri_markup_text(m, class_at(root, k));
        tsri_markup_add(m, "</th>");
    }
    tsri_markup_add(m, "</tr>\n");
    for (int64_t i = 0; i < n; i++) {
        double sum = row_sum(matrix, i, n);
        tsri_markup_add(m, "<tr><th>");
        tsri_markup_text(m, class_at(root, i));
        tsri_markup_add(m, "</th>");
        for (int64_t k = 0; k < n; k++) {
            double count = count_at(matrix, i, k), part = sum > 0 ? sqrt(count / sum) : 0;
            if (count > 0)
                tsri_markup_add(m, "<td class=\"%s%s\" style=\"--part:%.0f%%\">%.0f</td>",
                                i == k ? "right" : "wrong", strength(i == k, part), 100 * part,
                                count);
            else
                tsri_markup_add(m, "<td class=\"quiet\">%s</td>", i == k ? "0" : "");
        }
        tsri_markup_add(m, "</tr>\n");
    }
    tsri_markup_add(m, "</table></div>\n");
}

static void large_matrix(tsri_page *p, const tsri_json_value *root, int64_t n)
{
    const tsri_json_value *matrix = tsri_json_get(root, "confusion");
    double *part = NULL;
    tsri_chart c;
    if (p->html.st == TSR_OK)
        p->html.st = tsri_alloc(&part, n * n, sizeof *part);
    for (int64_t i = 0; part && i < n; i++) {
        double sum = row_sum(matrix, i, n);
        for (int64_t k = 0; k < n; k++)
            part[i * n + k] = sum > 0 ? 100 * count_at(matrix, i, k) / sum : (double)NAN;
    }
    tsri_chart_begin(&c, NULL);
    c.width = 560;
    c.height = 480;
    tsri_chart_panel(&c, &(tsri_panel){.x_label = "predicted class", .y_label = "true class"});
    tsri_chart_map(&c,
                   &(tsri_map){.rows = n, .columns = n, .value = part, .label = "% of the class"});
    if (part)
        tsri_page_chart(p, &c, "Classes by number, in the order of the outputs.");
    tsri_chart_fini(&c);
    tsri_free(part);
}

static void matrix(tsri_page *p, const tsri_json_value *root)
{
    int64_t n = tsri_json_length(tsri_json_get(root, "classes"));
    if (n < 2 || n > MOST_CLASSES || !tsri_json_is_array(tsri_json_get(root, "confusion")))
        return;
    if (n <= SMALL)
        small_matrix(p, root, n);
    else
        large_matrix(p, root, n);
}

/* ---- Examples ------------------------------------------------------------------------------- */

static tsr_status picture(tsri_page *p, const tsri_json_value *example, const char *alt)
{
    tsr_status st = TSR_OK;
    const tsri_json_value *about = tsri_json_get(example, "picture");
    uint8_t *pixel = NULL;
    int64_t n = 0, channels = 0, height = 0, width = 0;
    if (!tsri_json_is_object(about))
        return TSR_OK;
    (void)tsri_json_as_int(tsri_json_get(about, "channels"), &channels);
    (void)tsri_json_as_int(tsri_json_get(about, "height"), &height);
    (void)tsri_json_as_int(tsri_json_get(about, "width"), &width);
    TSR_TRY(tsri_base64_bytes(&pixel, &n, tsri_text_at(about, "pixels")));
    TSR_CHECK(channels > 0 && channels <= 3 && height > 0 && width > 0 && height <= 4096 &&
                  width <= 4096 && channels * height * width == n,
              TSR_BAD_FILE, "%s: a picture has %lld bytes, not those of its shape",
              TSRI_EVALUATION_FILE, (long long)n);
    tsri_picture(&p->html, pixel, channels, height, width, alt);
done:
    tsri_free(pixel);
    return st;
}

static tsr_status example(tsri_page *p, const tsri_json_value *e, const tsri_json_value *pair)
{
    tsr_status st = TSR_OK;
    char alt[200];
    (void)snprintf(alt, sizeof alt, "%.60s, taken for %.60s", tsri_text_at(pair, "given"),
                   tsri_text_at(pair, "predicted"));
    tsri_markup_add(&p->html, "<figure>");
    TSR_TRY(picture(p, e, alt));
    tsri_markup_add(&p->html, "<figcaption>");
    if (*tsri_text_at(e, "file"))
        tsri_markup_text(&p->html, tsri_text_at(e, "file"));
    else
        tsri_markup_add(&p->html, "no. %.0f", tsri_number_at(e, "row"));
    tsri_markup_add(&p->html, "<br/>%.0f %%</figcaption></figure>\n",
                    100 * tsri_number_at(e, "probability"));
done:
    return st;
}

static tsr_status confusions(tsri_page *p, const tsri_json_value *root)
{
    tsr_status st = TSR_OK;
    const tsri_json_value *pairs = tsri_json_get(root, "confusions");
    if (!tsri_json_is_array(pairs) || tsri_json_length(pairs) == 0)
        return TSR_OK;
    tsri_markup_add(&p->html, "<h3>Confused most</h3>\n<p class=\"quiet\">Of each pair the samples "
                              "of which the network was surest, with the probability it gave its "
                              "answer.</p>\n<div class=\"confused\">\n");
    for (int64_t i = 0; i < tsri_json_length(pairs) && i < 8; i++) {
        const tsri_json_value *pair = tsri_json_at(pairs, i),
                              *examples = tsri_json_get(pair, "examples");
        tsri_markup_add(&p->html, "<div><p><strong>");
        tsri_markup_text(&p->html, tsri_text_at(pair, "given"));
        tsri_markup_add(&p->html, "</strong> taken for <strong>");
        tsri_markup_text(&p->html, tsri_text_at(pair, "predicted"));
        tsri_markup_add(&p->html, "</strong>, %.0f times</p><div class=\"shots\">\n",
                        tsri_number_at(pair, "n"));
        for (int64_t k = 0; tsri_json_is_array(examples) && k < tsri_json_length(examples); k++)
            TSR_TRY(example(p, tsri_json_at(examples, k), pair));
        tsri_markup_add(&p->html, "</div></div>\n");
    }
    tsri_markup_add(&p->html, "</div>\n");
done:
    return st;
}

/* ---- Calibration ---------------------------------------------------------------------------- */

enum { MOST_BINS = 100 };

static void reliability(tsri_chart *c, const judged *j)
{
    double x[MOST_BINS], y[MOST_BINS];
    const tsri_json_value *bins = tsri_json_get(j->root, "bins");
    int64_t n = 0;
    for (int64_t i = 0; tsri_json_is_array(bins) && i < tsri_json_length(bins) && n < MOST_BINS;
         i++) {
        x[n] = 100 * tsri_number_at(tsri_json_at(bins, i), "confidence");
        y[n] = 100 * tsri_number_at(tsri_json_at(bins, i), "accuracy");
        n += isfinite(x[n]) && isfinite(y[n]);
    }
    if (n > 0)
        tsri_chart_series(
            c, &(tsri_series){.name = j->name, .n = n, .x = x, .y = y, .marks = TSRI_MARKS_BOTH});
}

/* How many answers were given with which probability. */
static void sureness(tsri_chart *c, const judged *j)
{
    double x[MOST_BINS], y[MOST_BINS];
    const tsri_json_value *bins = tsri_json_get(j->root, "bins");
    double all = tsri_number_at(j->root, "n");
    int64_t n = 0;
    for (; tsri_json_is_array(bins) && n < tsri_json_length(bins) && n < MOST_BINS; n++) {
        const tsri_json_value *bin = tsri_json_at(bins, n);
        x[n] = 50 * (tsri_number_at(bin, "low") + tsri_number_at(bin, "high"));
        y[n] = 100 * tsri_number_at(bin, "n") / all;
    }
    if (n > 0)
        tsri_chart_series(
            c, &(tsri_series){.name = j->name, .n = n, .x = x, .y = y, .marks = TSRI_MARKS_BOTH});
}

static void calibration(tsri_page *p, const judged *j, int count)
{
    static const double ends[] = {0, 100};
    tsri_chart c;
    if (!isfinite(tsri_number_at(j[0].root, "ece")))
        return;
    tsri_section_open(p, "Calibration");
    tsri_page_say(p,
                  "How far to trust a probability: of the answers given with 80 %%, 80 %% should "
                  "be right. The calibration error (ECE) is the mean distance from that.");
    tsri_markup_add(&p->html, "<dl class=\"facts\">\n");
    for (int i = 0; i < count; i++) {
        char name[120];
        (void)snprintf(name, sizeof name, "error of %.80s", j[i].name);
        tsri_page_number(p, name, 100 * tsri_number_at(j[i].root, "ece"), 2, " points");
    }
    tsri_markup_add(&p->html, "</dl>\n<div class=\"charts\">\n");
    tsri_chart_begin(&c, NULL);
    c.width = 470;
    c.height = 340;
    tsri_chart_panel(&c, &(tsri_panel){.title = "Reliability",
                                       .x_label = "probability it gave, %",
                                       .y_label = "right, %",
                                       .y_high = 100});
    for (int i = 0; i < count; i++)
        reliability(&c, &j[i]);
    tsri_chart_series(
        &c,
        &(tsri_series){
            .name = "as it should be", .n = 2, .x = ends, .y = ends, .colour = 7, .dashed = true});
    tsri_page_chart(p, &c, NULL);
    tsri_chart_fini(&c);
    tsri_chart_begin(&c, NULL);
    c.width = 470;
    c.height = 340;
    tsri_chart_panel(&c, &(tsri_panel){.title = "How sure it was",
                                       .x_label = "probability it gave, %",
                                       .y_label = "% of the answers"});
    for (int i = 0; i < count; i++)
        sureness(&c, &j[i]);
    tsri_page_chart(p, &c, NULL);
    tsri_chart_fini(&c);
    tsri_markup_add(&p->html, "</div>\n");
    tsri_section_close(p);
}

/* ---- Real targets --------------------------------------------------------------------------- */

enum { AXIS_TEXT = 120 };

/* "true price, dollars" */
static void axis_text(char text[AXIS_TEXT], const tsri_page *p, const char *which)
{
    const char *name = tsri_config_text(p->config, "data.target");
    const char *unit = tsri_config_text(p->config, "data.unit");
    (void)snprintf(text, AXIS_TEXT, "%s %.40s%s%.40s", which, name && *name ? name : "value",
                   unit && *unit ? ", " : "", unit ? unit : "");
}

static tsr_status targets(tsri_page *p, const judged *j)
{
    tsr_status st = TSR_OK;
    const tsri_json_value *given = tsri_json_get(j->root, "given"),
                          *predicted = tsri_json_get(j->root, "predicted");
    double *x = NULL, *y = NULL, ends[2] = {(double)INFINITY, (double)-INFINITY};
    int64_t n = tsri_json_length(given);
    char x_label[AXIS_TEXT], y_label[AXIS_TEXT];
    tsri_chart c = {0};
    if (n < 1 || tsri_json_length(predicted) != n)
        return TSR_OK;
    TSR_TRY(tsri_alloc(&x, n, sizeof *x));
    TSR_TRY(tsri_alloc(&y, n, sizeof *y));
    for (int64_t i = 0; i < n; i++) {
        (void)tsri_json_as_real(tsri_json_at(given, i), &x[i]);
        (void)tsri_json_as_real(tsri_json_at(predicted, i), &y[i]);
        ends[0] = fmin(ends[0], x[i]);
        ends[1] = fmax(ends[1], x[i]);
    }
    axis_text(x_label, p, "true");
    axis_text(y_label, p, "predicted");
    tsri_section_open(p, "Predictions");
    tsri_chart_begin(&c, NULL);
    c.width = 560;
    c.height = 400;
    tsri_chart_panel(&c, &(tsri_panel){.x_label = x_label, .y_label = y_label});
    tsri_chart_series(
        &c, &(tsri_series){.name = j->name, .n = n, .x = x, .y = y, .marks = TSRI_MARKS_POINTS});
    tsri_chart_series(
        &c,
        &(tsri_series){
            .name = "as it should be", .n = 2, .x = ends, .y = ends, .colour = 7, .dashed = true});
    double all = tsri_number_at(j->root, "targets");
    if (all > 1)
        (void)snprintf(x_label, sizeof x_label, "The first of %.0f targets.", all);
    tsri_page_chart(p, &c, all > 1 ? x_label : NULL);
    tsri_section_close(p);
done:
    tsri_chart_fini(&c);
    tsri_free(x);
    tsri_free(y);
    return st;
}

/* ---- The whole ------------------------------------------------------------------------------ */

/* For a finished run without an evaluation: says how to make one. */
static tsr_status offer(tsri_page *p)
{
    tsr_status st = TSR_OK;
    char *model = NULL;
    TSR_TRY(path_of(&model, p, "", "model.safetensors"));
    if (!tsri_file_exists(model))
        goto done;
    tsri_markup_add(&p->html, "<p class=\"quiet\">What it gets wrong, and how far it can be "
                              "trusted: <code>tessera eval ");
    tsri_markup_text(&p->html, model);
    tsri_markup_add(&p->html, " --out ");
    tsri_markup_text(&p->html, p->folder);
    tsri_markup_add(&p->html, "/" TSRI_EVALUATION_FILE "</code>, then make this page again.</p>\n");
done:
    tsri_free(model);
    return st;
}

static tsr_status sections(tsri_page *p, const judged *j, int count)
{
    tsr_status st = TSR_OK;
    double n = tsri_number_at(j[0].root, "n");
    char samples[TSRI_NUMBER_TEXT];
    if (tsri_json_is_array(tsri_json_get(j[0].root, "classes"))) {
        tsri_section_open(p, "Mistakes");
        tsri_page_say(p, "What %.80s says of the %s samples of the %.20s set.", j[0].name,
                      tsri_grouped(samples, isfinite(n) ? (int64_t)n : 0),
                      tsri_text_at(j[0].root, "set"));
        matrix(p, j[0].root);
        TSR_TRY(confusions(p, j[0].root));
        tsri_section_close(p);
        calibration(p, j, count);
    }
    TSR_TRY(targets(p, &j[0]));
done:
    return st;
}

tsr_status tsri_report_evaluation(tsri_page *p, const char *const *network, int count)
{
    tsr_status st = TSR_OK;
    judged found[MOST_NETWORKS] = {0};
    int there = 0;
    bool stale = false;
    for (int i = 0; i < count && i < MOST_NETWORKS; i++) {
        TSR_TRY(read_one(&found[there], p, network[i], &stale));
        there += found[there].root != NULL;
    }
    if (there > 0)
        TSR_TRY(sections(p, found, there));
    else if (!stale && count == 1 && !*network[0])
        TSR_TRY(offer(p));
    if (stale)
        tsri_page_say(p,
                      "An " TSRI_EVALUATION_FILE " was left out: it is of another model than the "
                      "one beside it. tessera eval MODEL --out writes a new one.");
done:
    for (int i = 0; i < there; i++)
        tsri_json_destroy(found[i].root);
    return st;
}
