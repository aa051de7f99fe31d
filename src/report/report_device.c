/* report_device.c - on which chip a run trained, how fast, and with how much of its memory. */
#include "report/report_parts.h"

#include "base/alloc.h"
#include "base/estimate.h"
#include "base/number.h"
#include "base/text.h"
#include "io/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The chips in the order in which processes trained there, each once. */
typedef struct chips {
    tsri_text names;
    double memory; /* of the last */
} chips;

static tsr_status add_chip(void *context, const tsri_json_value *line)
{
    chips *c = context;
    const char *name = tsri_text_at(line, "chip");
    c->memory = tsri_number_at(line, "memory");
    if (c->names.data && strstr(c->names.data, name))
        return TSR_OK;
    return tsri_text_add(&c->names, "%s%s", c->names.data ? ", then " : "", name);
}

/* The middle of a column, over the lines that have it. */
static double median_of(const tsri_page *p, const char *name)
{
    double *kept = NULL, median = (double)NAN;
    int64_t n = 0;
    const double *value = tsri_curves_get(&p->lines, name);
    if (!value || tsri_alloc(&kept, p->lines.n, sizeof *kept) != TSR_OK)
        return median;
    for (int64_t i = 0; i < p->lines.n; i++)
        if (isfinite(value[i]))
            kept[n++] = value[i];
    if (n > 0)
        median = tsri_median_of(kept, n);
    tsri_free(kept);
    return median;
}

tsr_status tsri_report_device(tsri_page *p)
{
    tsr_status st = TSR_OK;
    chips c = {0};
    char *path = NULL;
    double samples = median_of(p, "samples_per_second");
    TSR_TRY(tsri_path_join(&path, p->folder, "metrics.jsonl"));
    if (!tsri_file_exists(path))
        goto done;
    TSR_TRY(tsri_lines_each(path, "device", add_chip, &c));
    if (!c.names.data)
        goto done;
    tsri_section_open(p, "The GPU");
    tsri_markup_add(&p->html, "<p>Trained on ");
    tsri_markup_text(&p->html, c.names.data);
    tsri_markup_add(&p->html, ".</p>\n<dl class=\"facts\">\n");
    tsri_page_number(p, "samples/s", samples, 0, "");
    tsri_page_number(p, "step", median_of(p, "step_ms"), 3, " ms");
    if (isfinite(median_of(p, "device_memory")))
        tsri_page_fact(p, "memory taken", tsri_bytes_text(median_of(p, "device_memory")));
    if (c.memory > 0)
        tsri_page_fact(p, "of", tsri_bytes_text(c.memory));
    tsri_markup_add(&p->html, "</dl>\n");
    tsri_page_say(p, "Medians over the evaluations, without the time that these took. "
                     "tessera bench shows a step layer by layer.");
    tsri_section_close(p);
done:
    tsri_text_fini(&c.names);
    tsri_free(path);
    return st;
}
