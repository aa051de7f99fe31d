/* pipeline_run.c - the run of one row of tickets, and what the row says of it. */
#include "ticket/pipeline_parts.h"

#include "base/alloc.h"
#include "io/file.h"
#include "model/evaluation.h"
#include "train/train.h"

#include <string.h>
#include <sys/stat.h>

tsr_status tsri_pipeline_place(char **out, const tsri_pipeline *l, const tsri_ticket_row *row,
                               const char *file)
{
    tsr_status st = TSR_OK;
    char *folder = NULL;
    bool top = row->kind == TSRI_TICKET_PRETRAINED;
    TSR_TRY(top ? tsri_strdup(&folder, l->options->folder)
                : tsri_path_join(&folder, l->options->folder, row->name));
    TSR_TRY(file ? tsri_path_join(out, folder, file) : tsri_strdup(out, folder));
done:
    tsri_free(folder);
    return st;
}

/* The time that a line of metrics reports starts again with every process: what the processes
 * before this one took is the last that each told. */
static void add_line(tsri_ticket_row *row, double *last, const char *text, size_t n)
{
    tsri_json_value *told = NULL;
    double seconds;
    if (tsri_json_parse(&told, text, (int64_t)n, "metrics.jsonl") == TSR_OK &&
        tsri_json_as_real(tsri_json_get(told, "seconds"), &seconds)) {
        row->seconds += seconds >= *last ? seconds - *last : seconds;
        *last = seconds;
        (void)tsri_json_as_real(tsri_json_get(told, "epoch"), &row->epochs);
    }
    tsri_json_destroy(told);
}

static tsr_status note_time(tsri_ticket_row *row, const tsri_pipeline *l)
{
    enum { MOST = 1 << 30 };
    tsr_status st = TSR_OK;
    char *path = NULL, *bytes = NULL;
    int64_t n;
    double last = 0;
    TSR_TRY(tsri_pipeline_place(&path, l, row, "metrics.jsonl"));
    TSR_TRY(tsri_file_read(&bytes, &n, path, MOST));
    for (const char *at = bytes; *at; at += strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n'))
        add_line(row, &last, at, strcspn(at, "\n"));
done:
    tsri_free(path);
    tsri_free(bytes);
    return st;
}

/* Where it is right and wrong, for the page; once is enough for one model. */
static tsr_status note_mistakes(const tsri_ticket_row *row, const tsri_pipeline *l, tsr_model *m)
{
    tsr_status st = TSR_OK;
    char *path = NULL;
    bool known = false;
    TSR_TRY(tsri_pipeline_place(&path, l, row, TSRI_EVALUATION_FILE));
    TSR_TRY(tsri_evaluation_known(&known, path, m->file));
    if (!known)
        TSR_TRY(tsri_evaluation_write(path, m, false));
done:
    tsri_free(path);
    return st;
}

static tsr_status note_size(tsri_ticket_row *row, const tsri_pipeline *l)
{
    tsr_status st = TSR_OK;
    char *path = NULL;
    tsr_model *m = NULL;
    struct stat about;
    TSR_TRY(tsri_pipeline_place(&path, l, row, "model.safetensors"));
    TSR_TRY(tsr_model_read(&m, path));
    row->params = m->net->total;
    row->flops = (int64_t)tsri_net_flops(m->net);
    row->file_bytes = stat(path, &about) == 0 ? (int64_t)about.st_size : 0;
    TSR_TRY(note_mistakes(row, l, m));
done:
    tsri_free(path);
    tsr_model_destroy(m);
    return st;
}

tsr_status tsri_pipeline_run(tsr_result *r, const tsri_pipeline *l, const char *folder,
                             tsr_config *config, const char *init)
{
    tsr_status st = TSR_OK;
    tsr_run_options o = *l->options;
    char *begun = NULL;
    TSR_TRY(tsri_path_join(&begun, folder, "run.yaml"));
    o.folder = folder;
    o.init = init;
    o.resume = o.resume && tsri_file_exists(begun);
    TSR_TRY(tsri_train(r, config, &o));
done:
    tsri_free(begun);
    return st;
}

tsr_status tsri_pipeline_train(tsri_ticket_row *row, const tsri_pipeline *l, tsr_config *config,
                               const char *init)
{
    tsr_status st = TSR_OK;
    tsr_result r = tsr_result_default();
    char *folder = NULL;
    TSR_TRY(tsri_pipeline_place(&folder, l, row, NULL));
    if (l->stage)
        l->stage(l->options->context, row->name);
    TSR_TRY(tsri_pipeline_run(&r, l, folder, config, init));
    row->accuracy = r.accuracy;
    row->loss = r.loss;
    row->samples = r.n;
    row->traffic = r.bytes_total;
    TSR_TRY(note_time(row, l));
    TSR_TRY(note_size(row, l));
done:
    tsri_free(folder);
    return st;
}
