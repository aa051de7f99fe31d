/* pickle_machine.h - between the halves of the pickle reader: the values that the machine makes,
 * and what it asks of the names that a pickle may call. */
#ifndef TSRI_PICKLE_MACHINE_H
#define TSRI_PICKLE_MACHINE_H

#include "io/pickle.h"

/* Names that a pickle may use (pickle_names.c). */
typedef enum tsri_pickle_name {
    TSRI_NAME_ORDERED_DICT,
    TSRI_NAME_TENSOR,    /* _rebuild_tensor_v2 */
    TSRI_NAME_PARAMETER, /* _rebuild_parameter */
    TSRI_NAME_STORAGE    /* torch.FloatStorage and its kin */
} tsri_pickle_name;

typedef enum tsri_pickle_kind {
    TSRI_PICKLE_NONE,
    TSRI_PICKLE_BOOL,
    TSRI_PICKLE_INT,
    TSRI_PICKLE_REAL,
    TSRI_PICKLE_TEXT,
    TSRI_PICKLE_TUPLE,
    TSRI_PICKLE_LIST,
    TSRI_PICKLE_DICT,
    TSRI_PICKLE_NAME,    /* one of the names above */
    TSRI_PICKLE_STORAGE, /* what a persistent id stands for */
    TSRI_PICKLE_TENSOR
} tsri_pickle_kind;

/* Containers are chains of cells; a dictionary's are key, value, key, value. */
typedef struct tsri_pickle_value {
    tsri_pickle_kind kind;
    union {
        int64_t integer; /* INT, BOOL */
        tsri_pickle_text text;
        struct {
            int32_t first, last; /* cells, -1 = none */
            int64_t count;
        } items;
        struct {
            tsri_pickle_name name;
            tsri_dtype dtype; /* STORAGE */
        } named;
        struct {
            int32_t key; /* the value of its text */
            tsri_dtype dtype;
            int64_t count;
        } storage;
        struct {
            int32_t storage, shape, stride; /* values */
            int64_t offset;
        } tensor;
    };
} tsri_pickle_value;

typedef struct tsri_pickle_cell {
    int32_t value, next;
} tsri_pickle_cell;

typedef struct tsri_machine {
    const char *path;
    const unsigned char *begin, *at, *end;
    tsri_pickle_value *value;
    tsri_pickle_cell *cell;
    int32_t *stack; /* values; MARK = a mark */
    int32_t *memo;  /* values, -1 = empty */
    int64_t values, cells, depth, memos;
    int64_t values_room, cells_room, stack_room, memo_room;
} tsri_machine;

/* BAD_FILE: path, the byte at hand, the sentence. */
tsr_status tsri_machine_fail(const tsri_machine *m, const char *fmt, ...) TSR_PRINTF(2, 3);

/* Runs the pickle; *root = the value that it makes. Call fini in any case. */
tsr_status tsri_machine_run(tsri_machine *m, int32_t *root);
void tsri_machine_fini(tsri_machine *m);

/* Item i of a tuple, -1 when it has fewer. */
int32_t tsri_machine_item(const tsri_machine *m, int32_t tuple, int64_t i);

/* A new value of that kind; *v is good until the next one. */
tsr_status tsri_machine_new(tsri_machine *m, int32_t *index, tsri_pickle_value like);

/* ---- pickle_names.c ------------------------------------------------------------------------- */

/* The value of a name, refused unless it is one of ours. */
tsr_status tsri_machine_name(tsri_machine *m, int32_t *index, tsri_pickle_text module,
                             tsri_pickle_text name);

/* What a call of `name` with a tuple of arguments makes. */
tsr_status tsri_machine_call(tsri_machine *m, int32_t *index, int32_t name, int32_t arguments);

/* The storage that the tuple of a persistent id describes. */
tsr_status tsri_machine_storage(tsri_machine *m, int32_t *index, int32_t tuple);

#endif
