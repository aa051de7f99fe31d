/* report.c - report.html: which sections a folder has. */
#include "report/report.h"

#include "base/sized.h"
#include "base/alloc.h"
#include "base/number.h"
#include "io/file.h"
#include "report/report_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Reading --------------------------------------------------------------------------------- */

static tsr_status path_in(char **path, const tsri_page *p, const char *name)
{
    return tsri_path_join(path, p->folder, name);
}

tsr_status tsri_page_json(tsri_json_value **root, const tsri_page *p, const char *name)
{
    tsr_status st = TSR_OK;
    char *path = NULL, *bytes = NULL;
    int64_t n = 0;
    *root = NULL;
    TSR_TRY(path_in(&path, p, name));
    if (!tsri_file_exists(path))
        goto done;
    TSR_TRY(tsri_file_read(&bytes, &n, path, TSRI_JSON_MOST));
    TSR_TRY(tsri_json_parse(root, bytes, n, tsri_quote(path)));
done:
    tsri_free(bytes);
    tsri_free(path);
    return st;
}

const char *tsri_text_at(const tsri_json_value *object, const char *key)
{
    const char *text = "";
    (void)tsri_json_as_text(tsri_json_get(object, key), &text);
    return text;
}

double tsri_number_at(const tsri_json_value *object, const char *key)
{
    double value = (double)NAN;
    (void)tsri_json_as_real(tsri_json_get(object, key), &value);
    return value;
}

static tsr_status read_run(tsri_page *p)
{
    tsr_status st = TSR_OK;
    char *path = NULL, *metrics = NULL;
    TSR_TRY(path_in(&path, p, "run.yaml"));
    TSR_CHECK(tsri_file_exists(path), TSR_USAGE,
              "%s holds no run: there is no run.yaml in it (tessera train writes one)",
              tsri_quote(p->folder));
    TSR_TRY(tsr_config_read(&p->config, path));
    TSR_TRY(path_in(&metrics, p, "metrics.jsonl"));
    if (tsri_file_exists(metrics)) {
        TSR_TRY(tsri_curves_read(&p->lines, metrics, NULL));
        TSR_TRY(tsri_curves_read(&p->puts, metrics, "put"));
    }
done:
    tsri_free(path);
    tsri_free(metrics);
    return st;
}

/* ---- The whole ----------------------------------------------------------------------------- */

static tsr_status last_of_path(char **name, const char *path)
{
    size_t end = strlen(path);
    while (end > 0 && path[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    return end > begin ? tsri_strndup(name, path + begin, end - begin) : tsri_strdup(name, "run");
}

tsr_status tsri_last_name(char **name, const char *folder)
{
    tsr_status st = TSR_OK;
    char *whole = NULL;
    TSR_TRY(last_of_path(name, folder));
    if (strcmp(*name, ".") == 0 || strcmp(*name, "..") == 0)
        whole = realpath(folder, NULL);
    if (whole) {
        TSRI_FREE(*name);
        TSR_TRY(last_of_path(name, whole));
    }
done:
    free(whole);
    return st;
}

const char *tsri_byte_unit(double most, double *size)
{
    static const struct {
        double size;
        const char *name;
    } unit[] = {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "bytes"}};
    size_t i = 0;
    while (i < 4 && most < unit[i].size)
        i++;
    *size = unit[i].size;
    return unit[i].name;
}

static tsr_status write_run_file(tsri_page *p)
{
    tsr_status st = TSR_OK;
    tsri_text yaml = {0};
    tsri_section_open(p, "The run file");
    TSR_TRY(tsri_config_write(&yaml, p->config, NULL));
    tsri_markup_add(&p->html, "<details><summary>every key, also those left at their defaults"
                              "</summary>\n<pre>");
    tsri_markup_text(&p->html, yaml.data);
    tsri_markup_add(&p->html, "</pre></details>\n");
    tsri_section_close(p);
done:
    tsri_text_fini(&yaml);
    return st;
}

static tsr_status write_run(tsri_page *p)
{
    tsr_status st = TSR_OK;
    char *name = NULL, *best = NULL;
    bool tickets = false;
    TSR_TRY(tsri_last_name(&name, p->folder));
    TSR_TRY(tsri_page_begin(p, name));
    tsri_report_subtitle(p);
    TSR_TRY(tsri_report_ticket(p, &tickets));
    TSR_TRY(tsri_best_ticket(&best, p));
    if (*best)
        TSR_TRY(tsri_report_network(p, best));
    tsri_report_learning(p, tickets);
    if (!tickets)
        TSR_TRY(tsri_report_evaluation(p, (const char *const[]){""}, 1));
    tsri_report_cost(p);
    TSR_TRY(tsri_report_workers(p));
    TSR_TRY(tsri_report_device(p));
    TSR_TRY(tsri_report_distance(p));
    TSR_TRY(tsri_report_theory(p));
    TSR_TRY(tsri_report_certificates(p));
    if (!*best)
        TSR_TRY(tsri_report_network(p, ""));
done:
    tsri_free(best);
    tsri_free(name);
    return st;
}

/* A sweep's folder has a grid.json. */
static tsr_status write_page(tsri_page *p)
{
    tsr_status st = TSR_OK;
    char *grid = NULL;
    TSR_TRY(path_in(&grid, p, "grid.json"));
    TSR_TRY(tsri_file_exists(grid) ? tsri_report_sweep(p) : write_run(p));
    TSR_TRY(write_run_file(p));
done:
    tsri_free(grid);
    return st;
}

tsr_status tsri_report_text(tsri_text *out, const char *folder, bool live)
{
    tsr_status st = TSR_OK;
    tsri_page p = {.folder = folder, .live = live};
    TSR_TRY(read_run(&p));
    TSR_TRY(write_page(&p));
    TSR_TRY(tsri_page_end(out, &p));
done:
    tsri_page_fini(&p);
    return st;
}

tsr_status tsri_report_write(const char *folder, const char *path)
{
    tsr_status st = TSR_OK;
    char *usual = NULL;
    tsri_text page = {0};
    TSR_TRY(tsri_report_text(&page, folder, false));
    TSR_TRY(tsri_path_join(&usual, folder, "report.html"));
    TSR_TRY(tsri_file_write_text(path ? path : usual, page.data));
done:
    tsri_free(usual);
    tsri_text_fini(&page);
    return st;
}

tsr_status tsr_report_pictures(int64_t *count, const char *folder, const char *base)
{
    tsr_status st = TSR_OK;
    tsri_page p = {.folder = folder, .pictures = base};
    TSRI_GIVEN(count);
    TSRI_GIVEN(folder);
    TSRI_GIVEN(base);
    *count = 0;
    TSR_TRY(read_run(&p));
    TSR_TRY(write_page(&p));
    TSR_TRY(tsri_markup_end(&p.html));
    *count = p.drawn;
done:
    tsri_page_fini(&p);
    return st;
}

tsr_status tsr_report(const char *folder, const char *path)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(folder);
    TSR_TRY(tsri_report_write(folder, path));
done:
    return st;
}
