/* meta.c - what columns, classes and targets are called, as metadata of an ONNX file.
 *
 * Plain keys for programs that run the file (classes, columns, targets, unit, task, transform: lists are
 * JSON), and, beside them, what our own model file says of its network and data, word for word. */
#include "export/writer.h"

#include "io/json.h"

#include <string.h>

/* Adds the list that `write` writes, as JSON; an empty one is left out. */
static tsr_status add_list(tsri_writer *w, const char *key, const tsr_model *m,
                           void (*write)(tsri_json *list, const tsr_model *m))
{
    tsr_status st = TSR_OK;
    tsri_json list = {0};
    tsri_json_open(&list, '[');
    write(&list, m);
    tsri_json_close(&list, ']');
    TSR_TRY(tsri_json_end(&list));
    if (strcmp(list.text.data, "[]") != 0)
        TSR_TRY(tsri_graph_note_add(w->graph, key, list.text.data));
done:
    tsri_json_fini(&list);
    return st;
}

/* One output of a classifier is the margin of class 1: it has two names. */
static void class_names(tsri_json *list, const tsr_model *m)
{
    for (int64_t k = 0; m->class_name && k < m->classes; k++)
        tsri_json_text(list, m->class_name[k]);
}

static void target_names(tsri_json *list, const tsr_model *m)
{
    for (int64_t k = 0; k < m->schema.targets; k++)
        if (m->schema.target[k])
            tsri_json_text(list, m->schema.target[k]);
}

/* "city=Bern", as long as it may be. */
static void word_name(tsri_json *list, const char *name, const char *word)
{
    tsri_text text = {0};
    tsr_status st = tsri_text_add(&text, "%s=%s", name, word);
    if (st == TSR_OK)
        tsri_json_text(list, text.data);
    else if (list->st == TSR_OK)
        list->st = st;
    tsri_text_fini(&text);
}

/* A name for each input: a column of words has one for each word. */
static void column_names(tsri_json *list, const tsr_model *m)
{
    for (int64_t k = 0; tsri_data_schema_named(&m->schema) && k < m->schema.fields; k++) {
        const tsri_field *f = &m->schema.field[k];
        const char *name = f->name ? f->name : "";
        if (!f->word)
            tsri_json_text(list, name);
        for (int64_t i = 0; f->word && i < f->words; i++)
            word_name(list, name, f->word[i]);
    }
}

tsr_status tsri_writer_notes(tsri_writer *w, const tsr_model *m, bool transform)
{
    static const char *const kept[] = {"tessera.model", "tessera.input", TSRI_META_SCALING,
                                       TSRI_META_SCHEMA, TSRI_META_CLASSES};
    tsr_status st = TSR_OK;
    tsri_graph *g = w->graph;
    TSR_TRY(tsri_graph_note_add(g, "task", m->classes > 0 ? "classify" : "regress"));
    TSR_TRY(tsri_graph_note_add(g, "transform", transform ? "true" : "false"));
    TSR_TRY(add_list(w, "classes", m, class_names));
    TSR_TRY(add_list(w, "columns", m, column_names));
    TSR_TRY(add_list(w, "targets", m, target_names));
    if (m->schema.unit)
        TSR_TRY(tsri_graph_note_add(g, "unit", m->schema.unit));
    TSR_TRY(tsri_graph_note_add(g, "tessera.version", tsr_version()));
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const char *text = tsr_model_meta(m, kept[i]);
        if (text)
            TSR_TRY(tsri_graph_note_add(g, kept[i], text));
    }
done:
    return st;
}
